# Every target sets up what it needs: a virtual environment in .venv, created once and updated when the requirements change.
PYTHON ?= python3
BIN := .venv/bin
# Applies to build environments too, so that no unpinned package slips in.
export PIP_CONSTRAINT := constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help train show test test-slow test-slurm compat check docs format clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

train: .venv/.base ## train a German LSTM on the built-in corpus (ARGS="lang=fr model=transformer" for another model)
	@$(BIN)/python train.py lang=de model=lstm $(ARGS)

show: .venv/.base ## show sentences of every German construction (L=fr for another language)
	@$(BIN)/python -m concord.commands.grammar show $(or $(L),de)

test: .venv/.dev ## run the tests, except for the slow ones
	@$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow and not slurm"

test-slow: .venv/.dev ## run the slow tests
	@$(BIN)/python -m pytest -n auto -m slow

test-slurm: .venv/.dev ## run the SLURM tests on a cluster that is installed and started on this machine (Debian, root; skipped elsewhere)
	@tests/slurm/cluster install || true
	@$(BIN)/python -m pytest -n 0 -m slurm -rs tests/slurm

compat: .venv/.dev ## compile the LaTeX tables (if pdflatex is installed), and try our exports with lm_eval, minicons and transformers 4.51; takes minutes
	@$(BIN)/python -m pytest -q -n 0 -rs -m slow tests/report/test_latex.py
	@mkdir -p .venv-compat
	@for tool in "tf4 transformers==4.51.3 sentencepiece" "lm_eval lm_eval[hf]==0.4.13 transformers>=5,<6" "minicons minicons==0.3.39"; do \
		set -- $$tool; name=$$1; shift; \
		test -e .venv-compat/$$name/.built && continue; \
		$(PYTHON) -m venv .venv-compat/$$name && PIP_CONSTRAINT= .venv-compat/$$name/bin/python -m pip install --quiet torch==2.13.0 "$$@" \
			&& touch .venv-compat/$$name/.built || exit 1; done
	@OMP_NUM_THREADS=1 $(BIN)/python tests/compat/compare_tools.py .venv-compat

check: .venv/.dev ## check format, lint and types, then run the tests, as CI does
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(MAKE) --no-print-directory test

docs: .venv/.docs ## build the documentation as a site in site/, and regenerate the reference
	@$(BIN)/python docs/make_reference.py
	@rm -rf build/docs && mkdir -p build/docs
	@cp --parents README.md CONTRIBUTING.md CHANGELOG.md CITATION.cff docs/*.* docs/images/* grammars/README.md build/docs
	@$(BIN)/python -m mkdocs build --quiet --strict
	@echo "site/index.html"

format: .venv/.dev ## format the code and fix what lint can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

clean: ## remove the environment and whatever tests leave behind
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build site src/*.egg-info

.venv/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed, {sys.executable} is {sys.version.split()[0]}; try: make PYTHON=python3.11")'
	@echo "Setting up .venv (once; a minute or two) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) -e .
	@touch $@

.venv/.dev: .venv/.base
	@echo "Installing the test tools (once) …"
	@$(PIP) -e ".[dev]"
	@touch $@

.venv/.docs: .venv/.base
	@$(PIP) -e '.[docs]'
	@touch $@
