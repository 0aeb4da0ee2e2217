"""``python -m deddqn._jit.build``: compile every entry for every level of processors, for the package to ship.

The build of a wheel or an editable install calls it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import platform
import re
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from deddqn._jit import stored
from deddqn._jit.kernels import ENTRIES
from deddqn._jit.mode import PLAIN

_APART = ("de", "features", "policies", "problems")
"""Packages whose entries have little in common with those of others."""
_CALLED = re.compile(r"llvm\.(memcpy|memmove|memset|exp2?|log(?:2|10)?|pow|sin|cos|tan|fmod)\b")
"""Instructions of LLVM that become calls of a C library."""


def main(arguments: list[str]) -> int:
    """Build what is not built yet; say what was done. ``--here``: only for processors like this one."""
    if PLAIN or not is_supported():
        print("machine code is built on Linux with an x86-64 processor, and compiled at first use elsewhere")
        return 0
    levels = [stored.best_level()] if arguments == ["--here"] else list(stored.LEVELS)
    if set(levels) <= set(stored.built_levels()):
        print("the machine code is up to date")
        return 0
    started = time.monotonic()
    count = build([level for level in levels if level])
    print(f"compiled {count} kernels for {', '.join(map(str, levels))} in {time.monotonic() - started:.0f} s")
    return 0


def is_supported() -> bool:
    """Whether code that is built here would be used here."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and stored.best_level() is not None


def build(levels: list[str]) -> int:
    """Compile all entries, on all cores; write one file per level, and last what is in them. Return their number."""
    import llvmlite.binding as llvm
    import numba

    groups = _groups()
    with ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("fork")) as pool:
        compiled = [entry for group in pool.map(_compile, groups, [levels] * len(groups)) for entry in group]
    stored.FOLDER.mkdir(exist_ok=True)
    (stored.FOLDER / stored.MANIFEST).unlink(missing_ok=True)
    manifest = {
        "stamp": stored.stamp(),
        "system": llvm.get_process_triple(),
        "numba": numba.__version__,
        "needs": sorted(set().union(*(entry.needs for entry in compiled))),
        "levels": {level: _write(stored.FOLDER / f"{level}.bin", level, compiled) for level in levels},
    }
    (stored.FOLDER / stored.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    return len(compiled)


def _groups() -> list[list[str]]:
    """Import every module that has entries; return their names in groups that share much of their code."""
    for path in stored.sources():
        if "@kernel(" in path.read_text():
            parts = path.relative_to(stored.PACKAGE).with_suffix("").parts
            importlib.import_module(".".join(("deddqn", *parts)))
    groups: dict[str, list[str]] = {}
    for name in sorted(ENTRIES):
        package = name.split(".")[1]
        groups.setdefault(package if package in ("de", "policies", "problems", "features") else "engine", []).append(
            name
        )
    return sorted(groups.values(), key=len, reverse=True)


class Compiled(NamedTuple):
    """An entry: its object files by level, and what it calls outside."""

    name: str
    objects: dict[str, bytes]
    needs: set[str]


def _compile(names: list[str], levels: list[str]) -> list[Compiled]:
    import llvmlite.binding as llvm

    from deddqn._jit.compiler import module_of, optimise, target_machine

    machines = {level: target_machine(level) for level in levels}
    compiled = []
    for name in names:
        translated = module_of(ENTRIES[name]).as_bitcode()
        entry = Compiled(name, {}, set())
        for level, machine in machines.items():
            module = llvm.parse_bitcode(translated)
            optimise(module, machine)
            entry.objects[level] = bytes(machine.emit_object(module))
            entry.needs.update(*(_called(function) for function in module.functions if function.is_declaration))
        compiled.append(entry)
    return compiled


def _called(function: Any) -> list[str]:
    if not function.name.startswith("llvm."):
        return [function.name]
    found = _CALLED.match(function.name)
    return [found[1]] if found else []


def _write(path: Path, level: str, compiled: list[Compiled]) -> dict[str, list[Any]]:
    """Write object files one after the other; return where each begins, its length and checksum."""
    offsets: dict[str, list[Any]] = {}
    with path.open("wb") as file:
        for entry in compiled:
            code = entry.objects[level]
            offsets[entry.name] = [file.tell(), len(code), hashlib.sha256(code).hexdigest()]
            file.write(code)
    return offsets


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
