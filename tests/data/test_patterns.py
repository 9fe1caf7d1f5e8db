"""Patterns: what they find, why candidates fail, and what is wrong with a file."""

from collections import Counter

import pytest
from concord.data.patterns import Matcher, PatternError, find_pattern, pattern_names, read_pattern
from concord.data.trees import parse_trees, read_trees
from concord.places import installed_folder

SAMPLE = installed_folder("patterns") / "fr" / "sample.conllu"


def independent_scan(tree):
    """The French participles once more, written out by hand from the description of the study."""
    found = []
    for target in tree.words:
        feats = dict(part.split("=") for part in target.feats.split("|")) if target.feats != "_" else {}
        if target.upos != "VERB" or feats.get("VerbForm") != "Part" or target.relation != "acl:relcl" or not target.head:
            continue
        cue = tree[target.head]
        below = [word for word in tree.words if word.head == target.number]
        between = [word for word in below if cue.number < word.number < target.number]
        nouns = [w for w in tree.words if w.head == cue.number and w.relation == "conj" and w.upos in ("NOUN", "PROPN")]
        inside, grown = {target.number}, True
        while grown:
            more = {word.number for word in tree.words if word.head in inside} - inside
            inside, grown = inside | more, bool(more)
        infinitive = any("VerbForm=Inf" in tree[n].feats for n in inside - {target.number})
        if (
            cue.upos == "NOUN"
            and any(w.form.lower() in ("que", "qu'", "qu’") and w.relation == "obj" for w in between)
            and any(w.lemma == "avoir" and w.relation.startswith("aux") for w in between)
            and not any(w.relation == "aux:pass" for w in below)
            and not nouns
            and not infinitive
            and all(cue.features.get(name) and cue.features.get(name) == feats.get(name) for name in ("Number", "Gender"))
        ):
            found.append(target.number)
    return found


def test_the_participles_are_those_of_an_independent_scan():
    matcher = Matcher(find_pattern("fr/obj_participle"))
    trees = list(read_trees(SAMPLE))
    assert len(trees) >= 50
    assert [[m.at["target"] for m in matcher.matches(tree)] for tree in trees] == [independent_scan(tree) for tree in trees]


def test_the_rule_that_a_candidate_fails_is_told():
    matcher = Matcher(find_pattern("fr/obj_participle"))
    reasons = Counter(reason for tree in read_trees(SAMPLE) for _, reason in matcher.candidates(tree))
    assert reasons == {
        "": 34,
        "no cue: acl:relcl above target (NOUN)": 16,
        "has conj below cue (NOUN|PROPN)": 1,
        "has under target (VerbForm=Inf)": 2,
    }


def tree_of(*rows):
    lines = (
        f"{n}\t{form}\t{lemma}\t{upos}\t_\t{feats}\t{head}\t{rel}\t_\t_" for n, (form, lemma, upos, feats, head, rel) in rows
    )
    return next(parse_trees(lines, "a"))


def test_the_finite_auxiliary_is_tested_else_the_verb():
    matcher = Matcher(find_pattern("sv_number", "de"))
    noun = ("Hunde", "Hund", "NOUN", "Number=Plur", 3, "nsubj")
    rows = [
        noun,
        ("haben", "haben", "AUX", "Mood=Ind|Number=Plur", 3, "aux"),
        ("gebellt", "bellen", "VERB", "VerbForm=Part", 0, "root"),
    ]
    assert [m.at["target"] for m in matcher.matches(tree_of(*enumerate(rows, 1)))] == [2]
    rows = [(*noun[:4], 2, "nsubj"), ("bellen", "bellen", "VERB", "Mood=Ind|Number=Plur", 0, "root")]
    assert [m.at["target"] for m in matcher.matches(tree_of(*enumerate(rows, 1)))] == [2]


def test_a_pattern_for_the_language_and_the_users_own_come_first(tmp_path, monkeypatch):
    assert find_pattern("sv_number", "en").annotate
    assert not find_pattern("sv_number", "de").annotate
    (tmp_path / "patterns").mkdir()
    (tmp_path / "patterns" / "sv_number.yaml").write_text("nodes: {target: {upos: VERB}}\nabout: mine", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert find_pattern("sv_number", "de").about == "mine"
    assert {"fr/obj_participle", "sv_person", "it/clitic_participle"} <= set(pattern_names())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a.yaml: the pattern: must be names with values; this is None"),
        ("nodes: [", r"a.yaml:1: not YAML"),
        ("node: {}", r"unknown key 'node'; available: about, nodes"),
        ("nodes: {}", r"nodes: a pattern has at least one node"),
        ("nodes: {target: {pos: VERB}}", r"nodes.target: unknown key 'pos'; available: upos"),
        ("nodes: {target: {}, cue: {}}", r"nodes.cue: how is it linked to the others\?"),
        ("nodes: {target: {}, cue: {below: verb}}", r"nodes.cue.below: no node 'verb' before it; available: target"),
        ("nodes: {target: {below: x}}", r"nodes.target: below: the first node is searched for everywhere"),
        ("nodes: {target: [{}, {}]}", r"nodes.target: the first node .* cannot have alternatives"),
        ("nodes: {target: {upos: no}}", r"nodes.target.upos: must be text; this is False \(put it in quotation marks\)"),
        ("nodes: {target: {}}\norder: [[target, x]]", r"order.0: no node 'x'"),
        (
            "nodes: {target: {}}\nvary: {Number: {Sing: Plur}}",
            r"nodes: vary and agree need the nodes target and cue; cue is missing",
        ),
        ("nodes: {target: {}, cue: {below: target}}\nvary: {A: {b: b}}", r"vary.A: each value must change to another"),
        ("nodes: {target: {}, cue: {below: target}}\nvary: {A: {b: c}, D: {}}", r"vary: exactly one feature must vary"),
        ("nodes: {target: {}}\nforms: [{value: a}]", r"forms.0: a rule needs value and to"),
        ("nodes: {target: {}}\nwithout: [{}]", r"without.0: how is it linked to the others"),
        ("nodes: {target: {}}\nfeatures: {a: {of: b}}", r"features.a.of: no node 'b'"),
        ("nodes: {target: {}}\nmirror: {contractions: [[a, b]]}", r"mirror.contractions: must be two words and what they become"),
        ("nodes: {target: {}, cue: {below: target, above: target}}", r"nodes.cue: both below and above"),
    ],
)
def test_wrong_files_are_told_in_one_line(tmp_path, text, message):
    (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(PatternError, match=message) as caught:
        read_pattern(tmp_path / "a.yaml")
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(PatternError, match="sv_numbr: no such pattern; did you mean sv_number"):
        find_pattern("sv_numbr")
