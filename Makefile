# make demo       everything once on made-up patients; the page is runs/demo/report.html
# make test       the fast tests            make test-slow   kills, wheels and other tests of minutes
# make lint       style, types, import rules, docs/cli.md    make lock    compile the locks anew (ARGS=--upgrade)
# make lock-envs  compile the locks of the model families in envs/ (ARGS="llava m3d")
# make clean      removes what make made, and keeps runs/
# Needs Python 3.11 or newer with pip and venv (another one: PYTHON=python3.13). ARGS goes on to pytest or uv.
PYTHON ?= python3
BIN = .venv/bin
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock" $(ARGS) pyproject.toml

# uv does not read pip's variables: hand on a folder of local wheels and a mirror where there are such.
empty :=
comma := ,
ifneq ($(strip $(PIP_FIND_LINKS)),)
export UV_FIND_LINKS ?= $(subst $(empty) $(empty),$(comma),$(strip $(PIP_FIND_LINKS)))
endif
ifneq ($(strip $(PIP_INDEX_URL)),)
export UV_DEFAULT_INDEX ?= $(PIP_INDEX_URL)
endif

.PHONY: demo test test-slow lint lock lock-envs clean

demo: .venv/.core
	$(BIN)/overread demo

test: .venv/.torch
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n 2 -m "not slow" $(ARGS)

test-slow: .venv/.torch
	OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -m slow $(ARGS)

lint: .venv/.tools
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/make_cli.py --check

lock: .venv/.uv
	$(COMPILE) -o requirements.txt
	$(COMPILE) --extra test -c requirements.txt -o requirements-test.txt

lock-envs: .venv/.uv
	$(BIN)/python envs/lock.py $(ARGS)

clean:
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/.uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "overread needs Python 3.11 or newer, and $(PYTHON) is %d.%d: make PYTHON=..." % sys.version_info[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv==0.13.8
	@touch $@

.venv/.core: .venv/.uv requirements.txt requirements-test.txt pyproject.toml
	$(INSTALL) --require-hashes -r requirements.txt
	$(INSTALL) --no-deps --build-constraints requirements-test.txt --editable .
	@touch $@

.venv/.tools: .venv/.core
	$(INSTALL) --require-hashes -r requirements-test.txt
	@touch $@

# torch stays out of the locks: which build is right (CPU, CUDA) differs from machine to machine. pyproject.toml
# leaves it out of what uv resolves; so here uv must not read that.
.venv/.torch: .venv/.tools
	$(INSTALL) --no-config --constraints requirements-test.txt torch==2.13.0
	@touch $@
