"""Small files in exactly the published shapes, one of each format."""

import json
import pickle
from pathlib import Path

CLAMS = "True\tles chats dorment\nFalse\tles chats dort\nTrue\tje pense\nFalse\tje penses\nFalse\tje pensons\n"
BLIMP = {
    "sentence_good": "Ann hurt herself.",
    "sentence_bad": "Ann hurt themselves.",
    "one_prefix_prefix": "Ann hurt",
    "one_prefix_word_good": "herself",
    "one_prefix_word_bad": "themselves",
    "field": "morphology",
    "linguistics_term": "anaphor_agreement",
    "UID": "anaphor_number_agreement",
    "simple_LM_method": True,
    "one_prefix_method": True,
    "two_prefix_method": False,
    "lexically_identical": True,
    "pairID": "0",
}
GEVALM = {
    "text": "Der Arzt neben den Wirten lacht .",
    "text_masked": "Der Arzt neben den Wirten [MASK] .",
    "candidates": ["lacht", "lachen"],
    "indexMASK": 8,
    "case": "SVPP_plsg",
}
# What is tested comes first in a key: the main subject across the clause, the embedded one within it.
MARVIN_LINZEN = {
    "sing_MS_MV_plur_ES_EV": [("the king that the monks see laughs", "the king that the monks see laugh")],
    "plur_MS_MV_sing_ES_EV": [("the kings that the monk sees laugh", "the kings that the monk sees laughs")],
}
WITHIN = {
    "sing_ES_EV_plur_MS_MV": [("the kings that the monk sees laugh", "the kings that the monk see laugh")],
    "plur_ES_EV_sing_MS_MV": [("the king that the monks see laughs", "the king that the monks sees laughs")],
}
SENT_COMP = {"plur_MS_MV_sing_BS": [("the king said the monks laugh", "the king said the monks laughs")]}
NPI = {"past": [("no king has ever left", "most king has ever left", "the king has ever left")]}
MULTIBLIMP = (
    "sen\twrong_sen\tverb\tcop\tchild\thead\tswap_head\tfeature_vals\tdistance\tattractors\n"
    "Der Hund bellt .\tDer Hund bellen .\tbellt\t\tHund\tbellt\tbellen\tSG_PL\t1\t[]\n"
)
GULORDAVA = (
    "pattern\tconstr_id\tsent_id\tcorrect_number\tform\tclass\ttype\tprefix\tn_attr\tfreq\tlen_context\tlen_prefix\tsent\n"
    "A B\t7\t0\tplur\twalk\tcorrect\toriginal\tthe dogs near the cat\t1\t9\t3\t5\tthe dogs near the cat swim <eos>\n"
    "A B\t7\t0\tplur\twalks\twrong\toriginal\tthe dogs near the cat\t1\t9\t3\t5\tthe dogs near the cat swim <eos>\n"
)
LINZEN = "2\tthe dogs near the cat of the man are loud .\tthe dogs near the cat of the man ***mask*** loud .\tare\tis\n"
LI2021 = (
    "form\tpred\tcorrect_number\tcls_noun_num\tcls_token_num\tfst_noun_num\tcom_num\tque_n_num\tlen_context\tn_unk\tinverted_subj\tsent\n"
    "lus\t0.4\tplur\tplur\tsing\tsing\tplur\tplur\t3\t0\t0\tles livres que Luc a lus <eos>\n"
    "lu\t0.6\tplur\tplur\tsing\tsing\tplur\tplur\t3\t0\t0\tles livres que Luc a lus <eos>\n"
)
TWO_PREFIXES = {
    "sentence_good": "Only Ann's dog had ever barked.",
    "sentence_bad": "Even Ann's dog had ever barked.",
    "two_prefix_prefix_good": "Only Ann's dog had",
    "two_prefix_prefix_bad": "Even Ann's dog had",
    "two_prefix_word": "ever",
    "simple_LM_method": True,
    "one_prefix_method": False,
    "two_prefix_method": True,
    "UID": "only_npi_scope",
    "pairID": "0",
    "dependency_length": 4,
}
SYNTAXGYM = {
    "meta": {"name": "number_prep", "metric": "sum"},
    "region_meta": {"1": "subject", "2": "pp", "3": "verb"},
    "predictions": [{"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)"}],
    "items": [
        {
            "item_number": 1,
            "conditions": [
                {
                    "condition_name": name,
                    "regions": [
                        {"region_number": 1, "content": "The dog"},
                        {"region_number": 2, "content": ""},
                        {"region_number": 3, "content": verb},
                    ],
                }
                for name, verb in (("match", "barks"), ("mismatch", "bark"))
            ],
        }
    ],
}
OWN_TABLE = "good\tbad\tconstruction\tmood\nder Hund bellt\tder Hund bellen\tsimple\tcalm\n"
OWN_LINES = "".join(
    json.dumps(line) + "\n"
    for line in (
        {
            "challenge_set": {
                "construction": "simple",
                "language": "de",
                "dataset": "own",
                "contrasts": [{"name": "x", "better": "good", "worse": "bad"}],
            }
        },
        {
            "features": {"subject_number": "singular", "distance": 2},
            "variants": [
                {"role": "good", "grammatical": True, "sentence": "a b", "text": None, "spans": [["target", 1, 2]]},
                {"role": "bad", "grammatical": False, "sentence": "a c", "text": None, "spans": [["target", 1, 2]]},
            ],
        },
    )
)
GRAMMAR = "vary: V[]\nS[] N[s] V[s]\nN[s] Hund\nV[s] bellt\nV[p] bellen\n"

FILES: dict[str, tuple[str, bytes]] = {
    "clams": ("simple.txt", CLAMS.encode()),
    "blimp": ("anaphor.jsonl", (json.dumps(BLIMP) + "\n").encode()),
    "gevalm": ("SVPP_sgpl.jsonl", (json.dumps(GEVALM) + "\n").encode()),
    "marvin_linzen": ("obj_rel_across.pickle", pickle.dumps(MARVIN_LINZEN)),
    "multiblimp": ("deu.tsv", MULTIBLIMP.encode()),
    "gulordava": ("generated.tab", GULORDAVA.encode()),
    "linzen": ("lgd.tsv", LINZEN.encode()),
    "syntaxgym": ("number_prep.json", json.dumps(SYNTAXGYM).encode()),
    "table": ("pairs.csv", b"good_sentence;bad_sentence;phenomenon\nKedi uyuyor.;Kedi uyuyorlar.;agreement\n"),
    "li2021": ("opp.tab", LI2021.encode()),
    "aligned": ("lgd.text", b"the dogs near the cat are loud . <eos>\n"),
    "own": ("mine.tsv", OWN_TABLE.encode()),
    "grammar": ("simple.avg", GRAMMAR.encode()),
}


def write(folder: Path, form: str) -> Path:
    name, content = FILES[form]
    (folder / name).write_bytes(content)
    if form == "aligned":  # three files that go together
        (folder / "lgd.eval").write_text("5\n", encoding="utf-8")
        (folder / "lgd.gold").write_text("5\tare\tis\t1\n", encoding="utf-8")
    return folder / name
