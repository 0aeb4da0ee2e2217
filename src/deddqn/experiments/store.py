"""The folder of an experiment: ``plan.json`` and append-only result files.

A result file is written under a temporary name, flushed to the disk and renamed: it is whole or it is not there. A
file that cannot be read is named and set aside, and its jobs count as not done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from deddqn._utils.atomic import remove_leftovers, write_bytes
from deddqn._utils.disk_errors import clear_errors
from deddqn._utils.lock import FolderInUse, FolderLock
from deddqn._utils.reading import read_limited, refusing
from deddqn.experiments.plan import Plan
from deddqn.experiments.results import FAILED, SCHEMA, Run, read_table, to_table

PLAN, RESULTS, PATTERN, ASIDE = "plan.json", "results", "part-*.parquet", ".corrupt"
LARGEST_PLAN, LARGEST_PART = 2**26, 2**30


class StoreError(OSError):
    """The folder of an experiment cannot be used; the message says why."""


class Store:
    """Results in a folder. Reading needs no lock; writing is for the holder of the lock."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.results = self.folder / RESULTS
        self.problems: list[str] = []

    def plan(self) -> Plan | None:
        """The plan of the folder, None where there is none."""
        path = self.folder / PLAN
        if not path.exists():
            return None
        try:
            with refusing(path, "the plan of an experiment"):
                return Plan.from_json(read_limited(path, LARGEST_PLAN))
        except ValueError as error:
            raise StoreError(str(error)) from None

    def existing_plan(self) -> Plan:
        """The plan of the folder; an error where there is none."""
        plan = self.plan()
        if plan is None:
            raise StoreError(f"{self.folder} holds no experiment ({PLAN} is missing); 'deddqn compare' makes one")
        return plan

    def create(self) -> None:
        """Make the folder."""
        with self.clear_errors("create"):
            self.results.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder, hold its lock, and remove what an interrupted write of an earlier holder left behind."""
        for path in (self.results, self.folder / PLAN):
            if path.is_symlink():
                raise StoreError(f"{path} must not be a link: results would be written elsewhere")
        self.create()
        try:
            lock = FolderLock(self.folder)
        except FolderInUse as error:
            raise StoreError(*error.args) from error
        with lock:
            remove_leftovers(self.folder, PLAN)
            remove_leftovers(self.results, PATTERN)
            yield

    def adopt(self, plan: Plan, *, extend: bool = False) -> Plan:
        """Bind the folder to `plan`, or refuse if it belongs to another one; return the plan to work on."""
        present = self.plan()
        if present is not None:
            differences = plan.differences(present)
            if differences and not extend:
                raise StoreError(
                    f"{self.folder} belongs to another plan; {'; '.join(differences)}. "
                    "Choose another folder, or add to this one with --extend"
                )
            plan = plan.extended(present) if differences else plan
        self.write_whole(self.folder / PLAN, plan.to_json().encode())
        return plan

    def append(self, runs: list[Run]) -> Path:
        """Write rows into a file of their own."""
        sink = pa.BufferOutputStream()
        pq.write_table(to_table(runs), sink, compression="zstd", write_page_checksum=True)
        path = self.results / f"part-{self._next_number():06d}.parquet"
        self.write_whole(path, sink.getvalue())
        return path

    def _next_number(self) -> int:
        """Numbers of files that were set aside are not used again."""
        if not hasattr(self, "_last"):
            numbers = (path.name.split("-")[1].split(".")[0] for path in self.results.glob("part-*"))
            self._last = max((int(number) for number in numbers if number.isdigit()), default=0)
        self._last += 1
        return self._last

    def write_whole(self, path: Path, content: Any) -> None:
        """Write a file that is whole or not there."""
        with self.clear_errors("write"):
            write_bytes(path, content)

    def clear_errors(self, verb: str) -> AbstractContextManager[None]:
        """Turn what the operating system says into advice."""
        return clear_errors(f"{verb} in {self.folder}", StoreError)

    def read(self, *, set_aside: bool = False) -> pd.DataFrame:
        """All stored runs, one row per job: the last one that did not fail, else the last.

        Files that cannot be read are listed in ``problems`` and, if `set_aside`, renamed to ``*.corrupt``.
        """
        self.problems = []
        tables = []
        for path in sorted(self.results.glob(PATTERN)):
            try:
                with refusing(path, "a result file"):
                    tables.append(read_table(read_limited(path, LARGEST_PART)))
            except (OSError, ValueError) as error:
                self._report_corrupt(path, error, set_aside)
        frame = pa.concat_tables([SCHEMA.empty_table(), *tables]).to_pandas()
        order = (frame["status"] != FAILED).to_numpy().argsort(kind="stable")
        return frame.iloc[order].drop_duplicates("key", keep="last").sort_index().reset_index(drop=True)

    def _report_corrupt(self, path: Path, error: Exception, set_aside: bool) -> None:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if set_aside:
            aside = path.with_name(path.name + ASIDE)
            with self.clear_errors("rename"):
                os.replace(path, aside)
            self.problems.append(f"{reason}; set aside as {aside.name}, its jobs run again")
        else:
            self.problems.append(f"{reason}; it is left out")

    def done(self, *, retry_failed: bool = False, logged: set[str] | None = None) -> set[str]:
        """Keys of the jobs that need not run; unreadable files are set aside.

        Where logs are kept, `logged` are the keys of the runs that have one; a failed run has none.
        """
        frame = self.read(set_aside=True)
        failed = set(frame["key"][frame["status"] == FAILED])
        finished = set(frame["key"]) - failed
        if logged is not None:
            finished &= logged
        return finished if retry_failed else finished | failed
