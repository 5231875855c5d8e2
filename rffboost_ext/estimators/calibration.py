r"""Scores and margins of split conformal prediction.

Split conformal prediction: the regressor is fitted to a part of the rows. On the m others, the calibration rows, a
score measures how far each target lies outside the prediction. The margin is the q-th smallest score, with
:math:`q = \lceil (m + 1)(1 - \alpha) \rceil`. If the calibration rows and a new one are exchangeable, its score
has any rank among the m + 1 with the same probability. So, if no scores tie,

.. math:: P(y \in \mathrm{interval}) = \frac{q}{m + 1}, \quad
          1 - \alpha \le \frac{q}{m + 1} < 1 - \alpha + \frac{1}{m + 1},

and it is no smaller with ties. Coverage is marginal, over new rows and calibration rows together; it need not hold
conditionally on x.

With sample weights w the margin is a weighted quantile: the smallest score at which

.. math:: \sum_{i: s_i \le \mathrm{margin}} w_i \ge (1 - \alpha) \Big(\sum_i w_i + \max_i w_i\Big).

The last summand is the weight of a new row, whose score may be infinite. Equal weights give the margin above.
Under covariate shift, weights are ratios of the densities of new rows and of rows of the fit. New rows are covered
with probability :math:`1 - \alpha` or more, less the probability that the ratio of a new row exceeds the largest
weight (Tibshirani et al., corollary 1).

References
----------
Tibshirani, Barber, Candès and Ramdas, Conformal prediction under covariate shift, NeurIPS 2019.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter, validate_data

from ..boosting.early_stopping.validation_split import splits_of
from ..core import Loss
from ..losses.coupling import group_codes
from ..rows.tables import number_array
from ..utils.pipelines import final_estimator
from ..utils.typing import Array
from ..utils.warnings import warn_user

# Tolerance for rounding errors of products such as 10 * 0.1.
ROUNDING = 1e-9
# Bound for 1 / alpha, which may be infinite.
MAX_INVERSE_ALPHA = 1e18
# Rounding errors between a score and the bounds of an interval, in rounding units.
ROUNDING_UNITS = 4.0


def quantile_levels(estimator: Any) -> Any:
    """The levels of the quantiles that a fitted regressor says it predicts, (Q,); None if it says nothing.

    They are those of its loss, or its attribute ``quantiles``, or XGBoost's ``quantile_alpha``.
    """
    loss = getattr(estimator, "loss_", None)
    if isinstance(loss, Loss):
        return loss.levels
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return getattr(estimator, "quantiles", params.get("quantile_alpha"))


def quantiles_or_prediction(owner: str, regressor: Any, values: Array) -> Array:
    """What a regressor predicts, (n,) or (n, W), as quantiles (n, Q), if it says their levels, or as (n, 1).

    Several columns without levels raise a TypeError, unless the loss makes one prediction of them.
    """
    values, final = values.reshape(len(values), -1), final_estimator(regressor)
    if values.shape[1] == 1:
        return values
    # A transformation of the target keeps quantiles, or reverses their order, but not parameters.
    inner = getattr(final, "regressor_", None)
    levels = quantile_levels(final if inner is None else inner)
    if levels is not None and np.size(levels) == values.shape[1] and (np.diff(levels) > 0.0).all():
        return values if inner is None else np.sort(values, axis=1)
    loss = getattr(final, "loss_", None)
    predicted = loss.prediction(values) if isinstance(loss, Loss) else values
    if predicted.shape != (len(values), 1):
        raise TypeError(
            f"{owner}: estimator must predict one number for each row, or say the increasing levels of its "
            f"quantiles, by Loss.levels or an attribute 'quantiles', got {values.shape[1]} columns"
            f"{'' if loss is None else f' of loss {loss!r}, whose method prediction does not make one of them'}"
        )
    return predicted


def conformity_scores(y: Array, values: Array, unit: float) -> Array:
    """The distances of targets outside of quantiles or predictions (n, Q), (n,); negative inside an interval.

    Each row has a tolerance, proportional to its numbers and to the rounding unit of predictions: targets at a
    bound count as inside.
    """
    low, high = values[:, 0], values[:, -1]
    magnitude = np.maximum(np.abs(low), np.abs(high)) + np.abs(y)
    return np.maximum(low - y, y - high) + ROUNDING_UNITS * unit * magnitude


def least_size(alpha: float) -> int:
    """The least number of calibration rows with a finite margin: the least m with ``(m + 1) alpha >= 1``."""
    return math.ceil(min(1.0 / alpha, MAX_INVERSE_ALPHA) - ROUNDING) - 1


def calibration_size(owner: str, alpha: float, fraction: float, n_samples: int) -> int:
    """The number of calibration rows; a ValueError unless there are more rows."""
    size = max(least_size(alpha), math.ceil(fraction * n_samples), 1)
    if size >= n_samples:
        raise ValueError(
            f"{owner}: X must have more than the {size} rows that calibrate with alpha={alpha:g} and "
            f"calibration_fraction={fraction:g}, got n_samples={n_samples}"
        )
    return size


def groups_of_target(regressor: Any, y: Array) -> Array | None:
    """The groups that the loss of a regressor takes from targets (n,), as numbers (n,); None if it takes none."""
    loss = getattr(regressor, "loss", None)
    if not isinstance(loss, Loss) or loss.rows != "groups":
        return None
    return group_codes(loss, y[:, None].astype(np.float64))


def split_rows(
    weight: Array, group: Array | None, size_of: Callable[[int], int], random: np.random.RandomState
) -> tuple[Array, Array]:
    """Rows to fit and rows that calibrate, of positive weight (n,); groups (n,) are not divided.

    ``size_of(n)`` is the number of rows that calibrate, of n rows in use.
    """
    from sklearn.model_selection import train_test_split

    used = np.flatnonzero(weight)
    size = size_of(len(used))
    if group is None:
        kept, held = train_test_split(used, test_size=size, random_state=random)
    else:
        kept, held = (used[part] for part in group_split(group[used], size, random))
    return kept, held


def split_by(
    owner: str, splitter: Any, rows: Sequence[Any], weight: Array, group: Array | None, alpha: float
) -> tuple[Array, Array]:
    """As :func:`split_rows`, by the last split of a splitter of scikit-learn, for `rows` X, y and groups."""
    what, used, (X, y, groups) = f"{owner}: calibration", np.flatnonzero(weight), rows
    kept, held = (used[part] for part in splits_of(what, splitter, X, y, groups, weight > 0.0)[-1])
    if np.isin(held, kept).any() or (group is not None and np.isin(group[held], group[kept]).any()):
        raise ValueError(f"{what} must have other rows, and groups, than those to fit to, got {splitter!r}")
    if len(held) < (least := least_size(alpha)):
        raise ValueError(f"{what} must hold out at least {least} rows for alpha={alpha:g}, got {len(held)}")
    return kept, held


def group_split(group: Array, size: int, random: np.random.RandomState) -> tuple[Array, Array]:
    """Rows to fit and at least `size` others, of other groups (n,); a ValueError if there are too few groups."""
    _, of_row, sizes = np.unique(group, return_inverse=True, return_counts=True)
    order = random.permutation(len(sizes))
    n_held = int(np.searchsorted(np.cumsum(sizes[order]), size)) + 1
    if n_held == len(sizes):
        raise ValueError(
            f"groups must leave rows to fit beside whole groups of at least {size} rows that calibrate, got "
            f"{len(sizes)} groups of {len(group)} rows"
        )
    held = np.isin(of_row, order[:n_held])
    return np.flatnonzero(~held), np.flatnonzero(held)


def margin_rank(alpha: float, weight: Array) -> tuple[int, float]:
    """The rank, from 1, of the score that is the margin, and the coverage, for weights (m,) of sorted scores.

    For equal weights the rank is the ceiling of ``(m + 1) (1 - alpha)``; it is m + 1 if no finite margin suffices.
    The coverage is the weight up to this rank, as a share of all weights and that of a new row of the largest one.
    """
    # In units of the largest weight, so that equal weights have exact sums.
    share = np.append(np.cumsum(weight / weight.max()), np.inf)
    total = share[-2] + 1.0
    rank = int(np.searchsorted(share, (1.0 - alpha) * total - ROUNDING)) + 1
    return rank, float(share[rank - 1] / total)


def offset_of_rows(base_margin: Any, n_samples: int) -> Array:
    """An offset of any regressor as an array; a ValueError unless it has an entry for each row."""
    offset = number_array(base_margin, "base_margin")
    if offset.shape[:1] != (n_samples,):
        raise ValueError(f"base_margin must have an entry for each of {n_samples} rows, got shape {offset.shape}")
    return offset


def check_predictions(owner: str, predicted: Any, n_samples: int) -> Array:
    """The predictions of a regressor, (n,) or (n, Q), float64; an error names it."""
    try:
        values = np.asarray(predicted, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{owner}: estimator must predict numbers: {error}") from error
    if values.ndim not in (1, 2) or len(values) != n_samples or not values.size:
        raise ValueError(
            f"{owner}: estimator must predict shape ({n_samples},) or ({n_samples}, Q), got {values.shape}"
        )
    return values


def validated_target(estimator: Any, X: Any, y: Any) -> Array:
    """The targets (n,) of rows X, whose columns are set on the estimator; the regressor checks their values."""
    validate_data(estimator, X, y, skip_check_array=True)
    y = column_or_1d(number_array(y), warn=True)
    assert_all_finite(y, input_name="y", estimator_name=type(estimator).__name__)
    check_consistent_length(X, y)
    return y


def require_regressor(owner: str, estimator: Any, method: str = "fit") -> None:
    """Raise a TypeError unless an estimator is a regressor with a method, and with ``predict``."""
    if isinstance(estimator, type) or not (hasattr(estimator, method) and hasattr(estimator, "predict")):
        raise TypeError(f"{owner}: estimator must be a regressor with {method} and predict, got {estimator!r}")
    if is_classifier(estimator):
        raise TypeError(f"{owner}: estimator must be a regressor, got the classifier {estimator!r}")


def arguments_of_fit(
    model: Any, regressor: Any, sample_weight: Any, groups: Any, fit_params: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of the ``fit`` of a conformal model's regressor."""
    if groups is not None and has_fit_parameter(regressor, "groups"):
        fit_params = fit_params | {"groups": groups}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(model, "fit", sample_weight=sample_weight, **fit_params)
        return dict(routed.estimator.fit)
    if sample_weight is None:
        return fit_params
    if has_fit_parameter(regressor, "sample_weight"):
        return fit_params | {"sample_weight": sample_weight}
    warn_user(
        f"{type(model).__name__}: {type(regressor).__name__}.fit takes no sample_weight; the weights change the "
        f"margin only"
    )
    return fit_params


def fit_margin(
    owner: str, alpha: float, y: Array, regressor: Any, predicted: Any, weight: Array
) -> tuple[float, float]:
    """The margin, the score of :func:`margin_rank`, and the coverage, from calibration rows and their predictions.

    A ValueError says that no finite margin suffices.
    """
    values = check_predictions(owner, predicted, len(y))
    if not np.isfinite(values).all():
        raise ValueError(f"{owner}: estimator must predict finite numbers, got NaN or infinity")
    values, dtype = quantiles_or_prediction(owner, regressor, values), np.asarray(predicted).dtype
    unit = float(np.finfo(dtype if dtype.kind == "f" else np.float64).eps)
    scores = conformity_scores(y, values, unit)
    order = np.argsort(scores, kind="stable")
    rank, coverage = margin_rank(alpha, weight[order])
    if rank > len(scores):
        share = weight.max() / (weight.sum() + weight.max())
        raise ValueError(
            f"{owner}: sample_weight must have no row with more than alpha={alpha:g} of the weight of the "
            f"calibration rows and one more such row, got {share:.3g}: trim the weights, or raise "
            f"calibration_fraction or alpha"
        )
    return float(scores[order[rank - 1]]), coverage
