"""The command and the two lines of a notebook."""

import subprocess
import sys
from pathlib import Path

import pytest
from concord.commands.report import main
from concord.errors import UserError
from concord.report import draw, load
from concord.report.figures import FIGURES
from synthetic_runs import ROOT

NOT_HERE = {"circuits", "stability", "training_size"}  # figures of suites, and of training texts of several sizes


def test_the_command_writes_tables_figures_and_a_page(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    (tmp_path / "empty").mkdir()
    asked = [str(study), str(tmp_path / "empty"), "--out", str(out), "--rows", "construction", "--columns", "attractor_number"]
    assert main(asked) == 0
    said = capsys.readouterr().out
    assert f"page       {out}/report.html" in said
    assert f"left out   {tmp_path}/empty: empty" in said
    assert {file.suffix for file in (out / "tables").iterdir()} == {".md", ".csv", ".tex"}
    assert (
        {file.stem for file in (out / "figures").glob("*.svg")}
        == set(FIGURES) - NOT_HERE
        == {file.stem for file in (out / "figures").glob("*.png")}
    )
    assert "German · lstm (3 seeds)" in (out / "tables.md").read_text(encoding="utf-8")
    assert (out / "tables/by-construction-and-attractor_number-language-condition.md").exists()
    assert "<text" in (out / "figures/bars.svg").read_text(encoding="utf-8")  # text stays text


def test_wrong_input_is_told_in_one_line(study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing")]) == 1
    assert ": no such folder" in capsys.readouterr().err
    assert main([str(study), "--baseline", "nobody", "--out", str(tmp_path / "out")]) == 1
    assert "--baseline nobody: no such run in this report" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
    assert "nothing to report on" in capsys.readouterr().err


def test_help_answers_without_loading_anything() -> None:
    code = "import sys\ntry:\n    import concord.commands.report as m; m.main(['--help'])\nexcept SystemExit: pass\n"
    code += "print('LOADED', [n for n in ('numpy', 'pyarrow', 'torch', 'pandas') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "--baseline RUN" in done.stdout
    assert "LOADED []" in done.stdout


def test_two_lines_are_enough_for_a_notebook(study: Path) -> None:
    frame = load(f"{study}/de-*")
    assert set(frame.language) == {"de"}
    final = frame[(frame.moment == "final") & (frame.construction == "prep") & (frame.condition == "lstm")]
    assert sorted(final.seed) == [1, 2, 3]
    assert final.low.nunique() == 1  # the interval is that of the condition
    assert (final.low < final.accuracy.mean()).all()
    curve = frame[(frame.run == "de-lstm-s1") & (frame.construction == "mean") & frame.moment.str.startswith("step")]
    assert list(curve.words) == sorted(curve.words)
    needing_more = {*NOT_HERE, "languages"}  # and one recipe in several languages
    for kind in set(FIGURES) - needing_more:
        assert draw(frame, kind).axes
    for kind in needing_more:
        with pytest.raises(UserError, match=f"{kind}: "):
            draw(frame, kind)
    german = draw(frame[frame.condition == "lstm"], "curves")
    assert [axis.get_title(loc="left") for axis in german.axes] == ["German, lstm (3 seeds)", ""]
    with pytest.raises(UserError, match="pie: no such figure; choose one of: curves, bars, heat, perplexity"):
        draw(frame, "pie")
    with pytest.raises(UserError, match="none of these runs was probed during training"):
        draw(frame[frame.moment == "final"], "curves")


def test_lines_can_be_told_apart_without_colour(study: Path) -> None:
    axis = draw(load(f"{study}/de-lstm-*"), "curves").axes[0]
    drawn = [line for line in axis.get_lines() if len(line.get_xdata()) > 2]
    looks = {(line.get_linestyle(), line.get_marker(), str(line._dash_pattern)) for line in drawn}
    assert len(looks) == len(drawn) == 7


def test_a_missing_package_is_named_with_its_remedy(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match=r"pandas is not installed; .* pip install 'concord-lm\[report\]'"):
        load(study)
