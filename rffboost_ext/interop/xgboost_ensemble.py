"""XGBoost's models as ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted
from xgboost import Booster, DMatrix, XGBModel

from .._signals import defer_signals
from ..core import Term
from ..learners.trees.xgboost_model import count_outputs, parse_model, read_rounds
from ..terms import LinearTrees
from ..terms.ensemble import Ensemble
from ..terms.linear_trees import linear_model
from ..utils.param_validation import OPTIONAL, Integer, require
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .score_conversion import slope_of
from .xgboost_base_score import initial_score
from .xgboost_estimators import XGBClassifier, XGBRegressor


def to_ensemble(model: Booster | XGBModel, *, n_rounds: int | None = None) -> Ensemble:
    """An XGBoost model as an :class:`~rffboost_ext.Ensemble` of the same raw scores, one term per boosting round.

    Parameters
    ----------
    model : xgboost.Booster, XGBClassifier, XGBRegressor or another of its estimators
        Any objective with a known link; gbtree or dart, with leaves of one or several outputs, or gblinear, which
        is one term. For categorical splits the ensemble acts on codes, as XGBoost does on arrays.
    n_rounds : int, optional
        Rounds to take; by default up to the best after early stopping, else all. A UserWarning is issued if rounds
        of a Booster are left out, as its own predict uses all.

    Returns
    -------
    Ensemble
        Raw scores equal ``predict(output_margin=True)`` of these rounds up to round-off, also for missing values.

    Raises
    ------
    ValueError
        If the model has fewer rounds than asked for, an unknown objective, or treats values other than NaN as
        missing.
    TypeError
        If it is not an XGBoost model.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X = np.arange(20.0)[:, None]
    >>> model = xgboost.XGBRegressor(n_estimators=5).fit(X, X[:, 0])
    >>> bool(np.abs(rxgb.to_ensemble(model).raw(X)[:, 0] - model.predict(X)).max() < 1e-5)
    True
    """
    booster = booster_of(model)
    learner = parse_model(booster)
    start, rounds = initial_score(learner), read_terms(learner)
    if learner["gradient_booster"]["name"] == "gblinear":
        # XGBoost adds the first of several initial scores to all.
        start = np.full_like(start, start[0])
    require("to_ensemble", "n_rounds", n_rounds, Integer(1, len(rounds)) | OPTIONAL)
    if n_rounds is None:
        total = len(rounds)
        n_rounds = best_round(booster, total)
        if model is booster and n_rounds < total:
            warn_user(
                f"{n_rounds} of {total} rounds of the Booster are used, up to the best of early stopping; its own "
                f"predict uses all. Pass n_rounds={n_rounds} or n_rounds={total} to to_ensemble() or bind()"
            )
    terms = tuple(rounds[:n_rounds])
    ensemble = Ensemble(start, terms, np.ones((len(terms), 2)))
    require_equal(ensemble, booster)
    if isinstance(model, XGBClassifier | XGBRegressor):
        return ensemble * (1.0 / slope_of(model.loss_))
    return ensemble


def read_terms(learner: dict[str, Any]) -> list[Term]:
    """The rounds of a parsed model as terms; one for all rounds of a linear model, of which the sum is stored."""
    if learner["gradient_booster"]["name"] != "gblinear":
        return list(read_rounds(learner))
    weights = np.asarray(learner["gradient_booster"]["model"]["weights"], dtype=np.float64)
    by_feature = weights.reshape(-1, count_outputs(learner))
    return [linear_model(by_feature[:-1].T, by_feature[-1])]


def booster_of(model: Any) -> Booster:
    """The booster of a model of XGBoost, or a TypeError or ValueError."""
    if isinstance(model, XGBModel):
        check_is_fitted(model)
        if not np.isnan(model.missing):
            raise ValueError(f"missing must be NaN, got {model.missing!r}: other missing values are not supported")
        return model.get_booster()
    if not isinstance(model, Booster):
        raise TypeError(f"model must be a Booster or a scikit-learn estimator of XGBoost, got {model!r}")
    return model


def names_of(booster: Booster) -> Array | None:
    """Names of the columns; None if there are none or only column indices."""
    names = booster.feature_names
    known = names is not None and any(name != str(j) for j, name in enumerate(names))
    return np.array(names, dtype=object) if known else None


def best_round(booster: Booster, n_rounds: int) -> int:
    """Rounds up to the best after early stopping, else all."""
    best = booster.attr("best_iteration")
    return n_rounds if best is None else min(int(best) + 1, n_rounds)


@defer_signals()
def require_equal(ensemble: Ensemble, booster: Booster) -> None:
    """Raise a ValueError unless XGBoost returns the same raw score for one row."""
    linear = any(isinstance(term, LinearTrees) for term in ensemble.terms)
    row = np.full((1, booster.num_features()), float(linear))
    rounds = (0, 0) if linear else (0, len(ensemble))
    wanted = booster.predict(DMatrix(row), output_margin=True, validate_features=False, iteration_range=rounds)
    found = ensemble.raw(row)
    # XGBoost sums in float32: the tolerance is relative to the magnitude of all terms.
    added = np.abs(ensemble.baseline).max() + sum(np.abs(term(row)).max() for term in ensemble.terms)
    close = np.allclose(found, wanted.reshape(found.shape), rtol=1e-4, atol=max(1e-4, 1e-6 * added))
    if not (np.isfinite(found).all() and close):
        raise ValueError(f"the XGBoost model could not be read: it gives {wanted} where its trees sum to {found}")
