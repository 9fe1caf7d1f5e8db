"""Random overrides of both commands, with any corpus, model and collection: accepted, or rejected in one line."""

import random
import time
import traceback
from pathlib import Path

from concord.errors import UserError
from test_fuzz import describe, random_overrides

from .counts import Counts

LONGEST = 1500  # longest allowed line, in characters
BESIDE = {
    "train": [
        "",
        "",
        "model=transformer",
        "data=text",
        "data=conllu",
        "data=wikipedia",
        "tokenizer=sentencepiece",
        "probes=own",
        "lang=multi",
    ],
    "evaluate": ["", "lang=de", "model=hf", "data=text", "probes=clams"],
}


def type_settings(count: int, seed: int = 1) -> list[Counts]:
    """`count` overrides for each command."""
    return [_type(command, count, seed) for command in BESIDE]


def _type(command: str, count: int, seed: int) -> Counts:
    counts, draw, begun = Counts(f"settings: {command}"), random.Random(seed), time.perf_counter()
    for override in random_overrides(count, seed, command):
        typed = [each for each in (draw.choice(BESIDE[command]), override) if each]
        try:
            describe(typed, command)
        except UserError as error:
            counts.told += 1
            if "\n" in str(error) or len(str(error)) > LONGEST:
                counts.fail(f"several lines: {' '.join(typed)}: {str(error)[:200]!r}")
        except Exception as error:  # whatever it is, it is what we are looking for
            place = traceback.extract_tb(error.__traceback__)[-1]
            counts.fail(
                f"{' '.join(typed)}: {type(error).__name__}: {str(error)[:80]} at {Path(place.filename).name}:{place.lineno}"
            )
        else:
            counts.harmless += 1
    counts.seconds = time.perf_counter() - begun
    return counts
