"""The wide lexicons, row by row, against the same independent lexicons as the other grammars.

Every form of a noun must be a form of its first, with gender, number and case; both forms of a verb must be third persons of one
verb in the tense that its list's name gives (…then…, Past…, Had…, …was: past); what follows the verb must be the same in both
numbers. All other words must be known.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from concord.data.grammar import constructions, folder_of, parse
from concord.data.grammar.folder import WIDE, read_text
from concord.data.grammar.notation import Rule

Checked = tuple[str, bool, str]
PAST = re.compile("then|Then|Past|Had|was")
NUMBERS = {"s": "singular", "p": "plural"}
# Our form is right although the lexicon disagrees or has no entry.
REASONS = {
    "simplemma returns it unchanged, or takes it for a homograph": ("de: gefällt begegnet vertraut gehorcht gleicht liebt stand"),
}
EXPLAINED = {
    f"{words.split(': ')[0]} {word}": f"explained: {reason}"
    for reason, words in REASONS.items()
    for word in words.split(": ")[1].split()
}


@dataclass
class WideRow:
    """A row of a paradigm, or a word of a list: the list's name, and its forms with their attributes."""

    name: str
    cells: list[tuple[frozenset[str], str]] = field(default_factory=list)

    @property
    def is_noun(self) -> bool:
        return self.name.startswith("N_")

    @property
    def is_past(self) -> bool:
        return bool(PAST.search(self.name)) or any("past" in attributes for attributes, _ in self.cells)

    @property
    def is_verb(self) -> bool:
        return not self.is_noun and {n for attributes, _ in self.cells for n in attributes & NUMBERS.keys()} == NUMBERS.keys()

    def number(self, number: str) -> str:
        return next(text for attributes, text in self.cells if number in attributes)


@dataclass(frozen=True)
class Oracle:
    """What an independent lexicon is asked. Each answer: whether it agrees, and what it has."""

    noun: Callable[[str, str, frozenset[str]], tuple[bool, str]]  # form, first form, attributes
    verb: Callable[[str, str, bool], tuple[bool, str]]  # singular, plural, whether they are past
    known: Callable[[str], bool]


def rows(language: str) -> list[WideRow]:
    """Everything in the files of a wide lexicon."""
    found: dict[tuple[object, ...], WideRow] = {}
    folder = folder_of(language) / WIDE
    for name in ("common", *constructions(folder)):
        file = folder / f"{name}.avg"
        for rule in (each for each in parse(read_text(file), str(file)) if isinstance(each, Rule)):
            for number, alternative in enumerate(rule.alternatives):
                if all(isinstance(part, str) for part in alternative.parts):
                    key = (alternative.place, rule.left.name, "" if alternative.lexeme else (rule.left.attributes, number))
                    row = found.setdefault(key, WideRow(rule.left.name))
                    row.cells.append((frozenset(rule.left.attributes), str(alternative)))
    return list(found.values())


def forms(language: str) -> Iterator[Checked]:
    """What was checked, whether the lexicon agrees, and what it says if it does not; each comparison once."""
    if not (folder_of(language) / WIDE).is_dir():
        return
    everything = rows(language)
    words = sorted({word for row in everything for _, text in row.cells for word in text.split() if word.isalpha()})
    oracle = ORACLES[language](words)
    for what, agrees, note in dict.fromkeys(_compare(everything, oracle)):
        head = what.split(" ")[0]
        yield f"wide: {what}", agrees, "" if agrees else EXPLAINED.get(f"{language} {head}", note)


def _compare(everything: list[WideRow], oracle: Oracle) -> Iterator[Checked]:
    for row in everything:
        if row.is_noun:
            first = row.cells[0][1]
            for attributes, word in row.cells:
                shown = " ".join(sorted(attributes))
                yield f"{word} = {first} {shown}", *oracle.noun(word, first, attributes)
        elif row.is_verb:
            (one, *after), (many, *rest) = row.number("s").split(), row.number("p").split()
            tense = "past" if row.is_past else "present"
            yield f"{one} and {many} = third persons of one verb, {tense}", *oracle.verb(one, many, row.is_past)
            yield f"{one} … and {many} … are followed by the same words", after == rest, " ".join(rest)
            yield from ((f"{word} = a word", oracle.known(word), "not in the lexicon") for word in after if word.isalpha())
        else:
            words = (word for _, text in row.cells for word in text.split() if word.isalpha())
            yield from ((f"{word} = a word", oracle.known(word), "not in the lexicon") for word in words)


# --------------------------------------------------------------------- lexicons


def english(words: list[str]) -> Oracle:
    import lemminflect

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        if "s" in attributes:
            return "NOUN" in lemminflect.getAllLemmas(word), "no noun"
        known = lemminflect.getInflection(first, "NNS", inflect_oov=False)
        return word in known, ", ".join(known)

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        lemma = "be" if many in ("are", "were") else many
        tags = ("VBD", "VBD") if past else ("VBZ", "VBP" if lemma == "be" else "VB")
        singular, plural = (lemminflect.getInflection(lemma, tag, inflect_oov=False) for tag in tags)
        return one in singular and many in plural, f"{singular} {plural}"

    return Oracle(noun, verb, lambda word: bool(lemminflect.getAllLemmas(word)) or word in FUNCTION_WORDS)


SILENT = "a an the of to in at by from for with without about after behind near all every once and not"  # it lacks such words
FUNCTION_WORDS = frozenset(SILENT.split())


