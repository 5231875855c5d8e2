"""Predictions inside a database: an exported file as a function of SQL in DuckDB.

The function needs ONNX Runtime and the file, not this package. It gets batches of Arrow columns. In Dask it would
be applied by ``table.map_partitions``, in Spark as a pandas UDF.
"""

import tempfile
from pathlib import Path

import duckdb
import numpy as np
import onnxruntime
import pandas as pd
import pyarrow as pa

from onnx_export import save_onnx
from rffboost_ext import RFFBoostRegressor

# Where the model is made: rents by district, area and distance.
folder, rng, n = Path(tempfile.mkdtemp()), np.random.default_rng(0), 4_000
homes = pd.DataFrame({"district": rng.choice(["harbour", "hill", "mill"], n)}, dtype="category")
homes = homes.assign(area=rng.gamma(9.0, 9.0, n), distance=rng.gamma(2.0, 2.0, n))
rent = 9.0 * homes["area"] * (1.2 - 0.2 * np.tanh(homes["distance"])) + 200.0 * (homes["district"] == "hill")
model = RFFBoostRegressor(quality="fast", random_state=0).fit(homes[:2_000], rent[:2_000])
save_onnx(model, folder / "rent.onnx")
new = homes[2_000:]
new.to_csv(folder / "homes.csv", index=False)

# Where it is used. Each column is an input of the graph, text as text.
session = onnxruntime.InferenceSession(folder / "rent.onnx", providers=["CPUExecutionProvider"])


def predicted_rent(district, area, distance):
    """The predictions of a batch of rows, from Arrow columns."""
    columns = {"district": np.array(district.to_pylist(), dtype=object)}
    columns |= {"area": area.to_numpy().astype("f4"), "distance": distance.to_numpy().astype("f4")}
    (rent,) = session.run(None, {name: column[:, None] for name, column in columns.items()})
    return pa.array(rent.ravel())


database = duckdb.connect()
database.create_function("predicted_rent", predicted_rent, ["VARCHAR", "DOUBLE", "DOUBLE"], "FLOAT", type="arrow")
query = f"""
    SELECT district, count(*), avg(predicted_rent(district, area, distance)) AS rent
    FROM '{folder}/homes.csv' GROUP BY district ORDER BY district
"""
for district, number, mean in database.sql(query).fetchall():
    in_python = model.predict(new[new["district"] == district]).mean()
    print(f"{district:<8} {number:>4} homes, mean rent {mean:.2f}, in Python {in_python:.2f}")
