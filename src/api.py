"""What `import concord` offers: models, sets, probing and reports in plain values, through the functions the commands use."""

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .errors import UserError
from .lm.fast_import import import_lightning
from .settings.languages import Clitics, read_language
from .settings.probing import SHARED, LexiconChoice
from .settings.reading import Plain
from .settings.training_settings import PretrainedSettings

import_lightning()  # before later imports pull it in, so that it loads less
from .data.corpus import begins_with_capital
from .probes.accuracy import Answer
from .probes.contract import make_contract
from .probes.contract_statement import contract_statement
from .probes.evaluation import ask, save_answer, save_tables
from .probes.lexicon.word_table import LEXICON, save_choice
from .probes.models import Model as Model
from .probes.models import check_device, load_checkpoint, load_pretrained, wrap_function
from .probes.probe import Probe
from .probes.probe_preparation import make_probe
from .probes.sets import Sets as Sets
from .probes.sets import sets as sets
from .probes.word_surprisal import read_sentences, surprisal_table
from .report.accuracy_frame import accuracy_frame
from .report.optional_packages import explain_missing
from .report.report_folder import make_report, write_page, write_report
from .watching.lightning_watch import LightningWatch as LightningWatch
from .watching.watcher import Watcher as Watcher

if TYPE_CHECKING:
    import pandas as pd

    from .watching.trainer_watch import TrainerWatch


# ----------------------------------------------------------------------- models


def load(path: str | Path, *, device: str = "cpu", start: Literal["zero", "warm"] = "zero", allow: Sequence[str] = ()) -> Model:
    """A model trained here: a run folder (its best checkpoint) or a checkpoint.

    `start="warm"` starts every sentence from the state that a few sentences of its corpus leave behind. A network from your own
    package is imported only if you allow it: `allow=["mypackage"]`.
    """
    check_device(device)
    return load_checkpoint(_checkpoint(Path(path)), device, start == "warm", allow)


def _checkpoint(path: Path) -> Path:
    if not path.is_dir():
        return path
    there = [path / "checkpoints" / name for name in ("best.ckpt", "last.ckpt")]
    found = [file for file in there if file.exists()]
    if not found:
        raise UserError(f"{path}: neither {there[0].relative_to(path)} nor last.ckpt is in this folder; give a run folder")
    return found[0]


def pretrained(
    name: str | Path, scoring: str | None = None, language: str = "en", *, protocol: str = "default", **options: Any
) -> Model:
    """A model from the Hugging Face hub or from a folder, with one scoring.

    `scoring` is `causal` for causal models; `pll_word_l2r` (the default), `masked_target`, `pll` … for masked ones; or what
    the protocol sets. Options are those of `conf/model/hf.yaml`: `revision`, `device`, `kind`, `spacing` …
    """
    settings = PretrainedSettings(name=(str(name),), **options)
    scores = None if scoring is None else [scoring]
    return load_pretrained(settings, make_contract(protocol, {}), scores, read_language(language))[0]


def model(
    function: Callable[[list[str]], Sequence[Sequence[float]]],
    name: str | None = None,
    *,
    language: str | None = None,
    vocabulary: Collection[str] | None = None,
) -> Model:
    """Any function as a model: given sentences (words separated by spaces), it returns each word's log-probability in nats.

    Without `name`, it is called like the function. `vocabulary`: the words it knows; an item whose tested word is not among them
    is reported as uncovered.
    """
    own = getattr(function, "__name__", "function")
    name = name or ("function" if own == "<lambda>" else own)
    return wrap_function(function, name, read_language(language) if language else None, vocabulary)


def surprisals(models: Model | Sequence[Model], text: str | Path | Sequence[str], language: str | None = None) -> "pd.DataFrame":
    """One row per word and model: bits, pieces, unknown. `text` is a file (one sentence per line) or a list of sentences."""
    asked = [models] if isinstance(models, Model) else list(models)
    sentences = read_sentences(Path(text)) if isinstance(text, str | Path) else dict(enumerate(text, start=1))
    measured = [dict(zip(sentences, each.surprisals([*sentences.values()], language), strict=True)) for each in asked]
    with explain_missing():
        import pandas as pd

    return pd.concat(
        [surprisal_table(m.name, found).to_pandas() for m, found in zip(asked, measured, strict=True)], ignore_index=True
    )


# ---------------------------------------------------------------------- probing


@dataclass(frozen=True)
class ProbeResult:
    """A model's preferences on some sets: `table`, every verdict (`verdicts`), and how they were measured (`contract`)."""

    model: Model
    probe: Probe = field(repr=False)
    answer: Answer = field(repr=False)

    @property
    def contract(self) -> str:
        """The scoring contract in words."""
        return contract_statement(self.probe, self.model.scorer.reading)

    @property
    def accuracy(self) -> dict[str, float]:
        """The accuracy of every construction, and their `mean`."""
        table = self.answer.table
        return {row.construction: row.all.accuracy for row in table.rows} | {"mean": table.mean.accuracy}

    @cached_property
    def table(self) -> "pd.DataFrame":
        """One row per construction: n, accuracy with its 95 % interval, ties, and the numbers uncovered, unknown and repeated."""
        return accuracy_frame(self.answer.table)

    @cached_property
    def verdicts(self) -> "pd.DataFrame":
        """One row per contrast, with the columns of items.parquet: scores, verdict, features, log-probability of every word."""
        with explain_missing():
            import pandas as pd

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "items.parquet"
            save_answer(file, self.model, self.probe, self.answer, {})
            return pd.read_parquet(file)

    def save(self, folder: str | Path) -> Path:
        """Write the files that `concord evaluate` writes: items.parquet, summary.csv, summary.json, summary.md; the words of a
        fitted lexicon.
        """
        place = Path(folder)
        save_answer(place / "items.parquet", self.model, self.probe, self.answer, {})
        save_tables(place, self.probe, [self.model], {self.model.name: self.answer}, {})
        if self.probe.lexicon:
            save_choice(place / LEXICON, self.probe.lexicon)
        return place

    def __repr__(self) -> str:
        rows = "\n".join(f"{name:<24} {value:.3f}" for name, value in self.accuracy.items())
        return f"{self.model.name} on {self.probe.name} ({self.probe.language}), protocol {self.probe.contract.label}\n{rows}"


