"""What is not in a report, and why: nothing is left out in silence."""

import csv
from dataclasses import dataclass

import pyarrow as pa
import yaml

from ..errors import UserError

# What a broken file can raise; anything else is a bug in our code.
UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError),
    *(csv.Error, yaml.YAMLError, pa.ArrowException, UserError),
)


@dataclass(frozen=True)
class LeftOut:
    """A folder or file that is not in the report, and why."""

    path: str
    why: str


def first_line(error: Exception) -> str:
    """Enough of an error for a list."""
    said = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
    return said.splitlines()[0][:160]
