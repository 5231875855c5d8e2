"""A fit to the table of a Dask cluster, whose workers train the models of the fit, and lazy predictions."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client

from rffboost_ext.dask import DaskRFFBoostClassifier

# Two workers in this process. Client("tcp://...") connects to a cluster.
client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0")

# A table in eight partitions; dd.read_parquet reads one from files.
rng = np.random.default_rng(0)
frame = pd.DataFrame({"distance": rng.gamma(2.0, 2.0, 4_000), "district": rng.choice(["hill", "mill"], 4_000)})
frame["rented"] = (
    np.sin(frame["distance"]) + (frame["district"] == "hill") + 0.3 * rng.standard_normal(4_000) > 0.5
)
table = dd.from_pandas(frame, npartitions=8)
table["district"] = table["district"].astype("category")
train, test = table.partitions[:6], table.partitions[6:]
features = ["distance", "district"]

# Of more than 2,500 rows the fit keeps a weighted sample.
model = DaskRFFBoostClassifier(client=client, max_rows=2_500, n_estimators=50, random_state=0)
model.fit(train[features], train["rented"])
print(f"rows: {model.n_rows_seen_}")
print(f"accuracy: {model.score(test[features], test['rented']):.3f}")

# Predictions have the partitions and the index of the table, and are computed with what follows.
probability = model.predict_proba(test[features])
print(test.assign(probability=probability[True]).groupby("district")["probability"].mean().compute().round(2))

# A plain estimator, for files and for programs without Dask.
print(type(model.local()).__name__, len(model.local().predict(frame[features].head())))
client.close()
