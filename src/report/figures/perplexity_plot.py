"""Does the better language model have the better syntax? Perplexity against accuracy, one point per run."""

from typing import TYPE_CHECKING

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..wording import language_name
from .style import MOST, chances_of, condition_keys, draw_chance, final_rows, line_style, panels, rows_of, with_seeds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_perplexity(frame: "pd.DataFrame") -> "Figure":
    """Test perplexity against mean accuracy, one point per run; one panel per language and vocabulary: others do not compare."""
    own = final_rows(frame)
    own = own[(own.construction == MEAN) & own.perplexity.notna()]
    keys = list(dict.fromkeys(own[["language", "vocabulary"]].itertuples(index=False, name=None)))
    if not keys:
        raise UserError("perplexity: none of these runs has one")
    made, axes = panels(4.2 * len(keys) + 1.2, 3.6, 1, len(keys), sharey=True)
    for axis, (language, vocabulary) in zip(axes[0], keys, strict=True):
        several = sum(key[0] == language for key in keys) > 1
        name = language_name(language) + (f", vocabulary {vocabulary[-6:]}" if several else "")
        axis.set(title=name, xlabel="test perplexity")
        _points(axis, own[(own.language == language) & (own.vocabulary == vocabulary)])
    axes[0, 0].set_ylabel("mean accuracy over constructions")
    return made


def _points(axis: "Axes", own: "pd.DataFrame") -> None:
    conditions = condition_keys(own)
    for i, condition in enumerate(conditions):
        some, style = rows_of(own, condition), line_style(i)
        shown = {"color": style["color"], "marker": style["marker"], "label": with_seeds(condition[2], some)}
        axis.scatter(some.perplexity, some.accuracy, s=34, edgecolors="white", linewidths=0.6, **shown)
    draw_chance(axis, chances_of(own))
    axis.margins(0.12)
    if len(conditions) <= MOST:
        axis.legend(fontsize=7.5, loc="best")
