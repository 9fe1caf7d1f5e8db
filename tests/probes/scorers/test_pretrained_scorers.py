"""Every scorer of pretrained models against a slow one that says what it does: one sentence, one mask at a time."""

import io
import itertools
import re

import numpy as np
import pytest
import torch
from concord.probes.challenge_set import ChallengeSet
from concord.probes.collection import CollectedSet
from concord.probes.contract import apply_rules, make_contract
from concord.probes.pairs import pair
from concord.probes.probe import build_probe
from concord.probes.scorers import ProbeSentence
from concord.probes.scorers.pretrained import Options, PretrainedError, load, scorer
from concord.probes.scorers.pretrained.masked import RULES
from concord.probes.verdicts import judge
from pretrained_models import CAUSAL, MASKED, save

SENTENCES = [
    ProbeSentence("the author laughs .", (2, 3), item=0),
    ProbeSentence("the author laugh .", (2, 3), item=0),
    ProbeSentence("the author that the guards like swims .", (6, 7), item=1),
    ProbeSentence("the author that the guards like swim .", (6, 7), item=1),
    ProbeSentence("the authors near the pilots are naïve and old .", (5, 7), item=2),
    ProbeSentence("the authors near the pilots is naïve and old .", (5, 7), item=2),
    ProbeSentence("Élise doesn't laugh .", (1, 3), "Élise doesn't laugh.", item=3),
    ProbeSentence("Élise don't laugh .", (1, 3), "Élise don't laugh.", item=3),
    ProbeSentence("the author laughs .", (2, 3), item=4),  # once more
    ProbeSentence("laughs", (0, 1), item=5),
]


def read(model, sentence, marks=True):
    """Pieces, the word of each (None for marks), and the unit that Kauf and Ivanova call a word."""
    text = sentence.text or sentence.words
    encoding = model.tokenizer(text, add_special_tokens=marks).encodings[0]
    words, position = [], 0
    spans = []
    for word in sentence.words.split(" "):
        position = text.index(word, position)
        spans.append((position, position + len(word)))
        position += len(word)
    for special, (start, end) in zip(encoding.special_tokens_mask, encoding.offsets, strict=True):
        inside = [w for w, (first, last) in enumerate(spans) if max(start, first) < min(end, last)]
        following = [w for w, (first, _) in enumerate(spans) if first >= start]
        words.append(None if special else (inside or following)[0])
    return encoding.ids, words, encoding.word_ids


def logprob(model, ids, place, piece):
    with torch.no_grad():
        return model.model(torch.tensor([ids])).logits[0, place].log_softmax(-1)[piece].item()


def slow_masked(model, sentence, hidden):
    """`hidden(t, u, words, units)`: whether piece u is masked while piece t is scored; None: t is not scored."""
    ids, words, units = read(model, sentence)
    scores = np.zeros(len(sentence.words.split(" ")))
    for t, word in enumerate(words):
        if word is not None and hidden(t, t, words, units):
            masked = [model.tokenizer.mask_token_id if hidden(t, u, words, units) else i for u, i in enumerate(ids)]
            scores[word] += logprob(model, masked, t, ids[t])
    return scores


def rule(scoring, sentence):
    start, end = sentence.target
    return {
        "masked_target": lambda t, u, words, units: words[t] in range(start, end) and words[u] in range(start, end) and u >= t,
        "pll": lambda t, u, words, units: u == t,
        "pll_word_l2r": lambda t, u, words, units: units[u] == units[t] and u >= t,
        "pll_whole_word": lambda t, u, words, units: units[u] == units[t],
        "left_to_right": lambda t, u, words, units: u >= t,
        "left_to_right_end_kept": lambda t, u, words, units: words[u] is not None and u >= t,
    }[scoring]


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize("scoring", RULES)
def test_a_masked_scorer_gives_what_one_mask_at_a_time_gives(pretrained, family, scoring):
    model = pretrained(family)
    scores = scorer(scoring, model, Options(tokens=64)).score(SENTENCES)
    for number, sentence in enumerate(SENTENCES):
        expected = slow_masked(model, sentence, rule(scoring, sentence))
        np.testing.assert_allclose(scores[number], expected, atol=1e-4, rtol=0)
    assert np.ptp(scores.logprobs) > 1  # the models are random, not constant


