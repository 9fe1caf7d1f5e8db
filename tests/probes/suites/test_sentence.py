"""Text, words and regions of a condition go together, whatever the joiner."""

from pathlib import Path

import pytest
from concord.probes.challenge_set import SetError
from concord.probes.pairs import words_of
from concord.probes.suites.json_files import suite_from
from concord.probes.suites.region_sentence import sentence_of
from concord.probes.suites.suite import sentences
from concord.probes.suites.suite_files import files_of, read
from concord.probes.suites.variants import variants_of

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"


def sentence(joiner: str, language: str, *contents: str):
    regions = [{"region_number": n, "content": content} for n, content in enumerate(contents, start=1)]
    item = {"item_number": 1, "conditions": [{"condition_name": "a", "regions": regions}]}
    suite = suite_from({"meta": {"joiner": joiner}, "predictions": [], "items": [item]}, "a.json")
    return sentence_of(suite, suite.items[0], suite.items[0].conditions[0], language)


def cut(made) -> list[str]:
    return [made.text[region.start : region.end] for region in made.regions]


def words(made) -> list[tuple[str, ...]]:
    return [made.words[region.first_word : region.end_word] for region in made.regions]


def test_published_suites_have_one_blank_between_regions():
    made = sentence("blank", "en", "", " As the  man ", ",", "", "the nurse left .")
    assert made.text == "As the man , the nurse left ."
    assert cut(made) == ["", "As the man", ",", "", "the nurse left ."]
    assert words(made) == [(), ("As", "the", "man"), (",",), (), ("the", "nurse", "left", ".")]


def test_running_text_attaches_marks_at_region_borders_too():
    made = sentence("running", "es", "", "¿ Qué", "dijo ( ayer )", ", Ana", "?", "Nada", ".")
    assert made.text == "¿Qué dijo (ayer), Ana? Nada."
    assert cut(made) == ["", "¿Qué", "dijo (ayer)", ", Ana", "?", "Nada", "."]
    assert words(made)[1:4] == [("¿", "Qué"), ("dijo", "(", "ayer", ")"), (",", "Ana")]


def test_marks_that_are_glued_already_stay_so():
    made = sentence("running", "es", "¿Qué", "dijo", ", pues?", "")
    assert made.text == "¿Qué dijo, pues?"
    assert (made.regions[-1].start, made.regions[-1].end) == (len(made.text), len(made.text))
    assert sentence("blank", "en", "The man,", "he left.").words == ("The", "man", ",", "he", "left", ".")


def test_a_number_that_begins_with_a_point_is_not_attached():
    assert sentence("running", "en", "about", ".5 grams").text == "about .5 grams"


def test_a_word_across_two_regions_is_an_error():
    with pytest.raises(SetError, match="item 1, a: a word of 'so...' spans two regions; align regions with word boundaries"):
        sentence("running", "en", "so .", "..")


@pytest.mark.parametrize("joiner", ["blank", "running"])
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
def test_regions_partition_every_published_sentence(joiner):
    for suite in map(read, files_of([PUBLISHED])):
        joined = suite_from(
            {"meta": {**suite.meta, "joiner": joiner}, "predictions": [], "items": []} | _items(suite), suite.file
        )
        for item, condition in sentences(joined):
            made = sentence_of(joined, item, condition, "en")
            assert "".join(cut(made)).replace(" ", "") == made.text.replace(" ", "")
            assert sum(words(made), ()) == made.words
            assert [" ".join(part.split()) for part in cut(made)] == cut(made)


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
def test_variants_have_the_words_and_regions_of_their_sentences():
    for suite in map(read, files_of([PUBLISHED])):
        for item in suite.items:
            for variant, condition in zip(variants_of(suite, item, "en"), item.conditions, strict=True):
                assert [variant.words[s.start : s.end] for s in variant.spans] == [
                    tuple(words_of(region.content, "en")) for region in condition.regions
                ]
                assert [s.name for s in variant.spans] == [f"region:{n}:{name}" for n, name in suite.region_names.items()]
                assert variant.text == " ".join(" ".join(region.content for region in condition.regions).split())


def _items(suite):
    from concord.probes.suites.json_files import document_of

    return {"items": document_of(suite)["items"]}
