"""Fit a damped oscillation to noisy measurements, some of them plainly wrong.

Least squares would follow the outliers, so the loss is the mean absolute error: no gradient, several local minima,
four parameters with known ranges. That is what a global optimiser is for.

    python examples/curve_fitting.py
"""

import argparse

import numpy as np

import deddqn

TRUE = {"amplitude": 2.0, "decay": 0.35, "frequency": 1.7, "phase": 0.6}
BOUNDS = [(0.1, 10.0), (0.0, 2.0), (0.2, 5.0), (-np.pi, np.pi)]


def model(parameters, t):
    amplitude, decay, frequency, phase = parameters
    return amplitude * np.exp(-decay * t) * np.cos(2 * np.pi * frequency * t + phase)


def measurements(rng):
    """80 noisy points of the true curve, six of which went wrong."""
    t = np.linspace(0.0, 4.0, 80)
    y = model(list(TRUE.values()), t) + rng.normal(0.0, 0.05, t.size)
    y[rng.choice(t.size, 6, replace=False)] += 4.0
    return t, y


def loss(parameters, t, y):
    return np.abs(model(parameters, t) - y).mean()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE", help="draw the search to this file")
    options = parser.parse_args(arguments)

    t, y = measurements(np.random.default_rng(1))
    result = deddqn.minimize(
        loss, BOUNDS, args=(t, y), maxfun=8000, population_size=40, rng=1, history=True, polish=True
    )

    print(f"{result.nfev} evaluations, mean absolute error {result.fun:.4f}\n")
    print(f"{'':10} {'true':>8} {'fitted':>8}")
    for (name, true), fitted in zip(TRUE.items(), result.x, strict=True):
        print(f"{name:10} {true:8.3f} {fitted:8.3f}")
    if options.plot:
        deddqn.plot(result, options.plot)
        print(f"\nconvergence and strategies: {options.plot}")
    return result


if __name__ == "__main__":
    main()
