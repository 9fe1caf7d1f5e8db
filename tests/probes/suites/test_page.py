"""The page of a linguist becomes a suite; slips are told with file and line."""

import pytest
from concord.probes.challenge_set import SetError
from concord.probes.suites.chance import chance_of
from concord.probes.suites.json_files import document_of, suite_from
from concord.probes.suites.region_sentence import sentence_of
from concord.probes.suites.suite_page import read_page

PAGE = """\
# Agreement across a relative clause.
name: sva_src
language: es
circuit: agreement     # one of seven
base: sva_basic
joiner: running

regions: intro | subject | verb | end

conditions:
  match-sg:    {^intro} | {el} {n.sg} | {v.sg} | , {^intro} .
  mismatch-sg: {^intro} | {el} {n.sg} | {v.pl} | .
  match:       {^intro} | los {n.pl}  | {v.pl} | .
  mismatch:    {^intro} | los {n.pl}  | {v.sg} |

predictions:
  sg: verb@match-sg<verb@mismatch-sg
  pl: verb@match < verb@mismatch & [*@match - 1 < *@mismatch+2]

items:
  intro | el | n.sg  | n.pl    | v.sg  | v.pl
  ¿acaso| el | autor | autores | ríe   | ríen     # a comment
        | el | juez  | jueces  | llora | lloran
"""


