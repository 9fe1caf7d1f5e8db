"""The corpus of a run, one class per file in `conf/data`; what it consists of and how it is read in batches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from ..errors import UserError
from .languages import Clitics, Language
from .reading import AtLeast, Count, Natural, Plain, Share, added, machine, read

Paths = tuple[str, ...]
SplitName = Literal["train", "valid", "test"]


@dataclass(frozen=True, kw_only=True)
class CorpusSettings:
    """What every corpus has. `cut_by_rule`: raw text that our language rule splits into words."""

    name: str
    seed: Natural = 0
    max_tokens: Count | None = None
    exclude_challenge: bool = False
    limit: Count | None = None
    counted_in: tuple[SplitName, ...] = ("train",)
    workers: Count | None = machine(None)
    batch_size: Count | None = 64
    batch_tokens: Count | Literal["auto"] | None = added(None)
    window: Count | None = None
    warmup_batch_size: Count | None = None
    evaluation_tokens: Count = 8192

    cut_by_rule: ClassVar[bool] = False

    @property
    def running_text(self) -> bool:
        """Whether its words are written as in running text, where a script joins clitics to the next word."""
        return False

    def clitics(self, language: Language) -> Clitics:
        """How this corpus writes a language's clitics; the sets for its models are written the same way."""
        return "joined" if self.running_text else language.clitics


@dataclass(frozen=True, kw_only=True)
class GrammarCorpus(CorpusSettings):
    """Sentences sampled from `grammars/<lang>/corpus.avg`."""

    sentences: dict[str, Natural] = field(default_factory=lambda: {"train": 20000, "valid": 2000, "test": 2000})
    withhold: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FileCorpus(CorpusSettings):
    """A user's files: some to be split, or some for each split."""

    path: Paths | None = None
    train: Paths | None = None
    valid: Paths | None = None
    test: Paths | None = None


@dataclass(frozen=True, kw_only=True)
class TextCorpus(FileCorpus):
    """Raw prose, or sentences already split into tokens."""

    tokenized: bool = False

    @property
    def running_text(self) -> bool:
        return not self.tokenized

    @property
    def cut_by_rule(self) -> bool:  # type: ignore[override]
        return not self.tokenized


@dataclass(frozen=True, kw_only=True)
class TreebankCorpus(FileCorpus):
    """CoNLL-U with its own sentences and tokens. `withhold`: patterns or relations whose sentences train must not have."""

    words: Literal["surface", "syntactic"] = "surface"
    withhold: tuple[str, ...] = added(())
    withhold_control: bool = added(False)

    @property
    def running_text(self) -> bool:
        return self.words == "surface"


@dataclass(frozen=True, kw_only=True)
class ClamsCorpus(CorpusSettings):
    """The published corpora of CLAMS, tokenised, clitics split."""

    address: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class WikipediaCorpus(CorpusSettings):
    """Wikipedia from the hub, or from files fetched earlier."""

    path: Paths | None = None
    dataset: str = "wikimedia/wikipedia"
    dump: str = "20231101"
    tokens: dict[str, Annotated[int, AtLeast(0)]] | None = None
    read: Count | None = None
    unknown: Share = 0.05
    frequent: Count = 50000

    cut_by_rule: ClassVar[bool] = True

    @property
    def running_text(self) -> bool:
        return True


BUILT_IN = "grammar"
CORPORA: dict[str, type[CorpusSettings]] = {
    BUILT_IN: GrammarCorpus,
    "text": TextCorpus,
    "conllu": TreebankCorpus,
    "clams": ClamsCorpus,
    "wikipedia": WikipediaCorpus,
}


def corpus_class(values: Mapping[str, Plain]) -> type[CorpusSettings]:
    """The settings class of the corpus with this name."""
    name = str(values.get("name"))
    if name not in CORPORA:
        raise UserError(f"data.name={name}: no such corpus; available: {', '.join(CORPORA)}")
    return CORPORA[name]


def read_corpus_settings(values: object) -> CorpusSettings:
    if not isinstance(values, Mapping):
        raise UserError(f"data={values}: name a corpus; available: {', '.join(CORPORA)}")
    return read(corpus_class(values), values, "data")
