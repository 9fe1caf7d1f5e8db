"""Models that can be evaluated: our checkpoints, models from the hub, functions. A scorer with a name and known facts."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.corpus import begins_with_capital
from ..data.tokens import rule_for
from ..data.vocabulary import Tokenizer
from ..errors import UserError
from ..files import checksum
from ..lm.checkpoints import load_model, read_checkpoint
from ..lm.model import LanguageModel
from ..own_code import import_allowed
from ..places import cache_folder
from ..settings.corpus_settings import BUILT_IN
from ..settings.languages import Clitics, Language, read_language
from ..settings.probing import ProbeSettings
from ..settings.reading import Plain, read
from ..settings.run import RunSettings, read_run_settings, settings_hash
from ..settings.training_settings import PretrainedSettings, ScoreFileSettings
from .contract import Contract
from .lexicon.known_words import KnownWords, words_of_facts
from .probe import Probe
from .probe_preparation import scorer_maker
from .scorers import ProbeSentence, Scorer
from .scorers.from_file import FileScorer
from .scorers.function import FunctionScorer, WordScoring
from .scorers.score_file import read_score_file, score_files
from .word_surprisal import SentenceSurprisal, Words, measure_surprisal, no_pieces

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Model:
    """A model that can be evaluated. `languages`: those it was trained on, by code; `vocabulary`: what it predicts, if known.

    `digest` covers everything that determines its numbers.
    """

    name: str
    scorer: Scorer
    digest: str
    languages: Mapping[str, Language]
    clitics: Mapping[str, Clitics]  # how its corpus wrote the clitics of each language
    words_seen: int = 0
    step: int = 0  # of its training, if one of our checkpoints records it
    capitals: Mapping[str, bool] = field(default_factory=dict)  # how its sentences start, see `Corpus`
    network: LanguageModel | None = None  # of a checkpoint of ours
    vocabulary: Tokenizer | None = None
    words: KnownWords | None = None  # of a checkpoint of ours, for sets to be fitted to
    training: RunSettings | None = None
    options: Mapping[str, Plain] | None = None  # of a pretrained model
    tokenizer: "PreTrainedTokenizerBase | None" = field(default=None, repr=False)
    pieces_digest: str = ""  # of a pretrained model's tokenizer; its own digest also covers the weights

    @property
    def built_in(self) -> bool | None:
        """Whether it was trained on the built-in corpus; None: not known."""
        return None if self.training is None else self.training.data.name == BUILT_IN

    def identity(self) -> dict[str, object]:
        """Which model a result comes from."""
        known = {"model": self.name, "words_seen": self.words_seen, "vocabulary": self.digest, "options": self.options}
        if self.training is not None:
            return known | {"settings": settings_hash(self.training.settings_and_beginning())}
        return known | {"scoring": self.scorer.name} | ({"tokenizer": self.pieces_digest} if self.pieces_digest else {})

    def score(self, sentences: Sequence[str]) -> list[NDArray[np.float32]]:
        """The log-probability (nats) of each word of each sentence; words are separated by spaces, `der Gast wartet .`"""
        scores = self.scorer.score([ProbeSentence(" ".join(sentence.split())) for sentence in sentences])
        scores.require_finite()
        return [scores[number] for number in range(len(sentences))]

    def surprisal(self, text: str, language: Language | str | None = None) -> SentenceSurprisal:
        """Every word of a sentence with its bits and pieces. Raw text is fine: it is split into words by its language's rules.

        `language` is required for a multilingual model.
        """
        return self.surprisals([text], language)[0]

    def surprisals(self, texts: Sequence[str], language: Language | str | None = None) -> list[SentenceSurprisal]:
        """The same for many sentences at once: shared beginnings are read once."""
        sentences = [self.cut(text, language) for text in texts]
        for text, words in zip(texts, sentences, strict=True):
            if not words:
                raise UserError(f"{text!r}: contains no words; write a sentence")
        return measure_surprisal(self.scorer, sentences, self.pieces)

    def cut(self, text: str, language: Language | str | None = None) -> list[str]:
        """Split a sentence into words, like raw text of its language for training; at spaces, if the language is unknown."""
        language = read_language(language) if isinstance(language, str) else language
        if language is None and len(self.languages) > 1:
            codes = list(self.languages)
            raise UserError(
                f"{self.name} knows {', '.join(codes)}; say which one the sentence is in, for instance lang={codes[0]}"
            )
        language = language or next(iter(self.languages.values()), None)
        if language is None:
            return text.split()
        return rule_for(language, self.training.tokenizer.rules if self.training else None)(text)

    def pieces(self, words: Words) -> list[tuple[str, ...]]:
        """What the model reads each word as."""
        if self.vocabulary is not None:
            vocabulary = self.vocabulary
            return [tuple(vocabulary.words[number] for number in vocabulary.encode_word(word)) for word in words]
        if self.tokenizer is None:
            return no_pieces(words)
        from .scorers.pretrained.word_pieces import tokenise  # noqa: PLC0415 - transformers

        spacing: Any = (self.options or {}).get("spacing", "written")
        read = tokenise(self.tokenizer, [ProbeSentence(" ".join(words))], spacing, marks=False)[0]
        shown = self.tokenizer.convert_ids_to_tokens(read.ids.tolist())
        return [tuple(shown[place] for place in read.of(number, number + 1)) for number in range(len(words))]


def wrap_function(
    function: WordScoring, name: str, language: Language | None = None, vocabulary: Collection[str] | None = None
) -> Model:
    """Any function from sentences to their words' log-probabilities, as a model."""
    known = {language.code: language} if language else {}
    scorer = FunctionScorer(name, function, None if vocabulary is None else frozenset(vocabulary))
    return Model(name, scorer, digest=f"function {name}", languages=known, clitics=dict.fromkeys(known, "split"))


