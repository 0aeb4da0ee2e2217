# The verbs of the project: what people type is what CI runs. `make` alone lists them.
#
#   PYTHON  the interpreter that makes .venv        make setup PYTHON=python3.12
#   JOBS    how many test processes                 make test JOBS=8
#   ARGS    passed on to the command of the verb    make test ARGS="-k portfolio -x"

PYTHON ?= python3
JOBS ?= 2
ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help setup demo test check docs bench slow clean fresh-kernels FORCE

help: ## list the verbs
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(READY) ## create .venv and install the package with its tools
	@echo "==> ready: $(VENV)"

demo: $(READY) fresh-kernels ## run the main job in small; says where to look
	@echo "==> demo, into out/demo"
	@$(BIN)/deddqn demo --out out/demo $(ARGS)

test: $(READY) fresh-kernels ## run the tests, without the slow ones
	@echo "==> tests, $(JOBS) processes"
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)
	@echo "==> tests on a cluster of two local nodes"
	@$(BIN)/python -m pytest -m "cluster and not slow" $(ARGS) || [ $$? -eq 5 ]

slow: $(READY) fresh-kernels ## run the slow tests
	@echo "==> slow tests, $(JOBS) processes"
	@$(BIN)/python -m pytest -m "slow and not cluster" -n $(JOBS) $(ARGS) || [ $$? -eq 5 ]
	@$(BIN)/python -m pytest -m "slow and cluster" $(ARGS) || [ $$? -eq 5 ]

check: $(READY) ## check format, style, types and the direction of imports
	@echo "==> ruff format --check"
	@$(BIN)/python -m ruff format --check .
	@echo "==> ruff check"
	@$(BIN)/python -m ruff check .
	@echo "==> mypy"
	@$(BIN)/python -m mypy
	@echo "==> import-linter"
	@$(BIN)/lint-imports --no-logo

docs: $(READY) ## build the documentation into out/docs; a warning is an error
	@echo "==> documentation"
	@$(BIN)/python -m sphinx -b html -W --keep-going -n -E -q -j $(JOBS) -d build/doctrees $(ARGS) docs out/docs
	@echo "==> open out/docs/index.html"

bench: $(READY) fresh-kernels ## measure speed and memory against peers
	@echo "==> benchmarks"
	@$(BIN)/python -m benchmarks $(ARGS)

clean: ## delete caches and build products; keeps .venv and out/
	@echo "==> deleting caches and build products"
	@rm -rf build dist docs/generated .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . \( -name .git -o -name .venv -o -name out \) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# Numba does not see edits in called functions of other files; see CONTRIBUTING.md.
fresh-kernels: $(READY)
	@$(BIN)/python tools/clean_numba_cache.py

# The stamp holds the path of this folder: an environment that was copied or moved here is made anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif

$(READY): pyproject.toml constraints.txt
	@if [ "$$(cat $@ 2>/dev/null || echo '$(CURDIR)')" != "$(CURDIR)" ] || ! $(PIP) --version >/dev/null 2>&1; then \
		$(check-python) && echo "==> creating $(VENV)" && $(PYTHON) -m venv --clear $(VENV); fi
	@echo "==> installing deddqn and its tools into $(VENV) (a minute or so the first time)"
	@$(PIP) install --quiet -c constraints.txt hatchling editables
	@$(PIP) install --quiet -c constraints.txt -e ".[dev]"
	@echo "$(CURDIR)" > $@

# Debian and Ubuntu ship Python without ensurepip; python3-venv brings it.
define check-python
if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	echo "deddqn needs Python 3.11 or newer, and '$(PYTHON)' is not; name another one: make setup PYTHON=python3.12" >&2; \
	exit 1; \
fi; \
if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "==> installing Debian's python3-venv"; \
	apt-get update -qq || true; \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y python3-venv >/dev/null || true; \
fi; \
if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then \
	echo "'$(PYTHON)' cannot make virtual environments; on Debian or Ubuntu: sudo apt-get install python3-venv" >&2; \
	exit 1; \
fi
endef

FORCE:
