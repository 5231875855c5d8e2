"""Distributions: losses whose scores are the parameters of a distribution of the target."""
