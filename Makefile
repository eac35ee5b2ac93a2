# Frontpage: `make demo` shows the whole system, `make test` proves it. Needs Python 3.11+, Java 17 or 21, make.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python -m

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ —/'

# Asked before gigabytes are installed; which version it is, `frontpage doctor` says.
java:
	@"$${JAVA_HOME:+$$JAVA_HOME/bin/}java" -version >/dev/null 2>&1 || { echo "Java 17 or 21 is missing: install it with" \
	  "\`apt-get install openjdk-17-jre-headless\` (Debian, Ubuntu) or set JAVA_HOME" >&2; exit 1; }

.venv/ready: requirements.txt requirements-bootstrap.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Frontpage needs Python 3.11 or newer, this is " + sys.version)'
	@echo "making the environment in .venv (a few minutes and about 7 GB the first time: torch)"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bootstrap.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

setup: java .venv/ready ## make the environment and fetch the jars
	$(BIN)/frontpage doctor --setup

demo: java .venv/ready ## start everything, replay the sample world, print the addresses
	$(BIN)/frontpage demo

test: java .venv/ready ## unit, contract, parity and integration tests
	$(BIN)/frontpage doctor --setup
	$(RUN) pytest tests -m "not browser" -n 2 --dist loadfile --no-loadscope-reorder --durations 15

test-browser: java .venv/ready ## the reader page in Debian's chromium
	$(BIN)/frontpage doctor --setup
	$(RUN) pytest tests/browser -m browser

check: .venv/ready ## format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(RUN) mypy
	$(BIN)/lint-imports

format: .venv/ready ## rewrite the code in house style
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

eval: java .venv/ready ## the labelled sets and cases, against benchmarks/floors.toml
	$(BIN)/frontpage doctor --setup
	$(RUN) benchmarks.evaluate_loop
	$(RUN) benchmarks.evaluate

bench: java .venv/ready ## figures against benchmarks/targets.toml, written to benchmarks/results
	$(RUN) benchmarks.run

soak: java .venv/ready ## long fault and load runs
	$(RUN) benchmarks.soak

lock: .venv/ready ## resolve requirements.in into requirements.txt
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --no-emit-index-url --no-emit-find-links \
	  --python-version 3.11 requirements.in -o requirements.txt

clean: ## stop everything and remove what was made
	-$(BIN)/frontpage down
	rm -rf var .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help java setup demo test test-browser check format eval bench soak lock clean
