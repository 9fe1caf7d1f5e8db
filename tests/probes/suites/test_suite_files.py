"""What is read is written again; what cannot be used is told by suite, item and condition."""

import copy
import json
import lzma
from pathlib import Path

import pytest
from concord.probes.challenge_set import SetError
from concord.probes.suites.csv_files import head_file, read_csv, write_csv
from concord.probes.suites.evaluated import RegionValue, VariantRegion, with_values
from concord.probes.suites.formula import RegionReference
from concord.probes.suites.json_files import document_of, read_json, suite_from, write_json
from concord.probes.suites.suite_files import files_of, read, write

PUBLISHED = Path(__file__).resolve().parents[4] / "shared/reference/syntaxgym"


def condition(name, *contents):
    return {"condition_name": name, "regions": [{"region_number": n, "content": c} for n, c in enumerate(contents, start=1)]}


def document():
    items = [("The dog", "", "barks", "bark"), ('The "old", cat', "there", "sleeps", "sleep")]
    return {
        "meta": {"name": "small", "metric": "sum", "licence": "ours"},
        "region_meta": {"1": "subject", "2": "pp", "3": "verb"},
        "predictions": [{"type": "formula", "formula": "(3;%match%) < (3;%mismatch%)", "weight": 2}],
        "items": [
            {"item_number": n, "conditions": [condition("match", *s, good), condition("mismatch", *s, bad)], "source": "made up"}
            for n, (*s, good, bad) in enumerate(items, start=1)
        ],
        "history": [1, None, {"a": "ñ"}],
    }


def changed(path, value):
    """The document with one place changed; None removes it."""
    made = copy.deepcopy(document())
    *way, last = path
    holder = made
    for key in way:
        holder = holder[key]
    if value is None:
        del holder[last]
    else:
        holder[last] = value
    return made


def test_a_suite_knows_its_parts():
    suite = suite_from(document(), "small.json")
    assert (suite.name, suite.conditions, suite.regions) == ("small", ("match", "mismatch"), (1, 2, 3))
    assert (suite.metric, suite.joiner, suite.item_rule) == ("sum", "blank", "all")
    assert suite.items[1].content(RegionReference(3, "mismatch")) == "sleep"
    assert suite.items[0].content(RegionReference(None, "match")) == "The dog barks"
    assert suite.spell(RegionReference(3, "match")) == "verb@match"
    (way,) = suite.predictions[0].ways
    assert [comparison.relation for comparison in way] == ["<"]


def test_unknown_keys_are_kept_everywhere(tmp_path):
    made = document()
    made["items"][0]["conditions"][0]["note"] = {"by": "us"}
    made["items"][0]["conditions"][0]["regions"][0]["gloss"] = "der Hund"
    (tmp_path / "a.json").write_text(json.dumps(made))
    suite = read_json(tmp_path / "a.json")
    write_json(suite, tmp_path / "b.json")
    assert json.loads((tmp_path / "b.json").read_text()) == made
    assert document_of(read_json(tmp_path / "b.json")) == made


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published suites are not here")
@pytest.mark.parametrize("file", sorted(PUBLISHED.glob("*.json.xz")) if PUBLISHED.is_dir() else [], ids=lambda file: file.name)
def test_published_suites_are_written_as_they_were(file, tmp_path):
    suite = read(file)
    write_json(suite, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == lzma.decompress(file.read_bytes())
    write_csv(suite, tmp_path / "table.csv")
    write_json(read(tmp_path / "table.csv"), tmp_path / "from_csv.json")
    assert (tmp_path / "from_csv.json").read_bytes() == lzma.decompress(file.read_bytes())


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("meta", "metric"), "product", "meta.metric is 'product'; it must be one of sum, mean, median, min, max, range"),
        (("meta", "joiner"), ["x"], "meta.joiner is .* one of blank, running"),
        (("meta", "item_rule"), "some", "meta.item_rule is 'some'; it must be one of all, first, each"),
        (("meta", "name"), 3, "meta.name must be text; it is '3'"),
        (("meta",), 3, "meta must be a JSON object"),
        (("region_meta",), [], "region_meta must be a JSON object from region numbers to names"),
        (("region_meta", "x"), "y", "region_meta has 'x': 'y'; it maps region numbers to names"),
        (("predictions",), None, "the suite has no list of predictions"),
        (("predictions", 0), 3, "the suite: entry 1 of predictions must be a JSON object; it is 3"),
        (("predictions", 0, "formula"), None, "prediction 1: formula must be text; it is missing"),
        (("predictions", 0, "formula"), " ", "prediction 1: the formula is empty"),
        (("predictions", 0, "type"), "python", "prediction 1: type is 'python'; it must be formula"),
        (("predictions", 0, "name"), 3, "prediction 1: name must be text; it is 3"),
        (("predictions", 0, "formula"), "(3;%match%) <", r"prediction 1: expected a number.*\n.*\n +\^"),
        (
            ("predictions", 0, "formula"),
            "(4;%match%) < 1",
            r"prediction 1: \(4;%match%\): no region 4; available: 1, 2, 3",
        ),
        (("predictions", 0, "formula"), "(3;%mtch%) < 1", "no condition 'mtch'; available: match, mismatch"),
        (("items",), [], "the suite has no items"),
        (("items",), None, "the suite has no list of items"),
        (("items", 1, "item_number"), 1, "item 1 appears twice; number the items from 1"),
        (("items", 1, "item_number"), "2", "item 2: item_number must be a whole number; it is '2'"),
        (("items", 1, "conditions"), None, "item 2 has no list of conditions"),
        (("items", 1, "conditions"), [], "item 2: it must have conditions, with different names"),
        (("items", 1, "conditions", 0, "condition_name"), "mismatch", "item 2: it must have conditions, with different names"),
        (
            ("items", 1, "conditions", 0, "condition_name"),
            "other",
            "item 2 has the conditions other, mismatch, but item 1 has match",
        ),
        (("items", 1, "conditions", 0, "condition_name"), "5%", "item 2: the condition name '5%' is empty or has a %"),
        (("items", 1, "conditions", 0, "regions"), "x", "item 2, match has no list of regions"),
        (("items", 1, "conditions", 0, "regions", 2), None, "item 2, match has the regions 1, 2, but the first .* has 1, 2, 3"),
        (
            ("items", 1, "conditions", 0, "regions", 2, "region_number"),
            2,
            "item 2, match: a region number appears twice: 1, 2, 2",
        ),
        (("items", 1, "conditions", 0, "regions", 2, "region_number"), True, "region_number must be a whole number; it is True"),
        (("items", 1, "conditions", 0, "regions", 2, "content"), 3, "item 2, match, region 3: content must be text; it is 3"),
        (("items", 0, "conditions", 1, "regions"), [{"content": ""}] * 3, "item 1, mismatch: all regions are empty"),
    ],
)
def test_faults_are_told_by_suite_item_and_condition(path, value, message):
    with pytest.raises(SetError, match=message) as error:
        suite_from(changed(path, value), "small.json")
    assert str(error.value).startswith("small.json: ")


