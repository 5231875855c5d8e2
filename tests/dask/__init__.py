"""Tests of rffboost_ext.dask."""
