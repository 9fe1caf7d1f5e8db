"""Inputs of an extraction that are given by name: the treebank language, and the words a model knows."""

import re
from collections.abc import Collection
from pathlib import Path

from ...errors import UserError


def language_of(pattern: str, files: list[Path]) -> str:
    """By the convention of Universal Dependencies: `fr_gsd-ud-train.conllu`."""
    found = {match[1] for file in files if (match := re.match(r"([a-z]{2,3})[_-]", file.name))}
    top = pattern.partition("/")[0] if "/" in pattern and not pattern.endswith(".yaml") else ""
    if len(found | ({top} - {""})) != 1:
        raise UserError(f"{files[0]}: the file names do not tell the language; give it, for instance --lang fr")
    return found.pop() if found else top


def read_vocabulary(name: str | None) -> Collection[str] | None:
    if name is None:
        return None
    file = Path(name)
    if file.suffix in (".ckpt", "") and not file.is_dir():
        from ...data.corpus import restore_tokenizer
        from ...lm.checkpoints import read_checkpoint

        return frozenset(restore_tokenizer(read_checkpoint(file)["concord"]).words)
    if file.is_dir():
        return read_vocabulary(str(file / "checkpoints" / "best.ckpt"))
    from ...probes.set_file import lines

    return frozenset(line.split()[0] for _, line in lines(file))
