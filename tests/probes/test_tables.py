"""Any table of pairs becomes the one type, whatever its separator, its head and its language."""

import csv
import io
import json

import pyarrow as pa
import pytest
from concord.commands.sets import main
from concord.probes.challenge_set import SetError
from concord.probes.collection import ItemSelection, collect
from concord.probes.readers import recognise
from concord.probes.readers.table import known_columns, separator_of
from concord.settings.languages import UNSPACED, any_language, read_language, read_language_choice
from pyarrow import parquet

DUTCH = [
    {"goed": f"De {noun} {adverb} slaapt.", "fout": f"De {noun} {adverb} slapen.", "bouw": bouw, "lengte": str(number)}
    for number, (noun, adverb, bouw) in enumerate(
        (noun, adverb, bouw)
        for bouw in ("kort", "lang")
        for noun in ("kat", "hond", "gast", "buurman", "leraar")
        for adverb in ("nu", "vaak")
    )
]
COLUMNS = {"good": "goed", "bad": "fout", "construction": "bouw"}


def separated(rows, delimiter):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def as_parquet(rows):
    stream = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows), stream)
    return stream.getvalue()


WRITERS = {
    "comma.csv": lambda rows: separated(rows, ","),
    "semicolon.csv": lambda rows: separated(rows, ";"),
    "pipe.csv": lambda rows: b"\xef\xbb\xbf" + separated(rows, "|"),
    "tab.tsv": lambda rows: separated(rows, "\t"),
    "lines.jsonl": lambda rows: "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
    "binary.parquet": as_parquet,
}


def read(file, language, columns=None):
    found = collect(file, language, None, file.parent / "cache", ItemSelection(columns=columns))
    return [each.challenge_set for each in found]


@pytest.mark.parametrize("name", WRITERS)
def test_twenty_pairs_are_the_same_from_every_format(tmp_path, name):
    assert len(DUTCH) == 20
    (tmp_path / name).write_bytes(WRITERS[name](DUTCH))
    for _ in range(2):  # the second time from the cache
        sets = read(tmp_path / name, "nl", COLUMNS)
        assert [(made.construction, len(made)) for made in sets] == [("kort", 10), ("lang", 10)]
        assert sets[0][0]["good"].words == ("De", "kat", "nu", "slaapt", ".")
        assert sets[0][0]["bad"].text == "De kat nu slapen."
        assert sets[1][9].features == {"lengte": "19"}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("names", [("good_sentence", "bad_sentence"), ("source_sentence", "target_sentence")])
def test_the_columns_of_benchmarks_are_known(tmp_path, name, names):
    rows = [{names[0]: row["goed"], names[1]: row["fout"], "phenomenon": row["bouw"], "language": "x"} for row in DUTCH]
    (tmp_path / name).write_bytes(WRITERS[name](rows))
    assert recognise(tmp_path / name) == "table"
    sets = read(tmp_path / name, "nl")
    assert [made.construction for made in sets] == ["kort", "lang"]
    assert sets[0][0].features == {"item_language": "x"}  # language is a column of the results


@pytest.mark.parametrize("name", WRITERS)
def test_a_sentence_with_a_gap_and_two_forms_is_a_pair(tmp_path, name):
    rows = [{"masked_text": "Çocuk hızlı [MASK].", "form_grammatical": "koşuyor", "form_ungrammatical": "koşuyorlar"}] * 20
    (tmp_path / name).write_bytes(WRITERS[name](rows))
    (made,) = read(tmp_path / name, "tr")
    assert len(made) == 20
    assert [variant.text for variant in made[0].variants] == ["Çocuk hızlı koşuyor.", "Çocuk hızlı koşuyorlar."]
    assert made[0]["good"].spans[0][1:] == (2, 3)


