"""The outcomes of many faults of one kind."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    name: str
    told: int = 0
    harmless: int = 0
    seconds: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def fail(self, why: str) -> None:
        self.failures[why] += 1

    @property
    def failed(self) -> int:
        return self.failures.total()

    @property
    def tried(self) -> int:
        return (
            self.told + self.harmless + sum(n for why, n in self.failures.items() if not why.startswith(("several", "read as")))
        )

    def __str__(self) -> str:
        counted = f"tried {self.tried:6,}  told {self.told:6,}  harmless {self.harmless:6,}  failed {self.failed:5,}"
        shown = f"{self.name:34} {counted}  {self.seconds:6.1f} s"
        kinds = Counter(why.partition(" (/")[0] for why in self.failures.elements())
        examples = {why.partition(" (/")[0]: why for why in self.failures}
        return "\n".join([shown, *(f"    {n:5,} × {examples[kind]}" for kind, n in kinds.most_common(5))])
