"""From plain settings to a source, a selection and a tokenizer: what `conf/data`, `conf/lang` and `conf/tokenizer` name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from .blocks import Reader
from .conllu import TreebankText
from .grammar import folder_of
from .grammar.clitics import Clitics
from .published_corpora import PublishedSource
from .selection import Selection
from .sources import NOTHING, Exclusion, GrammarSource, JoinedSource, Source, TextSource, challenge_sentences
from .splits import SPLITS
from .text import RawText, TokenizedText, files_of
from .tokenizer import TokenizerRule
from .tokens import MosesRule, Tokenization, TokenRule
from .vocabulary import VocabularyRule
from .wikipedia import Articles, ArticleSource, ArticleText, HubArticles, LocalArticles, local_files

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Network:
    """Where files from the network go, and whether it may be asked."""

    downloads: Path
    offline: bool


def source_of(data: Settings, languages: Sequence[Settings], rules: str, network: Network) -> Source:
    """The corpus of one language, or those of several joined."""
    if data["name"] not in SOURCES:
        raise UserError(f"data.name={data['name']}: there is no such corpus; there are: {', '.join(SOURCES)}")
    sources = {lang["code"]: SOURCES[data["name"]](data, lang, _rule(lang, rules), network) for lang in languages}
    if len(sources) < len(languages):
        raise UserError(f"lang.languages={[lang['code'] for lang in languages]}: a language is there twice")
    return JoinedSource(sources) if len(sources) > 1 else next(iter(sources.values()))


def _grammar(data: Settings, lang: Settings, rule: Tokenization, network: Network) -> Source:
    withhold = (data["withhold"],) if isinstance(data["withhold"], str) else tuple(data["withhold"])
    folder = folder_of(lang["code"])
    return GrammarSource(folder, data["sentences"], data["seed"], withhold, lang["clitics"], _exclude(data, lang))


def _text(data: Settings, lang: Settings, rule: Tokenization, network: Network) -> Source:
    reader: Reader = TokenizedText() if data["tokenized"] else RawText(lang["code"], rule)
    return TextSource(_files(data, lang["code"]), reader, data["seed"], _exclude(data, lang))


def _conllu(data: Settings, lang: Settings, rule: Tokenization, network: Network) -> Source:
    return TextSource(_files(data, lang["code"]), TreebankText(data["words"]), data["seed"], _exclude(data, lang))


def _clams(data: Settings, lang: Settings, rule: Tokenization, network: Network) -> Source:
    code = lang["code"]
    if code not in data["address"]:
        raise UserError(f"lang={code}: CLAMS has published no corpus of it; there are: {', '.join(data['address'])}")
    folder = network.downloads / "clams" / code
    return PublishedSource(data["address"][code], folder, network.offline, exclude=_exclude(data, lang))


def _wikipedia(data: Settings, lang: Settings, rule: Tokenization, network: Network) -> Source:
    code = lang["code"]
    reader = ArticleText(RawText(code, rule))
    if data["path"] is not None:
        return ArticleSource(LocalArticles(_articles(data["path"], code)), reader, data["read"], _exclude(data, lang))
    articles: Articles = HubArticles(data["dataset"], f"{data['dump']}.{code}", data["seed"], network.offline)
    twice = 2 * sum(data["tokens"].values()) if data["tokens"] else None
    return ArticleSource(articles, reader, data["read"] or twice, _exclude(data, lang))


SOURCES: dict[str, Callable[[Settings, Settings, Tokenization, Network], Source]] = {
    "grammar": _grammar,
    "text": _text,
    "conllu": _conllu,
    "clams": _clams,
    "wikipedia": _wikipedia,
}


def clitics_of(data: Settings, lang: Settings) -> Clitics:
    """Running text has them joined to the next word; other corpora have them as the language's grammars do."""
    running = {"text": not data.get("tokenized"), "wikipedia": True, "conllu": data.get("words") == "surface"}
    clitics: Clitics = "joined" if running.get(data["name"], False) else lang["clitics"]
    return clitics


def selection_of(data: Settings, languages: Sequence[Settings]) -> Selection:
    """Which sentences: several languages are shuffled together, Wikipedia always."""
    cut = {"max_tokens": data["max_tokens"], "seed": data["seed"]}
    if data["name"] == "wikipedia":
        return Selection(True, data["unknown"], data["frequent"], data["tokens"], **cut)
    return Selection(shuffle=len(languages) > 1, **cut)


def rule_of(tokenizer: Settings) -> TokenizerRule:
    """What the model predicts."""
    if tokenizer["name"] == "word":
        return VocabularyRule(tokenizer["vocabulary_size"], tuple(tokenizer["counted_in"]))
    from .pieces import PieceRule  # noqa: PLC0415 - word models do without sentencepiece

    return PieceRule(tokenizer["vocabulary_size"], tokenizer["kind"])


def _rule(lang: Settings, rules: str) -> Tokenization:
    if rules not in ("language", "moses"):
        raise UserError(f"tokenizer.rules={rules}: write language or moses")
    return MosesRule(lang["code"]) if rules == "moses" else TokenRule(lang["tokens"], lang["replace"])


def _exclude(data: Settings, lang: Settings) -> Exclusion:
    return challenge_sentences(folder_of(lang["code"]), clitics_of(data, lang)) if data["exclude_challenge"] else NOTHING


def _files(data: Settings, code: str) -> dict[str, tuple[Path, ...]]:
    """Files to be split, or some for each split."""
    splits = {name: files_of(_named(data[name], code)) for name in SPLITS if data[name] is not None}
    if data["path"] is not None and not splits:
        return {"all": files_of(_named(data["path"], code))}
    if data["path"] is None and len(splits) == len(SPLITS):
        files = [file.resolve() for named in splits.values() for file in named]
        if len(set(files)) < len(files):
            raise UserError("data.train, data.valid and data.test must be three files; a model is not tested on what it has read")
        return splits
    raise UserError(f"data={data['name']} needs data.path= (files, split 8:1:1) or all of data.train= data.valid= data.test=")


def _named(patterns: str | Sequence[str], code: str) -> list[str]:
    """`{lang}` stands for the language's code."""
    return [str(pattern).replace("{lang}", code) for pattern in ([patterns] if isinstance(patterns, str) else patterns)]


def _articles(patterns: str | Sequence[str], code: str) -> tuple[Path, ...]:
    named = _named(patterns, code)
    return tuple(
        file for pattern in named for file in (local_files(Path(pattern)) if Path(pattern).is_dir() else files_of(pattern))
    )
