"""`make compat`: our exports in environments of other tools, where Concord is not installed; run by hand, since it builds them.

python tests/compat/compare_tools.py ENVIRONMENTS        a folder with the virtual environments tf4, lm_eval and minicons;
                                                             then models or sets, for one half of it
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests" / "lm"))

import concord  # noqa: E402
import test_export as parts  # noqa: E402
from concord.commands.sets import main as sets_command  # noqa: E402
from concord.lm.checkpoints import load_model  # noqa: E402
from concord.lm.export import export  # noqa: E402

LIMIT = 100
TEXTS = ["der Autor lacht", "die Autoren lachen .", "der Xylophonist ärgert"]
MINICONS = """
import json, sys
from minicons import scorer
from transformers import AutoModelForCausalLM, AutoTokenizer
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], trust_remote_code=True)
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], trust_remote_code=True)
lm = scorer.IncrementalLMScorer(model, "cpu", tokenizer=tokenizer)
found = {}
for file in sys.argv[2:]:
    rows = [json.loads(line) for line in open(file, encoding="utf-8")]
    good, bad = (lm.sequence_score([row[key] for row in rows]) for key in ("sentence_good", "sentence_bad"))
    found[file.rsplit("/", 1)[-1].removesuffix(".jsonl")] = sum(g > b for g, b in zip(good, bad)) / len(rows)
print(json.dumps(found))
"""


def german_model(folder: Path) -> Path:
    """Trained for four epochs: it knows some constructions and not others."""
    settings = ["lang=de", "trainer.max_epochs=4", "logger=none", "probes=none", "trainer.threads=1"]
    settings += [f"paths.runs={folder}", "name=run"]
    subprocess.run([sys.executable, "-m", "concord.commands.train", *settings], check=True, capture_output=True, cwd=folder)
    return folder / "run/checkpoints/best.ckpt"


def compare_models(python: Path, work: Path) -> None:
    for network in ("lstm", "transformer"):
        for words in ("word", "unigram", "bpe"):
            own = work / f"{network}-{words}"
            own.mkdir(parents=True)
            file = parts.checkpoint(own, network) if words == "word" else parts.pieces_checkpoint(own, network, words)
            export(file, own / "out")
            found = parts.without_concord(own / "out", TEXTS, str(python))
            model, tokenizer, _ = load_model(file)
            model.eval()
            worst = 0.0
            for number, text in enumerate(TEXTS):
                ids = tokenizer.encode(["<eos>", *text.split()])
                assert found["ids"][number] == ids, (text, found["ids"][number], ids)
                with torch.no_grad():
                    expected = model(torch.tensor([ids]))[0][0, -1].numpy()
                for way in ("alone", "together"):
                    worst = max(worst, float(np.abs(np.array(found[way][number]) - expected).max()))
            assert worst < 1e-5, worst
            print(f"  {network:12} {words:8} logits within {worst:.1e}, tied {found['tied']}, {len(found['made'][0])} tokens")


def compare_accuracies(found: dict[str, float], expected: dict[str, float]) -> None:
    for name, value in found.items():
        print(f"  {name:24} theirs {value:.4f}  ours {expected[name]:.4f}")
    wrong = [name for name, value in found.items() if abs(value - expected[name]) > 1e-9]
    assert not wrong, f"accuracies differ: {wrong}"


def main(environments: Path, asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for name in ("tf4", "lm_eval") if "models" in asked else ():
            python = environments / name / "bin" / "python"
            version = [str(python), "-c", "import transformers; print(transformers.__version__)"]
            print(f"transformers {subprocess.run(version, capture_output=True, text=True, check=True).stdout.strip()}")
            compare_models(python, work / name)
        if "sets" not in asked:
            return
        file = german_model(work)
        export(file, work / "model")
        sets = concord.sets("de", limit=LIMIT)
        sets_command(["export", "de", "--limit", str(LIMIT), "--to", "lm_eval", "--out", str(work / "tasks")])
        model = concord.pretrained(str(work / "model"), language="de")
        shutil.move(work / "tasks", work / "moved")  # what is in it must be found wherever it is
        print("lm_eval")
        arguments = ["--model", "hf", "--model_args", f"pretrained={work}/model,trust_remote_code=True,dtype=float32"]
        arguments += ["--include_path", f"{work}/moved", "--tasks", "concord_de", "--device", "cpu", "--batch_size", "16"]
        program = [str(environments / "lm_eval/bin/python"), "-m", "lm_eval", *arguments, "--output_path", f"{work}/results"]
        done = subprocess.run(program, capture_output=True, text=True, check=False, cwd=work)
        assert done.returncode == 0, done.stderr[-3000:]
        (results,) = (work / "results").rglob("results*.json")
        said = json.loads(results.read_text(encoding="utf-8"))["results"]
        accuracies = {name.removeprefix("concord_de_"): value["acc,none"] for name, value in said.items() if name != "concord_de"}
        compare_accuracies(accuracies, concord.probe(model, sets, "lm_eval").accuracy)
        print("minicons")
        files = [str(file) for file in sorted((work / "moved/data").glob("*.jsonl"))]
        program = [str(environments / "minicons/bin/python"), "-c", MINICONS, str(work / "model"), *files]
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        compare_accuracies(json.loads(done.stdout.splitlines()[-1]), concord.probe(model, sets, "minicons").accuracy)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2:] or ["models", "sets"])
