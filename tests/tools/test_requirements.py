"""The requirements that the Makefile installs are those of pyproject.toml."""

from __future__ import annotations

import pytest

from tools.requirements import requirements

PROJECT = {
    "build-system": {"requires": ["hatchling"]},
    "project": {
        "name": "deddqn",
        "dependencies": ["numpy"],
        "optional-dependencies": {
            "a": ["pandas>=2", "six; os_name == 'nt'"],
            "b": ["deddqn[a,c]; python_version < '3.12'", "numpy"],
            "c": ["cma"],
        },
    },
}
ALWAYS = ["hatchling", "editables", "numpy"]


def test_extras_are_expanded_with_their_markers() -> None:
    assert requirements(PROJECT, []) == ALWAYS
    assert requirements(PROJECT, ["a", "c"]) == [*ALWAYS, "pandas>=2", "six; os_name == 'nt'", "cma"]
    old = "python_version < '3.12'"
    assert requirements(PROJECT, ["b"]) == [
        *ALWAYS,
        f"pandas>=2; {old}",
        f"six; ({old}) and (os_name == 'nt')",
        f"cma; {old}",
    ]


def test_unknown_extras_are_named() -> None:
    with pytest.raises(SystemExit, match="no extra 'tea' in pyproject.toml; the extras are a, b, c"):
        requirements(PROJECT, ["tea"])
