"""The mirror of an item: cue, target and what accompanies the cue in the other number, up to the target.

Contractions are taken apart, the words exchanged, elisions and contractions made anew. What follows the target is left out: it
may agree with the cue as well, and is not judged.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...data.patterns.pattern_file import Mirror, Pattern
from ...data.trees import DependencyTree, Word
from .tree_items import SurfaceToken, TreeItem
from .word_forms import Endings, Forms, like_case, other_form

NUMERAL = "a numeral or a word that goes with one number only"
PREDICATE = "the cue is a predicate, or the subject of a verb before the target"
CLAUSE = "another relative clause about the cue"
NO_FORM = "no other form of the cue is known"
COMPANION = "no other form of a word that accompanies the cue"
UNDECIDED = "not known whether the next word elides"
NOT_FIRST = "the target stands before the cue"
MARK = "a mark between words that would be contracted"


class CannotMirror(Exception):
    """For a reason that is counted."""


class Mirrors:
    """Makes the mirrors of one pattern's items."""

    def __init__(self, pattern: Pattern, paradigms: Sequence[Forms]) -> None:
        self.pattern = pattern
        self.rules: Mirror = pattern.mirror
        self.sources = [*paradigms, Endings(self.rules.endings)]

    def mirror(self, item: TreeItem) -> TreeItem:
        """The item with the other number; raises CannotMirror."""
        tree = item.tree
        cue, value = item.tokens[item.cue].word, self.pattern.values[item.value]
        if item.cue > item.target:
            raise CannotMirror(NOT_FIRST)
        if cue is None:
            raise CannotMirror(NO_FORM)
        numbers = self._companions(tree, cue, item)
        form, reason = other_form(cue, item.feature, value, self.sources)
        if reason:
            raise CannotMirror(NO_FORM)
        changed = {cue.number: form}
        later = [number for number in numbers if not self._in_table(tree[number])]
        for number in later:
            changed[number] = self._other(tree[number], value)
        tokens = self._split(item, tree, numbers)
        tokens = [_exchanged(t, changed[t.number], item.feature, value) if t.number in changed else t for t in tokens]
        tokens = self._determined(tokens, set(numbers) - set(later), item, value, cue)
        tokens = self._joined(tokens)
        target = tree[_number(item, item.target)]
        at = {"cue": _find(tokens, cue.number), "target": len(tokens)}
        other = _exchanged(item.tokens[item.target], item.other, item.feature, value)
        return replace(item, tokens=(*tokens, other), at=at, other=target.form, value=value)

    def _companions(self, tree: DependencyTree, cue: Word, item: TreeItem) -> list[int]:
        """The words below the cue that change with it, from left to right."""
        target = _number(item, item.target)
        below = [word for word in tree.words if word.head == cue.number and word.number < target]
        above = [tree[cue.head]] if cue.head else []  # plusieurs des amendements, un des livres
        if any(word.upos == "NUM" or word.relation.startswith("nummod") for word in below) or any(
            map(self._has_one_number, above)
        ):
            raise CannotMirror(NUMERAL)
        if any(word.relation == "cop" or word.relation.startswith("nsubj") for word in tree.words if word.head == cue.number):
            raise CannotMirror(PREDICATE)
        if cue.relation.startswith("nsubj") and cue.head is not None and (cue.head < target and cue.head != target):
            raise CannotMirror(PREDICATE)
        if any(word.relation == "acl:relcl" and word.number != target for word in below):
            raise CannotMirror(CLAUSE)
        words = [word for word in below if word.relation.split(":")[0] in self.rules.companions]
        for word in words:  # rude mais très bon: what is coordinated with a companion is one
            words += [
                each for each in tree.words if each.head == word.number and each.relation == "conj" and each.number < target
            ]
        numbers = [word.number for word in words if item.feature in word.features]
        if any(map(self._has_one_number, words)):
            raise CannotMirror(NUMERAL)
        for word in words:  # a determiner that the table knows, whether its number is annotated or not
            if word.number not in numbers and self._in_table(word):
                numbers.append(word.number)
        if any(w.upos == "DET" and w.number not in numbers and w.form.lower() in self.rules.elisions for w in words):
            raise CannotMirror(COMPANION)  # d' autres, de grands: the article of a plural only
        return sorted(numbers)

    def _has_one_number(self, word: Word) -> bool:
        return word.upos == "NUM" or word.form.lower() in self.rules.only or word.lemma in self.rules.only

    def _row(self, word: Word) -> dict[str, tuple[str, ...]] | None:
        """The line of the table that has a form, in any of its cells."""
        form = word.form.lower()
        return next((dict(row) for row in self.rules.words if any(form in forms for forms in row.values())), None)

    def _in_table(self, word: Word) -> bool:
        return word.upos == "DET" and self._row(word) is not None

    def _other(self, word: Word, value: str) -> str:
        here = word.features.get(self.pattern.vary, "")
        if here == value:
            raise CannotMirror(COMPANION)
        form, reason = other_form(word, self.pattern.vary, value, self.sources)
        if reason and (form := self._unchanged(word, value)) == "":
            raise CannotMirror(COMPANION)
        return form

    def _unchanged(self, word: Word, value: str) -> str:
        """An adjective may have one form for both numbers: heureux."""
        for source in self.sources:
            if source.other(word, self.pattern.vary, value) == {word.form.lower()}:
                return word.form
        return ""

    def _split(self, item: TreeItem, tree: DependencyTree, numbers: Sequence[int]) -> list[SurfaceToken]:
        """The tokens before the target; those that hold a companion together with other words, taken apart."""
        tokens: list[SurfaceToken] = []
        written = tree.written() if len(item.tokens) == len(tree.written()) else tree.analysed()
        for token, place in list(zip(item.tokens, written, strict=True))[: item.target]:
            words = range(place.first, place.last + 1)
            if token.word is None and any(number in numbers for number in words):
                parts = [SurfaceToken(tree[number].form.lower(), tree[number]) for number in words]
                parts[0] = parts[0]._replace(form=like_case(parts[0].form, token.form))
                tokens += [*parts[:-1], parts[-1]._replace(space_after=token.space_after)]
            else:
                tokens.append(token)
        return tokens

    def _determined(
        self, tokens: list[SurfaceToken], numbers: set[int], item: TreeItem, value: str, cue: Word
    ) -> list[SurfaceToken]:
        """With the determiners of the table in the other number; from the right, since a form depends on the word after it."""
        made = list(tokens)
        for i in range(len(made) - 1, -1, -1):
            word = made[i].word
            if word is None or word.number not in numbers:
                continue
            row = self._row(word)
            assert row is not None
            forms = row.get(value) or row.get(cue.features.get("Gender", ""))
            if not forms or i + 1 == len(made):
                raise CannotMirror(COMPANION)
            if value in row and made[i + 1].upos in row:  # des maisons, de grandes maisons
                forms = row[made[i + 1].upos]
            form = forms[0] if len(forms) == 1 else forms[self._elides(made[i + 1].form)]
            token = _exchanged(made[i], like_case(form, made[i].form), item.feature, value)
            made[i] = token._replace(space_after=not form.endswith(("'", "’")))
        return made

    def _elides(self, following: str) -> bool:
        low = following.lower()
        if self.rules.undecided and low.startswith(self.rules.undecided):
            raise CannotMirror(UNDECIDED)
        return low[:1] in self.pattern.vowels

    def _joined(self, tokens: list[SurfaceToken]) -> list[SurfaceToken]:
        """With de + les as des, and que + un as qu' un. Only where a word has changed: the rest stands as it was written."""
        together = {(one, two): both for one, two, both in self.rules.contractions}
        full, short = dict(self.rules.elisions), {long: elided for elided, long in self.rules.elisions.items()}
        made: list[SurfaceToken] = []
        for token in tokens:
            before = made[-1] if made else None
            across = (made[-2].form.lower(), token.form.lower()) if len(made) > 1 else ("", "")
            if _changed(token) and made[-1:] and made[-1].upos == "PUNCT" and across in together:  # en raison de « les …
                raise CannotMirror(MARK)
            if before is not None and _changed(token) and (both := together.get((before.form.lower(), token.form.lower()))):
                made[-1] = SurfaceToken(like_case(both, before.form), None, token.space_after)
                continue
            if before is not None and _changed(token):
                low = before.form.lower().replace("’", "'")
                elides = token.form[:1].lower() in self.pattern.vowels
                if low in full and not elides:
                    both = together.get((full[low], token.form.lower()))
                    made[-1] = SurfaceToken(like_case(both or full[low], before.form), None if both else before.word, True)
                    if both:
                        continue
                elif low in short and elides:
                    made[-1] = SurfaceToken(like_case(short[low], before.form), before.word, space_after=False)
            made.append(token)
        return made


def _number(item: TreeItem, at: int) -> int:
    word = item.tokens[at].word
    assert word is not None
    return word.number


def _exchanged(token: SurfaceToken, form: str, feature: str, value: str) -> SurfaceToken:
    """With another form, and marked as changed."""
    assert token.word is not None
    features = dict(token.word.features) | {feature: value}
    feats = "|".join(f"{name}={each}" for name, each in sorted(features.items()))
    return SurfaceToken(form, token.word._replace(form=form, feats=feats, misc="Mirrored=Yes"), token.space_after)


def _changed(token: SurfaceToken) -> bool:
    return token.word is not None and token.word.misc == "Mirrored=Yes"


def _find(tokens: Sequence[SurfaceToken], number: int) -> int:
    return next(i for i, token in enumerate(tokens) if token.number == number)
