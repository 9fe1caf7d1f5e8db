"""English word forms of our grammars against lemminflect, an independent lexicon. Run it for disagreements and totals."""

from collections.abc import Iterator
from pathlib import Path

import lemminflect
from concord.data.grammar import Grammar, folder_of, load
from concord.data.grammar.notation import Alternative

PAST, PARTICIPLE = ("VBD", "past"), ("VBN", "participle")
TENSES = {"Past": PAST, "Said": PAST, "Said_more": PAST, "Told": PAST, "Part": PARTICIPLE, "Part_work": PARTICIPLE}
ADJECTIVES, PREDICATES, ADVERBS = ("Adj_c", "Adj_w", "Adj_pred"), ("Cop", "Cop_work"), ("Often", "How_slow")
NOUNS = ("N_1", "N_2", "Speaker", "Gendered", "Work", "C", "W")
NO_WORDS = ("Det", "Det_head", "Refl", "Be", "Have")
# Our form is right although the lexicon disagrees or has no entry.
EXPLAINED = {
    "oxen = ox plural": "explained: no entry for ox; oxen is its only plural",
    **{f"{word} = adj": f"explained: a participle only; very {word} is fine" for word in ("charming", "bored", "surprised")},
}

Finding = tuple[str, bool, str]


def forms(folder: Path | None = None) -> Iterator[Finding]:
    """Each form with its attributes, whether the lexicon agrees, and what the lexicon has instead."""
    grammar = load(folder or folder_of("en"), "corpus")
    yield from dict.fromkeys((*_paradigms(grammar), *_lists(grammar)))


def _paradigms(grammar: Grammar) -> Iterator[Finding]:
    """Nouns, verbs and copulas, singular against plural."""
    for name, singular, plural in _rows(grammar):
        if name in NOUNS:
            yield _inflected(plural, singular, "NNS", "plural")
            yield _article(singular, name == "W")
        elif name in PREDICATES:
            yield f"{singular} = {plural}, singular", singular == plural.replace("are ", "is "), "copula"
            yield _known(singular.split()[1], "ADJ")
        else:
            yield from _verb(singular, plural)


def _lists(grammar: Grammar) -> Iterator[Finding]:
    """Words without number: adjectives, adverbs, past tenses, participles."""
    for symbol, alternatives in grammar.rules.items():
        for words in (str(a).split() for a in alternatives if _wordy(a)):
            if symbol.name in ADJECTIVES:
                yield _known(words[0], "ADJ")
            elif symbol.name in ADVERBS:
                yield _known(words[-1], "ADV")
            elif symbol.name in TENSES:
                yield _inflected(words[0], _lemma(words[0], TENSES[symbol.name]), *TENSES[symbol.name])
            if symbol.name in ADJECTIVES[:2]:
                yield _article(words[0], symbol.name == "Adj_w")


def _rows(grammar: Grammar) -> Iterator[tuple[str, str, str]]:
    """The rows of all paradigms of number: name, singular, plural."""
    for symbol, alternatives in grammar.rules.items():
        other = symbol._replace(attributes=symbol.attributes - {"s"} | {"p"})
        if "s" not in symbol.attributes or other not in grammar.rules or symbol.name in NO_WORDS:
            continue
        for one, many in zip(alternatives, grammar.rules[other], strict=False):
            if _wordy(one):
                yield symbol.name, str(one), str(many)


def _wordy(alternative: Alternative) -> bool:
    return bool(alternative.parts) and all(isinstance(part, str) for part in alternative.parts)


def _verb(singular: str, plural: str) -> Iterator[Finding]:
    """The third person of a verb; what follows the verb must be the same in both numbers."""
    (third, *after), (base, *rest) = singular.split(), plural.split()
    yield _inflected(third, base, "VBZ", "third person singular")
    if rest:
        yield f"{singular} = {plural}, singular", after == rest, "the words after the verb"


def _inflected(form: str, lemma: str, tag: str, label: str) -> Finding:
    """The lexicon's own entries only: no guessing by rule."""
    known = lemminflect.getInflection(lemma, tag, inflect_oov=False)
    what = f"{form} = {lemma} {label}"
    return what, form in known, EXPLAINED.get(what, ", ".join(known) or "not in the lexicon")


def _lemma(form: str, tense: tuple[str, str]) -> str:
    """The verb that has this form; the form itself if there is none."""
    lemmas = (lemma for found in lemminflect.getAllLemmas(form).values() for lemma in found)
    return next((lemma for lemma in lemmas if form in lemminflect.getInflection(lemma, tense[0], inflect_oov=False)), form)


def _known(word: str, *kinds: str) -> Finding:
    """Whether the lexicon has the word as one of these parts of speech."""
    found = lemminflect.getAllLemmas(word)
    what = f"{word} = {' or '.join(kinds).lower()}"
    return what, any(kind in found for kind in kinds), EXPLAINED.get(what, ", ".join(found) or "not in the lexicon")


def _article(word: str, vowel: bool) -> Finding:
    """`an` before a vowel sound. Spelling tells, except for the silent h."""
    return f"{'an' if vowel else 'a'} {word}", vowel == (word[0] in "aeiou" or word == "honest"), "article, by spelling"
