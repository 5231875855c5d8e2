"""Tests of rffboost_ext.metrics."""
