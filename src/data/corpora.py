"""From a corpus's settings to its sentences: the source, what is selected from it, and how its vocabulary is made."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError
from ..settings.corpus_settings import (
    ClamsCorpus,
    CorpusSettings,
    FileCorpus,
    GrammarCorpus,
    TextCorpus,
    TreebankCorpus,
    WikipediaCorpus,
)
from ..settings.languages import Language
from ..settings.training_settings import TokenizerSettings, WordTokenizer
from .blocks import Reader
from .conllu import TreebankText
from .corpus import Corpus, corpus_name, prepare
from .download import Downloads
from .grammar import folder_of
from .published_corpora import PublishedSource
from .selection import SPLITS, Selection
from .sources import NOTHING, Exclusion, GrammarSource, JoinedSource, Source, TextSource, challenge_sentences
from .text import RawText, TokenizedText, files_of
from .tokens import Tokenization, rule_for
from .vocabulary import TokenizerRule, VocabularyRule
from .wikipedia import Articles, ArticleSource, ArticleText, HubArticles, LocalArticles, local_files
from .withholding import Withholding

# On disk a grammar's sentence takes about 28 bytes, and text at least a quarter of its size: two bytes per word.
SENTENCE_BYTES, TEXT_BYTES = 20, 4


@dataclass(frozen=True)
class CorpusRecipe:
    """Everything a corpus depends on: the same recipe gives the same corpus."""

    settings: CorpusSettings
    languages: Sequence[Language]
    tokenizer: TokenizerSettings
    downloads: Downloads

    def source(self) -> Source:
        """The source of one language, or the joined sources of several."""
        sources = self._sources()
        return JoinedSource(sources) if len(sources) > 1 else next(iter(sources.values()))

    def _sources(self) -> dict[str, Source]:
        if len(self.languages) > 1:
            _must_name_languages(self.settings)
        make = SOURCES[type(self.settings)]
        return {each.code: make(self.settings, each, self._rule(each), self.downloads) for each in self.languages}

    def selection(self) -> Selection:
        """Which sentences: several languages are shuffled together, Wikipedia always."""
        data = self.settings
        if isinstance(data, WikipediaCorpus):
            return Selection(True, data.unknown, data.frequent, data.tokens, max_tokens=data.max_tokens, seed=data.seed)
        control = isinstance(data, TreebankCorpus) and data.withhold_control
        return Selection(len(self.languages) > 1, max_tokens=data.max_tokens, seed=data.seed, withhold_control=control)

    def tokenizer_rule(self) -> TokenizerRule:
        """What the model predicts."""
        if isinstance(self.tokenizer, WordTokenizer):
            apart = self.tokenizer.vocabulary_per_language and len(self.languages) > 1
            return VocabularyRule(self.tokenizer.vocabulary_size, tuple(self.tokenizer.counted_in), apart)
        from .pieces import PieceRule  # noqa: PLC0415 - word models do without sentencepiece

        return PieceRule(self.tokenizer.vocabulary_size, self.tokenizer.kind)

    def name(self) -> str:
        """The name of exactly this corpus, without building it."""
        return corpus_name(self.source(), self.tokenizer_rule(), self.selection())

    def check(self, cache: Path) -> None:
        """Before anything is shown or built: files that are missing, empty or no text; tags that no rule has."""
        if not (cache / self.name()).exists():
            for source in self._sources().values():
                if isinstance(source, GrammarSource | TextSource):
                    source.check()

    def prepare(self, cache: Path) -> Corpus:
        """The corpus as numbers, prepared now unless an earlier run did."""
        if not (cache / self.name()).exists():
            self._must_have_room(cache)
        corpus = prepare(self.source(), self.tokenizer_rule(), cache, self.selection(), self.settings.workers)
        return corpus if self.settings.limit is None else corpus.first(self.settings.limit)

    def _must_have_room(self, cache: Path) -> None:
        """Before hours of work: check that the disk can hold the minimum this corpus will take."""
        least = sum(_least_bytes(self.settings, each.code) for each in self.languages)
        there = next(place for place in (cache, *cache.absolute().parents) if place.exists())
        if least > (free := shutil.disk_usage(there).free):
            raise UserError(
                f"data={self.settings.name}: this corpus takes at least {least / 1e9:,.1f} GB, but {there} has "
                f"{free / 1e9:,.1f} GB free; make it smaller, or choose another place with paths.cache="
            )

    def _rule(self, language: Language) -> Tokenization:
        return rule_for(language, self.tokenizer.rules)


def _grammar(data: GrammarCorpus, language: Language, rule: Tokenization, downloads: Downloads) -> Source:
    folder = folder_of(language.code)
    return GrammarSource(folder, data.sentences, data.seed, data.withhold, language.clitics, _exclude(data, language))


def _text(data: TextCorpus, language: Language, rule: Tokenization, downloads: Downloads) -> Source:
    reader: Reader = TokenizedText() if data.tokenized else RawText(language.code, rule)
    return TextSource(_files(data, language.code), reader, data.seed, _exclude(data, language))


def _treebank(data: TreebankCorpus, language: Language, rule: Tokenization, downloads: Downloads) -> Source:
    withholding = Withholding(data.withhold, language.code, data.withhold_control) if data.withhold else None
    return TextSource(_files(data, language.code), TreebankText(data.words, withholding), data.seed, _exclude(data, language))


def _clams(data: ClamsCorpus, language: Language, rule: Tokenization, downloads: Downloads) -> Source:
    code = language.code
    if code not in data.address:
        raise UserError(f"lang={code}: CLAMS has no corpus in this language; available: {', '.join(data.address)}")
    folder = downloads.folder / "clams" / code
    return PublishedSource(data.address[code], folder, not downloads.allowed, exclude=_exclude(data, language))


def _wikipedia(data: WikipediaCorpus, language: Language, rule: Tokenization, downloads: Downloads) -> Source:
    reader = ArticleText(RawText(language.code, rule))
    if data.path is not None:
        articles: Articles = LocalArticles(_articles(data.path, language.code))
        return ArticleSource(articles, reader, data.read, _exclude(data, language))
    articles = HubArticles(data.dataset, f"{data.dump}.{language.code}", data.seed, not downloads.allowed)
    twice = 2 * sum(data.tokens.values()) if data.tokens else None
    return ArticleSource(articles, reader, data.read or twice, _exclude(data, language))


SOURCES: dict[type[CorpusSettings], Callable[..., Source]] = {
    GrammarCorpus: _grammar,
    TextCorpus: _text,
    TreebankCorpus: _treebank,
    ClamsCorpus: _clams,
    WikipediaCorpus: _wikipedia,
}


def _least_bytes(data: CorpusSettings, code: str) -> int:
    """Word ids and sentence offsets on disk; nothing is known beforehand about downloads."""
    if isinstance(data, GrammarCorpus):
        return SENTENCE_BYTES * sum(data.sentences.values())
    if isinstance(data, FileCorpus):
        return sum(file.stat().st_size for files in _files(data, code).values() for file in files) // TEXT_BYTES
    return 0


def _exclude(data: CorpusSettings, language: Language) -> Exclusion:
    return challenge_sentences(folder_of(language.code), data.clitics(language)) if data.exclude_challenge else NOTHING


def _files(data: FileCorpus, code: str) -> dict[str, tuple[Path, ...]]:
    """Files to be split, or some for each split."""
    given = {name: getattr(data, name) for name in SPLITS if getattr(data, name) is not None}
    splits = {name: files_of(_named(patterns, code)) for name, patterns in given.items()}
    if data.path is not None and not splits:
        return {"all": files_of(_named(data.path, code))}
    if data.path is None and len(splits) == len(SPLITS):
        files = [file.resolve() for named in splits.values() for file in named]
        if len(set(files)) < len(files):
            raise UserError(
                "data.train, data.valid and data.test must be different files; a model must not be tested on its training text"
            )
        return splits
    raise UserError(f"data={data.name} needs data.path= (files, split 8:1:1) or all of data.train= data.valid= data.test=")


def _must_name_languages(data: CorpusSettings) -> None:
    """Several languages must not read the same text: sentences of one's training part would be in the other's test part."""
    for name in ("path", *SPLITS):
        patterns = getattr(data, name, None) if isinstance(data, FileCorpus | WikipediaCorpus) else None
        for pattern in patterns or ():
            if "{lang}" not in pattern:
                raise UserError(
                    f"data.{name}={pattern}: every language of lang=multi would read this text; "
                    f"write {{lang}} for the language's code, for instance data.{name}='text/{{lang}}.txt'"
                )


def _named(patterns: Sequence[str], code: str) -> list[str]:
    """`{lang}` stands for the language's code."""
    return [pattern.replace("{lang}", code) for pattern in patterns]


def _articles(patterns: Sequence[str], code: str) -> tuple[Path, ...]:
    named = _named(patterns, code)
    return tuple(
        file for pattern in named for file in (local_files(Path(pattern)) if Path(pattern).is_dir() else files_of(pattern))
    )
