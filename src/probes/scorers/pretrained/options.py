"""Options for scoring pretrained models."""

from dataclasses import dataclass

from .word_pieces import Spacing


@dataclass(frozen=True)
class Options:
    """Each of them changes results, except `tokens`."""

    start: str = "bos"  # causal: what precedes the first word: bos, eos, none, or a token of the vocabulary
    skip_multi_piece: bool = False  # masked_target: a multi-piece target is marked unknown
    equal_pieces: bool = False  # sentence_ce, masked_target: so are an item's targets if their numbers of pieces differ
    spacing: Spacing = "written"  # joined: tokens are written as in running text, `sleeps.`
    tokens: int = 1024  # read at a time; on a GPU more is faster
