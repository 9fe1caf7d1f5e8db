"""Scorers for pretrained models: anything that transformers loads, masked or causal.

transformers takes seconds to import, so nothing imports this package until a pretrained model is needed.

    model = load("bert-base-multilingual-cased")
    scores = scorer("pll", model).score([Sentence("der Gast lacht .", (2, 3))])

A word for which the model has no piece is marked `unknown`; so are the words of targets that a rule leaves out
(`skip_multi_piece`, `equal_pieces`), and, if only the target is scored, all words of a sentence without one. They are
reported as uncovered.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from ....errors import UserError

try:
    import transformers  # noqa: F401
except ImportError:
    raise UserError("model=hf needs transformers: pip install 'concord-lm[hf]'") from None

from .. import Scorer
from .cached import Cached
from .causal import Causal
from .loading import Kind, Pretrained, load, tokenizer_digest
from .masked import RULES, Masked
from .options import Options
from .pretrained_error import PretrainedError
from .unmasked import Unmasked

__all__ = [
    "SCORINGS",
    "Options",
    "Pretrained",
    "PretrainedError",
    "check_names",
    "default_scoring",
    "load",
    "scorer",
    "tokenizer_digest",
]

SCORINGS: dict[str, Kind] = {**dict.fromkeys([*RULES, "sentence_ce"], "masked"), "causal": "causal"}


def default_scoring(pretrained: Pretrained) -> str:
    """The default: what most studies of such models report."""
    return "causal" if pretrained.kind == "causal" else "pll_word_l2r"


def scorer(scoring: str, pretrained: Pretrained, options: Options | None = None, cache: Path | None = None) -> Scorer:
    """A scorer by name; `cache` is a folder for scores computed before."""
    options = options or Options()
    check(scoring, pretrained)
    made: Scorer
    if scoring == "causal":
        made = Causal(pretrained, options)
    elif scoring == "sentence_ce":
        made = Unmasked(pretrained, options)
    else:
        made = Masked(scoring, pretrained, options)
    chosen = {name: value for name, value in dataclasses.asdict(options).items() if name != "tokens"}
    return made if cache is None else Cached(made, f"{pretrained.digest} {scoring} {chosen}", cache)


def check_names(scorings: Sequence[str]) -> None:
    """Check before a model is loaded that these scores exist."""
    for scoring in scorings:
        if scoring not in SCORINGS:
            raise UserError(f"probes.scoring={scoring}: no such scoring; available: {', '.join(SCORINGS)}")


def check(scoring: str, pretrained: Pretrained) -> None:
    """Check before any work that the scoring exists and suits this kind of model."""
    check_names([scoring])
    if SCORINGS[scoring] != pretrained.kind:
        fitting = ", ".join(name for name, kind in SCORINGS.items() if kind == pretrained.kind)
        raise PretrainedError(
            pretrained.name, f"a {pretrained.kind} model; probes.scoring={scoring} does not suit it, but these do: {fitting}"
        )
