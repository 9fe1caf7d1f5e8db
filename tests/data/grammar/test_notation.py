"""What may be written, and what a slip of the pen is told."""

import pytest
from concord.data.grammar import Expansion, GrammarError, parse
from concord.data.grammar.notation import Rule, SymbolReference


def test_published_lines_mean_what_they_meant():
    statements = parse("# a comment\n\nvary: V_3[]\nS[] NP_1[3,s,m] V_2[3,s] et V_3[3,s]\nV_2[3,s] est petit | dort \n", "x")
    rule = statements[1]
    assert isinstance(rule, Rule)
    assert rule.alternatives[0].parts == (
        SymbolReference("NP_1", ("3", "s", "m")),
        SymbolReference("V_2", ("3", "s")),
        "et",
        SymbolReference("V_3", ("3", "s")),
    )
    assert [str(a) for a in statements[2].alternatives] == ["est petit", "dort"]


@pytest.mark.parametrize(
    "line",
    [
        "S[] -> a b",
        "S[] → a b",
        "S a b",
        "S[]\ta\tb",
        "  S[]  a   b  ",
        "S[] a b # as in the paper",
        "S[] a b\r",
        "\ufeffS[] a b",
    ],
)
def test_small_differences_of_spelling_do_not_matter(expand, line):
    assert expand(line.lstrip("\ufeff")) == ["a b"]


def test_attributes_are_a_set_and_may_hold_spaces(expand):
    assert expand("S[] V[s, 3 person]\nV[3 person,s] a") == ["a"]


def test_repeated_left_sides_add_up_and_repetitions_are_reported(grammar):
    made = grammar("S[] N[]\nN[] a | b\nN[] c | a")
    assert [s.text for g in Expansion(made) for s in g.sentences] == ["a", "b", "c", "a"]
    assert [str(n) for n in made.notices] == ["x.avg:3: N[] has 'a' twice, first at x.avg:2"]


