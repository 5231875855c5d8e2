"""Tables in CSV files."""

from __future__ import annotations

import warnings
import zlib
from pathlib import Path
from typing import Any


def read_csv(path: Path) -> Any:
    """A CSV file as a pandas data frame, with a name of its own for each column, or a ValueError."""
    import pandas as pd

    try:
        header = pd.read_csv(path, header=None, nrows=1, dtype=str).iloc[0].dropna()
        with warnings.catch_warnings():
            # Without a name for each cell pandas warns, or else takes the first cells for row labels.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(path, index_col=False)
    except pd.errors.ParserWarning as error:
        raise ValueError(
            f"{str(path)!r} has {len(header)} names in its header and more cells in each row"
        ) from error
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{str(path)!r} cannot be read as CSV: {str(error).strip().splitlines()[0]}") from error
    # Pandas would rename the second of two columns with the same name.
    if header.duplicated().any():
        raise ValueError(f"{str(path)!r} has more than one column {header[header.duplicated()].iloc[0]!r}")
    return frame
