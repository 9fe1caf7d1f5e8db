"""A fast start: Lightning loads torchmetrics, which loads large packages if they are installed: seconds for nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

UNUSED = ("transformers", "matplotlib", "scipy")


def import_lightning() -> None:
    """Call before anything else imports it. Without this call everything works the same, only later."""
    with _hidden():
        import pytorch_lightning  # noqa: F401, PLC0415


@contextmanager
def _hidden() -> Iterator[None]:
    """lightning_utilities decides what is installed; for this moment, it sees less."""
    from lightning_utilities.core import imports  # noqa: PLC0415

    met, there = imports.RequirementCache.__bool__, imports.package_available

    def is_met(self: Any) -> bool:
        return not str(self.requirement).startswith(UNUSED) and met(self)

    imports.RequirementCache.__bool__ = is_met  # type: ignore[method-assign]
    imports.package_available = lambda name: name not in UNUSED and there(name)  # type: ignore[assignment]
    try:
        yield
    finally:
        imports.RequirementCache.__bool__ = met  # type: ignore[method-assign]
        imports.package_available = there
