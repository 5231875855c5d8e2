"""Losses and cosines in XGBoost's training loop, and its models as ensembles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._signals import defer_signals
from ..core import Loss, Term
from ..estimators.base import BaseRFFBoost
from ..estimators.init_model import InitModel
from ..learners.trees.xgboost_model import model_categories, parse_model, read_rounds
from ..losses.registry import LOSSES
from ..losses.validation import response_at
from ..preprocessing.category_recoding import sorted_codes
from ..terms.ensemble import Ensemble
from ..utils.param_validation import OPTIONAL, Integer, require
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .attachments import attach
from .cosine_objective import DOC, CosineObjectiveBase, require_same_features
from .cosine_training import CosineTraining
from .fitted_estimator import fitted
from .initial_scores import warn_if_objective_differs
from .links import XGBOOST, link_of
from .objectives import (
    MatrixObjective,
    metric,
    prepare_for_outputs,
    prepare_for_training,
    read_targets,
    read_weights,
)
from .score_conversion import slope_of

try:
    from xgboost import Booster, DMatrix, QuantileDMatrix, XGBModel
    from xgboost.core import XGBoostError
except ImportError as error:
    raise ImportError(
        "rffboost_ext.interop.xgboost needs XGBoost, which is not installed: pip install 'xgboost>=3.2'"
    ) from error

from .xgboost_base_score import base_score_of, initial_score
from .xgboost_estimators import XGBClassifier, XGBRegressor

__all__ = [
    "CosineObjective",
    "XGBClassifier",
    "XGBRegressor",
    "attach",
    "bind",
    "intercept",
    "metric",
    "objective",
    "to_ensemble",
]

CATEGORIES = (
    "CosineObjective: the matrix must hold numbers for cosines, got categorical columns: encode them, such as "
    "one-hot, or train on an array of codes with feature_types and pass it by attach(matrix, codes)"
)
"""Error message for categorical columns."""


def objective(loss: str | Loss) -> MatrixObjective:
    """One of our losses as ``obj`` of ``xgboost.train``.

    XGBoost fits no intercept for a callable and starts from 0.5: add :func:`intercept` to the parameters. Margins
    are raw scores of the loss; its ``inverse_link``, or :func:`bind`, maps them to probabilities. For the
    exponential loss they are half the log-odds: compared with XGBoost's logistic loss, reg_lambda and
    min_child_weight have a quarter of the effect, the learning rate twice. :class:`XGBClassifier` uses log-odds.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    MatrixObjective

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> matrix = xgboost.DMatrix(X, y)
    >>> params = {"max_depth": 2} | rxgb.intercept("exponential", matrix)
    >>> booster = xgboost.train(params, matrix, 10, obj=rxgb.objective("exponential"))
    >>> bool((rxgb.bind(booster, "exponential").predict(X) == y).all())
    True
    """
    return MatrixObjective(LOSSES.create(loss), unset=0.5)


def intercept(loss: str | Loss, matrix: DMatrix) -> dict[str, Any]:
    """Parameters by which ``xgboost.train`` starts from the loss's baseline and evaluates only :func:`metric`.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    matrix : xgboost.DMatrix
        The training data: labels and weights.

    Returns
    -------
    dict
        ``base_score``, which XGBoost replaces by a ``base_margin`` of the matrix, ``disable_default_eval_metric``,
        and for several scores ``num_class``, if there is one for each class, or ``num_target``.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown, or labels do not suit it.
    """
    loss, baseline = prepare_for_training(
        LOSSES.create(loss), read_targets(matrix), read_weights(matrix, matrix.num_row())
    )
    params = {"base_score": base_score_of(baseline, "reg:squarederror"), "disable_default_eval_metric": True}
    if loss.task == "classification" and len(baseline) == response_at(loss, baseline[None]).shape[1]:
        return params | {"num_class": len(baseline), "objective": "multi:softprob"}
    return params | ({"num_target": len(baseline)} if len(baseline) > 1 else {})


def to_ensemble(model: Booster | XGBModel, *, n_rounds: int | None = None) -> Ensemble:
    """An XGBoost model as an :class:`~rffboost_ext.Ensemble` of the same raw scores, one term per boosting round.

    Parameters
    ----------
    model : xgboost.Booster, XGBClassifier, XGBRegressor or another of its estimators
        Trees of any objective with a known link; gbtree or dart, with leaves of one or several outputs. For
        categorical splits the
        ensemble acts on codes, as XGBoost does on arrays.
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
        If the model is linear (gblinear), has fewer rounds than asked for, an unknown objective, or
        treats values other than NaN as missing.
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
    start = initial_score(learner)
    rounds = read_rounds(learner)
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
        return ensemble * (1.0 / slope_of(model.loss_, ensemble.n_outputs))
    return ensemble


def bind(
    booster: Booster, loss: str | Loss, *, n_rounds: int | None = None, base_margin: bool = False
) -> BaseRFFBoost:
    """A booster that was trained with :func:`objective` as a fitted estimator with the loss's own link.

    Parameters
    ----------
    booster : xgboost.Booster
        The trained booster.
    loss : str or Loss
        The loss that it was trained with, which files do not record. A UserWarning is issued if the booster
        records an objective of XGBoost's with another link.
    n_rounds : int, optional
        Rounds to take, as in :func:`to_ensemble`.
    base_margin : bool, default=False
        Whether it was trained on a matrix with a ``base_margin``, which files do not record. Predictions then need
        the argument ``base_margin``; it takes the place of ``base_score``, as in XGBoost.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
        Fitted: ``predict_proba``, pickle, ONNX export. It takes tables with the booster's columns and categories,
        or codes if the booster was trained on codes.
    """
    ensemble, coding = sorted_codes(
        to_ensemble(booster, n_rounds=n_rounds), model_categories(parse_model(booster))
    )
    if base_margin:
        ensemble = replace(ensemble, baseline=np.zeros(ensemble.n_outputs))
    loss = prepare_for_outputs(LOSSES.create(loss), ensemble.n_outputs)
    objective = parse_model(booster)["objective"]["name"]
    # A booster trained with a callable names the default objective.
    if objective != "reg:squarederror":
        warn_if_objective_differs(objective, XGBOOST[objective].inverse, loss, ensemble.n_outputs)
    names, n_features = names_of(booster), booster.num_features()
    return fitted(ensemble, loss, n_features, names=names, categories=coding, base_margin=base_margin)


