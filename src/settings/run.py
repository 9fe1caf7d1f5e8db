"""A run described by its settings: what it consists of, what changes its result, what it is called."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar

from omegaconf import OmegaConf

from ..errors import UserError
from ..places import FALSE, cache_folder
from .corpus_settings import CorpusSettings, corpus_class, read_corpus_settings
from .languages import Clitics, Language, LanguageChoice, each_language, read_language_choice
from .probing import ProbeSettings, read_probe_settings
from .reading import Above, Natural, Plain, machine, read, refuse_unknown, result_values
from .recipe import settle_recipe
from .training_settings import (
    CallbackSettings,
    LoggerSettings,
    ModelSettings,
    PieceTokenizer,
    TokenizerSettings,
    TrainerSettings,
    WordTokenizer,
)

# What can be the name of one folder and nothing else: `.`, `..` and a/b lead elsewhere.
FOLDER_NAME = re.compile(r"[^\s./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")
LONGEST_NAME = 200


@dataclass(frozen=True)
class PathSettings:
    """Where things go, relative to the current folder."""

    runs: str
    results: str
    cache: str | None = None
    downloads: str | None = None
    offline: bool | str = False
    own: str = "."  # the folder with the user's own conf/ and grammars/; `places` looks there

    def __post_init__(self) -> None:
        """No shell expands `~` in `paths.runs=~/runs`."""
        for name in ("runs", "results", "cache", "downloads"):
            if value := getattr(self, name):
                object.__setattr__(self, name, os.path.expanduser(value))  # noqa: PTH111 - an unknown user is left alone

    @property
    def corpora(self) -> Path:
        """Where prepared corpora are kept; by default in the user's cache."""
        return Path(self.cache) if self.cache else cache_folder("corpora")

    @property
    def fetched(self) -> Path:
        """Where downloads are kept; by default in the user's cache."""
        return Path(self.downloads) if self.downloads else cache_folder("downloads")

    @property
    def may_download(self) -> bool:
        """From the environment, `offline` comes as text and may be empty."""
        return str(self.offline).lower() in FALSE


@dataclass(frozen=True)
class RunSettings:
    """All settings of a training run. `plain` are the same settings as in the run's config.yaml."""

    plain: Mapping[str, Plain] = field(repr=False)
    lang: LanguageChoice
    model: ModelSettings
    data: CorpusSettings
    tokenizer: TokenizerSettings
    probes: ProbeSettings
    trainer: TrainerSettings
    callbacks: CallbackSettings
    logger: LoggerSettings
    paths: PathSettings
    seed: Natural
    name: str | None
    tags: tuple[str, ...]
    ckpt_path: str | None
    overwrite: bool
    prepare: bool
    summary: bool
    allow: tuple[str, ...] = ()  # user packages; for this call only, so not among the plain settings
    init_from: str | None = None
    force: bool = False
    overfit: float | None = None
    debugging: str | None = None

    # The groups that change a result; the corpus has a class for each kind.
    RESULT: ClassVar = ("lang", "model", "data", "tokenizer", "probes", "trainer", "callbacks")

    @property
    def languages(self) -> tuple[Language, ...]:
        """One, or several in one model."""
        return each_language(self.lang)

    def clitics(self, language: Language) -> Clitics:
        """How the run's corpus, and so its sets, write what a script joins."""
        return self.data.clitics(language)

    @property
    def begins_elsewhere(self) -> bool:
        """Whether it starts from another run's checkpoint."""
        return self.ckpt_path not in (None, "auto")

    @property
    def processes(self) -> int:
        """Processes that train together, on all machines; each reads a share of every batch: their number changes the result."""
        return _count_devices(self.trainer.devices, self.trainer.accelerator) * self.trainer.num_nodes

    def result_settings(self) -> dict[str, Plain]:
        """Every setting that changes the result, by its full name; the one answer to whether two runs are the same."""
        found: dict[str, Plain] = {}
        for group in self.RESULT:
            values = self.plain.get(group)
            if isinstance(values, Mapping):
                kind = corpus_class(values) if group == "data" else type(getattr(self, group))
                found |= dict(result_values(kind, values, group))
        found["seed"] = self.seed
        if len(self.languages) == 1:  # a vocabulary per language is then the vocabulary
            found.pop("tokenizer.vocabulary_per_language", None)
        if self.init_from is not None:
            found["init_from"] = self.init_from
        if self.processes != 1:
            found["processes"] = self.processes
        return found

    def settings_and_beginning(self) -> dict[str, Plain]:
        """What distinguishes runs: everything that changes the result, and another run's checkpoint that it starts from."""
        return self.result_settings() | ({"ckpt_path": self.ckpt_path} if self.begins_elsewhere else {})

    def run_name(self) -> str:
        """The run's folder: `name`, or the default one."""
        return self.name or self.usual_name()

    def usual_name(self) -> str:
        """Language, network, corpus, seed, and a hash of every setting that changes the result."""
        parts = (self.lang.code, self.model.name, self.data.name, f"s{self.seed}")
        return "-".join([*parts, settings_hash(self.settings_and_beginning())])

    @property
    def given_name(self) -> str:
        """The name its user gave it; sweeps write down the default name, which nobody gave."""
        return "" if self.name is None or self.name == self.usual_name() else self.name

    @property
    def folder(self) -> Path:
        """Where the run lives: its own folder among the other runs."""
        name = self.run_name()
        if not FOLDER_NAME.fullmatch(name) or len(name.encode()) > LONGEST_NAME:
            said = f"name={name}" if self.name else f"the run would be called {name}"
            raise UserError(
                f"{said if said.isprintable() else repr(said)}: a run is a folder in {self.paths.runs}; its name must "
                f"not contain /, must not begin with a dot or a space, and must be at most {LONGEST_NAME} bytes long"
            )
        return Path(self.paths.runs) / name

    def yaml(self) -> str:
        """The contents of a run's config.yaml."""
        return OmegaConf.to_yaml(OmegaConf.create(dict(self.plain)))

    def facts(self) -> dict[str, Plain]:
        """What a checkpoint records about itself, so that nothing need be asked later. `language` is set for monolingual runs."""
        languages: dict[str, Plain] = {each.code: each.plain() | {"clitics": self.clitics(each)} for each in self.languages}
        clitics = "joined" if self.data.running_text else self.lang.clitics
        return {"language": self.lang.plain(), "languages": languages, "clitics": clitics, "settings": dict(self.plain)}


