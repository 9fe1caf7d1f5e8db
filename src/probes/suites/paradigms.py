"""Word forms from the lexicon of a language's grammar, so that a suite row can be a lemma."""

from collections.abc import Mapping
from functools import cache

from ...data.grammar import parse
from ...data.grammar.clitics import render
from ...data.grammar.folder import folder_of, read_text
from ...data.grammar.notation import VARIABLE, Attribute, Rule, SymbolReference
from ...data.grammar.notices import SourceLine
from ...settings.languages import Clitics

LEXICON = "common.avg"


class Paradigm:
    """The rows of one paradigm: the first form of a row is its lemma."""

    def __init__(self, spelt: str, rows: list[list[Rule]], ranges: Mapping[str, tuple[str, ...]], clitics: Clitics) -> None:
        self.spelt = spelt
        self.rows = rows
        self.ranges = ranges
        self.clitics = clitics

    def form(self, lemma: str, attributes: tuple[str, ...]) -> str:
        """The form of a lemma with these attributes. A ValueError says what is missing."""
        fitting = [row for row in self.rows if self._text(row[0]) == lemma]
        if not fitting:
            known = ", ".join(self._text(row[0]) for row in self.rows[:8])
            raise ValueError(f"{self.spelt} of {LEXICON} has no row that begins with {lemma!r}; it has {known} …")
        forms = {self._text(cell) for row in fitting for cell in row if self._fits(cell.left, attributes)}
        if len(forms) != 1:
            columns = " | ".join(",".join(cell.left.attributes) for cell in fitting[0])
            many = f"several forms ({', '.join(sorted(forms))})" if forms else "no form"
            raise ValueError(f"{lemma!r} has {many} for [{','.join(attributes)}] in {self.spelt}; its columns are {columns}")
        return forms.pop()

    def lemma(self, lemma: str) -> str:
        """The lemma itself, if it exists."""
        if not any(self._text(row[0]) == lemma for row in self.rows):
            self.form(lemma, ())
        return lemma

    def _text(self, cell: Rule) -> str:
        return render(" ".join(map(str, cell.alternatives[0].parts)), self.clitics)

    def _fits(self, left: SymbolReference, attributes: tuple[str, ...]) -> bool:
        """Every requested attribute is among the cell's, or in the range of one of its variables."""
        values = set(left.attributes)
        for attribute in left.attributes:
            if match := VARIABLE.fullmatch(attribute):
                values |= set(self.ranges.get(match[1], ()))
        return set(attributes) <= values


def paradigm(language: str, spelt: str, clitics: Clitics) -> Paradigm:
    """The paradigm a page's column names, `N_1[m]` or `N_1`. A ValueError if there is none."""
    name, _, inside = spelt.rstrip("]").partition("[")
    shared = {attribute.strip() for attribute in inside.split(",") if attribute.strip()}
    statements, ranges = _lexicon(language)
    rows: dict[SourceLine, list[Rule]] = {}
    for rule in statements:
        if rule.left.name == name.strip() and shared <= set(rule.left.attributes):
            rows.setdefault(rule.place, []).append(rule)
    if not rows:
        known = ", ".join(dict.fromkeys(rule.left.name for rule in statements))
        raise ValueError(f"no paradigm {spelt} in {LEXICON} of {language}; available: {known}")
    return Paradigm(spelt, list(rows.values()), ranges, clitics)


@cache
def _lexicon(language: str) -> tuple[list[Rule], dict[str, tuple[str, ...]]]:
    file = folder_of(language) / LEXICON
    statements = parse(read_text(file), str(file))
    ranges = {s.variable: tuple(s.labels) for s in statements if isinstance(s, Attribute) and s.variable}
    return [s for s in statements if isinstance(s, Rule)], ranges
