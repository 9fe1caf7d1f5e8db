"""The result of an extraction: the funnel, the sets, and what could not be made and why."""

from typing import TYPE_CHECKING

from ...terminal import console, show_whole, table

if TYPE_CHECKING:
    from ...probes.treebanks.controls import Controls
    from ...probes.treebanks.extraction import Extraction
    from ...probes.treebanks.set_writer import SetCounts


def show_result(extraction: "Extraction", controls: "Controls", written: "SetCounts") -> None:
    """Show the funnel, the sets, and what could not be made and why."""
    from ...data.prefix_heuristics import N_HEURISTICS, NAMES
    from ...probes.treebanks.set_writer import funnel_rows

    funnel = table(f"{extraction.pattern.name}: {extraction.sentences:,} sentences", "step", numbers=["removed", "left"])
    for row in funnel_rows(extraction):
        funnel.add_row(*row)
    funnel.columns[0].no_wrap = False
    show_whole(funnel)
    sets = table(
        "sets, and how often each heuristic is right (%)",
        "set",
        numbers=["items", *(f"{name} right" for name in NAMES), "mean n_heuristics"],
    )
    for kind, n in written.counts.items():
        right = written.right[kind]
        known = right["n"] > 0
        shares = [f"{100 * right[name] / right['n']:.1f}" if known else "–" for name in NAMES]
        sets.add_row(kind, f"{n:,}", *shares, f"{right[N_HEURISTICS] / right['n']:.3f}" if known else "–")
    show_whole(sets)
    console.print(f"{written.attractors:,} items with an attractor between cue and target")
    for (kind, reason), n in sorted(controls.failed.items()):
        console.print(f"{kind}: not made for {n:,} {'item' if n == 1 else 'items'}: {reason}")
    for file in written.files:
        print(file)
    if not written.counts["original"]:
        console.print("no items found; the table shows which rule removed the candidates")
