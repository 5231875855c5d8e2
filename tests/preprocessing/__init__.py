"""Tests of rffboost_ext.preprocessing."""
