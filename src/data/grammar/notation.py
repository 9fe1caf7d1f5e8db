"""The notation of grammar files: from text to statements. What they mean is decided in `rules`.

S[] NP_1[$n,nom] VP[$n]                 a rule; alternatives are separated by |
NP[$n] {3} Det[$n] N[$n] | {1 prep} …   {weight tags feature=value} before an alternative; {} alone is empty
vary: VP[]                              the slot whose forms vary
vary: Refl[1,s] to [3,s]                … for this form alone
distinct: N_1, N_2                      slots of a sentence that never hold the same word
nouns: N                                noun slots, N and all N_…, used by the heuristics h1 to h4; none: unknown
attribute number $n: s singular | p plural
feature subject_number: number of NP_1
feature distance: words from N_1 to VP
paradigm N_1[m]: s,$c | p,nom | p,dat   followed by indented rows, one word per row
limit NP: 1                             how deep NPs may nest inside an NP
choose N_1, N_2: 10                     how many words of a list a set fitted to a vocabulary takes
construction prep, simple_agrmt:        what follows applies only to these constructions
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .notices import GrammarError, SourceLine

BRACKETED = re.compile(r"([^\s\[\]{}|$&;]+)\[([^\[\]{}|]*)\]")
BARE_NAME = re.compile(r"[^\s\[\]{}|$&;:]+")
TOKEN = re.compile(r"(?:[^\s\[\]]|\[[^\[\]]*\])+|\S")
WEIGHT = re.compile(r"\d{1,9}(\.\d{1,9})?")
TAG = re.compile(r"[^\W\d]\w*")
VARIABLE = re.compile(r"\$([^\W\d]+)(\d*)")
KEYWORDS = "vary|attribute|feature|paradigm|limit|construction|distinct|choose|nouns"
DIRECTIVE = re.compile(rf"({KEYWORDS})\b([^\[\]:|]*(?:\[[^\[\]]*\])?)\s*:(.*)", re.DOTALL)
GIVEN = re.compile(r"([^\W\d]\w*)=([^\s{}=]+)")
CHOSEN = re.compile(r"(.*\])\s+to\s+\[([^\[\]]*)\]", re.DOTALL)
COMMENT = re.compile(r"(^|\s)#.*")


@dataclass(frozen=True, slots=True)
class SymbolReference:
    """A nonterminal with its attributes, in the order written."""

    name: str
    attributes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}[{','.join(self.attributes)}]"


@dataclass(frozen=True, slots=True)
class Varied(SymbolReference):
    """A slot of a `vary:` line; with `to`, its attributes change to these and no others."""

    to: tuple[str, ...] | None = None

    def __str__(self) -> str:
        return SymbolReference.__str__(self) + (f" to [{','.join(self.to)}]" if self.to else "")


@dataclass(frozen=True, slots=True)
class Alternative:
    """One right-hand side: words and references, its weight in a corpus, its constructions, and the features it gives."""

    parts: tuple[str | SymbolReference, ...]
    weight: float
    tags: tuple[str, ...]
    place: SourceLine
    given: tuple[tuple[str, str], ...] = ()
    lexeme: str | None = None  # for a paradigm row: its first form, which names the word

    def __str__(self) -> str:
        return " ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Rule:
    left: SymbolReference
    alternatives: tuple[Alternative, ...]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Vary:
    """Each item is one slot, or several that change together (`D_1[] & D_2[]`)."""

    items: tuple[tuple[Varied, ...], ...]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Attribute:
    """A dimension such as number: its values with the labels shown to readers, and the variable that ranges over it."""

    name: str
    variable: str
    labels: dict[str, str]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Feature:
    """What a sentence is classified by: an attribute of a slot, the words between two slots, or a fixed value."""

    name: str
    attribute: str
    nodes: tuple[str, ...]
    until: tuple[str, ...]
    constant: str
    constructions: tuple[str, ...]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Limit:
    names: tuple[str, ...]
    depth: int
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Distinct:
    """Slots that never hold the same word within a sentence."""

    names: tuple[str, ...]
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Choose:
    """How many words of each of these lists a set fitted to a vocabulary takes."""

    lists: tuple[str, ...]
    number: int
    place: SourceLine


@dataclass(frozen=True, slots=True)
class Nouns:
    """Slots that hold nouns, by name or prefix; none: there are nouns that have no slot of their own."""

    names: tuple[str, ...]
    place: SourceLine


Statement = Rule | Vary | Attribute | Feature | Limit | Distinct | Choose | Nouns


def parse(text: str, file: str) -> list[Statement]:
    """The statements of a file, in order."""
    return list(_Parser(file).statements(text))


class _Parser:
    """Reads line by line; remembers the open paradigm and the constructions that features are limited to."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.paradigm: tuple[SymbolReference, ...] = ()
        self.constructions: tuple[str, ...] = ()

    def statements(self, text: str) -> Iterator[Statement]:
        for number, raw in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
            line = COMMENT.sub("", raw).rstrip()
            if not line.strip():
                continue
            place = SourceLine(self.file, number)
            if self.paradigm and line[0].isspace():
                yield from self._row(line, place)
                continue
            self.paradigm = ()
            directive = DIRECTIVE.fullmatch(line.strip())
            if directive:
                yield from self._directive(directive[1], directive[2].strip(), directive[3].strip(), place)
            else:
                yield self._rule(line.strip(), place)

    def _directive(self, keyword: str, subject: str, body: str, place: SourceLine) -> Iterator[Statement]:
        match keyword:
            case "vary":
                yield Vary(_vary_items(body, place), place)
            case "attribute":
                yield _attribute(subject, body, place)
            case "feature":
                yield _feature(subject, body, self.constructions, place)
            case "limit":
                yield _limit(subject, body, place)
            case "distinct":
                yield _distinct(subject, body, place)
            case "choose":
                yield _choose(subject, body, place)
            case "nouns":
                yield _nouns(subject, body, place)
            case "paradigm":
                self.paradigm = _paradigm(subject, body, place)
            case "construction":
                self.constructions = tuple(name for name in re.split(r"[,\s]+", subject) if name)

    def _row(self, line: str, place: SourceLine) -> Iterator[Statement]:
        cells = _alternatives(line.strip(), place)
        if len(cells) != len(self.paradigm):
            raise GrammarError(
                place,
                f"this row has {len(cells)} forms but its paradigm has {len(self.paradigm)}; "
                "separate the forms of one word by |, in the order of the paradigm line",
            )
        for left, cell in zip(self.paradigm, cells, strict=True):
            yield Rule(left, (replace(cell, lexeme=str(cells[0])),), place)

    def _rule(self, line: str, place: SourceLine) -> Rule:
        head, _, body = _split_left(line, place)
        left = _reference(head, place) if "[" in head else SymbolReference(_name(head, place), ())
        body = re.sub(r"^(->|→)(\s+|$)", "", body.strip())
        if not body:
            raise GrammarError(place, f"{left} has no right-hand side; write its expansion after it, or {{}} for nothing")
        return Rule(left, tuple(_alternatives(body, place)), place)


