"""How many words training has read: whole words of the batches, however the tokenizer splits them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..errors import UserError

# Maps a batch to its number of words.
WordCount = Callable[[object], int]
IGNORED = -100  # ignored labels, as in all torch losses


class WordCounter:
    """Counts the ids of a batch that start a word: after a space, after a special token, or at the beginning of a row.

    Special tokens are not words; where a piece is masked, its label counts.
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
    """The ids of a batch in its usual shapes: a dict with input_ids, a tensor, or a tuple that starts with one."""
    found = batch[0] if isinstance(batch, tuple | list) and batch else batch
    found = batch.get("input_ids") if isinstance(batch, Mapping) else found
    if isinstance(found, Tensor) and not found.is_floating_point():
        return found
    raise UserError(
        f"words: cannot find the ids in a batch of type {type(batch).__name__}; pass words=function to count its words"
    )


def _beginnings(tokenizer: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For every id, whether it starts a word in running text, and whether it is a special token."""
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
    """A piece starts a word if the tokenizer writes a space between it and a preceding word."""
    size = len(tokenizer)
    marks = {*tokenizer.all_special_ids} - {tokenizer.unk_token_id}
    before = next(number for number in range(size) if number not in marks and tokenizer.decode([number]).strip().isalpha())
    alone = tokenizer.decode([before])
    pairs = tokenizer.batch_decode([[before, number] for number in range(size)])
    special = np.array([number in marks for number in range(size)])
    begins = np.array([pair[len(alone) :][:1].isspace() for pair in pairs])
    # WordPiece marks pieces that continue a word; without a decoder, only the mark tells.
    inside = getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None)
    if inside:
        begins &= np.array([not piece.startswith(inside) for piece in tokenizer.convert_ids_to_tokens(range(size))])
    return begins, special
