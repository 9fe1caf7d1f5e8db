"""Whether a run learns at all: after its first epoch, against what counting words and pairs of words makes of the same text."""

import logging
import math

import numpy as np
import pytorch_lightning as pl
from pytorch_lightning import Callback

from ..data.corpus import Corpus
from ..lm.kneser_ney import KneserNey
from ..metric_names import VALID_PERPLEXITY

log = logging.getLogger(__name__)
COUNTED = 200_000  # sentences that are counted: some millions of words, so that counting a large corpus takes no room
REMEDY = (
    "it has hardly begun to learn; take more and smaller steps (data.batch_tokens=700 data.batch_size=null), a higher "
    "model.optimizer.lr, or more epochs (trainer.max_epochs)"
)


class LearningCheck(Callback):
    """One line after the first epoch; a warning where the model has not come half the way from single words to pairs."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if trainer.current_epoch == 0 and trainer.is_global_zero:
            words, pairs = counted_perplexities(self.corpus)
            told = tell_learning(float(trainer.callback_metrics[VALID_PERPLEXITY]), words, pairs)
            log.log(logging.WARNING if REMEDY in told else logging.INFO, "%s", told)


def counted_perplexities(corpus: Corpus) -> tuple[float, float]:
    """Of the valid part, by the frequencies of words and of pairs of words in the training part."""
    train, valid = corpus.train.first(COUNTED), corpus.valid
    counted = KneserNey(np.asarray(train.ids), train.offsets, len(corpus.vocabulary), order=2)
    words, pairs = counted.perplexity(np.asarray(valid.ids), valid.offsets)
    return words, pairs


def tell_learning(model: float, words: float, pairs: float) -> str:
    """What the perplexities of a model and of counting say about each other."""
    figures = f"valid perplexity {model:,.1f}; by counting alone: words {words:,.1f}, pairs of words {pairs:,.1f}"
    near = math.log(model) > (math.log(words) + math.log(pairs)) / 2
    return f"after one epoch the model is near the frequencies of words: {figures}; {REMEDY}" if near else f"learning   {figures}"
