"""A DataFrame with categories and missing values, from the fit to ONNX Runtime, without any encoding by hand."""

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.model_selection import train_test_split

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier

# Rents depend on the district, the distance and the storey; some cells are empty.
rng = np.random.default_rng(0)
n = 1_500
district, storey = rng.choice(["harbour", "hill", "mill", "old town", "park"], n), rng.integers(0, 6, n)
distance = rng.gamma(2.0, 2.0, n)
worth = np.array([0.4, 1.5, -1.0, 1.0, 0.2])[np.unique(district, return_inverse=True)[1]]
dear = worth + np.sin(distance) + 0.2 * storey + 0.3 * rng.standard_normal(n) > 1.0
homes = pd.DataFrame({"district": district, "distance": distance, "storey": storey})
homes["district"] = homes["district"].mask(rng.random(n) < 0.1).astype("category")
homes["distance"] = homes["distance"].mask(rng.random(n) < 0.2)
train, test, y_train, y_test = train_test_split(homes, dear, random_state=0)

# Columns of a categorical type are categories. Trees and cosines both use them, and missing values.
clf = RFFBoostClassifier(early_stopping=False, n_estimators=150, random_state=0).fit(train, y_train)
print(f"accuracy: {clf.score(test, y_test):.3f}")
for name, share in zip(homes.columns, clf.feature_importances_, strict=True):
    print(f"  {name:<9} {share:.0%} of the explained variance")

# An unknown category counts as missing. So may any value, also in a column that was complete in fit.
print("unknown district:", clf.predict_proba(test[:1].assign(district="moon")).round(3))
try:
    clf.predict(test.assign(storey=np.nan))
except ValueError as error:
    print(error)

# One graph: each column is an input, text stays text, and NaN is a missing value.
model = to_onnx(clf)
print(verify_onnx(clf, model, test, raise_on_mismatch=True))
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
row = {
    "district": np.array([["hill"]], dtype=object),
    "distance": np.array([[np.nan]], dtype=np.float32),
    "storey": np.array([[3.0]], dtype=np.float32),
}
print("ONNX Runtime:", session.run(["probabilities"], row)[0].round(3))
print("equal labels:", bool((OnnxPredictor(model).predict(test) == clf.predict(test)).all()))
