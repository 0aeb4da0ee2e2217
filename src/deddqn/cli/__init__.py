"""The command line: parsing only. Every command is a module with a dataclass `Options` and ``run(options)``.

What only `run` needs and takes long to import (pandas, scipy.stats, drawing) is imported there, not for ``--help``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

COMMANDS = {
    "minimize": "minimise a benchmark problem or a function of yours",
    "problems": "list the problems and suites",
    "policies": "list the policies",
    "demo": "a small comparison of all DE methods with its report, and a picture of a run",
    "compare": "run methods on problems and store every run",
    "report": "tables, figures and one HTML page from a comparison",
    "paper": "recompute the paper's ranks and tests from its own table",
    "export": "write the runs of a comparison as CSV, or for IOHanalyzer",
    "tune": "find the parameters of an adaptive policy on the training functions",
    "train": "train a policy: Double DQN as in the paper, or direct policy search",
    "explain": "what a policy does, which features matter to it, and whether it needs the state at all",
    "animate": "a population on a contour, coloured by the strategies that made it",
    "import": "turn a network that was trained with Keras into a policy file",
    "score": "mean return and rank score of policies on the training functions",
    "about": "versions, machine and compiled code, for reports of errors",
}
"""Name -> what it does; the module is ``deddqn.cli.<name>``, imported only when the command is used."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] in ("-h", "--help"):
        print(_help())
        return 0
    if given[0] == "--version":
        from deddqn import __version__

        print(f"deddqn {__version__}")
        return 0
    command = given[0]
    if command not in COMMANDS:
        from deddqn._utils.validation import suggestion

        print(
            f"deddqn: unknown command {command!r}; {suggestion(command, COMMANDS)}see 'deddqn --help'", file=sys.stderr
        )
        return 2
    import tyro

    try:
        module = importlib.import_module(f"deddqn.cli.{command.replace('-', '_')}")
    except ModuleNotFoundError as error:
        return _missing(command, error)
    options = tyro.cli(module.Options, prog=f"deddqn {command}", description=COMMANDS[command], args=given[1:])
    try:
        return int(module.run(options) or 0)
    except ModuleNotFoundError as error:
        return _missing(command, error)
    except (ValueError, KeyError, ImportError, OSError) as error:
        print(f"deddqn {command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"deddqn {command}: interrupted", file=sys.stderr)
        return 130


def _missing(command: str, error: ModuleNotFoundError) -> int:
    from deddqn._utils.optional_imports import install_command

    print(f"deddqn {command}: needs {error.name}: {install_command('report', 'baselines')}", file=sys.stderr)
    return 2


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, what in COMMANDS.items()]
    return "\n".join(
        [
            "usage: deddqn COMMAND [OPTIONS]",
            "",
            "Differential Evolution with adaptive operator selection and surrogate pre-screening (DE-DDQN and beyond).",
            "",
            *lines,
            "",
            "'deddqn COMMAND --help' tells the options of a command.",
        ]
    )
