"""A small study: two languages, two networks, several seeds; and what gets into a folder by mistake."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from concord.commands import evaluate
from pretrained_models import save
from synthetic_runs import asked, settings, write_evaluation, write_run


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "runs"
    for language, skill in (("de", 0.6), ("he", 0.4)):
        whole = asked(language, 24)
        for seed in (1, 2, 3):
            write_run(folder / f"{language}-lstm-s{seed}", whole, seed, skill=skill + seed / 50)
    whole = asked("de", 24)
    other = settings("lang=de", "model=transformer")
    for seed in (1, 2):
        write_run(folder / f"de-transformer-s{seed}", whole, seed, skill=1.0, chosen=other)
    return folder


@pytest.fixture(scope="session")
def capitalised(study: Path) -> Path:
    """The German LSTMs, asked with a capital at the beginning."""
    whole = asked("de", 24, rules=(("capitalize", True),))
    for seed in (1, 2):
        write_evaluation(study.parent / f"results/capital-{seed}", whole, [f"de-lstm-s{seed}/best"])
    return study.parent / "results"


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two small BERTs, each scored in two ways, by the command itself."""
    folder = tmp_path_factory.mktemp("scored")
    for seed, name in enumerate(("bert-a", "bert-b")):
        save("bert", folder / "models" / name, seed)
        asked = [
            "model=hf",
            f"model.name={folder}/models/{name}",
            "lang=en",
            "probes.limit=4",
            "probes.constructions=[simple_agrmt,prep]",
        ]
        run_command(evaluate.main, *asked, "probes.scoring=[pll,sentence_ce]", f"out={folder}/results/{name}")
    return folder / "results"


def run_command(main: Callable[[], None], *arguments: str) -> None:
    """As from the command line, in this process."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["concord", *arguments])
        main()


OWN = {
    "four.tsv": "good\tbad\tbad2\tbad3\tbad4\n"
    "the author laughs .\tthe author laugh .\tthe author smile .\tthe author like .\tthe author see .\n"
    "the pilot smiles .\tthe pilot smile .\tthe pilot laugh .\tthe pilot like .\tthe pilot see .\n",
    "triple.jsonl": "".join(
        json.dumps(line) + "\n"
        for line in [
            {
                "challenge_set": {
                    "construction": "triple",
                    "language": "en",
                    "dataset": "own",
                    "contrasts": [
                        {
                            "name": "all three",
                            "all": [
                                {"better": "laughs", "worse": "laugh", "span": "verb"},
                                {"better": "smiles", "worse": "smile", "span": "verb"},
                                {
                                    "left": [["laughs", "verb"], ["laugh", "verb", -1]],
                                    "right": [["smiles", "verb"], ["smile", "verb", -1]],
                                },
                            ],
                        }
                    ],
                    "groupings": {"mood": {"by": "mood"}, "all moods": {"by": "construction", "across": True}},
                }
            },
            *(
                {
                    "features": {"mood": mood},
                    "variants": [
                        {"role": verb, "grammatical": None, "sentence": f"the {noun} {verb} .", "spans": [["verb", 2, 3]]}
                        for verb in ("laughs", "laugh", "smiles", "smile")
                    ],
                }
                for mood, noun in (("calm", "author"), ("calm", "pilot"), ("wild", "guard"))
            ),
        ]
    ),
}


@pytest.fixture(scope="session")
def own_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's files, put to a small BERT: four bad forms to beat at once, a contrast of three clauses, a grouping."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "sets").mkdir()
    for name, text in OWN.items():
        (folder / "sets" / name).write_text(text, encoding="utf-8")
    save("bert", folder / "bert-a", 0)
    asked = ["model=hf", f"model.name={folder}/bert-a", "lang=en", "probes=own", f"probes.path={folder}/sets"]
    run_command(evaluate.main, *asked, "probes.scoring=[pll]", f"out={folder}/result")
    return folder / "result"
