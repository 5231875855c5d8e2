"""Random Fourier features: cosines around a landmark, and second-order cosines."""
