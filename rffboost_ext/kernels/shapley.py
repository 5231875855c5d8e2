"""Shapley values of cosines and trees, for pairs of a row and a background row."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER
from .kernel import kernel
from .tree_traversal import goes_left


@kernel("c16[2] c16[2] f8[1] f8[1] c16[2]*")
def add_products(A, B, nodes, weights, out):  # type: ignore[no-untyped-def]
    r"""Add to `out` (n, s) the Shapley values of products, summed over the rows of B.

    In the game of a row a of A (n, s) and a row b of B (m, s), both complex, the value of a coalition is the
    product of a_k over its members and b_k over all others. The Shapley value of player j is :math:`(a_j - b_j)
    \int_0^1 \prod_{k \ne j} (t a_k + (1 - t) b_k) dt`. The integrand is a polynomial in t, so the quadrature with
    `nodes` and `weights` is exact for at least s / 2 nodes.
    """
    s = A.shape[1]
    factor, before = np.empty(s, dtype=A.dtype), np.empty(s, dtype=A.dtype)
    for i in range(len(A)):
        for b in range(len(B)):
            for q in range(len(nodes)):
                t = nodes[q]
                product = A.dtype.type(weights[q])
                for k in range(s):
                    factor[k] = t * A[i, k] + (1.0 - t) * B[b, k]
                    before[k] = product
                    product *= factor[k]
                after = A.dtype.type(1.0)
                for k in range(s - 1, -1, -1):
                    out[i, k] += (A[i, k] - B[b, k]) * before[k] * after
                    after *= factor[k]


@numba.njit(**INNER)
def next_node(x, node, left, right, feature, threshold, missing_left, subset, members):  # type: ignore[no-untyped-def]
    """The child of an inner node that a row (d,) goes to."""
    leftwards = goes_left(x[feature[node]], node, threshold, missing_left, subset, members)
    return left[node] if leftwards else right[node]


@kernel("f4[2] f4[2] i8[1] i4[1] i4[1] i4[1] f4[1] b1[1] i4[1] u1[2] f8[2] f8[2] i8 f8[3]*")
def add_paths(  # type: ignore[no-untyped-def]
    X, Z, roots, left, right, feature, threshold, missing_left, subset, members, value, gain, depth, out
):
    """Add to `out` (n, C, d) the Shapley values of trees, summed over the rows of the background Z.

    For rows x and z, let p features of a path be satisfied by x only, and q by z only. A coalition reaches the
    leaf if it contains all of the former and none of the latter. The leaf value times ``gain[p, q]`` is added for
    each of the former, and times ``gain[q, p]`` subtracted for each of the latter. Nodes are those of
    :class:`rffboost_ext.Trees`; `depth` bounds the length of a path.
    """
    n_outputs, d = value.shape[1], X.shape[1]
    side, path = np.zeros(d, dtype=np.int8), np.empty(d, dtype=np.int64)
    # Stack of branches: the node, the length of the path before it, and its feature, satisfied by z.
    stack = np.empty((depth + 1, 3), dtype=np.int64)
    for i in range(len(X)):
        for b in range(len(Z)):
            for root in roots:
                length, top, node = 0, 0, np.int64(root)
                while True:
                    while left[node] >= 0:
                        k = feature[node]
                        x_child = next_node(
                            X[i], node, left, right, feature, threshold, missing_left, subset, members
                        )
                        z_child = next_node(
                            Z[b], node, left, right, feature, threshold, missing_left, subset, members
                        )
                        if x_child != z_child and side[k] == 0:
                            stack[top, 0], stack[top, 1], stack[top, 2] = z_child, length, k
                            top += 1
                            side[k], path[length] = 1, k
                            length += 1
                        node = z_child if side[k] == 2 else x_child
                    p = 0
                    for step in range(length):
                        p += side[path[step]] == 1
                    for step in range(length):
                        k = path[step]
                        share = gain[p, length - p] if side[k] == 1 else -gain[length - p, p]
                        for c in range(n_outputs):
                            out[i, c, k] += share * value[node, c]
                    start = 0 if top == 0 else stack[top - 1, 1]
                    while length > start:
                        length -= 1
                        side[path[length]] = 0
                    if top == 0:
                        break
                    top -= 1
                    node = stack[top, 0]
                    k = stack[top, 2]
                    side[k], path[length] = 2, k
                    length += 1
