"""Pattern files: what to search for in a tree, which word is tested, what it agrees with, and what varies.

    nodes:                                    # the first is searched for everywhere, every other from one above it in this list
      target: {upos: VERB, features: {VerbForm: Part}}
      cue: {above: target, relation: "acl:relcl", upos: NOUN}        # the word that target depends on
      que: {below: target, relation: obj, form: [que, "qu'"]}        # a word that depends on target
    order: [[cue, que, target]]               # from left to right
    without: [{below: target, relation: "aux:pass"}, {under: target, features: {VerbForm: Inf}}]
    agree: [Number, Gender]                   # cue and target have these, and they are equal
    vary: {Number: {Sing: Plur, Plur: Sing}}  # the feature that varies on target, by value

A condition may be a list (any of these), a text may end in * (any continuation), a feature may be "*" (has it). A node that is
a list is the first of its alternatives that the tree has; `same: predicate` is a node that was already found.
"""

import difflib
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import yaml

from ...errors import UserError
from ...places import own_or_installed

SUFFIX = ".yaml"
TARGET, CUE = "target", "cue"
ANY = "*"
LARGEST = 1 << 20  # bytes of a pattern file
Link = Literal["below", "above", "under", "same"]
LINKS: tuple[Link, ...] = ("below", "above", "under", "same")
Texts = tuple[str, ...]
Features = tuple[tuple[str, Texts], ...]  # all of them


class PatternError(UserError):
    """A pattern that cannot be used: the file, the place in it, what is wrong, what to do."""


@dataclass(frozen=True)
class WordCondition:
    """What a word must be. Empty: anything. `features` are alternatives, each a number of features that must all be present."""

    upos: Texts = ()
    form: Texts = ()
    lemma: Texts = ()
    features: tuple[Features, ...] = ()

    def __str__(self) -> str:
        parts = ["|".join(self.upos), "|".join(self.form), "|".join(self.lemma)]
        parts.append(" or ".join(" ".join(f"{name}={'|'.join(values)}" for name, values in each) for each in self.features))
        return " ".join(filter(None, parts)) or "any word"


@dataclass(frozen=True)
class PatternNode:
    """A word of the pattern: how it is linked to one found before, and what it is."""

    condition: WordCondition
    link: Link | None = None
    other: str = ""
    relation: Texts = ()

    def __str__(self) -> str:
        relation = "|".join(self.relation)
        place = {None: "", "below": f"below {self.other}", "above": f"above {self.other}", "under": f"under {self.other}"}
        return " ".join(filter(None, (relation, place.get(self.link, f"the same as {self.other}"), f"({self.condition})")))


@dataclass(frozen=True)
class Ending:
    """A rule for forms: a word with this value of the varied feature gets another ending with the other value."""

    value: str
    to: str
    ending: str = ""
    by: str = ""
    unless: Texts = ()
    lemma: Texts = ()
    unless_lemma: Texts = ()


@dataclass(frozen=True)
class Annotation:
    """Features that a treebank leaves implicit: matching words that lack them get them."""

    condition: WordCondition
    gets: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Mirror:
    """How a noun and its companions change number, if the forms in a treebank are not enough."""

    companions: Texts = ("det", "amod", "acl")  # relations to the cue
    only: Texts = ()  # words that go with only one number
    words: tuple[Mapping[str, Texts], ...] = ()  # by value, or by gender if forms differ in it; the second before a vowel
    endings: tuple[Ending, ...] = ()
    contractions: tuple[Texts, ...] = ()  # two words, and what they become: de le du
    elisions: Mapping[str, str] = field(default_factory=dict)  # the form before a vowel, and its full form
    undecided: Texts = ()  # beginnings of words whose letters do not tell whether they elide


