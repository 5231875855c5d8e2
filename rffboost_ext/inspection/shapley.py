r"""Shapley values (SHAP) of raw scores: exact for cosines and for trees, and of other terms by evaluation.

The values of a row x explain the difference between its score f(x) and the mean score of background rows z. For
each z, the value of a coalition S of features is :math:`f(x_S, z_{\bar S})`, the score of a row with these
features from x and all others from z. The Shapley values of this game are averaged over z. They are also called
interventional or marginal SHAP values.

- A cosine is the real part of a product over features, :math:`e^{-i\varphi} \prod_k e^{i \omega_k x_k}`. In a game
  of products the value of feature j is :math:`(a_j - b_j) \int_0^1 \prod_{k \ne j} (t a_k + (1 - t) b_k) \, dt`,
  where a are the factors of x and b the factors of z (Owen's multilinear extension). The integrand is a
  polynomial, for which Gauss-Legendre quadrature with half as many nodes as features is exact. Features that turn
  the cosine little enter by power series, so that each takes a few additions and products. A categorical
  column is one feature: its one-hot columns come from the same row; so do a column and its missing indicator.
- In a tree, each leaf that mixtures of x and z can reach is credited to the features at the splits at which x and
  z diverge, as in the shap package for trees with background data.
- A symmetric tree with linear leaves or crosses is evaluated at the mixtures of x and z in the features at its
  splits: exact for up to 8 features of a tree.
- Any other term is evaluated at mixtures of x and z: :mod:`~rffboost_ext.utils.coalitions`.

References
----------
Lundberg and Lee, A unified approach to interpreting model predictions, NeurIPS 2017. Owen, Multilinear extensions
of games, Management Science 18, 1972. Lundberg et al., From local explanations to global understanding with
explainable AI for trees, Nature Machine Intelligence 2, 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..rows.feature_encoder import FeatureEncoder
from ..rows.tables import column_values, read_table
from ..terms.ensemble import Ensemble, check_matrix
from ..utils.packages import require_packages
from ..utils.typing import Array


def shapley_values(ensemble: Ensemble, X: Array, background: Array) -> Array:
    """Shapley values (n, C, d) of the raw scores of an ensemble on rows X, relative to background rows (m, d).

    The sum over features is ``ensemble.raw(X) - ensemble.raw(background).mean(axis=0)``. The time is proportional
    to n times m. A background without rows, or with other columns than X, raises a ValueError.
    """
    X, background = check_matrix(X), check_matrix(background)
    if len(background) == 0 or background.shape[1] != X.shape[1]:
        raise ValueError(f"background must have shape (m, {X.shape[1]}) with m >= 1, got {background.shape}")
    out = np.zeros((len(X), ensemble.n_outputs, X.shape[1]))
    for block in ensemble.compact().terms:
        out += block.shapley(X, background)
    return out


def explanation_of(
    values: Array, baseline: Array, X: Any, encoder: FeatureEncoder, output_names: Sequence[Any] | None
) -> Any:
    """Shapley values (n, d, C), and the mean raw scores of the background, (C,), as a ``shap.Explanation``.

    X are the rows as the user has them; a single score has no axis, and `output_names` are those of several.
    """
    require_packages("shap_explanation", "shap")
    from shap import Explanation

    # SHAP gives these names to columns without one.
    unnamed = [f"Feature {j}" for j in range(encoder.n_features_in_)]
    base = np.tile(baseline, (len(values), 1))
    single = len(baseline) == 1
    return Explanation(
        values[:, :, 0] if single else values,
        base_values=base[:, 0] if single else base,
        data=encoder.transform(X),
        # SHAP colours points by the numbers in data, and prints what it displays.
        display_data=None if encoder.categories is None else original_values(X),
        feature_names=unnamed if encoder.names is None else encoder.names.tolist(),
        output_names=None if single or output_names is None else [str(name) for name in output_names],
    )


def original_values(X: Any) -> Array:
    """A table of any types as an array of objects, (n, d)."""
    table, n_features = read_table(X), np.shape(X)[1]
    return np.column_stack([column_values(table, j).astype(object) for j in range(n_features)])
