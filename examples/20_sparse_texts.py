"""Texts as a sparse matrix: a pipeline with TfidfVectorizer, a search over it, and an ONNX file of texts."""

import numpy as np
import onnxruntime
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier

# Reviews of three aspects of a hotel; "not" reverses the tone of a word.
rng = np.random.default_rng(0)
aspects = np.array(["room", "bar", "view", "lift", "bed", "staff", "breakfast", "garden", "pool"])
tones = np.array(["bad", "loud", "slow", "dirty", "good", "great", "calm", "clean"])
texts, liked = [], []
for _ in range(600):
    tone, is_reversed = rng.integers(0, len(tones), 3), rng.random(3) < 0.4
    said = np.where(is_reversed, "not ", "").astype(object) + tones[tone]
    texts.append(
        " and ".join(f"the {aspect} was {word}" for aspect, word in zip(rng.choice(aspects, 3), said, strict=True))
    )
    liked.append(((tone >= 4) != is_reversed).sum() + rng.logistic(0.0, 0.15) > 1.5)
train, test, y_train, y_test = train_test_split(texts, np.array(liked), random_state=0)

# The vectorizer hands in a sparse matrix, whose absent entries are 0. A search sets its parameters too.
boosted = make_pipeline(TfidfVectorizer(sublinear_tf=True), RFFBoostClassifier(quality="fast", random_state=0))
search = GridSearchCV(boosted, {"tfidfvectorizer__ngram_range": [(1, 1), (1, 2)]}, cv=2, scoring="neg_log_loss")
linear = make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LogisticRegression())
for name, model in (("RFFBoost", search), ("logistic regression", linear)):
    model.fit(train, y_train)
    loss = log_loss(y_test, model.predict_proba(test))
    print(f"{name:<20} accuracy {np.mean(model.predict(test) == y_test):.3f}, log loss {loss:.3f}")
print("chosen:", search.best_params_)

# The input of the file is text; vectorizer and model are one graph.
model = to_onnx(search)
print(verify_onnx(search, model, test, raise_on_mismatch=True))
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
rows = np.array([["the room was not bad and the bed was clean"], ["the lift was slow and the bar was not good"]])
print("ONNX Runtime:", session.run(["probabilities"], {"text": rows.astype(object)})[0].round(3))
print("equal labels:", bool((OnnxPredictor(model).predict(test) == search.predict(test)).all()))
