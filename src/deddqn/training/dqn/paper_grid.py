"""The paper's twelve networks (Sect. 5): {R1, R2, R3} x {batch 64, 128} x {3, 4 layers}, and the ones it keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

from deddqn._utils.atomic import write_text
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.trainer import TrainingResult, train

REWARDS, BATCH_SIZES, DEPTHS = ("R1", "R2", "R3"), (64, 128), (3, 4)


def grid_configs(settings: Mapping[str, Any]) -> dict[str, TrainingConfig]:
    """The settings of the twelve networks by name; `settings` (without a preset) shortens or changes all of them."""
    changed = {key: value for key, value in settings.items() if key != "preset"}
    configs = {}
    for reward, batch_size, depth in product(REWARDS, BATCH_SIZES, DEPTHS):
        values = {"preset": f"paper-{reward.lower()}", **changed}
        values |= {"batch_size": batch_size, "replay_ratio": float(batch_size), "hidden": [100] * depth}
        configs[f"{reward.lower()}-batch{batch_size}-depth{depth}"] = TrainingConfig.from_json(values)
    return configs


def paper_grid(settings: Mapping[str, Any], out: Path, *, resume: bool = False) -> str:
    """Train the twelve networks and say which the paper keeps: per reward, that of the most reward in training.

    "The most reward" is the sum over all cycles (Sect. 5.1), not the best single one, which chance decides.
    """
    results: dict[str, TrainingResult] = {}
    for name, config in grid_configs(settings).items():
        results[name] = train(config, out / name, resume=resume)
    chosen = {
        reward: max((n for n in results if n.startswith(reward.lower())), key=lambda n: results[n].total_return)
        for reward in REWARDS
    }
    lines = [f"{'network':<20}{'sum of cycles':>18}{'best cycle mean':>18}{'cycle':>8}  kept"]
    for name, result in results.items():
        kept = "yes" if name in chosen.values() else ""
        lines.append(f"{name:<20}{result.total_return:>18.6g}{result.best_return:>18.6g}{result.best_cycle:>8}  {kept}")
    recorded = ("total_return", "best_return", "best_cycle")
    found = {name: {key: getattr(r, key) for key in recorded} for name, r in results.items()}
    write_text(out / "grid.json", json.dumps({"networks": found, "kept": chosen}, indent=1))
    return "\n".join(lines)
