"""The scoring contract: eight rules on which published tools disagree, and the named protocols that fix all of them.

`contract_statement` puts into words what they amount to for a scorer and its sets.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Literal, get_args

from ..errors import UserError
from ..settings.probing import DEFAULT_PROTOCOL
from ..settings.reading import Plain
from .challenge_set import ChallengeSet

FINAL = "."


@dataclass(frozen=True)
class Rules:
    """What a sentence looks like when it is scored, and what its score is worth."""

    start: Literal["zero", "warm"] = "zero"
    final: bool = True
    capitalize: Literal[True, False, "lower"] = False
    contrast: Literal["sentence", "target", "words"] = "sentence"
    ties: Literal["half", "correct", "wrong", "random"] = "half"
    unknown: Literal["uncovered", "unk", "error"] = "uncovered"
    duplicates: Literal["once", "all"] = "once"
    normalize: Literal["none", "tokens", "characters", "bytes"] = "none"


@dataclass(frozen=True)
class Protocol:
    """The rules of a published tool. `unit` is what is counted: single contrasts, or items whose contrasts must all hold."""

    rules: Rules
    unit: Literal["contrasts", "items"] = "contrasts"
    plus_one: bool = False  # (c + 1) / (n + 1), as the CLAMS program computes it
    scoring: str = ""  # for pretrained models: the tool's score
    options: tuple[str, ...] = ()  # and its rules for targets split into pieces
    item_rule: Literal["all", "first", "each"] = "all"  # for suites that declare none: which predictions count for an item
    excluded: tuple[str, ...] = ()  # suites it leaves out
    nan_is_lowest: bool = False  # a NaN score counts as minus infinity; otherwise it is an error


PROTOCOLS = {
    DEFAULT_PROTOCOL: Protocol(Rules()),
    "clams": Protocol(Rules(ties="correct", unknown="error", duplicates="all"), unit="items", plus_one=True),
    "marvin_linzen": Protocol(Rules(ties="wrong", unknown="unk", duplicates="all")),
    # Goldberg (2019), also used by CLAMS for mBERT: the target is masked; forms that are not one known piece are left out.
    "goldberg": Protocol(Rules(ties="wrong", duplicates="all"), scoring="masked_target", options=("skip_multi_piece",)),
    # Zaczynska et al. (2020): mean cross-entropy of the unmasked sentence; forms with unequal numbers of pieces are left out.
    "gevalm": Protocol(Rules(final=False, ties="correct", duplicates="all"), scoring="sentence_ce", options=("equal_pieces",)),
    # EleutherAI's evaluation harness: `acc` of its BLiMP tasks; on equal scores it picks the first, which is the good one.
    "lm_eval": Protocol(Rules(final=False, ties="correct", unknown="unk", duplicates="all"), scoring="causal"),
    # The BabyLM challenge's evaluation: sums, ties by coin toss.
    "babylm": Protocol(Rules(final=False, ties="random", unknown="unk", duplicates="all"), scoring="causal", nan_is_lowest=True),
    # minicons, whose sequence_score is by default the mean over tokens.
    "minicons": Protocol(Rules(final=False, ties="wrong", unknown="unk", duplicates="all", normalize="tokens"), scoring="causal"),
    # Hu et al. (2020) count an item by its first prediction, on 31 of their 34 suites.
    "hu2020": Protocol(Rules(), item_rule="first", excluded=("fgd-embed3", "fgd-embed4", "nn-nv-rpl")),
    # Pérez-Mayos et al. (2021) average over all suites and read masked models from left to right.
    "perez_mayos": Protocol(Rules(), scoring="left_to_right", item_rule="first"),
}


@dataclass(frozen=True)
class Contract:
    """A protocol and the effective rules, which may have been overridden one by one."""

    protocol: str
    rules: Rules
    seed: int = 0  # of the coin that decides ties, if one does

    @property
    def nan_is_lowest(self) -> bool:
        return PROTOCOLS[self.protocol].nan_is_lowest

    @property
    def unit(self) -> str:
        return PROTOCOLS[self.protocol].unit

    @property
    def plus_one(self) -> bool:
        return PROTOCOLS[self.protocol].plus_one

    @property
    def scoring(self) -> str:
        return PROTOCOLS[self.protocol].scoring

    @property
    def item_rule(self) -> str:
        return PROTOCOLS[self.protocol].item_rule

    @property
    def excluded(self) -> tuple[str, ...]:
        return PROTOCOLS[self.protocol].excluded

    @property
    def options(self) -> tuple[str, ...]:
        return PROTOCOLS[self.protocol].options

    def rules_for(self, made: ChallengeSet) -> Rules:
        """Some sets have rules that apply under every protocol."""
        return replace(self.rules, **made.fixed_rules) if made.fixed_rules else self.rules  # type: ignore[arg-type]

    @property
    def label(self) -> str:
        """The protocol and its overrides: `clams+capitalize`, `default+contrast=target`."""
        own = asdict(PROTOCOLS[self.protocol].rules)
        changed = [(name, value) for name, value in asdict(self.rules).items() if value != own[name]]
        changed += [("seed", self.seed)] if self.seed else []
        return self.protocol + "".join(_changed(name, value) for name, value in changed)

    def plain(self) -> dict[str, object]:
        said = {"protocol": self.protocol, "label": self.label, "rules": asdict(self.rules)}
        return said | ({"seed": self.seed} if self.rules.ties == "random" else {})


def _changed(name: str, value: object) -> str:
    if isinstance(value, bool):
        return f"{'+' if value else '-'}{name}"
    return f"+{name}={value}"


def make_contract(protocol: str, explicit: Mapping[str, Plain], capitals: bool = False, seed: int = 0) -> Contract:
    """The protocol's rules; an explicit one wins, null keeps the protocol's. The seed is for ties by coin toss.

    `capitalize: auto` follows `capitals`, whether sentences in the models' corpus start with a capital; under the rules of a
    published tool, it does what that tool does.
    """
    if protocol not in PROTOCOLS:
        raise UserError(f"probes.protocol={protocol}: no such protocol; available: {', '.join(PROTOCOLS)}")
    asked = {name: value for name, value in explicit.items() if value is not None}
    if asked.get("capitalize") == "auto":
        asked["capitalize"] = capitals if protocol == DEFAULT_PROTOCOL else PROTOCOLS[protocol].rules.capitalize
    types = {field.name: field.type for field in fields(Rules)}
    for name, value in asked.items():
        if name not in types:
            raise UserError(f"probes.rules.{name}: no such rule; available: {', '.join(types)}")
        allowed = (True, False) if types[name] is bool else get_args(types[name])
        if not any(value == each and isinstance(value, bool) == isinstance(each, bool) for each in allowed):
            shown = ", ".join(str(each).lower() for each in allowed)
            more = ", auto" if name == "capitalize" else ""
            raise UserError(f"probes.rules.{name}={value}: must be one of {shown}{more}")
    rules = replace(PROTOCOLS[protocol].rules, **asked)  # type: ignore[arg-type]
    return Contract(protocol, rules, seed if rules.ties == "random" else 0)


def apply_rules(made: ChallengeSet, rules: Rules) -> tuple[ChallengeSet, int]:
    """The set with the rules applied, and how many exact duplicates were left out."""
    kept = _distinct(made) if rules.duplicates == "once" else list(range(len(made)))
    ruled = made.subset(kept)
    ruled.originals = ruled.sentences
    ruled.sentences = [_looked(s, rules, text is not None) for s, text in zip(ruled.sentences, ruled.texts, strict=True)]
    ruled.texts = [text if text is None else _looked(text, rules, raw=True) for text in ruled.texts]
    return ruled, len(made) - len(kept)


def _distinct(made: ChallengeSet) -> list[int]:
    seen: dict[tuple[str, ...], int] = {}
    for index in range(len(made)):
        seen.setdefault(tuple(made.sentences[made.firsts[index] : made.firsts[index + 1]]), index)
    return list(seen.values())


def _looked(sentence: str, rules: Rules, raw: bool) -> str:
    """Spans count words from the left: neither a capital nor a full stop moves them. Raw text has its own full stop."""
    if rules.capitalize is True:
        sentence = sentence[:1].upper() + sentence[1:]
    elif rules.capitalize == "lower":
        at = next((place for place, letter in enumerate(sentence) if letter.isalpha()), 0)  # ¿Qué
        sentence = sentence[:at] + sentence[at : at + 1].lower() + sentence[at + 1 :]
    if rules.final and not raw and not sentence.endswith((".", "!", "?")):
        sentence = f"{sentence} {FINAL}"
    return sentence
