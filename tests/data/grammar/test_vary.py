"""The semantics of `vary:`, as section 3 of Mueller et al. (2020) describes them."""

import pytest
from concord.data.grammar import Expansion, GrammarError

JE_PENSE = """
S[] je V[1,s]
V[1,s] pense
V[2,s] penses
V[1,p] pensons
V[2,p] pensez
"""


@pytest.mark.parametrize(
    ("vary", "expected"),
    [
        ("V[]", ["je pense", "*je penses", "*je pensons", "*je pensez"]),
        ("V[1]", ["je pense", "*je pensons"]),
        ("V[1,s]", ["je pense"]),
        ("V[1]; V[s]", ["je pense", "*je penses", "*je pensons"]),
    ],
)
def test_the_four_examples_of_the_paper(expand, vary, expected):
    assert expand(f"vary: {vary}\n{JE_PENSE}") == expected


REFLEXIVE = """
attribute person $p: 1 first | 2 second | 3 third
S[] ich beeile Refl[acc,1,s]
S[] wir beeilen Refl[acc,1,p]
S[] ihr beeilt Refl[acc,2,p]
paradigm Refl[acc]: 1,s | 2,s | 3,s | 1,p | 2,p | 3,p
  mich | dich | sich | uns | euch | sich
paradigm Refl[dat]: 1,s | 2,s
  mir | dir
"""


def test_the_bad_form_can_be_chosen(grammar, expand):
    vary = "vary: Refl[1,s] to [3,s]; Refl[1,p] to [2,s]; Refl[2,p] to [2,s]\n"
    assert expand(vary + REFLEXIVE) == [
        *("ich beeile mich", "*ich beeile sich"),
        *("wir beeilen uns", "*wir beeilen dich"),
        *("ihr beeilt euch", "*ihr beeilt dich"),
    ]
    assert [g.sentences[1].change for g in Expansion(grammar(vary + REFLEXIVE))] == ["third", "second-s", "s"]


def test_a_chosen_form_keeps_its_other_attributes_and_adds_up_with_the_rest(expand):
    first = "\n".join(
        line for line in REFLEXIVE.splitlines() if not line.startswith("S[] wir") and not line.startswith("S[] ihr")
    )
    assert expand("vary: Refl[acc] to [dat]\n" + first) == ["ich beeile mich", "*ich beeile mir"]
    assert expand("vary: Refl[acc] to [dat]; Refl[1,acc]\n" + first) == ["ich beeile mich", "*ich beeile uns", "*ich beeile mir"]


def test_a_chosen_form_that_is_used_must_exist(expand):
    with pytest.raises(GrammarError, match=r"x.avg:1: Refl\[1,dat,p\] is not defined; Refl is defined with other attributes"):
        expand("vary: Refl[acc] to [dat]\n" + REFLEXIVE)


def test_a_chosen_form_leads_joined_slots(expand):
    text = "vary: D[a] to [c] & E[]\nS[] D[a] E[a]\nD[a] x\nD[b] y\nD[c] z\nE[a] u\nE[c] w"
    assert expand(text) == ["x u", "*z w"]


def test_forms_that_no_sentence_has_are_not_called_syncretic(grammar):
    text = "vary: R[acc] to [dat]\nS[] R[1,acc]\nparadigm R: 1,acc | 3,acc | 1,dat | 3,dat\n  mich | sich | mir | sich"
    assert Expansion(grammar(text)).notices == ()


def test_forms_are_paired_by_position(expand):
    sentences = expand("vary: V[]\nS[] il V[s]\nV[s] dort | est petit\nV[p] dorment | sont petits")
    assert sentences == ["il dort", "*il dorment", "il est petit", "*il sont petits"]


def test_order_is_that_of_the_published_sets(expand):
    """Later slots change slowest, the varied slot fastest, the good sentence right before its bad one."""
    sentences = expand("vary: V[]\nS[] D[] N[] V[s] A[]\nD[] a | b\nN[] c | d\nV[s] v\nV[p] w\nA[] e | f")
    assert sentences[:5] == ["a c v e", "*a c w e", "b c v e", "*b c w e", "a d v e"]
    assert sentences[8] == "a c v f"