class CosineObjective(CosineObjectiveBase):
    __doc__ = f"""{DOC}
    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> matrix = xgboost.DMatrix(X, np.sin(2.0 * X[:, 0]) > 0.0)
    >>> hybrid = rxgb.CosineObjective("log_loss")
    >>> booster = xgboost.train({{"max_depth": 2}}, matrix, 20, obj=hybrid)
    >>> hybrid.bind(booster).predict_proba(X).shape
    (200, 2)
    """

    def metric(self, scores: Array, matrix: DMatrix) -> tuple[str, float]:
        """``custom_metric`` of ``xgboost.train``: the mean loss at the sum of both parts, for early stopping."""
        return self.evaluate(scores, matrix)

    def _check_attached(self, matrix: DMatrix, X: Array) -> None:
        if not matrix.get_categories().empty():
            raise ValueError(CATEGORIES)
        require_no_missing(X.size - matrix.num_nonmissing())
        # A QuantileDMatrix has only the bins of its features.
        found = None if isinstance(matrix, QuantileDMatrix) else self._tree_inputs(matrix, np.arange(len(X)))
        if found is not None:
            require_same_features(found, X)

    def _n_features(self, matrix: DMatrix) -> int | None:
        return int(matrix.num_col())

    def _features(self, matrix: DMatrix) -> Array:
        if "c" in (matrix.feature_types or ()):
            raise ValueError(CATEGORIES)
        if isinstance(matrix, QuantileDMatrix):
            raise ValueError(
                "a QuantileDMatrix does not return its features: pass them by attach(matrix, X) before training, "
                "or train on a DMatrix"
            )
        rows = matrix.get_data()
        require_no_missing(matrix.num_row() * matrix.num_col() - rows.nnz)
        return np.asarray(rows.toarray())

    def _tree_inputs(self, matrix: DMatrix, rows: Array) -> Array | None:
        try:
            # A QuantileDMatrix cannot be sliced; its values are not the features, but take the same paths.
            binned = isinstance(matrix, QuantileDMatrix)
            return dense_with_nan(matrix.get_data()[rows] if binned else matrix.slice(rows).get_data())
        except XGBoostError:
            # Such as one in external memory.
            return None

    def _read_trees(self, booster: Booster, training: CosineTraining) -> tuple[list[Term | None], int]:
        rounds: list[Term | None] = list(read_rounds(parse_model(booster), kinds=("gbtree",)))
        return rounds[: best_round(booster, len(rounds))], booster.num_features()

    def _feature_names(self, booster: Booster) -> Array | None:
        return names_of(booster)


def require_no_missing(n_missing: int) -> None:
    """Raise a ValueError if a matrix has missing values."""
    if n_missing:
        raise ValueError(
            f"CosineObjective: the matrix has {n_missing} missing values, which cosines cannot take; trees and "
            f"cosines must use the same features: build the matrix of imputed ones"
        )


def dense_with_nan(sparse: Any) -> Array:
    """A sparse matrix as an array, NaN for missing entries."""
    entries = sparse.tocoo()
    found = np.full(entries.shape, np.nan)
    found[entries.row, entries.col] = entries.data
    return found


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
    row = np.zeros((1, booster.num_features()))
    rounds = (0, len(ensemble)) if len(ensemble) else (0, 0)
    wanted = booster.predict(DMatrix(row), output_margin=True, validate_features=False, iteration_range=rounds)
    found = ensemble.raw(row)
    # XGBoost sums in float32: the tolerance is relative to the magnitude of all terms.
    added = np.abs(ensemble.baseline).max() + sum(np.abs(term(row)).max() for term in ensemble.terms)
    close = np.allclose(found, wanted.reshape(found.shape), rtol=1e-4, atol=max(1e-4, 1e-6 * added))
    if not (np.isfinite(found).all() and close):
        raise ValueError(f"the XGBoost model could not be read: it gives {wanted} where its trees sum to {found}")


def response_of(model: Booster | XGBModel) -> Callable[[Array], Array] | None:
    """The model's inverse link; None if it is unknown, as for a callable objective."""
    if isinstance(model, XGBClassifier | XGBRegressor):
        return model.loss_.inverse_link
    if isinstance(model, XGBModel) and callable(model.objective):
        return None
    return link_of(XGBOOST, parse_model(booster_of(model))["objective"]["name"], "XGBoost").inverse


def init_model(model: Any) -> InitModel:
    """An XGBoost model as an initial model; its classes are 0 .. K-1."""
    booster = booster_of(model)
    ensemble, coding = sorted_codes(to_ensemble(model), model_categories(parse_model(booster)))
    response, names = response_of(model), names_of(booster)
    known = InitModel(ensemble, response, booster.num_features(), categories=coding, names=names)
    return replace(known, uses_base_margin=getattr(model, "uses_base_margin_", None))
