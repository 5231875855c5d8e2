"""Files that the workers of a Ray cluster or of Spark read: the model is the one without a cluster, bit by bit.

A cluster has to provide one method, ``Source.reduce``: a map over parts, and merges of the results two by two.

    python examples/14_ray_and_spark.py            # pip install ray
    python examples/14_ray_and_spark.py spark      # pip install pyspark, and Java
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from rffboost_ext import RFFBoostRegressor, sources


class Elsewhere(sources.Source):
    """The rows of another source. All workers need its files at the same paths, and this package."""

    def __init__(self, rows):
        super().__init__(rows.max_rows)
        self.rows, self.n_rows = rows, rows.n_rows

    def parts(self):
        return self.rows.parts()


class OnRay(Elsewhere):
    """Rows that are read by the workers of a Ray cluster."""

    def reduce(self, read, merge, features=True):
        # Arguments that are futures arrive as their results.
        call = ray.remote(lambda function, *arguments: function(*arguments))
        results = [call.remote(read, part) for part in self.parts()]
        while len(results) > 1:
            pairs = zip(results[::2], results[1::2], strict=False)
            results = [call.remote(merge, *pair) for pair in pairs] + results[len(results) // 2 * 2 :]
        return ray.get(results[0])


class OnSpark(Elsewhere):
    """Rows that are read by the executors of Spark."""

    def reduce(self, read, merge, features=True):
        parts = self.parts()
        return SparkContext.getOrCreate().parallelize(parts, len(parts)).map(read).treeReduce(merge)


# Files of 60 MB, as another program might have written them.
folder, rng, n = Path(tempfile.mkdtemp()), np.random.default_rng(0), 2_500_000
X = rng.standard_normal((n, 4), dtype=np.float32)
y = np.sin(2.0 * X[:, 0]) + X[:, 1] * (X[:, 2] > 0.0) + 0.1 * rng.standard_normal(n)
np.save(folder / "X.npy", X)
np.save(folder / "y.npy", y)

# A fit keeps a sample of bounded size. Which rows these are depends on their numbers, not on who reads them.
rows = sources.arrays(folder / "X.npy", folder / "y.npy", max_rows=20_000)
if "spark" in sys.argv[1:]:
    from pyspark import SparkContext

    with SparkContext("local[2]"):
        model = RFFBoostRegressor(random_state=0).fit(OnSpark(rows))
else:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="warning")
    model = RFFBoostRegressor(random_state=0).fit(OnRay(rows))
    ray.shutdown()
print(f"{model.n_rows_seen_:,} rows in {len(rows.parts())} parts, R2 {model.score(X[:10_000], y[:10_000]):.2f}")

alone = RFFBoostRegressor(random_state=0).fit(rows)
print("the same model without a cluster:", bool((model.predict(X[:1_000]) == alone.predict(X[:1_000])).all()))
