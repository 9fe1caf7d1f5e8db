"""Figures, frames and tests need packages that training does not; if one is missing, say how to install it."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from ..errors import UserError


def require_packages(*packages: str) -> None:
    """Check before doing any work."""
    with explain_missing():
        for package in packages:
            import_module(package)


@contextmanager
def explain_missing() -> Iterator[None]:
    """Wraps the import of a package from the `report` extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UserError(
            f"{error.name} is not installed; tables, tests and figures need it: pip install 'concord-lm[report]'"
        ) from None
