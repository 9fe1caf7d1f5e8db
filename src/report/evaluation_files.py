"""What evaluate.py wrote: one set, one or more models."""

from collections.abc import Iterator
from pathlib import Path

from ..files import JsonObject
from ..probes.result_files import read_summary
from ..settings.checkpoint_names import suite_and_seed
from .left_out import LeftOut
from .results import ModelFacts, Result, final_groupings, final_groups, final_scores
from .run_files import whole_verdict_file
from .verdict_columns import VerdictFiles


def read_evaluation(folder: Path, left_out: list[LeftOut], files: VerdictFiles) -> Iterator[Result]:
    """One result per model."""
    tables, about = read_summary(folder)
    models = about.get("models", {})
    references = {name: final_scores(table) for name, table in tables.items() if name not in models}
    for name, known in models.items():
        if name not in tables:
            continue
        file = folder / ("items.parquet" if len(models) == 1 else f"items-{name.replace('/', '-')}.parquet")
        yield Result(
            name=name,
            path=folder,
            kind="evaluation",
            finished=True,
            language=str(about["language"]),
            set=str(about["set"]),
            digest=about.get("digest", "unknown"),
            sample="none",
            contract=about.get("contract", {}) | ({"statement": known["statement"]} if "statement" in known else {}),
            vocabulary=_vocabulary(name, known),
            model=_model_facts(name, known),
            provenance={
                key: value for key, value in known.items() if key not in ("model", "words_seen", "statement", "unknown_words")
            },
            scores=final_scores(tables[name]),
            items=whole_verdict_file(file, left_out, files) if file.exists() else None,
            measures={key: float(value) for key, value in known.items() if isinstance(value, int | float)},
            references=references,
            groupings=final_groupings(tables[name]),
            groups=final_groups(tables[name]),
            bases=tables[name].bases,
            files=files,
        )


def _model_facts(name: str, known: JsonObject) -> ModelFacts:
    """A pretrained model is named `<model>/<scoring>` and may appear once per scoring; older files identify it by its options."""
    scoring = known.get("scoring") or (name.rpartition("/")[2] if known.get("options") else "")
    if not scoring:
        return ModelFacts(name)
    suite, seed = suite_and_seed(name.removesuffix(f"/{scoring}"))
    revision = (known.get("options") or {}).get("revision") or ""
    if seed is None:
        return ModelFacts(name.removesuffix(f"/{scoring}"), scoring=scoring, revision=revision)
    return ModelFacts(suite, scoring=scoring, revision=revision, suite_seed=seed)


def _vocabulary(name: str, known: JsonObject) -> str:
    """For a pretrained model, a name shared by all its files. Seeds of one suite share their tokenizer and nothing else."""
    if "tokenizer" in known and suite_and_seed(name.rpartition("/")[0])[1] is not None:
        return str(known["tokenizer"])
    return str(known.get("vocabulary", "unknown"))
