"""A fit on parquet files that are never in memory as a whole, predictions for them, and one ONNX file."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostRegressor, sources

folder = tempfile.TemporaryDirectory()
rows = Path(folder.name)

# Twelve files of 1,000 rents, with row groups of 500 rows.
rng = np.random.default_rng(0)
for month in range(12):
    district, distance = rng.choice(["harbour", "hill", "mill"], 1_000), rng.gamma(2.0, 2.0, 1_000)
    rent = np.sin(distance) + (district == "hill") + 0.3 * rng.standard_normal(1_000)
    columns = {"district": pa.array(district).dictionary_encode(), "distance": distance, "rent": rent}
    pq.write_table(pa.table(columns), rows / f"{month:02d}.parquet", row_group_size=500)

# The last two files are held out. At most 5,000 rows are in memory at a time.
files = sorted(rows.glob("*.parquet"))
train = sources.parquet(files[:10], target="rent", max_rows=5_000)
model = RFFBoostRegressor(n_estimators=100, random_state=0).fit(train)
print(f"rows: {model.n_rows_seen_}")

test = sources.parquet(files[10:], target="rent")
print(f"R2: {sources.score(model, test):.3f}")
print(f"mean prediction: {np.mean([part.mean() for part in sources.predict(model, test)]):.3f}")

# The fitted model is an ordinary estimator.
table = pq.read_table(files[-1], columns=["district", "distance"])
onnx = save_onnx(model, rows / "model.onnx")
print(verify_onnx(model, onnx, table, raise_on_mismatch=True))
folder.cleanup()