@pytest.mark.parametrize("family", MASKED)
def test_left_to_right_hides_where_the_sentence_ends(pretrained, family):
    inputs = {name: inputs_read(scorer(name, pretrained(family)), SENTENCES[0]) for name in RULES if name.startswith("left")}
    closing = read(pretrained(family), SENTENCES[0])[0][-1]
    assert {ids[-1] for ids in inputs["left_to_right"]} == {pretrained(family).tokenizer.mask_token_id}
    assert {ids[-1] for ids in inputs["left_to_right_end_kept"]} == {closing}


def inputs_read(made, sentence):
    """What the model's body reads for one sentence."""
    found = []
    forward = type(made.forward).__call__

    class Watching(type(made.forward)):
        def __call__(self, inputs, *rest):
            found.extend(zip(inputs["input_ids"].tolist(), inputs["attention_mask"].tolist(), strict=True))
            return forward(self, inputs, *rest)

    made.forward.__class__ = Watching
    made.score([sentence])
    return [[i for i, seen in zip(ids, mask, strict=True) if seen] for ids, mask in found]


@pytest.mark.parametrize(("scoring", "first_seen"), [("pll_word_l2r", True), ("pll_whole_word", False)])
def test_the_tokenizers_words_are_hidden_together_though_ours_end_inside_them(tmp_path, scoring, first_seen):
    """`don't` is the words do and n't to us, and do ##n ' t to BERT, for which `don` is one word."""
    model = load(str(save("bert-contraction", tmp_path)))
    sentence = ProbeSentence("the guards do n't laugh .", (2, 4), "the guards don't laugh.")
    names = model.tokenizer.convert_ids_to_tokens
    inputs = [names(ids) for ids in inputs_read(scorer(scoring, model), sentence)]
    assert names(read(model, sentence)[0])[4:8] == ["do", "##n", "'", "t"]
    shown = {tuple(ids[4:8]) for ids in inputs if ids[5] == "[MASK]"}
    assert shown == {("[MASK]", "[MASK]", "'", "t")} | ({("do", "[MASK]", "'", "t")} if first_seen else set())
    assert not [ids for ids in inputs if ids[4] == "[MASK]" and ids[5] == "##n"]


@pytest.mark.parametrize("family", MASKED)
def test_sentence_ce_sums_to_minus_the_mean_cross_entropy_of_the_unmasked_sentence(pretrained, family):
    model = pretrained(family)
    scores = scorer("sentence_ce", model).score(SENTENCES)
    for number, sentence in enumerate(SENTENCES):
        ids = torch.tensor([read(model, sentence)[0]])
        with torch.no_grad():
            published = model.model(ids, labels=ids).loss.item()
        assert scores[number].sum() == pytest.approx(-published, abs=1e-4)


@pytest.mark.parametrize("family", CAUSAL)
@pytest.mark.parametrize("start", ["bos", "eos", "none"])
def test_causal_gives_what_one_piece_at_a_time_gives(pretrained, family, start):
    model = pretrained(family)
    scores = scorer("causal", model, Options(start=start, tokens=9)).score(SENTENCES)  # several small trees
    first = {"bos": [model.tokenizer.bos_token_id], "eos": [model.tokenizer.eos_token_id], "none": []}[start]
    for number, sentence in enumerate(SENTENCES):
        ids, words, _ = read(model, sentence, marks=False)
        expected = np.zeros(len(sentence.words.split(" ")))
        for t, word in enumerate(words):
            if first + ids[:t]:
                expected[word] += logprob(model, first + ids[:t], -1, ids[t])
        np.testing.assert_allclose(scores[number], expected, atol=1e-4, rtol=0)
        assert (scores[number][0] != 0) == (start != "none" or len([w for w in words if w == 0]) > 1)


