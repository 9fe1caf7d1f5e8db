"""Sets that fit a vocabulary: which words are taken, that the sets stay whole and balanced, what is told and what is refused."""

import logging
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from concord.commands.typed_arguments import as_typed
from concord.data.corpus import Corpus, Split, prepare
from concord.data.grammar import Expansion, GrammarError, build, folder_of, languages, load, parse
from concord.data.grammar.audit import audit
from concord.data.grammar.folder import WIDE
from concord.data.grammar.restrict import fixed_words, occurrences, restrict
from concord.data.pieces import PieceRule
from concord.data.sources import TextSource
from concord.data.text import TokenizedText
from concord.data.vocabulary import EOS, UNK, Vocabulary
from concord.errors import UserError
from concord.probes.challenge_set import ChallengeSet
from concord.probes.contract_statement import contract_statement
from concord.probes.evaluation import choose_lexicon
from concord.probes.lexicon.choice import count_words, fitted_sets
from concord.probes.lexicon.fitting import FitRule, FittedLexicon, LexiconWord, fit_lexicon, lexicon_words
from concord.probes.lexicon.known_words import (
    COUNTS,
    CorpusWords,
    ListedWords,
    SharedWords,
    read_words,
    vocabulary_counts,
    words_of_facts,
    write_words,
)
from concord.probes.lexicon.word_table import number_ratio, save_choice, show_choice
from concord.probes.probe_preparation import make_probe, must_share, read_run_probes
from concord.probes.scorers import Reading
from concord.settings.probing import ProbeSettings, all_collections, decide_lexicon
from training_runs import settings

SEVEN = ["long_vp_coord", "obj_rel_across", "obj_rel_within", "prep", "simple_agrmt", "subj_rel", "vp_coord"]
WIDE_LANGUAGES = [code for code in languages() if (folder_of(code) / WIDE).is_dir()]
AGREEMENT = ProbeSettings(
    "agreement", format="grammar", path="grammars/{lang}", lexicon="fit", limit=40, constructions=("prep", "subj_rel")
)


class EveryWord:
    """Knows all words, each as often as the length of its letters in bytes says: some number, the same each time."""

    name, counted = "every word", True

    def look_up(self, words):
        return {word: 10 + sum(word.encode()) % 97 for word in words}


@cache
def whole(code: str) -> FittedLexicon:
    return fit_lexicon(folder_of(code) / WIDE, EveryWord(), FitRule(), "joined")


@cache
def sets(code: str) -> dict[str, ChallengeSet]:
    return fitted_sets(whole(code), code, "joined")


def without(code: str, *words: str):
    """A vocabulary of all words but these."""
    known = EveryWord().look_up(form for word in whole(code).words for form in word.words)
    return ListedWords("a list", {word: count for word, count in known.items() if word not in words}, counted=True)


@pytest.mark.parametrize("code", WIDE_LANGUAGES)
def test_fitted_sets_are_full_and_balanced(code):
    """At least 400 items in each of the seven, all cells alike, nothing twice, no tautology, no pair that looks the same."""
    fitted = whole(code)
    assert list(fitted.grammars) == SEVEN
    for name, grammar in fitted.grammars.items():
        found = audit(Expansion(grammar, "joined"))
        assert found.groups >= 400, (name, found.groups)
        assert found.faults == 0, (name, found.cells)


@pytest.mark.parametrize("code", WIDE_LANGUAGES)
def test_the_wide_lexicon_is_wide(code):
    """60 nouns and 40 verbs to choose from; of these 8 nouns for each place and 4 verbs for each tested one are taken."""
    words = whole(code).words
    nouns = {word.row.word for word in words if word.lists.startswith("N_")}
    verbs = {
        word.row.word.split()[0] for word in words if word.shows_number and not word.lists.startswith(("N_", "Art", "El", "Rel"))
    }
    assert len(nouns) >= 60
    assert len(verbs) >= 40
    for name in ("N_1", "N_2"):
        assert sum(word.outcome == "chosen" for word in words if word.lists == name) >= 8
    for name, made in sets(code).items():
        tested = {frozenset(form for form in pair) for pair in target_pairs(made)}
        assert len(tested) >= 4, (name, tested)


