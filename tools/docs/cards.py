"""Model cards: everything that a shipped policy file says about itself, as a page."""

from __future__ import annotations

import json
import shlex
import textwrap
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from deddqn.cli.train import Options
from deddqn.policies.files import read_policy_file
from deddqn.policies.softmax import INPUTS
from deddqn.problems import SUITES
from deddqn.report.scales import Scale
from deddqn.training.config import PRESETS, TrainingConfig
from deddqn.training.policy_search.config import PolicySearchConfig
from tools.docs import markdown
from tools.docs.markdown import code
from tools.docs.stamps import weights_hash

VERSION = "1"  # of the generated pages
NOT_LEARNED_FROM = ("max_seconds", "checkpoint_seconds", "tensorboard")
"""Settings that say when a training pauses and what else it logs; they are left out of the command."""

SPIKE = 0.1
"""By this share above every quarter of the curve, the best cycle is called a spike."""

_SHOWN = ("trained_by", "config", "deviations", "problems", "commit", "versions", "curve", "command")


def settings_kind(config: dict[str, Any]) -> type[TrainingConfig] | type[PolicySearchConfig]:
    """Which trainer the settings of a file belong to."""
    return PolicySearchConfig if "offspring" in config else TrainingConfig


def shortest_settings(config: dict[str, Any]) -> dict[str, Any]:
    """The preset that is nearest to stored settings, and what differs from it: a configuration of ``train``."""
    kind = settings_kind(config)
    known = {field.name for field in fields(kind)}
    presets = {"softmax": {}} if kind is PolicySearchConfig else PRESETS
    best: dict[str, Any] | None = None
    for name, values in presets.items():
        base = kind(**values).to_json()
        changed = {k: v for k, v in config.items() if k in known and k not in NOT_LEARNED_FROM and v != base[k]}
        if best is None or len(changed) < len(best) - 1:
            best = {"preset": name, **changed}
    assert best is not None
    return best


def command(settings: dict[str, Any], out: str) -> str:
    """The settings as a command line, or as a file of settings where the command line has no option for one."""
    options = {field.name for field in fields(Options)}
    nested = any(isinstance(item, list) for value in settings.values() if isinstance(value, list) for item in value)
    if nested or not set(settings) <= options:
        file = markdown.block("json", json.dumps(settings, indent=1))
        run = markdown.block("sh", f"python -m deddqn.training {out}.json --out {out}")
        return f"{file}\n\nin `{out}.json`, and\n\n{run}"
    words = ["deddqn", "train"]
    for key, value in settings.items():
        words += [f"--{key.replace('_', '-')}", *_words(value)]
    lines = textwrap.wrap(shlex.join([*words, "--out", out]), 84, break_on_hyphens=False, subsequent_indent="    ")
    return markdown.block("sh", " \\\n".join(lines))


def _words(value: Any) -> list[str]:
    if isinstance(value, bool):
        return ["yes" if value else "no"]
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def curve_svg(curve: list[list[float]], ylabel: str) -> str:
    """A small line chart in the colours of the page."""
    width, height, left, bottom = 640, 190, 64, 28
    x_values, y_values = [p[0] for p in curve], [p[1] for p in curve]
    x = Scale(min(x_values), max(x_values), left, width - 8)
    y = Scale(min(y_values), max(y_values), height - bottom, 12)
    line = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in curve)
    grid = "".join(
        f'<line x1="{left}" x2="{width - 8}" y1="{y(t):.1f}" y2="{y(t):.1f}" class="grid"/>'
        f'<text x="{left - 8}" y="{y(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
        for t in y.ticks(4)
    )
    marks = "".join(f'<text x="{x(t):.1f}" y="{height - 8}" text-anchor="middle">{t:g}</text>' for t in x.ticks(6))
    return (
        f'<svg class="curve" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(ylabel)}">'
        f'{grid}{marks}<polyline points="{line}"/></svg>'
    )


def _suite_of(problems: list[str]) -> str:
    """The named suite that these problems are, if any."""
    return next((name for name, members in SUITES.items() if set(members) == set(problems)), "")


def _problems(problems: list[str]) -> str:
    suite = _suite_of(problems)
    listed = ", ".join(problems)
    return f"<details><summary>{suite}, {len(problems)} problems</summary>{listed}</details>" if suite else listed


def _training_rows(provenance: dict[str, Any]) -> list[tuple[str, str]]:
    config = provenance.get("config", {})
    versions = ", ".join(f"{name} {version}" for name, version in provenance.get("versions", {}).items())
    rows = [
        ("trained by", provenance.get("trained_by", "not recorded")),
        ("training problems", _problems(provenance.get("problems", [])) or "not recorded"),
        ("seed", code(config.get("seed", "not recorded"))),
        ("commit", code(provenance["commit"]) if provenance.get("commit") else "not recorded"),
        ("versions", versions or "not recorded"),
    ]
    others = {key: value for key, value in provenance.items() if key not in _SHOWN}
    return rows + [(key.replace("_", " "), _value(value)) for key, value in others.items()]


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return code(json.dumps(value)) if isinstance(value, dict | list) else str(value)


