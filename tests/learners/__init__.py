"""Tests of rffboost_ext.learners."""