def _split_left(line: str, place: SourceLine) -> tuple[str, str, str]:
    """The left-hand side ends at the first space outside brackets."""
    match = TOKEN.match(line)
    if match is None or match[0] in "[]":
        raise GrammarError(place, f"bad brackets in {line!r}; a rule begins with NAME[attributes]")
    return match[0], "", line[match.end() :]


def _alternatives(body: str, place: SourceLine) -> list[Alternative]:
    return [_alternative(text.strip(), place) for text in body.split("|")]


def _alternative(text: str, place: SourceLine) -> Alternative:
    weight, tags, given, rest = _annotation(text, place)
    if not rest and not text.startswith("{"):
        raise GrammarError(
            place, "an alternative is empty; remove the extra |, or write {} for nothing (rows of a paradigm are indented)"
        )
    return Alternative(tuple(_part(token, place) for token in TOKEN.findall(rest)), weight, tags, place, given)


def _annotation(text: str, place: SourceLine) -> tuple[float, tuple[str, ...], tuple[tuple[str, str], ...], str]:
    """`{3 obj_rel case=simple} …`: numbers are weights, names are tags, equations are features."""
    if not text.startswith("{"):
        return 1.0, (), (), text
    inside, closed, rest = text[1:].partition("}")
    if not closed:
        raise GrammarError(place, f"{text!r} opens {{ without closing it; write {{weight tag}} before the words")
    weight, tags, given = 1.0, [], {}
    for item in inside.replace(",", " ").split():
        if WEIGHT.fullmatch(item) and float(item) > 0:
            weight = float(item)
        elif TAG.fullmatch(item):
            tags.append(item)
        elif (equation := GIVEN.fullmatch(item)) and equation[1] not in given:
            given[equation[1]] = equation[2]
        else:
            raise GrammarError(
                place, f"{item!r} in braces is neither a weight above 0 nor a tag (letters, digits, _) nor a new feature=value"
            )
    return weight, tuple(tags), tuple(given.items()), rest.strip()


def _part(token: str, place: SourceLine) -> str | SymbolReference:
    if "[" in token or "]" in token:
        return _reference(token, place)
    if "{" in token or "}" in token:
        raise GrammarError(place, f"braces in {token!r}; {{weight tag}} may occur once, before the words of an alternative")
    return token


def _reference(token: str, place: SourceLine) -> SymbolReference:
    match = BRACKETED.fullmatch(token)
    if not match:
        raise GrammarError(place, f"bad brackets in {token!r}; a nonterminal is written NAME[attribute,attribute] or NAME[]")
    return SymbolReference(match[1], _attributes(match[2], place))


def _attributes(text: str, place: SourceLine) -> tuple[str, ...]:
    if not text.strip():
        return ()
    attributes = tuple(" ".join(item.split()) for item in text.split(","))
    for item in attributes:
        if not item:
            raise GrammarError(place, f"empty attribute in [{text}]; remove the extra comma")
        if item.startswith("$") and not VARIABLE.fullmatch(item):
            raise GrammarError(place, f"{item!r} is not a variable; write $ and letters, then digits if needed ($n, $n2)")
    if len(set(attributes)) < len(attributes):
        raise GrammarError(place, f"[{text}] names an attribute twice")
    letters = [match[1] for item in attributes if (match := VARIABLE.fullmatch(item))]
    if len(set(letters)) < len(letters):
        raise GrammarError(place, f"[{text}]: two variables of one range; attributes have no order, so use two nonterminals")
    return attributes


