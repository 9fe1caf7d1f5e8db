import itertools

from concord.data.grammar import Draw, Expansion

HEBREW = """
vary: V[]
S[] ה+ N[] V[s] ו+ V[s]
N[] ילד
V[s] רץ
V[p] רצים
"""


def test_clitics_are_words_or_parts_of_words(expand):
    assert expand(HEBREW)[0] == "ה ילד רץ ו רץ"
    assert expand(HEBREW, "joined")[0] == "הילד רץ ורץ"


def test_spans_follow_the_rendering(grammar):
    for clitics, spans in (("split", ((2, 3), (4, 5))), ("joined", ((1, 2), (2, 3)))):
        group = next(iter(Expansion(grammar(HEBREW), clitics)))
        assert group.sentences[0].spans == spans


def test_corpora_render_the_same_way(grammar):
    corpus = "S[] ה+ N[] ש+ ה+ N[] רואה ישן .\nN[] ילד"
    assert next(Draw(grammar(corpus), seed=0)) == "ה ילד ש ה ילד רואה ישן ."
    assert list(itertools.islice(Draw(grammar(corpus), seed=0, clitics="joined"), 1)) == ["הילד שהילד רואה ישן ."]


def test_a_plus_of_its_own_is_a_word(expand):
    assert expand("S[] 1 + 1 ist C++ im a+", "joined") == ["1 + 1 ist C++ im a"]
