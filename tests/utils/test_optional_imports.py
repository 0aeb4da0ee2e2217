"""What is said about a missing package: a command that works for whoever reads it."""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path

import pytest

from deddqn._utils.optional_imports import MissingPackageError, install_command, need

METADATA = """\
Metadata-Version: 2.4
Name: deddqn
Version: 0.1.0
Requires-Dist: numpy>=2.0
Provides-Extra: report
Requires-Dist: pandas>=2.2; extra == 'report'
Requires-Dist: pyarrow<99,>=16; (python_version < '3.14') and extra == 'report'
Provides-Extra: more
Requires-Dist: deddqn[report]; extra == 'more'
Requires-Dist: six; extra == 'more'
Requires-Dist: pandas>=2.2; extra == 'more'
"""


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, origin: object = None) -> None:
    """Let the package look installed as pip writes it down."""
    info = folder / "deddqn-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(METADATA)
    if origin is not None:
        (info / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(metadata, "distribution", lambda name: metadata.Distribution.at(info))


def test_in_a_clone_the_command_names_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, {"url": "file:///home/me/my%20clone", "dir_info": {"editable": True}})
    assert install_command("report") == "pip install -e '/home/me/my clone[report]'"
    assert install_command("report", "more") == "pip install -e '/home/me/my clone[report,more]'"


@pytest.mark.parametrize("origin", [None, {"url": "file:///d.whl", "archive_info": {}}, {"url": "x", "dir_info": {}}])
def test_elsewhere_the_command_names_the_packages(origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, origin)
    report = ["pandas>=2.2", "pyarrow<99,>=16; (python_version < '3.14')"]
    assert shlex.split(install_command("report")) == ["pip", "install", *report]
    assert shlex.split(install_command("more")) == ["pip", "install", *report, "six"]
    assert install_command("more").startswith("pip install 'pandas>=2.2' ")


def test_without_an_installation_the_project_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("report") == "pip install -e '.[report]' in the folder of the project"


def test_the_error_says_what_for_and_how() -> None:
    with pytest.raises(MissingPackageError) as caught:
        need("no_such_module", "tea", "report")
    assert str(caught.value) == (
        f"for tea install the package 'no_such_module' (extra 'report'): {install_command('report')}"
    )