def test_only_a_sum_of_nothing_has_a_value():
    made = changed(("meta", "metric"), "mean")
    assert suite_from(made, "a.json").metric == "mean"
    made["predictions"][0]["formula"] = "(2;%match%) < (2;%mismatch%)"
    with pytest.raises(
        SetError, match=r"prediction 1: \(2;%match%\) is empty in item 1, where mean is undefined; use metric sum"
    ):
        suite_from(made, "a.json")


def test_json_that_is_none_is_told_with_its_line(tmp_path):
    (tmp_path / "a.json").write_text('{\n\n"meta": }')
    with pytest.raises(SetError, match=r"a.json:3: not JSON"):
        read_json(tmp_path / "a.json")
    (tmp_path / "b.json").write_text("[1]")
    with pytest.raises(SetError, match=r"b.json: a suite must be one JSON object with meta, region_meta, predictions and items"):
        read_json(tmp_path / "b.json")


def test_a_table_and_its_head_are_the_suite(tmp_path):
    made = document()
    for item in made["items"]:
        del item["source"]
    made["items"][0]["conditions"][0]["regions"][0]["content"] = 'a, "b"\nc'
    made["items"][0]["conditions"][0]["regions"][0]["metric_value"] = {"sum": 1.5}
    suite = suite_from(made, "small.json")
    write_csv(suite, tmp_path / "small.csv")
    assert document_of(read_csv(tmp_path / "small.csv")) == made
    assert files_of([tmp_path]) == [tmp_path / "small.csv"]
    head_file(tmp_path / "small.csv").unlink()
    bare = read_csv(tmp_path / "small.csv")
    assert (bare.name, bare.predictions, bare.items, bare.region_names) == ("small", (), suite.items, suite.region_names)


def test_what_a_table_cannot_hold_is_not_lost_in_silence(tmp_path):
    with pytest.raises(SetError, match="item 1 has source, which CSV cannot hold; write JSON instead"):
        write_csv(suite_from(document(), "small.json"), tmp_path / "small.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.csv:1: the columns item_number, condition_name, region_number, content are missing"),
        ("item_number,condition_name,region_number,content\n", "a.csv: the suite has no items"),
        ("item_number,condition_name,region_number,content,content\n", "a.csv:1: the header has a column twice"),
        ("item_number,condition_name,region_number,content\n1,a,1\n", "a.csv:2: 3 cells, but the header has 4; quote cells"),
        ("item_number,condition_name,region_number,content\nx,a,1,b\n", "a.csv:2: item_number and region_number must be whole"),
        ('item_number,condition_name,region_number,content\n1,a,1,"b\n', "a.csv:2: not CSV"),
        (
            "item_number,condition_name,region_number,region_name,content\n1,a,1,x,b\n1,b,1,y,b\n",
            "a.csv:3: region 1 is named 'y' here but 'x' above",
        ),
    ],
)
def test_faults_of_a_table_are_told_with_their_line(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(SetError, match=message):
        read_csv(tmp_path / "a.csv")


def test_an_evaluated_suite_has_values_and_unknown_words_in_every_region():
    suite = suite_from(document(), "small.json")
    places = [(i.number, c.name, r.number) for i in suite.items for c in i.conditions for r in c.regions]
    values = {VariantRegion(*place): RegionValue(float(n), ("dog",) if n == 0 else ()) for n, place in enumerate(places)}
    regions = document_of(with_values(suite, values))["items"][0]["conditions"][0]["regions"]
    assert regions[0] == {"region_number": 1, "content": "The dog", "metric_value": {"sum": 0.0}, "oovs": ["dog"]}
    assert regions[2]["oovs"] == []


def test_the_ending_says_how_a_suite_is_written(tmp_path):
    made = document()
    del made["items"][0]["source"], made["items"][1]["source"]
    suite = suite_from(made, "small.json")
    for name in ("a.json", "a.csv"):
        write(suite, tmp_path / name)
        assert read(tmp_path / name).items == suite.items
    with pytest.raises(SetError, match="suites can be written as .json or .csv"):
        write(suite, tmp_path / "a.suite")


def test_other_files_are_no_suites(tmp_path):
    with pytest.raises(SetError, match="not a suite; the suffixes are .suite, .json"):
        read(tmp_path / "a.txt")
    with pytest.raises(SetError, match="no suite in this folder; the suffixes are"):
        files_of([tmp_path])
