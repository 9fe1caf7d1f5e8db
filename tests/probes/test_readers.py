"""Every published format becomes the one type; every fault of a file is told with its place."""

import gzip
import json
import os
import pickle
import random
import sys
from pathlib import Path

import pytest
from concord.data.grammar import GrammarError
from concord.probes import readers
from concord.probes.challenge_set import SetError, Span
from concord.probes.heuristics import last_noun
from concord.probes.readers import files_of, formats, reader, recognise
from concord.probes.readers.clams import BLOCKS
from set_files import FILES, GEVALM, LI2021, NPI, OWN_LINES, SENT_COMP, TWO_PREFIXES, WITHIN, write

SHARED = Path(__file__).resolve().parents[3] / "shared/reference"


def read(file: Path, form: str, language: str = "de"):
    return list(reader(form).read(file, language))


def test_every_format_has_a_sample_here():
    assert set(FILES) == set(formats())


@pytest.mark.parametrize("form", FILES)
def test_formats_are_recognised_from_the_content(tmp_path, form):
    assert recognise(write(tmp_path, form)) == form


def test_an_empty_file_is_called_empty(tmp_path):
    (tmp_path / "a.csv").write_text("\n")
    with pytest.raises(SetError, match=r"a.csv: the file is empty; write one item per line"):
        recognise(tmp_path / "a.csv")


def test_a_foreign_file_is_refused_with_the_list_of_formats(tmp_path):
    (tmp_path / "a.tsv").write_text("x\ty\n1\t2\n")
    with pytest.raises(SetError, match=r"a.tsv: not a challenge set in a known format; formats: aligned, blimp, clams"):
        recognise(tmp_path / "a.tsv")


def test_clams_groups_are_a_true_line_and_all_its_false_lines(tmp_path):
    (made,) = read(write(tmp_path, "clams"), "clams")
    assert [[v.role for v in item.variants] for item in made] == [["good", "bad"], ["good", "bad", "bad2"]]
    assert made[0]["bad"].words == ("les", "chats", "dort")
    assert made[0]["good"].spans == (Span("target", 2, 3),)
    assert made[1].source.line == 3


def test_blimp_keeps_the_raw_text_and_both_of_its_measures(tmp_path):
    (made,) = read(write(tmp_path, "blimp"), "blimp", "en")
    assert made[0]["good"].text == "Ann hurt herself."
    assert made[0].features["linguistics_term"] == "anaphor_agreement"
    assert [contrast.name for contrast in made.contrasts] == ["sentence", "one prefix"]


def test_blimp_words_are_those_of_a_word_level_model(tmp_path):
    (made,) = read(write(tmp_path, "blimp"), "blimp", "en")
    assert made[0]["good"].words == ("Ann", "hurt", "herself", ".")
    assert made[0]["bad"].spans == (Span("target", 2, 3),)
    (elsewhere,) = read(write(tmp_path, "blimp"), "blimp", "")  # no language, so no rule of its own
    assert elsewhere[0]["good"].words == made[0]["good"].words


def test_blimp_with_two_prefixes_compares_the_word_after_them(tmp_path):
    (tmp_path / "only_npi_scope.jsonl").write_text(json.dumps(TWO_PREFIXES) + "\n")
    (made,) = read(tmp_path / "only_npi_scope.jsonl", "blimp", "en")
    assert [(c.name, next(c.terms()).span, c.alternative) for c in made.contrasts] == [
        ("sentence", "", False),
        ("two prefixes", "critical", True),
    ]
    for variant in made[0].variants:
        _, start, end = variant.spans[-1]
        assert variant.words[start:end] == ("ever",)
    assert made[0].features == {"dependency_length": 4}


def test_gevalm_goes_by_the_mask_and_the_file_name_not_by_index_and_case(tmp_path):
    (made,) = read(write(tmp_path, "gevalm"), "gevalm")
    assert made.construction == "SVPP"
    assert made[0]["bad"].spans == (Span("target", 5, 6),)
    assert made[0]["bad"].words[5] == "lachen"
    numbers = {"subject_number": "singular", "attractor_number": "plural"}
    assert made[0].features == numbers | {"case": "SVPP", "sub_case": "sgpl", "n_intervening": 1}


