# What is typed in a clone. Everything lives in .venv, made once: a second call installs and downloads nothing.

PYTHON ?= python3
# All that pip is told about torch. PyPI's build for Linux brings several GB of CUDA packages; the README
# says how to name PyTorch's CPU index here instead.
TORCH ?= torch==2.13.0

EXTRAS := train,text,demo,serve,report,dev
BIN := .venv/bin
CODE := $(wildcard sprintrec tests benchmarks)

.PHONY: install install-bench demo test lint

install: .venv/installed

# torch comes first: whatever depends on it then finds it there, and fetches no other build.
.venv/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one: make install PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	  { echo "$(PYTHON) lacks the venv module; on Debian and Ubuntu type: sudo apt install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	@echo "Installing torch, then the package with its extras: some minutes, most of it download."
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]'
	@$(BIN)/python -c 'from sprintrec.cli.doctor import gpu_advice; print(gpu_advice() or "Installed.")'
	@touch $@

install-bench: .venv/installed-bench

.venv/installed-bench: .venv/installed
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS),bench,spark]'
	@touch $@

demo: install
	$(BIN)/sprintrec demo

test: install
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

lint: install
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/mypy
