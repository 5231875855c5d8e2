"""Tests of rffboost_ext.estimators."""
