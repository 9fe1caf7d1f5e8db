"""Any bytes at all: a grammar or an error with a place, never a traceback."""

import itertools
import random

import pytest
from concord.data.grammar import Draw, Expansion, GrammarError, load
from hypothesis import given
from hypothesis import strategies as st

PIECES = [
    *(
        "S[]",
        "S",
        "N[$n]",
        "V[s]",
        "V[p]",
        "NP[$n,$c]",
        "N_1[3,s]",
        "[",
        "]",
        "[]",
        "{",
        "}",
        "{3 tag}",
        "{}",
        "|",
        "#",
        "$",
        "$n",
    ),
    *("vary:", "vary: V[]", "vary: V[s]; N[]", "vary: V[] & N[]", "attribute number $n: s singular | p plural", "limit NP, N: 1"),
    *("attribute case $c: nom | dat", "feature f: number of N", "feature d: words from N to V", "construction x:", "  a | b"),
    *("{case=x}", "{2 t a=b}", "=", "distinct: N, V", "distinct: N", "vary: V[s] to [p]", " to ", "to [p]"),
    *("paradigm V[]: s | p", "der", "l'", "ה+", ";", "&", ":", ",", "->", "→", "\t", " ", "\n", "\r\n", "\u2028", "\x00", "\x85"),
    *("é", "\udcff", "ß", "\ufeff", "$n2"),
]
SEEDS = [
    (
        "attribute number $n: s singular | p plural\nfeature f: number of N\nvary: V[]\nS[] N[$n] V[$n]\n"
        "N[s] a\nN[p] b\nV[s] c\nV[p] d\n"
    ),
    "limit NP: 2\nS[] {2 t} NP[] geht .\nNP[] er | der N[] , den NP[] sieht ,\nparadigm N[]: \n  Hund\n  Esel\n",
    (
        "vary: R[1,s] to [3,s]; R[2,s] to [1,s]\ndistinct: M, N\nS[] {a=b} M[s] und N[p] R[1,s] | {a=c t} N[s] R[2,s]\n"
        "M[s] N[s]\nparadigm N: s | p\n  Hund | Hunde\n  Esel | Esel\nparadigm R: 1,s | 2,s | 3,s\n  mich | dich | sich\n"
    ),
    "vary: V[1]; V[s]\nS[] je V[1,s]\nV[1,s] pense\nV[2,s] penses\nV[1,p] pensons\nV[2,p] pensez\n",
]


def survives(folder, raw: bytes) -> bool:
    """Whether the bytes are a usable grammar; an error must begin with the file."""
    file = folder / "x.avg"
    file.write_bytes(raw)
    try:
        grammar = load(folder, "x")
        for group in itertools.islice(Expansion(grammar, "joined"), 30):
            assert group.sentences[0].grammatical
            texts = [sentence.text for sentence in group.sentences]
            assert texts[0] not in texts[1:]
        if not grammar.distinct:
            next(Draw(grammar, seed=0))
    except GrammarError as error:
        assert "x.avg" in str(error)
        return False
    return True


def mutated(rng: random.Random) -> bytes:
    """A line salad, or a good grammar with a few pieces replaced, doubled or cut."""
    if rng.random() < 0.2:
        return "".join(rng.choice([*PIECES, " ", "\n"]) for _ in range(rng.randrange(60))).encode("utf-8", "surrogateescape")
    raw = bytearray(rng.choice(SEEDS).encode())
    for _ in range(rng.randrange(1, 3)):
        at = rng.randrange(len(raw) + 1)
        match rng.randrange(4):
            case 0:
                raw[at:at] = rng.choice(PIECES).encode("utf-8", "surrogateescape")
            case 1:
                del raw[at : at + rng.randrange(8)]
            case 2:
                raw[at:at] = raw[rng.randrange(len(raw) + 1) :][: rng.randrange(40)]
            case _:
                raw[at : at + 1] = bytes([rng.randrange(256) if rng.random() < 0.1 else rng.choice(b"abSNV sp\n")])
    return bytes(raw)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in (1, 2, 3))])
def test_mutated_grammars(tmp_path, part):
    rng = random.Random(part)
    good = sum(survives(tmp_path, mutated(rng)) for _ in range(2500))
    # Both outcomes must occur, or the mutations test nothing.
    assert 250 < good < 2250


@given(st.binary(max_size=300))
def test_any_bytes(tmp_path_factory, raw):
    survives(tmp_path_factory.mktemp("fuzz"), raw)


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_salad_of_pieces(tmp_path_factory, pieces):
    survives(tmp_path_factory.mktemp("fuzz"), " ".join(pieces).encode("utf-8", "surrogateescape"))
