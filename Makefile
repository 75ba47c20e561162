# Needs make, a C compiler and Python 3.11 or newer; everything else goes into $(VENV).

VENV ?= .venv
BIN := $(VENV)/bin
# Name a Python yourself with `make PYTHON=/path/to/python3.12 …`.
PYTHON ?=

.DEFAULT_GOAL := help
.PHONY: help demo test bench bench-causes bench-repair docs lint format clean
.DELETE_ON_ERROR:
unexport PYTHONPATH PYTHONHOME

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/.installed-dev ## from a model to the faulty lines: build/demo/report.html
	$(BIN)/whence demo -o build/demo

test: lint ## check style, types and floors, then run all tests with coverage
	$(BIN)/python -m pytest -n auto --maxprocesses 8 --cov --cov-report=term:skip-covered

bench-causes: $(VENV)/.installed-dev ## measure the search for causes
	$(BIN)/python benchmarks/causes.py

bench: $(VENV)/.installed-dev ## measure
	$(BIN)/python benchmarks/run.py

bench-repair: $(VENV)/.installed-dev ## seed modifications into models and repair them (an hour)
	$(BIN)/python benchmarks/repair_mutants.py

docs: $(VENV)/.installed-docs ## build the documentation into build/site
	$(BIN)/python -m mkdocs build --strict --site-dir build/site

lint: $(VENV)/.installed-dev ## check style, types and floors
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev ## rewrite the sources in the project's style
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

clean: ## remove what was built or cached (not $(VENV))
	rm -rf build dist .coverage .coverage.* .hypothesis .import_linter_cache \
	  .mypy_cache .pytest_cache .ruff_cache
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

# One stamp for each set of extras: installed again only when pyproject.toml has changed.
$(VENV)/.installed-%: pyproject.toml
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  found=; \
	  for candidate in $(or $(PYTHON),python3.13 python3.12 python3.11 python3.14 python3); do \
	    if $$candidate -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	        >/dev/null 2>&1; then found=$$candidate; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo 'whence needs Python 3.11 or newer with its venv module, and found none.' >&2; \
	    echo 'Install one (on Debian: python3 and python3-venv), or name one: make PYTHON=…' >&2; \
	    exit 1; \
	  fi; \
	  echo "creating $(VENV) with $$found"; \
	  $$found -m venv --clear $(VENV); \
	fi
	@echo 'installing whence[$*] into $(VENV)'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
