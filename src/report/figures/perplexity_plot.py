"""Does the better language model have the better syntax? Perplexity against accuracy, one point per run."""

import math
from typing import TYPE_CHECKING

from ...errors import UserError
from ...probes.accuracy import MEAN
from ..wording import language_name
from .style import MOST, chances_of, condition_keys, draw_chance, final_rows, line_style, panels, rows_of, with_seeds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


ACROSS = 3  # panels side by side


def draw_perplexity(frame: "pd.DataFrame") -> "Figure":
    """Test perplexity against mean accuracy, one point per run; one panel per language and vocabulary: others do not compare."""
    own = final_rows(frame)
    own = own[(own.construction == MEAN) & own.perplexity.notna()]
    keys = list(dict.fromkeys(own[["language", "vocabulary"]].itertuples(index=False, name=None)))
    if not keys:
        raise UserError("perplexity: none of these runs has one")
    columns = min(len(keys), ACROSS)
    rows = math.ceil(len(keys) / columns)
    most = max(len(condition_keys(own[(own.language == language) & (own.vocabulary == name)])) for language, name in keys)
    made, axes = panels(4.2 * columns + 1.2, (3.4 + 0.17 * min(most, MOST)) * rows, rows, columns, sharey=True)
    for axis in axes.flat[len(keys) :]:
        axis.set_visible(False)
    for axis, (language, vocabulary) in zip(axes.flat, keys, strict=False):
        several = sum(key[0] == language for key in keys) > 1
        name = language_name(language) + (f", vocabulary {vocabulary[-6:]}" if several else "")
        axis.set(title=name, xlabel="test perplexity")
        _points(axis, own[(own.language == language) & (own.vocabulary == vocabulary)])
    for axis in axes[:, 0]:
        axis.set_ylabel("mean accuracy over constructions")
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
        # Below: condition names may be longer than a panel is wide and would hide points.
        axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.16))
