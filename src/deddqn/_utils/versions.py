"""Versions of what is installed here, without importing it."""

from __future__ import annotations

from collections.abc import Iterable


def installed(packages: Iterable[str]) -> dict[str, str]:
    """Those of `packages` that are installed, with their versions."""
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, str] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of this package, of Python, and of those of `packages` that are installed."""
    from platform import python_version

    from deddqn import __version__

    return {"deddqn": __version__, "python": python_version(), **installed(packages)}
