"""``deddqn about``: what a report of an error should tell."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

import deddqn
from deddqn._utils.versions import installed, versions
from deddqn.cli import about, main


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["about"]) == 0
    above, below = capsys.readouterr().out.split("kernels:\n")
    told = dict(line.split(maxsplit=1) for line in above.splitlines())
    assert told["deddqn"] == deddqn.__version__ and told["numpy"] == np.__version__
    assert told["package"] == str(Path(deddqn.__file__).parent)
    assert below.strip()


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["about", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["versions"]["python"] == platform.python_version()
    assert {"deddqn", *about.NEEDED} <= set(told["versions"])
    assert told["platform"] == platform.platform() and "avx2" in told["processor"]
    assert all(told["kernels"].values())


def test_it_works_where_the_compiler_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then it is needed most."""
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    assert about.instructions().startswith("instructions unknown (")


def test_versions() -> None:
    assert installed(["no-such-package", "numpy"]) == {"numpy": np.__version__}
    assert list(versions(["numpy", "no-such-package"])) == ["deddqn", "python", "numpy"]
