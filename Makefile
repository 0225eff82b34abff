# Every target makes the virtual environment it needs from the hash-locked requirements; nothing else has to be installed.
# `make run` uses .venv-run (run-time dependencies only), everything else uses .venv.

VENV ?= .venv
RUN_VENV ?= .venv-run
LOCK_VENV ?= .venv-lock
# How long `make run` runs, e.g. FOR=20s; empty means until stopped on a terminal, and 60 s without one.
FOR ?=
# Arguments for `make bench`, e.g. BENCH="channels".
BENCH ?=
# What `make test` gives pytest instead of everything, e.g. TESTS="tests/gridagent/policy -x": no coverage, no floors.
# How long `make soak` lives.
SOAK ?= --days 30
# What `make fuzz` fuzzes, e.g. FUZZ="packet --seconds 60"; every decoder for ten minutes if empty.
FUZZ ?=
FUZZ_LIB ?= .venv-fuzz
# Where `make peers` puts independent programs that some tests talk to.
PEERS ?= .peers
COMPARE_VENV ?= .venv-compare
# Processes of the test run.
JOBS ?= 2

# The first interpreter that can make a virtual environment and that the locks are made for.
PYTHON ?= $(shell for each in python3 python3.13 python3.12 python3.11; do \
	$$each -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' >/dev/null 2>&1 \
	&& echo $$each && break; done)

BIN := $(VENV)/bin
RUN_BIN := $(RUN_VENV)/bin
PIP := -m pip --disable-pip-version-check --no-input
INSTALL := install --quiet --require-hashes --only-binary :all:

.DEFAULT_GOAL := help
.PHONY: help run chat test peers volume powercuts mutants fuzz check format bench bench-check compare soak docs lock venv clean

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

run: $(RUN_VENV)/.installed ## Run the built-in avatar in the simulated plaza, offline (FOR=20s bounds it).
	@bound="$(FOR)"; if [ -z "$$bound" ] && ! [ -t 1 ]; then bound=60s; fi; \
	exec $(RUN_BIN)/gridagent run $${bound:+--for "$$bound"}

chat: $(RUN_VENV)/.installed ## Walk up to the avatar in the simulated plaza and talk to it, offline (SCRIPT=file types for you).
	@exec $(RUN_BIN)/gridagent chat $(if $(SCRIPT),--script "$(SCRIPT)")

test: $(VENV)/.installed ## Run all tests: coverage and its floors first, then the volume tests (TESTS=path narrows it).
ifdef TESTS
	$(BIN)/python -m pytest $(TESTS)
else
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n $(JOBS) -m "not volume" --cov --cov-branch --cov-report=json:.coverage.json \
	  --cov-report=term:skip-covered
	$(BIN)/python -m tests.architecture.coverage_floors .coverage.json
	$(BIN)/python -m pytest -n $(JOBS) -m volume
endif

# With them installed, what `make peers` prints has the tests find them; without, those tests are skipped.
peers: $(PEERS)/llmock/.installed $(PEERS)/hippolyzer/.installed $(PEERS)/node/.installed ## Install the independent servers and clients that judge ours (needs npm; Hippolyzer wants Python 3.11).
	@echo export GRIDAGENT_LLMOCK=$(abspath $(PEERS))/llmock/bin/llmock
	@echo export GRIDAGENT_HIPPOLYZER=$(abspath $(PEERS))/hippolyzer/bin/python
	@echo export GRIDAGENT_NODE_METAVERSE=$(abspath $(PEERS))/node/node_modules

$(PEERS)/llmock/.installed $(PEERS)/hippolyzer/.installed: $(PEERS)/%/.installed: requirements/peer-%.txt | python
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python $(PIP) install --quiet --require-hashes -r $< >&2
	@touch $@

$(PEERS)/node/.installed: tests/live_grid/simulator/peers/package.json
	@mkdir -p $(@D) && cp $< $(@D)
	@cd $(@D) && npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error >&2
	@touch $@

powercuts: $(VENV)/.installed ## Cut the power a hundred thousand times (CUTS=n for another number).
	CUTS=$(or $(CUTS),100000) $(BIN)/python -m pytest -m volume tests/volume/test_powercut.py --durations=0

volume: $(VENV)/.installed ## Run the volume tests alone, without coverage.
	$(BIN)/python -m pytest -n $(JOBS) -m volume --durations=0

mutants: $(VENV)/.installed ## Break the policy line by line and count the breaks that no test notices (MUTANTS=name narrows it).
	@JOBS=$(JOBS) $(BIN)/python -m tests.mutants $(MUTANTS)

fuzz: $(VENV)/.installed $(FUZZ_LIB)/.installed ## Fuzz the decoders, guided by coverage (FUZZ="packet --seconds 60" narrows it).
	PYTHONPATH=$(FUZZ_LIB) $(BIN)/python -m tests.fuzz $(FUZZ)

$(FUZZ_LIB)/.installed: requirements/fuzz.txt $(VENV)/.installed
	$(BIN)/python $(PIP) $(INSTALL) --upgrade --target $(FUZZ_LIB) -r requirements/fuzz.txt
	@touch $@

check: $(VENV)/.installed ## Check format, lint, types, layers and that generated documents are fresh.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python -m docs.generator --check

format: $(VENV)/.installed ## Format the sources and apply safe lint fixes.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.installed ## Write the generated references anew.
	$(BIN)/python -m docs.generator

bench: $(VENV)/.installed ## Run the benchmarks (BENCH=name for one); one JSON line a figure.
	$(BIN)/python -m benchmarks $(BENCH) --json

bench-check: $(VENV)/.installed ## Fail when a committed ratio got more than 25 % worse.
	$(BIN)/python -m benchmarks --check

compare: $(COMPARE_VENV)/.installed ## Measure a tool turn beside other agent frameworks, in an environment of their own.
	$(COMPARE_VENV)/bin/python -m benchmarks.compare_frameworks

$(COMPARE_VENV)/.installed: requirements/compare.txt | python
	$(PYTHON) -m venv --clear $(COMPARE_VENV)
	$(COMPARE_VENV)/bin/python $(PIP) $(INSTALL) -r $<
	@touch $@

soak: $(VENV)/.installed ## Live a simulated month in the busy plaza and judge how memory grows (SOAK="--days 7" for less).
	@$(BIN)/python -m benchmarks.soak $(SOAK)

venv: $(VENV)/.installed ## Make the development environment.

$(VENV)/.installed: requirements/dev.txt pyproject.toml | python
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python $(PIP) $(INSTALL) -r requirements/dev.txt
	$(BIN)/python $(PIP) install --quiet --no-build-isolation --no-deps -e .
	@touch $@

$(RUN_VENV)/.installed: requirements/run.txt requirements/build.txt pyproject.toml | python
	$(PYTHON) -m venv --clear $(RUN_VENV)
	$(RUN_BIN)/python $(PIP) $(INSTALL) -r requirements/run.txt -r requirements/build.txt
	$(RUN_BIN)/python $(PIP) install --quiet --no-build-isolation --no-deps -e .
	@touch $@

.PHONY: python
python:
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 that can make a virtual environment was found;" \
	  "install one (on Debian: python3 and python3-venv) or name it: make PYTHON=/path/to/python3." >&2; exit 1; }

# The locks name files by hash and no place to get them from, so they hold wherever packages come from.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-config \
	--no-header --no-emit-index-url --no-emit-find-links
lock: | python ## Make the hash locks anew from pyproject.toml (UPGRADE=--upgrade takes newer releases).
	$(PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python $(PIP) install --quiet uv==0.13.9
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) pyproject.toml -o requirements/run.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) pyproject.toml --extra live -c requirements/run.txt -o requirements/live.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) requirements/build.in -c requirements/run.txt -o requirements/build.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) pyproject.toml requirements/build.in --extra dev \
	  -c requirements/run.txt -c requirements/build.txt -o requirements/dev.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) requirements/fuzz.in -o requirements/fuzz.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) pyproject.toml requirements/compare.in -c requirements/run.txt \
	  -o requirements/compare.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) requirements/peer-llmock.in -o requirements/peer-llmock.txt
	$(LOCK_VENV)/bin/$(LOCK) $(UPGRADE) requirements/peer-hippolyzer.in -o requirements/peer-hippolyzer.txt

clean: ## Remove virtual environments, caches and build results.
	rm -rf .venv .venv-run .venv-lock .venv-fuzz .peers dist build .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis \
	  .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