def test_a_paradigm_is_the_same_as_its_lists(grammar):
    table = grammar("attribute case $c: nom | dat\nS[] N[m,s,nom]\nparadigm N[m]: s,$c | p,nom | p,dat\n  a | b | c\n  d | e | f")
    lists = grammar("attribute case $c: nom | dat\nS[] N[m,s,nom]\nN[m,s,$c] a | d\nN[m,p,nom] b | e\nN[m,p,dat] c | f")
    spelt = [{g.spell(s): [str(a) for a in body] for s, body in g.rules.items()} for g in (table, lists)]
    assert spelt[0] == spelt[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S[] der N[x", r"x.avg:1: bad brackets in '\['; a nonterminal is written NAME\[attribute,attribute\]"),
        ("S[] a\nN]s[ b", r"x.avg:2: bad brackets"),
        ("[s] a", r"x.avg:1: bad brackets"),
        ("S[] a | | b", r"x.avg:1: an alternative is empty; remove the extra \|, or write \{\} for nothing"),
        ("S[]", r"x.avg:1: S\[\] has no right-hand side"),
        ("S[] N[s,,p]", r"x.avg:1: empty attribute"),
        ("S[] N[s,s]", r"x.avg:1: \[s,s\] names an attribute twice"),
        ("S[] N[$n,$n2]", r"x.avg:1: \[\$n,\$n2\]: two variables of one range; attributes have no order"),
        ("S[] {0} a", r"x.avg:1: '0' in braces is neither a weight above 0 nor a tag"),
        ("S[] {2 a", r"x.avg:1: '\{2 a' opens \{ without closing it"),
        ("S[] a {2} b", r"x.avg:1: braces in '\{2\}'"),
        ("S[] N[$n]", r"x.avg:1: \$n ranges over nothing; declare it \(attribute number \$n: s \| p\). Declared: none"),
        ("S[] N[$1]", r"x.avg:1: '\$1' is not a variable"),
        ("S[] N[s]\nN[p] a", r"x.avg:1: N\[s\] is not defined; N is defined with other attributes: N\[p\]"),
        ("S[] Nuon[s]\nNoun[s] a", r"x.avg:1: Nuon\[s\] is not defined; did you mean Noun\?"),
        ("S[] X[]", r"x.avg:1: X\[\] is not defined; add a line X\[\] …"),
        ("N[] a", r"x.avg:1: no S\[\] rule"),
        ("S[] NP[]\nNP[] a | NP[] b", r"x.avg:2: unbounded recursion: NP\[\] → NP\[\]; limit its depth, .* limit NP: 1"),
        ("limit NP: 99\nS[] a", r"x.avg:1: limit NP: '99'; write limit NAME: and how deep it may nest, 0 to 20"),
        (
            "limit NP: 3\nS[] NP[]\nNP[] NP[]",
            r"x.avg: S\[\] has no sentence left within the recursion limits; give it an alternative that ends",
        ),
        ("vary:\nS[] a", r"x.avg:1: vary: names no slot"),
        ("vary: V[$n]\nS[] a", r"x.avg:1: vary: V\[\$n\] has a variable"),
        ("vary: V[s] to [$n]\nS[] a", r"x.avg:1: vary: V\[s\] to \[\$n\] has a variable"),
        (
            "vary: V[s] to [s]\nS[] a",
            r"x.avg:1: vary: V\[s\] to \[s\] changes nothing; write for instance vary: Refl\[1,s\] to \[3,s\]",
        ),
        ("vary: V[s] to []\nS[] a", r"x.avg:1: vary: V\[s\] to \[\] changes nothing"),
        ("vary: V[s] to p\nS[] a", r"x.avg:1: bad brackets in 'V\[s\] to p'"),
        ("S[] {a=} b", r"x.avg:1: 'a=' in braces is neither a weight above 0 nor a tag \(.*\) nor a new feature=value"),
        ("S[] {a=b a=c} d", r"x.avg:1: 'a=c' in braces is neither"),
        (
            "S[] N[]\nN[] {a=b} c | d",
            r"x.avg:2: N\[\] gives the feature a to individual words; give it to a template or a phrase",
        ),
        ("attribute number $n:\nS[] a", r"x.avg:1: attribute number: '' is empty, repeated or bracketed"),
        ("attribute a $n: s\nattribute b $n: t\nS[] a", r"x.avg:2: '\$n' already belongs to attribute a \(x.avg:1\)"),
        ("attribute a: s\nattribute b: s\nS[] a", r"x.avg:2: 's' already belongs to attribute a"),
        ("feature f: number of N\nS[] a", r"x.avg:1: feature f: no attribute 'number'; declared: none"),
        ("feature f: a b c\nS[] a", r"x.avg:1: feature f: write `ATTRIBUTE of SLOT`"),
        ("paradigm N[]: s | p\n  a\nS[] a", r"x.avg:2: this row has 1 forms but its paradigm has 2"),
        ("paradigm N[s]: s | p\nS[] a", r"x.avg:1: paradigm N\[s\]: \[s,s\] names an attribute twice"),
    ],
)
def test_errors_say_where_what_and_how_to_mend_it(grammar, text, message):
    with pytest.raises(GrammarError, match=message):
        list(Expansion(grammar(text)))


def test_too_many_values_are_refused_before_they_fill_the_memory(grammar):
    values = " | ".join(f"v{i}" for i in range(50))
    slots = " ".join(f"N[$n{i}]" for i in range(10))
    with pytest.raises(GrammarError, match="over 100,000 values together"):
        grammar(f"attribute number $n: {values}\nS[] {slots}\nN[$n] b")


def test_a_long_chain_of_rules_is_refused_not_a_crash(grammar):
    chain = "\n".join(f"A{i}[] A{i + 1}[]" for i in range(3000))
    with pytest.raises(GrammarError, match="nested more than 100 deep"):
        list(Expansion(grammar(f"S[] A0[]\n{chain}\nA3000[] a")))
