"""Tables 1 and 2 of the German study, from data in the published format, against a computation that shares nothing with ours."""

import json
from collections import defaultdict
from pathlib import Path

import pytest
import torch
from concord.probes.contract import make_contract
from concord.probes.evaluation import evaluate_probe
from concord.probes.models import load_pretrained
from concord.probes.probe_preparation import make_probe
from concord.report.case_tables import CASES, count_pairs, worst_cases
from concord.report.grids import to_markdown
from concord.report.latex import to_latex
from concord.report.report_folder import make_report
from concord.settings.languages import read_language
from concord.settings.probing import ProbeSettings, collection_files
from concord.settings.training_settings import PretrainedSettings
from pretrained_models import cut, save

# Case, its sub-cases, and a sentence of each number of the tested word; {a} is the attractor.
SHAPES = {
    "SimplSent": (("sg", "pl"), "Der Gast [MASK] ."),
    "SVinSentCompl": (("sgsg", "plpl", "plsg", "sgpl"), "{a} sagt , dass der Gast [MASK] ."),
    "SVshortVPCoord": (("sg", "pl"), "Der Gast lacht und [MASK] ."),
    "SVmediumVPCoord": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast kennt {a} und [MASK] ."),
    "SVlongVPCoord": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast lacht und [MASK] {a} ."),
    "SVPP": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast bei {a} [MASK] ."),
    "SVSubjRelC": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast , der {a} kennt , [MASK] ."),
    "SVacrossObjRelC": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast , den {a} kennt , [MASK] ."),
    "SVinObjRelC": (("sgsg", "plpl", "plsg", "sgpl"), "Der Gast , den {a} [MASK] , lacht ."),
    "SVModifier": (("sg", "pl"), "Der lachende Gast [MASK] ."),
    "SVextendedModifier": (("sgsg", "plpl", "plsg", "sgpl"), "Der {a} kennende Gast [MASK] ."),
    "SVVorf": (("sgsg", "plsg", "sgpl"), "Den Gast [MASK] {a} ."),
    "RA_acc": (("simple", "longer", "SentCompl"), "Ich beeile [MASK] {a} ."),
    "RA_case": (("simple", "longer", "SentCompl"), "Ich merke [MASK] {a} ."),
}


def chosen_forms() -> list[tuple[str, str]]:
    """Two pairs of forms with as many pieces each, and one with different numbers, whatever the tokenizer has learnt."""
    words = [
        "lacht",
        "lachen",
        "bleibt",
        "bleiben",
        "swims",
        "swim",
        "Gast",
        "author",
        "authors",
        "guard",
        "pilot",
        "senator",
        "naïve",
    ]
    counts = {word: len(cut("bert").tokenize(word)) for word in words}
    alike = [(one, other) for one in words for other in words if one < other and counts[one] == counts[other]]
    unlike = next((one, other) for one in words for other in words if counts[one] != counts[other])
    return [alike[0], alike[-1], unlike]


FORMS = {"sg": chosen_forms(), "pl": [(bad, good) for good, bad in chosen_forms()[:2]]}
OTHERS = {"RA_acc": chosen_forms()[:2], "RA_case": chosen_forms()[1:]}
ATTRACTORS = ("den Autor", "Autoren", "the guards", "Pilot")
SWAPPED = {"SVinSentCompl", "SVinObjRelC"}  # their field `case` has the numbers the other way round