def _name(text: str, place: SourceLine) -> str:
    if not BARE_NAME.fullmatch(text):
        raise GrammarError(place, f"{text!r} cannot be a name; a line is NAME[attributes] words, or a keyword such as vary:")
    return text


def _vary_items(body: str, place: SourceLine) -> tuple[tuple[Varied, ...], ...]:
    items = []
    for item in body.split(";"):
        joined = tuple(_varied(slot.strip(), place) for slot in item.split("&") if slot.strip())
        if joined:
            items.append(joined)
    if not items:
        raise GrammarError(place, "vary: names no slot; write for instance vary: V[]")
    for name in (slot for item in items for slot in item):
        if any(attribute.startswith("$") for attribute in (*name.attributes, *(name.to or ()))):
            raise GrammarError(place, f"vary: {name} has a variable; name the attributes that stay constant, or none")
    return tuple(items)


def _varied(text: str, place: SourceLine) -> Varied:
    chosen = CHOSEN.fullmatch(text)
    slot = _reference(chosen[1].strip() if chosen else text, place)
    to = _attributes(chosen[2], place) if chosen else None
    if to is not None and (not to or set(to) == set(slot.attributes)):
        raise GrammarError(place, f"vary: {text} changes nothing; write for instance vary: Refl[1,s] to [3,s]")
    return Varied(slot.name, slot.attributes, to)


def _attribute(subject: str, body: str, place: SourceLine) -> Attribute:
    words = subject.split()
    variable = words.pop()[1:] if words and words[-1].startswith("$") else ""
    if len(words) != 1 or (variable and not re.fullmatch(r"[^\W\d]+", variable)):
        raise GrammarError(place, f"attribute {subject!r}: write attribute NAME $variable: value label | value label")
    labels: dict[str, str] = {}
    for item in body.split("|"):
        value, *label = item.split()[:2] or [""]
        if not value or value in labels or BRACKETED.search(item):
            raise GrammarError(
                place, f"attribute {words[0]}: {item.strip()!r} is empty, repeated or bracketed; write value label"
            )
        labels[value] = label[0] if label else value
    return Attribute(words[0], variable, labels, place)


def _feature(name: str, body: str, constructions: tuple[str, ...], place: SourceLine) -> Feature:
    if not TAG.fullmatch(name):
        raise GrammarError(place, f"feature {name!r}: a feature's name may have letters, digits and _ only")
    attribute, until, constant, nodes = "", "", "", ""
    if between := re.fullmatch(r"words from (.+) to (.+)", body):
        nodes, until = between[1], between[2]
    elif of := re.fullmatch(r"(\S+) of (.+)", body):
        attribute, nodes = of[1], of[2]
    elif body and " " not in body:
        constant = body
    else:
        raise GrammarError(
            place, f"feature {name}: write `ATTRIBUTE of SLOT`, `words from SLOT to SLOT`, or one word; this is {body!r}"
        )
    return Feature(name, attribute, _names(nodes), _names(until), constant, constructions, place)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.split(r"[,\s]+", text) if name)


def _limit(subject: str, body: str, place: SourceLine) -> Limit:
    if not _names(subject) or not re.fullmatch(r"[0-9]|1[0-9]|20", body):
        raise GrammarError(place, f"limit {subject}: {body!r}; write limit NAME: and how deep it may nest, 0 to 20")
    return Limit(_names(subject), int(body), place)


def _choose(subject: str, body: str, place: SourceLine) -> Choose:
    if not _names(subject) or not re.fullmatch(r"[1-9][0-9]{0,3}", body):
        raise GrammarError(place, f"choose {subject}: {body!r}; write choose LIST: and how many of its words to take, 1 to 9999")
    return Choose(_names(subject), int(body), place)


def _distinct(subject: str, body: str, place: SourceLine) -> Distinct:
    if subject or not _names(body):
        raise GrammarError(place, "distinct: names no slot; write for instance distinct: N_1, N_2")
    return Distinct(_names(body), place)


def _nouns(subject: str, body: str, place: SourceLine) -> Nouns:
    if subject or not _names(body):
        raise GrammarError(place, "nouns: names no slot; write for instance nouns: N, or nouns: none")
    return Nouns(() if _names(body) == ("none",) else _names(body), place)


def _paradigm(subject: str, body: str, place: SourceLine) -> tuple[SymbolReference, ...]:
    shared = _reference(subject, place) if "[" in subject else SymbolReference(_name(subject, place), ())
    cells = [shared.attributes + _attributes(cell, place) for cell in body.split("|")]
    for cell in cells:
        if len(set(cell)) < len(cell):
            raise GrammarError(place, f"paradigm {shared}: [{','.join(cell)}] names an attribute twice")
    return tuple(SymbolReference(shared.name, cell) for cell in cells)
