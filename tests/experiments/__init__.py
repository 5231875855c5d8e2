"""Tests of comparisons, their command and the presets."""
