"""Pairs of a good and a bad sentence, as most sources have them."""

from .challenge_set import TARGET, Span, Variant, differing


def pair(good: tuple[str, ...], bad: tuple[str, ...], texts: tuple[str | None, str | None] = (None, None)) -> list[Variant]:
    """The target is where the two differ."""
    spans = differing(good, bad)
    return [
        Variant("good", True, good, texts[0], (Span(TARGET, *spans[0]),)),
        Variant("bad", False, bad, texts[1], (Span(TARGET, *spans[1]),)),
    ]


def raw_pair(good: str, bad: str) -> list[Variant]:
    """From raw text, which is kept; its words are what stands between spaces."""
    return pair(tuple(good.split()), tuple(bad.split()), (good, bad))
