"""``deddqn score``: mean return and rank score of policies, on training functions with held-out seeds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from rich.table import Table

from deddqn._utils.validation import check_whole_number
from deddqn.de.config import config_for
from deddqn.de.portfolio import PAPER, as_portfolio
from deddqn.evaluation import TRAINING_SUITE, evaluate_policy, rank_score, read_errors, reference_errors
from deddqn.policies import CompiledPolicy, load_policy
from deddqn.problems import suite


@dataclass(frozen=True, kw_only=True)
class Options:
    """The rank score is the share of reference runs (random, de1-de4, a mixture) that end worse; higher is better."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(help="names or policy files")]
    suite: Annotated[str, tyro.conf.arg(help="where they are scored")] = TRAINING_SUITE
    runs: Annotated[int, tyro.conf.arg(help="per policy and problem")] = 25
    portfolio: Annotated[str | None, tyro.conf.arg(help="paper or extended; a policy's own by default")] = None
    final_population: Annotated[int | None, tyro.conf.arg(help="what NP shrinks to; a policy's own by default")] = None
    n_candidates: Annotated[
        int | None, tyro.conf.arg(help="candidate trial vectors per individual; its own by default")
    ] = None
    pool: Annotated[Path | None, tyro.conf.arg(help="CSV of 'deddqn export': rank among its runs instead")] = None
    reward: Annotated[str, tyro.conf.arg(help="whose sum is the return: R1, R2 or R3")] = "R2"


def run(options: Options) -> int:
    """Score the policies and print a table."""
    if not options.policies:
        raise ValueError("say who: names of policies or policy files")
    check_whole_number("runs", options.runs, 1)
    problems = suite(options.suite)
    if options.pool:
        references = read_errors(options.pool, problems)
    else:
        references = reference_errors(problems, repeats=options.runs)
    table = Table("policy", f"mean {options.reward} return", "rank score", "shares of the operators", box=None)
    for name in options.policies:
        policy = load_policy(name)
        if not isinstance(policy, CompiledPolicy):
            raise ValueError(f"policies must be compiled ones, got {name!r}")
        settings = _settings(policy, options)
        found = evaluate_policy(policy, problems, repeats=options.runs, reward=options.reward, **settings)
        shares = " ".join(f"{share:.0%}" for share in found.shares.mean(axis=0))
        table.add_row(name, f"{found.mean_return:.6g}", f"{rank_score(found.errors, references):.3f}", shares)
    Console().print(table)
    return 0


def _settings(policy: CompiledPolicy, options: Options) -> dict[str, Any]:
    """Portfolio and DE settings of a policy's runs: those asked for, or its own, or the paper's."""
    wanted = {"final_population": options.final_population, "n_candidates": options.n_candidates}
    given = {name: value for name, value in wanted.items() if value is not None}
    own = PAPER if policy.portfolio is None else policy.portfolio
    portfolio = own if options.portfolio is None else as_portfolio(options.portfolio)
    return {"portfolio": portfolio, "config": config_for(policy.de, **given)}
