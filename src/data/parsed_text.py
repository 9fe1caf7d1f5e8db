"""Raw text to trees, by a parser: on all cores, with a result that survives an interruption. Parsers are extras."""

import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import UserError
from ..files import FileInUse, lock, write_atomically
from .blocks import Chunk, in_order
from .sources import file_stamp
from .text import lines

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Token

CHARACTERS = 40_000  # of a chunk: the most each process can lose to an interruption
ADPOSITION = "ADP"


class ParsedChunk(NamedTuple):
    text: str
    lines: int
    sentences: int
    words: int


@dataclass(frozen=True)
class ParsedText:
    """How much there is now, and how fast this call was."""

    file: Path
    sentences: int
    words: int
    seconds: float
    words_now: int

    @property
    def words_per_second(self) -> float:
        return self.words_now / self.seconds if self.seconds else 0.0


class SpacyParser:
    """A spaCy model. Processes load it with their first chunk."""

    def __init__(self, model: str) -> None:
        if importlib.util.find_spec("spacy") is None:
            raise UserError("--with spacy:…: spaCy is not installed; pip install 'concord-lm[parse]'")
        if importlib.util.find_spec(model) is None:
            raise UserError(
                f"--with spacy:{model}: this model is not installed; python -m spacy download {model} fetches it from its makers "
                "(a package of that name elsewhere may be someone else's)"
            )
        self.model = model

    @property
    def name(self) -> str:
        return f"spacy:{self.model}-{_pipeline(self.model).meta['version']}"

    def __call__(self, chunk: Chunk) -> ParsedChunk:
        pipeline = _pipeline(self.model)
        stem = Path(chunk.file).name.split(".")[0]
        written, sentences, words = [], 0, 0
        for number, document in enumerate(pipeline.pipe(chunk.lines), start=chunk.first):
            for index, sentence in enumerate(document.sents, start=1):
                tokens = [token for token in sentence if not token.is_space]
                if tokens:
                    sentences, words = sentences + 1, words + len(tokens)
                    written.append(_conllu(tokens, f"{stem}-{number}-{index}", self.name))
        return ParsedChunk("".join(written), len(chunk.lines), sentences, words)


@cache
def _pipeline(model: str) -> "Language":
    import spacy  # noqa: PLC0415

    return spacy.load(model, exclude=["ner"])


def _conllu(tokens: list["Token"], name: str, parser: str) -> str:
    """A sentence with its comments. White space is not a word; a preposition has no features, not even an article's."""
    numbers = {token.i: number for number, token in enumerate(tokens, start=1)}
    root = next((token for token in tokens if token.dep_ == "ROOT"), tokens[0])
    rows = []
    for token in tokens:
        is_root = token is root
        head = 0 if is_root else numbers.get(token.head.i, numbers[root.i])
        if head == numbers[token.i]:
            head = numbers[root.i]
        relation = "root" if is_root else token.dep_.lower() if token.dep_ not in ("", "ROOT") else "dep"
        feats = str(token.morph) if token.pos_ != ADPOSITION and str(token.morph) else "_"
        cells = (token.text, token.lemma_ or "_", token.pos_ or "X", "_", feats, str(head), relation, "_")
        rows.append("\t".join((str(numbers[token.i]), *cells, "_" if token.whitespace_ else "SpaceAfter=No")))
    text = "".join(token.text_with_ws for token in tokens).strip()
    return "\n".join([f"# sent_id = {name}", f"# parser = {parser}", f"# text = {text}", *rows]) + "\n\n"


def make_parser(name: str) -> SpacyParser:
    """`spacy:fr_core_news_sm`."""
    kind, colon, model = name.partition(":")
    if kind != "spacy" or not colon or not model.isidentifier():
        raise UserError(
            f"--with {name}: write spacy:MODEL, for instance spacy:fr_core_news_sm; text parsed elsewhere is CoNLL-U already"
        )
    return SpacyParser(model)


def parse_text(
    text: Path,
    parser: SpacyParser,
    out: Path,
    words: int | None = None,
    workers: int | None = None,
    tell: Callable[[int], None] = print,
) -> ParsedText:
    """Parse a text into `out`, resuming where an earlier call with the same text and parser was interrupted.

    `words`: stop after the chunk in which this many are reached; `tell` receives the number so far.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    guard = out.with_name(f".{out.name}.lock")
    try:
        with lock(guard, patience=0):
            made = _parse_text(text, parser, out, words, workers, tell)
            guard.unlink(missing_ok=True)
            return made
    except FileInUse:
        raise UserError(f"{out}: another process is parsing into this file; wait for it, or choose another --out") from None


def _parse_text(
    text: Path, parser: SpacyParser, out: Path, words: int | None, workers: int | None, tell: Callable[[int], None]
) -> ParsedText:
    part, state_file = out.with_name(f"{out.name}.part"), out.with_name(f"{out.name}.state")
    same = {"text": list(map(str, file_stamp(text))), "parser": parser.name}
    state = _read_state(state_file, part, same)
    begin, before = time.monotonic(), state["words"]
    with part.open("r+b" if part.exists() else "w+b") as stream:
        stream.truncate(state["bytes"])
        stream.seek(state["bytes"])
        waiting = _chunks(text, state["lines"]) if words is None or state["words"] < words else iter(())
        for parsed in in_order(parser, waiting, workers):
            stream.write(parsed.text.encode())
            stream.flush()
            state |= {"lines": state["lines"] + parsed.lines, "bytes": stream.tell()}
            state |= {"sentences": state["sentences"] + parsed.sentences, "words": state["words"] + parsed.words}
            write_atomically(state_file, json.dumps(same | state))
            tell(state["words"])
            if words is not None and state["words"] >= words:
                break
    if not state["words"]:
        raise UserError(f"{text}: contains no text")
    part.replace(out)
    state_file.unlink()
    return ParsedText(out, state["sentences"], state["words"], time.monotonic() - begin, state["words"] - before)


def _read_state(file: Path, part: Path, same: Mapping[str, object]) -> dict[str, int]:
    """How far an earlier call got; nothing if it had another text or parser."""
    fresh = {"lines": 0, "bytes": 0, "sentences": 0, "words": 0}
    if not (file.exists() and part.exists()):
        return fresh
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        known = {name: int(found[name]) for name in fresh}
        fits = all(found[name] == value for name, value in same.items()) and part.stat().st_size >= known["bytes"]
    except (ValueError, KeyError, TypeError):
        return fresh
    return known if fits else fresh


def _chunks(text: Path, skip: int) -> Iterator[Chunk]:
    """Lines in stretches, from line `skip` on."""
    first, held, size = skip + 1, list[str](), 0
    for number, line in enumerate(lines(text), start=1):
        if number <= skip:
            continue
        held.append(line)
        size += len(line)
        if size >= CHARACTERS:
            yield Chunk(str(text), first, held)
            first, held, size = number + 1, [], 0
    if held:
        yield Chunk(str(text), first, held)
