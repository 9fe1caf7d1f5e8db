"""What the pages tell a reader to type is typed here, page by page, in a folder that has the files they name."""

import re
import shutil
from collections.abc import Iterator

import pytest
from documented_commands import ROOT, Journey, clams_corpora, command_server, commands, write_files
from own_study import write_study
from publisher import published

# Settings of these are composed by tests/test_docs.py; what they do is tested where the reason says.
NOT_RUN = {
    r"submitit_slurm": "needs a SLURM cluster: tests/slurm",
    r"data=wikipedia": "needs the network: tests/data has a source of its own",
    r"trainer=ddp trainer.devices=8": "needs eight GPUs: tests/runs runs trainer=ddp_cpu",
    r"hparams_search=optuna": "a search takes its trials' time: tests/runs/sweeps",
    r"report runs --live": "serves until Ctrl-C: tests/report",
    r"model.revisions=": "needs revisions of the hub: tests/watching has a hub of its own",
    r"probes.path=hf:": "needs the hub: tests/probes",
    r"sets show turblimp": "needs the network: tests/probes/test_published_sets.py",
    r"sets list clams": "needs the network: tests/probes/test_published_sets.py",
    r"sets parse ": "needs a parser's model: tests/probes/treebanks",
    r"model.path=outputs/": "needs the released outputs: tests/probes/scorers",
    r"sets check$|sets check FOLDER|COMMAND": "no whole command",
}
# What a reader of the page has done before.
BEFORE = {
    "docs/papers.md": ["concord sets extract fr/obj_participle fr.conllu --out sets"],
    "docs/reports.md": ["concord evaluate ckpt_path=runs/…"],
    "docs/results.md": ["concord evaluate ckpt_path=runs/…"],
    "docs/suites.md": ["concord evaluate model=hf model.name=gpt2 lang=en probes=suites"],
}
PAGES = ["README.md", "grammars/README.md", *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").glob("*.md")))]
INLINE = ("docs/papers.md",)  # its commands stand in tables
REPEATED = ("docs/growth.md",)  # its commands are those of docs/papers.md


def to_run(page: str) -> list[str]:
    found = [command for command in commands(page, page in INLINE) if not any(re.search(reason, command) for reason in NOT_RUN)]
    return list(dict.fromkeys(found))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Iterator[Journey]:
    """Files of all pages, and one small German run."""
    folder = tmp_path_factory.mktemp("pages")
    write_files(folder)
    with command_server(folder) as server, published(clams_corpora()) as corpora:
        journey = Journey(folder, server, corpora.address)
        journey.run("concord train name=given")
        yield journey


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if to_run(page) and page not in REPEATED])
def test_the_commands_of_a_page_run_as_they_stand(page, prepared, tmp_path):
    folder = tmp_path / "page"
    shutil.copytree(prepared.folder, folder, ignore=shutil.ignore_patterns(".cache"))
    if page == "docs/own.md":
        write_study(folder)
    journey = Journey(folder, prepared.server, prepared.corpora)
    for command in [*BEFORE.get(page, []), *to_run(page)]:
        journey.run(command)


def test_every_reason_not_to_run_a_command_has_its_command():
    """A command that is gone from the pages needs no excuse."""
    shown = [command for page in PAGES for command in commands(page, page in INLINE)]
    assert [reason for reason in NOT_RUN if not any(re.search(reason, command) for command in shown)] == []
    assert len(shown) > 80
    assert {command for page in REPEATED for command in to_run(page)} <= {*to_run("docs/papers.md")}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["concord train lagn=de", "concord sets shwo de", "concord evaluate ckpt_path=runs/nowhere"])
def test_a_command_that_fails_is_told(wrong, prepared):
    with pytest.raises(AssertionError, match="error"):
        prepared.run(wrong)
