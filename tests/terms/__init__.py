"""Tests of rffboost_ext.terms."""