def load_function(name: str, allow: Sequence[str], language: Language) -> Model:
    """A user's function by its dotted name, if allowed; its `vocabulary`, if it has one, lists the words it knows."""
    module_name, _, attribute = name.rpartition(".")
    if not module_name or not all(part.isidentifier() for part in name.split(".")):
        raise UserError(f"scorer={name}: must be the dotted name of a function, for instance mypackage.score")
    function = getattr(import_allowed(module_name, allow, f"scorer={name}:"), attribute, None)
    if function is None:
        raise UserError(f"scorer={name}: no {attribute} in {module_name}")
    if not callable(function) or isinstance(function, type):
        raise UserError(
            f"scorer={name}: not a function; it must take sentences and return the log-probability of each of their words"
        )
    return wrap_function(function, name, language, getattr(function, "vocabulary", None))


def load_checkpoints(paths: Sequence[str], device: str, warm_start: bool, allow: Sequence[str] = ()) -> list[Model]:
    """Checkpoints by words seen: files, or all in a run folder."""
    check_device(device)
    files = [file for path in paths for file in checkpoint_files(Path(path))]
    names = {file.resolve(): checkpoint_model_name(file) for file in files}
    if twice := [name for name, times in Counter(names.values()).items() if times > 1]:
        raise UserError(f"ckpt_path: two models are called {twice[0]}; evaluate them one by one, each with its own out=")
    return sorted((load_checkpoint(file, device, warm_start, allow) for file in files), key=lambda model: model.words_seen)


def checkpoint_model_name(file: Path) -> str:
    """`de-lstm-…/best`: its run and itself."""
    run = file.parent.parent.name if file.parent.name == "checkpoints" else file.parent.name
    return f"{run}/{file.stem}"


def checkpoint_files(path: Path) -> list[Path]:
    """The file itself, or those in a run folder."""
    if not path.exists():
        raise UserError(f"{path}: no such checkpoint")
    if path.is_file():
        return [path]
    files = sorted(path.glob("checkpoints/*.ckpt")) or sorted(path.glob("*.ckpt"))
    if not files:
        raise UserError(f"ckpt_path={path}: no checkpoint in this folder; give a file or a run folder")
    return files


def checkpoint_languages(paths: Sequence[str]) -> dict[str, Clitics]:
    """The languages that the first of these checkpoints knows, and how its corpus wrote each one's clitics."""
    facts = read_checkpoint(checkpoint_files(Path(paths[0]))[0])["concord"]
    return {code: about.get("clitics", facts["clitics"]) for code, about in facts["languages"].items()}


def checkpoint_capitals(paths: Sequence[str], languages: Sequence[str], probes: ProbeSettings) -> dict[str, bool]:
    """For each language, whether the sentences these checkpoints were trained on start with a capital; False if unknown.

    If they differ, one of them would be tested on what it has never seen, so `capitalize: auto` has no answer.
    """
    if probes.rules.get("capitalize") != "auto":
        return {}
    each = [read_checkpoint(checkpoint_files(Path(path))[0])["concord"].get("capitals", {}) for path in paths]
    found: dict[str, bool] = {}
    for code in languages:
        known = {begins_with_capital(capitals, code) for capitals in each}
        if len(known) > 1:
            raise UserError(
                "ckpt_path: the corpora of these models start their sentences differently; set probes.rules.capitalize=true or "
                "false, or evaluate them separately"
            )
        found[code] = known.pop()
    return found


def of_built_in_corpus(paths: Sequence[str]) -> bool:
    """Whether any of these checkpoints was trained only on sentences of our grammars: the words all of them know."""
    firsts = (read_checkpoint(checkpoint_files(Path(path))[0])["concord"] for path in paths)
    return any(read_run_settings(facts["settings"]).data.name == BUILT_IN for facts in firsts)


