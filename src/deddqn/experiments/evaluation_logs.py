"""Logs of every evaluation, in formats of other tools, beside the results; every stored run is in them exactly once.

A run is logged into a scratch folder of its own. When its task ends, the files of its runs become one archive,
``logs/runs/<format>-<number>.zip``, written like a result file and before it. An archive that cannot be read, or a run
without its log, is run again; of two logs of one run the last counts. When all is done, the archives are joined into
the folders that readers expect: ``logs/<format>/<method>``.
"""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from deddqn._utils.atomic import remove_leftovers
from deddqn._utils.names import folder_names
from deddqn._utils.reading import check_no_links, read_limited, read_members, refusing
from deddqn.experiments.plan import Job
from deddqn.experiments.results import FAILED, Run
from deddqn.experiments.store import ASIDE, Store
from deddqn.problems import Problem
from deddqn.problems.wrappers import EvaluationCallback, with_callback

LOGS, ARCHIVES, SCRATCH, JOINING = "logs", "runs", ".scratch", ".joining"
LARGEST_ARCHIVE = 2**31
_KEY = re.compile(r"[0-9a-f]{24}")

Files = dict[str, bytes]
"""The files of one run: path below its folder -> content."""


@runtime_checkable
class LogFormat(Protocol):
    """A format of logs; `deddqn.loggers.formats` has those of ioh and COCO. It is sent to worker processes."""

    @property
    def name(self) -> str:
        """The name of its folder."""

    def check(self, problems: Iterable[Problem], folder: Path) -> None:
        """Raise if runs on these problems cannot be logged in folders below `folder`."""

    def opened(self, folder: Path, job: Job, problem: Problem) -> AbstractContextManager[EvaluationCallback]:
        """Begin the log of a run in the empty `folder`, and finish it with the block."""

    def join(self, runs: Iterable[Files], folder: Path) -> None:
        """Write the logs of several runs of one method into `folder` as one."""


@dataclass(frozen=True)
class Recorder:
    """Logs runs, in any process, into folders that the driver collects."""

    formats: tuple[LogFormat, ...]
    scratch: Path

    def folder(self, form: LogFormat, key: str) -> Path:
        """Where the log of a run is written."""
        return self.scratch / form.name / key

    @contextmanager
    def recorded(self, problem: Problem, job: Job) -> Iterator[Problem]:
        """The problem with its evaluations logged, those within the budget of the job."""
        with ExitStack() as stack:
            tells = [stack.enter_context(self._opened(form, job, problem)) for form in self.formats]
            left = job.budget

            def tell(point: np.ndarray, value: float) -> None:
                nonlocal left
                left -= 1
                if left >= 0:
                    for each in tells:
                        each(point, value)

            yield with_callback(problem, tell)

    def _opened(self, form: LogFormat, job: Job, problem: Problem) -> AbstractContextManager[EvaluationCallback]:
        folder = self.folder(form, job.key)
        shutil.rmtree(folder, ignore_errors=True)  # of an attempt whose process died
        folder.mkdir(parents=True)
        return form.opened(folder, job, problem)


class EvaluationLogs:
    """The logs of an experiment; for the holder of its lock."""

    def __init__(self, store: Store, formats: Sequence[LogFormat]) -> None:
        self.store = store
        self.formats = tuple(formats)
        self.folder = store.folder.absolute() / LOGS
        self.archives = self.folder / ARCHIVES
        self.problems: list[str] = []
        self.recorder = Recorder(self.formats, self.folder / SCRATCH) if formats else None

    @contextmanager
    def session(self) -> Iterator[None]:
        """Remove what a killed process left behind, and leave nothing behind."""
        if not self.formats:
            yield
            return
        check_no_links(self.folder, ARCHIVES, SCRATCH, JOINING, *(form.name for form in self.formats))
        self._clear()
        with self.store.clear_errors("create"):
            self.archives.mkdir(parents=True, exist_ok=True)
        try:
            yield
        finally:
            self._clear()

    def _clear(self) -> None:
        for name in (SCRATCH, JOINING):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        remove_leftovers(self.archives, "*.zip")

    def logged(self) -> set[str] | None:
        """Keys of the runs that are logged in every format, None where nothing is to be logged."""
        if not self.formats:
            return None
        self.problems = []
        return set.intersection(*(set(self._where(form)) for form in self.formats))

    def append(self, rows: list[Run]) -> None:
        """Put the logs of the rows' runs into an archive; those of failed runs are dropped."""
        if self.recorder is None:
            return
        keys = [row.key for row in rows if row.status != FAILED]
        for form in self.formats:
            if keys:
                self.store.write_whole(self._next(form), _archive({k: self.recorder.folder(form, k) for k in keys}))
            for row in rows:
                shutil.rmtree(self.recorder.folder(form, row.key), ignore_errors=True)

    def join(self, jobs: Iterable[Job]) -> list[Path]:
        """Write ``logs/<format>/<method>`` again from the logs of these jobs; return the folders of the formats."""
        chosen = list(jobs)
        return [self._join(form, chosen) for form in self.formats]

    def _join(self, form: LogFormat, jobs: list[Job]) -> Path:
        where = self._where(form)
        target, joining = self.folder / form.name, self.folder / JOINING / form.name
        with self.store.clear_errors("write"):
            for method, name in folder_names(job.method for job in jobs).items():
                keys = [job.key for job in jobs if job.method == method and job.key in where]
                (joining / name).mkdir(parents=True)
                form.join(_files(keys, where), joining / name)
            shutil.rmtree(target, ignore_errors=True)
            joining.rename(target)
        return target

    def _archives(self, form: LogFormat) -> list[Path]:
        return sorted(self.archives.glob(f"{form.name}-*.zip"))

    def _next(self, form: LogFormat) -> Path:
        used = [int(path.name.split("-")[-1].split(".")[0]) for path in self.archives.glob(f"{form.name}-*.zip*")]
        return self.archives / f"{form.name}-{max(used, default=0) + 1:06d}.zip"

    def _where(self, form: LogFormat) -> dict[str, Path]:
        """Key -> the last archive that has it; an archive that cannot be read is set aside."""
        where: dict[str, Path] = {}
        for path in self._archives(form):
            try:
                with refusing(path, "a log"):
                    where |= dict.fromkeys(_read_archive(path), path)
            except (OSError, ValueError) as error:
                aside = path.rename(path.with_name(path.name + ASIDE))
                self.problems.append(f"{error}; set aside as {aside.name}, its jobs run again")
        return where


def _archive(folders: dict[str, Path]) -> bytes:
    """The files below folders, each under its key."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, folder in folders.items():
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    archive.write(path, f"{key}/{path.relative_to(folder).as_posix()}")
    return sink.getvalue()


def _read_archive(path: Path) -> dict[str, Files]:
    """The files of the runs in an archive; ValueError if its members are not ``<key>/<file>``."""
    runs: dict[str, Files] = {}
    for name, content in read_members(read_limited(path, LARGEST_ARCHIVE), LARGEST_ARCHIVE):
        key, slash, file = name.partition("/")
        if not slash or not _KEY.fullmatch(key):
            raise ValueError(f"its member {name[:80]!r} belongs to no run")
        runs.setdefault(key, {})[file] = content
    return runs


def _files(keys: list[str], where: dict[str, Path]) -> Iterator[Files]:
    """The files of runs, in the order of their keys; an archive is kept while its runs follow each other."""
    last: Path | None = None
    for key in keys:
        if where[key] != last:
            last = where[key]
            runs = _read_archive(last)
        yield runs[key]
