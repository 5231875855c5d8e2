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
- A symmetric tree with linear leaves is evaluated at the mixtures of x and z in the features at its splits: exact
  for up to 8 features of a tree.
- Any other term is evaluated at mixtures of x and z: :mod:`~rffboost_ext.inspection.coalitions`.

References
----------
Lundberg and Lee, A unified approach to interpreting model predictions, NeurIPS 2017. Owen, Multilinear extensions
of games, Management Science 18, 1972. Lundberg et al., From local explanations to global understanding with
explainable AI for trees, Nature Machine Intelligence 2, 2020.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, singledispatch
from math import comb

import numpy as np

from ..core import Term
from ..terms import Cosines, Expanded, Standardized, SymmetricTrees, Trees
from ..terms.ensemble import Ensemble, check_matrix
from ..terms.projection import BLOCK_ENTRIES
from ..utils.arrays import require_columns
from ..utils.typing import Array
from .coalitions import shapley_by_evaluation
from .importance import inner_levels

# For more than twice as many features the integrand is smooth: more nodes change the last bits only.
MAX_NODES = 32


@singledispatch
def shapley(term: Term, X: Array, background: Array) -> Array:
    """Shapley values of each output of `term` at X (n, d), with background rows (m, d): (n, C, d).

    By default the term is evaluated at mixtures of rows, as :func:`.shapley_by_evaluation` states. Types of terms
    register a faster or exact rule here, as cosines and trees do.
    """
    return np.asarray(grouped_shapley(term, X, background, np.arange(X.shape[1]), X.shape[1]))


@singledispatch
def grouped_shapley(term: Term, X: Array, background: Array, source: Array, n_features: int) -> Array:
    """Shapley values of d features, with column j of X (n, e) belonging to feature ``source[j]``: (n, C, d).

    The columns of one feature, such as its one-hot columns, are one player. By default the term is evaluated at
    mixtures of rows. Types of terms register a faster or exact rule here, as cosines do.
    """
    return shapley_by_evaluation(term, X, background, source, n_features)


@grouped_shapley.register
def _(term: Cosines, X: Array, background: Array, source: Array, n_features: int) -> Array:
    from ..kernels.shapley import add_cosine

    require_columns(X, term.n_features)
    center = 0.0 if term.center is None else term.center
    # The columns of a feature side by side.
    order = np.argsort(source, kind="stable")
    source = source[order]
    rows, others = (np.ascontiguousarray((term.clip_and_log(part) - center)[:, order]) for part in (X, background))
    out = np.zeros((len(X), term.weight.shape[1], n_features))
    for omega, phase, weight in each_cosine(term):
        omega = omega[order]
        columns = np.flatnonzero(omega)
        is_first = np.diff(source[columns], prepend=-1) > 0
        used, player = source[columns[is_first]], np.cumsum(is_first) - 1
        ours, theirs = (part if len(columns) == len(order) else part[:, columns] for part in (rows, others))
        sums = np.zeros((len(X), len(used)))
        add_cosine(ours, theirs, omega[columns], phase, player, *half_quadrature(len(used)), sums)
        out[:, :, used] += (weight / len(background))[:, None] * sums[:, None, :]
    return out


def each_cosine(term: Cosines) -> Iterator[tuple[Array, float, Array]]:
    """Frequencies of all features (d,), phase and weights (C,) of each cosine, computed in blocks."""
    size = max(1, BLOCK_ENTRIES // term.n_features)
    for start in range(0, len(term.omega), size):
        block = slice(start, start + size)
        frequencies = replace(term, omega=term.omega[block]).frequencies
        yield from zip(frequencies, term.phase[block].tolist(), term.weight[block], strict=True)


def half_quadrature(n_players: int) -> tuple[Array, Array]:
    """Nodes on (0, 1) and weights for the integral over [-1, 1] of the real part of a product of players."""
    return quadrature(min(max(1, -(-n_players // 4)), MAX_NODES))


@cache
def quadrature(size: int) -> tuple[Array, Array]:
    """The `size` positive nodes of Gauss-Legendre quadrature on [-1, 1], with twice their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(2 * size)
    return nodes[size:], 2.0 * weights[size:]


@shapley.register
def _(term: Trees, X: Array, background: Array) -> Array:
    from ..kernels.shapley import add_paths

    depth = sum(1 for _ in inner_levels(term))
    shares = path_weights(min(depth, X.shape[1]))
    rows, (_, *splits) = (term.check_X(X), term.check_X(background)), term.splits
    parts = [term.roots] if term.output is None else [term.roots[term.output == c] for c in range(term.n_outputs)]
    out = np.zeros((len(parts), len(X), term.value.shape[1], X.shape[1]))
    for roots, part in zip(parts, out, strict=True):
        add_paths(*rows, roots, *splits, term.value, shares, depth, part)
    return out.transpose(1, 0, 2, 3).reshape(len(X), term.n_outputs, X.shape[1]) / len(background)


@shapley.register
def _(term: SymmetricTrees, X: Array, background: Array) -> Array:
    if term.slope is None:
        return shapley(term.as_trees(), X, background)
    out = np.zeros((len(X), term.n_outputs, X.shape[1]))
    for t in range(term.n_trees):
        # A tree depends on few features, of which all coalitions can be evaluated.
        tree = term.trees(slice(t, t + 1))
        used, place = np.unique(tree.feature, return_inverse=True)
        tree = replace(tree, feature=place.reshape(tree.feature.shape).astype(np.int32))
        out[:, :, used] += shapley.dispatch(object)(tree, X[:, used], background[:, used])
    return out


@shapley.register
def _(term: Expanded, X: Array, background: Array) -> Array:
    # Rows are imputed before they are mixed.
    expansion = term.expansion
    rows, others = expansion(X), expansion(background)
    if len(np.unique(expansion.source)) == expansion.n_expanded:
        return expansion.sum_by_source(shapley(term.term, rows, others))
    return np.asarray(grouped_shapley(term.term, rows, others, expansion.source, expansion.n_features))


@shapley.register
def _(term: Standardized, X: Array, background: Array) -> Array:
    shifted = [(part - term.center) / term.scale for part in (X, background)]
    return np.asarray(shapley(term.term, *shifted))


def path_weights(most: int) -> Array:
    """``(p - 1)! q! / (p + q)!`` for p and q up to `most`, 0 for p = 0."""
    sizes = range(most + 1)
    return np.array([[1.0 / (p * comb(p + q, p)) if p else 0.0 for q in sizes] for p in sizes])


def shapley_values(ensemble: Ensemble, X: Array, background: Array) -> Array:
    """Shapley values of the raw scores of an ensemble, exact for cosines and trees.

    The time is proportional to n times m. A term without a rule of its own is evaluated at n m 2^d rows, with more
    than 8 features at about 2 n m d rows, where interactions of more than two features have a sampling error.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble.
    X : ndarray of shape (n, d)
        Rows to explain.
    background : ndarray of shape (m, d)
        Background rows, such as 100.

    Returns
    -------
    ndarray of shape (n, C, d)
        The sum over features is ``ensemble.raw(X) - ensemble.raw(background).mean(axis=0)``.

    Raises
    ------
    ValueError
        If the background has no rows, or not the columns of X.
    """
    X, background = check_matrix(X), check_matrix(background)
    if len(background) == 0 or background.shape[1] != X.shape[1]:
        raise ValueError(f"background must have shape (m, {X.shape[1]}) with m >= 1, got {background.shape}")
    out = np.zeros((len(X), ensemble.n_outputs, X.shape[1]))
    for block in ensemble.compact().terms:
        out += shapley(block, X, background)
    return out
