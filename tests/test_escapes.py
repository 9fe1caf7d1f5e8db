"""Names of strangers do nothing but be names: in a terminal, in CSV, in Markdown, on the page."""

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from concord.errors import UserError
from concord.escapes import csv_cell, markdown_cell, printable
from concord.report.grids import Cell, Grid, Head, to_csv, to_markdown
from concord.report.page import table_html
from concord.report.sections import _address
from concord.terminal import console, table

NASTY = ["<!--<script>", "[/red]", "[bold]x", "a|b", "a\nb", "=1+1", "@x", "100%", "a#b", "a/b", "\x1b[31mred\x07", "</script>"]


@pytest.mark.parametrize("name", NASTY)
def test_a_terminal_shows_a_name_as_it_is_written_and_obeys_nothing(name):
    view = table("title " + name, "column", last="more")
    view.add_row(name, name)
    with console.capture() as captured:
        console.print(view)
    shown = captured.get()
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown
    assert printable(name).splitlines()[0] in shown


def test_an_error_that_quotes_a_file_obeys_nothing_in_it():
    assert str(UserError("x\x1b]0;title\x07.txt:1: \x9b wrong")) == "x␛]0;title␇.txt:1: � wrong"
    assert str(UserError("größer\tals")) == "größer\tals"


@pytest.mark.parametrize(
    ("text", "written"),
    [("=1+1", "'=1+1"), ("@x", "'@x"), ("+x", "'+x"), ("-0.5", "-0.5"), ("-1,000", "-1,000"), ("-x", "'-x"), ("prep", "prep")],
)
def test_a_spreadsheet_takes_no_name_for_a_formula(text, written):
    assert csv_cell(text) == written


def grid(name):
    return Grid("g", "title", "note", "corner", (Head("", name),), ((name, (Cell("0.5", (("value", 0.5),)),)),))


@pytest.mark.parametrize("name", NASTY)
def test_every_way_to_write_a_table_keeps_its_shape(name):
    made = grid(name)
    lines = [line for line in to_markdown(made).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}
    rows = list(csv.reader(io.StringIO(to_csv(made))))
    assert len(rows) == 2
    assert rows[1][0].lstrip("'") == name
    assert markdown_cell(name).count("\n") == 0
    found = Counting()
    found.feed(table_html(made) + "<i>the end</i>")
    assert found.scripts == 0
    assert found.ends == 1
    assert found.text.count("the end") == 1


class Counting(HTMLParser):
    """What a browser would see."""

    def __init__(self):
        super().__init__()
        self.scripts = self.ends = 0
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.ends += tag == "i"

    def handle_data(self, data):
        self.text += data


def test_the_address_of_a_construction_survives_any_name():
    assert _address("de", "own", "a/b#c%") == "#/de/own/a%2Fb%23c%25"
