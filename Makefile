# Every target sets the project up first. Nothing but Python 3.11 or newer and make is needed.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
STAGE := temporal-dev
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup dev worker demo test lint soak bench

help:
	@echo "make setup   virtual environment in .venv, everything installed"
	@echo "make demo    a run that pauses inside a loop, is resumed, and the turns after it"
	@echo "make dev     dev server, UI and worker in the foreground until Ctrl-C"
	@echo "make worker  the worker alone, for the server at TEMPORAL_ADDRESS"
	@echo "make test    the whole test suite (ARGS='tests/stage -k server' for a part)"
	@echo "make lint    formatter, linter, type checker"
	@echo "make soak    long randomised runs"
	@echo "make bench   benchmarks"

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed, and '$(PYTHON)' is not that;" \
	       "name one that is: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[dev]' --constraint constraints.txt
	@touch $(STAMP)

# `exec`: a signal to make's child then reaches Python itself, not a shell in between.
dev: setup
	@exec $(BIN)/python $(STAGE)/dev.py

worker: setup
	@FERMATA_NODES="$${FERMATA_NODES:-sample_nodes}" \
	FERMATA_GRAPHS="$${FERMATA_GRAPHS:-$(STAGE)/graphs}" \
	PYTHONPATH="$(STAGE)$${PYTHONPATH:+:$$PYTHONPATH}" \
	exec $(BIN)/python -m client.command worker

demo: setup
	@exec $(BIN)/python $(STAGE)/demo.py

# Each of the two test processes has a server of its own.
test: setup
	@exec $(BIN)/pytest -n 2 --dist loadgroup --ignore tests/soak $(ARGS)

lint: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright

soak: setup
	@if [ -d tests/soak ]; then exec $(BIN)/pytest --timeout 0 tests/soak $(ARGS); \
	else echo "soak: there are no long randomised runs yet"; fi

bench: setup
	@if [ -f bench/__main__.py ]; then exec $(BIN)/python -m bench $(ARGS); \
	else echo "bench: there are no benchmarks yet"; fi
