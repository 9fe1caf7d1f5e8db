"""docs/contracts.md: what the contract says for every scorer on every kind of set. This file writes it, and its test compares it.

python tests/probes/test_contract_page.py        writes the page anew
"""

import json
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import concord.lm  # noqa: E402, F401 - before transformers
from concord.data.vocabulary import Vocabulary  # noqa: E402
from concord.lm.model import Architecture, initialise_model  # noqa: E402
from concord.probes.collection import ItemSelection, collect  # noqa: E402
from concord.probes.contract import make_contract  # noqa: E402
from concord.probes.contract_statement import contract_statement  # noqa: E402
from concord.probes.probe import Probe, build_probe  # noqa: E402
from concord.probes.scorers import Reading  # noqa: E402
from concord.probes.scorers.from_file import FileScorer  # noqa: E402
from concord.probes.scorers.function import FunctionScorer  # noqa: E402
from concord.probes.scorers.incremental import IncrementalScorer  # noqa: E402
from concord.probes.scorers.pretrained import Options, load, scorer  # noqa: E402
from concord.probes.scorers.score_file import read_score_file  # noqa: E402
from pretrained_models import save  # noqa: E402
from set_files import CLAMS, FILES, NPI  # noqa: E402
from training_runs import NETWORKS  # noqa: E402

PAGE = ROOT / "docs/contracts.md"
HEAD = """\
# The scoring contract, scorer by scorer

Every table and every result file states how its numbers were computed. The statement is derived from what the scorer does with a
sentence and from what the sets compare, never from a template. This page lists the statement for every scorer and every kind of
set, under the protocol that the scorer is used with; a test compares the page with what the program says.
[probing.md](probing.md#the-scoring-contract) explains the rules, and `probes.rules.…` changes them.
"""
SETS = {
    "Sentences in words, without a final mark": ("clams", "Our grammars, CLAMS", ("simple.txt", CLAMS.encode())),
    "Running text": ("blimp", "BLiMP, MultiBLiMP, RuBLiMP and other tables", FILES["blimp"]),
    "One tested word": ("linzen", "Linzen, Gulordava, cloze tables", FILES["linzen"]),
    "Three contrasts of one item": (
        "marvin_linzen",
        "Marvin and Linzen's polarity items",
        ("simple_npi.pickle", pickle.dumps(NPI)),
    ),
    "One good form against several": (
        "own",
        "Tables with bad2, bad3 …",
        ("four.tsv", b"good\tbad\tbad2\nshe runs\tshe run\tshe ran\n"),
    ),
    "Regions and formulas": ("syntaxgym", "SyntaxGym suites", FILES["syntaxgym"]),
}


def readings(folder: Path) -> Iterator[tuple[str, str, Reading]]:
    """Scorers by name, each with the protocol that it is known by, as they say themselves how they read."""
    vocabulary = Vocabulary(["<eos>", "<unk>", "a"])
    model = initialise_model(Architecture(3, 8, True, 0.0, 0.5, NETWORKS["lstm"]), seed=3)
    yield "Concord LSTM", "default", IncrementalScorer("m", model, vocabulary).reading
    attention = initialise_model(Architecture(3, 8, True, 0.0, 0.5, NETWORKS["transformer"]), seed=3)
    yield "Concord Transformer", "default", IncrementalScorer("m", attention, vocabulary).reading
    yield "Concord LSTM, `start=warm`", "default", IncrementalScorer("m", model, vocabulary, model.read).reading
    yield "Concord LSTM", "babylm", IncrementalScorer("m", model, vocabulary).reading
    gpt2, bert = (load(str(save(family, folder / family))) for family in ("gpt2", "bert"))
    yield "causal model (GPT-2)", "default", scorer("causal", gpt2).reading
    yield "causal model, `start=none`", "default", scorer("causal", gpt2, Options(start="none")).reading
    yield "causal model (GPT-2)", "minicons", scorer("causal", gpt2).reading
    for scoring in (
        "pll_word_l2r",
        "pll",
        "pll_whole_word",
        "left_to_right",
        "left_to_right_end_kept",
        "masked_target",
        "sentence_ce",
    ):
        yield f"masked model (BERT), `{scoring}`", "default", scorer(scoring, bert).reading
    yield "masked model (BERT)", "goldberg", scorer("masked_target", bert, Options(skip_multi_piece=True)).reading
    yield "masked model (BERT)", "gevalm", scorer("sentence_ce", bert, Options(equal_pieces=True)).reading
    yield "your own function", "default", FunctionScorer("mypackage.score", lambda texts: []).reading
    (folder / "scores.csv").write_text("sentence,logprob\nshe runs,-3.5\n", encoding="utf-8")
    yield (
        "`model=scores`",
        "default",
        FileScorer(folder / "scores.csv", read_score_file(folder / "scores.csv", None, None, "e")).reading,
    )


def probe_of(form: str, sample: tuple[str, bytes], protocol: str, folder: Path) -> Probe:
    file = folder / form / sample[0]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(sample[1])
    selection = ItemSelection(contract=make_contract(protocol, {}))
    return build_probe(form, "en", collect(file, "en", form, folder / "cache", selection))


def _cell(said: str) -> str:
    """`<eos>` is no tag, and `<|endoftext|>` no border."""
    return said.replace("<", "\\<").replace("|", "\\|")


def written_page() -> str:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        known = list(readings(folder))
        sections = []
        for title, (form, sources, sample) in SETS.items():
            probes = {protocol: probe_of(form, sample, protocol, folder) for _, protocol, _ in known}
            rows = [
                f"| {name} | {protocol} | {_cell(contract_statement(probes[protocol], said))} |" for name, protocol, said in known
            ]
            sections.append(
                "\n".join([f"## {title}", f"{sources}.", "", "| scorer | protocol | contract |", "|---|---|---|", *rows])
            )
    return "\n\n".join([HEAD.rstrip(), *sections]) + "\n"


def test_the_page_says_what_the_program_says():
    page = PAGE.read_text(encoding="utf-8")
    assert page == written_page(), "python tests/probes/test_contract_page.py writes docs/contracts.md anew"
    statements = [line.split(" | ")[2] for line in page.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(set(statements)) > 50  # what is read differs, and so what is said


if __name__ == "__main__":
    PAGE.write_text(written_page(), encoding="utf-8")
    print(json.dumps(str(PAGE)))