def test_marvin_and_linzens_keys_are_features(tmp_path):
    (made,) = read(write(tmp_path, "marvin_linzen"), "marvin_linzen", "en")
    assert [item.features["subject_number"] for item in made] == ["singular", "plural"]
    numbers = ("subject_number", "attractor_number")
    for name, cases, expected in (
        ("obj_rel_within_anim", WITHIN, [("singular", "plural"), ("plural", "singular")]),
        ("sent_comp", SENT_COMP, [("plural", "singular")]),
    ):
        (tmp_path / f"{name}.pickle").write_bytes(pickle.dumps(cases))
        (made,) = read(tmp_path / f"{name}.pickle", "marvin_linzen", "en")
        assert [tuple(item.features[number] for number in numbers) for item in made] == expected


def test_polarity_triples_have_three_contrasts(tmp_path):
    (tmp_path / "simple_npi.pickle").write_bytes(pickle.dumps(NPI))
    (made,) = read(tmp_path / "simple_npi.pickle", "marvin_linzen", "en")
    assert [(c.name, *c.roles()) for c in made.contrasts] == [
        ("g>i", "good", "intrusive"),
        ("i>u", "intrusive", "ungrammatical"),
        ("g>u", "good", "ungrammatical"),
    ]

    assert made[0].features == {"case": "past", "tense": "past"}
    (tmp_path / "mixed.pickle").write_bytes(pickle.dumps(NPI | WITHIN))
    with pytest.raises(SetError, match=r"mixed.pickle: has both pairs and triples"):
        read(tmp_path / "mixed.pickle", "marvin_linzen", "en")


def test_a_pickle_whose_parts_are_shared_without_end_is_told_in_a_line(tmp_path):
    part: list[object] = []
    for _ in range(60):  # written out in full it would not fit into any memory
        part = [part, part]
    (tmp_path / "bomb.pickle").write_bytes(pickle.dumps({"sing": [part]}))
    with pytest.raises(SetError, match="must have two or three sentences; this is") as error:
        read(tmp_path / "bomb.pickle", "marvin_linzen")
    assert len(str(error.value)) < 600


class Evil:
    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_would_run_a_command_is_refused_and_nothing_has_run(tmp_path, protocol):
    trace = tmp_path / "trace"
    file = tmp_path / "evil.pickle"
    file.write_bytes(pickle.dumps({"sing": [Evil(f"touch {trace}")]}, protocol=protocol))
    with pytest.raises(SetError, match=r"evil.pickle: this pickle is refused: it asks for .*system"):
        read(file, "marvin_linzen")
    assert not trace.exists()


def test_multiblimp_gulordava_and_linzen_tables(tmp_path):
    (multi,) = read(write(tmp_path, "multiblimp"), "multiblimp")
    assert multi[0].features["distance"] == 1
    (gulordava,) = read(write(tmp_path, "gulordava"), "gulordava", "en")
    # The word at the target's place in `sent` is neither form.
    assert [" ".join(v.words) for v in gulordava[0].variants] == ["the dogs near the cat walk", "the dogs near the cat walks"]
    assert gulordava[0].features["subject_number"] == "plural"
    (linzen,) = read(write(tmp_path, "linzen"), "linzen", "en")
    assert " ".join(linzen[0]["bad"].words) == "the dogs near the cat of the man is loud ."
    assert linzen[0].features == {"n_intervening": 2, "n_attractors": 2}
    for made in (gulordava, linzen):
        assert [(c.name, next(c.terms()).span) for c in made.contrasts] == [("target", "target")]


def test_quotation_marks_that_a_table_writer_added_are_taken_off(tmp_path):
    prefix = "the dogs near the cat"
    file = write(tmp_path, "gulordava")
    file.write_text(file.read_text().replace(f"\t{prefix}\t", '\t"the "" dogs "" bark"\t'))
    (made,) = read(file, "gulordava", "en")
    assert made[0]["good"].words == ("the", '"', "dogs", '"', "bark", "walk")


def test_syntaxgym_regions_and_formulas_are_carried(tmp_path):
    (made,) = read(write(tmp_path, "syntaxgym"), "syntaxgym", "en")
    assert made.construction == "number_prep"
    assert made[0]["match"].grammatical is None
    assert made[0]["match"].spans == (Span("region:1:subject", 0, 2), Span("region:2:pp", 2, 2), Span("region:3:verb", 2, 3))
    assert made.contrasts[0].formula == "(3;%match%) < (3;%mismatch%)"


def test_variants_of_a_grammar_have_roles_of_their_own(tmp_path):
    (tmp_path / "two.avg").write_text("vary: V[]; N[]\nS[] le N[s] V[s]\nN[s] chat\nN[p] chats\nV[s] dort\nV[p] dorment\n")
    (made,) = read(tmp_path / "two.avg", "grammar", "fr")
    assert [variant.role for variant in made[0].variants] == ["good", "plural", "plural2", "plural+plural"]
    assert made[0]["plural2"].words == ("le", "chats", "dort")


