# The make targets of the project: what people type is what CI runs. `make` alone lists them.
#
#   PYTHON  the interpreter that makes .venv        make setup PYTHON=python3.12
#   JOBS    how many test processes                 make test JOBS=8
#   ARGS    passed on to the command of the target   make test ARGS="-k portfolio -x"
#   EXTRAS  the extras that the tools come with     make setup EXTRAS="dev train sb3"

PYTHON ?= python3
JOBS ?= 2
ARGS ?=
EXTRAS ?= dev

# One environment in two stages: what the demo needs, and on top of it what the tests, checks and pages need.
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(VENV)/.ready-demo
READY := $(VENV)/.ready-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Modules are compiled to bytecode when they are first imported: doing it for all of them takes longer than the rest.
INSTALL := $(PIP) install --quiet --progress-bar off --no-compile -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup demo test check docs bench slow fresh newest clean kernels FORCE

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(READY) ## create .venv and install the package with its tools
	@echo "==> ready: $(VENV)"

demo: $(DEMO) kernels ## run the main job in small; says where to look
	@echo "==> demo, into out/demo"
	@$(BIN)/deddqn demo --out out/demo $(ARGS)

test: $(READY) kernels ## run the tests, without the slow ones
	@echo "==> tests, $(JOBS) processes"
	@$(BIN)/python -m pytest -n $(JOBS) $(ARGS)
	@echo "==> tests on a cluster of two local nodes"
	@$(BIN)/python -m pytest -m "cluster and not slow" $(ARGS) || [ $$? -eq 5 ]

slow: $(READY) kernels ## run the slow tests
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

bench: $(READY) kernels ## measure speed and memory against peers
	@echo "==> benchmarks"
	@$(BIN)/python -m benchmarks $(ARGS)

fresh: ## run demo and tests in new clones, with every Python that is found
	@$(PYTHON) tools/fresh.py $(ARGS)

newest: ## build a wheel with the newest numba, and run the tests of compiled code on it
	@echo "==> creating build/newest"
	@rm -rf build/newest && $(PYTHON) -m venv build/newest
	@build/newest/bin/python tools/requirements.py | sed 's/^numba.*/numba/' > build/newest/requirements.txt
	@build/newest/bin/python -m pip install --quiet --disable-pip-version-check --progress-bar off \
		-r build/newest/requirements.txt pytest hypothesis
	@build/newest/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps .
	@build/newest/bin/deddqn about
	@build/newest/bin/python -m pytest -q tests/jit tests/parity tests/digests $(ARGS)

clean: ## delete caches and build products; keeps .venv and out/
	@echo "==> deleting caches and build products"
	@rm -rf build dist docs/generated src/deddqn/_jit/built .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . \( -name .git -o -name .venv -o -name out \) -prune -o -type d -name __pycache__ -prune -exec rm -rf {} +

# The machine code of the kernels, made anew when their sources have changed since; see CONTRIBUTING.md.
kernels: $(DEMO)
	@$(BIN)/python -m deddqn._jit.build --here

# A stamp holds the path of this folder: an environment that was copied or moved here is made anew. That of the second
# stage holds the extras, too: naming others installs them.
ifneq ($(shell cat $(DEMO) 2>/dev/null),$(CURDIR))
$(DEMO): FORCE
endif
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR) $(EXTRAS))
$(READY): FORCE
endif

# The requirements come first: the package is built with what is in the environment, the sources of others are not.
$(DEMO): pyproject.toml constraints.txt tools/requirements.py
	@if [ "$$(cat $@ 2>/dev/null || echo '$(CURDIR)')" != "$(CURDIR)" ] || ! $(PIP) --version >/dev/null 2>&1; then \
		$(check-python) && echo "==> creating $(VENV)" && $(PYTHON) -m venv --clear $(VENV); fi
	@echo "==> installing deddqn and what the demo needs into $(VENV) (a minute or so the first time)"
	@$(BIN)/python tools/requirements.py report > $(VENV)/demo.txt
	@$(INSTALL) -r $(VENV)/demo.txt
	@$(INSTALL) --no-build-isolation --no-deps -e .
	@echo "$(CURDIR)" > $@

$(READY): $(DEMO)
	@echo "==> installing the tools and the other extras into $(VENV) (a minute or two the first time)"
	@$(BIN)/python tools/requirements.py $(EXTRAS) > $(VENV)/dev.txt
	@$(INSTALL) -r $(VENV)/dev.txt
	@echo "$(CURDIR) $(EXTRAS)" > $@

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
