"""Tests of rffboost_ext.interop."""
