"""One process that reads mutants: ``python -m tests.fuzz.worker FORMAT SEED FIRST LAST FOLDER``.

It prints ``begin K`` before and ``end K OUTCOME`` after every mutant, so that whoever watches it knows which one
crashed or hung; then it is started again after that one. Outcomes: refused, same, stated (a forgery that means what it
says), changed (it means something else), error (an exception that no user should see), outside (something was written
there).
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.formats import FORMATS, Format
from tests.fuzz.mutations import mutated_bytes

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate", "shutil.rmtree")
FORBIDDEN = ("subprocess.Popen", "os.system", "os.exec", "socket.connect", "os.posix_spawn", "pickle.find_class")


class Watch:
    """Notices what Python does outside of the folder while a mutant is used."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.active, self.found = f"{folder.resolve()}{os.sep}", False, ""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active:
            return
        if event in FORBIDDEN:
            self.found = f"{event} {arguments[0]!r}"
        elif event in CHANGES or (event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING):
            self._check(event, arguments[0], arguments[-1])

    def _check(self, event: str, path: Any, folder: Any) -> None:
        if not isinstance(path, str | bytes | os.PathLike) or os.fspath(path) in ("/dev/null", b"/dev/null"):
            return  # a file that is already open
        if event != "open" and folder != -1 and not os.path.isabs(path):
            return  # below a folder that is already open
        self.active = False
        inside = os.path.realpath(os.fsdecode(path)).startswith(self.folder)
        self.active = True
        self.found = self.found or ("" if inside else f"{event} {path!r}")


def copied(original: Path, place: Path) -> Path:
    """A copy of a file or folder in the emptied folder `place`."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    (shutil.copytree if original.is_dir() else shutil.copy)(original, place / original.name)
    return place / original.name


def mutant(
    form: Format, originals: Path, names: list[str], number: int, seed: int, place: Path
) -> tuple[Path, str, bool]:
    """Write mutant `number` below `place`; return its path, the name of its original, and whether it is a forgery."""
    rng = Random(f"{seed}/{form.name}/{number}")
    name, forged = rng.choice(names), rng.random() < 0.5
    path = copied(originals / name, place)
    if forged:
        try:
            form.forge(rng, path)
        except Exception:  # a value that the format has no way to write
            path, forged = copied(originals / name, place), False
    if not forged:
        files = sorted(path.glob(form.target)) if form.target else [path]
        file = rng.choice([file for file in files if file.is_file()])
        file.write_bytes(mutated_bytes(rng, file.read_bytes()))
    return path, name, forged


def outcome_of(form: Format, path: Path, original: Any, forged: bool, watch: Watch) -> str:
    """Use a mutant and say how it went."""
    stated = None
    if form.state is not None and (forged or form.name == "pool"):
        try:
            stated = form.state(path)
        except Exception as error:
            stated = f"nothing: {type(error).__name__}"
    watch.found, watch.active = "", True
    try:
        meaning = form.use(path)
    except (ValueError, OSError) as error:
        return "refused" if len(str(error).splitlines()) <= 1 else f"error more than one line: {error!r}"
    except Exception as error:
        return f"error {error!r} at {traceback.extract_tb(error.__traceback__)[-1]}"
    finally:
        watch.active = False
        if watch.found:
            print(f"note {watch.found}", flush=True)
    if watch.found:
        return f"outside {watch.found}"
    if meaning == original:
        return "same"
    return "stated" if stated == meaning else f"changed: means {meaning}, says {stated}"


def main(name: str, seed: int, first: int, last: int, folder: Path) -> None:
    """Use the mutants from `first` up to `last`."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    form = next(form for form in FORMATS if form.name == name)
    originals, place = folder / "originals" / name, folder / "place" / name
    if not originals.exists():
        originals.mkdir(parents=True)
        form.make(originals)
    names = sorted(path.name for path in originals.iterdir())
    watch = Watch(place)
    meanings = {}
    for original in names:  # also compiles what is needed
        meanings[original] = form.use(copied(originals / original, place))
    print("ready", flush=True)
    beside = sorted(os.listdir(place.parent))
    for number in range(first, last):
        path, original, forged = mutant(form, originals, names, number, seed, place)
        print(f"begin {number}", flush=True)
        outcome = outcome_of(form, path, meanings[original], forged, watch)
        if sorted(os.listdir(place.parent)) != beside:
            outcome = f"outside {sorted(os.listdir(place.parent))}"
        print(f"end {number} {'forged' if forged else 'bytes'} {outcome}".replace("\n", " "), flush=True)
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), Path(sys.argv[5]))  # type: ignore[misc]