def test_the_start_may_be_any_token_and_changes_the_scores(pretrained):
    model = pretrained("gpt2")
    by_name, bos, eos = (scorer("causal", model, Options(start=start)) for start in ("<|other|>", "bos", "eos"))
    assert [s.name for s in (by_name, bos, eos)] == ["causal(<|other|>)", "causal(bos)", "causal(eos)"]
    first, second, third = (s.score(SENTENCES).logprobs for s in (by_name, bos, eos))
    assert np.array_equal(first, third)
    assert np.abs(first - second).max() > 0.1


@pytest.mark.parametrize(("family", "shares"), [("gpt2", True), ("llama", True), ("bloom", False)])
def test_each_distinct_beginning_is_computed_once_where_the_model_can(pretrained, family, shares):
    model = pretrained(family)
    made = scorer("causal", model)
    made.score(SENTENCES)
    assert made.shares is shares
    read_pieces = pieces_read(made)
    made.score(SENTENCES)
    sequences = {tuple(read(model, sentence, marks=False)[0]) for sentence in SENTENCES}
    beginnings = {sequence[:t] for sequence in sequences for t in range(len(sequence))}
    assert (sum(read_pieces) == len(beginnings)) == shares


@pytest.mark.parametrize("positions", [40, 400])
def test_a_model_that_looks_back_some_places_only_is_not_read_in_larger_trees(tmp_path, positions):
    model = load(str(save("gpt-neo", tmp_path, positions=positions)))
    nouns, verbs = ("author", "guard", "pilot", "authors", "guards", "pilots"), ("laughs", "laugh", "swims", "swim")
    sentences = [
        ProbeSentence(f"the {one} near the {other} {verb} .", (5, 6))
        for one, other, verb in itertools.product(nouns, nouns, verbs)
    ]
    made = scorer("causal", model, Options(tokens=200))
    made.score(sentences[:2])
    assert made.shares  # so few fit into what it sees
    scores = made.score(sentences)
    assert made.shares is False
    for sentence, found in list(zip(sentences, scores, strict=True))[::17]:
        ids, words, _ = read(model, sentence, marks=False)
        ids = [model.tokenizer.bos_token_id, *ids]
        expected = np.zeros(len(found))
        for place, word in enumerate(words):
            expected[word] += logprob(model, ids[: place + 1], place, ids[place + 1])
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=0)


def pieces_read(made):
    """Counts what the model's body reads from now on."""
    counts = []
    forward = type(made.forward).__call__

    class Counting(type(made.forward)):
        def __call__(self, inputs, *rest):
            counts.append(inputs["input_ids"].numel())
            return forward(self, inputs, *rest)

    made.forward.__class__ = Counting
    return counts


def test_equal_masked_inputs_are_read_once(pretrained):
    made = scorer("masked_target", pretrained("bert"))
    pairs = [
        ProbeSentence(f"the {noun} near the pilots {verb} .", (5, 6))
        for noun in ("author", "guard")
        for verb in ("laughs", "laugh")
    ]
    counts = pieces_read(made)
    scores = made.score(pairs * 50)
    length = len(read(pretrained("bert"), pairs[0])[0])
    assert sum(counts) == 2 * length  # one input for each pair of forms, though there are 200 sentences
    assert np.array_equal(scores[0], scores[196])


@pytest.mark.parametrize("scoring", [*RULES, "sentence_ce"])
def test_batches_change_nothing(pretrained, scoring):
    one, many = (scorer(scoring, pretrained("xlm-roberta"), Options(tokens=n)).score(SENTENCES).logprobs for n in (1, 10_000))
    np.testing.assert_allclose(one, many, atol=1e-4, rtol=0)


def test_a_target_scorer_gives_other_words_zero(pretrained):
    scores = scorer("masked_target", pretrained("bert")).score(SENTENCES)
    for number, sentence in enumerate(SENTENCES):
        outside = np.delete(scores[number], range(*sentence.target))
        assert not outside.any()
        assert scores[number][slice(*sentence.target)].all()


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_the_pieces_of_a_word_are_the_word(pretrained, family):
    from concord.probes.scorers.pretrained.word_pieces import tokenise

    tokenizer = pretrained(family).tokenizer
    for spacing, sentence in itertools.product(("written", "joined"), SENTENCES):
        (pieces,) = tokenise(tokenizer, [sentence], spacing, marks=True)
        for number, word in enumerate(sentence.words.split(" ")):
            ids = pieces.ids[pieces.of(number, number + 1)]
            if not pieces.unknown[number]:
                assert tokenizer.decode(ids).replace(" ", "").replace("##", "") == word