def page(tmp_path, text=PAGE, name="sva_src.suite"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_page(tmp_path / name)


def texts(suite, item):
    return [sentence_of(suite, suite.items[item], condition, "es").text for condition in suite.items[item].conditions]


def test_slots_are_filled_from_the_row(tmp_path):
    suite = page(tmp_path)
    assert texts(suite, 0) == [
        "¿Acaso el autor ríe, ¿Acaso.",
        "¿Acaso el autor ríen.",
        "¿Acaso los autores ríen.",
        "¿Acaso los autores ríe",
    ]


def test_the_capital_of_an_empty_first_region_goes_to_the_next_word(tmp_path):
    suite = page(tmp_path)
    assert texts(suite, 1)[2] == "Los jueces lloran."
    assert [region.content for region in suite.items[1]["mismatch"].regions] == ["", "Los jueces", "llora", ""]


def test_predictions_by_names_become_numbers(tmp_path):
    suite = page(tmp_path)
    assert [(p.name, p.formula) for p in suite.predictions] == [
        ("sg", "(3;%match-sg%)<(3;%mismatch-sg%)"),
        ("pl", "(3;%match%) < (3;%mismatch%) & [(*;%match%) - 1 < (*;%mismatch%)+2]"),
    ]
    assert chance_of(suite).each[0] == pytest.approx(0.5, abs=0.005)


def test_the_suite_keeps_what_the_page_says_its_name_and_digest(tmp_path):
    meta = page(tmp_path).meta
    assert {key: meta[key] for key in ("name", "metric", "language", "circuit", "base", "joiner", "page")} == {
        "name": "sva_src",
        "metric": "sum",
        "language": "es",
        "circuit": "agreement",
        "base": "sva_basic",
        "joiner": "running",
        "page": "sva_src.suite",
    }
    assert meta["page_digest"] != page(tmp_path, PAGE.replace("juez", "actor")).meta["page_digest"]


def test_a_compiled_page_is_read_again_as_the_same_suite(tmp_path):
    suite = page(tmp_path)
    again = suite_from(document_of(suite), suite.file)
    assert again == suite


def test_lemmas_take_their_forms_from_the_grammar(tmp_path):
    text = PAGE.replace("{n.sg}", "{n[s]}").replace("{n.pl}", "{n[p]}").replace("n.sg  | n.pl   ", "n: N_1[]")
    text = text.replace("autor | autores", "pintor").replace("juez  | jueces", "juez")
    assert texts(page(tmp_path, text), 1) == texts(page(tmp_path), 1)


def test_forms_by_case_and_the_lemma_itself(tmp_path):
    text = (
        "name: case\nlanguage: de\ncircuit: agreement\njoiner: running\nregions: a | b\n"
        "conditions:\n  x: {^n[p,nom]} bei {n[p,dat]} | {n}\n  y: {^n[s,acc]} | {n[s]}\n"
        "predictions:\n  p: a@x < a@y\nitems:\n  n: N_1[m]\n  Arzt\n"
    )
    suite = page(tmp_path, text)
    assert [[region.content for region in c.regions] for c in suite.items[0].conditions] == [
        ["Ärzte bei Ärzten", "Arzt"],
        ["Arzt", "Arzt"],
    ]
    for wrong, message in [
        ("{n[q]}", r":8: y: 'Arzt' has no form for \[q\] in N_1\[m\]; its columns are m,s,\$c \| m,p,nom \| m,p,dat"),
        ("{n[p]}", r":8: y: 'Arzt' has several forms \(Ärzte, Ärzten\) for \[p\]"),
    ]:
        # The item's line is named, since the form belongs to it.
        with pytest.raises(SetError, match=message.replace(":8", ":13")):
            page(tmp_path, text.replace("{n[s]}", wrong))
    with pytest.raises(SetError, match=r":12: items: no paradigm Nomen in common.avg of de; available: Art"):
        page(tmp_path, text.replace("N_1[m]", "Nomen"))
    with pytest.raises(SetError, match=r":13: x: N_1\[m\] of common.avg has no row that begins with 'Ast'; it has Arzt"):
        page(tmp_path, text.replace("Arzt", "Ast"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "name: sva_src\n",
            "",
            r"sva_src.suite: name: is missing or empty; a page needs name, language, circuit, joiner, regions",
        ),
        ("circuit: agreement ", "circuit: agreements ", r":4: circuit: 'agreements'; it must be one of agreement, licensing"),
        ("joiner: running", "joiner: tight", r":6: joiner: 'tight'; it must be one of running, blank"),
        ("base: sva_basic", "bsae: sva_basic", r":5: unknown key 'bsae'; did you mean base"),
        ("base: sva_basic", "base:", r":5: base: has no value; write one or remove the line"),
        ("base: sva_basic", "base: a b", r":5: base: 'a b'; a name may have letters, digits, _ and - only"),
        ("base: sva_basic", "name: again", r":5: name: appears twice, first in line 2"),
        ("base: sva_basic", "base", r":5: 'base' is neither `key: value` nor an indented line"),
        ("base: sva_basic", "  base: x", r":5: an indented line outside conditions, predictions, items"),
        ("conditions:", "conditions: x", r":10: conditions: takes indented lines below it, but is followed by 'x'"),
        (
            "intro | subject | verb",
            "intro | 2nd | verb",
            r":8: region '2nd': a name must start with a letter and have only letters, digits, _ . or -",
        ),
        ("intro | subject | verb", "intro | verb | verb", r":8: regions: a name appears twice"),
        (
            "  match-sg:    {^intro} |",
            "  match-sg:    ",
            r":11: match-sg has 3 cells, but there are 4 regions \(intro \| subject",
        ),
        ("  match-sg:    {^intro} |", "  match-sg  {^intro} |", r":11: 'match-sg.*' in conditions: write name: and its value"),
        ("{el} {n.sg} | {v.sg}", "{el {n.sg} | {v.sg}", r":11: match-sg: bad braces in '\{el'; a slot is \{column\}"),
        ("{el} {n.sg} | {v.sg}", "{los} {n.sg} | {v.sg}", r":11: match-sg: no column 'los' in items; available: intro"),
        ("{el} {n.sg} | {v.sg}", "{el} {n.sq} | {v.sg}", r":11: match-sg: no column 'n.sq' in items; did you mean n.sg"),
        (
            "{el} {n.sg} | {v.sg}",
            "{el[s]} {n.sg} | {v.sg}",
            r"match-sg: \{el\[…\]\} requests a form, but the column names no paradigm; write",
        ),
        ("  mismatch:   ", "  match:   ", r":14: conditions: match appears twice, first in line 13"),
        ("verb@match-sg<", "verv@match-sg<", r":17: prediction sg: no region 'verv'; did you mean verb\?\n +verv@match"),
        ("verb@match-sg<", "verb@match-pl<", r":17: prediction sg: no condition 'match-pl'; did you mean"),
        ("verb@match-sg<verb@mismatch-sg", "verb@match-sg", r":17: prediction sg: a number where a truth value is expected"),
        ("verb@match-sg<verb@mismatch-sg", "", r":17: prediction sg has no formula; write for instance end@match-sg"),
        ("| el | juez ", "| el ", r":23: this item has 5 cells, but the header has 6 \(intro \| el"),
        ("  intro | el |", "  intro | intro |", r":21: items: the column intro appears twice"),
        (
            "  intro | el |",
            "  intro | e l |",
            r":21: items: 'e l' is not a column; write a name \(letters, digits, _ .\) or name: PARADIGM\[attributes\]",
        ),
    ],
)
def test_slips_are_told_with_their_line(tmp_path, old, new, message):
    assert old in PAGE
    with pytest.raises(SetError, match=message):
        page(tmp_path, PAGE.replace(old, new, 1))


def test_a_page_without_rows_is_told(tmp_path):
    with pytest.raises(SetError, match=r":21: items: a header, but no rows"):
        page(tmp_path, "\n".join(PAGE.split("\n")[:21]))
    with pytest.raises(SetError, match=r":20: items: is missing or empty"):
        page(tmp_path, "\n".join(PAGE.split("\n")[:20]))


def test_an_item_without_words_is_told(tmp_path):
    text = PAGE.replace("los {n.pl}  | {v.sg} |", "{n.pl}  | {v.sg} |").replace("jueces  | llora", "  | ")
    with pytest.raises(SetError, match=r":23: mismatch: all regions of this item are empty"):
        page(tmp_path, text)


def test_a_minus_without_blanks_is_a_minus(tmp_path):
    suite = page(tmp_path, PAGE.replace("verb@match-sg<verb@mismatch-sg", "verb@match-verb@mismatch<verb@match-sg-verb@match-1"))
    assert suite.predictions[0].formula == "(3;%match%)-(3;%mismatch%)<(3;%match-sg%)-(3;%match%)-1"
