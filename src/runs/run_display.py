"""What a run shows: its settings, its sizes, its result."""

import logging
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rich.tree import Tree

from ..data.corpus import Corpus
from ..data.corpus_build import BEYOND
from ..data.vocabulary import EOS_ID
from ..lm.model import LanguageModel
from ..probes.probe_display import show_final
from ..settings.reading import Plain
from ..settings.run import RunSettings
from ..terminal import show, table
from .fit import Recipe
from .run_folder import RunFolder

log = logging.getLogger(__name__)
UNLEARNT = 0.01  # of valid and test: more words that the model could not learn to expect get a warning


def show_settings(settings: RunSettings, folder: RunFolder) -> None:
    """The resolved settings as a tree; small branches on one line."""
    log.info("run        %s", folder.path)
    tree = Tree("settings")
    for name, value in settings.plain.items():
        if isinstance(value, dict):
            _grow(tree.add(name), value)
        else:
            tree.add(_pair(name, value))
    show(tree)


def _grow(branch: Tree, settings: Mapping[str, Plain]) -> None:
    plain = {key: value for key, value in settings.items() if not isinstance(value, dict)}
    if plain:
        branch.add("  ".join(_pair(key, value) for key, value in plain.items()))
    for key, value in settings.items():
        if isinstance(value, dict):
            branch.add(f"{key}:  " + "  ".join(_pair(k, v) for k, v in value.items()))


def _pair(key: str, value: Plain) -> str:
    """`key=value` as one would type it, shortened if long."""
    text = _typed(value)
    return f"{key}={text if len(text) <= 50 else text[:49] + '…'}"


def _typed(value: Plain) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_typed, value))}]"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}'" if " " in text else text


def show_sizes(text: Corpus, model: LanguageModel, asked: int | None) -> None:
    """Corpus, vocabulary and model."""
    show_corpus(text, asked)
    log.info("model      %s parameters (%s)", f"{model.parameter_count():,}", model.architecture.network["name"])


def show_sample(text: Corpus, asked: int) -> None:
    """What `data.max_tokens` did."""
    did = "shortens the training part; valid and test stay whole" if text.report.get(BEYOND) else "there is no more; all is used"
    log.info("data.max_tokens=%s: %s", f"{asked:,}", did)


def show_recipe(recipe: Recipe) -> None:
    """The training recipe, once `auto` has its values."""
    model, shape = recipe.model, recipe.shape
    if shape.tokens:
        given = f"{model.optimizer['name']} {model.optimizer['lr']:g}, {model.scheduler['name']}"
        log.info("recipe     batches of %s tokens, %s, initial bias: %s", f"{shape.tokens:,}", given, model.bias)


def show_corpus(text: Corpus, asked: int | None) -> None:
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
    whole = f" ({asked:,} were requested; the text that it is made from has no more)" if short else ""
    log.info("vocabulary %s %s%s", f"{known:,}", kind, whole)
    if text.read:
        log.info("read       %s", ", ".join(f"{count:,} {name}" for name, count in text.read.items()))
    for reason, count in text.report.items():
        if count or reason != BEYOND:
            log.info("left out   %s %s", f"{count:,}", reason)
    if not pieces and (share := _unlearnt_share(text)) >= UNLEARNT:
        often = int((np.bincount(text.train.ids, minlength=EOS_ID + 1)[EOS_ID + 1 :] > 1).sum())
        log.warning(
            "unknown    the training text has no unknown word, so the model never learns to expect <unk>, which is %s of valid "
            "and test; set a smaller tokenizer.vocabulary_size= (%s words occur more than once)",
            f"{share:.1%}",
            f"{often:,}",
        )


def _unlearnt_share(text: Corpus) -> float:
    """The share of `<unk>` in valid and test, if train has none."""
    held_out = (text.valid, text.test)
    return 0.0 if text.train.unknown else sum(s.unknown for s in held_out) / max(sum(s.words for s in held_out), 1)


def show_words_file(file: Path | None) -> None:
    """Where the vocabulary was written, for sets to be fitted to several models."""
    if file:
        log.info("words      %s, with counts, for probes.lexicon=shared:[…]", file)


def show_result(folder: RunFolder) -> None:
    """The end of a run: what it measured, its probes' tables, and where everything is."""
    view = table("result", "measure", numbers=["value"])
    for name, value in folder.result().items():
        shown = "not finite" if value is None else f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"
        view.add_row(name, shown)
    show(view)
    show_final(folder.probes)
    log.info("run folder %s", folder.path)
    log.info("metrics    %s", folder.metrics)
    log.info("best model %s", folder.best)
    if folder.report.exists():
        log.info("report     %s", folder.report)


def show_finished(folder: RunFolder) -> None:
    """A run that is requested again."""
    show_result(folder)
    log.info("This run is finished. To run it again from scratch: overwrite=true")
