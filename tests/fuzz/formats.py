"""The formats: how their files are made, changed with and without their checksums, read, used, and what they mean.

A *meaning* is what a reader got out of a file: a mutant that is accepted although its checksum was not made right again
must have that of the original. A *statement* is what a mutant says by itself, read without the package's readers: one
whose checksum was made right must mean exactly that, or be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.checkpoints import forge_checkpoint, make_checkpoints, state_checkpoint, use_checkpoint
from tests.fuzz.experiments import (
    forge_logs,
    forge_plan,
    forge_pool,
    forge_results,
    make_logs,
    make_pools,
    make_results,
    state_logs,
    state_plan,
    state_pool,
    state_results,
    use_logs,
    use_plan,
    use_pool,
    use_results,
)
from tests.fuzz.searches import (
    forge_policy,
    forge_search,
    make_policies,
    make_searches,
    state_policy,
    state_search,
    use_policy,
    use_search,
)


@dataclass(frozen=True)
class Format:
    """A format: its originals, its forgeries, and its reader.

    Parameters
    ----------
    make : writes originals into a folder; returns their names there (files or folders).
    forge : writes over a mutant a whole file with other contents and the right checksum, if the format has one.
    use : reads a file, uses what is there, and returns its meaning; raises what a user would see.
    state : what a whole file says, read in another way; None where `use` returns that itself.
    target : of a folder, the files that are mutated as bytes.
    """

    name: str
    make: Callable[[Path], list[str]]
    forge: Callable[[Random, Path], None]
    use: Callable[[Path], Any]
    state: Callable[[Path], Any] | None = None
    target: str = ""
    weight: int = 1


FORMATS = [
    Format("search", make_searches, forge_search, use_search, state_search, weight=10),
    Format("policy", make_policies, forge_policy, use_policy, state_policy, weight=3),
    Format("plan", make_results, forge_plan, use_plan, state_plan, "plan.json", weight=2),
    Format("results", make_results, forge_results, use_results, state_results, "results/*.parquet", weight=1),
    Format("pool", make_pools, forge_pool, use_pool, state_pool, weight=2),
    Format("logs", make_logs, forge_logs, use_logs, state_logs, "*.zip", weight=1),
    Format(
        "checkpoint", make_checkpoints, forge_checkpoint, use_checkpoint, state_checkpoint, "checkpoint-*/*", weight=1
    ),
]
