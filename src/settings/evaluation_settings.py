"""The settings of `evaluate`: which models, which sets, which text."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import UserError
from .checkpoint_names import naming_rule
from .corpus_settings import CorpusSettings, read_corpus_settings
from .languages import LanguageChoice, read_language_choice
from .probing import ProbeSettings, read_probe_settings, refuse_scoring
from .reading import Plain, read
from .run import PathSettings
from .training_settings import PretrainedSettings, ScoreFileSettings


@dataclass(frozen=True)
class EvaluationSettings:
    """`model` is a pretrained one or a score file, `scorer` a user-defined function by its dotted name; without either, our
    own checkpoints are evaluated, which know their language and their words.
    """

    probes: ProbeSettings
    lang: LanguageChoice | None
    model: PretrainedSettings | ScoreFileSettings | None
    data: CorpusSettings | None
    paths: PathSettings
    ckpt_path: tuple[str, ...] | None
    text: str | None
    out: str | None
    device: str
    allow: tuple[str, ...] = ()  # user packages that networks and scorers may come from
    scorer: str | None = None


def read_evaluation_settings(values: Mapping[str, Plain]) -> EvaluationSettings:
    """Errors in them are found here, before a model is loaded."""
    plain = read(_TopLevel, values)
    made = EvaluationSettings(
        probes=read_probe_settings(plain.probes),
        lang=read_language_choice(plain.lang) if plain.lang else None,
        model=_read_model(plain.model) if plain.model else None,
        data=read_corpus_settings(plain.data) if plain.data else None,
        paths=plain.paths,
        ckpt_path=plain.ckpt_path,
        text=plain.text,
        out=plain.out,
        device=plain.device,
        allow=plain.allow,
        scorer=plain.scorer,
    )
    _must_ask_something(made)
    return made


def _read_model(values: Mapping[str, Plain]) -> PretrainedSettings | ScoreFileSettings:
    """conf/model/scores.yaml is the one with a path."""
    if "network" in values:
        raise UserError(
            f"model={values.get('name')}: concord evaluate takes ckpt_path= for our own models, and model=hf for pretrained ones"
        )
    if "path" in values:
        scores = read(ScoreFileSettings, values, "model")
        if not scores.path:
            raise UserError("model=scores needs model.path=: a score file (.csv, .tsv, .jsonl or .parquet)")
        return scores
    settings = read(PretrainedSettings, values, "model")
    if not settings.name:
        raise UserError("model=hf needs model.name=: a name on the Hugging Face hub, or a folder")
    _check_revisions(settings)
    return settings


def _check_revisions(settings: PretrainedSettings) -> None:
    if settings.revision is not None and settings.revisions is not None:
        raise UserError(f"model.revision={settings.revision}: give either one revision, or several (model.revisions=) as a curve")
    if settings.revisions == ():
        raise UserError("model.revisions=[]: the list is empty; write all, log, or revision names")
    several = settings.name is not None and len(settings.name) > 1
    if several and (settings.revisions is not None or settings.revision is not None):
        raise UserError(
            "model.name=[…]: each entry of the list is already a checkpoint; leave model.revision and model.revisions out"
        )
    naming_rule(settings.pattern, settings.places)


def _must_ask_something(settings: EvaluationSettings) -> None:
    if settings.probes.is_none and settings.text is None and not settings.data:
        raise UserError("probes=none: also give data= (perplexity of a corpus) or text= (surprisal of a sentence)")
    if settings.scorer and (settings.model or settings.ckpt_path):
        beside = _foreign(settings.model) if settings.model else "ckpt_path="
        raise UserError(f"scorer={settings.scorer}: one model at a time; leave {beside} out")
    if settings.model and settings.ckpt_path:
        raise UserError(f"ckpt_path={','.join(settings.ckpt_path)}: not together with {_foreign(settings.model)}; leave one out")
    foreign = _foreign(settings.model) if settings.model else "scorer=" if settings.scorer else ""
    if foreign and not settings.lang:
        raise UserError(f"{foreign} needs lang=: a third-party model does not say which language to evaluate it in")
    if foreign and settings.data:
        raise UserError(
            f"data=: the per-word perplexity of a third-party model is not comparable; leave data= out with {foreign}"
        )
    if not isinstance(settings.model, PretrainedSettings):
        refuse_scoring(settings.probes)
    if isinstance(settings.model, PretrainedSettings) and settings.text is not None and settings.model.asks_training:
        raise UserError("text=: one model at a time; leave model.revisions out and give one model.name=")
    if isinstance(settings.model, ScoreFileSettings) and settings.text is not None:
        raise UserError("text=: a score file cannot score another sentence; leave text= out with model=scores")
    if not foreign and settings.ckpt_path is None:
        raise UserError("ckpt_path= is required: a checkpoint, several ([a.ckpt,b.ckpt]), or a run folder")


def _foreign(model: PretrainedSettings | ScoreFileSettings) -> str:
    return "model=scores" if isinstance(model, ScoreFileSettings) else "model=hf"


@dataclass(frozen=True)
class _TopLevel:
    """conf/evaluate.yaml."""

    probes: dict[str, Plain]
    paths: PathSettings
    lang: dict[str, Plain] | None = None
    model: dict[str, Plain] | None = None
    data: dict[str, Plain] | None = None
    ckpt_path: tuple[str, ...] | None = None
    text: str | None = None
    out: str | None = None
    device: str = "cpu"
    allow: tuple[str, ...] = ()
    scorer: str | None = None
    tokenizer: dict[str, Plain] = field(default_factory=dict)