@pytest.mark.parametrize("code", WIDE_LANGUAGES)
def test_no_word_has_two_roles_in_a_sentence(code):
    """The lists of first and second noun share no word, nor do the first and the second verb of a coordination."""
    lists = {name: {word.row.word for word in whole(code).words if word.lists == name} for name in ("N_1", "N_2")}
    assert not lists["N_1"] & lists["N_2"]
    for made in (sets(code)["vp_coord"], sets(code)["long_vp_coord"]):
        for sentence in made.sentences[:: max(len(made.sentences) // 500, 1)]:
            words = [word for word in sentence.split() if len(word) > 4]
            assert len(set(words)) == len(words), sentence


def target_pairs(made: ChallengeSet) -> list[tuple[str, str]]:
    """The words that differ, of the good and of the bad sentence."""
    found = []
    for first in made.firsts[:-1]:
        good, bad = (made.sentences[first + i].split() for i in (0, 1))
        (pair,) = [(one, other) for one, other in zip(good, bad, strict=True) if one != other]
        found.append(pair)
    return found


@pytest.mark.parametrize("code", WIDE_LANGUAGES)
def test_good_and_bad_forms_are_equally_frequent(code):
    for name, made in sets(code).items():
        good, bad = (Counter(forms) for forms in zip(*target_pairs(made), strict=True))
        assert good == bad, name


@pytest.mark.parametrize("code", WIDE_LANGUAGES)
def test_every_word_of_a_fitted_set_is_known_and_frequent(code):
    """The oracle is the sentences: each of their words is looked up again, those that templates write out aside."""
    known = EveryWord().look_up(form for word in whole(code).words for form in word.words)
    kept = {word: count for word, count in known.items() if count >= 30}
    fitted = fit_lexicon(folder_of(code) / WIDE, ListedWords("", known, counted=True), FitRule(least=30), "joined")
    for name, made in fitted_sets(fitted, code, "joined").items():
        written = fixed_words(load(folder_of(code) / WIDE, name))
        assert {word for text in made.sentences for word in text.split()} <= {*kept, *written}


def test_a_word_goes_with_all_its_forms_and_the_table_says_why(tmp_path):
    chosen = [word.row.word for word in whole("en").words if word.lists == "N_1" and word.outcome == "chosen"]
    lost = next(word for word in whole("en").words if word.row.word == chosen[0])
    plural = lost.words[-1]
    fitted = fit_lexicon(folder_of("en") / WIDE, without("en", plural), FitRule(), "joined")
    (again,) = [word for word in fitted.words if word.row == lost.row]
    assert (again.outcome, again.reason) == ("unknown", f"not in the vocabulary: {plural}")
    for made in fitted_sets(fitted, "en", "joined").values():
        assert not any({*text.split()} & {*lost.words} for text in made.sentences)
    save_choice(tmp_path / "words.tsv", fitted)
    rows = [line.split("\t") for line in (tmp_path / "words.tsv").read_text(encoding="utf-8").splitlines()]
    assert rows[0] == ["list", "word", "outcome", "reason", "frequencies"]
    assert ["N_1", lost.row.word, "unknown", again.reason] in [row[:4] for row in rows]
    assert len(rows) == len(fitted.words) + 1


def test_what_was_chosen_is_shown_whole_and_what_is_missing_in_one_line(caplog):
    nouns = [word.words for word in whole("es").words if word.lists == "N_1"]
    fitted = fit_lexicon(
        folder_of("es") / WIDE, without("es", *(form for forms in nouns[3:] for form in forms)), FitRule(), "joined"
    )
    with caplog.at_level(logging.INFO):
        show_choice(fitted, "lexicon")
    phrases = [word.row.word for word in fitted.words if word.lists == "State" and word.outcome == "chosen"]
    assert any(" " in phrase for phrase in phrases)
    assert ", ".join(phrases) in " ".join(caplog.text.split())
    warning = next(each.getMessage() for each in caplog.records if each.levelno == logging.WARNING)
    assert warning == "lexicon    fewer words fit than wanted (N_1 3 of 10); the others are not in the vocabulary"


def test_rarer_words_are_offered_where_there_are_any_and_fixed_sets_named_in_one_line(caplog):
    show_choice(fit_lexicon(folder_of("en") / WIDE, EveryWord(), FitRule(least=200), "joined"), "lexicon")
    few, fixed = (each.getMessage() for each in caplog.records if each.levelno == logging.WARNING)
    assert few.endswith("; lower probes.least= to admit rarer ones")
    assert fixed.startswith("lexicon    taken from the fixed sets for lack of words: ")
    assert all(name in fixed for name in SEVEN)


def test_rare_words_are_not_taken():
    known = without("en")
    known.counts = {**known.counts, "men": 9.0}
    fitted = fit_lexicon(folder_of("en") / WIDE, known, FitRule(least=10), "joined")
    (man,) = [word for word in fitted.words if word.row.word == "man"]
    assert (man.outcome, man.reason) == ("rare", "fewer than 10 times: men 9")


def test_the_choice_depends_on_vocabulary_and_seed_alone():
    folder = folder_of("en") / WIDE
    known = without("en")
    backwards = ListedWords("a list", dict(reversed(known.counts.items())), counted=True)
    taken = [
        {word.row for word in fit_lexicon(folder, words, FitRule(seed=seed), "joined").words if word.outcome == "chosen"}
        for words, seed in ((known, 0), (backwards, 0), (known, 1))
    ]
    assert taken[0] == taken[1]
    assert taken[0] != taken[2]


def test_matched_words_are_preferred():
    """Where half of the nouns are as frequent in both numbers and half are not, the former are taken."""
    words = [word for word in whole("en").words if word.lists == "N_1"]
    counts = dict(without("en").counts)
    for number, word in enumerate(words):
        singular, plural = (next(iter(word.forms[n])) for n in ("s", "p"))
        counts[singular], counts[plural] = 1000.0, 1000.0 if number % 2 else 20_000.0
    fitted = fit_lexicon(folder_of("en") / WIDE, ListedWords("", counts, counted=True), FitRule(), "joined")
    chosen = [word for word in fitted.words if word.lists == "N_1" and word.outcome == "chosen"]
    assert len(chosen) == 10
    assert sum(word.imbalance == 0 for word in chosen) > len(chosen) / 2
    unmatched = [word for word in fitted.words if word.lists == "N_1"]
    mean = [sum(abs(word.imbalance) for word in some) / len(some) for some in (chosen, unmatched)]
    assert mean[0] < mean[1]


def test_clitics_are_part_of_the_form():
    """In running text the article is one word with its noun, and this word must be known."""
    grammar = build(
        "x",
        "x.avg",
        parse(
            "vary: V[]\nattribute number $n: s | p\nS[] ה+ N[$n] V[$n]\n"
            "paradigm N: s | p\n  ילד | ילדים\nparadigm V: s | p\n  שר | שרים\n",
            "x.avg",
        ),
    )
    assert {each.marked for each in occurrences(grammar)} == {"ה+ ילד", "ה+ ילדים", "שר", "שרים"}


def test_phrases_without_words_go_too():
    text = (
        "attribute number $n: s | p\nvary: V[]; B[]\nS[] N[$n] P[$n]\nP[$n] V[$n] | B[$n] A[]\n"
        "paradigm N: s | p\n  a | as\nparadigm V: s | p\n  goes | go\nparadigm B: s | p\n  is | are\nA[] big | old\n"
    )
    grammar = build("x", "x.avg", parse(text, "x.avg"))
    left = restrict(grammar, lambda row: row.word not in ("big", "old"))
    assert [s.text for group in Expansion(left) for s in group.sentences] == ["a goes", "a go", "as go", "as goes"]
    assert restrict(grammar, lambda row: row.word != "a") is None


def test_choose_names_lists_and_numbers():
    base = "attribute number $n: s | p\nvary: V[]\nS[] V[$n]\nparadigm V: s | p\n  goes | go\n"
    assert build("x", "x.avg", parse(base + "choose V: 3\n", "x.avg")).choose == {"V": 3}
    with pytest.raises(GrammarError, match=r"x.avg:6: choose: W names no list; the names here are S, V"):
        build("x", "x.avg", parse(base + "choose W: 3\n", "x.avg"))
    with pytest.raises(GrammarError, match=r"x.avg:6: choose V: 'many'; write choose LIST: and how many"):
        parse(base + "choose V: many\n", "x.avg")


# ------------------------------------------------------------------ vocabularies


def test_shared_words_are_those_of_all():
    one = ListedWords("one", {"a": 5.0, "b": 50.0}, counted=True)
    two = ListedWords("two", {"b": 20.0, "c": 1.0}, counted=True)
    ranked = ListedWords.ranked("three", ["c", "b"])
    assert SharedWords([one, two]).look_up(["a", "b", "c"]) == {"b": 20.0}
    assert SharedWords([one, two, ranked]).look_up(["b"]) == {"b": 20.0}  # an estimate says nothing beside counts
    assert SharedWords([ranked]).look_up(["b", "c"]) == {"c": 2.0, "b": 1.0}
    assert not SharedWords([ranked]).counted


def test_a_checkpoint_knows_what_its_corpus_knew(tmp_path):
    """So an evaluation asks a model the items that its run asked."""
    forms = list(dict.fromkeys(form for word in whole("en").words for form in word.words))
    vocabulary = Vocabulary([EOS, UNK, *forms])
    ids = np.repeat(np.arange(len(vocabulary)), 5 + np.arange(len(vocabulary)) % 40)
    part = Split(ids, np.array([0, len(ids)]), 0)
    corpus = Corpus(tmp_path, vocabulary, part, part, part, {})
    counts = vocabulary_counts(corpus)
    in_run, later = CorpusWords(corpus), words_of_facts("x", {**vocabulary.plain(), COUNTS: counts})
    assert in_run.look_up(forms) == later.look_up(forms) == {form: 5 + (i + 2) % 40 for i, form in enumerate(forms)}
    assert later.counted
    assert not words_of_facts("x", vocabulary.plain()).counted  # a checkpoint from before
    written = write_words(tmp_path / "words.tsv", corpus)
    assert written is not None
    assert read_words(written).look_up(forms) == in_run.look_up(forms)


@pytest.mark.parametrize("capitalize", [False, True])
def test_a_checkpoint_of_a_model_of_pieces_knows_it_too(tmp_path, capitalize):
    """However the run began its sentences, and whatever it was probed on."""
    folder = folder_of("ru") / WIDE
    words = lexicon_words(folder, "joined")
    assert {"теперь", "Теперь", "и"} <= {*words}
    (tmp_path / "ru.txt").write_text("\n".join(" ".join(words[at::12]) for at in range(12)) + "\n", encoding="utf-8")
    corpus = prepare(TextSource({"all": tmp_path / "ru.txt"}, TokenizedText(), seed=0), PieceRule(600), tmp_path / "cache")
    facts = {**corpus.vocabulary.plain(), **count_words(corpus, {"ru": "joined"})}
    in_run, later = CorpusWords(corpus), words_of_facts("x", facts)
    rule = FitRule(least=1, capitalize=capitalize)
    one, two = (fit_lexicon(folder, known, rule, "joined") for known in (in_run, later))
    assert [word.outcome for word in one.words] == [word.outcome for word in two.words]
    assert [word.counts for word in one.words] == [word.counts for word in two.words]
    assert two.unknown_context == []
    # A language without a lexicon of ours: every word can be spelled, and nobody counted any.
    assert not words_of_facts("x", {**facts, **count_words(corpus, {"xx": "joined"})}).counted


def test_files_of_words(tmp_path):
    def written(text: str) -> Path:
        (tmp_path / "words.tsv").write_text(text, encoding="utf-8")
        return tmp_path / "words.tsv"

    assert read_words(written("the\t30\nmen\t2\n")).look_up(["men", "x"]) == {"men": 2.0}
    assert not read_words(written("the\nmen\n")).counted
    assert read_words(written("\ufeffthe\t30\r\n\r\n10 000\t2\r\n")).look_up(["the", "10 000"]) == {"the": 30.0, "10 000": 2.0}
    assert read_words(written("the\nmen\nthe\n")).look_up(["the", "men"]) == {"the": 2.0, "men": 1.0}
    for text, said in (
        ("the\t30\nmen\n", r"words.tsv:2: \['men'\]: must be a word, a tab and its count, as on other lines"),
        ("the\tmany\n", "a word, a tab and its count"),
        ("the\t30\n\n\nmen\tmany\n", "words.tsv:4: "),
        ("\t30\n", "a word, a tab and its count"),
        ("the\t30\nmen\t2\nthe\t3\n", "words.tsv:3: the is on an earlier line, too; keep one of its counts"),
        ("the\nmen sleep .\n", r"words.tsv:2: 'men sleep .': must be a single word; for the words of a text, run concord corpus"),
        ("\n", "contains no words; write one per line, optionally with a tab and its count"),
    ):
        with pytest.raises(UserError, match=said):
            read_words(written(text))
    with pytest.raises(UserError, match="no such run, checkpoint or word file"):
        read_words(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no checkpoint in this folder"):
        read_words(tmp_path)


# ---------------------------------------------------------------------- settings


def test_real_text_fits_and_built_in_corpora_stay_as_they_are():
    assert settings("lang=en").probes.lexicon == "fixed"
    assert settings("lang=en", "data=text", "data.path=x.txt").probes.lexicon == "fit"
    assert settings("lang=en", "data=wikipedia").probes.lexicon == "fit"
    assert settings("lang=en", "data=text", "data.path=x.txt", "probes=suites").probes.lexicon == "fixed"
    assert settings("lang=en", "data=text", "data.path=x.txt", "probes.lexicon=fixed").probes.lexicon == "fixed"
    assert ProbeSettings("agreement").lexicon == "fixed"  # what a run from before was asked
    assert decide_lexicon({"name": "agreement"}, built_in=False) == {"name": "agreement"}


def test_a_run_of_before_keeps_its_name():
    """At the value that earlier runs had, the setting is part of no name."""
    known = settings("lang=en", "data=text", "data.path=x.txt", "probes.lexicon=fixed").result_settings()
    assert not {"probes.lexicon", "probes.least"} & {*known}
    assert settings("lang=en", "data=text", "data.path=x.txt").result_settings()["probes.lexicon"] == "fit"


def test_shared_is_typed_as_it_is_said():
    (typed,) = as_typed(["probes.lexicon=shared:[runs/a,words.tsv]"])
    made = settings("lang=en", "data=text", "data.path=x.txt", typed)
    assert made.probes.lexicon == {"shared": ("runs/a", "words.tsv")}
    for wrong in ("{other:[a]}", "fitt", "shared", "[a,b]"):
        with pytest.raises(UserError, match=r"must be fit, fixed, or shared:\[…\] with runs, checkpoints or word files"):
            settings("lang=en", f"probes.lexicon={wrong}")


def test_our_sets_fit_real_text_wherever_they_are_named():
    text = ("lang=en", "data=text", "data.path=x.txt")
    for also in ("[agreement]", "agreement", "[{collection: agreement, name: mine}]"):
        made = settings(*text, "probes=suites", f"probes.also={also}")
        assert [each.lexicon for each in all_collections(made.probes)] == ["fit", "fit"], also
    assert settings("lang=en", "probes=suites", "probes.also=[agreement]").probes.lexicon == "fixed"
    assert settings(*text, "probes=suites", "probes.also=[cases]").probes.lexicon == "fixed"


def test_the_probe_takes_fitted_sets_and_says_so():
    probe, fixed = (make_probe(AGREEMENT, "de", "split", False, None, known) for known in (EveryWord(), None))
    assert probe.lexicon is not None
    assert {each.words for each in probe.collected} == {
        "words chosen to fit the vocabulary of every word, each form at least 10 times in the training text, seed 0"
    }
    assert fixed.lexicon is None
    assert {each.words for each in fixed.collected} == {""}
    assert fixed.constructions == probe.constructions == ["prep", "subj_rel"]
    assert fixed.digest != probe.digest


def test_constructions_that_the_vocabulary_cannot_say_keep_their_fixed_sets():
    verbs = ("Dat_now", "Dat_then")
    few = without("de", *(form for word in whole("de").words if word.lists in verbs for form in word.words))
    probe, fixed = (make_probe(AGREEMENT, "de", "split", False, None, known) for known in (few, None))
    of = {each.challenge_set.construction: each for each in probe.collected}
    before = {made.construction: made for made in fixed.sets}
    assert of["subj_rel"].challenge_set.sentences == before["subj_rel"].sentences
    assert of["subj_rel"].words == ""
    assert of["prep"].words
    assert f"{of['prep'].words} (prep), not so in subj_rel" in contract_statement(probe, Reading(("<eos>",), state="zero"))
    assert probe.lexicon is not None
    assert probe.lexicon.short()["Dat_now"] == (0, 3)


def test_a_language_without_a_wide_lexicon_keeps_its_sets(tmp_path, monkeypatch):
    shared = ProbeSettings(
        "cases", format="grammar", path="grammars/{lang}/cases", lexicon={"shared": ("x",)}, constructions=("simple",)
    )
    with pytest.raises(
        UserError, match=r"shared:\[x\]: the sets of cases \(de\) come with no lexicon to choose words from; leave it"
    ):
        must_share([shared], [make_probe(shared, "de", "split")])
    own = ProbeSettings(
        "cases", format="grammar", path="grammars/{lang}/cases", lexicon="fit", limit=2, constructions=("simple",)
    )
    assert make_probe(own, "de", "split", False, None, EveryWord()).lexicon is None


def test_collections_without_a_lexicon_stay_unchanged_beside_one_that_has_one(tmp_path):
    (tmp_path / "words.tsv").write_text(
        "".join(f"{word}\t20\n" for word in EveryWord().look_up(lexicon_words(folder_of("en") / WIDE, "joined"))),
        encoding="utf-8",
    )
    few = ("probes.constructions=[]", "probes.limit=4", f"probes.lexicon={{shared:[{tmp_path}/words.tsv]}}")
    made = settings("lang=en", "data=text", "data.path=x.txt", *few, "probes.also=[{collection: suites, limit: 4}]")
    ours, suites = read_run_probes(made)
    assert ours.lexicon is not None
    assert suites.lexicon is None


def test_a_run_without_our_sets_is_evaluated_like_others_of_its_text(tmp_path, caplog):
    """What a run was probed on decides; one that was not probed on our sets has decided nothing."""
    text = ("lang=en", "data=text", "data.path=x.txt")
    unset, vocabulary = replace(AGREEMENT, lexicon=None), Vocabulary([EOS, UNK, "men"])

    def choice(*asked: str) -> str:
        about = {**settings(*asked).facts(), **vocabulary.plain()}
        torch.save({"concord": about, "state_dict": {}}, tmp_path / "best.ckpt")
        return str(choose_lexicon(unset, [str(tmp_path / "best.ckpt")])[0].lexicon)

    assert choice(*text) == choice(*text, "probes=none") == choice(*text, "probes=suites") == "fit"
    assert choice(*text, "probes.lexicon=fixed") == choice("lang=en", "probes=none") == "fixed"
    assert not caplog.messages
    assert choice(*text, "probes.least=3") == "fit"
    assert "was tested on words chosen with probes.least=3 probes.seed=0; set these for the same items" in caplog.text


def test_words_as_frequent_in_both_numbers_count_in_the_ratio():
    row = whole("de").words[0].row
    even, twice = (LexiconWord(row, "N", {"s": {"a": None}, "p": {"b": None}}, {"a": n, "b": 8.0}) for n in (8.0, 16.0))
    assert number_ratio([even]) == "1.00"
    assert float(number_ratio([even, twice])) == pytest.approx(2 ** (twice.imbalance / 2), abs=0.005)
    assert number_ratio([LexiconWord(row, "N")]) == ""
