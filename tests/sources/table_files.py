"""A table with gaps and categories, and its files."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

N = 300
rng = np.random.default_rng(0)
LETTERS = np.array(list("bad"), dtype=object)


def gaps(values, every):
    """Values with every so many missing."""
    return [None if row % every == 0 else value for row, value in enumerate(values)]


number, whole = rng.standard_normal(N), rng.integers(0, 40, N)
# The first rows lack categories of later ones.
letter = np.concatenate([LETTERS[rng.integers(0, 2, N // 2)], LETTERS[rng.integers(0, 3, N - N // 2)]])
TABLE = pa.table(
    {
        "y": number + (letter == "a"),
        "number": gaps(number.tolist(), 9),
        "whole": gaps(whole.tolist(), 7),
        "truth": (whole > 20),
        "w": rng.uniform(0.5, 2.0, N),
        "letter": pa.array(gaps(letter.tolist(), 11)).dictionary_encode(),
        "label": np.where(number > 0, "up", "down"),
    }
)
FEATURES = ["number", "whole", "truth", "letter"]
ROLES = {"target": "y", "weight": "w", "columns": FEATURES}


def with_own_dictionary(table):
    """A table whose categorical column has the categories of its rows alone, in another order."""
    own = pa.array(table["letter"].to_pylist()[::-1], pa.string()).dictionary_encode()
    codes = own.indices[::-1]
    column = pa.DictionaryArray.from_arrays(codes.cast(pa.int8()), own.dictionary)
    return table.set_column(table.column_names.index("letter"), "letter", column)


def write_parquet(folder, cuts, group=10**6):
    """Files of the rows between cuts."""
    paths = []
    for index, (start, stop) in enumerate(zip([0, *cuts], [*cuts, N], strict=True)):
        paths.append(folder / f"{index:04d}.parquet")
        pq.write_table(with_own_dictionary(TABLE.slice(start, stop - start)), paths[-1], row_group_size=group)
    return paths
