"""The check of a loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contracts.comparison import contract_errors
from ..contracts.loss_sample import MAX_ROWS, random_samples, sample_weights
from ..contracts.losses import LAWS
from ..contracts.preparation import baseline_of, prepared_loss, require_finite_target
from ..core import Loss, Observations
from ..losses.coupling import is_coupled
from ..losses.registry import LOSSES


def check_loss(loss: str | Loss, y: Any, n_classes: int | None = None) -> None:
    """Raise an AssertionError that names the law that a loss breaks.

    Checked are: the number of scores; shapes, finite numbers and arguments left unchanged; the gradient if
    ``exact_gradient``, by differences of the loss, or of its weighted total if rows are coupled; the hessian by
    differences of the gradient if ``exact_hessian``, its sign, and that part of a Newton step lowers the loss;
    ``bounded_ratio``; that values stay with their rows when rows are permuted, twice (``rows = "set"``), alone
    (``rows = "independent"``) or a group at a time (``rows = "groups"``); that the baseline minimises the weighted
    sum; that weight 2 is the row twice; that the link, its inverse and the response agree and have one width;
    ``translation_invariant``; and ``prepared`` and ``clone``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    y : array-like of shape (n,) or (n, K)
        A typical target: class indices 0 .. K-1 for classification, all columns that the loss takes otherwise. Up
        to 500 rows are used, or all if they are coupled.
    n_classes : int, optional
        Number of classes; by default the largest class index plus 1.

    Raises
    ------
    AssertionError
        If the loss breaks a law, or refuses y.
    ValueError
        If y is no array of finite numbers; it may be infinite if ``infinite``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.testing import check_loss
    >>> check_loss("huber", np.random.default_rng(0).standard_normal(50))
    """
    with contract_errors(f"loss {type(loss).__name__}: get_params"):
        repr(loss)
    with contract_errors(f"loss {type(loss).__name__}: validate"):
        loss = LOSSES.create(loss)
    y = np.asarray(y, dtype=np.float64)
    if not len(y) or y.ndim > 2:
        raise ValueError(f"check_loss: y must have shape (n,) or (n, K) with at least one row, got {y.shape}")
    y = y.reshape(len(y), -1)[: None if is_coupled(loss) else MAX_ROWS].copy()
    require_finite_target(loss, y)
    if loss.task == "classification" and n_classes is None:
        n_classes = max(2, int(y[:, 0].max()) + 1)
    with contract_errors(f"loss {loss!r}: the preparation for y"):
        rows = Observations(y, sample_weights(loss, y))
        prepared = prepared_loss(loss, rows, n_classes)
        baseline = baseline_of(prepared, rows, n_classes)
    for sample in random_samples(prepared, rows, baseline, n_classes):
        for law in LAWS:
            with contract_errors(f"{sample.name}: {law.__name__}"):
                law(sample)
