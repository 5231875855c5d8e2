"""Ranking the rows of queries: a search with folds of queries, NDCG on new queries, and an ONNX file."""

import tempfile
from pathlib import Path

import numpy as np
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostRanker
from rffboost_ext.losses import LambdaRank

# 150 queries of 5 to 20 rows: two features of the query, four of the row, and a relevance from 0 to 3.
rng = np.random.default_rng(0)
qid = np.repeat([f"query {k}" for k in range(150)], rng.integers(5, 21, 150))
query = np.unique(qid, return_inverse=True)[1]
X = np.column_stack([rng.standard_normal((150, 2))[query], rng.standard_normal((len(qid), 4))])
utility = X[:, 0] * X[:, 2] + np.sin(2.0 * X[:, 3]) + (X[:, 4] > 0.5) + 0.5 * rng.standard_normal(len(qid))
relevance = np.digitize(utility, np.quantile(utility, [0.5, 0.8, 0.95]))

# Queries of the test set are in no fold of the search.
train, test = next(GroupShuffleSplit(test_size=0.3, random_state=0).split(X, groups=qid))

# scikit-learn hands `qid` to the fit and the score of the ranker, and `groups` to the folds.
sklearn.set_config(enable_metadata_routing=True)
ranker = (
    RFFBoostRanker(learner="tree", n_estimators=50, random_state=0)
    .set_fit_request(qid=True)
    .set_score_request(qid=True)
)
search = GridSearchCV(ranker, {"loss": [LambdaRank(k=5), "pairwise"]}, cv=GroupKFold(3))
search.fit(X[train], relevance[train], qid=qid[train], groups=qid[train])
for loss, score in zip(search.cv_results_["param_loss"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{loss!s:<16} mean NDCG of the folds {score:.3f}")

# The NDCG of the first five ranks after each round, on queries that early stopping monitors.
model = RFFBoostRanker(**search.best_params_, eval_metric="ndcg@5", random_state=0)
model.fit(X[train], relevance[train], qid=qid[train], eval_set=[(X[test], relevance[test])], eval_qid=[qid[test]])
curve = model.evals_result_["validation_0"]["ndcg@5"]
print(f"NDCG@5 after 1 round {curve[0]:.3f}, after {model.best_iteration_ + 1} rounds {model.best_score_:.3f}")

first = qid[test][0]
rows = test[qid[test] == first]
print(f"{first}, relevance from the first rank on: {relevance[rows][np.argsort(-model.predict(X[rows]))]}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "ranker.onnx")
    save_onnx(model, path)
    verify_onnx(model, path, X[test], raise_on_mismatch=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes, the same scores")
