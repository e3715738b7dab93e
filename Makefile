# Everything runs from .venv, which the first command makes; no shell needs it active.

VENV := .venv
RUN := $(VENV)/bin
# The first interpreter that is new enough; `make PYTHON=python3.13 ...` takes another one.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
# Else each process that a test starts would compile all sources anew: 2 to 5 s of a core.
unexport PYTHONDONTWRITEBYTECODE
DEMO := test/workloads/rmsnorm_linear.mlir

.PHONY: help demo test test-all lint types pytest lit docs bench clean

help:
	@echo 'make demo    superoptimize RMSNorm + Linear; PTX and cubins go to build/demo'
	@echo 'make test    everything: lint, types, pytest, lit, docs (each is a target of its own)'
	@echo 'make test-all  the same with every case of long lists, of which make test takes samples'
	@echo 'make docs    the documents as HTML: build/site/index.html'
	@echo 'make bench   time search, verification and compilation; benchmarks/README.md has the others'
	@echo 'make clean   remove .venv and what was built'

demo: $(VENV)/installed
	@cat $(DEMO)
	@$(RUN)/mirage-opt --superoptimize --report --artifacts=build/demo $(DEMO)

# All at once keep every core busy to the end: some use one core alone, and each waits for its last
# test. The output of each comes when it is done.
test: $(VENV)/installed-dev
	+@$(MAKE) --no-print-directory --keep-going --output-sync=target --jobs pytest lit types lint docs

# Every case of what `make test` samples: an hour of two cores.
test-all: export MIRAGE_TESTS = all
test-all: test

lint: $(VENV)/installed-dev
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .

types: $(VENV)/installed-dev
	$(RUN)/pyright

pytest: $(VENV)/installed-dev
	$(RUN)/pytest -q -n auto --dist=loadgroup

lit: $(VENV)/installed-dev
	$(RUN)/lit -sv test

# Fails where a link is broken; with -q it would not.
docs: $(VENV)/installed-dev
	$(RUN)/mkdocs build

bench: $(VENV)/installed-dev
	$(RUN)/python benchmarks/compile_time.py

clean:
	rm -rf $(VENV) build dist *.egg-info

$(VENV)/bin/python:
	@test -n '$(PYTHON)' || { echo 'mirage_mlir needs Python 3.11 or later' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Marks, so that nothing is installed again until the dependencies change.
$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	PYTHONWARNINGS=ignore $(RUN)/python -m pip install -q -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	PYTHONWARNINGS=ignore $(RUN)/python -m pip install -q -e '.[dev]'
	@touch $@ $(VENV)/installed
