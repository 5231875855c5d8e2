"""Tests of rffboost_ext.experiments, its command and the presets."""
