"""How many words a training has read: whole words of the batches, however their tokenizer cuts them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError

# From a batch to the number of its words.
WordCount = Callable[[object], int]
IGNORED = -100  # of labels, as every loss of torch has it


class WordCounter:
    """Counts the ids of a batch that begin a word: after a space, after a special token, or in the first place of a row.

    Special tokens are no words; of a piece that is hidden from a masked model, the label is what counts.
    """

    def __init__(self, tokenizer: object) -> None:
        begins, special = _beginnings(tokenizer)
        self.begins, self.special = torch.from_numpy(begins), torch.from_numpy(special)

    def __call__(self, batch: object) -> int:
        ids = _ids(batch)
        labels = batch.get("labels") if isinstance(batch, Mapping) else None
        if isinstance(labels, Tensor) and labels.shape == ids.shape:
            ids = torch.where(labels == IGNORED, ids, labels)
        self.begins, self.special = self.begins.to(ids.device), self.special.to(ids.device)
        rows = torch.atleast_2d(ids).clamp(0, len(self.begins) - 1)
        special = self.special[rows]
        after = torch.cat([torch.ones_like(special[:, :1]), special[:, :-1]], dim=1)
        return int(((self.begins[rows] | after) & ~special).sum())


def _ids(batch: object) -> Tensor:
    """Of a batch as trainings have them: a dict with input_ids, a tensor, or a tuple that begins with it."""
    found = batch[0] if isinstance(batch, tuple | list) and batch else batch
    found = batch.get("input_ids") if isinstance(batch, Mapping) else found
    if isinstance(found, Tensor) and not found.is_floating_point():
        return found
    raise UserError(
        f"words: a batch of the type {type(batch).__name__} does not show its ids; say how many words it has: words=function"
    )


def _beginnings(tokenizer: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of every id, whether it begins a word in running text, and whether it is a special token."""
    if isinstance(tokenizer, list | tuple):
        tokenizer = {word: number for number, word in enumerate(tokenizer)}
    if isinstance(tokenizer, Mapping):
        special = np.zeros(max(tokenizer.values()) + 1, bool)
        special[[number for word, number in tokenizer.items() if _is_mark(word)]] = True
        return ~special, special
    if hasattr(tokenizer, "encode_word"):
        begins = tokenizer.begins()
        special = np.arange(len(tokenizer)) == tokenizer.eos
        return (np.ones(len(tokenizer), bool) if begins is None else np.array(begins)), special
    return _beginnings_of_pieces(tokenizer)


def _is_mark(word: str) -> bool:
    """`<eos>`, `[PAD]`; an unknown word is a word."""
    return word[:1] + word[-1:] in ("<>", "[]") and len(word) > 2 and "unk" not in word.lower()


def _beginnings_of_pieces(tokenizer: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """A piece begins a word if the tokenizer writes a space between it and a word before it."""
    size = len(tokenizer)
    marks = {*tokenizer.all_special_ids} - {tokenizer.unk_token_id}
    before = next(number for number in range(size) if number not in marks and tokenizer.decode([number]).strip().isalpha())
    alone = tokenizer.decode([before])
    pairs = tokenizer.batch_decode([[before, number] for number in range(size)])
    special = np.array([number in marks for number in range(size)])
    begins = np.array([pair[len(alone) :][:1].isspace() for pair in pairs])
    # WordPiece marks what goes on with a word; without a decoder, the mark alone says so.
    inside = getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None)
    if inside:
        begins &= np.array([not piece.startswith(inside) for piece in tokenizer.convert_ids_to_tokens(range(size))])
    return begins, special
