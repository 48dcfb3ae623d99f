# From nothing to a running Assay: each target sets up what it needs, and only once.
# Needs make and Python 3.11 or newer; nothing has to be installed or activated first.

PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
VENV := .venv
BENCH_VENV := .venv-bench
RUN := $(VENV)/bin/python
PIP := -m pip --disable-pip-version-check --no-input
# One worker a core up to four: each worker holds its own JAX, so more would only use memory.
WORKERS ?= auto
PYTEST := $(RUN) -m pytest -n $(WORKERS) --maxprocesses 4 --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help setup demo test slow labs bench lint format clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready  ## create .venv with the pinned versions

demo: $(VENV)/.ready  ## run the demonstration study: writes runs/demo
	$(VENV)/bin/assay demo --exit-zero

test: $(VENV)/.ready  ## run the tests
	$(PYTEST) $(ARGS)

slow: $(VENV)/.ready  ## run the tests that take minutes
	$(PYTEST) -m slow $(ARGS)

labs: $(VENV)/.ready  ## the chapters' experiments: quoted against measured
	$(VENV)/bin/assay labs

bench: $(VENV)/.ready $(BENCH_VENV)/.ready  ## Assay beside its peers, in one run
	$(BENCH_VENV)/bin/python benchmarks/run.py $(ARGS)

lint: $(VENV)/.ready  ## style and formatting
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

format: $(VENV)/.ready  ## put the formatting right
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

clean:  ## remove the environments and caches (not your runs)
	rm -rf $(VENV) $(BENCH_VENV) .pytest_cache .ruff_cache build dist

# The stamps are written last, so that a set-up that was broken off starts again.
$(VENV)/.ready: requirements/run.lock requirements/dev.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer was found."; \
		echo "hint: install it, or say where it is: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV): once, a few minutes the first time."
	$(PYTHON) -m venv $(VENV)
	$(RUN) $(PIP) install --quiet -r requirements/run.lock -r requirements/dev.lock
	$(RUN) $(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# The peers only: they must not share versions, threads or imports with Assay.
$(BENCH_VENV)/.ready: requirements/bench.lock
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or newer was found."; exit 1; }
	@echo "Setting up $(BENCH_VENV) with the peers: once, some minutes."
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python $(PIP) install --quiet -r requirements/bench.lock
	@touch $@
