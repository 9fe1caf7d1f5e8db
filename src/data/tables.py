"""Tables for a terminal, all alike."""

from rich import box
from rich.console import Console
from rich.table import Table

console = Console(highlight=False)


def table(title: str, *columns: str, numbers: list[str] | None = None, last: str = "") -> Table:
    """Text columns to the left, columns of numbers to the right, and a last one that may be long."""
    view = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in columns:
        view.add_column(column, no_wrap=True)
    for column in numbers or []:
        view.add_column(column, justify="right")
    if last:
        view.add_column(last)
    return view


def show_whole(view: Table) -> None:
    """Rows are not cut on their way into a file."""
    (console if console.is_terminal else Console(highlight=False, width=200)).print(view)
