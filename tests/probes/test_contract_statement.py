"""The statement of the contract says what was really read, masked, scored and compared, token by token."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from concord.data.vocabulary import Vocabulary
from concord.lm.model import Architecture, initialise_model
from concord.probes.challenge_set import TARGET, ChallengeSet, Span, Variant
from concord.probes.collection import CollectedSet
from concord.probes.contract import apply_rules, make_contract
from concord.probes.contract_statement import contract_statement, join_statements
from concord.probes.contrast import pair_contrast
from concord.probes.evaluation import check_starts
from concord.probes.models import Model
from concord.probes.pairs import pair
from concord.probes.probe import Probe, build_probe
from concord.probes.scorers import ProbeSentence, Reading
from concord.probes.scorers.function import FunctionScorer
from concord.probes.scorers.incremental import IncrementalScorer
from concord.probes.scorers.pretrained import Options, load, scorer
from concord.probes.scorers.pretrained.masked import RULES
from pretrained_models import save
from training_runs import NETWORKS

SUBJECTS = {"the author": "s", "the pilot near the teachers": "s", "the authors": "p", "the author that the guards like": "s"}
VERBS = {"s": ("laughs", "laugh"), "p": ("laugh", "laughs")}
REST = ("", " and swims", " , and the senator is old")
WORDS = ["<eos>", "<unk>", ".", "the", "The", "author", "laughs", "laugh", "pilot", "near", "teachers", "and", "swims"]


class Asked(NamedTuple):
    """One piece that was scored: what the model was shown, where the piece stands, and which it is."""

    shown: tuple[int, ...]
    place: int
    piece: int


def make_set(name: str, kind: str, rng: random.Random) -> ChallengeSet:
    """As sources have them: words (`plain`), raw text, some with a final mark, contrasts of the target alone, or a formula."""
    made = ChallengeSet(name, "en", "own", "mine.tsv")
    if kind == "target":
        made.contrasts = (pair_contrast("target", "good", "bad", TARGET),)
    for number in range(rng.randrange(2, 5)):
        subject = rng.choice(list(SUBJECTS))
        rest = rng.choice(REST)
        sentences = [f"{subject} {form}{rest}" for form in VERBS[SUBJECTS[subject]]]
        raw = [None, None]
        if kind == "raw":
            raw = [sentence.replace(" ,", ",") + "." for sentence in sentences]
            sentences = [f"{sentence} ." for sentence in sentences]
        if kind == "mixed" and number % 2:
            sentences = [f"{sentence} !" for sentence in sentences]
        words = [tuple(sentence.split()) for sentence in sentences]
        made.add(number + 1, {}, pair(words[0], words[1], (raw[0], raw[1])))
    return made


def probe_of(*sets: ChallengeSet, protocol: str = "default", **rules: Any) -> Probe:
    agreed = make_contract(protocol, rules)
    collected = [CollectedSet(apply_rules(made, agreed.rules_for(made))[0], "own", len(made), 0, "", agreed) for made in sets]
    return build_probe("own", "en", collected)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("models")
    return {family: load(str(save(family, folder / family))) for family in ("bert", "xlm-roberta", "gpt2", "llama")}


def watch(made: Any, sentence: ProbeSentence) -> list[Asked]:
    """Every question that a pretrained model is asked for one sentence."""
    found: list[Asked] = []
    if hasattr(made, "shares"):
        made.shares = False  # one by one, so that what is shown is a plain row

    def forward(inputs: dict[str, torch.Tensor], places: torch.Tensor, asked: torch.Tensor, pieces: torch.Tensor) -> Any:
        length = inputs["input_ids"].shape[1]
        for number, piece in zip(asked.tolist(), pieces.tolist(), strict=True):
            row, place = divmod(int(places[number]), length)
            seen = int(inputs["attention_mask"][row].sum())
            found.append(Asked(tuple(inputs["input_ids"][row, :seen].tolist()), place, piece))
        return np.zeros(len(asked), np.float32)

    forward.pad = made.forward.pad  # type: ignore[attr-defined]
    kept, made.forward = made.forward, forward
    made.score([sentence])
    made.forward = kept
    return found


def names(model: Any, ids: Sequence[int]) -> list[str]:
    return model.tokenizer.convert_ids_to_tokens(list(ids))


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
@pytest.mark.parametrize("scoring", [*RULES, "sentence_ce"])
@pytest.mark.parametrize("kind", ["plain", "raw", "mixed", "target"])
def test_what_is_said_of_a_masked_model_is_what_it_was_asked(models, family, scoring, kind):
    model, rng = models[family], random.Random(f"{family}{scoring}{kind}")
    made = scorer(scoring, model, Options())
    mask, marks = model.tokenizer.mask_token, [model.tokenizer.cls_token or "<s>", model.tokenizer.sep_token or "</s>"]
    for _ in range(3):
        rules = {"final": rng.random() < 0.7, "capitalize": rng.random() < 0.5, "contrast": rng.choice(["sentence", "target"])}
        source = make_set("x", kind, rng)
        probe = probe_of(source, **rules)
        said = contract_statement(probe, made.reading)
        check_sentences(probe, source, said)
        for sentence in probe.sentences:
            asked = watch(made, sentence)
            shown = [names(model, each.shown) for each in asked]
            pieces = [each.place for each in asked]
            length = len(shown[0])
            # The marks at both ends, by name; left_to_right hides the closing one.
            assert {row[0] for row in shown} <= {marks[0], mask}
            assert f"between {marks[0]} and {marks[1]}" in said
            hidden = [[place for place, name in enumerate(row) if name == mask] for row in shown]
            assert_hidden(scoring, said, hidden, pieces, length, marks)
            scored_marks = {place for place in pieces if place in (0, length - 1)}
            assert (f"{marks[0]} and {marks[1]} included," in said) == bool(scored_marks)
            # Whether the full stop is scored.
            last = length - 2
            full = names(model, [asked[pieces.index(last)].piece]) if last in pieces else []
            stop_scored = bool(full) and full[0].strip("▁") == "."
            if 'closed by " ."' in said and "where the source has no" not in said:
                assert ("which is scored" in said) == (stop_scored and compared_to_end(probe, sentence))
            if scoring == "masked_target":
                assert "the masked words alone decide" in said
                target = set(sentence.words.split()[slice(*sentence.target)])
                assert "".join(names(model, [each.piece for each in asked])).replace("##", "").strip("▁") in "".join(target)


def assert_hidden(scoring: str, said: str, hidden: list[list[int]], pieces: list[int], length: int, marks: Sequence[str]) -> None:
    everything = [list(range(place, length)) for place in pieces]
    without_end = [list(range(place, length - 1)) for place in pieces]
    told = {
        "nothing is masked": hidden == [[] for _ in pieces],
        "each piece is masked and scored given all others": hidden == [[place] for place in pieces],
        f"everything to its right, {marks[1]} included, are masked": hidden == everything,
        f"everything to its right except {marks[1]} are masked": hidden == without_end,
    }
    for words, true in told.items():
        if words in said:
            assert true, (scoring, words, hidden, pieces)
    if "in its word are masked" in said:
        assert all(own[0] == place and own == list(range(place, own[-1] + 1)) for own, place in zip(hidden, pieces, strict=True))
    if "all pieces of its word are masked" in said:
        assert all(place in own for own, place in zip(hidden, pieces, strict=True))
    if "nothing else is scored" in said:
        assert all(own == [p for p in pieces if p >= place] for own, place in zip(hidden, pieces, strict=True))


def compared_to_end(probe: Probe, sentence: ProbeSentence) -> bool:
    number, terms = probe.sentences.index(sentence), probe.contrasts.terms
    return bool((terms.end[terms.sentence == number] == len(sentence.words.split())).any())


def check_sentences(probe: Probe, source: ChallengeSet, said: str) -> None:
    """What the statement says of the words themselves, against the source and what was handed to the scorer."""
    asked = [sentence.words for sentence in probe.sentences]
    before = {sentence.lower() for sentence in source.sentences}
    ours = [words.endswith(" .") and words.lower().removesuffix(" .") in before for words in asked]
    stop = " ." if probe.contract.rules.final else ""
    raw = source.texts[0] is not None
    ruled = {each if raw or each.endswith("!") else each + stop for each in before}
    entire_sentences = all(words.lower() in ruled for words in asked)
    assert ("read up to the last word that is compared" in said) == (not entire_sentences)
    assert ('closed by " ."' in said) == any(ours)
    if any(ours):
        assert ("where the source has no final mark" in said) == (not all(ours))
    capitals = any(words[0].isupper() for words in asked)
    assert ("first word with a capital" in said) == capitals
    assert ("first word as in the source" in said) == (not capitals)
    terms, lengths = probe.contrasts.terms, [len(words.split()) for words in asked]
    entire = all(start == 0 and end == lengths[s] for s, start, end in zip(terms.sentence, terms.start, terms.end, strict=True))
    assert ("the whole sentence decides" in said) <= entire
    differing = {(s, start, end) for s, start, end in zip(terms.sentence, terms.start, terms.end, strict=True)} == {
        (number, *sentence.target) for number, sentence in enumerate(probe.sentences)
    }
    assert ("the words that differ decide" in said) <= differing


@pytest.mark.parametrize(("family", "start"), [("gpt2", "bos"), ("gpt2", "eos"), ("gpt2", "none"), ("llama", "bos")])
@pytest.mark.parametrize("kind", ["plain", "raw", "target"])
def test_what_is_said_of_a_causal_model_is_what_it_was_asked(models, family, start, kind):
    model, rng = models[family], random.Random(f"{family}{start}{kind}")
    made = scorer("causal", model, Options(start=start))
    for contrast in ("sentence", "target"):
        source = make_set("x", kind, rng)
        probe = probe_of(source, contrast=contrast, capitalize=rng.random() < 0.5)
        said = contract_statement(probe, made.reading)
        check_sentences(probe, source, said)
        assert "each word is scored given the words before it" in said
        for sentence in probe.sentences:
            asked = watch(made, sentence)
            first = names(model, asked[0].shown)[0]
            opening = {"bos": model.tokenizer.bos_token, "eos": model.tokenizer.eos_token, "none": ""}[start]
            assert (f"each sentence alone, after {first}" in said) == bool(opening)
            assert ("its first piece is given and not scored" in said) == (not opening)
            text = sentence.text or sentence.words
            count = len(model.tokenizer(text, add_special_tokens=False)["input_ids"])
            assert len(asked) == count - (not opening)  # every piece once, and no end
            assert [each.place for each in asked] == list(range(len(asked)))
            assert all(each.piece == each.shown[each.place + 1] for each in asked[:-1])


@pytest.mark.parametrize(("network", "said"), [("lstm", "after <eos> with a zero state;"), ("transformer", "after <eos>;")])
def test_a_zero_state_is_stated_of_recurrent_networks_alone(network, said):
    vocabulary = Vocabulary(WORDS)
    model = initialise_model(Architecture(len(vocabulary), 8, True, 0.0, 0.5, NETWORKS[network]), seed=3)
    probe = probe_of(make_set("x", "plain", random.Random(0)))
    scorer = IncrementalScorer("m", model, vocabulary)
    assert said in contract_statement(probe, scorer.reading)
    check_starts([Model("m", scorer, "", {}, {})], [probe])  # both start as `probes.rules.start=zero` asks


@pytest.mark.parametrize("warm", [False, True])
def test_what_is_said_of_a_model_of_ours_is_what_it_read(warm):
    vocabulary = Vocabulary(WORDS)
    model = initialise_model(Architecture(len(vocabulary), 8, True, 0.0, 0.5, NETWORKS["lstm"]), seed=3)
    read: list[tuple[torch.Tensor, Any]] = []
    with torch.no_grad():
        start = model.read(torch.tensor([[0, 3, 5]]))[1] if warm else None
    original = model.read
    model.read = lambda tokens, state=None: read.append((tokens, state)) or original(tokens, state)  # type: ignore[method-assign]
    made = IncrementalScorer("m", model, vocabulary, start)
    for kind in ("plain", "raw", "mixed", "target"):
        for contrast in ("sentence", "target"):
            source = make_set("x", kind, random.Random(kind + contrast))
            probe = probe_of(source, contrast=contrast)
            said = contract_statement(probe, made.reading)
            check_sentences(probe, source, said)
            forest = made.prepare(probe.sentences)
            read.clear()
            made.logprobs(forest)
            tokens, state = read[0]
            assert vocabulary.words[int(tokens[0, 0])] == "<eos>"
            assert ("after <eos> with a zero state" in said) == (state is None)
            assert ("with the state left by a few sentences of the corpus" in said) == (state is not None)
            spelt = [vocabulary.words[int(token)] for block in forest.blocks for token in block.tree.tokens]
            assert "<eos>" not in spelt[1:]  # no end is predicted
            if not all(sentence.words.endswith((".", "!")) for sentence in probe.sentences):
                assert "read up to the last word" in said
            assert ("a final <eos> is not scored" in said) == ("read up to the last word" not in said)


def test_published_protocols_are_stated_as_they_are(models):
    """BERT under goldberg, raw text, and sets that compare the target: none of them is said to be our LSTM."""
    bert = scorer("masked_target", models["bert"], Options(skip_multi_piece=True))
    plain, raw, target = (make_set(kind, kind, random.Random(kind)) for kind in ("plain", "raw", "target"))
    goldberg = contract_statement(probe_of(plain, protocol="goldberg"), bert.reading)
    assert "between [CLS] and [SEP]" in goldberg
    assert "the masked words alone decide" in goldberg
    assert 'closed by " .", which is read but not scored; [CLS] and [SEP] are not scored' in goldberg
    assert "tested words that are not one piece leave the item uncovered" in goldberg
    for false in ("<eos>", "zero state", "the whole sentence decides", "<unk>"):
        assert false not in goldberg
    ours = Reading(("<eos>",), state="zero")
    assert "closed as in the source" in contract_statement(probe_of(raw), ours)
    assert "the words that differ decide, given the words before them" in contract_statement(probe_of(target), ours)
    several = contract_statement(probe_of(plain, raw, target), ours)
    assert 'closed by " .", which is scored; a final <eos> is not scored (plain)' in several
    assert (
        "the whole sentence decides (plain, raw), the words that differ decide, given the words before them (target)" in several
    )


def test_formulas_several_bad_forms_and_functions_are_stated():
    made = ChallengeSet("four", "en", "own", "mine.tsv", together=True)
    forms = ("laughs", "laugh", "laughed", "laughing")
    spans = (Span(TARGET, 2, 3),)
    variants = [Variant(f"v{i}", i == 0, ("the", "author", form), None, spans) for i, form in enumerate(forms)]
    made.add(1, {}, variants)
    said = contract_statement(probe_of(made), FunctionScorer("mine", lambda texts: []).reading)
    assert "scores are those of the function mine" in said
    assert "the whole sentence decides, and must win all comparisons of an item at once" in said
    assert "elsewhere the scorer handles it" in said
    assert join_statements({"a": "x", "b": "x"}) == "x"
    assert join_statements({"a": "x", "b": "y", "c": "x"}) == "a, c: x | b: y"
