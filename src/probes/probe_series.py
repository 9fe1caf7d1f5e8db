"""A model probed repeatedly while it learns: scores, verdicts and tables at one moment, what the screen shows of them,
and the files that keep them.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from rich.console import RenderableType

from .. import metric_names
from ..lm.model import LanguageModel
from ..machine import give_memory_back
from ..metric_names import PROBE_SECONDS
from ..terminal import UNCHANGED, share, show_change, show_interval
from .accuracy import Answer, Table, judge_scores, metrics
from .collection import stratified_sample
from .contract_statement import state_contract
from .leakage import Leakage
from .phases import agree_with_rules, rule_metrics
from .prediction_files import save_predictions
from .probe import Probe, build_probe
from .probe_display import results_view
from .region_files import save_regions
from .result_files import save_summary
from .scorers import Scorer, SharedScorer, WordScores
from .scorers.incremental import IncrementalScorer
from .suite_display import mean_label
from .verdict_files import SAMPLE, save_items, save_sample, save_verdicts
from .verdicts import Verdicts

# Maps a model, and the state its sentences start from (the rule `start`), to a scorer.
MakeScorer = Callable[[LanguageModel, str], IncrementalScorer]


@dataclass(frozen=True)
class SampledProbe:
    """The sets of one language and collection: a sample that is probed during training, and the whole for the end."""

    sample: Probe
    whole: Probe

    @property
    def prefix(self) -> str:
        return metric_names.probe(self.whole.language, self.whole.name)


@dataclass(frozen=True)
class ProbePlan(SampledProbe):
    """What is probed, and what puts the results in perspective: everything that needs the training text."""

    references: Mapping[str, Table]
    frequencies: Mapping[str, int]  # of the tested forms in the training text
    leaks: Leakage
    rules: Mapping[str, Verdicts]  # what n-grams and surface rules prefer on the sample


def sample_probe(whole: Probe, size: int | None, seed: int) -> Probe:
    """At most `size` items per set, balanced over combinations of subject and attractor number."""
    if size is None or all(len(made) <= size for made in whole.sets):
        return whole
    chosen = []
    for each in whole.collected:
        made = each.challenge_set
        chosen.append(each.subset(stratified_sample(made, size, seed)) if size < len(made) else each)
    return replace(build_probe(whole.name, whole.language, chosen, whole.groupings), lexicon=whole.lexicon)


@dataclass(frozen=True)
class TrainingMoment:
    """How far training has got; `about` is what else a result records about it."""

    step: int
    words: int
    about: Mapping[str, object] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        return {"step": self.step, "words_seen": self.words, **self.about}


@dataclass(frozen=True)
class Probing:
    """The results of probing all samples once."""

    metrics: dict[str, float]
    answers: dict[str, Answer]  # by prefix
    views: list[RenderableType] = field(repr=False)


class ProbeScreen:
    """`full`: the whole table every time. Otherwise one row per construction whose accuracy differs from what was last shown."""

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.last: dict[str, Table] = {}
        self.shown: dict[str, dict[str, float]] = {}  # accuracy by construction, as last shown

    def view(self, prefix: str, title: str, now: Table) -> RenderableType:
        """The view of one collection in one language, which the prefix identifies."""
        before, self.last[prefix] = self.last.get(prefix), now
        if before is None or self.full:
            self.shown[prefix] = _accuracies(now)
            return results_view(title, now, before)
        was = self.shown[prefix]
        changed = [name for name, value in _accuracies(now).items() if _differs(value, was.get(name, math.nan))]
        self.shown[prefix] = was | {name: now.row(name).all.accuracy for name in changed}
        return _changes(title, now, was, changed)


def _accuracies(now: Table) -> dict[str, float]:
    return {row.construction: row.all.accuracy for row in now.rows}


def _differs(value: float, was: float) -> bool:
    """Whether the displayed number would differ; a construction that cannot be scored never changes."""
    return math.isnan(value) != math.isnan(was) or show_change(value - was) not in ("", UNCHANGED)


def _changes(title: str, now: Table, was: dict[str, float], changed: list[str]) -> str:
    """One line for the probe and one per changed construction, without a table frame."""
    mean = f"{title}: {mean_label(now)} {share(now.mean.accuracy)} ({show_interval(now.mean.interval)})"
    if not changed:
        return f"{mean}, no changes"
    lines = [mean]
    widest = max(map(len, changed))
    for name in changed:
        own = now.row(name).all
        change = show_change(own.accuracy - was.get(name, math.nan))
        lines.append(f"  {name:{widest}}  {share(own.accuracy)}  {show_interval(own.interval)}  {change}")
    same = len(now.rows) - len(changed)
    return "\n".join([*lines, *([f"  unchanged: {same} of {len(now.rows)}"] if same else [])])


class ProbeSeries:
    """Probes a model at successive moments. What does not depend on its weights is prepared once.

    With several processes, each scores its share and all have the same numbers; the first one writes.
    """

    def __init__(self, plans: Sequence[SampledProbe], folder: Path, screen: ProbeScreen | None = None) -> None:
        self.plans = plans
        self.folder = folder
        self.screen = screen or ProbeScreen()
        self.prepared: dict[int, object] = {}
        self.contracts: dict[int, dict[str, object]] = {}  # as they are saved

    def probe_samples(self, scorer_for: Callable[[str], Scorer], when: str, moment: TrainingMoment) -> Probing:
        """Score the samples and save their verdicts; `when` goes into the tables' titles."""
        started = time.perf_counter()
        found = Probing({}, {}, [])
        for plan in self.plans:
            sample = plan.sample
            answer = self.answer(sample, scorer_for(sample.contract.rules.start))
            found.metrics.update(self._keep(plan, answer, moment))
            title = f"{sample.language} {sample.name}, {when}"
            found.views.append(self.screen.view(plan.prefix, title, answer.table))
            found.answers[plan.prefix] = answer
        found.metrics[PROBE_SECONDS] = time.perf_counter() - started
        return found

    def keep_answers(self, answers: Mapping[str, Answer], scorer: Scorer, moment: TrainingMoment) -> dict[str, float]:
        """The metrics of answers already computed, by prefix; their verdicts are saved."""
        found: dict[str, float] = {}
        for plan in self.plans:
            self._state_contract(plan.sample, scorer)
            found |= self._keep(plan, answers[plan.prefix], moment)
        return found

    def _keep(self, plan: SampledProbe, answer: Answer, moment: TrainingMoment) -> dict[str, float]:
        sample = plan.sample
        if rank_and_world()[0] == 0:
            self._save_sample(plan)
            save_verdicts(self.verdict_file(plan, moment.step), sample, answer.verdicts, self._about(sample, moment))
        found = metrics(answer.table, sample.language, sample.name)
        if isinstance(plan, ProbePlan):
            found |= rule_metrics(agree_with_rules(sample, answer.verdicts, plan.rules), plan.prefix)
        return found

    def probe_whole(
        self, plan: SampledProbe, scorer: Scorer, moment: TrainingMoment, references: Mapping[str, Table] | None = None
    ) -> Table:
        """The whole sets, with every word of every sentence on disk, beside reference lines: the given ones, or the plan's."""
        answer = self.answer(plan.whole, scorer)
        self.prepared.pop(id(plan.whole), None)  # only scored once, and writing takes memory too
        give_memory_back()
        return self.keep_whole(plan, answer, scorer, moment, references)

    def keep_whole(
        self,
        plan: SampledProbe,
        answer: Answer,
        scorer: Scorer,
        moment: TrainingMoment,
        references: Mapping[str, Table] | None = None,
    ) -> Table:
        """The same for answers already computed."""
        whole = plan.whole
        self._state_contract(whole, scorer)
        if rank_and_world()[0] == 0:
            about = self._about(whole, moment)
            folder = self.folder / f"final-{whole.language}-{whole.name}"
            extra = _frequencies(plan) if isinstance(plan, ProbePlan) else {}
            own = plan.references if isinstance(plan, ProbePlan) else {}
            save_items(folder / "items.parquet", whole, answer.verdicts, answer.scores, about, extra)
            save_regions(folder / "regions.parquet", whole, answer.scores, about)
            save_predictions(folder / "predictions.json", whole, answer.verdicts)
            save_summary(folder, {"model": answer.table, **own, **(references or {})}, about)
        return answer.table

    def answer(self, chosen: Probe, scorer: Scorer) -> Answer:
        self._state_contract(chosen, scorer)
        scores = self._share(chosen, scorer) if isinstance(scorer, SharedScorer) else scorer.score(chosen.sentences)
        return judge_scores(chosen, scores)

    def _state_contract(self, chosen: Probe, scorer: Scorer) -> None:
        if id(chosen) not in self.contracts:
            self.contracts[id(chosen)] = state_contract(chosen, scorer)

    def _share(self, chosen: Probe, scorer: SharedScorer) -> WordScores:
        prepared = self.prepare(chosen, scorer)
        return scorer.scores(prepared, _over_all_ranks(scorer.logprobs(prepared, *rank_and_world())))

    def prepare(self, chosen: Probe, scorer: SharedScorer) -> object:
        if id(chosen) not in self.prepared:
            self.prepared[id(chosen)] = scorer.prepare(chosen.sentences)
        return self.prepared[id(chosen)]

    def _about(self, chosen: Probe, moment: TrainingMoment) -> dict[str, object]:
        """Where the numbers come from."""
        return self._identity(chosen) | moment.plain()

    def _identity(self, chosen: Probe) -> dict[str, object]:
        known = {"language": chosen.language, "set": chosen.name, "digest": chosen.digest, "extent": chosen.extent}
        return known | {"contract": self.contracts[id(chosen)]}

    def _save_sample(self, plan: SampledProbe) -> None:
        """Once: its items do not change during training."""
        file = self.folder / f"{plan.sample.language}-{plan.sample.name}-{SAMPLE}.parquet"
        if not file.exists():
            rules = plan.rules if isinstance(plan, ProbePlan) else {}
            save_sample(file, plan.sample, rules, self._identity(plan.sample))

    def verdict_file(self, plan: SampledProbe, step: int) -> Path:
        return self.folder / f"{plan.sample.language}-{plan.sample.name}-step{step:08d}.parquet"


