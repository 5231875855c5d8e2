"""The parts of a fitted estimator that are exported, extracted by ``export_source``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import Ensemble, Link, Loss, RFFBoostDistribution
from rffboost_ext.exporting import (
    Array,
    BaseRFFBoost,
    CategoryEncoding,
    as_numbers,
    dense_with_nan,
    native_table,
    read_table,
)

from .derived_links import ColumnLink, prediction_link
from .model import RESERVED
from .scaling import Scaling, behind_scaling, center_and_scale, with_lower_thresholds
from .sparse_steps import dense, divides_by_norm, parts


@dataclass(frozen=True)
class ExtraOutput:
    """A further output of a regressor, such as an interval, with a number of columns.

    `link` computes it from raw scores, as nodes; `response` is the same by the estimator itself.
    """

    name: str
    link: Link
    response: Callable[[Array], Array]
    width: int


@dataclass(frozen=True)
class ExportSource:
    """The parts of a fitted estimator that are exported."""

    estimator: str
    loss: str
    ensemble: Ensemble
    """Raw scores as a function of the features, or of the scaled output of `steps` if there are any."""
    link: Link
    """From raw scores to the response, for ``convert_link``."""
    n_features: int
    """Columns of X."""
    raw: Callable[[Any], Array]
    """Raw scores (n, C) for X, computed by the estimator itself."""
    response: Callable[[Array], Array]
    """Probabilities or means for raw scores, computed by the estimator's own loss."""
    classes: Array | None = None
    """Class labels; None for a regressor."""
    multilabel: bool = False
    """Whether a row has any number of the labels `classes`, each with a probability of its own."""
    feature_names: tuple[str, ...] = ()
    steps: Pipeline | None = None
    """Fitted steps that come before and are not part of `ensemble`."""
    n_step_columns: int | None = None
    """Columns that `steps` outputs."""
    takes_texts: bool = False
    """Whether X is a sequence of texts, not a table."""
    eps: float = float(np.finfo(np.float64).eps)
    """Relative precision in which the estimator itself computes."""
    extras: tuple[ExtraOutput, ...] = ()
    n_offsets: int = 0
    """Columns of the offset that is added to the scores of `raw`, (n, C) or (n, 1); 0 if there is none."""
    encoding: CategoryEncoding | None = None
    """The categories of the columns; `ensemble` acts on their codes. None if all columns are numeric."""
    missing_columns: tuple[int, ...] | None = None
    """The columns that may have missing values, of X or else of the output of `steps`; None for all."""
    scaling: Scaling = ()
    """Operations of scalers between the features, or the output of `steps`, and `ensemble`."""
    absent_is_missing: bool = False
    """Whether the estimator takes absent entries of a sparse matrix for missing values, not for zeros."""
    absent: Array | None = None
    """The number in each column of the output of `steps`, (p,), that a sparse matrix leaves out as missing."""
    survival: Callable[[Array], ExtraOutput] | None = None
    """The output with the survival function at times (T,)."""

    @property
    def main_output(self) -> str:
        """The name of the output with the response."""
        return "variable" if self.classes is None else "probabilities"

    @property
    def width(self) -> int:
        """Columns of the response, W."""
        return int(self.response(self.ensemble.baseline[None]).shape[1])

    def features(self, X: Any) -> Array:
        """The features of the ensemble for the user's X, before `scaling`."""
        if self.encoding is not None:
            return self.encoding.transform(X)[0]
        if self.steps is not None:
            return dense(self.steps.transform(native_table(X)), self.absent)
        X = dense_with_nan(X) if self.absent_is_missing and issparse(X) else X
        return np.asarray(as_numbers(read_table(X), in_fit=False))

    def with_times(self, times: Array | None) -> ExportSource:
        """The same with the survival function at times (T,) as a further output, if there are any."""
        if times is None:
            return self
        if self.survival is None:
            raise ValueError(f"to_onnx: times must be None for a {self.estimator}, which predicts no survival")
        return replace(self, extras=(*self.extras, self.survival(times)))

    def with_scaling(self, dtype: str) -> ExportSource:
        """The same with `scaling` in the ensemble and thresholds clear of rounding, as exported in `dtype`."""
        terms, absent = self.ensemble.terms, self.absent
        if self.scaling:
            width = len(self.scaling[0][1])
            terms = tuple(behind_scaling(term, self.scaling, width, dtype) for term in terms)
            absent = None if absent is None else center_and_scale(self.scaling, width)[0]
        if dtype == "float32" and any(map(divides_by_norm, parts(self.steps))):
            terms = tuple(map(with_lower_thresholds, terms))
        return replace(self, ensemble=replace(self.ensemble, terms=terms), scaling=(), absent=absent)