def test_ones_own_table_and_lines(tmp_path):
    (table,) = read(write(tmp_path, "own"), "own")
    assert (table.construction, table[0].features) == ("simple", {"mood": "calm"})
    (tmp_path / "mine.jsonl").write_text(OWN_LINES)
    (lines,) = read(tmp_path / "mine.jsonl", "own")
    assert lines[0].features == {"subject_number": "singular", "distance": 2}
    assert lines.contrasts[0].roles() == ["good", "bad"]
    (tmp_path / "plain.jsonl").write_text('{"good": "Der Hund bellt.", "bad": "Der Hund bellen.", "mood": "calm"}\n')
    assert recognise(tmp_path / "plain.jsonl") == "own"
    (plain,) = read(tmp_path / "plain.jsonl", "own")
    assert (plain.construction, plain[0].features) == ("plain", {"mood": "calm"})
    # A glued full stop shows raw text, which is kept and cut into words.
    assert (plain[0]["bad"].words, plain[0]["bad"].text) == (("Der", "Hund", "bellen", "."), "Der Hund bellen.")


@pytest.mark.parametrize(
    ("form", "name", "text", "message"),
    [
        ("clams", "a.txt", "False\tx\n", r"a.txt:1: a False line without its True line"),
        ("clams", "a.txt", "True\tx\nPerhaps\ty\n", r"a.txt:2: a line must be True or False, a tab and a sentence"),
        ("blimp", "a.jsonl", '{"sentence_good": "x", "sentence_bad": 3}\n', r"a.jsonl:1: the field 'sentence_bad' must be text"),
        ("blimp", "a.jsonl", "{\n", r"a.jsonl:1: not JSON"),
        (
            "gevalm",
            "a.jsonl",
            '{"text_masked": "x", "candidates": ["a", "b"]}\n',
            r"a.jsonl:1: text_masked has \[MASK\] 0 times instead of once",
        ),
        ("gevalm", "a.jsonl", '{"text_masked": "[MASK]", "candidates": ["a"]}\n', r"candidates must be two forms"),
        ("multiblimp", "a.tsv", "sen\twrong_sen\nx\n", r"a.tsv:2: 1 cell, but the header has 2"),
        ("linzen", "a.tsv", "1\tno mask\ta\tb\n", r"a.tsv:1: a row needs a count, a sentence, a frame with one"),
        ("clams", "a.txt", "\n \n", r"a.txt: the file is empty"),
        ("own", "a.tsv", "\ngood\tbad\n", r"a.tsv:2: a header, but no rows"),
        (
            "own",
            "a.jsonl",
            '{"good": "a", "bad": "b", "x": [1]}\n',
            r"a.jsonl:1: features must be texts or whole numbers by name; they are",
        ),
        ("own", "a.jsonl", '{"good": "a"}\n', r"a.jsonl:1: the field 'bad' must be text"),
        ("blimp", "a.jsonl", '{"sentence_good": "\\ud800", "sentence_bad": "x"}\n', r"a.jsonl:1: half a character"),
        ("blimp", "a.jsonl", '{"n": ' + "9" * 5000 + "}\n", r"a.jsonl:1: not JSON that can be read"),
        ("syntaxgym", "a.json", '{"predictions": [], "items": []}', r"a.json: the suite has no items"),
        ("syntaxgym", "a.json", '{"items": []}', r"a.json: the suite has no list of predictions"),
        ("own", "a.jsonl", '{"variants": []}\n', r"a.jsonl:1: a minimal set needs a list of variants"),
        ("own", "a.tsv", "good\tbad\n\tx\n", r"a.tsv:2: the columns good and bad must hold a sentence each"),
    ],
)
def test_faults_are_told_with_their_place(tmp_path, form, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(SetError, match=message):
        read(tmp_path / name, form)


def test_what_only_looks_like_a_number_is_no_number(tmp_path):
    file = write(tmp_path, "multiblimp")
    file.write_text(file.read_text().replace("\t1\t", "\t²\t"))
    assert read(file, "multiblimp")[0][0].features["distance"] == "²"


def test_a_damaged_archive_and_an_unreadable_file_are_told(tmp_path):
    packed = bytearray(gzip.compress(b"True\ta b c d\nFalse\ta b c e\n" * 50))
    packed[14:18] = b"\x00\xff\x00\xff"
    (tmp_path / "a.txt.gz").write_bytes(packed)
    with pytest.raises(SetError, match=r"a.txt.gz: cannot be decompressed"):
        read(tmp_path / "a.txt.gz", "clams")
    with pytest.raises(SetError, match=r"gone.txt: cannot be read \(No such file"):
        read(tmp_path / "gone.txt", "clams")


def test_a_folder_of_folders_is_read_if_the_format_is_given(tmp_path):
    for name in ("SVPP", "RA_acc"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "gevalm")
    assert [file.parent.name for file in files_of(tmp_path, "gevalm")] == ["RA_acc", "SVPP"]
    with pytest.raises(SetError, match="no challenge set here .*; its subfolders: RA_acc, SVPP"):
        files_of(tmp_path)


def clams_file(folder: Path, name: str, good: list[str], other: dict[str, str]) -> Path:
    """A file in the published shape, with made-up words: a good form an item."""
    lines = [f"True\tx{i} {form}\nFalse\tx{i} {other[form]}\n" for i, form in enumerate(good)]
    (folder / f"{name}.txt").write_text("".join(lines))
    return folder / f"{name}.txt"


@pytest.mark.parametrize(("lang", "first", "second"), [("de", "plural", "singular"), ("he", "singular", "plural")])
def test_published_blocks_tell_the_numbers_and_nothing_else_does(tmp_path, lang, first, second):
    other = {"lacht": "lachen", "lachen": "lacht"}
    form = {"singular": "lacht", "plural": "lachen"}
    blocks = [form[first]] * 70 + [form[second]] * 70
    (made,) = read(clams_file(tmp_path, "simple_agrmt", blocks, other), "clams", lang)
    assert [item.features["subject_number"] for item in made] == [first] * 70 + [second] * 70
    shuffled = blocks[::2] + blocks[1::2]
    for changed in (shuffled, blocks[:60] + blocks[-60:]):
        (made,) = read(clams_file(tmp_path, "simple_agrmt", changed, other), "clams", lang)
        assert not any(made.features)


def test_every_published_block_table_has_the_published_size():
    sizes = {key: sum(size for _, size in blocks) for key, blocks in BLOCKS.items()}
    total = {lang: sum(size for (each, _), size in sizes.items() if each == lang) for lang in ("fr", "de", "he", "ru")}
    assert total == {"fr": 49_360, "de": 47_820, "he": 40_820, "ru": 40_120}


def mutated(rng: random.Random, content: bytes) -> bytes:
    raw = bytearray(content)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(raw) + 1)
        match rng.randrange(4):
            case 0:
                raw[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del raw[at : at + rng.randrange(1, 12)]
            case 2:
                raw[at:at] = raw[rng.randrange(len(raw) + 1) :][: rng.randrange(30)]
            case _:
                raw[at:at] = rng.choice([b"\t", b"\n", b'"', b"{", b"]", b"\xff", b"null", b"[MASK] ", b"1e999", b"\x80\x05"])
    return bytes(raw)


@pytest.mark.parametrize("files", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", FILES)
def test_mutated_files_give_a_result_or_a_clean_error(tmp_path, form, files):
    rng = random.Random(1)
    name, content = FILES[form]
    write(tmp_path, form)  # with what goes beside it
    outcomes = {"read": 0, "refused": 0}
    for _ in range(files):
        (tmp_path / name).write_bytes(mutated(rng, content))
        try:
            for made in read(tmp_path / name, form):
                for item in made:
                    assert all(0 <= start <= end <= len(v.words) for v in item.variants for _, start, end in v.spans)
            outcomes["read"] += 1
        except (SetError, GrammarError) as error:
            assert Path(name).stem in str(error)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > files / 50


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published sets are not on this machine")
def test_published_sets_load():
    french = [made for file in sorted((SHARED / "clams_fr/evalset").iterdir()) for made in read(file, "clams", "fr")]
    assert sum(map(len, french)) == 49_360
    grammars = {
        name: read(SHARED / f"clams_fr/grammars/{name}.avg", "grammar", "fr")[0] for name in (m.construction for m in french)
    }
    for made in french:
        # The numbers that we read off the lines are those that the grammars know.
        for ours, theirs in zip(made.features, grammars[made.construction].features, strict=True):
            assert {name: value for name, value in ours.items() if name != "n_intervening"}.items() <= theirs.items()
    blimp = [made for file in sorted((SHARED / "blimp").iterdir()) for made in read(file, "blimp", "en")]
    assert [len(made) for made in blimp] == [1000] * 3


def test_a_file_that_two_readers_claim_is_not_decided_by_the_alphabet(tmp_path):
    fields = {"good": "a b", "bad": "a c", "sentence_good": "a b.", "sentence_bad": "a c."}
    (tmp_path / "both.jsonl").write_text(json.dumps(fields) + "\n")
    with pytest.raises(SetError, match=r"both.jsonl: this could be blimp or own; choose one: probes.format=blimp"):
        recognise(tmp_path / "both.jsonl")


def test_line_aligned_files_have_their_forms_in_the_gold(tmp_path):
    made = next(reader("aligned").read(write(tmp_path, "aligned"), "en"))
    assert [" ".join(variant.words) for variant in made[0].variants] == [
        "the dogs near the cat are loud .",
        "the dogs near the cat is loud .",
    ]
    assert made[0].features == {"n_attractors": 1}
    assert made[0]["good"].spans == (Span("target", 5, 6),)
    twelve = "\t".join(["a"] * 6 + ["walk", "walks"] + ["b"] * 4)
    (tmp_path / "lgd.gold").write_text(twelve + "\n", encoding="utf-8")
    made = next(reader("aligned").read(tmp_path / "lgd.text", "en"))  # the word at the index is neither form
    assert made[0]["bad"].words[5] == "walks"
    (tmp_path / "lgd.gold").write_text("5\tare\tis\t1\n" * 2, encoding="utf-8")
    with pytest.raises(SetError, match=r"lgd.gold: 2 lines, but lgd.text has 1; they must correspond"):
        list(reader("aligned").read(tmp_path / "lgd.text", "en"))
    (tmp_path / "lgd.gold").write_text("5\tare\tis\n", encoding="utf-8")
    with pytest.raises(SetError, match=r"3 columns; must be 4 \(Linzen et al.\) or 12 \(Gulordava et al.\)"):
        list(reader("aligned").read(tmp_path / "lgd.text", "en"))


def test_the_french_study_has_heuristics_and_distance(tmp_path):
    made = next(reader("li2021").read(write(tmp_path, "li2021"), "fr"))
    assert made[0]["good"].words[-1] == "lus"
    assert made[0]["bad"].words[-1] == "lu"
    expected = {"subject_number": "plural", "h1": "wrong", "h2": "right", "h3": "wrong", "h4": "right", "distance": 2, "n_unk": 0}
    assert made[0].features == expected | {"que_n_num": "plur", "inverted_subj": "0"}
    (tmp_path / "opp.tab").write_text("\n".join(LI2021.splitlines()[:2]) + "\n", encoding="utf-8")
    with pytest.raises(
        SetError, match="a sentence needs two rows, with the singular and plural of one form and its number; here"
    ):
        list(reader("li2021").read(tmp_path / "opp.tab", "fr"))


def english(tmp_path, construction, *pairs):
    lines = "".join(f"True\t{good}\nFalse\t{bad}\n" for good, bad in pairs)
    (tmp_path / f"{construction}.txt").write_text(lines, encoding="utf-8")
    made = next(reader("clams").read(tmp_path / f"{construction}.txt", "en"))
    return [dict(item.features) for item in made]


def test_english_words_tell_their_numbers(tmp_path):
    across = english(
        tmp_path,
        "obj_rel_across_anim",
        ("the author that the guards like laughs", "the author that the guards like laugh"),
        ("the pilots that the guard likes are tall", "the pilots that the guard likes is tall"),
    )
    assert across == [
        {"subject_number": "singular", "attractor_number": "plural", "n_intervening": 1},
        {"subject_number": "plural", "attractor_number": "singular", "n_intervening": 1},
    ]
    pair = ("the author that the guards like laughs", "the author that the guards likes laughs")
    within = english(tmp_path, "obj_rel_within_anim", pair)
    assert within == [{"subject_number": "plural", "attractor_number": "singular", "n_intervening": 0}]
    assert english(tmp_path, "simple_agrmt", ("the author laughs", "the author laugh")) == [
        {"subject_number": "singular", "n_intervening": 0}
    ]
    begin = "the authors know many foreign languages and"
    assert english(tmp_path, "long_vp_coord", (f"{begin} like to watch shows", f"{begin} likes to watch shows")) == [
        {"subject_number": "plural"}
    ]
    # A file in which verb and noun do not agree is not the published one: nothing is guessed.
    assert english(tmp_path, "simple_agrmt", ("the author laughs", "the author laugh"), ("the fish swim", "the fish swims")) == [
        {},
        {},
    ]
    assert english(tmp_path, "simple_reflexives", ("the author hurt himself", "the author hurt themselves")) == [{}]


def test_gevalm_tells_what_stands_between_and_reflexives_are_two_cases(tmp_path):
    found = {}
    agreement = ("SVinObjRelC_sgpl", "SVextendedModifier_plsg", "SVPP_sgpl", "SVlongVPCoord_sgpl")
    for stem in (*agreement, "RA_acc_simple", "RA_acc_longer", "RA_case_simple"):
        (tmp_path / f"{stem}.jsonl").write_text(json.dumps(GEVALM) + "\n", encoding="utf-8")
        made = next(reader("gevalm").read(tmp_path / f"{stem}.jsonl", "de"))
        found[stem] = (made.construction, dict(made[0].features))
    assert found["SVinObjRelC_sgpl"][1]["n_intervening"] == 0
    assert last_noun(found["SVinObjRelC_sgpl"][1]) == "singular"
    assert last_noun(found["SVextendedModifier_plsg"][1]) == "plural"
    assert last_noun(found["SVPP_sgpl"][1]) == "plural"
    assert last_noun(found["SVlongVPCoord_sgpl"][1]) is None
    assert [found[name][0] for name in found if name.startswith("RA")] == ["RA_acc", "RA_acc", "RA_case"]
    assert found["RA_acc_longer"][1]["sub_case"] == "longer"


def test_multiblimp_keeps_its_phenomena_and_numbers(tmp_path):
    (tmp_path / "eng").mkdir()
    head = "sen\twrong_sen\tphenomenon\tgrammatical_feature\tfeature_vals\n"
    rows = "The dog barks .\tThe dog bark .\tSV-#\tNumber\tSG_PL\nI am here .\tI are here .\tSV-P\tPerson\t1_2\n"
    (tmp_path / "eng/data.tsv").write_text(head + rows, encoding="utf-8")
    number, person = reader("multiblimp").read(tmp_path / "eng/data.tsv", "en")
    assert (number.construction, person.construction) == ("SV-#", "SV-P")
    assert number[0].features["subject_number"] == "singular"
    assert (number[0].features["phenomenon"], number[0].features["grammatical_feature"]) == ("SV-#", "Number")
    assert "subject_number" not in person[0].features
    (tmp_path / "eng/data.tsv").write_text("sen\twrong_sen\nThe dog barks .\tThe dog bark .\n", encoding="utf-8")
    assert next(reader("multiblimp").read(tmp_path / "eng/data.tsv", "en")).construction == "eng"


def test_the_second_noun_of_a_published_prepositional_phrase_is_the_attractor(tmp_path):
    grammar = "vary: V[]\nS[] N_1[s] neben N_3[p,dat] V[s]\nN_1[s] Gast\nN_3[p,dat] Köchen\nV[s] lacht\nV[p] lachen\n"
    (tmp_path / "prep_anim.avg").write_text(grammar, encoding="utf-8")
    (tmp_path / "common.avg").write_text("Det[s] der\n", encoding="utf-8")
    made = next(reader("grammar").read(tmp_path / "prep_anim.avg", "de"))
    assert (made[0].features["subject_number"], made[0].features["attractor_number"]) == ("singular", "plural")


ARROWS = '''\
"""One pair per line: the good sentence, an arrow, the bad one."""

from concord.probes.challenge_set import ChallengeSet
from concord.probes.readers.own import add_forms
from concord.probes.set_file import lines

SUFFIXES = {".arrows"}


def recognises(file, head):
    return " -> " in head.split("\\n")[0]


def read(file, language):
    made = ChallengeSet(file.stem, language, dataset="arrows", file=str(file))
    for number, line in lines(file):
        good, _, bad = line.strip().partition(" -> ")
        add_forms(made, number, {}, good, [bad])
    yield made
'''


def test_a_new_format_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "arrows.py").write_text(ARROWS, encoding="utf-8")
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    monkeypatch.setitem(sys.modules, f"{readers.__name__}.arrows", None)  # so that it is forgotten afterwards
    del sys.modules[f"{readers.__name__}.arrows"]
    file = tmp_path / "simple.arrows"
    file.write_text("the dog barks . -> the dog bark .\n", encoding="utf-8")
    assert readers.recognise(file) == "arrows"
    (made,) = readers.reader("arrows").read(file, "en")
    assert [variant.words[2] for variant in made[0].variants] == ["barks", "bark"]
