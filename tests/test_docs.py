"""What the documents name exists."""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "grammars/README.md",
    *(str(file.relative_to(ROOT)) for file in sorted(ROOT.glob("docs/*.md"))),
]
FOLDERS = "src|conf|grammars|tests|benchmarks|docs"


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def missing_places(text: str) -> list[str]:
    """Files and folders that are named but not there; `<lang>`, `{lang}` and `…` stand for something that must exist."""
    named = re.findall(rf"(?<![\w/.])((?:{FOLDERS})/[^\s`'\",;:)\]]*)", text)
    patterns = {name: re.sub(r"<[^>]*>|\{\w+\}|…", "*", name.rstrip(".")).rstrip("/") for name in named}
    return [name for name in named if not list(ROOT.glob(patterns[name]))]


def missing_modules(text: str) -> list[str]:
    """Modules that are to be run or imported but cannot be found."""
    named = re.findall(r"(?:python3? -m |from |import )(concord[\w.]*)", text)
    return [name for name in named if importlib.util.find_spec(name.rstrip(".")) is None]


def strange_names(section: str) -> list[str]:
    """Names in a section about a folder of `src` that no module or package below it has."""
    room, *names = re.findall(r"`([a-z_/]+)`", section)
    modules = {file.stem if file.stem != "__init__" else file.parent.name for file in (ROOT / room).rglob("*.py")}
    return [f"{room}: {name}" for name in names if name.rstrip("/").split("/")[-1] not in modules | {"concord"}]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_places_and_modules_that_documents_name_exist(document):
    assert missing_places(text_of(document)) == []
    assert missing_modules(text_of(document)) == []


def broken_links(document: str, text: str) -> list[str]:
    """Links to files of the project that are not there, and to headings that no page has."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, heading = target.partition("#")
        place = (ROOT / document).parent / file if file else ROOT / document
        if not target.startswith("http") and not (place.exists() and (not heading or heading in headings(place))):
            broken.append(target)
    return broken


def headings(file: Path) -> set[str]:
    """As links name them."""
    titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document):
    assert broken_links(document, text_of(document)) == []
    assert broken_links(document, "[a](docs/nowhere.md) [b](#no-such-heading) [c](https://example.org)") != []


def test_the_site_has_every_page():
    site = text_of("mkdocs.yml")
    assert [document for document in DOCUMENTS if document not in site] == []


def test_the_tour_names_modules_of_the_room_it_is_in():
    tour = text_of("CONTRIBUTING.md").split("## A tour\n")[1].split("\n## ")[0]
    rooms = [section for section in tour.split("\n### ") if section.startswith("`src")]
    assert len(rooms) > 6
    assert [name for section in rooms for name in strange_names(section)] == []


def test_names_that_do_not_exist_are_found():
    """These tests can fail."""
    wrong = "`src/lm/netwroks/<name>.py`, `src/lm/optimisations.py`, conf/model/optimiser/, `grammars/<lang>/comon.avg`"
    assert missing_places(wrong) == [
        "src/lm/netwroks/<name>.py",
        "src/lm/optimisations.py",
        "conf/model/optimiser/",
        "grammars/<lang>/comon.avg",
    ]
    assert missing_places("`src/lm/networks/<name>.py` and `conf/model/optimizer/`.") == []
    assert missing_modules("python -m concord.commands.reprot runs") == ["concord.commands.reprot"]
    assert strange_names("`src/data/grammar`: `foldr` finds, `notation` reads, `batches`") == [
        "src/data/grammar: foldr",
        "src/data/grammar: batches",
    ]


def test_one_version_everywhere():
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert f"\nversion: {version}\n" in text_of("CITATION.cff")
    assert re.search(r"^## (\d.*)$", text_of("CHANGELOG.md"), re.MULTILINE)[1] == version


def test_the_commands_of_the_readme_are_those_of_the_makefile():
    targets = re.findall(r"\bmake ([a-z-]+)", text_of("README.md"))
    assert len(targets) > 1
    for target in targets:
        assert re.search(rf"^{target}:", text_of("Makefile"), re.MULTILINE), target


def examples(program: str) -> list[tuple[str, str]]:
    """Everything that documents tell a reader to train or to evaluate, in blocks and in sentences."""
    return [
        (document, found.strip())
        for document in DOCUMENTS
        if document != "docs/own.md"  # tests/test_own.py follows it to the letter
        for found in re.findall(rf"(?:^|`)concord {program} ([^#`\n]*)", text_of(document), re.MULTILINE)
    ]


@pytest.mark.parametrize("program", ["train", "evaluate"])
def test_examples_are_real_settings(program):
    from concord.commands.typed_arguments import as_typed
    from hydra import compose, initialize_config_dir

    assert len(examples(program)) > 20
    for document, command in examples(program):
        overrides = [
            word for word in shlex.split(command) if "=" in word and not {*"…<"} & {*word} and not word.startswith("text=")
        ]
        if "-m" in command.split():  # of a sweep: its first job
            overrides = [word if "[" in word else word.split(",")[0] for word in overrides]
        with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
            assert compose(program, as_typed(overrides)), (document, command)
