"""The reference: a page per part of the public face, with everything that its modules export."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from tools.docs import markdown

PACKAGE = Path(__file__).parents[2] / "src" / "deddqn"


@dataclass(frozen=True)
class Part:
    """A page of the reference: what it is about, and the modules (with names, or all that they export)."""

    name: str
    title: str
    about: str
    modules: tuple[tuple[str, tuple[str, ...]], ...]


ALL: tuple[str, ...] = ()  # everything in the module's __all__
REST = "..."  # what is in it and on no other page
PARTS = (
    Part(
        "minimize",
        "Minimise",
        "One call, the same search as an object, and a picture of it. Guide: [](../../guide/minimize.md).",
        (("deddqn", ("minimize", "Optimizer", "plot")),),
    ),
    Part(
        "problems",
        "Problems",
        "What is minimised: functions of yours, and benchmark functions by name.",
        (("deddqn", ("Problem",)), ("deddqn.problems", ALL)),
    ),
    Part(
        "search",
        "The search",
        "The settings of Differential Evolution, and the operators that a policy selects from.",
        (("deddqn", ("DEConfig", "Operator", "Portfolio", "PAPER", REST)),),
    ),
    Part(
        "policies",
        "Policies",
        "What selects the operators. Tutorial: [](../../tutorials/policy.md).",
        (
            ("deddqn", ("load_policy",)),
            ("deddqn.policies", ALL),
            ("deddqn.policies.policy_kernels", ("PolicyKernels",)),
        ),
    ),
    Part(
        "engine",
        "Many runs",
        "Batches of runs that advance together on all cores, with or without a policy inside.",
        (
            ("deddqn", ("RunSpec", "VectorizedRuns")),
            ("deddqn.engine", ALL),
            ("deddqn.engine.run_spec", ("Template",)),
            ("deddqn.engine.run", ("Run",)),
        ),
    ),
    Part(
        "experiments",
        "Comparisons",
        "From a plan to a report. Guide: [](../../guide/compare.md).",
        (
            ("deddqn.experiments", ALL),
            ("deddqn.experiments.methods", ("MethodSpec",)),
            ("deddqn.experiments.results", ("Run",)),
            ("deddqn.analysis.statistics", ALL),
        ),
    ),
    Part(
        "explain",
        "Explanations and animations",
        "What a policy does and whether it needs the state; a run as a GIF. Guide: [](../../guide/explain.md).",
        (("deddqn.explain", ALL), ("deddqn.animation", ALL)),
    ),
    Part(
        "optuna",
        "A sampler for Optuna",
        "The search for studies of Optuna. Guide: [](../../guide/optuna.md).",
        (("deddqn.optuna", ALL),),
    ),
    Part(
        "baselines",
        "Other optimisers",
        "What a method of a comparison is, and those that come with the package.",
        (("deddqn.baselines", ALL),),
    ),
    Part(
        "training",
        "Training",
        "Algorithm 1 and policy search. Guide: [](../../guide/training.md).",
        (
            ("deddqn.training.config", ("TrainingConfig", "preset", "PRESETS")),
            ("deddqn.training.dqn.trainer", ("train", "Trainer", "TrainingResult")),
            ("deddqn.training.policy_search.config", ("PolicySearchConfig", "SEARCH_PRESETS")),
            ("deddqn.training.policy_search.search", ("search_policy", "PolicySearch")),
            ("deddqn.training.api", ("learn", "Learned", "TrainingFailed", "config_of")),
            ("deddqn.training.dqn.paper_grid", ("paper_grid", "grid_configs")),
            (
                "deddqn.evaluation",
                ("evaluate_policy", "evaluate_policies", "Evaluation", "reference_errors", "rank_score"),
            ),
        ),
    ),
    Part(
        "integrations",
        "Other libraries",
        "Gymnasium, Stable-Baselines3, ioh and COCO. Guides: [](../../guide/gymnasium.md), [](../../guide/bbob.md).",
        (
            ("deddqn.envs.gymnasium", ("DEEnv", "DEVectorEnv")),
            ("deddqn.envs.stable_baselines3", ("DEVecEnv",)),
            ("deddqn.loggers.ioh", ("IohLogger", "log_with_ioh")),
            ("deddqn.loggers.ioh_files", ("write_ioh_logs",)),
            ("deddqn.loggers.coco", ("CocoObserver", "log_with_coco")),
            ("deddqn.loggers.formats", ("IohLog", "CocoLog")),
        ),
    ),
    Part(
        "state",
        "State and rewards",
        "Table 1 as data, and the reward of a decision.",
        (("deddqn.features.layout", ("Block", "n_features", "feature_names")), ("deddqn.rewards", ("REWARDS",))),
    ),
)


def exported(module: str, names: tuple[str, ...]) -> list[str]:
    """The names of an entry of a part."""
    everything: list[str] = import_module(module).__all__ if REST in names or not names else []
    if REST not in names:
        return list(names or everything)
    placed = {name for part in PARTS for other, given in part.modules if other == module for name in given}
    return [name for name in names if name != REST] + [name for name in everything if name not in placed]


def public_names() -> dict[int, str]:
    """Every documented object (by identity) with the first name under which it is documented."""
    found: dict[int, str] = {}
    for part in PARTS:
        for module, names in part.modules:
            for name in exported(module, names):
                found.setdefault(id(getattr(import_module(module), name)), f"{module}.{name}")
    return found


def public_path(target: str) -> str | None:
    """Where something is documented that is called by the path of its own module; "" if it only exists."""
    module, _, name = target.rpartition(".")
    try:
        thing = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return None
    return public_names().get(id(thing), "")


def _directive(path: str, thing: Any) -> str:
    if inspect.isclass(thing):
        kind = "exception" if issubclass(thing, BaseException) else "class"
        return f".. auto{kind}:: {path}\n   :members:\n"
    if inspect.isfunction(thing):
        return f".. autofunction:: {path}\n"
    about = data_docstrings().get(path.rpartition(".")[2], f"``{thing!r}``")
    return f".. py:data:: {path}\n\n   {about}\n"


@cache
def data_docstrings() -> dict[str, str]:
    """Constants of the package with the string below them, where there is one, which says what they are."""
    found: dict[str, str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        for node, below in pairwise(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            documented = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            if documented and isinstance(targets[0], ast.Name):
                found[targets[0].id] = " ".join(str(below.value.value).split())
    return found


def _module(part: Part, module: str, names: tuple[str, ...], known: dict[int, str]) -> str:
    here, elsewhere = [], []
    for name in exported(module, names):
        thing, path = getattr(import_module(module), name), f"{module}.{name}"
        (here if known[id(thing)] == path else elsewhere).append((path, thing))
    lines = [_directive(path, thing) for path, thing in here]
    also = ", ".join(f":py:obj:`{known[id(thing)]}`" for _, thing in elsewhere)
    if also:
        lines.append(f"Also in ``{module}``: {also}.")
    return f"## {module}\n\n{markdown.rst(chr(10).join(lines))}"


def pages() -> dict[str, str]:
    """Path below ``generated/`` -> text."""
    known = public_names()
    made = {
        f"api/{part.name}.md": markdown.page(
            f"# {part.title}", part.about, *(_module(part, module, names, known) for module, names in part.modules)
        )
        for part in PARTS
    }
    rows = [
        (f"[{part.title}]({part.name}.md)", ", ".join(dict.fromkeys(f"`{module}`" for module, _ in part.modules)))
        for part in PARTS
    ]
    made["api/index.md"] = markdown.page(
        "# Reference",
        "Everything that the package promises, from the signatures and docstrings of this version.",
        markdown.table(("part", "modules"), rows),
        markdown.contents([part.name for part in PARTS], hidden=True),
    )
    return made