def read_run_settings(values: Mapping[str, Plain]) -> RunSettings:
    """From the composed configuration, or from a run's config.yaml."""
    if "network" not in _group(values, "model"):
        if "path" in _group(values, "model"):
            raise UserError("model=scores is a score file: concord evaluate reads it. To train: model=lstm or model=transformer")
        raise UserError(
            "model=hf is a pretrained model: concord evaluate scores it. To train one: model=lstm or model=transformer"
        )
    values = settle_recipe(values)
    plain = read(_TopLevel, values)
    _refuse_unknown_parts(plain.callbacks, "callbacks")
    _refuse_unknown_parts(plain.logger, "logger")
    if plain.init_from and plain.ckpt_path not in (None, "auto"):
        raise UserError(
            f"ckpt_path={plain.ckpt_path} init_from={plain.init_from}: resume a run, or start from its weights, but not both"
        )
    kind: type[TokenizerSettings] = PieceTokenizer if plain.tokenizer.get("name") == "sentencepiece" else WordTokenizer
    return RunSettings(
        plain={key: value for key, value in values.items() if key != "allow"},
        lang=read_language_choice(plain.lang),
        model=read(ModelSettings, plain.model, "model"),
        data=read_corpus_settings(plain.data),
        tokenizer=read(kind, plain.tokenizer, "tokenizer"),
        probes=read_probe_settings(plain.probes),
        trainer=plain.trainer,
        callbacks=plain.callbacks,
        logger=plain.logger,
        paths=plain.paths,
        seed=plain.seed,
        name=plain.name,
        tags=plain.tags,
        ckpt_path=plain.ckpt_path,
        overwrite=plain.overwrite,
        prepare=plain.prepare,
        summary=plain.summary,
        allow=plain.allow,
        init_from=plain.init_from,
        force=plain.force,
        overfit=plain.overfit,
        debugging=plain.debugging,
    )


def settings_hash(settings: Mapping[str, object]) -> str:
    """Eight characters for exactly these settings."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


@dataclass(frozen=True)
class _TopLevel:
    """conf/train.yaml; groups with several kinds are read by their own functions."""

    lang: dict[str, Plain]
    model: dict[str, Plain]
    data: dict[str, Plain]
    tokenizer: dict[str, Plain]
    probes: dict[str, Plain]
    trainer: TrainerSettings
    callbacks: CallbackSettings
    paths: PathSettings
    seed: Natural
    logger: LoggerSettings = field(default_factory=LoggerSettings)
    name: str | None = machine(None)
    tags: tuple[str, ...] = machine(())
    ckpt_path: str | None = machine(None)
    overwrite: bool = machine(default=False)
    prepare: bool = machine(default=False)
    summary: bool = machine(default=False)
    allow: tuple[str, ...] = machine(())
    init_from: str | None = None
    force: bool = machine(default=False)
    overfit: Annotated[float, Above(0)] | None = machine(None)
    debugging: str | None = machine(None)


def _refuse_unknown_parts(group: CallbackSettings | LoggerSettings, where: str) -> None:
    """What is not ours must name a user-defined class; anything else is a slip."""
    for name, values in group.rest.items():
        if not (isinstance(values, Mapping) and "_target_" in values):
            refuse_unknown(name, type(group), where)


def _group(values: Mapping[str, Plain], name: str) -> Mapping[str, Plain]:
    group = values.get(name)
    return group if isinstance(group, Mapping) else {}


def _count_devices(devices: int | str, accelerator: str) -> int:
    """As Lightning understands `2`, `'0,1'` (these two), `'1,'` (this one), `auto` and -1."""
    if isinstance(devices, str) and "," in devices:
        return len([name for name in devices.split(",") if name.strip()])
    number = int(devices) if str(devices).isascii() and str(devices).isdecimal() else -1
    return number if number >= 0 else _all_devices(accelerator)


def _all_devices(accelerator: str) -> int:
    """`devices=auto` as Lightning understands it: every GPU, or one process if there is none."""
    if accelerator == "cpu":
        return 1
    import torch  # noqa: PLC0415 - seconds, and only if the number of GPUs is needed

    return max(torch.cuda.device_count(), 1)
