"""Train a policy on one suite and compare it with other methods on another, with the report.

By default a softmax policy is searched on the CEC2005 training functions and tested on BBOB; `--train` and `--test` say
otherwise. The same command again resumes where it stopped, in the training or in the comparison.

    python examples/transfer.py --train cec2005-train --test bbob-paper --out out/transfer
"""

import argparse
from pathlib import Path

from deddqn.experiments import compare
from deddqn.experiments.methods import problems_of
from deddqn.report import write_report
from deddqn.training.api import config_of, learn

RIVALS = ["random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm"]


def check_unseen(trained_on, tested_on):
    """A test on a problem that was trained on would not be one."""
    seen = {(problem.seed_name, problem.dimension) for problem in trained_on.values()}
    both = [name for name, problem in tested_on.items() if (problem.seed_name, problem.dimension) in seen]
    if both:
        raise ValueError(f"test must hold only problems that are not trained on, got {', '.join(both)}")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", nargs="+", default=["cec2005-train"], help="suites or problems to train on")
    parser.add_argument("--test", nargs="+", default=["bbob-paper"], help="suites or problems to test on")
    parser.add_argument("--preset", default="softmax", help="as of 'deddqn train': softmax, rank, paper-r2, ..")
    parser.add_argument("--runs", type=int, default=25, help="per method and problem of the test")
    parser.add_argument("--out", type=Path, default=Path("out/transfer"))
    parser.add_argument("--quick", action="store_true", help="a few generations and rivals, to see it work")
    given = parser.parse_args(arguments)

    trained_on, tested_on = problems_of(given.train), problems_of(given.test)
    check_unseen(trained_on, tested_on)
    small = {"generations": 2, "offspring": 4, "evaluate_repeats": 1, "budget": 300} if given.quick else {}
    config = config_of({"preset": given.preset, "problems": list(trained_on), **small})
    learned = learn(config, given.out / "training", resume=True)
    print(learned.summary)
    if not learned.done:  # stopped by Ctrl-C, with a checkpoint
        return None
    methods = [str(learned.policy), *(RIVALS[:2] if given.quick else RIVALS)]
    folder = given.out / "comparison"
    compare(methods, given.test, runs=given.runs, budget=config.budget, seed=config.seed, out=folder)
    page = write_report(folder, figures=not given.quick)
    print(f"the policy: {learned.policy}\nthe report: {page}")
    return page


if __name__ == "__main__":
    main()
