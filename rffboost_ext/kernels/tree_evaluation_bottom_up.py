"""Bottom-up prediction of small trees: all nodes are evaluated, from the leaves up, for many rows at once.

A comparison at a node selects the leaf of one of its children. These selections need neither branches nor look-ups
and are vectorised, so that a node is much cheaper than a level of a traversal.
"""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INNER, kernel
from .tree_traversal import BLOCK, add_values


@kernel("i4[1] i4[1] i4[1] i8 i4[1]* i4[1]* i4[1]* i4[1]* i4[1]* i4[2]* i4[1]*")
def order_nodes(first, levels, child, most, begin, node, left, right, into, path, needed):  # type: ignore[no-untyped-def]
    """Order the inner nodes of trees so that few intermediate results must be stored at a time.

    Nodes are numbered as by :func:`rffboost_ext.kernels.tree_traversal.number_by_level`. Trees of more than `most`
    inner nodes per level are skipped. Writes the nodes of tree t to ``node[begin[t]:begin[t + 1]]``, none if it is
    skipped; the leaf that is a child, or ``-1 - s`` for the result in slot s, to `left` and `right`; and the slot
    of the node's result to `into`. Returns the number of slots. `path` (levels, 4) and `needed` (nodes,), zeros,
    are buffers.
    """
    count, slots = 0, 1
    for k in range(len(child) - 1, -1, -1):
        if child[k] != k:
            a, b = needed[child[k]], needed[child[k] + 1]
            needed[k] = max(a, b) + (a == b)
    for t in range(len(first)):
        begin[t] = count
        size = (first[t + 1] if t + 1 < len(first) else len(child)) - first[t]
        # A tree of L leaves has L - 1 inner nodes.
        if levels[t] == 0 or size // 2 > most * levels[t]:
            continue
        # The stack: a node, its first slot, the number of finished children, and the slot of the first one.
        top, done = 0, 0
        path[0, 0], path[0, 1], path[0, 2] = first[t], 0, 0
        while top >= 0:
            k, base, stage = path[top, 0], path[top, 1], path[top, 2]
            swap = needed[child[k] + 1] > needed[child[k]]
            # The child that needs more slots is evaluated first.
            big, small = child[k] + swap, child[k] + (not swap)
            down = big if stage == 0 else small
            if stage < 2 and child[down] != down:
                path[top, 2], path[top, 3], top = stage + 1, done, top + 1
                path[top, 0], path[top, 1], path[top, 2] = down, base + 2 * stage, 0
                continue
            slot = done if stage == 1 else path[top, 3]
            a = big if stage == 0 else -1 - slot
            b = -1 - done if stage == 2 else small
            left[count], right[count] = (b, a) if swap else (a, b)
            # Children use one of two slots, the parent the other.
            done = base if stage == 0 else 2 * base + 1 - slot
            node[count], into[count], slots = k, done, max(slots, done + 1)
            count, top = count + 1, top - 1
    begin[len(first)] = count
    return slots


@numba.njit(**INNER)
def select_of_leaves(x, feature, threshold, missing_right, left, right, slots, into):  # type: ignore[no-untyped-def]
    """Select one of two leaves for each row of x (d, B), and write it to a slot."""
    for i in range(slots.shape[1]):
        value, a, b = x[feature, i], left, right
        slots[into, i] = b if (value >= threshold) | (missing_right & (value != value)) else a


@numba.njit(**INNER)
def select_of_slot_and_leaf(x, feature, threshold, missing_right, left, right, slots, into):  # type: ignore[no-untyped-def]
    """As :func:`select_of_leaves`, with a slot on the left and a leaf on the right."""
    for i in range(slots.shape[1]):
        value, a, b = x[feature, i], slots[left, i], right
        slots[into, i] = b if (value >= threshold) | (missing_right & (value != value)) else a


@numba.njit(**INNER)
def select_of_leaf_and_slot(x, feature, threshold, missing_right, left, right, slots, into):  # type: ignore[no-untyped-def]
    """As :func:`select_of_leaves`, with a leaf on the left and a slot on the right."""
    for i in range(slots.shape[1]):
        value, a, b = x[feature, i], left, slots[right, i]
        slots[into, i] = b if (value >= threshold) | (missing_right & (value != value)) else a


@numba.njit(**INNER)
def select_of_slots(x, feature, threshold, missing_right, left, right, slots, into):  # type: ignore[no-untyped-def]
    """As :func:`select_of_leaves`, with two slots."""
    for i in range(slots.shape[1]):
        value, a, b = x[feature, i], slots[left, i], slots[right, i]
        slots[into, i] = b if (value >= threshold) | (missing_right & (value != value)) else a


@numba.njit(**INNER)
def evaluate_nodes(x, nodes, begin, end, slots):  # type: ignore[no-untyped-def]
    """Evaluate nodes begin .. end-1 of a tree on x (d, B) in `slots` (S, B); return the slot of the leaves."""
    feature, threshold, missing_right, left, right, into = nodes
    for k in range(begin, end):
        f, t, missing, a, b, s = feature[k], threshold[k], missing_right[k], left[k], right[k], into[k]
        if a >= 0 and b >= 0:
            select_of_leaves(x, f, t, missing, a, b, slots, s)
        elif b >= 0:
            select_of_slot_and_leaf(x, f, t, missing, -1 - a, b, slots, s)
        elif a >= 0:
            select_of_leaf_and_slot(x, f, t, missing, a, -1 - b, slots, s)
        else:
            select_of_slots(x, f, t, missing, -1 - a, -1 - b, slots, s)
    return into[end - 1]


@numba.njit(**INNER)
def gather_columns(X, used, start, stop, x):  # type: ignore[no-untyped-def]
    """Write the used columns of rows start .. stop-1 of X (n, d) to x (u, B)."""
    for i in range(start, stop):
        for f in range(len(used)):
            x[f, i - start] = X[i, used[f]]


@kernel("T[2] i4[1] i4[1] T[1] b1[1] i4[1] i4[1] i4[1] i4[1] i8 f8[2] i8[1] i8 i8 f8[3]* i8 i8")
def add_trees_bottom_up(  # type: ignore[no-untyped-def]
    X,
    starts,
    feature,
    threshold,
    missing_right,
    left,
    right,
    into,
    used,
    n_slots,
    value,
    place,
    first,
    last,
    out,
    begin,
    end,
):
    """As :func:`rffboost_ext.kernels.tree_traversal.add_trees`, for :attr:`rffboost_ext.terms.Trees.bottom_up`."""
    slots, x = np.zeros((n_slots, BLOCK), dtype=np.int32), np.zeros((len(used), BLOCK), dtype=X.dtype)
    nodes = feature, threshold, missing_right, left, right, into
    for b in range(begin, end):
        start, stop = b * BLOCK, min((b + 1) * BLOCK, len(X))
        gather_columns(X, used, start, stop, x)
        for t in range(first, last):
            slot = evaluate_nodes(x, nodes, starts[t], starts[t + 1], slots)
            add_values(value, slots[slot, : stop - start], out[place[t]], start)