def probe(
    model: Model,
    sets: Sets,
    protocol: str = "default",
    *,
    lexicon: Literal["fixed", "fit"] | Sequence[str | Path] = "fixed",
    **rules: Plain,
) -> ProbeResult:
    """Evaluate which sentence of each minimal set a model prefers; the numbers are those of `concord evaluate` on the same
    sets with the same `probes.lexicon`.

    `lexicon="fit"` replaces the words of our sets by words that a model trained here knows; a list of runs, checkpoints or word
    files, by words that all of them know. `concord evaluate` does the former by itself for models of real text.
    Individual rules of the protocol can be overridden by name: `probe(model, sets, ties="wrong", capitalize=True)`.
    """
    rules = {"capitalize": "auto", **rules}
    contract = make_contract(protocol, rules)
    if contract.rules.start == "warm" and getattr(model.scorer, "start", None) is None:
        raise UserError(f'{model.name}: start=warm needs a model loaded that way: concord.load(path, start="warm")')
    if missing := [name for name in contract.options if not (model.options or {}).get(name)]:
        raise UserError(
            f"{model.name}: protocol={protocol} needs a pretrained model with {missing[0]}: "
            f'concord.pretrained(name, protocol="{protocol}")'
        )
    if contract.scoring and model.options and not model.scorer.name.startswith(contract.scoring):
        raise UserError(
            f"{model.name}: it scores by {model.scorer.name}, and protocol={protocol} by {contract.scoring}: "
            f'concord.pretrained(name, protocol="{protocol}")'
        )
    elsewhere: Clitics = next(iter(model.clitics.values()), "split")
    capitals = begins_with_capital(model.capitals, sets.language)
    if isinstance(lexicon, str | Path) and lexicon not in ("fixed", "fit"):
        raise UserError(f"lexicon={str(lexicon)!r}: must be fixed, fit, or a list of runs, checkpoints or word files")
    if lexicon == "fit" and model.words is None:
        raise UserError(f'{model.name}: lexicon="fit" works only for models trained by Concord; give a list of word files')
    choice: LexiconChoice = lexicon if lexicon in ("fixed", "fit") else {SHARED: tuple(map(str, lexicon))}
    asked = make_probe(
        replace(sets.settings(protocol, rules), lexicon=choice),
        sets.language,
        model.clitics.get(sets.language, elsewhere),
        built_in=bool(model.built_in),
        known=model.words,
        capitals=capitals,
    )
    if choice != "fixed" and asked.lexicon is None:
        raise UserError(f"lexicon={lexicon!r}: the sets of {sets.name} come with no lexicon to choose words from; leave it out")
    return ProbeResult(model, asked, ask(model, asked))


# --------------------------------------------------------------------- watching


def watch(trainer: Any, lang: str | None = None, **options: Any) -> "TrainerWatch":
    """Watch a `transformers.Trainer` train: probes on a schedule, logged by the trainer, kept beside its checkpoints.

        concord.watch(trainer, lang="de", every=500, at_words="babylm")
        trainer.train()

    Options are those of `TrainerWatch`; by default the model is probed whenever the trainer evaluates.
    """
    from .watching.trainer_watch import watch_trainer

    return watch_trainer(trainer, lang, **options)


# ---------------------------------------------------------------------- reports


@dataclass(frozen=True)
class Report:
    """Runs, evaluations (folders, or folders that contain them) and results of `probe`, shown together."""

    sources: Sequence[str | Path | ProbeResult]
    baseline: str | None = None

    def save(self, place: str | Path = "report.html") -> Path:
        """Write one page that opens offline (`report.html`); given the name of a folder, tables and figures too."""
        self._require_distinct()
        with tempfile.TemporaryDirectory() as folder:
            paths = [
                each.save(Path(folder) / f"result-{number}") if isinstance(each, ProbeResult) else each
                for number, each in enumerate(self.sources)
            ]
            made = make_report(paths, self.baseline)
            if Path(place).suffix != ".html":
                return write_report(made, Path(place))
            Path(place).parent.mkdir(parents=True, exist_ok=True)
            return write_page(made, Path(place))

    def _require_distinct(self) -> None:
        """Otherwise two models would be shown as one, measured twice."""
        results = [each for each in self.sources if isinstance(each, ProbeResult)]
        asked = Counter(
            (each.model.name, str(each.model.identity()), each.probe.digest, each.probe.contract.label) for each in results
        )
        if twice := [name for (name, *_), times in asked.items() if times > 1]:
            raise UserError(
                f"Report: two results of {twice[0]} on the same sets; leave one out, or, if they are two models, name them: "
                'concord.model(function, name="…")'
            )
