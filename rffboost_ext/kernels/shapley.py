"""Shapley values of cosines and trees, for pairs of a row and a background row."""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INNER, kernel
from .tree_traversal import next_node

# Players with half angles up to SMALL are summed by powers of their tangents, up to ORDERS, in chunks.
SMALL, ORDERS, ROUNDING, CHUNK = 0.125, 16, 1e-17, 512
# Coefficients of h^3, h^5, ... of the tangent.
T0, T1, T2, T3, T4, T5, T6 = 1 / 3, 2 / 15, 17 / 315, 62 / 2835, 1382 / 155925, 21844 / 6081075, 929569 / 638512875


@numba.njit(fastmath=True, **INNER)
def add_power_sums(tangent, power, sums):  # type: ignore[no-untyped-def]
    """Add to ``sums[n]`` the sum of the powers n >= 1 of `tangent` (p,)."""
    for start in range(0, len(tangent), CHUNK):
        part = tangent[start : start + CHUNK]
        power[: len(part)] = 1.0
        for n in range(1, len(sums)):
            total = 0.0
            for k in range(len(part)):
                power[k] *= part[k]
                total += power[k]
            sums[n] += total


@numba.njit(**INNER)
def multiply_nodes(sums, large, nodes, product):  # type: ignore[no-untyped-def]
    """Set `product` (q,) at each node s to the product of ``cos(h) + i s sin(h)`` over all players.

    `sums` are the power sums of tan(h) of players with small half angles h, `large` the half angles of the others.
    """
    for q in range(len(nodes)):
        real, imag, power, sign = 0.0, 0.0, 1.0, 1.0
        for n in range(1, len(sums)):
            power *= nodes[q]
            if n % 2 == 1:
                imag += sign * power * sums[n] / n
                sign = -sign
            else:
                real -= sign * (power - 1.0) * sums[n] / n
        product[q] = np.exp(real) * (np.cos(imag) + 1j * np.sin(imag))
        for h in large:
            product[q] *= np.cos(h) + 1j * nodes[q] * np.sin(h)


@numba.njit(fastmath=True, **INNER)
def add_series(tangent, series, factor, value, out):  # type: ignore[no-untyped-def]
    """Add to `out` (p,) ``factor * t * (series[0] + series[1] t + ...)`` for each t of `tangent` (p,)."""
    for start in range(0, len(tangent), CHUNK):
        part, target = tangent[start : start + CHUNK], out[start : start + CHUNK]
        value[: len(part)] = 0.0
        for n in range(len(series) - 1, -1, -1):
            for k in range(len(part)):
                value[k] = value[k] * part[k] + series[n]
        for k in range(len(part)):
            target[k] += factor * part[k] * value[k]


@numba.njit(fastmath=True, **INNER)
def half_angles(x, z, omega, player, half):  # type: ignore[no-untyped-def]
    """Set `half` (p,) to half the difference of the players' angles; the mean of the sums of the angles."""
    mean = 0.0
    if len(half) == len(omega):
        for k in range(len(omega)):
            half[k] = 0.5 * omega[k] * (x[k] - z[k])
            mean += omega[k] * (x[k] + z[k])
    else:
        half[:] = 0.0
        for k in range(len(omega)):
            half[player[k]] += 0.5 * omega[k] * (x[k] - z[k])
            mean += omega[k] * (x[k] + z[k])
    return 0.5 * mean


@numba.njit(fastmath=True, **INNER)
def set_tangents(half):  # type: ignore[no-untyped-def]
    """Replace small half angles (p,) by their tangents; the largest tangent."""
    most = 0.0
    for k in range(len(half)):
        h = half[k]
        u = h * h
        series = T0 + u * (T1 + u * (T2 + u * (T3 + u * (T4 + u * (T5 + u * T6)))))
        half[k] = h + h * u * series
        most = max(most, abs(half[k]))
    return most


@kernel("f8[2] f8[2] f8[1] f8 i8[1] f8[1] f8[1] f8[2]*")
def add_cosine(X, Z, omega, phase, player, nodes, weights, out):  # type: ignore[no-untyped-def]
    r"""Add to `out` (n, p) the Shapley values of ``cos(<omega, x> - phase)``, summed over the rows of Z (m, s).

    Column k of X (n, s) belongs to ``player[k]``; with as many players as columns, to player k. Let :math:`2 h_k`
    be the difference of the angles of player k in a row and a background row, and M the mean of the angles of
    both rows. The value of player j is

    .. math:: -\sin(M - \varphi) \sin h_j \int_{-1}^1 \prod_{k \ne j} (\cos h_k + i s \sin h_k) \, ds.

    The integral is real, so half of the nodes suffice: `nodes` on (0, 1), with `weights` of both halves. Players
    with small h enter the product by power sums of :math:`\tan h_k`, and the quotients by a power series.
    """
    half, large, place = np.empty(out.shape[1]), np.empty(out.shape[1]), np.empty(out.shape[1], dtype=np.int64)
    chunk, product = np.empty(CHUNK), np.empty(len(nodes), dtype=np.complex128)
    sums, series = np.empty(ORDERS + 1), np.empty(ORDERS + 1)
    for i in range(len(X)):
        for b in range(len(Z)):
            mean = half_angles(X[i], Z[b], omega, player, half)
            n_large = 0
            for k in range(len(half)):
                if abs(half[k]) > SMALL:
                    large[n_large], place[n_large], half[k] = half[k], k, 0.0
                    n_large += 1
            most = set_tangents(half)
            orders = 2
            while most**orders > ROUNDING and orders < ORDERS:
                orders += 1
            sums[:], series[:] = 0.0, 0.0
            add_power_sums(half, chunk, sums[: orders + 1])
            multiply_nodes(sums[: orders + 1], large[:n_large], nodes, product)
            for q in range(len(nodes)):
                power, s = weights[q], nodes[q]
                for n in range(0, orders, 2):
                    series[n] += power * product[q].real
                    series[n + 1] += power * s * product[q].imag
                    power *= -s * s
            factor = -np.sin(mean - phase)
            add_series(half, series[:orders], factor, chunk, out[i])
            for k in range(n_large):
                cosine, sine, total = np.cos(large[k]), np.sin(large[k]), 0.0
                for q in range(len(nodes)):
                    total += weights[q] * (product[q] / (cosine + 1j * nodes[q] * sine)).real
                out[i, place[k]] += factor * sine * total


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
    splits = left, right, feature, threshold, missing_left, subset, members
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
                        x_child, z_child = next_node(X[i], node, splits), next_node(Z[b], node, splits)
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
