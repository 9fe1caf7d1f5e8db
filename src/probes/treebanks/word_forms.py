"""The other form of a word: from the forms in a treebank, from a lexicon, or by a pattern's endings."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from ...data.patterns.pattern_file import Ending
from ...data.trees import DependencyTree, Word, parse_features, read_trees
from ..challenge_set import SetError
from ..set_file import rows
from .lexicon_packages import PACKAGES, load_package

# Features that may be specified on one form only: Russian past-tense verbs have gender only in the singular.
LOOSE = ("Gender", "Person")
NONE, AMBIGUOUS, EQUAL = "no other form is known", "several other forms are known", "both forms look the same"
SLIP = 0.05  # share of the occurrences: a rarer form beside another is a typo or an annotation error
Key = tuple[str, str]  # lemma, UPOS


class Forms(Protocol):
    """What knows forms of words."""

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        """The lower-case forms of a word with another value of a feature; `gender` is what it agrees with."""


class Paradigms:
    """Lower-case forms by lemma, UPOS and features, with counts."""

    def __init__(self, not_forms: Sequence[str] = ()) -> None:
        self.not_forms = frozenset(not_forms)
        self.forms: defaultdict[Key, dict[str, Counter[str]]] = defaultdict(dict)

    def add(self, lemma: str, upos: str, feats: str, form: str) -> None:
        if form.lower() not in self.not_forms:
            self.forms[lemma, upos].setdefault(feats, Counter())[form.lower()] += 1

    def harvest(self, trees: Iterable[DependencyTree]) -> Iterator[DependencyTree]:
        """Pass the trees on and remember the forms of words that have features."""
        for tree in trees:
            for word in tree.words:
                if word.feats != "_":
                    self.add(word.lemma, word.upos, word.feats, word.form)
            yield tree

    def same(self, word: Word) -> set[str]:
        """All forms with exactly these features."""
        return _frequent(self.forms.get((word.lemma, word.upos), {}).get(word.feats, Counter()))

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        """With all other features equal; otherwise with those of LOOSE given on one side only, matching `gender`."""
        wanted = dict(word.features) | {feature: value}
        known = self.forms.get((word.lemma, word.upos), {})
        loose: Counter[str] = Counter()
        for feats, forms in known.items():
            features = parse_features(feats)
            if features == wanted:
                return _frequent(forms)
            if _agree(wanted, features, gender):
                loose += forms
        return _frequent(loose)


def _frequent(forms: Counter[str]) -> set[str]:
    return {form for form, count in forms.items() if count >= SLIP * forms.total()}


def _agree(wanted: Mapping[str, str], features: Mapping[str, str], gender: str) -> bool:
    for name in {*wanted, *features}:
        one, two = wanted.get(name), features.get(name)
        if one == two:
            continue
        if name not in LOOSE or (one is not None and two is not None):
            return False
        if name == "Gender" and two is not None and gender and two != gender:
            return False
    return True


class Endings:
    """Forms by rule, as a pattern states them."""

    def __init__(self, rules: Sequence[Ending]) -> None:
        self.rules = rules

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        form, here = word.form.lower(), word.features.get(feature, "")
        for rule in self.rules:
            if (rule.value, rule.to) != (here, value) or not form.endswith(rule.ending):
                continue
            if rule.unless and form.endswith(rule.unless):
                continue
            if (rule.lemma and not word.lemma.endswith(rule.lemma)) or (
                rule.unless_lemma and word.lemma.endswith(rule.unless_lemma)
            ):
                continue
            return {form[: len(form) - len(rule.ending)] + rule.by}
        return set()


class CheckedForms:
    """What a parser's trees show, combined with the rules: if they differ, several forms are known."""

    def __init__(self, shown: Forms, rules: Forms) -> None:
        self.shown, self.rules = shown, rules

    def other(self, word: Word, feature: str, value: str, gender: str = "") -> set[str]:
        found = self.shown.other(word, feature, value, gender)
        return found | self.rules.other(word, feature, value, gender) if found else set()


def read_lexicon(name: str) -> Forms:
    """A treebank (.conllu), a table with the columns form, lemma, upos and feats (.tsv), or a package by name."""
    if name in PACKAGES:
        return load_package(name)
    file = Path(name)
    found = Paradigms()
    if ".conllu" in file.suffixes:
        for _ in found.harvest(read_trees(file)):
            pass
    elif file.suffix == ".tsv":
        for _, row in rows(file, "form", "lemma", "upos", "feats"):
            found.add(row["lemma"], row["upos"], row["feats"], row["form"])
    else:
        raise SetError(name, None, f"a lexicon must be a .conllu file, a .tsv table or one of {', '.join(PACKAGES)}")
    return found


def other_form(word: Word, feature: str, value: str, known: Sequence[Forms], gender: str = "") -> tuple[str, str]:
    """The form with another value, capitalised like the word, from the first source that knows one; or '' and the reason."""
    for source in known:
        forms = source.other(word, feature, value, gender)
        if len(forms) > 1:
            return "", AMBIGUOUS
        if forms:
            (form,) = forms
            if form == word.form.lower():
                return "", EQUAL
            return like_case(form, word.form), ""
    return "", NONE


def like_case(form: str, model: str) -> str:
    """With another word's capitals."""
    if sum(map(str.isalpha, model)) > 1 and model.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if model[:1].isupper() else form
