"""Frequencies in the span of the training rows, for tables with many more columns than rows."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...terms.projection import Projection
from ...utils.typing import Array

# Directions in which the rows have less than this share of the largest variance are left out.
MIN_VARIANCE = 1e-8


def row_space(round: Round, rows: Array, scale: Array, n_frequencies: int) -> Projection | None:
    r"""Coordinates of the span of some rows, if frequencies in it take less memory than in all columns, else None.

    With B an orthonormal basis of the span of the m scaled rows, a normal draw of d components is
    :math:`B^T u + v`, where u is a normal draw of at most m components, and v is orthogonal to all rows. Only u
    changes the cosines of these rows. For other rows v would only add noise, so it is left out.

    Parameters
    ----------
    round : Round
    rows : ndarray of shape (m,)
        The rows that are fitted.
    scale : ndarray of shape (d,)
        Factors on the standardised features.
    n_frequencies : int
        Number of frequencies, K.
    """
    d, m = round.design.n_features, len(rows)
    if m * (d + n_frequencies) >= n_frequencies * d:
        return None
    X = scale * round.design.X[rows]
    variance, vectors = np.linalg.eigh(X @ X.T)
    if variance[-1] <= 0.0:
        # All columns are constant.
        return None
    used = variance > MIN_VARIANCE * variance[-1]
    basis = (vectors[:, used] / np.sqrt(variance[used])).T @ X
    return Projection((scale * basis).astype(round.design.tiles.dtype))