def write_published(folder: Path) -> None:
    """At least ten lines a case, with the traps of the published files."""
    for case, (sub_cases, shape) in SHAPES.items():
        for sub_case in sub_cases:
            rows = []
            for attractor in ATTRACTORS:
                for good, bad in OTHERS.get(case) or FORMS[sub_case[:2]]:
                    masked = shape.format(a=attractor)
                    field = sub_case[2:] + sub_case[:2] if case in SWAPPED and len(sub_case) == 4 else sub_case
                    wrong = 8 if case == "SVlongVPCoord" else masked.split().index("[MASK]")
                    rows.append(
                        {
                            "text": masked.replace("[MASK]", good),
                            "text_masked": masked,
                            "candidates": [good, bad],
                            "indexMASK": wrong,
                            "case": f"{case}_{field}",
                        }
                    )
            rows *= 2 if (case, sub_case) == ("SVinSentCompl", "plsg") else 1  # appended twice
            file = folder / case / f"{case}_{sub_case}.jsonl"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def independent(model_folder: Path, data: Path) -> dict[tuple[str, str], list[bool]]:
    """The released scripts in twenty lines: mean loss of the unmasked sentence, unequal pieces skipped, ties correct."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(model_folder), AutoModelForMaskedLM.from_pretrained(model_folder).eval()

    def loss(sentence: str) -> float:
        ids = tokenizer(sentence, return_tensors="pt").input_ids
        with torch.no_grad():
            return float(torch.nn.functional.cross_entropy(model(ids).logits[0], ids[0]))

    found = defaultdict(list)
    for file in sorted(data.glob("*/*.jsonl")):
        case, _, sub_case = file.stem.rpartition("_")
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            good, bad = row["candidates"]
            if len(tokenizer.tokenize(good)) == len(tokenizer.tokenize(bad)):
                losses = [loss(row["text_masked"].replace("[MASK]", form)) for form in (good, bad)]
                found[case, sub_case].append(losses[0] <= losses[1])
    return found


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    root = tmp_path_factory.mktemp("german")
    write_published(root / "data")
    import yaml

    described = yaml.safe_load(collection_files()["gevalm"].read_text(encoding="utf-8"))
    settings = ProbeSettings(
        name="gevalm", format="gevalm", path=str(root / "data"), protocol="gevalm", groupings=described["groupings"]
    )
    probe = make_probe(settings, "de", "joined")
    contract, folders = make_contract("gevalm", {}), {}
    for seed in (0, 1):
        folder = folders[f"tiny-{seed}"] = save("bert", root / f"tiny-{seed}", seed)
        (model,) = load_pretrained(PretrainedSettings(name=(str(folder),)), contract, None, read_language("de"))
        evaluate_probe(probe, [model], root / f"results/{seed}", {})
    return root, probe, folders


def test_losses_of_another_program_give_the_same_tables(evaluated):
    """In the shape of the published outputs: a loss per candidate, lower is better."""
    from concord.probes.models import load_scores
    from concord.settings.training_settings import ScoreFileSettings

    root, probe, folders = evaluated
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    folder = next(iter(folders.values()))
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()
    for file in sorted((root / "data").glob("*/*.jsonl")):
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            row["probs"], row["tokenized"] = {}, []
            for form in row["candidates"]:
                ids = tokenizer(row["text_masked"].replace("[MASK]", form), return_tensors="pt").input_ids
                with torch.no_grad():
                    row["probs"][form] = float(torch.nn.functional.cross_entropy(model(ids).logits[0], ids[0]))
                row["tokenized"].append(tokenizer.tokenize(form))
        output = root / "outputs" / file.parent.name / file.name
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    scored = load_scores(ScoreFileSettings(path=str(root / "outputs")), read_language("de"), [probe])
    evaluate_probe(probe, [scored], root / "scored", {})
    theirs, ours = (make_report([root / where]) for where in ("scored", "results/0"))
    for name in ("cases", "sub-cases"):
        assert cells(theirs, name) == cells(ours, name)


def cells(made, name: str) -> dict[str, list[str]]:
    grid = next(grid for grid in made.tables if grid.name == name)
    ours = [place for place, head in enumerate(grid.heads) if not head.published]
    return {label: [row[place].text for place in ours] for label, row in grid.rows}


def test_the_published_files_are_fourteen_cases_with_the_right_sub_cases(evaluated):
    _, probe, _ = evaluated
    assert sorted(probe.constructions) == sorted(SHAPES)
    sizes = {made.construction: len(made) for made in probe.sets}
    assert min(sizes.values()) >= 10
    for made in probe.sets:
        found = {str(features["sub_case"]) for features in made.features}
        assert found == set(SHAPES[made.construction][0])
    complement = next(made for made in probe.sets if made.construction == "SVinSentCompl")
    swapped = [features for features in complement.features if features["sub_case"] == "plsg"]
    assert {features["subject_number"] for features in swapped} == {"plural"}  # the file's name, not the field
    assert len(swapped) == 2 * len(ATTRACTORS) * 2  # as published: twice each
    long = next(made for made in probe.sets if made.construction == "SVlongVPCoord")
    tested = {form for pair in (*FORMS["sg"], *FORMS["pl"]) for form in pair}
    assert all(item["good"].words[item["good"].spans[0].start] in tested for item in long)  # where [MASK] stands, not indexMASK


def test_both_tables_are_what_an_independent_computation_gives(evaluated):
    root, _, folders = evaluated
    made = make_report([root / "results"])
    pooled, parts = cells(made, "cases"), cells(made, "sub-cases")
    assert len(pooled) == 14
    for place, folder in enumerate(folders.values()):
        found = independent(folder, root / "data")
        for case, (sub_cases, _) in SHAPES.items():
            every = [right for sub_case in sub_cases for right in found[case, sub_case]]
            shown = pooled[case][2 * place : 2 * place + 2]
            assert shown == [f"{len(every):,}", f"{sum(every) / len(every):.2f}" if every else "–"], case
            for sub_case in sub_cases:
                own = found[case, sub_case]
                if own:
                    assert parts[f"{case} › {sub_case}"][2 * place : 2 * place + 2] == [
                        f"{len(own):,}",
                        f"{sum(own) / len(own):.2f}",
                    ]


def test_best_and_worst_are_marked_and_the_overlap_is_told(evaluated):
    root, *_ = evaluated
    made = make_report([root / "results"])
    grid = next(grid for grid in made.tables if grid.name == "cases")
    values = [{label: dict(row[place].numbers).get("value") for label, row in grid.rows} for place in (1, 3)]
    worst = [worst_cases({name: value if value is not None else float("nan") for name, value in own.items()}) for own in values]
    for place, own in zip((1, 3), worst, strict=True):
        assert [label for label, row in grid.rows if row[place].under] == [label for label, _ in grid.rows if label in own]
        assert len(own) == 5
    for label, row in grid.rows:
        known = [own[label] for own in values if own[label] is not None]
        assert [row[place].best for place, own in zip((1, 3), values, strict=True)] == [
            own[label] == max(known) for own in values
        ]
    assert f"share {len(set(worst[0]) & set(worst[1]))} of their 5 worst (the paper's two models: 4)" in grid.note
    assert "<u>" in to_markdown(grid)
    assert "**" in to_markdown(grid)
    assert r"\underline{" in to_latex(grid)
    assert r"\textbf{" in to_latex(grid)


def test_published_values_stand_beside(evaluated):
    root, *_ = evaluated
    grid = next(grid for grid in make_report([root / "results"]).tables if grid.name == "cases")
    heads = [f"{head.top} {head.name}" for head in grid.heads]
    place = next(i for i, head in enumerate(heads) if "distilGBERT" in head and head.endswith("accuracy"))
    rows = dict(grid.rows)
    assert (rows["SVPP"][place].text, rows["SVPP"][place - 1].text) == ("0.80", "2,160")
    assert set(CASES.values()) == set(SHAPES)


def test_what_the_data_are_is_counted(evaluated):
    rows = [
        {"good": ["a", "b", "."], "bad": ["a", "c", "."], "good_target": [1, 2], "bad_target": [1, 2]},
        {"good": ["d", "c", "."], "bad": ["d", "b", "."], "good_target": [1, 2], "bad_target": [1, 2]},
        {"good": None, "bad": None, "good_target": None, "bad_target": None},
    ]
    assert count_pairs(rows) == {"pairs": 2, "sentences": 4, "tokens": 12, "forms": 5, "tested forms": 2, "tested lexemes": 1}
    root, *_ = evaluated
    data = cells(make_report([root / "results"]), "case-data")
    assert data["SimplSent"][0] == str(len(ATTRACTORS) * 5)
