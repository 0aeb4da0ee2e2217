"""Writes the policy ``softmax-budget``: the weights of ``softmax-x``, with settings that follow the budget.

``python -m tools.by_budget src/deddqn/policies/weights/softmax-budget.safetensors``
"""

from __future__ import annotations

import sys
from pathlib import Path

from deddqn.de.budget_rules import RULES
from deddqn.policies import CompiledPolicy, load_policy
from deddqn.policies.softmax import prescreening_gate_of, save_softmax, weights_of

NAME, WEIGHTS_OF = "softmax-budget", "softmax-x"


def main(path: Path) -> None:
    """Write the file."""
    policy = load_policy(WEIGHTS_OF)
    assert isinstance(policy, CompiledPolicy) and policy.portfolio is not None
    provenance = {
        **policy.metadata["provenance"],
        "weights": f"those of {WEIGHTS_OF}",
        "settings": "chosen on made problems (deddqn.de.budget_rules)",
    }
    save_softmax(
        path,
        weights_of(policy),
        prescreening_gate=prescreening_gate_of(policy),
        name=NAME,
        portfolio=policy.portfolio,
        max_dimension=policy.max_dimension,
        provenance=provenance,
        de={**policy.de, "restart_final_fraction": 0.0, "by_budget": " ".join(RULES)},
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
