"""``deddqn about``: what a report of an error should tell: versions, the machine, and which compiled code runs."""

from __future__ import annotations

import json as encoder
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

import deddqn
from deddqn._utils.versions import versions

NEEDED = ("numpy", "scipy", "numba", "llvmlite", "safetensors", "tyro", "rich")
OPTIONAL = ("torch", "ray", "pandas", "pyarrow", "matplotlib", "gymnasium", "ioh", "cma", "minionpy", "optuna")
INSTRUCTIONS = ("avx2", "fma")
"""What kernels gain most from, where a processor has it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Paste what it prints into your report."""

    json: Annotated[bool, tyro.conf.arg(help="as JSON")] = False


def run(options: Options) -> int:
    """Print it."""
    found = gather()
    if options.json:
        print(encoder.dumps(found, indent=2))
        return 0
    lines = dict(found["versions"])
    lines |= {name: found[name] for name in ("platform", "processor", "package")}
    width = max(map(len, (*lines, *found["kernels"])))
    for name, text in lines.items():
        print(f"{name:<{width}}  {text}")
    print("kernels:")
    for name, text in found["kernels"].items():
        print(f"{name:<{width}}  {text}")
    return 0


def gather() -> dict[str, Any]:
    """What is printed, as it is written to JSON."""
    from deddqn._jit import describe

    found = versions((*NEEDED, *OPTIONAL))
    found |= {package: "missing" for package in NEEDED if package not in found}
    return {
        "versions": found,
        "platform": platform.platform(),
        "processor": f"{processor()}, {os.cpu_count()} cores, {instructions()}",
        "package": str(Path(deddqn.__file__).parent),
        "kernels": dict(describe()),
    }


def processor() -> str:
    """The name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def instructions() -> str:
    """Which of `INSTRUCTIONS` the processor has, as the compiler sees it."""
    try:
        from llvmlite.binding import get_host_cpu_features

        features = get_host_cpu_features()
    except (ImportError, OSError, RuntimeError) as error:  # a broken installation is what may be reported
        return f"instructions unknown ({error})"
    return ", ".join(f"{'' if features.get(name) else 'no '}{name}" for name in INSTRUCTIONS)