def _frequencies(plan: ProbePlan) -> dict[str, list[int | None]]:
    """How often the tested forms occur in the training text: preferring the frequent one is not knowing the rule."""
    if not plan.frequencies:
        return {}
    found: dict[str, list[int | None]] = {}
    for side, name in enumerate(("good", "bad")):
        column: list[int | None] = [None] * len(plan.whole.contrasts)
        for row, forms in zip(plan.whole.contrasts.pairs.rows.tolist(), plan.whole.forms(), strict=True):
            column[row] = plan.frequencies.get(forms[side])
        found[f"{name}_frequency"] = column
    return found


def shards_weights(strategy: str) -> bool:
    """Whether no process has all of the weights under this strategy (`fsdp`, `FSDPStrategy`): then none can score a sentence."""
    return strategy.lower().replace("_", "").startswith(("fsdp", "deepspeed", "modelparallel"))


def rank_and_world() -> tuple[int, int]:
    """Which of how many training processes this is."""
    if not (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def sum_over_ranks(count: int) -> int:
    """The sum over all training processes."""
    if rank_and_world()[1] == 1:
        return count
    shared = _where_all_meet(torch.tensor(count))
    torch.distributed.all_reduce(shared)
    return int(shared)


def _where_all_meet(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.cuda() if torch.distributed.get_backend() == "nccl" else tensor


def _over_all_ranks(logprobs: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every process has scored some of the pieces and has 0 for the others."""
    if rank_and_world()[1] == 1:
        return logprobs
    shared = _where_all_meet(torch.from_numpy(logprobs))
    torch.distributed.all_reduce(shared)
    return shared.cpu().numpy()
