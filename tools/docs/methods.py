"""A page per policy and per other optimiser, from the registries."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from deddqn.analysis.paper_tables import PRINTED
from deddqn.baselines import baseline_names, load_baseline, minion
from deddqn.baselines import baseline_registry as baselines
from deddqn.de import PAPER, mutation
from deddqn.experiments.methods import PAPER_METHODS
from deddqn.policies import CompiledPolicy, best_policy, load_policy, policy_names
from deddqn.policies import registry as policies
from deddqn.policies.adaptive import ADAPTIVE, default_parameters, tuned
from deddqn.policies.files import read_policy_file
from deddqn.policies.registry import SHIPPED
from tools.docs import cards, markdown
from tools.docs.markdown import code

EXAMPLE = "cec2005:F6/d10"


def module_of(name: str, policy: CompiledPolicy) -> str:
    """Where a policy is implemented."""
    if name in ADAPTIVE:
        return ADAPTIVE[name].__module__
    return policy.kernels.choose.__module__


def _about(module: str) -> str:
    """The docstring of the module: source, equations, interpretations."""
    return markdown.rst(f".. automodule:: {module}\n   :no-index:\n")


def _in_the_paper(name: str) -> str:
    return f"yes, as {PRINTED[name]}" if name in PAPER_METHODS else "no"


def _parameters(name: str) -> str:
    """Published and tuned values of an adaptive policy, and how the latter were found."""
    if name not in ADAPTIVE:
        return ""
    record = tuned().get(name, {})
    values = record.get("parameters", {})
    rows = [(code(key), value, values.get(key, value)) for key, value in default_parameters(name).items()]
    if not record:
        return markdown.page("## Parameters", markdown.table(("parameter", "published", "here"), rows))
    scores = record["score"]
    rows.append(("score on the training functions", f"{scores['default']:.3f}", f"{scores['tuned']:.3f}"))
    told = (
        f"{code(name)} has the tuned values, {code(name + ':default')} the published ones; the score is the "
        f"{record['score_means']} ({code('random')} has {scores['random']:.3f}). Found on {code(record['suite'])} with"
    )
    return markdown.page(
        "## Parameters",
        markdown.table(("parameter", "published", "tuned"), rows),
        told,
        markdown.block("text", record["command"]),
    )


def _strategy(name: str) -> str:
    """The formula of a policy that always applies the same strategy."""
    match = re.fullmatch(r"de(\d)", name)
    if match is None:
        return ""
    strategy = PAPER[int(match[1]) - 1].strategy
    kernel = getattr(mutation, re.sub(r"\W", "_", strategy))
    formula = (kernel.__doc__ or "").strip().rstrip(".")
    return f"Always **{strategy}**: `{formula}`."


def _use(name: str) -> str:
    lines = [
        f"deddqn minimize {EXAMPLE} --policy {name}",
        f"deddqn compare --methods {name} random --problems {EXAMPLE} --runs 5 --out out/{name}",
    ]
    return markdown.page("## Use it", markdown.block("sh", "\n".join(lines)))


def policy_page(name: str) -> str:
    """The page of a policy of the registry."""
    policy = load_policy(name)
    assert isinstance(policy, CompiledPolicy)
    operators = "any" if policy.portfolio is None else ", ".join(policy.portfolio.names)
    module = module_of(name, policy)
    facts = [
        ("in the paper's comparison", _in_the_paper(name)),
        ("reads the state", "yes" if policy.needs_features else "no"),
        ("portfolio", operators),
        ("default of `minimize`", "yes" if name == best_policy() else "no"),
        ("code", code(module)),
    ]
    weights = SHIPPED / f"{name}.safetensors"
    card = cards.card(weights) if weights.is_file() else ""
    return markdown.page(
        f"# {name}",
        _first(name),
        markdown.table(("", ""), facts),
        _use(name),
        _parameters(name),
        card,
        "## How it works",
        _about(module),
    )


def _settings(method: Any) -> list[tuple[str, str]]:
    if not dataclasses.is_dataclass(method):
        return []
    values = {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}
    return [(name, code(value)) for name, value in values.items() if name != "name"]


def baseline_page(name: str) -> str:
    """The page of an optimiser from elsewhere."""
    method = load_baseline(name)
    module = type(method).__module__
    facts = [("in the paper's comparison", _in_the_paper(name)), *_settings(method), ("code", code(module))]
    line = f"deddqn compare --methods {name} random --problems {EXAMPLE} --runs 5 --out out/{name}"
    return markdown.page(
        f"# {name}",
        _first(name),
        markdown.table(("", ""), facts),
        "## Use it",
        "Needs the extra `baselines`." if name != "scipy-de" else "",
        markdown.block("sh", line),
        "## How it works",
        _about(module),
    )


def pages() -> dict[str, str]:
    """Path below ``generated/`` -> text."""
    made = {f"methods/{name}.md": policy_page(name) for name in policy_names()}
    made |= {f"methods/{name}.md": baseline_page(name) for name in baseline_names()}
    policies = [(f"[{name}]({name}.md)", _in_the_paper(name), _first(name)) for name in policy_names()]
    others = [(f"[{name}]({name}.md)", _in_the_paper(name), _first(name)) for name in baseline_names()]
    head = ("name", "in the paper", "what it is")
    names = [*policy_names(), *baseline_names()]
    made["methods/index.md"] = markdown.page(
        "# Every method and policy",
        "One page each, made from the registries and the policy files of this version.",
        "## Policies: they select the operators of the shared DE",
        markdown.table(head, policies),
        "## Other optimisers",
        markdown.table(head, others),
        markdown.contents(names, hidden=True),
    )
    return made


def _first(name: str) -> str:
    """One line about a method, from where it is made."""
    weights = SHIPPED / f"{name}.safetensors"
    if weights.is_file():
        return f"Trained: {read_policy_file(weights)[1]['provenance'].get('trained_by', 'not recorded')}"
    if name in minion.ALGORITHMS:
        return _row_about(name)
    source = (
        inspect.getmodule(ADAPTIVE[name]) if name in ADAPTIVE else {**policies._FACTORIES, **baselines._FACTORIES}[name]
    )
    return _strategy(name) or (inspect.getdoc(source) or "").partition("\n")[0].replace("``", "`")


def _row_about(name: str) -> str:
    """The row of an algorithm in the table of sources that the docstring of its module holds."""
    lines = (inspect.getdoc(minion) or "").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"``{name}``"))
    rows = [lines[start].partition("`` ")[2]]
    for line in lines[start + 1 :]:
        if not line.startswith(" "):
            break
        rows.append(line)
    return " ".join(" ".join(rows).split())
