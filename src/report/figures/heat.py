"""Constructions by conditions, as a heat map."""

from typing import TYPE_CHECKING

import numpy as np

from ...probes.accuracy import MEAN
from ..wording import construction_name, in_paper_order
from .style import chances_of, condition_keys, condition_means, condition_title, panels, rows_of, with_seeds

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def draw_heat(frame: "pd.DataFrame") -> "Figure":
    """Constructions × conditions, brighter is better; each cell shows its number."""
    found = condition_means(frame)
    asked = in_paper_order([name for name in found.construction.unique() if name != MEAN])
    conditions, names = condition_keys(found), [*asked, MEAN] if len(asked) > 1 else asked
    values = np.array([rows_of(found, condition).set_index("construction").accuracy.reindex(names) for condition in conditions]).T
    made, axes = panels(2.8 + 0.75 * len(conditions), max(2.6, 1.4 + 0.33 * len(names)))
    axis = axes[0, 0]
    image = axis.imshow(values, vmin=0, vmax=1, cmap="cividis", aspect="auto")
    for row, column in np.argwhere(~np.isnan(values)):
        value = values[row, column]
        axis.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7.5, color="white" if value < 0.6 else "black")
    axis.set_yticks(range(len(names)), [construction_name(name) for name in names])
    axis.set_xticks(
        range(len(conditions)),
        [with_seeds(condition_title(c), rows_of(found, c)) for c in conditions],
        rotation=32,
        ha="right",
        rotation_mode="anchor",
    )
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    if MEAN in names:
        axis.axhline(len(names) - 1.5, color="white", linewidth=2)  # sets the mean apart
    made.colorbar(image, ax=axis, label=f"accuracy (chance {'–'.join(f'{c:.2f}' for c in _ends(chances_of(found)))})", shrink=0.8)
    return made


def _ends(values: list[float]) -> list[float]:
    return values[:1] + (values[-1:] if len(values) > 1 else [])