BY_PACKAGE: dict[str, Callable[[Any], ExportSource]] = {}
"""The source of a model of a package that is not imported here, by the name of the package."""


@singledispatch
def export_source(estimator: Any) -> ExportSource:
    """The parts of a fitted estimator that are exported; a TypeError for one of another kind."""
    packages = {cls.__module__.partition(".")[0] for cls in type(estimator).__mro__}
    if hosts := packages & {*BY_PACKAGE}:
        return BY_PACKAGE[hosts.pop()](estimator)
    advice = (
        "for one of ours inside another estimator of scikit-learn, call onnx_export.register_skl2onnx() and then "
        "skl2onnx.to_onnx(estimator, X)"
    )
    if isinstance(estimator, type):
        advice = "pass an instance that is fitted"
    elif isinstance(estimator, TransformedTargetRegressor):
        advice = "export its regressor_, and apply transformer_.inverse_transform to what the file predicts"
    name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
    raise TypeError(
        f"to_onnx: got {name}; {advice}. estimator must be a fitted RFFBoostClassifier or other estimator of "
        f"rffboost_ext, a Pipeline ending in one, or a tree model of XGBoost or LightGBM"
    )


def require_own_predictions(estimator: Any) -> None:
    """Raise a TypeError if a subclass of our estimators overrides a prediction method."""
    kind = type(estimator)
    base = next(cls for cls in kind.__mro__ if cls.__module__.startswith("rffboost_ext."))
    for name in ("predict", "predict_proba", "decision_function", "predict_interval", "predict_survival_function"):
        if getattr(kind, name, None) is not getattr(base, name, None):
            raise TypeError(
                f"{kind.__name__} overrides {name} of {base.__name__}, which cannot be exported: export a "
                f"{base.__name__} instead"
            )


@export_source.register
def _(estimator: BaseRFFBoost) -> ExportSource:
    if not hasattr(estimator, "ensemble_"):
        check_is_fitted(estimator)
    require_own_predictions(estimator)
    loss, compact = estimator.loss_, estimator.ensemble_.compact()
    uses_offset, encoder = estimator.uses_base_margin_, estimator.encoder_
    missing = () if encoder.missing_columns is None else encoder.missing_columns
    return ExportSource(
        estimator=type(estimator).__name__,
        **fields_of_loss(loss, compact.n_outputs),
        ensemble=compact,
        n_features=estimator.n_features_in_,
        raw=(lambda X: estimator.ensemble_.raw(encoder.transform(X))) if uses_offset else estimator.raw_scores,
        classes=getattr(estimator, "classes_", None),
        feature_names=names_of(estimator),
        encoding=encoder.categories,
        missing_columns=None if encoder.imputes_missing else tuple(np.flatnonzero(missing).tolist()),
        n_offsets=compact.n_outputs if uses_offset else 0,
    )


def fields_of_loss(loss: Loss, n_outputs: int) -> dict[str, Any]:
    """The fields of a source that a loss of some raw scores determines: its link, response and named outputs."""
    link = loss.link
    names, width = list(link.names or ()), link.inverse(np.zeros((1, n_outputs))).shape[1]
    if names and (len(names) != width or len({*names}) < width or {*names} & {*RESERVED}):
        raise ValueError(
            f"loss {loss!r}: link.names must have a different name for each of {width} columns of the "
            f"response, other than {RESERVED}, got {names}"
        )
    columns = [ColumnLink(link, column) for column in range(len(names))]
    extras = tuple(ExtraOutput(name, link, link.inverse, 1) for name, link in zip(names, columns, strict=True))
    fields = {"loss": repr(loss), "link": link, "response": link.inverse, "multilabel": loss.multilabel}
    return fields | {"extras": extras}


@export_source.register
def _(model: RFFBoostDistribution) -> ExportSource:
    source = export_source.dispatch(BaseRFFBoost)(model)
    link = prediction_link(model.loss_, source.ensemble.n_outputs)
    return replace(source, link=link, response=link.inverse)


def names_of(estimator: BaseEstimator) -> tuple[str, ...]:
    """The names of the columns that `estimator` was fitted on, if it has them."""
    return tuple(map(str, getattr(estimator, "feature_names_in_", ())))
