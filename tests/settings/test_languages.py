"""A language of the user's own needs a name and a code; what else it does not say has defaults, and what is wrong is told."""

import pytest
from concord.errors import UserError
from concord.settings.languages import ANY_TOKENS, read_language


@pytest.fixture
def describe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "conf/lang").mkdir(parents=True)

    def write(text):
        (tmp_path / "conf/lang/it.yaml").write_text(text, encoding="utf-8")
        return read_language("it")

    return write


def test_what_a_language_does_not_say_has_defaults(describe):
    italian = describe("code: it\nname: Italian\n")
    assert (italian.clitics, italian.direction, italian.tokens) == ("split", "ltr", ANY_TOKENS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("code: it\n", "it.yaml: lang.name: this setting is missing"),
        (
            "code: it\nname: Italian\nclitic: split\n",
            "it.yaml: lang.clitic: no such setting; did you mean lang.clitics?",
        ),
        ("code: it\nname: Italian\nclitics: glued\n", "it.yaml: lang.clitics=glued: must be one of split, joined"),
        ("code: [it\n", "it.yaml: while parsing a flow sequence"),
        ("just text", "it.yaml: lang=just text: must be named settings"),
    ],
)
def test_what_is_wrong_is_told_with_the_file(describe, text, message):
    with pytest.raises(UserError, match=message.replace("?", ".")) as told:
        describe(text)
    assert "\n" not in str(told.value)
