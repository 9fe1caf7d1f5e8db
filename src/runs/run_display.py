"""What a run shows: its settings, its sizes, its result."""

import logging
from typing import Any

from rich.tree import Tree

from ..data.corpus import Corpus
from ..lm.model import LanguageModel
from ..terminal import show, table
from .run_folder import RunFolder

log = logging.getLogger(__name__)


def configuration(settings: dict[str, Any], folder: RunFolder) -> None:
    """The resolved settings as a tree: small branches on one line."""
    log.info("run        %s", folder.path)
    tree = Tree("settings")
    for name, value in settings.items():
        if isinstance(value, dict):
            branch = tree.add(name)
            _grow(branch, value)
        else:
            tree.add(_pair(name, value))
    show(tree)


def _grow(branch: Tree, settings: dict[str, Any]) -> None:
    plain = {key: value for key, value in settings.items() if not isinstance(value, dict)}
    if plain:
        branch.add("  ".join(_pair(key, value) for key, value in plain.items()))
    for key, value in settings.items():
        if isinstance(value, dict):
            branch.add(f"{key}:  " + "  ".join(_pair(k, v) for k, v in value.items()))


def _pair(key: str, value: Any) -> str:
    """`key=value` as one would type it, cut if it is long."""
    text = _typed(value)
    return f"{key}={text if len(text) <= 50 else text[:49] + '…'}"


def _typed(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_typed, value))}]"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}'" if " " in text else text


def sizes(text: Corpus, model: LanguageModel, asked: int | None) -> None:
    """Corpus, vocabulary and model."""
    corpus(text, asked)
    log.info("model      %s parameters (%s)", f"{model.parameter_count():,}", model.architecture.network["name"])


def corpus(text: Corpus, asked: int | None) -> None:
    """Its splits, its vocabulary, and every step from the text to them."""
    pieces = text.vocabulary.begins() is not None
    view = table("corpus", "split", numbers=["sentences", "words", *(["pieces"] if pieces else []), "unknown"])
    for name, split in text.splits().items():
        words = split.words if split.spelled is None else split.spelled
        counted = [words, split.words] if pieces else [words]
        view.add_row(name, *(f"{n:,}" for n in (len(split), *counted)), f"{split.unknown / max(words, 1):.2%}")
    show(view)
    known, kind = len(text.vocabulary), "pieces" if pieces else "words"
    short = asked is not None and known < asked + (0 if pieces else 1)
    whole = f", every {'piece' if pieces else 'word'} of the corpus ({asked:,} were asked for)" if short else ""
    log.info("vocabulary %s %s%s", f"{known:,}", kind, whole)
    if text.read:
        log.info("read       %s", ", ".join(f"{count:,} {name}" for name, count in text.read.items()))
    for reason, count in text.report.items():
        log.info("left out   %s %s", f"{count:,}", reason)


def result(folder: RunFolder, outcome: dict[str, Any]) -> None:
    """The end of a run."""
    view = table("result", "measure", numbers=["value"])
    for name, value in outcome.items():
        view.add_row(name, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}")
    show(view)


def places(folder: RunFolder) -> None:
    """Where everything is."""
    log.info("all of it  %s", folder.path)
    log.info("metrics    %s", folder.metrics)
    log.info("best model %s", folder.best)
    if folder.report.exists():
        log.info("report     %s", folder.report)


def say(line: str) -> None:
    log.info("%s", line)