@dataclass(frozen=True)
class Pattern:
    name: str
    file: str
    nodes: Mapping[str, tuple[PatternNode, ...]]
    order: tuple[Texts, ...] = ()
    without: tuple[PatternNode, ...] = ()
    agree: Texts = ()
    vary: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    annotate: tuple[Annotation, ...] = ()
    endings: tuple[Ending, ...] = ()
    features: tuple[tuple[str, str, str], ...] = ()  # name, node, feature of that node
    content: Texts = ("NOUN", "PROPN", "VERB", "ADJ")  # what nonce sentences replace
    seen_with: Texts = ()  # relations below a word that may replace the target
    mirror: Mirror = field(default_factory=Mirror)
    not_forms: Texts = ()  # never taken as a word's form: 's, 're
    vowels: str = "aeiouyàâäéèêëîïôöùûüœæh"  # letters before which a language elides

    @property
    def anchor(self) -> str:
        """The node that is searched for first."""
        return next(iter(self.nodes))

    @property
    def is_tested(self) -> bool:
        """Whether it says what varies: a pattern used only for withholding need not."""
        return bool(self.vary)


def pattern_names() -> list[str]:
    """The available patterns, by name: `sv_number`, `fr/obj_participle`."""
    return sorted(_pattern_files())


def _pattern_files() -> dict[str, Path]:
    """The user's own before those that come with the program."""
    folders = reversed(own_or_installed("patterns"))
    return {str(f.relative_to(folder).with_suffix("")): f for folder in folders for f in sorted(folder.rglob(f"*{SUFFIX}"))}


