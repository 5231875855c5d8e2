"""Tests of rffboost_ext.persistence."""