def test_joined_writes_tokens_as_running_text_does():
    from concord.probes.scorers.pretrained.word_pieces import text_of

    tokens = ProbeSentence("l' auteur , qui rit , ( oui ) est là .")
    assert text_of(tokens, "joined") == ("l'auteur, qui rit, (oui) est là.", [2, 8, 9, 13, 17, 18, 20, 23, 24, 28, 31, 32])
    assert text_of(tokens, "written")[0] == tokens.words
    assert text_of(tokens._replace(text="L'auteur, oui."), "written")[0] == "L'auteur, oui."


def test_words_are_found_in_the_text_of_the_source():
    from concord.probes.scorers.pretrained.word_pieces import text_of

    sentence = ProbeSentence("Katherine ca n't help herself .", (4, 5), "Katherine can't  help herself.")
    text, ends = text_of(sentence, "written")
    assert text == sentence.text
    starts = [0, *ends[:-1]]
    assert [text[a:b].strip() for a, b in zip(starts, ends, strict=True)] == sentence.words.split()


def test_unknown_pieces_are_tested_for_explicitly(pretrained):
    sentences = [ProbeSentence("the author laughs 好 .", (3, 4)), ProbeSentence("the author laughs old .", (3, 4))]
    for family in MASKED:
        scores = scorer("masked_target", pretrained(family)).score(sentences)
        assert scores.unknown.tolist() == [False, False, False, True, False, *[False] * 5]
    scores = scorer("causal", pretrained("gpt2")).score(sentences)  # bytes know everything
    assert not scores.unknown.any()


def test_skip_multi_piece_marks_targets_that_are_not_one_piece(pretrained):
    model = pretrained("bert")
    made = scorer("masked_target", model, Options(skip_multi_piece=True))
    scores = made.score(SENTENCES)
    assert made.name == "masked_target+skip_multi_piece"
    for number, sentence in enumerate(SENTENCES):
        marked = scores.unknown[scores.firsts[number] : scores.firsts[number + 1]]
        pieces = [word for word in read(model, sentence)[1] if word in range(*sentence.target)]
        assert marked.any() == (len(pieces) != 1)
        assert not np.delete(marked, range(*sentence.target)).any()
    assert {len([w for w in read(model, s)[1] if w in range(*s.target)]) for s in SENTENCES} > {1}  # both kinds are there
    assert not scorer("masked_target", model).score(SENTENCES).unknown.any()


def test_what_is_left_out_is_uncovered_even_where_unknown_words_are_scored(pretrained):
    """It has no score, and 0 would be the logarithm of certainty."""
    made = ChallengeSet("verbs", "en", "own", "mine.tsv")
    for line, (good, bad) in enumerate([("laughs", "laugh"), ("swims", "swim"), ("好", "laugh")]):
        made.add(line, {}, pair(("the", "author", good, "."), ("the", "author", bad, ".")))
    scorers = {skip: scorer("masked_target", pretrained("bert"), Options(skip_multi_piece=skip)) for skip in (False, True)}
    for rule, expected in {"uncovered": ([1, 1, 0], [1, 0, 0]), "unk": ([1, 1, 1], [1, 0, 1])}.items():
        agreed = make_contract("default", {"unknown": rule})
        probe = build_probe("own", "en", [CollectedSet(apply_rules(made, agreed.rules)[0], "own", 3, 0, "", agreed)])
        for skip, covered in zip((False, True), expected, strict=True):
            found = judge(probe, scorers[skip].score(probe.sentences))
            assert found.covered.astype(int).tolist() == covered
            assert (found.clauses.left[found.covered] < 0).all()


