"""What an import costs: names are there at once, what they need is imported when they are used."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import deddqn
from deddqn.cli import COMMANDS

LAZY = (
    *("deddqn", "deddqn.baselines", "deddqn.de", "deddqn.engine", "deddqn.optimize", "deddqn.problems"),
    *("deddqn.experiments", "deddqn.explain", "deddqn.animation", "deddqn.optuna"),
)
EAGER = ("deddqn._jit", "deddqn.analysis.statistics", "deddqn.features", "deddqn.policies", "deddqn.problems.cec2005")

ANALYSIS = {"matplotlib", "numba", "pandas", "pyarrow", "scipy.stats", "torch"}
SEARCHING = {*ANALYSIS, "multiprocessing", "numba", "rich", "safetensors", "scipy.optimize", "tyro"}
"""What a search does not need to begin."""
HEAVY = {*SEARCHING, "numpy", "scipy"}


def imported_by(code: str) -> set[str]:
    """The modules that a fresh process has imported after `code`."""
    told = f"{code}\nimport sys\nprint('imported:', *sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=120, check=True)
    return set(done.stderr.rpartition("imported:")[2].split())


def test_every_package_is_listed():
    """Whoever adds a package with public names enters it above."""
    found = {m.name for m in pkgutil.walk_packages(deddqn.__path__, "deddqn.", onerror=lambda _: None) if m.ispkg}
    public = {name for name in found if hasattr(import_module(name), "__all__")}
    assert public | {"deddqn"} == {*LAZY, *EAGER}


@pytest.mark.parametrize("package", [*LAZY, *EAGER])
def test_every_public_name_is_there(package: str):
    module = import_module(package)
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    for name in module.__all__:
        assert getattr(module, name) is names[name]
        assert name in dir(module)


@pytest.mark.parametrize("package", LAZY)
def test_no_public_name_is_that_of_a_module(package: str):
    """Importing the module would put it in the place of what has its name."""
    module = import_module(package)
    assert not set(module.__all__) & {found.name for found in pkgutil.iter_modules(module.__path__)}


@pytest.mark.parametrize("package", LAZY)
def test_names_that_do_not_exist(package: str):
    module = import_module(package)
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'no_such_name'"):
        module.no_such_name
    with pytest.raises(ImportError, match="no_such_name"):
        exec(f"from {package} import no_such_name")


def test_modules_are_attributes():
    """As they would be if the package imported them itself."""
    code = "import deddqn\nassert deddqn.problems.get('cec2005:F1/d10').dimension == 10\ndeddqn.optimize.optimizer"
    imported_by(code)


def test_the_package_imports_nothing_heavy():
    assert not imported_by("import deddqn") & HEAVY


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["no-such-command"]], ids=str)
def test_help_imports_nothing_heavy(arguments: list[str]):
    assert not imported_by(f"from deddqn.cli import main\nassert main({arguments!r}) in (0, 2)") & HEAVY


def test_a_search_imports_what_it_uses():
    assert not imported_by("from deddqn import Optimizer, load_policy, minimize") & SEARCHING


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_imports_no_analysis(command: str):
    code = f"from deddqn.cli import main\ntry:\n    main([{command!r}, '--help'])\nexcept SystemExit:\n    pass"
    assert not imported_by(code) & ANALYSIS
