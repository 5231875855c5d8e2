"""Kernel machines on random Fourier features: ridge regression and reweighted least squares."""