def _command_section(provenance: dict[str, Any], name: str) -> str:
    config = provenance.get("config", {})
    if "command" in provenance:
        return markdown.page("### Command", markdown.block("text", provenance["command"]))
    if not config:
        return ""
    missing = sorted({field.name for field in fields(settings_kind(config))} - set(config))
    note = f"The file is older than {', '.join(map(code, missing))}: the command takes this version's value." * bool(
        missing
    )
    return markdown.page(
        "### Command",
        "It makes the settings of the file again, apart from those that only say when to pause and what to log:",
        command(shortest_settings(config), f"out/{name}"),
        note,
    )


def _curve_section(provenance: dict[str, Any]) -> str:
    curve = provenance.get("curve") or []
    if len(curve) < 2:
        return ""
    searched = settings_kind(provenance.get("config", {})) is PolicySearchConfig
    what = "rank score over generations" if searched else "mean return of a cycle over cycles"
    shown = markdown.block("{raw} html", curve_svg(curve, what))
    return markdown.page("### Learning curve", f"{what[0].upper()}{what[1:]}. {_spike(provenance)}".strip(), shown)


def _spike(provenance: dict[str, Any]) -> str:
    """How far the best cycle stands out of the training that it was taken from."""
    if provenance.get("kept") != "best" or "best_return" not in provenance:
        return ""
    returns = [mean for _, mean in provenance["curve"]]
    parts = [float(np.mean(part)) for part in np.array_split(returns, min(4, len(returns)))]
    best, whose = provenance["best_return"], "four quarters" if len(returns) > 4 else "cycles"
    means = ", ".join(f"{mean:.4g}" for mean in parts)
    said = f"The file holds the weights of cycle {provenance['best_cycle']}, whose mean return was {best:.4g}; "
    said += f"the means of the {whose} of the training are {means}."
    if best > (1.0 + SPIKE) * max(parts):
        said += " So the best cycle is a spike of a flat curve: chance selected it as much as learning did."
    return said


def _settings_section(provenance: dict[str, Any]) -> str:
    config, deviations = provenance.get("config", {}), provenance.get("deviations", {})
    if not config:
        return ""
    rows = [
        (code(key), code(json.dumps(value)), code(json.dumps(deviations[key][0])) if key in deviations else "")
        for key, value in config.items()
        if key != "portfolio"
    ]
    compared = settings_kind(config) is TrainingConfig
    compared_with = (
        f"{len(deviations)} settings differ from the paper's; the last column has the paper's value."
        if compared
        else "The paper has no policy search to compare with."
    )
    head, kept = (("setting", "here", "paper"), rows) if compared else (("setting", "here"), [row[:2] for row in rows])
    return markdown.page("### Settings", compared_with, markdown.table(head, kept))


def _weights_section(tensors: dict[str, np.ndarray], metadata: dict[str, Any]) -> str:
    sizes = [(code(name), " x ".join(map(str, tensor.shape)), str(tensor.dtype)) for name, tensor in tensors.items()]
    shown = markdown.table(("tensor", "shape", "type"), sizes)
    if metadata["kind"] == "softmax":
        weights = tensors["weights"]
        operators = [operator[0] for operator in metadata["portfolio"]]
        rows = [(operator, *(f"{w:.2f}" for w in row)) for operator, row in zip(operators, weights, strict=True)]
        if "prescreening_gate" in tensors:
            rows.append(("prescreening_gate", *(f"{w:.2f}" for w in tensors["prescreening_gate"])))
        shown += "\n\n" + markdown.table(("operator", *INPUTS[: weights.shape[1]]), rows)
    return markdown.page("### Weights", shown)


def _operator(strategy: str, scale: float, crossover: float, *more: Any) -> str:
    """An operator of a portfolio in words; what else it holds is shown as it stands."""
    values = [f"F = {scale:g}", f"CR = {crossover:g}", *map(json.dumps, more)]
    return f"{strategy} ({', '.join(values)})"


def card(path: Path) -> str:
    """The card of a policy file, as the second half of its page."""
    tensors, metadata = read_policy_file(path)
    provenance = metadata["provenance"]
    numbers = sum(tensor.size for tensor in tensors.values())
    portfolio = ", ".join(_operator(*operator) for operator in metadata["portfolio"])
    rows = [
        ("file", f"{code(path.name)}, {path.stat().st_size:,} bytes"),
        ("hash of the weights", code(weights_hash(tensors))),
        ("kind", f"{metadata['kind']}, {numbers:,} numbers"),
        ("portfolio", portfolio),
        *([("runs with", code(json.dumps(metadata["de"])))] if metadata.get("de") else []),
        ("dim^max", metadata["max_dimension"]),
        ("feature layout", metadata["layout_version"]),
        *_training_rows(provenance),
    ]
    return markdown.page(
        "## Model card",
        markdown.table(("", ""), rows),
        _curve_section(provenance),
        _command_section(provenance, path.stem),
        _settings_section(provenance),
        _weights_section(tensors, metadata),
    )
