# setup: .venv/bin/fairq;  run: the main reproduction;  test: everything;  check: format, lints, generated files, docs.

PYTHON ?= python3
BIN := .venv/bin
# The extension is built twice, the second time by what the first did at scripts/train.sh; PROFILE=no builds it once.
PROFILE ?= yes
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name '*.toml')

.PHONY: setup run test check tools

setup: tools .venv/installed

run: setup
	$(BIN)/fairq reproduce demers1990 --out out/demers1990

test: setup
	$(BIN)/python scripts/run_tests.py

check: setup
	cargo xtask check

tools:
	@PYTHON=$(PYTHON) sh scripts/check-tools.sh

.venv/bin/maturin: | tools
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2'

# The Python files are used where they stand: a change of theirs needs no build.
.venv/installed: .venv/bin/maturin $(SOURCES)
	PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --extras dev \
		$(if $(filter yes,$(PROFILE)),$$(sh scripts/profile-tools.sh))
	@touch $@
