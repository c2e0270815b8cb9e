# The few commands of everyday work. `make` alone lists them.
.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
BIN := $(VENV)/bin
# As many workers as there are processors; a worker that runs out of tests takes some of another's.
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal --durations=25
STAMP := $(VENV)/.topoloom-built
# The first interpreter from 3.11 up that really runs.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name '*.toml' -o -name '*.json')
# Where there is unsafe code, and what runs through it in seconds.
MIRI_TESTS := cycle::table cycle::flit cycle::channels memory::tests::a_region fill::
MACHINES := machine:superpod-h100 machine:tpu-v4,sides=8x8x16 machine:frontier,groups=16,switches=8
NETWORKS := fattree:k=10,levels=3 dragonfly:a=8,h=4,p=4 hyperx:10x10,p=10 slimfly:q=9,p=6 flex:6x6x3,p=10

.PHONY: help
help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-11s\033[0m %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(STAMP) ## Make .venv with a release build of the engine and the topoloom command

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "topoloom needs Python 3.11 or newer; none was found" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "topoloom needs a Rust toolchain; see https://rustup.rs" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(BIN)/maturin: | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'maturin>=1.13,<2'

$(STAMP): pyproject.toml $(RUST_SOURCES) | $(BIN)/maturin
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --extras plot,report,studies,cluster,dev
	@touch $@

.PHONY: demo
demo: setup ## Compare five networks of about a thousand terminals: writes report.html in three minutes
	$(BIN)/topoloom compare $(NETWORKS) --traffic uniform,bit-complement --routing minimal,adaptive --out report.html

.PHONY: demo-machines
demo-machines: setup ## The same beside three existing machines, scaled to as many terminals: takes longer
	$(BIN)/topoloom compare $(NETWORKS) $(MACHINES) --traffic uniform,bit-complement --routing minimal,adaptive --out machines.html

.PHONY: test
test: setup ## Run all tests, the engine's and Python's, on all processors
	cargo test -p topoloom --lib
	$(PYTEST)

.PHONY: test-long
test-long: setup ## Run what `make test` leaves out: more cases of its tests, all points of BookSim2's curves, large networks: an hour
	$(BIN)/python -m pytest tests -m long

SECONDS ?= 600
SEED ?= $(shell date +%s)
.PHONY: fuzz
fuzz: setup ## Give random input of every kind to the commands: make fuzz SECONDS=600 SEED=1
	@mkdir -p target/fuzz; cd target/fuzz; for target in files lines specs studies; do \
		echo "$$target, seed $(SEED)"; \
		$(abspath $(BIN))/python $(abspath tests/fuzz/runner.py) $$target --seed $(SEED) \
			--seconds $$(($(SECONDS) / 4)) || { failed=1; echo "the last case is in target/fuzz/case.json"; }; \
	done; exit $${failed:-0}

.PHONY: test-wheel
test-wheel: setup ## Install the wheel without extras into a fresh environment and use it: minutes
	$(BIN)/python -m pytest tests/external -m wheel -s

.PHONY: test-page
test-page: setup ## Compile and test the Rust of one page: a topology in one file and one line
	$(BIN)/python -m pytest tests/docs -m pages -k adding-a-topology

.PHONY: test-pages
test-pages: setup ## Compile and test the Rust that pages of docs add to the crate: minutes
	$(BIN)/python -m pytest tests/docs -m pages

.PHONY: test-slurm
test-slurm: setup ## Run studies on a real Slurm on this machine; as root, installs Debian's packages
	tests/external/install.sh slurm
	$(BIN)/python -m pytest tests/external -m slurm -s

.PHONY: test-opensm
test-opensm: setup ## Route simulated InfiniBand fabrics by OpenSM; as root, installs Debian's packages
	tests/external/install.sh opensm
	$(BIN)/python -m pytest tests/external -m opensm -s

.PHONY: test-tools
test-tools: setup ## Give exported files to Graphviz, METIS, SimGrid and CAMINOS; as root, installs Debian's packages
	tests/external/install.sh tools
	$(BIN)/python -m pytest tests/external -m tools -s

TESTS ?=
.PHONY: coverage
coverage: setup ## Measure the coverage of both languages by tests, and list what none runs: make coverage TESTS=tests/layout
	@$(BIN)/python -c 'import pytest_cov' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check 'coverage[toml]>=7.10' 'pytest-cov>=7'
	@$(BIN)/python tests/external/covered.py $(TESTS)

MODULE ?= topoloom.papers.formulas
MUTANTS ?= 40
.PHONY: mutants
mutants: setup ## Change a Python module one place at a time, and list what its tests miss: make mutants MODULE=… TESTS=…
	@PYTHONPATH=tests $(BIN)/python tests/external/mutants.py $(MODULE) $(MUTANTS) 27 $(TESTS)

RUST ?= flow/rates.rs
.PHONY: mutants-rust
mutants-rust: setup ## The same for sources of Rust, all mutants compiled at once: make mutants-rust RUST="flow/rates.rs routing/verify.rs" TESTS=tests/flow
	@$(BIN)/python -c 'import tree_sitter_rust' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check 'tree-sitter>=0.25' 'tree-sitter-rust>=0.24'
	@$(BIN)/python tests/external/rust_mutants.py $(RUST) --most $(MUTANTS) $(if $(TESTS),--python $(TESTS))

.PHONY: bench
bench: ## Measure the engines; with valgrind, instructions per flit-hop
	cargo bench -p topoloom --bench cycle
	cargo bench -p topoloom --bench flow

.PHONY: bench-peers
bench-peers: $(BIN)/python ## Measure beside peers in the same run: make bench-peers BOOKSIM=src/booksim CAMINOS=caminos
	cargo build --quiet --release -p topoloom --example point
	@$(BIN)/python tests/peers/bench.py --engine target/release/examples/point \
		$(if $(BOOKSIM),--booksim $(BOOKSIM)) $(if $(CAMINOS),--caminos $(CAMINOS)) $(if $(YARDSTICK),--yardstick $(YARDSTICK))

# What Python mirrors of the engine, as the crate's sources say it.
MIRROR ?= python/topoloom
GENERATED := $(MIRROR)/_core.pyi $(MIRROR)/engine/results.py $(MIRROR)/simulation/run_options.py

.PHONY: generated
generated: $(BIN)/python
	@cargo run --quiet --release --package topoloom-dev -- target/generated
	@$(BIN)/ruff check --quiet --fix --select I $(addprefix target/generated/,$(notdir $(GENERATED)))
	@$(BIN)/ruff format --quiet $(addprefix target/generated/,$(notdir $(GENERATED)))

.PHONY: generate
generate: generated ## Write the classes of results and options and the stub of the engine that Python has, from the crate
	@for file in $(GENERATED); do cp target/generated/$${file##*/} $$file; done

.PHONY: lint-generated
lint-generated: generated ## Check that what is generated is up to date
	@for file in $(GENERATED); do cmp -s target/generated/$${file##*/} $$file || \
		{ echo "$$file is out of date; run make generate" >&2; failed=1; }; done; exit $${failed:-0}

.PHONY: lint
lint: setup lint-generated docs ## Check format, lints, types and links of comments; that generated files are up to date
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || rustup component add rustfmt clippy
	cargo fmt --all --check
	rustfmt --check --edition 2024 crates/topoloom/src/topology/*.rs # cargo sees no files that a macro declares
	PYO3_PYTHON=$(abspath $(BIN)/python) cargo clippy --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check python tests examples docs/hooks
	$(BIN)/ruff check python tests examples docs/hooks
	$(BIN)/mypy

.PHONY: lint-workflows
lint-workflows: ## Check the workflow files by actionlint, which Go builds
	go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

.PHONY: audit
audit: setup ## Look for known vulnerabilities in all dependencies, Rust's and Python's
	@BIN=$(BIN) tests/external/audit.sh

.PHONY: miri
miri: ## Run tests of the engine under Miri, which finds undefined behaviour: minutes; with Rust's nightly
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo "Miri is not installed: rustup toolchain install nightly -c miri -c rust-src" >&2; exit 1; }
	MIRIFLAGS='-Zmiri-isolation-error=hide -Zmiri-ignore-leaks -Zmiri-permissive-provenance -Zmiri-tree-borrows' cargo +nightly miri test -p topoloom --lib --target-dir target/miri -- $(MIRI_TESTS)

.PHONY: site
site: setup docs ## Build the site: target/site/index.html; every link is checked
	$(BIN)/python -c 'import material, mkdocstrings_handlers.python' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.5' 'mkdocstrings-python>=1.10'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --site-dir target/site
	@cp -R target/doc target/site/rust

.PHONY: gallery
gallery: setup ## Draw the pictures of docs/gallery.md again, by the commands beside them; with Chromium: minutes
	PYTHONPATH=tests $(BIN)/python tests/harness/gallery.py

.PHONY: docs
docs: ## Build the engine's API pages: target/doc/topoloom/index.html
	RUSTDOCFLAGS='-D warnings' cargo doc --no-deps -p topoloom
