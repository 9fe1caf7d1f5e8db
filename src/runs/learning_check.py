"""Whether a run learns at all: after its first epoch, against what counting words and pairs of words makes of the same text."""

import logging
import math

import numpy as np
import pytorch_lightning as pl
from pytorch_lightning import Callback

from ..data.corpus import Corpus, Split
from ..data.ngrams import count_ngrams
from ..data.vocabulary import EOS_ID

log = logging.getLogger(__name__)
# How many words of its own each word lends to the pairs that it begins; the best for the text counts.
PRIORS = (3, 10, 30, 100, 300, 1000, 3000)
REMEDY = (
    "it has hardly begun to learn; take more and smaller steps (data.batch_tokens=700 data.batch_size=null), a higher "
    "model.optimizer.lr, or more epochs (trainer.max_epochs)"
)


def counted_perplexities(text: Split, train: Split, vocabulary: int) -> tuple[float, float]:
    """Of a text, by the frequencies of words and of pairs of words in the training part; sentences begin after `<eos>`.

    A word has one more than it was counted, a pair its count and a share of `PRIORS` by the second word's frequency: these are
    probabilities, as a model's are.
    """
    ids = np.asarray(text.ids).astype(np.int64)
    single, pair = count_ngrams(ids, 2, train.ids, vocabulary)
    before = np.concatenate([[int((np.asarray(train.ids) == EOS_ID).sum())], single[:-1]])
    alone = (single + 1) / (train.tokens + vocabulary)
    pairs = [np.log((pair + prior * alone) / (before + prior)).mean() for prior in PRIORS]
    return math.exp(-float(np.log(alone).mean())), math.exp(-float(max(pairs)))


class LearningCheck(Callback):
    """One line after the first epoch; a warning where the model has not come half the way from single words to pairs."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if trainer.current_epoch == 0 and trainer.is_global_zero:
            words, pairs = counted_perplexities(self.corpus.valid, self.corpus.train, len(self.corpus.vocabulary))
            told = tell_learning(float(trainer.callback_metrics["valid/perplexity"]), words, pairs)
            log.log(logging.WARNING if REMEDY in told else logging.INFO, "%s", told)


def tell_learning(model: float, words: float, pairs: float) -> str:
    """What the perplexities of a model and of counting say about each other."""
    figures = f"valid perplexity {model:,.1f}; by counting alone: words {words:,.1f}, pairs of words {pairs:,.1f}"
    near = math.log(model) > (math.log(words) + math.log(pairs)) / 2
    return f"after one epoch the model is near the frequencies of words: {figures}; {REMEDY}" if near else f"learning   {figures}"
