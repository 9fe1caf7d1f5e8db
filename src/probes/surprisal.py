"""What `text=` shows or writes, surprisal word by word; and perplexity as other programs compute it."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from ..data.batches import NO_TARGET, BatchPlan, EvaluationLoader
from ..data.corpus import Split
from ..data.vocabulary import EOS_ID
from ..lm.loss import token_nll
from ..lm.model import LanguageModel
from ..settings.evaluation_settings import EvaluationSettings
from ..settings.languages import Language, LanguageChoice
from ..terminal import show, table
from .contract_statement import describe_reading
from .models import Model
from .scorers.scoring_mode import scoring_mode
from .word_surprisal import check_surprisal_file, read_sentences, surprisal_table, write_surprisals

log = logging.getLogger(__name__)
TOKENS = 8192


FILE = "@"  # text=@sentences.txt


def text_sentences(settings: EvaluationSettings) -> dict[int, str]:
    """The input of `text=`, by line: one sentence, or those of a file. Also checks that the output can be written."""
    text = settings.text or ""
    if not text.startswith(FILE):
        return {1: text}
    check_surprisal_file(surprisal_file(settings))
    return read_sentences(Path(text.removeprefix(FILE)))


def surprisal_file(settings: EvaluationSettings) -> Path:
    """`out=`, or a file in results/ named after the text."""
    name = Path((settings.text or "").removeprefix(FILE)).name
    return Path(settings.out) if settings.out else Path(settings.paths.results) / f"surprisal-{name}.tsv"


def answer_text(settings: EvaluationSettings, models: Sequence[Model], sentences: Mapping[int, str]) -> None:
    """On the screen for a sentence, in a file for a file."""
    if not (settings.text or "").startswith(FILE):
        show_surprisal(models, sentences[1], settings.lang)
        return
    language = settings.lang if isinstance(settings.lang, Language) else None
    found = [dict(zip(sentences, model.surprisals([*sentences.values()], language), strict=True)) for model in models]
    tables = [surprisal_table(model.name, each) for model, each in zip(models, found, strict=True)]
    file = write_surprisals(surprisal_file(settings), tables)
    for model, each in zip(models, found, strict=True):
        words, unknown = (sum(map(len, each.values())), sum(word.unknown for one in each.values() for word in one))
        mean = sum(one.total for one in each.values()) / words
        log.info("%s: %d sentences, %d words, %d unknown, %.2f bits per word", model.name, len(each), words, unknown, mean)
    log.info("every word in %s", file)


def show_surprisal(models: Sequence[Model], text: str, lang: LanguageChoice | None) -> None:
    """The surprisal of every word, in bits, one column per model."""
    language = lang if isinstance(lang, Language) else None
    found = {model.name: model.surprisal(text, language) for model in models}
    view = table("surprisal (bits)", "word", numbers=[*found])
    for row in zip(*found.values(), strict=True):
        view.add_row(row[0].word, *(f"{word.bits:.2f}{' <unk>' if word.unknown else ''}" for word in row))
    view.add_section()
    view.add_row("sum", *(f"{each.total:.2f}" for each in found.values()))
    view.add_row("per word", *(f"{each.mean:.2f}" for each in found.values()))
    show(view)
    readings = {model.name: describe_reading(model.scorer.reading) for model in models}
    for statement in dict.fromkeys(readings.values()):
        names = [name for name in readings if readings[name] == statement]
        log.info("%s%s", statement, f" ({', '.join(names)})" if len(names) < len(readings) else "")
    if any(word.unknown for each in found.values() for word in each):
        log.info("<unk>: not in the vocabulary")


def macro_perplexity(model: LanguageModel, split: Split) -> float:
    """Exp of the mean over sentences of their mean negative log-likelihood, `<eos>` not predicted: as CLAMS reports it."""
    means: list[np.ndarray] = []
    with scoring_mode(model):
        for batch in EvaluationLoader(split, TOKENS, BatchPlan()):
            contexts, _ = model.contexts(batch.inputs.to(model.embedding.weight.device))
            predicted = (batch.targets != NO_TARGET) & (batch.targets != EOS_ID)  # (B, T)
            nll = token_nll(contexts[predicted].float(), batch.targets[predicted].to(contexts.device), model.decoder).cpu()
            sums = torch.zeros(len(predicted)).index_add_(0, predicted.nonzero()[:, 0], nll)
            counts = predicted.sum(dim=1)
            means.append((sums[counts > 0] / counts[counts > 0]).numpy())
    return float(np.exp(np.concatenate(means).astype(np.float64).mean()))
