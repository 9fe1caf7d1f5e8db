"""Work on several processes: the same results in the same order, and nothing left behind."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from concord.data.blocks import CHARACTERS, BlockPacker, Chunk, _Team, chunks, in_order, pack
from concord.data.conllu import TreebankText
from concord.data.corpus import VocabularyRule, prepare
from concord.data.sources import TextSource
from concord.data.text import TokenizedText
from concord.errors import UserError


def doubled(number: int) -> int:
    time.sleep(0.02 if number % 3 == 0 else 0)
    return 2 * number


def angry(number: int) -> int:
    if number == 5:
        raise UserError("five is too many")
    return number


def fatal(number: int) -> int:
    if number == 5:
        os._exit(1)
    return number


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_items(workers):
    assert list(in_order(doubled, range(17), workers)) == [2 * n for n in range(17)]


def test_items_are_fetched_only_a_little_ahead():
    fetched = []

    def items():
        for number in range(50):
            fetched.append(number)
            yield number

    results = in_order(doubled, items(), 2)
    for _ in range(10):
        next(results)
    assert len(fetched) <= 10 + 2 + 2
    results.close()
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(("function", "message"), [(angry, "five is too many"), (fatal, "has died; .* data.workers=1")])
def test_what_goes_wrong_in_another_process_is_told_here(function, message):
    with pytest.raises(UserError, match=message):
        list(in_order(function, range(20), 2))
    assert not multiprocessing.active_children()


def test_a_block_has_its_words_once_and_its_sentences_as_numbers_of_them():
    block = pack([["a", "b", "a"], ["c"], ["b", "c"]])
    assert block.words == ["a", "b", "c"]
    assert block.ids.tolist() == [0, 1, 0, 2, 1, 2]
    assert block.lengths.tolist() == [3, 1, 2]


def test_challenge_sentences_are_found_whatever_their_first_letter_and_final_mark():
    packing = BlockPacker(TokenizedText(), ["der Gast lacht", "die Gäste lachen ."])
    lines = ["Der Gast lacht .", "der Gast lacht !", "Der Gast lacht laut .", "die Gäste lachen", "der gast lacht ."]
    block = packing(Chunk("", 1, lines))
    assert len(block.lengths) == 2
    assert block.left_out == {"challenge sentences": 3}


def test_text_is_cut_only_where_a_sentence_ends():
    lines = [*["1\tx" + "\t_" * 8] * 9, ""] * (CHARACTERS // 100)
    found = list(chunks("a", lines, TreebankText()))
    assert len(found) > 1
    assert all(chunk.lines[-1] == "" for chunk in found)
    assert [chunk.first for chunk in found] == np.cumsum([1, *(len(chunk.lines) for chunk in found[:-1])]).tolist()
    assert [line for chunk in found for line in chunk.lines] == lines


def large_text(file: Path, lines: int) -> TextSource:
    """Several chunks of it."""
    rng = np.random.RandomState(0)
    words = [f"wort{number}" for number in range(3000)]
    with file.open("w", encoding="utf-8") as stream:
        for _ in range(lines):
            stream.write(" ".join(words[i] for i in rng.zipf(1.3, 20) % 3000) + " .\n")
    return TextSource({"all": file}, TokenizedText(), seed=0)


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_corpus_is_the_same_whatever_the_number_of_processes(tmp_path):
    source = large_text(tmp_path / "text.txt", 40_000)
    made = [prepare(source, VocabularyRule(500), tmp_path / str(n), workers=n).folder for n in (1, 2, 3)]
    assert (tmp_path / "text.txt").stat().st_size > 4 * CHARACTERS
    assert files_of(made[0]) == files_of(made[1]) == files_of(made[2])


def _prepare(folder: Path, seconds: float = 0) -> None:
    source = TextSource({"all": folder / "text.txt"}, TokenizedText(), seed=0)
    if seconds:
        original = source.blocks

        def slow(workers=None):
            for number, block in enumerate(original(workers)):
                if number == 3:  # the others are at work by now
                    (folder / "workers").write_text(" ".join(str(p.pid) for p in multiprocessing.active_children()))
                    time.sleep(seconds)
                yield block

        source.blocks = slow
    corpus = prepare(source, VocabularyRule(500), folder / "cache", workers=2)
    assert corpus.train.tokens > 1000


def started(*args) -> multiprocessing.Process:
    process = multiprocessing.get_context("fork").Process(target=_prepare, args=args)
    process.start()
    return process


def test_eight_processes_that_ask_at_once_share_one_corpus(tmp_path):
    large_text(tmp_path / "text.txt", 40_000)
    processes = [started(tmp_path) for _ in range(8)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 8
    folders = [file for file in (tmp_path / "cache").iterdir() if file.is_dir()]
    assert len(folders) == 1


def test_a_process_killed_while_others_work_for_it_leaves_nothing_in_the_way(tmp_path):
    large_text(tmp_path / "text.txt", 40_000)
    process = started(tmp_path, 60)
    while not (tmp_path / "workers").exists() or not (tmp_path / "workers").read_text():
        time.sleep(0.01)
    workers = [int(pid) for pid in (tmp_path / "workers").read_text().split()]
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert len(workers) == 2
    _prepare(tmp_path)
    assert not list((tmp_path / "cache").glob("*.building-*"))
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < deadline, "its workers are still there"
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_ctrl_c_does_not_reach_a_process_that_has_only_just_been_started(capfd):
    """It is for the one that gives the orders; while Python starts, nothing else would keep it away."""
    team = _Team(abs, 1)
    os.kill(team.members[0].pid, signal.SIGINT)
    assert list(team.work([-1, -2])) == [1, 2]
    team.dismiss()
    assert capfd.readouterr().err == ""
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
