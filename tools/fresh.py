"""Do the README's two commands work for somebody new? ``make fresh``, or ``python tools/fresh.py [--demo]``.

For every Python that is found (on PATH, under pyenv), the last commit is cloned into a temporary folder, and
`make demo` and `make test` run there with an empty home folder and without pip's cache. One line each says whether
they passed, how long they took and how large the environment became; the output of what failed is kept.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
ASK = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"


def interpreters(versions: list[str]) -> dict[str, str]:
    """Version -> the first interpreter of that version that runs."""
    found: dict[str, str] = {}
    for version in versions:
        for candidate in candidates(version):
            said = subprocess.run([candidate, "-c", ASK], capture_output=True, text=True)
            if said.returncode == 0 and said.stdout.split()[0] == version:
                found[version] = said.stdout.split(maxsplit=1)[1].strip()
                break
    return found


def candidates(version: str) -> Iterator[str]:
    """Where an interpreter of that version may be."""
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from (str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True))


def megabytes(folder: Path) -> int:
    """The disk space of a folder."""
    return sum(path.lstat().st_blocks for path in folder.rglob("*")) * 512 // 1_000_000


def attempt(version: str, python: str, targets: list[str], logs: Path) -> bool:
    """Clone, run the targets one after the other, print a line for each; whether all passed."""
    passed = True
    with tempfile.TemporaryDirectory(prefix="deddqn-fresh-") as temporary:
        home, clone = Path(temporary, "home"), Path(temporary, "deddqn")
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {**os.environ, "HOME": str(home), "PIP_NO_CACHE_DIR": "1"}
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "VIRTUAL_ENV", "PYTHONPATH", "XDG_CACHE_HOME"):
            environment.pop(name, None)
        for target in targets:
            log = logs / f"{version}-{target}.txt"
            start = time.monotonic()
            with log.open("w") as output:
                command = ["make", target, f"PYTHON={python}"]
                status = subprocess.call(command, cwd=clone, env=environment, stdout=output, stderr=output)
            seconds, size = time.monotonic() - start, megabytes(clone / ".venv")
            state = "pass" if status == 0 else f"FAIL, see {log}"
            print(f"python {version}  {target:<5} {seconds:5.0f} s  {size:5} MB  {state}", flush=True)
            passed = passed and status == 0
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description="run the README's commands in new clones")
    parser.add_argument("--demo", action="store_true", help="only make demo")
    parser.add_argument("--targets", nargs="+", help="these instead of demo and test, such as: demo setup")
    parser.add_argument("--versions", nargs="+", default=list(VERSIONS), help="of Python")
    options = parser.parse_args()
    targets = options.targets or (["demo"] if options.demo else ["demo", "test"])
    found = interpreters(options.versions)
    if not found:
        print(f"no Python of {', '.join(options.versions)} was found", file=sys.stderr)
        return 1
    logs = Path(tempfile.mkdtemp(prefix="deddqn-fresh-logs-"))
    results = [attempt(version, python, targets, logs) for version, python in found.items()]
    if all(results):
        shutil.rmtree(logs)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
