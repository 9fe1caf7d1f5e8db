"""What is typed arrives: any language, any path."""

import pytest
from concord.commands.typed_arguments import as_typed
from hydra.core.override_parser.overrides_parser import OverridesParser

SENTENCE = "der Gast hinter den Bischöfen wartet ."


def understood(argument: str) -> tuple[str, object]:
    """By Hydra itself, after us."""
    (typed,) = as_typed([argument])
    assert as_typed([typed]) == [typed]  # a process that starts another passes on what it was given
    found = OverridesParser.create().parse_override(typed)
    return found.key_or_group, found.value()


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        (f"text={SENTENCE}", SENTENCE),
        ("text=Hallo, Welt", "Hallo, Welt"),
        ("text=l'auteur rit", "l'auteur rit"),
        ('text=l\'auteur dit "oui"', 'l\'auteur dit "oui"'),
        ("text=мама мыла раму", "мама мыла раму"),
        ("text=הילדים באו", "הילדים באו"),
        ("text='schon so'", "schon so"),
        ("text=null", None),
        ("data.path=/tmp/Bücher.txt", "/tmp/Bücher.txt"),
        ("data.path=/tmp/{lang}.txt", "/tmp/{lang}.txt"),
        ("data.path=[a.txt,b.txt]", ["a.txt", "b.txt"]),
        ("data.path=corpora/*.txt.xz", "corpora/*.txt.xz"),
        ("paths.runs=${oc.env:HOME}/läufe", "${oc.env:HOME}/läufe"),
        ("model.optimizer.lr=0.001", 0.001),
        ("overwrite=true", True),
    ],
)
def test_values_arrive_as_they_were_typed(argument: str, value: object) -> None:
    found = understood(argument)[1]
    assert getattr(found, "text", found) == value


@pytest.mark.parametrize(
    "argument", ["-m", "lang=de,fr", "seed=range(1,4)", "model.dropout=choice(0.1,0.2)", "+new=1", "~logger"]
)
def test_what_hydra_understands_stays(argument: str) -> None:
    assert as_typed([argument]) == [argument]
