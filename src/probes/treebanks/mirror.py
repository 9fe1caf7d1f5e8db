"""The mirror of an item: cue, target and what accompanies the cue in the other number, up to the target.

Contractions are split, the words replaced, and elisions and contractions applied again. What follows the target is left out:
it may also agree with the cue, and is not judged.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...data.patterns.pattern_file import Mirror, Pattern
from ...data.trees import DependencyTree, Word
from .tree_items import NOUNS, SurfaceToken, TreeItem
from .word_forms import CheckedForms, Endings, Forms, like_case, other_form

NUMERAL = "a numeral or a word that goes with one number only"
PREDICATE = "the cue is a predicate, or the subject of a verb before the target"
CLAUSE = "another relative clause about the cue"
NO_FORM = "no other form of the cue is known"
COMPANION = "no other form of a word that accompanies the cue"
UNDECIDED = "not known whether the next word elides"
NOT_FIRST = "the target stands before the cue"
MARK = "a mark between words that would be contracted"
NAME = "the cue goes with a name"
MISPARSED = "an adjective that does not agree with the noun it is attached to"
UNSURE = "the parser may have meant another noun between cue and target"


class CannotMirror(Exception):
    """Raised for a reason that is counted."""


class Mirrors:
    """Makes the mirrors of one pattern's items."""

    def __init__(self, pattern: Pattern, paradigms: Sequence[Forms]) -> None:
        self.pattern = pattern
        self.rules: Mirror = pattern.mirror
        rules = Endings(self.rules.endings)
        shown = [each.shown if isinstance(each, CheckedForms) else each for each in paradigms]  # nouns have their own rules
        self.sources: list[Forms] = [*shown, rules]
        self.checked: list[Forms] = [*(CheckedForms(each, rules) for each in shown), rules]
        # One word that stands for two, if trees do not split it: des is de and les.
        self.apart = {both: (one, two) for one, two, both in self.rules.contractions if both != one}

    def mirror(self, item: TreeItem) -> TreeItem:
        """The item in the other number; raises CannotMirror."""
        tree = item.tree
        cue, value = item.tokens[item.cue].word, self.pattern.values[item.value]
        if item.cue > item.target:
            raise CannotMirror(NOT_FIRST)
        if cue is None:
            raise CannotMirror(NO_FORM)
        numbers = self._companions(tree, cue, item)
        parsed = bool(tree.comment("parser"))
        if parsed:
            self._check_parse(tree, cue, item, numbers)
        sources = self.checked if parsed else self.sources
        form, reason = other_form(cue, item.feature, value, sources)
        if reason:
            raise CannotMirror(NO_FORM)
        changed = {cue.number: form}
        later = [number for number in numbers if not self._in_table(tree[number])]
        for number in later:
            changed[number] = self._other(tree[number], value, sources)
        tokens = self._take_apart(self._split(item, tree, numbers), cue)
        tokens = [_exchanged(t, changed[t.number], item.feature, value) if t.number in changed else t for t in tokens]
        articles = {token.number for token in tokens if token.number < 0}
        tokens = self._determined(tokens, set(numbers) - set(later) | articles, item, value, cue)
        tokens = self._joined(tokens)
        target = tree[_number(item, item.target)]
        at = {"cue": _find(tokens, cue.number), "target": len(tokens)}
        other = _exchanged(item.tokens[item.target], item.other, item.feature, value)
        return replace(item, tokens=(*tokens, other), at=at, other=target.form, value=value)

    def _companions(self, tree: DependencyTree, cue: Word, item: TreeItem) -> list[int]:
        """The words below the cue that change with it, from left to right."""
        target = _number(item, item.target)
        below = [word for word in tree.words if word.head == cue.number and word.number < target]
        self._check_cue(tree, cue, below, target)
        words = [word for word in below if word.relation.split(":")[0] in self.rules.companions]
        for word in words:  # rude mais très bon: a word coordinated with a companion is one too
            words += [
                each
                for each in tree.words
                if each.head == word.number
                and each.number < target
                and (each.relation == "conj" or (each.relation == "det" and self._in_table(each)))  # un triste mariage, misparsed
            ]
        numbers = [word.number for word in words if item.feature in word.features]
        if any(map(self._has_one_number, words)):
            raise CannotMirror(NUMERAL)
        for word in words:  # a determiner in the table, whether its number is annotated or not
            if word.number not in numbers and self._in_table(word):
                numbers.append(word.number)
        if any(w.upos == "DET" and w.number not in numbers and w.form.lower() in self.rules.elisions for w in words):
            raise CannotMirror(COMPANION)  # d' autres, de grands: only plural
        return sorted(numbers)

    def _check_cue(self, tree: DependencyTree, cue: Word, below: Sequence[Word], target: int) -> None:
        """What cannot change number, whatever its forms; raises CannotMirror."""
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
        prepositions = {word.head for word in tree.words if word.relation == "case"}
        if any(word.upos == "PROPN" and word.number not in prepositions for word in below):
            raise CannotMirror(NAME)  # sa sœur Anne

    def _check_parse(self, tree: DependencyTree, cue: Word, item: TreeItem, numbers: Sequence[int]) -> None:
        """Where a parser may have erred so that a mirror would not be a sentence; raises CannotMirror."""
        between = [word for word in tree.words if cue.number < word.number < _number(item, item.target)]
        for word in between:
            over = tree[word.head] if word.head else word
            values = {word.features.get(item.feature, ""), over.features.get(item.feature, "")} - {""}
            if word.relation.startswith("amod") and over.number != cue.number and len(values) > 1:
                raise CannotMirror(MISPARSED)  # pommes de terre nouvelles: it is not the earth that is new
        inside = range(min([*numbers, cue.number]), cue.number)  # le frêle pont: every word between article and noun changes
        if any(number not in numbers and tree[number].upos != "ADV" for number in inside):
            raise CannotMirror(COMPANION)
        agreeing = [word for word in between if word.upos in NOUNS and word.head != _number(item, item.target)]
        # With two nouns alike, the participle does not show which one it agrees with.
        if any(all(word.features.get(name) == cue.features.get(name) for name in self.pattern.agree) for word in agreeing):
            raise CannotMirror(UNSURE)

    def _take_apart(self, tokens: list[SurfaceToken], cue: Word) -> list[SurfaceToken]:
        """Split the cue's preposition and article into two words; the article gets its own number, below 0."""
        made: list[SurfaceToken] = []
        for token in tokens:
            word = token.word
            parts = self.apart.get(token.form.lower())
            if word is None or parts is None or word.upos != "ADP" or word.head != cue.number:
                made.append(token)
                continue
            article = word._replace(number=-word.number, form=parts[1], upos="DET", relation="det")
            first = SurfaceToken(like_case(parts[0], token.form), word._replace(form=parts[0]))
            made += [first, SurfaceToken(parts[1], article, token.space_after)]
        return made

    def _has_one_number(self, word: Word) -> bool:
        return word.upos == "NUM" or word.form.lower() in self.rules.only or word.lemma in self.rules.only

    def _row(self, word: Word) -> dict[str, tuple[str, ...]] | None:
        """The table row that has a form, in any of its cells."""
        form = word.form.lower()
        return next((dict(row) for row in self.rules.words if any(form in forms for forms in row.values())), None)

    def _in_table(self, word: Word) -> bool:
        return word.upos == "DET" and self._row(word) is not None

    def _other(self, word: Word, value: str, sources: Sequence[Forms]) -> str:
        here = word.features.get(self.pattern.vary, "")
        if here == value:
            raise CannotMirror(COMPANION)
        form, reason = other_form(word, self.pattern.vary, value, sources)
        if reason and (form := self._unchanged(word, value, sources)) == "":
            raise CannotMirror(COMPANION)
        return form

    def _unchanged(self, word: Word, value: str, sources: Sequence[Forms]) -> str:
        """An adjective may have one form for both numbers: heureux."""
        for source in sources:
            if source.other(word, self.pattern.vary, value) == {word.form.lower()}:
                return word.form
        return ""

    def _split(self, item: TreeItem, tree: DependencyTree, numbers: Sequence[int]) -> list[SurfaceToken]:
        """The tokens before the target; those that hold a companion together with other words are split."""
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
        """With the table's determiners in the other number; from the right, since a form depends on the next word."""
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
        """With de + les as des, and que + un as qu' un. Only where a word changed: the rest stays as written."""
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
