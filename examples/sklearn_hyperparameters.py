"""Tune a support vector machine of scikit-learn, with the evaluations spread over processes.

An evaluation is a cross-validation and takes a moment, so generations are evaluated in parallel (``workers``); the
result is the same for any number of workers. Scales such as C are searched by their logarithm.

    python examples/sklearn_hyperparameters.py --workers 4
"""

import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import deddqn

BOUNDS = [(-2.0, 4.0), (-5.0, 1.0)]  # log10 of C and of gamma


def classifier(x):
    c, gamma = 10.0**x
    return make_pipeline(StandardScaler(), SVC(C=c, gamma=gamma))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=-1, help="processes (-1: all cores)")
    parser.add_argument("--quick", action="store_true", help="fewer evaluations on a part of the data")
    options = parser.parse_args(arguments)

    features, labels = load_breast_cancer(return_X_y=True)
    if options.quick:
        features, labels = features[:150], labels[:150]

    def error(x):
        """One minus the accuracy in cross-validation. A closure: it may use whatever is around it."""
        return 1.0 - cross_val_score(classifier(x), features, labels, cv=3).mean()

    result = deddqn.minimize(
        error,
        BOUNDS,
        maxfun=40 if options.quick else 300,
        population_size=10 if options.quick else 20,
        workers=options.workers,
        rng=1,
    )
    c, gamma = 10.0**result.x
    print(f"{result.nfev} cross-validations; the best: C = {c:.3g}, gamma = {gamma:.3g}")
    print(f"accuracy {1 - result.fun:.4f}, with scikit-learn's defaults {1 - error(np.log10([1.0, 1 / 30])):.4f}")
    return result


if __name__ == "__main__":
    main()
