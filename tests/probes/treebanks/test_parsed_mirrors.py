"""Mirrors of sentences as a parser has them: words that are not taken apart, wrong forms, wrong attachments."""

import json

import pytest
from concord.commands.sets import main

# Each word: form, lemma, UPOS, features, head, relation. The clause is always the same but for its forms.
CLAUSE = "que:que:PRON:_:{t}:obj il:il:PRON:Number=Sing:{t}:nsubj a:avoir:AUX:Number=Sing:{t}:aux:tense"
START = "elle:elle:PRON:_:2:nsubj parle:parler:VERB:Mood=Ind|Number=Sing|VerbForm=Fin:0:root"
SHORT = {f"{g[0]}{n[0].lower()}": f"Gender={g}|Number={n}" for g in ("Masc", "Fem") for n in ("Sing", "Plur")}  # Ms Mp Fs Fp


def tree(name: str, before: str, participle: str, cue: int) -> str:
    """`before` stands between START and the relative pronoun, `participle` is form, lemma, and gender and number."""
    rows = [word.split(":", 5) for word in f"{START} {before}".split()]
    target = len(rows) + 4
    rows += [word.split(":", 5) for word in CLAUSE.format(t=target).split()]
    form, lemma, short = participle.split()
    rows.append([form, lemma, "VERB", f"{SHORT[short]}|Tense=Past|VerbForm=Part", str(cue), "acl:relcl"])
    lines = [
        "\t".join([str(i), form, lemma, upos, "_", SHORT.get(feats, feats), head, relation, "_", "_"])
        for i, (form, lemma, upos, feats, head, relation) in enumerate(rows, start=1)
    ]
    return "\n".join([f"# sent_id = {name}", "# parser = spacy:test-1", *lines, "", ""])


CASES = {
    "des": ("des:de:ADP:_:4:case lettres:lettre:NOUN:Fp:2:obl", "écrites écrire Fp", 4),
    "des-masc": ("des:de:ADP:_:4:case serments:serment:NOUN:Mp:2:obl", "cachés cacher Mp", 4),
    "du": ("du:de:ADP:_:4:case livre:livre:NOUN:Ms:2:obl", "perdu perdre Ms", 4),
    "aux": ("aux:à:ADP:_:4:case enfants:enfant:NOUN:Mp:2:obl", "grondés gronder Mp", 4),
    "article": ("un:un:DET:Ms:4:det grand:grand:ADJ:Ms:5:amod jardin:jardin:NOUN:Ms:2:obj", "planté planter Ms", 5),
    "wrong-form": ("le:le:DET:Ms:4:det mur:mur:NOUN:Ms:2:obj", "peint peindre Ms", 4),
    "name": ("la:le:DET:Fs:4:det reine:reine:NOUN:Fs:2:obj Berthe:Berthe:PROPN:_:4:flat", "saluée saluer Fs", 4),
    "adjective": ("le:le:DET:Ms:5:det frêle:frêle:ADJ:_:5:amod pont:pont:NOUN:Ms:2:obj", "traversé traverser Ms", 5),
    "attached": (
        "les:le:DET:Fp:4:det robes:robe:NOUN:Fp:2:obj de:de:ADP:_:6:case soie:soie:NOUN:Fs:4:nmod bleues:bleu:ADJ:Fp:6:amod",
        "portées porter Fp",
        4,
    ),
    "which": (
        "la:le:DET:Fs:4:det clé:clé:NOUN:Fs:2:obj de:de:ADP:_:7:case la:le:DET:Fs:7:det porte:porte:NOUN:Fs:4:nmod",
        "fermée fermer Fs",
        4,
    ),
}
TREES = {name: tree(name, *case) for name, case in CASES.items()}
# A form of the past under the participle's features, as parsers have them: peignit for peints.
SLIP = "# sent_id = slip\n# parser = spacy:test-1\n"
SLIP += f"1\tpeignit\tpeindre\tVERB\t_\t{SHORT['Mp']}|Tense=Past|VerbForm=Part\t0\troot\t_\t_\n\n"


@pytest.fixture
def extracted(tmp_path, capsys):
    def extract(*names: str, more: str = "", parsed: bool = True):
        text = "".join(TREES[name] for name in names) + more
        (tmp_path / "fr.conllu").write_text(text if parsed else text.replace("# parser = spacy:test-1\n", ""), encoding="utf-8")
        out = tmp_path / "out"
        main(
            [
                "extract",
                "fr/obj_participle",
                str(tmp_path / "fr.conllu"),
                "--lang",
                "fr",
                "--out",
                str(out),
                "--controls",
                "mirror",
            ]
        )
        told = capsys.readouterr()
        found = {}
        for file in out.glob("*mirror.jsonl"):
            items = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
            found = {item["features"]["sentence"]: [v["sentence"] for v in item["variants"]] for item in items}
        return found, " ".join((told.out + told.err).split())

    return extract


def test_prepositions_that_hold_an_article_are_taken_apart(extracted):
    found, _ = extracted("des", "des-masc", "du", "aux")
    assert found == {
        "des": ["elle parle de la lettre que il a écrite", "elle parle de la lettre que il a écrites"],
        "des-masc": ["elle parle du serment que il a caché", "elle parle du serment que il a cachés"],
        "du": ["elle parle des livres que il a perdus", "elle parle des livres que il a perdu"],
        "aux": ["elle parle à l' enfant que il a grondé", "elle parle à l' enfant que il a grondés"],
    }


def test_an_article_that_hangs_on_the_adjective_goes_with_it(extracted):
    found, _ = extracted("article")
    assert found["article"][0] == "elle parle de grands jardins que il a plantés"


def test_a_form_that_contradicts_the_rules_is_several_forms(extracted):
    found, told = extracted("wrong-form", more=SLIP)
    assert not found
    assert "several other forms are known 1 0" in told
    found, _ = extracted("wrong-form")
    assert found["wrong-form"][0] == "elle parle les murs que il a peints"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("name", "the cue goes with a name"),
        ("adjective", "no other form of a word that accompanies the cue"),
        ("attached", "an adjective that does not agree with the noun it is attached to"),
        ("which", "the parser may have meant another noun between cue and target"),
    ],
)
def test_what_a_parser_may_have_wrong_is_not_mirrored(extracted, name, reason):
    found, told = extracted(name, "du")
    assert set(found) == {"du"}
    assert f"mirror: not made for 1 item: {reason}" in told


def test_gold_trees_are_taken_at_their_word(extracted):
    found, _ = extracted("which", parsed=False)
    assert found["which"][0] == "elle parle les clés de la porte que il a fermées"
