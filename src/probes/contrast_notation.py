"""Contrasts as files write them: in the heads of users' JSON lines, in exports, and in the cache.

    {"name": "x", "better": "good", "worse": "bad", "span": "verb"}           a pair; without a span the whole sentence
    {"name": "x", "better": "good", "worse": ["bad", "bad2"]}                 all of them must be beaten at once
    {"name": "x", "all": [{"better": "a", "worse": "b"}, …]}                  all clauses must hold
    {"name": "x", "any": [[clause, …], [clause, …]]}                          all clauses of one group must hold
A clause is a pair, or sums: {"left": [["a", "verb"], ["b", "verb", -1]], "relation": ">", "right": […], "constants": [0, 0.5]};
a term is a role, a span and a weight. A contrast may also have `chance`, `metric`, `scale`, `tested` and `formula`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeGuard, cast, get_args

from ..files import JsonObject
from .challenge_set import SetError
from .contrast import METRICS, Clause, Contrast, Relation, SpanTerm, best_of_all, pair_clause, pair_contrast

OPTIONS: dict[str, object] = {
    "chance": None,
    "metric": "sum",
    "scale": 1.0,
    "tested": "differing",
    "alternative": False,
    "formula": "",
    "item_rules": (),
}
KEYS = ("name", "better", "worse", "span", "all", "any", *OPTIONS)
ErrorHere = Callable[[str], SetError]  # turns what is wrong into an error with its place


def plain_contrast(contrast: Contrast) -> dict[str, object]:
    """The shortest way to write it."""
    options = {name: getattr(contrast, name) for name, default in OPTIONS.items() if getattr(contrast, name) != default}
    found: dict[str, object] = {"name": contrast.name}
    if len(contrast.groups) == 1 and len(contrast.groups[0]) == 1 and contrast.groups[0][0].is_pair:
        found |= _plain_clause(contrast.groups[0][0])
    elif len(contrast.groups) == 1:
        found["all"] = [_plain_clause(clause) for clause in contrast.groups[0]]
    elif contrast.groups:
        found["any"] = [[_plain_clause(clause) for clause in group] for group in contrast.groups]
    return found | options


def _plain_clause(clause: Clause) -> dict[str, object]:
    if clause.is_pair:
        span = {"span": clause.left[0].span} if clause.left[0].span else {}
        return {"better": clause.left[0].role, "worse": clause.right[0].role, **span}
    found: dict[str, object] = {name: [list(term) for term in getattr(clause, name)] for name in ("left", "right")}
    return found | {"relation": clause.relation, "constants": list(clause.constants)}


def spell_clause(clause: Clause) -> str:
    """As a reader would write it, the smaller side first: `verb@match < verb@mismatch`."""
    sides = [_spell_sum(terms, constant) for terms, constant in zip((clause.left, clause.right), clause.constants, strict=True)]
    return f"{sides[0]} = {sides[1]}" if clause.relation == "=" else f"{sides[1]} < {sides[0]}"


def _spell_sum(terms: tuple[SpanTerm, ...], constant: float) -> str:
    parts = [(term.weight, spell_term(term)) for term in terms] + ([(constant, "")] if constant or not terms else [])
    made = ""
    for weight, name in parts:
        size = f"{abs(weight):g}" if not name else name if abs(weight) == 1 else f"{abs(weight):g} {name}"
        sign = "−" if weight < 0 else "+"
        made += f" {sign} {size}" if made else size if weight >= 0 else f"−{size}"
    return made


def spell_term(term: SpanTerm) -> str:
    """`verb@match`: the region by its name, otherwise by its number; `*` is the whole sentence."""
    region = term.span.removeprefix("region:").partition(":")
    return f"{region[2] or region[0] or '*'}@{term.role}"


def contrast_from_plain(item: object, file: Path | str, line: int | None) -> Contrast:
    """Errors name their place."""

    def fault(message: str) -> SetError:
        return SetError(file, line, f"contrast {item.get('name', '')!r}: {message}" if isinstance(item, dict) else message)

    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        raise fault(f"a contrast must be an object with a name; this is {str(item)[:60]!r}")
    if unknown := sorted(set(item) - set(KEYS)):
        raise fault(f"unknown key {unknown[0]!r}; available: {', '.join(KEYS)}")
    options = _options(item, fault)
    stated = [key for key in ("better", "all", "any") if key in item]
    if len(stated) > 1 or (not stated and not options.get("formula")):
        raise fault("give better and worse, or all, or any")
    if not stated:
        return Contrast(item["name"], **options)
    if stated == ["better"]:
        return _beating(item, options, fault)
    groups = [item["all"]] if stated == ["all"] else item["any"]
    if not isinstance(groups, list) or not groups or not all(isinstance(group, list) and group for group in groups):
        raise fault(f"{stated[0]} must be a list of clauses (any: a list of such lists); it is {str(groups)[:60]!r}")
    return Contrast(item["name"], tuple(tuple(_clause(each, fault) for each in group) for group in groups), **options)


def _options(item: JsonObject, fault: ErrorHere) -> JsonObject:
    options: JsonObject = {name: tuple(item[name]) if name == "item_rules" else item[name] for name in OPTIONS if name in item}
    chance = options.get("chance")
    if chance is not None and not (_is_number(chance) and 0 <= chance < 1):
        raise fault(f"chance must be a number from 0 to below 1; it is {chance!r}")
    if options.get("metric", "sum") not in METRICS:
        raise fault(f"metric must be one of {', '.join(METRICS)}; it is {options['metric']!r}")
    if options.get("tested", "named") not in ("differing", "named"):
        raise fault(f"tested must be differing or named; it is {options['tested']!r}")
    if not _is_number(options.get("scale", 1.0)) or not options.get("scale", 1.0):
        raise fault(f"scale must be a number other than 0; it is {options['scale']!r}")
    if not isinstance(options.get("alternative", False), bool) or not isinstance(options.get("formula", ""), str):
        raise fault("alternative must be true or false, and formula must be text")
    return options


def _beating(item: JsonObject, options: JsonObject, fault: ErrorHere) -> Contrast:
    better, worse, span = item["better"], item.get("worse"), item.get("span", "")
    several = worse if isinstance(worse, list) else [worse]
    if not several or not all(isinstance(each, str) and each for each in (better, *several)) or not isinstance(span, str):
        raise fault(f"better must be a role and worse a role or a list of roles; they are {better!r} and {worse!r}")
    made = best_of_all(item["name"], better, tuple(several), span) if isinstance(worse, list) else None
    if made is None and set(options) <= {"alternative"}:
        return pair_contrast(item["name"], better, several[0], span, **options)
    return Contrast(item["name"], made.groups if made else ((pair_clause(better, str(worse), span),),), **options)


def _clause(item: object, fault: ErrorHere) -> Clause:
    if isinstance(item, dict) and set(item) <= {"better", "worse", "span"}:
        roles = (item.get("better"), item.get("worse"), item.get("span", ""))
        if all(isinstance(each, str) for each in roles) and roles[0] and roles[1]:
            return pair_clause(*cast("tuple[str, str, str]", roles))
    if not isinstance(item, dict) or not set(item) <= {"left", "right", "relation", "constants"}:
        raise fault(f"a clause needs better and worse, or left, relation and right; this is {str(item)[:60]!r}")
    relation, constants = item.get("relation", ">"), item.get("constants", [0.0, 0.0])
    if relation not in get_args(Relation):
        raise fault(f"relation must be one of {', '.join(get_args(Relation))}; it is {relation!r}")
    if not isinstance(constants, list) or len(constants) != 2 or not all(map(_is_number, constants)):
        raise fault(f"constants must be two numbers, added to the left and to the right; they are {constants!r}")
    sides = [tuple(_term(term, fault) for term in item.get(side) or []) for side in ("left", "right")]
    if not any(sides):
        raise fault("a clause compares nothing; give terms on its left or right")
    return Clause(sides[0], sides[1], relation, (float(constants[0]), float(constants[1])))


def _term(item: object, fault: ErrorHere) -> SpanTerm:
    match item:
        case str(role):
            return SpanTerm(role)
        case [str(role)] | [str(role), ""]:
            return SpanTerm(role)
        case [str(role), str(span)]:
            return SpanTerm(role, span)
        case [str(role), str(span), weight] if _is_number(weight):
            return SpanTerm(role, span, float(weight))
    raise fault(f"a term must be [role, span, weight]; this is {str(item)[:60]!r}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