def german(words: list[str]) -> Oracle:
    import simplemma
    from german_nouns.lookup import Nouns

    from .de import CASES
    from .de import NUMBERS as NAMES

    nouns = Nouns()

    def values(entry: dict[str, str], key: str) -> set[str]:
        return {value for name, value in entry.items() if name.rstrip("* 1234") == key}

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        (number,) = attributes & NAMES.keys()
        cases = attributes & CASES.keys() or CASES.keys()
        entries = [entry for entry in nouns[first] if entry["lemma"] == first and "m" in values(entry, "genus")]
        known = [{f for e in entries for f in values(e["flexion"], f"{CASES[case]} {NAMES[number]}")} for case in sorted(cases)]
        return all(word in found for found in known), str(known)

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        lemmas = [simplemma.lemmatize(form, lang="de") for form in (one, many)]
        infinitive = many if not past and many != "sind" else lemmas[0]
        ending = (
            one.endswith("t") or one in ("kann", "will", "soll", "darf")
            if not past
            else many == one + ("n" if one[-1] == "e" else "en")
        )
        known = all(simplemma.is_known(form, lang="de") for form in (one, many))
        return bool(known and ending and lemmas[0] == lemmas[1] == infinitive), str(lemmas)

    return Oracle(noun, verb, lambda word: simplemma.is_known(word, lang="de"))


def french(words: list[str]) -> Oracle:
    from .fr import AGREEMENT, PERSONS, VOWELS, Hunspell

    known = Hunspell(words)

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        (number,) = attributes & NUMBERS.keys()
        found = known.lemmas(word, "po:nom", AGREEMENT[number], AGREEMENT["m"]) & known.lemmas(first, "po:nom")
        onset = (word[0] in VOWELS or word.startswith(("homme", "hôte", "habitant"))) == ("vow" in attributes)
        return bool(found) and onset, str(known.readings[word])

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        tense = "po:iimp" if past else "po:ipre"
        lemmas = [known.lemmas(form, tense, PERSONS[number]) for form, number in ((one, "s"), (many, "p"))]
        return bool(lemmas[0] & lemmas[1]), str(lemmas)

    return Oracle(noun, verb, lambda word: bool(known.readings[word]))


def spanish(words: list[str]) -> Oracle:
    from .es import NUMBERS as NAMES
    from .es import Apertium

    known = Apertium(set(words))

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        (number,) = attributes & NAMES.keys()
        return known.agrees(word, first, {"n"}, {NAMES[number], "sp"}, {"m", "mf"}), known.known.get(word, "nothing")

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        tense = {"pii"} if past else {"pri"}
        fits = all(known.agrees(form, one, tense, {"p3"}, {NAMES[number]}) for form, number in ((one, "s"), (many, "p")))
        return fits, f"{known.known.get(one)} {known.known.get(many)}"

    return Oracle(noun, verb, lambda word: word in known.known)


def russian(words: list[str]) -> Oracle:
    from .ru import CASE, MEN, NUMBER, _parses

    def fitting(word: str, *wanted: str) -> set[str]:
        return {each.normal_form for each in _parses(word) if all(grammeme in each.tag for grammeme in wanted)}

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        wanted = [table[a] for table in (NUMBER, CASE) for a in attributes & table.keys()]
        found = fitting(word, "NOUN", *MEN, *wanted) & fitting(first, "NOUN", "nomn", "sing")
        return bool(found), "; ".join(str(each.tag) for each in _parses(word))

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        singular, plural = (
            (("past", "masc", "sing"), ("past", "plur")) if past else (("pres", "3per", "sing"), ("pres", "3per", "plur"))
        )
        lemmas = fitting(one, "VERB", *singular) & fitting(many, "VERB", *plural)
        short = fitting(one, "ADJS", "masc", "sing") & fitting(many, "ADJS", "plur")
        return bool(lemmas or (short and not past)), "; ".join(str(each.tag) for each in (*_parses(one), *_parses(many)))

    return Oracle(noun, verb, lambda word: bool(_parses(word)))


def hebrew(words: list[str]) -> Oracle:
    from .he import GENDER, NUMBER, OTHER, PRESENT, VERB, look_up

    lexicon = look_up(words)

    def fitting(word: str, *wanted: str, kinds: str = "ע") -> set[str]:
        readings = (each for each in lexicon[word] or () if not any(OTHER.match(feature) for feature in each[1]))
        return {lemma for lemma, features in readings if {*wanted} <= features and {*kinds} & features}

    def noun(word: str, first: str, attributes: frozenset[str]) -> tuple[bool, str]:
        (number,) = attributes & NUMBER.keys()
        # Participles and adjectives used as nouns are filed under verbs and adjectives.
        found = [fitting(form, NUMBER[n][0], kinds="עתפ") for form, n in ((word, number), (first, "s"))]
        return bool(found[0] & found[1]), str(lexicon[word])

    def verb(one: str, many: str, past: bool) -> tuple[bool, str]:
        tense, kinds = ("עבר", VERB) if past else (PRESENT, VERB)
        lemmas = [fitting(form, NUMBER[n][0], tense, kinds=kinds) for form, n in ((one, "s"), (many, "p"))]
        plain = [fitting(form, NUMBER[n][0], GENDER["m"][0], kinds="תע") for form, n in ((one, "s"), (many, "p"))]
        return bool(lemmas[0] & lemmas[1] or (not past and plain[0] & plain[1])), f"{lexicon[one]} {lexicon[many]}"

    return Oracle(noun, verb, lambda word: lexicon[word] is not None)


ORACLES: dict[str, Callable[[list[str]], Oracle]] = {
    "en": english,
    "de": german,
    "fr": french,
    "es": spanish,
    "ru": russian,
    "he": hebrew,
}
