"""What the commands of a page mean: ``deddqn`` is run (or parsed by its own parser), all others are checked.

A command that nobody knows how to check is an error, so that no page can show one that is never looked at.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import tyro

from deddqn.cli import COMMANDS, main
from deddqn.training.policy_search.config import SEARCH_PRESETS

ROOT = Path(__file__).parents[2]

SMALL_TRAINING = shlex.split(
    "--budget 200 --learning-starts 50 --cycles 1 --device cpu --n-runs 1 --batch-size 16 --buffer-size 500"
)
SMALL_TRAINING += shlex.split("--rollout-steps 1 --evaluate-every 0 --synchronous yes")
SMALL_SEARCH = shlex.split("--budget 200 --generations 1 --offspring 4 --evaluate-every 1")
SMALL = {
    "animate": shlex.split("--generations 3"),
    "demo": shlex.split("--runs 1 --budget 300"),
    "explain": shlex.split("--repeats 3 --budget 500"),
    "score": shlex.split("--runs 1"),
    "train": shlex.split("--problems cec2005:F1/d10"),
}


def lines(text: str) -> list[list[str]]:
    """The commands of a block as words, without comments."""
    joined = text.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


def run(words: list[str], added: list[str]) -> None:
    """Run a command of the package in small where it is long; check any other."""
    if words[0] != "deddqn":
        parse(words)
        if words != ["make", "demo"]:
            return
        words = ["deddqn", "demo", "--out", "out/demo"]  # what the target calls
    arguments = [*words[1:], *added]
    parse(["deddqn", *arguments])
    status = main([*arguments, *smaller(arguments)])
    if status != 0:
        raise RuntimeError(f"{shlex.join(words)} ended with status {status}")


def smaller(arguments: list[str]) -> list[str]:
    """Some commands take minutes or hours: the same, with few problems, runs and evaluations."""
    smaller = SMALL.get(arguments[0], [])
    if arguments[0] != "train":
        return smaller
    given = _options_of(arguments[0], arguments[1:])
    return [*smaller, *(SMALL_SEARCH if given.preset in SEARCH_PRESETS else SMALL_TRAINING)]


def parse(words: list[str]) -> None:
    """Raise ValueError if a command names something that does not exist."""
    program = words[0].rpartition("/")[2]
    if program not in _CHECKS:
        raise ValueError(f"nobody knows how to test {words[0]!r} (see tests/docs/commands.py)")
    _CHECKS[program](words[1:])


def mention(words: list[str]) -> None:
    """The same for a command in running text, which may be shortened: its options must exist."""
    given = [re.sub(r"^\[(--.*)\]$", r"\1", word) for word in words if word != "..."]  # [--resume] is an option, too
    if given[0] != "deddqn":
        parse(given)
        return
    if given[1].isupper() or given[1].startswith("--"):
        return  # deddqn --help, deddqn COMMAND --help
    known = {f"--{field.replace('_', '-')}" for field in _kind_of(given[1]).__dataclass_fields__} | {"--help"}
    unknown = {word for word in given if word.startswith("--")} - known
    if unknown:
        raise ValueError(f"'deddqn {given[1]}' does not know {sorted(unknown)}")


def _kind_of(command: str) -> Any:
    if command not in COMMANDS:
        raise ValueError(f"there is no command {command!r}")
    return import_module(f"deddqn.cli.{command}").Options


def _options_of(command: str, arguments: list[str]) -> Any:
    try:
        return tyro.cli(_kind_of(command), prog=command, args=arguments, console_outputs=False)
    except SystemExit:
        raise ValueError(f"'deddqn {shlex.join([command, *arguments])}' is refused by its parser") from None


def _deddqn(arguments: list[str]) -> None:
    _options_of(arguments[0], arguments[1:])


def _make(arguments: list[str]) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    unknown = {word for word in arguments if "=" not in word} - targets
    if unknown:
        raise ValueError(f"the Makefile has no target {sorted(unknown)}")


def _pip(arguments: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    for what in (word for word in arguments if word != "install" and not word.startswith("-")):
        match = re.fullmatch(r"(\.)(?:\[([\w,]+)\])?", what)  # it is on no index
        if match is None or not set((match[2] or "").split(",")) - {""} <= extras:
            raise ValueError(f"{what!r} cannot be installed: the extras are {sorted(extras)}")


def _python(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        found = importlib.util.find_spec(arguments[1])
        places = (found and found.submodule_search_locations) or []
        if places and not any(Path(place, "__main__.py").is_file() for place in places):
            found = None  # a package without anything to run
        if found is None:
            raise ValueError(f"there is no module {arguments[1]!r} to run")
        start, rest = arguments[:2], arguments[2:]
    else:
        if not (ROOT / arguments[0]).is_file():
            raise ValueError(f"there is no file {arguments[0]!r}")
        start, rest = [str(ROOT / arguments[0])], arguments[1:]
    flags = {word.partition("=")[0] for word in rest if word.startswith("--")}
    if flags and not flags <= _flags(*start):
        raise ValueError(f"{shlex.join(start)} does not know {sorted(flags - _flags(*start))}")
    if start == ["-m", "benchmarks"]:
        from benchmarks.__main__ import names

        unknown = set(rest) - set(names())
        if unknown:
            raise ValueError(f"there is no benchmark {sorted(unknown)}")


def _ray(arguments: list[str]) -> None:
    """Options of Ray's own commands; what follows ``--`` is a command of its own."""
    from ray.scripts.scripts import cli

    own, _, entry = _split(arguments, "--")
    command: Any = cli
    while own and own[0] in getattr(command, "commands", {}):
        command = command.commands[own.pop(0)]
    known = {option for parameter in command.params for option in parameter.opts}
    if command.name == "symmetric-run":  # hands other options to `ray start`
        known |= {option for parameter in cli.commands["start"].params for option in parameter.opts}
    unknown = {word.partition("=")[0] for word in own if word.startswith("--")} - known
    if command is cli or unknown:
        raise ValueError(f"'ray {shlex.join(arguments)}' is not a command of Ray, or does not know {sorted(unknown)}")
    if entry:
        parse(entry)


def _split(words: list[str], at: str) -> tuple[list[str], str, list[str]]:
    place = words.index(at) if at in words else len(words)
    return words[:place], at, words[place + 1 :]


def _srun(arguments: list[str]) -> None:
    """Slurm itself is not there; what it starts is checked."""
    parse(arguments[next(k for k, word in enumerate(arguments) if not word.startswith("-")) :])


def _export(arguments: list[str]) -> None:
    if not all(re.fullmatch(r"[A-Z_]+=.+", word) for word in arguments):
        raise ValueError(f"export needs NAME=value, got {arguments}")


@functools.cache
def _flags(*start: str) -> set[str]:
    """The options that the help of a module or script tells."""
    paths = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "PATH": "/usr/bin:/bin", "HOME": "/tmp", "COLUMNS": "200"}
    done = subprocess.run([sys.executable, *start, "--help"], capture_output=True, text=True, env=paths)
    return set(re.findall(r"--[\w-]+", done.stdout))


_CHECKS = {"deddqn": _deddqn, "make": _make, "pip": _pip, "python": _python}
_CHECKS |= {"ray": _ray, "srun": _srun, "export": _export}
