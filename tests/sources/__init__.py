"""Tests of rffboost_ext.sources."""