def test_equal_pieces_marks_items_whose_targets_differ_in_their_number_of_pieces(pretrained):
    model = pretrained("bert")
    for scoring in ("sentence_ce", "masked_target"):
        made = scorer(scoring, model, Options(equal_pieces=True))
        scores = made.score(SENTENCES)
        assert made.name == f"{scoring}+equal_pieces"
        for item in range(6):
            numbers = [n for n, sentence in enumerate(SENTENCES) if sentence.item == item]
            counts = {len([w for w in read(model, SENTENCES[n])[1] if w in range(*SENTENCES[n].target)]) for n in numbers}
            for n in numbers:
                marked = scores.unknown[scores.firsts[n] : scores.firsts[n + 1]]
                assert marked[slice(*SENTENCES[n].target)].all() == (len(counts) > 1)
    with pytest.raises(ValueError, match="Sentence.item"):
        made.score([ProbeSentence("the author laughs .", (2, 3))])


def test_a_sentence_without_a_target_cannot_be_scored_by_it(pretrained):
    scores = scorer("masked_target", pretrained("bert")).score([ProbeSentence("the author laughs ."), SENTENCES[0]])
    assert scores.unknown.tolist() == [True] * 4 + [False] * 4


def test_nothing_to_score_is_no_error(pretrained):
    for family, scoring in (("bert", "pll"), ("bert", "sentence_ce"), ("gpt2", "causal")):
        scores = scorer(scoring, pretrained(family)).score([])
        assert len(scores.logprobs) == len(scores.unknown) == 0
        assert scores.firsts.tolist() == [0]


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_a_sentence_that_is_too_long_is_named(pretrained, family):
    scoring = "pll" if family in MASKED else "causal"
    if family != "bloom":  # it has no longest sentence
        with pytest.raises(PretrainedError, match=r"reads at most 40 pieces; this sentence has \d+: the the"):
            scorer(scoring, pretrained(family)).score([ProbeSentence(" ".join(["the"] * 50))])


def test_wrong_names_of_scorings_and_starts_are_told(pretrained):
    with pytest.raises(ValueError, match="probes.scoring=ppl: no such scoring; available: masked_target, pll"):
        scorer("ppl", pretrained("bert"))
    with pytest.raises(PretrainedError, match="a causal model; probes.scoring=pll does not suit it, but these do: causal"):
        scorer("pll", pretrained("gpt2"))
    with pytest.raises(PretrainedError, match="a masked model; probes.scoring=causal does not suit it"):
        scorer("causal", pretrained("bert"))
    with pytest.raises(PretrainedError, match="model.start=<S>: not a token in its vocabulary; use bos, eos, none or a token"):
        scorer("causal", pretrained("gpt2"), Options(start="<S>"))


@pytest.mark.parametrize("family", [*MASKED, *CAUSAL])
def test_the_head_is_used_only_where_it_is_asked_for(pretrained, family, monkeypatch):
    scoring = "pll" if family in MASKED else "causal"
    made = scorer(scoring, pretrained(family))
    expected = made.score(SENTENCES).logprobs
    assert made.forward.body is not None
    monkeypatch.setattr("concord.probes.scorers.pretrained.forward.LOGITS", 700)  # a few places at a time
    np.testing.assert_allclose(made.score(SENTENCES).logprobs, expected, atol=1e-5, rtol=0)


def test_a_model_whose_head_cannot_be_used_alone_is_used_as_a_whole(pretrained):
    model = pretrained("bert")
    made = scorer("pll", model)
    made.forward.body = model.model.cls  # hands on a tensor, not the states of a body
    scores = made.score(SENTENCES)
    assert made.forward.body is None
    np.testing.assert_allclose(scores.logprobs, scorer("pll", model).score(SENTENCES).logprobs, atol=1e-5, rtol=0)


def test_progress_is_shown_in_a_terminal_only(pretrained, monkeypatch, capfd):
    from rich.console import Console

    made = scorer("pll", pretrained("bert"), Options(tokens=1))
    capfd.readouterr()  # making the model may have said something
    made.score(SENTENCES)
    assert capfd.readouterr() == ("", "")
    stream = io.StringIO()
    terminal = Console(file=stream, force_terminal=True, width=100)
    monkeypatch.setattr("concord.probes.scorers.pretrained.scoring_progress.Console", lambda **_: terminal)
    made.score(SENTENCES)
    assert re.search(r"pll .*100%.*[\d.,]+ sentences/s .*left", re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()))
