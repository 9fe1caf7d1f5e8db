"""What can be chosen for the scores of pretrained models."""

from dataclasses import dataclass

from .word_pieces import Spacing


@dataclass(frozen=True)
class Options:
    """Each of them changes results, apart from `tokens`."""

    start: str = "bos"  # causal: what stands before the first word: bos, eos, none, or a token of the vocabulary
    skip_multi_piece: bool = False  # masked_target: a target of several pieces is marked unknown
    equal_pieces: bool = False  # sentence_ce, masked_target: so are targets of an item with different numbers of pieces
    spacing: Spacing = "written"  # joined: tokens are written as in running text, `sleeps.`
    tokens: int = 1024  # read at a time; on a GPU more is faster
