"""Single sentences and texts: surprisal word by word, and perplexity as other programs compute it."""

import logging
import math
from collections.abc import Sequence

import numpy as np
import torch

from ..data.batches import NO_TARGET, EvaluationLoader, Plan
from ..data.corpus import Split
from ..data.tokens import TokenRule
from ..errors import UserError
from ..lm.model import LanguageModel
from ..settings.languages import Language, LanguageChoice
from ..terminal import show, table
from .models import Model
from .scorers import ProbeSentence
from .scorers.incremental import scoring_mode

log = logging.getLogger(__name__)
TOKENS = 8192


def show_surprisal(models: Sequence[Model], text: str, lang: LanguageChoice | None) -> None:
    """The surprisal of every word, in bits, one column per model."""
    words = cut_sentence(text, models[0], lang)
    if not words:
        raise UserError("text='': there is no word in it; write a sentence")
    found = [(model.name, model.scorer.score([ProbeSentence(" ".join(words))])) for model in models]
    view = table("surprisal (bits)", "word", numbers=[name for name, _ in found])
    for place, word in enumerate(words):
        cells = (f"{bits(float(s.logprobs[place])):.2f}{' <unk>' if s.unknown[place] else ''}" for _, s in found)
        view.add_row(word, *cells)
    view.add_section()
    view.add_row("sum", *(f"{bits(float(s.logprobs.sum())):.2f}" for _, s in found))
    view.add_row("per word", *(f"{bits(float(s.logprobs.mean())):.2f}" for _, s in found))
    show(view)
    log.info("each word after <eos> and everything on its left; <unk>: not in the vocabulary")


def cut_sentence(text: str, model: Model, lang: LanguageChoice | None) -> list[str]:
    """A sentence cut as raw text of its language is."""
    known = list(model.languages.values())
    if len(known) > 1 and not isinstance(lang, Language):
        codes = [each.code for each in known]
        raise UserError(f"text=: this model knows {', '.join(codes)}; say which language the sentence is, lang={codes[0]}")
    language = lang if isinstance(lang, Language) else known[0]
    return TokenRule(language.tokens, language.replace)(text)


def bits(logprob: float) -> float:
    """Surprisal in bits of a log-probability in nats."""
    return -logprob / math.log(2) + 0.0


def macro_perplexity(model: LanguageModel, split: Split) -> float:
    """Exp of the mean over sentences of their mean negative log-likelihood, `<eos>` not predicted: as CLAMS reports it."""
    means: list[np.ndarray] = []
    with scoring_mode(model):
        for batch in EvaluationLoader(split, TOKENS, Plan()):
            inputs, targets = batch.inputs.to(model.embedding.weight.device), batch.targets.clone()
            targets[targets == 0] = NO_TARGET
            nll = _each(model, inputs, targets.to(inputs.device))  # (B, T)
            counts = (targets != NO_TARGET).sum(dim=1)
            kept = counts > 0
            means.append((nll.sum(dim=1).cpu()[kept] / counts[kept]).numpy())
    return float(np.exp(np.concatenate(means).astype(np.float64).mean()))


def _each(model: LanguageModel, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    logprobs, _ = model(inputs)
    return torch.nn.functional.nll_loss(logprobs.transpose(1, 2), targets, ignore_index=NO_TARGET, reduction="none")