def test_with_several_varied_slots_all_must_be_right(expand):
    sentences = expand("vary: N[]; V[]\nS[] N[s] V[s]\nN[s] chat\nN[p] chats\nV[s] dort\nV[p] dorment")
    assert sentences == ["chat dort", "*chat dorment", "*chats dort", "*chats dorment"]


def test_a_name_that_occurs_twice_is_varied_twice(expand):
    sentences = expand("vary: V[]\nS[] il V[s] et V[s]\nV[s] dort\nV[p] dorment")
    assert sentences == ["il dort et dort", "*il dort et dorment", "*il dorment et dort", "*il dorment et dorment"]


def test_joined_slots_change_together(grammar):
    text = """
    attribute licensor: good | intrusive | none
    vary: D_1[] & D_2[]
    S[] D_1[good] man that D_2[good] king saw ever left
    D_1[good] no
    D_1[intrusive] the
    D_1[none] the
    D_2[good] the
    D_2[intrusive] no
    D_2[none] the
    """
    (group,) = Expansion(grammar("\n".join(line.strip() for line in text.splitlines())))
    assert [s.change for s in group.sentences] == ["", "intrusive", "none"]
    assert [s.text.split()[0] + s.text.split()[3] for s in group.sentences] == ["nothe", "theno", "thethe"]
    assert group.sentences[1].spans == ((0, 1), (3, 4))


def test_syncretic_forms_are_left_out_counted_and_reported(grammar):
    expansion = Expansion(grammar("vary: N[]\nS[] two N[p]\nN[p] dogs | sheep\nN[s] dog | sheep"))
    assert [[s.text for s in group.sentences] for group in expansion] == [["two dogs", "two dog"]]
    assert expansion.syncretic_sentences == 1
    assert expansion.groups_without_counterpart == 1
    assert any("both 'sheep'; left out as syncretic" in str(notice) for notice in expansion.notices)


def test_unequal_numbers_of_forms_are_an_error_that_names_both(grammar):
    text = "vary: N_2[]\nS[] mit N_2[s,dat]\nN_2[s,dat] a | b\nN_2[p,dat] c"
    with pytest.raises(GrammarError, match=r"x.avg:4: N_2\[p,dat\] has 1 forms but N_2\[s,dat\] has 2; forms are paired"):
        list(Expansion(grammar(text)))


def test_a_misspelt_vary_line_is_an_error(grammar):
    with pytest.raises(GrammarError, match=r"x.avg:1: vary: W\[\] names no slot; the names here are S, V"):
        Expansion(grammar("vary: W[]\nS[] V[s]\nV[s] a\nV[p] b"))


def test_a_misspelt_attribute_in_a_vary_line_is_an_error(grammar):
    with pytest.raises(GrammarError, match=r"x.avg:1: vary: no V has the attributes of V\[sg\]"):
        Expansion(grammar("vary: V[sg]\nS[] V[s]\nV[s] a\nV[p] b"))


def test_a_varied_phrase_is_an_error(grammar):
    with pytest.raises(GrammarError, match="VP.*is varied but refers to other rules; vary the slot that holds the words"):
        list(Expansion(grammar("vary: VP[]\nS[] VP[s]\nVP[s] lacht\nVP[p] V[p]\nV[p] lachen")))


def test_a_set_without_a_vary_line_is_told_so(tmp_path):
    from concord.probes.readers.grammar import expand_grammar

    (tmp_path / "prep.avg").write_text("S[] N[] V[]\nN[] Gast\nV[] wartet\n", encoding="utf-8")
    with pytest.raises(GrammarError, match=r"prep.avg: no vary: line, so nothing is tested; add one"):
        expand_grammar(tmp_path, "prep", "de")
