"""Studies of hyper-parameters for `bench_optuna`: the one that is reported, and others to choose settings on.

All are models of scikit-learn on data that it generates, small enough that a trial takes some milliseconds, and two
functions without a model. A study is a function of an Optuna trial; a lower value is better.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor

Objective = Callable[[Any], float]
FOLDS = 3
SCALERS = {
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
    "quantile": lambda: QuantileTransformer(n_quantiles=20),
}


def _scaler(trial: Any) -> Any:
    return SCALERS[trial.suggest_categorical("scaler", tuple(SCALERS))]()


def _error(model: Any, x: np.ndarray, y: np.ndarray) -> float:
    """Mean squared error over the folds, relative to the variance of y; in log10, at most 1."""
    errors = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(x):
            errors.append(np.mean((model.fit(x[train], y[train]).predict(x[test]) - y[test]) ** 2) / np.var(y))
    return float(np.log10(np.clip(np.nan_to_num(np.mean(errors), nan=10.0), 1e-12, 10.0)))


def svr(seed: int) -> Objective:
    """Seven parameters of a support vector regression on `make_friedman1`; this one is reported."""
    x, y = datasets.make_friedman1(n_samples=150, n_features=8, noise=0.5, random_state=seed)
    y = (y - y.mean()) / y.std()

    def objective(trial: Any) -> float:
        model = SVR(
            kernel=trial.suggest_categorical("kernel", ("rbf", "poly", "sigmoid", "linear")),
            C=trial.suggest_float("C", 1e-3, 1e3, log=True),
            gamma=trial.suggest_float("gamma", 1e-4, 1e1, log=True),
            epsilon=trial.suggest_float("epsilon", 1e-3, 1.0, log=True),
            degree=trial.suggest_int("degree", 1, 5),
            coef0=trial.suggest_float("coef0", -1.0, 2.0),
            max_iter=20_000,
        )
        return _error(make_pipeline(_scaler(trial), model), x, y)

    return objective


def kernel_ridge(seed: int) -> Objective:
    """Six parameters of a kernel ridge regression on `make_friedman2`."""
    x, y = datasets.make_friedman2(n_samples=120, noise=30.0, random_state=seed)
    y = (y - y.mean()) / y.std()

    def objective(trial: Any) -> float:
        model = KernelRidge(
            kernel=trial.suggest_categorical("kernel", ("rbf", "laplacian", "poly", "sigmoid", "linear")),
            alpha=trial.suggest_float("alpha", 1e-6, 1e2, log=True),
            gamma=trial.suggest_float("gamma", 1e-4, 1e1, log=True),
            degree=trial.suggest_int("degree", 1, 5),
            coef0=trial.suggest_float("coef0", -1.0, 2.0),
        )
        return _error(make_pipeline(_scaler(trial), model), x, y)

    return objective


def svc(seed: int) -> Objective:
    """Seven parameters of a support vector classification; its squared hinge loss."""
    x, y = datasets.make_classification(
        n_samples=160, n_features=10, n_informative=5, n_clusters_per_class=2, flip_y=0.05, random_state=seed
    )

    def objective(trial: Any) -> float:
        model = SVC(
            kernel=trial.suggest_categorical("kernel", ("rbf", "poly", "sigmoid")),
            C=trial.suggest_float("C", 1e-3, 1e3, log=True),
            gamma=trial.suggest_float("gamma", 1e-4, 1e1, log=True),
            degree=trial.suggest_int("degree", 1, 5),
            coef0=trial.suggest_float("coef0", -1.0, 2.0),
            shrinking=trial.suggest_categorical("shrinking", (True, False)),
            max_iter=20_000,
        )
        model = make_pipeline(_scaler(trial), model)
        losses = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(x):
                margins = model.fit(x[train], y[train]).decision_function(x[test]) * (2 * y[test] - 1)
                losses.append(np.mean(np.clip(1.0 - margins, 0.0, 10.0) ** 2))
        return float(np.mean(losses))

    return objective


def tree(seed: int) -> Objective:
    """Seven parameters of a decision tree on `make_friedman3`."""
    x, y = datasets.make_friedman3(n_samples=250, noise=0.1, random_state=seed)

    def objective(trial: Any) -> float:
        model = DecisionTreeRegressor(
            criterion=trial.suggest_categorical("criterion", ("squared_error", "friedman_mse")),
            splitter=trial.suggest_categorical("splitter", ("best", "random")),
            max_depth=trial.suggest_int("max_depth", 1, 30, log=True),
            min_samples_split=trial.suggest_int("min_samples_split", 2, 40),
            min_samples_leaf=trial.suggest_int("min_samples_leaf", 1, 20),
            max_features=trial.suggest_float("max_features", 0.25, 1.0),
            ccp_alpha=trial.suggest_float("ccp_alpha", 1e-6, 1e-1, log=True),
            random_state=0,
        )
        return _error(model, x, y)

    return objective


def elastic_net(seed: int) -> Objective:
    """Six parameters of polynomial features and an elastic net on `make_sparse_uncorrelated`."""
    x, y = datasets.make_sparse_uncorrelated(n_samples=120, n_features=6, random_state=seed)
    y = y + 0.5 * x[:, 0] * x[:, 1]

    def objective(trial: Any) -> float:
        features = PolynomialFeatures(
            degree=trial.suggest_int("degree", 1, 3),
            interaction_only=trial.suggest_categorical("interaction_only", (True, False)),
        )
        model = ElasticNet(
            alpha=trial.suggest_float("alpha", 1e-5, 1e1, log=True),
            l1_ratio=trial.suggest_float("l1_ratio", 0.0, 1.0, step=0.05),
            fit_intercept=trial.suggest_categorical("fit_intercept", (True, False)),
            max_iter=300,
        )
        return _error(make_pipeline(_scaler(trial), features, model), x, y)

    return objective


def valleys(seed: int) -> Objective:
    """Four numbers, an integer and two categories: every pair of categories has a rotated bowl of its own."""
    rng = np.random.default_rng([1, seed])
    floor, shift = rng.uniform(0.0, 2.0, (3, 4)), rng.uniform(-0.3, 0.3, (3, 4, 5))
    centre = rng.uniform(0.2, 0.8, 5)
    axes = np.linalg.qr(rng.normal(size=(5, 5)))[0] * np.logspace(0.3, 1.0, 5)

    def objective(trial: Any) -> float:
        a, b = trial.suggest_categorical("a", ("x", "y", "z")), trial.suggest_categorical("b", (0, 1, 2, 3))
        z = [trial.suggest_float(f"z{k}", 0.0, 1.0) for k in range(3)]
        z += [np.log10(trial.suggest_float("z3", 1e-4, 1.0, log=True)) / 4.0 + 1.0]
        z += [trial.suggest_int("n", 0, 20) / 20.0]
        k = "xyz".index(a)
        return float(np.log10(1e-3 + floor[k, b] + (((z - centre - shift[k, b]) @ axes) ** 2).sum()))

    return objective


def ripples(seed: int) -> Objective:
    """Four numbers, two integers and a category that add, with waves."""
    rng = np.random.default_rng([2, seed])
    centre, period, weight = rng.uniform(0.1, 0.9, 6), rng.uniform(0.2, 0.6, 6), rng.uniform(0.2, 3.0, 6)
    cost = rng.uniform(0.0, 1.0, 4)

    def objective(trial: Any) -> float:
        z = [trial.suggest_float(f"z{k}", 0.0, 1.0) for k in range(4)]
        z += [trial.suggest_int("m", 1, 10) / 10.0, trial.suggest_int("n", 1, 50) / 50.0]
        d = np.array(z) - centre
        waves = 0.05 * (1.0 - np.cos(2.0 * np.pi * d / period))
        return float((weight * (d**2 + waves)).sum() + cost[trial.suggest_categorical("c", (0, 1, 2, 3))])

    return objective


REPORTED = {"svr": svr}
CHOSEN_ON = {made.__name__: made for made in (kernel_ridge, svc, tree, elastic_net, valleys, ripples)}
