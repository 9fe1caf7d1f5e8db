"""3,000 mutated treebanks and patterns: a result, or an error of one line."""

import random

import pytest
from concord.data.patterns import read_pattern
from concord.errors import UserError
from concord.places import installed_folder
from concord.probes.treebanks.controls import Controls
from concord.probes.treebanks.extraction import Extraction

FOLDER = installed_folder("patterns")
PIECES = [
    "\t",
    "\n",
    "\n\n",
    "_",
    "0",
    "-",
    "1-2\t",
    "3.1\t",
    "#",
    "|",
    "=",
    "9" * 12,
    "é",
    "\x00",
    "\u202e",
    "{",
    "}",
    "[",
    "]",
    ":",
    "*",
    "&a ",
    "*a",
    "~",
    '"',
    "'",
    "- ",
]


def mutated(text: str, draw: random.Random) -> str:
    for _ in range(draw.choice([1, 1, 2, 5])):
        at, end = sorted((draw.randrange(len(text) + 1), draw.randrange(len(text) + 1)))
        end = min(end, at + draw.choice([0, 1, 3, 20]))
        lines = text.split("\n")
        match draw.randrange(4):
            case 0:
                text = text[:at] + draw.choice(PIECES) + text[end:]
            case 1:
                text = text[:at] + text[end:]
            case 2:
                text = text[:end] + text[at:]
            case _:
                one, two = draw.randrange(len(lines)), draw.randrange(len(lines))
                lines[one], lines[two] = lines[two], lines[one]
                text = "\n".join(lines)
    return text


def outcome(make) -> bool:
    """Whether there is a result; an error must be the user's to mend, and one line."""
    try:
        make()
    except UserError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 1000
        return False
    return True


@pytest.mark.slow
def test_mutated_treebanks(tmp_path):
    draw, pattern, results = random.Random(1), read_pattern(FOLDER / "fr/obj_participle.yaml"), 0
    whole = (FOLDER / "fr/sample.conllu").read_text(encoding="utf-8").split("\n\n")
    file = tmp_path / "a.conllu"

    def make():
        extraction = Extraction(pattern, [file])
        controls = Controls(pattern, extraction.sources, None, ["permuted", "nonce", "mirror"])
        assert sum(1 for _ in controls.harvest(extraction.trees())) == extraction.sentences
        for item in extraction:
            assert len(item.variants()) == 2
            assert sum(1 for _ in controls.of(item, "u")) >= 1

    for number in range(1500):
        text = "\n\n".join(draw.sample(whole[:-1], 3)) + "\n\n"
        if number % 2:  # what a parser made is asked more questions
            text = text.replace("# sent_id", "# parser = spacy:x\n# sent_id")
        file.write_text(mutated(text, draw), encoding="utf-8")
        results += outcome(make)
    assert 100 < results < 1400


@pytest.mark.slow
def test_mutated_patterns(tmp_path):
    draw, results = random.Random(2), 0
    texts = [each.read_text(encoding="utf-8") for each in sorted(FOLDER.rglob("*.yaml"))]
    file = tmp_path / "a.yaml"
    bank = tmp_path / "fr.conllu"
    whole = (FOLDER / "fr/sample.conllu").read_text(encoding="utf-8").split("\n\n")
    bank.write_text("\n\n".join(whole[:5]) + "\n\n", encoding="utf-8")
    for _ in range(1500):
        file.write_text(mutated(draw.choice(texts), draw), encoding="utf-8")
        results += outcome(lambda: list(Extraction(read_pattern(file), [bank])))
    assert 100 < results < 1400