def find_pattern(name: str, language: str = "") -> Pattern:
    """A pattern by name, or a file. One for the language (`en/sv_number`) comes before one for all (`sv_number`)."""
    files = _pattern_files()
    for known in (f"{language}/{name}", name):
        if known in files:
            return read_pattern(files[known])
    if name.endswith(SUFFIX):
        return read_pattern(Path(name))
    near = difflib.get_close_matches(name, files, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"available: {', '.join(sorted(files))}; or give a .yaml file"
    raise PatternError(f"{name}: no such pattern; {remedy}")


def read_pattern(file: Path) -> Pattern:
    return _PatternReader(str(file)).pattern(file.stem, _load(file))


def _load(file: Path) -> object:
    try:
        if file.stat().st_size > LARGEST:
            raise PatternError(f"{file}: larger than {LARGEST >> 20} MB; a pattern is a page of text")
        return yaml.safe_load(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise PatternError(f"{file}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise PatternError(f"{file}: not UTF-8 (byte {error.start}); save the file as UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}" if mark is not None else ""
        what = " ".join(str(getattr(error, "problem", None) or error).split())
        raise PatternError(f"{file}{place}: not YAML ({what[:100]})") from None
    except (RecursionError, ValueError) as error:  # nested too deeply; an invalid date
        raise PatternError(f"{file}: cannot be read as a pattern ({type(error).__name__})") from None


class _PatternReader:
    """From plain values to a pattern; every key is known, every name is defined."""

    def __init__(self, file: str) -> None:
        self.file = file

    def wrong(self, place: str, message: str) -> PatternError:
        return PatternError(f"{self.file}: {place}: {message}")

    def pattern(self, name: str, plain: object) -> Pattern:
        keys = (
            "about",
            "nodes",
            "order",
            "without",
            "agree",
            "vary",
            "annotate",
            "forms",
            "features",
            "nonce",
            "mirror",
            "vowels",
            "not_forms",
        )
        given = self.mapping(plain, "the pattern", keys)
        nodes: dict[str, tuple[PatternNode, ...]] = {}
        for node, value in self.mapping(given.get("nodes"), "nodes").items():
            alternatives = value if isinstance(value, list) else [value]
            nodes[node] = tuple(self.node(each, f"nodes.{node}", nodes) for each in alternatives)
            if not nodes[node]:
                raise self.wrong(f"nodes.{node}", "an empty list; write {} for any word")
        if not nodes:
            raise self.wrong("nodes", "a pattern has at least one node, for instance target: {upos: VERB}")
        first = next(iter(nodes))
        if len(nodes[first]) != 1:
            raise self.wrong(f"nodes.{first}", "the first node is searched for everywhere; it cannot have alternatives")
        order = tuple(self.names(each, f"order.{i}", nodes) for i, each in enumerate(self.list(given.get("order"), "order")))
        without = tuple(
            self.node(each, f"without.{i}", nodes, linked=True)
            for i, each in enumerate(self.list(given.get("without"), "without"))
        )
        vary, values = self.vary(given.get("vary"))
        agree = self.texts(given.get("agree"), "agree")
        if (vary or agree) and (missing := [each for each in (TARGET, CUE) if each not in nodes]):
            raise self.wrong("nodes", f"vary and agree need the nodes target and cue; {missing[0]} is missing")
        nonce = self.mapping(given.get("nonce") or {}, "nonce", ("content", "seen_with"))
        return Pattern(
            name,
            self.file,
            nodes,
            order,
            without,
            agree,
            vary,
            values,
            self.text(given.get("about", ""), "about"),
            tuple(self.annotation(each, f"annotate.{i}") for i, each in enumerate(self.list(given.get("annotate"), "annotate"))),
            tuple(self.ending(each, f"forms.{i}") for i, each in enumerate(self.list(given.get("forms"), "forms"))),
            tuple(self.feature(n, v, nodes) for n, v in self.mapping(given.get("features") or {}, "features").items()),
            self.texts(nonce.get("content"), "nonce.content") or Pattern.content,
            self.texts(nonce.get("seen_with"), "nonce.seen_with"),
            self.mirror(given.get("mirror") or {}),
            tuple(form.lower() for form in self.texts(given.get("not_forms"), "not_forms")),
            self.text(given.get("vowels", Pattern.vowels), "vowels"),
        )

    def node(self, plain: object, place: str, known: Mapping[str, object], linked: bool = False) -> PatternNode:
        given = self.mapping(plain, place, ("upos", "form", "lemma", "features", "relation", *LINKS))
        links = [link for link in LINKS if link in given]
        if len(links) > 1:
            raise self.wrong(place, f"both {links[0]} and {links[1]}; a node can be linked to only one other")
        if not links and (known or linked):
            raise self.wrong(place, f"how is it linked to the others? Add one of {', '.join(LINKS)}")
        if links and not known:
            raise self.wrong(place, f"{links[0]}: the first node is searched for everywhere, without a relation to others")
        other = self.text(given.get(links[0]), f"{place}.{links[0]}") if links else ""
        if links and other not in known:
            raise self.wrong(f"{place}.{links[0]}", f"no node {other!r} before it; available: {', '.join(known)}")
        condition = self.condition(given, place)
        return PatternNode(condition, links[0] if links else None, other, self.texts(given.get("relation"), f"{place}.relation"))

    def condition(self, given: Mapping[str, object], place: str) -> WordCondition:
        features = given.get("features")
        ways = features if isinstance(features, list) else [features] if features is not None else []
        return WordCondition(
            self.texts(given.get("upos"), f"{place}.upos"),
            tuple(form.lower() for form in self.texts(given.get("form"), f"{place}.form")),
            self.texts(given.get("lemma"), f"{place}.lemma"),
            tuple(self.feature_values(way, f"{place}.features") for way in ways),
        )

    def feature_values(self, plain: object, place: str) -> Features:
        given = self.mapping(plain, place)
        return tuple((name, self.texts(values, f"{place}.{name}")) for name, values in given.items())

    def vary(self, plain: object) -> tuple[str, dict[str, str]]:
        if plain is None:
            return "", {}
        given = self.mapping(plain, "vary")
        if len(given) != 1:
            raise self.wrong("vary", "exactly one feature must vary, for instance {Number: {Sing: Plur, Plur: Sing}}")
        ((name, values),) = given.items()
        exchanged = {k: self.text(v, f"vary.{name}.{k}") for k, v in self.mapping(values, f"vary.{name}").items()}
        if not exchanged or any(value == other for value, other in exchanged.items()):
            raise self.wrong(f"vary.{name}", "each value must change to another, for instance {Sing: Plur, Plur: Sing}")
        return name, exchanged

    def annotation(self, plain: object, place: str) -> Annotation:
        given = self.mapping(plain, place, ("upos", "form", "lemma", "features", "gets"))
        gets = self.mapping(given.get("gets"), f"{place}.gets")
        return Annotation(self.condition(given, place), tuple((n, self.text(v, f"{place}.gets.{n}")) for n, v in gets.items()))

    def ending(self, plain: object, place: str) -> Ending:
        given = self.mapping(plain, place, ("value", "to", "ending", "by", "unless", "lemma", "unless_lemma"))
        text = {key: self.text(given.get(key, ""), f"{place}.{key}") for key in ("value", "to", "ending", "by")}
        if not text["value"] or not text["to"]:
            raise self.wrong(place, "a rule needs value and to, for instance {value: Sing, to: Plur, ending: '', by: s}")
        lists = [self.texts(given.get(key), f"{place}.{key}") for key in ("unless", "lemma", "unless_lemma")]
        return Ending(text["value"], text["to"], text["ending"], text["by"], *lists)

    def feature(self, name: str, plain: object, nodes: Mapping[str, object]) -> tuple[str, str, str]:
        given = self.mapping(plain, f"features.{name}", ("of", "feature"))
        node = self.text(given.get("of"), f"features.{name}.of")
        if node not in nodes:
            raise self.wrong(f"features.{name}.of", f"no node {node!r}; available: {', '.join(nodes)}")
        return name, node, self.text(given.get("feature"), f"features.{name}.feature")

    def mirror(self, plain: object) -> Mirror:
        """Words in both numbers, those that have only one, and what happens before a vowel."""
        keys = ("companions", "only", "words", "endings", "contractions", "elisions", "undecided")
        given = self.mapping(plain, "mirror", keys)
        rows = [self.mapping(row, f"mirror.words.{i}") for i, row in enumerate(self.list(given.get("words"), "mirror.words"))]
        words = [{n: self.texts(v, f"mirror.words.{i}.{n}") for n, v in row.items()} for i, row in enumerate(rows)]
        contractions = [
            self.texts(each, "mirror.contractions") for each in self.list(given.get("contractions"), "mirror.contractions")
        ]
        if wrong := [each for each in contractions if len(each) != 3]:
            raise self.wrong(
                "mirror.contractions", f"must be two words and what they become, [de, le, du]; this is {list(wrong[0])[:5]}"
            )
        if odd := [i for i, row in enumerate(words) if not all(len(forms) in (1, 2) for forms in row.values())]:
            raise self.wrong(f"mirror.words.{odd[0]}", "must be one form, or two, the second for before a vowel")
        endings = self.list(given.get("endings"), "mirror.endings")
        elisions = self.mapping(given.get("elisions") or {}, "mirror.elisions")
        return Mirror(
            self.texts(given.get("companions"), "mirror.companions") or Mirror.companions,
            tuple(word.lower() for word in self.texts(given.get("only"), "mirror.only")),
            tuple(words),
            tuple(self.ending(each, f"mirror.endings.{i}") for i, each in enumerate(endings)),
            tuple(contractions),
            {name: self.text(value, f"mirror.elisions.{name}") for name, value in elisions.items()},
            self.texts(given.get("undecided"), "mirror.undecided"),
        )

    def mapping(self, plain: object, place: str, keys: Iterable[str] = ()) -> dict[str, object]:
        if not isinstance(plain, Mapping):
            raise self.wrong(place, f"must be names with values; this is {reprlib.repr(plain)[:60]}")
        given = {str(key): value for key, value in plain.items()}
        known = list(keys)
        if known and (unknown := [key for key in given if key not in known]):
            raise self.wrong(place, f"unknown key {unknown[0][:40]!r}; available: {', '.join(known)}")
        return given

    def list(self, plain: object, place: str) -> list[object]:
        if plain is None:
            return []
        if not isinstance(plain, list):
            raise self.wrong(place, f"must be a list; this is {reprlib.repr(plain)[:60]}")
        return plain

    def names(self, plain: object, place: str, nodes: Mapping[str, object]) -> Texts:
        found = self.texts(plain, place)
        if unknown := [name for name in found if name not in nodes]:
            raise self.wrong(place, f"no node {unknown[0]!r}; available: {', '.join(nodes)}")
        return found

    def texts(self, plain: object, place: str) -> Texts:
        if plain is None:
            return ()
        return tuple(self.text(each, place) for each in (plain if isinstance(plain, list) else [plain]))

    def text(self, plain: object, place: str) -> str:
        """YAML reads 3 as a number; true and false are mostly slips (`no`, `on`)."""
        if isinstance(plain, bool) or not isinstance(plain, str | int):
            raise self.wrong(place, f"must be text; this is {reprlib.repr(plain)[:60]} (put it in quotation marks)")
        return str(plain)
