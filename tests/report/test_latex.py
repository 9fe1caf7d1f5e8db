"""LaTeX tables, compiled: every table of a report, alone in a document with the packages that its first line names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from concord.report.grids import Cell, Grid, Head
from concord.report.latex import to_latex
from concord.report.report_folder import make_report
from synthetic_runs import asked, settings, write_run

PDFLATEX = shutil.which("pdflatex")
SLACK = 5  # points over the margin that nobody sees
needs_latex = pytest.mark.skipif(
    PDFLATEX is None, reason="needs pdflatex (Debian: apt-get install texlive-latex-base texlive-latex-recommended)"
)


def compile_table(tex: str, folder: Path, name: str) -> tuple[list[str], list[float]]:
    """Errors, and how far anything sticks out of the page, in points."""
    packages = re.findall(r"\\usepackage\{\w+\}", tex.splitlines()[0])
    head = [r"\documentclass{article}", r"\usepackage[utf8]{inputenc}", r"\usepackage[T1]{fontenc}", *packages]
    text = "\n".join([*head, r"\begin{document}", tex, r"\end{document}", ""])
    (folder / f"{name}.tex").write_text(text, encoding="utf-8")
    assert PDFLATEX is not None
    command = [PDFLATEX, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", f"{name}.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    errors = [line for line in done.stdout.splitlines() if line.startswith("!")]
    out = re.findall(r"(?:Overfull \\[hv]box \(|Float too large for page by )([\d.]+)pt", done.stdout)
    return errors or ([] if done.returncode == 0 else ["no PDF"]), [float(points) for points in out]


@pytest.mark.slow
@needs_latex
def test_every_table_of_a_large_report_compiles_and_fits_its_page(tmp_path: Path) -> None:
    english = asked("en", 4)
    for model in ("lstm", "transformer"):
        for rate in ("0.001", "0.003"):
            chosen = settings("lang=en", f"model={model}", f"model.optimizer.lr={rate}")
            for seed in (1, 2):
                write_run(tmp_path / f"runs/{model}-{rate}-{seed}", english, seed, epochs=3, chosen=chosen)
    made = make_report([tmp_path / "runs"], baseline="lstm-0.001-1")
    grids = [*made.tables, *made.statistics]
    assert len(grids) > 8
    texts = {grid.name: to_latex(grid) for grid in grids}
    assert any(r"\begin{longtable}" in text for text in texts.values())
    assert any(r"\begin{landscape}" in text for text in texts.values())
    for name, text in texts.items():
        errors, out = compile_table(text, tmp_path, name)
        assert not errors, (name, errors)
        assert max(out, default=0) <= SLACK, (name, out)


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize(("columns", "rows", "letters"), [(1, 1, 4), (3, 200, 10), (30, 12, 14), (12, 60, 6), (4, 30, 60)])
def test_tables_of_any_shape_fit_their_page(columns: int, rows: int, letters: int, tmp_path: Path) -> None:
    heads = tuple(Head(f"the condition number {n // 3}", f"a head with several words, number {n}") for n in range(columns))
    cells = tuple(Cell(("0.53 ± 0.17 & x_y % " * 9)[:letters].strip(), best=n % 2 == 0) for n in range(columns))
    grid = Grid(
        "x", "A title", "A note of some length. " * 20, "row", heads, tuple((f"row {n} of many", cells) for n in range(rows))
    )
    errors, out = compile_table(to_latex(grid), tmp_path, "x")
    assert not errors
    assert max(out, default=0) <= SLACK


def test_letters_that_pdflatex_does_not_have_are_told() -> None:
    plain = Grid("x", "Ünïcödé", "τ – ± ‡", "row", (Head("", "a"),), (("é", (Cell("0.5"),)),))
    assert "LuaLaTeX" not in to_latex(plain)
    hebrew = Grid("x", "X", "", "row", (Head("", "a"),), (("הנגר", (Cell("0.5"),)),))
    assert "% compile with LuaLaTeX or XeLaTeX and a font that has these letters: ג ה נ ר\n" in to_latex(hebrew)
