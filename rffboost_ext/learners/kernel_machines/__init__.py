"""Kernel machines on random Fourier features: ridge regression and iteratively reweighted least squares."""