def test_pairs_survive_the_way_through_our_own_format(tmp_path):
    (tmp_path / "comma.csv").write_bytes(WRITERS["comma.csv"](DUTCH))
    said = ["--lang", "nl", "--columns", "good=goed,bad=fout,construction=bouw"]
    assert main(["export", str(tmp_path / "comma.csv"), *said, "--to", "jsonl", "--out", str(tmp_path / "out")]) == 0
    again = [made for file in sorted((tmp_path / "out").iterdir()) for made in read(file, "nl")]
    first = read(tmp_path / "comma.csv", "nl", COLUMNS)
    for one, other in zip(first, again, strict=True):
        assert (one.sentences, one.texts, one.spans, one.features) == (other.sentences, other.texts, other.spans, other.features)


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a,b\nx,y\n", None, r"; for a table of pairs set probes.columns=\{good: …, bad: …\}"),
        ("a,b\nx,y\n", {"good": "a", "bad": "c"}, "probes.columns: no column c; available: a, b"),
        ("a,b\nx,y\n", {"good": "a"}, "probes.columns needs good and bad"),
        (
            "a,b\nx,y\n",
            {"good": "a", "bad": "b", "kind": "c"},
            "probes.columns: unknown key kind; use good, bad, masked",
        ),
        ("good,bad\nx\n", None, "x.csv:2: 1 cell, but the header has 2"),
        ("good,bad\nx,\n", None, "x.csv:2: the column bad must hold text; here it is ''"),
        ("good,bad\n", None, "a table without rows"),
        ("good,bad,good\nx,y,z\n", None, "the column good occurs twice in the header"),
        (
            "masked_text,form_grammatical,form_ungrammatical\nno gap,a,b\n",
            None,
            r"masked_text has 0 gaps instead of one \(\[MASK\], <mask>, ___ or \{\}\)",
        ),
    ],
)
def test_faults_of_tables_are_told_with_their_place(tmp_path, text, columns, message):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SetError, match=message):
        read(tmp_path / "x.csv", "nl", columns)


def test_a_broken_parquet_file_is_told_as_such(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(SetError, match="cannot be read as Parquet"):
        read(tmp_path / "x.parquet", "nl")


def test_the_separator_is_the_one_at_which_the_asked_columns_appear():
    assert separator_of("a,b;c", {"good": "a,b", "bad": "c"}) == ";"
    assert separator_of("good,sentence;bad,sentence", None) in ",;"
    assert known_columns(["sen", "wrong_sen"]) is not None


# --------------------------------------------------------------- any language


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (
            "nld",
            "De foto's, zo'n 3.000, van Jan-Wim.",
            ["De", "foto's", ",", "zo'n", "3.000", ",", "van", "Jan-Wim", "."],
        ),
        ("tur", "Ankara'da çocuklar koşuyor…", ["Ankara'da", "çocuklar", "koşuyor", "…"]),
        ("hi", "लड़की किताब पढ़ती है।", ["लड़की", "किताब", "पढ़ती", "है", "।"]),
        ("ar", "الوَلَدُ يقرأ.", ["الوَلَدُ", "يقرأ", "."]),
        ("zho", "他在看DVD。", ["他", "在", "看", "DVD", "。"]),
    ],
)
def test_any_language_has_a_rule_for_words(code, text, words):
    from concord.data.tokens import TokenRule

    made = read_language_choice({"code": code, "name": None, "direction": None})
    assert TokenRule(made.tokens, made.replace)(text) == words
    assert made.direction == ("rtl" if code == "ar" else "ltr")


def test_a_language_is_known_by_two_letters_and_by_three():
    assert read_language_choice({"code": "nld", "name": None}).code == "nl"
    assert read_language_choice({"code": "nl", "name": None}).name == "Dutch"
    assert read_language_choice({"code": "deu", "name": None}) == read_language("de")  # as its own file describes it
    assert any_language("cmn").tokens == UNSPACED
    assert any_language("wbp").name == "wbp"
    for wrong in (None, "Dutch", "xx", 3):
        with pytest.raises(ValueError, match=r"lang.*(two or three letters|no such language)"):
            read_language_choice({"code": wrong, "name": None})
