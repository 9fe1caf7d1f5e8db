"""What the machine has, and what it can spare."""

from concord import machine


def test_a_container_or_a_job_leaves_less_memory_than_the_machine_has(tmp_path, monkeypatch):
    assert machine.free_memory() > 2**20
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    for name, text in {"max": "5000000\n", "current": "3000000\n", "stat": "anon 1\nfile 1000000\n"}.items():
        (tmp_path / f"memory.{name}").write_text(text, encoding="ascii")
    assert machine.free_memory() == 3_000_000  # pages of files are given back
    (tmp_path / "memory.max").write_text("max\n", encoding="ascii")
    assert machine.free_memory() > 2**20


def test_where_the_system_does_not_say_what_is_free_all_of_it_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    assert machine.free_memory() > 2**20