def check_device(device: str) -> None:
    """Check before anything is loaded that this machine has it."""
    if device not in ("cpu", "mps") and not device.startswith("cuda"):
        raise UserError(f"device={device}: must be cpu, cuda (cuda:1 for the second GPU) or mps")
    if device != "cpu" and not (torch.backends.mps if device == "mps" else torch.cuda).is_available():
        raise UserError(f"device={device}: not available here; leave it out, or use device=cpu")


def load_checkpoint(file: Path, device: str = "cpu", warm_start: bool = False, allow: Sequence[str] = ()) -> Model:
    """One of our checkpoints as a model. `warm_start`: after some sentences of its corpus; `allow`: user packages that its
    network may come from.
    """
    saved = read_checkpoint(file)
    network, vocabulary, facts = load_model(file, allow)
    if warm_start and "warm" not in facts:
        raise UserError(
            f"{file}: probes.rules.start=warm: this checkpoint has no sentences of its corpus to warm up on; use zero"
        )
    network.to(device)
    languages = dict(facts["languages"])
    known = ("code", "name", "direction", "tokens", "replace")
    return Model(
        name=checkpoint_model_name(file),
        scorer=scorer_maker(file.stem, vocabulary, facts.get("warm", []))(network, "warm" if warm_start else "zero"),
        digest=vocabulary.digest(),
        languages={
            code: read(Language, {key: about[key] for key in known if key in about}, "lang") for code, about in languages.items()
        },
        clitics={code: about.get("clitics", facts["clitics"]) for code, about in languages.items()},
        words_seen=saved["training"]["words_seen"],
        step=int(saved.get("global_step", 0)),
        capitals=facts.get("capitals", {}),
        network=network,
        vocabulary=vocabulary,
        words=words_of_facts(str(file), facts),
        training=read_run_settings(facts["settings"]),
    )


def load_scores(settings: ScoreFileSettings, language: Language, probes: Sequence[Probe]) -> Model:
    """A score file as a model; it may identify items by uid and role."""
    path = Path(str(settings.path))
    base = None if settings.base is None else str(settings.base)
    file = read_score_file(path, settings.column, settings.values, base)
    items: dict[tuple[str, str], str] = {}
    if any(any(text.key) for text in file.texts):
        for made in (made for probe in probes for made in probe.sets):
            for index in range(len(made)):
                for i in range(made.firsts[index], made.firsts[index + 1]):
                    items[made.uid(index), made.roles[i]] = made.sentences[i]
    return Model(
        name=settings.name or path.stem,
        scorer=FileScorer(path, file, items),
        digest=" ".join(["scores", *map(checksum, score_files(path))]),
        languages={language.code: language},
        clitics={language.code: "joined"},
    )


def must_be_comparable(models: Sequence[Model], language_given: bool) -> None:
    """Several checkpoints can be shown side by side only if all can be tested on the same sentences."""
    if len({tuple(sorted({*model.clitics.values()})) for model in models}) > 1:
        raise UserError(
            "ckpt_path: these models were trained on clitics written differently (split and joined); evaluate them separately"
        )
    known = {model.name: "+".join(model.languages) for model in models}
    if len({*known.values()}) > 1 and not language_given:
        told = ", ".join(f"{name} ({languages})" for name, languages in known.items())
        raise UserError(f"ckpt_path: these models know different languages: {told}; evaluate them separately, or set lang=")


def load_pretrained(
    settings: PretrainedSettings, contract: Contract, scoring: Sequence[str] | None, language: Language
) -> list[Model]:
    """A model from the hub or a folder, once per requested score; wrong score names are found first."""
    from .scorers import pretrained as hf  # noqa: PLC0415 - transformers

    asked = list(scoring or ([contract.scoring] if contract.scoring else []))
    hf.check_names(asked)
    ruled = {name: getattr(settings, name) or name in contract.options for name in ("skip_multi_piece", "equal_pieces")}
    options = hf.Options(settings.start, **ruled, spacing=settings.spacing, tokens=settings.tokens)
    chosen = (settings.revision, settings.kind, settings.safetensors, settings.device, settings.trust_remote_code)
    loaded = hf.load((settings.name or ("",))[0], *chosen)
    told: dict[str, Plain] = {"revision": settings.revision} if settings.revision else {}
    told |= {"trust_remote_code": True, "code": list(loaded.code)} if settings.trust_remote_code else {}
    return [
        Model(
            name=f"{Path(loaded.name).name}/{each.name}",
            scorer=each,
            digest=loaded.digest,
            languages={language.code: language},
            clitics={language.code: "joined"},
            options=asdict(options) | told,
            tokenizer=loaded.tokenizer,
            pieces_digest=hf.tokenizer_digest(loaded.tokenizer),
        )
        for each in (hf.scorer(name, loaded, options, cache_folder("scores")) for name in asked or [hf.default_scoring(loaded)])
    ]
