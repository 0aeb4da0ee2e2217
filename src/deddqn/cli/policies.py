"""``deddqn policies``: who can choose the operators."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from deddqn.policies import CompiledPolicy, best_policy, load_policy, policy_names


@dataclass(frozen=True, kw_only=True)
class Options:
    """There is nothing to choose."""


def run(options: Options) -> int:
    """Print the policies."""
    table = Table("policy", "reads the state", "chooses from", box=None, pad_edge=False)
    for name in policy_names():
        policy = load_policy(name)
        own = policy.portfolio if isinstance(policy, CompiledPolicy) else None
        operators = "any portfolio" if own is None else ", ".join(own.names)
        table.add_row(
            name + (" (default)" if name == best_policy() else ""), "yes" if policy.needs_features else "no", operators
        )
    table.add_row("mixture:p1,p2,..", "no", "as many operators as probabilities")
    table.add_row("FILE.safetensors", "yes", "as the file says")
    Console().print(table)
    return 0
