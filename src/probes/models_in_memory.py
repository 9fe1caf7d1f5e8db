"""What a training program has in memory, as a model: our models, transformers models, torch modules, functions."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from torch import nn

from ..data.vocabulary import EOS, UNK, Tokenizer
from ..errors import UserError
from ..lm.model import LanguageModel
from ..settings.languages import Clitics, Language
from .models import Model, wrap_function
from .probe_preparation import scorer_maker
from .scorers import Scorer
from .scorers.logits import LogitsScorer, left_to_right, read_words

# Common names for the mark before a sentence and for the unknown word.
STARTS = ("<bos>", "<s>", "[BOS]", "[CLS]", EOS, "</s>", "<|endoftext|>", "[EOS]")
UNKNOWN = (UNK, "[UNK]", "<UNK>", "UNK")
NOTHING = "none"
NEVER = -1  # the number of a word that no vocabulary has


class WordNumbers:
    """A vocabulary in plain values: words with their numbers. An unknown word is `<unk>`, if there is one."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = dict(numbers)
        self.unk = next((self.numbers[name] for name in UNKNOWN if name in self.numbers), NEVER)
        self.marks = {self.numbers[name] for name in STARTS if name in self.numbers}

    def encode_word(self, word: str) -> list[int]:
        return [self.numbers.get(word, self.unk)]

    def digest(self) -> str:
        listed = "\n".join(f"{number} {word}" for word, number in sorted(self.numbers.items(), key=lambda pair: pair[1]))
        return hashlib.blake2b(listed.encode(), digest_size=8).hexdigest()

    def start(self, asked: str | None) -> int | None:
        """The number of the mark before the first word."""
        if asked == NOTHING:
            return None
        names = STARTS if asked in (None, "bos", "eos") else (str(asked),)
        found = next((self.numbers[name] for name in names if name in self.numbers), None)
        if found is None:
            told = f"start={asked!r} is not in the vocabulary" if asked else f"none of {', '.join(STARTS)} is in the vocabulary"
            raise UserError(f'{told}; say what precedes the first word: start="<eos>", or start="none"')
        return found


def wrap_model(
    model: object,
    tokenizer: object = None,
    language: Language | None = None,
    *,
    scoring: str | None = None,
    start: str | None = None,
    kind: Literal["masked", "causal"] | None = None,
    name: str | None = None,
) -> Model:
    """Wrap the model in memory without copying it, so that every probe sees its current weights.

    With a module, `tokenizer` is a fast tokenizer, one of our vocabularies, or words with their numbers; with a function,
    which gives each word of sentences a log-probability, it is the words the function knows, or nothing.
    """
    if isinstance(model, Model):
        return model
    if isinstance(model, nn.Module):
        return _wrap_module(model, tokenizer, language, scoring, start, kind, name or type(model).__name__)
    if not callable(model):
        raise UserError(f"not a model: {model!r:.60}; give a torch module, a transformers model, or a function")
    known = tokenizer if tokenizer is None or isinstance(tokenizer, Collection) else None
    return wrap_function(model, name or str(getattr(model, "__name__", "function")), language, known)


def _wrap_module(
    model: nn.Module,
    tokenizer: Any,
    language: Language | None,
    scoring: str | None,
    start: str | None,
    kind: Literal["masked", "causal"] | None,
    name: str,
) -> Model:
    if tokenizer is None:
        raise UserError(f"{name}: a torch module needs its tokenizer or vocabulary; without one, give a function")
    known = {language.code: language} if language else {}
    clitics: Clitics = "split" if _is_plain(tokenizer) or hasattr(tokenizer, "encode_word") else "joined"
    scorer: Scorer
    options = pieces = None
    if isinstance(model, LanguageModel):
        if not hasattr(tokenizer, "encode_word"):
            raise UserError(f"{name}: a Concord model needs the vocabulary it was built for")
        scorer, digest = scorer_maker(name, tokenizer, [])(model, "zero"), tokenizer.digest()
    elif _is_plain(tokenizer) or hasattr(tokenizer, "encode_word"):
        scorer, digest = _module_of_words(model, tokenizer, start, name)
    else:
        from .scorers.pretrained import Options, tokenizer_digest  # noqa: PLC0415 - transformers
        from .scorers.pretrained import in_memory as hf  # noqa: PLC0415

        pieces = hf.fast_tokenizer(tokenizer)
        digest = tokenizer_digest(pieces)
        if hasattr(model, "base_model") and hasattr(model, "config"):
            chosen = Options(start=start or "bos")
            scorer, options = hf.InMemoryScorer(hf.wrap(model, pieces, kind), scoring, chosen), {"start": chosen.start}
        else:
            scorer = hf.wrap_module(name, model, pieces, start or "bos")
    return Model(name, scorer, digest, known, dict.fromkeys(known, clitics), options=options, tokenizer=pieces)


def _is_plain(tokenizer: object) -> bool:
    return isinstance(tokenizer, Mapping) or (isinstance(tokenizer, Sequence) and not isinstance(tokenizer, str))


def _module_of_words(model: nn.Module, tokenizer: Any, start: str | None, name: str) -> tuple[LogitsScorer, str]:
    if _is_plain(tokenizer):
        listed = tokenizer if isinstance(tokenizer, Mapping) else {word: number for number, word in enumerate(tokenizer)}
        words = WordNumbers(listed)
        first, told, unknown = words.start(start), {number: word for word, number in listed.items()}, words.unk
        reading = left_to_right("" if first is None else told[first], told.get(unknown, ""), pieces=False)
        return LogitsScorer(name, model, read_words(words), first, reading), words.digest()
    ours: Tokenizer = tokenizer
    first = None if start == NOTHING else ours.eos if start in (None, "bos", "eos") else ours.encode_word(start)[0]
    opening = "" if first is None else ours.words[first]
    reading = left_to_right(opening, ours.words[ours.unk], pieces=ours.begins() is not None)
    return LogitsScorer(name, model, read_words(ours), first, reading), ours.digest()
