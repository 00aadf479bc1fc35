# run: the main reproduction;  setup: .venv/bin/fairq and the tools;  test: everything;  check: format, lints, generated
# files, docs;  docs: the site of `fairq docs`;  lab: the page of `fairq lab`, in page/dist/ for any server, with
# page/dist/lab.html in one file;  wheel: what users install, in dist/;  release: that and the sources, tried with each
# Python;  nightly: what takes too long for test.

PYTHON ?= python3
BIN := .venv/bin
# PROFILE=yes: setup builds as wheel does, for measuring speed (make -B setup PROFILE=yes).
PROFILE ?= no
SOURCES := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name '*.toml')
MATURIN := PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin

# What the page and its simulator are made of.
PAGE := $(shell find page -not -path '*/node_modules*' -not -path '*/dist*' -type f)
WASM_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name '*.toml')
BUNDLE := python/fairq/laboratory/bundle

# What the site is made of.
PAGES := $(shell find docs papers crates/c/include -type f -not -name '*.pyc') $(shell find crates python/fairq -name README.md) \
	$(wildcard python/fairq/*.py) scripts/docs.sh
SITE := python/fairq/manual/bundle

.PHONY: setup run test check lab docs wheel release nightly tools

setup: tools .venv/installed

run: tools .venv/built
	$(BIN)/fairq reproduce demers1990 --out out/demers1990

test: setup
	$(BIN)/python scripts/run_tests.py

check: setup
	cargo xtask check

lab: $(BUNDLE)/index.html

docs: $(SITE)/index.html

wheel: tools .venv/bin/maturin lab docs
	rm -f dist/fairq-*.whl
	$(MATURIN) build --release --strip --out dist $$(sh scripts/profile-tools.sh)

# Words for it, as RELEASE=--trial: scripts/release.py has them.
release: tools .venv/bin/maturin
	$(BIN)/python scripts/release.py $(RELEASE)

nightly: setup
	$(BIN)/python scripts/nightly.py

tools:
	@PYTHON=$(PYTHON) sh scripts/check-tools.sh

.venv/bin/maturin: | tools
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2'

# As old as the beginning of its build: what changed meanwhile is built the next time.
target/lab/fairq_lab.wasm: $(WASM_SOURCES)
	@mkdir -p target/lab && touch target/lab/began
	sh scripts/lab.sh wasm
	@touch -r target/lab/began $@

$(BUNDLE)/index.html: target/lab/fairq_lab.wasm scripts/lab.sh $(PAGE)
	sh scripts/lab.sh page
	@touch $@

# A notebook or a figure that fails, and a link that leads nowhere, end the build.
$(SITE)/index.html: .venv/installed $(PAGES)
	sh scripts/docs.sh $(BIN)/python
	@touch $@

# The Python files are used where they stand: a change of theirs needs no build.
.venv/built: .venv/bin/maturin $(SOURCES)
	$(MATURIN) develop --profile quick
	@touch $@

# The same build with the tools of development. The stamps: what is installed is also built.
.venv/installed: .venv/bin/maturin $(SOURCES)
	$(MATURIN) develop --extras dev,docs $(if $(filter yes,$(PROFILE)),--release $$(sh scripts/profile-tools.sh),--profile quick)
	@touch .venv/built $@
