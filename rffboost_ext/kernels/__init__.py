"""Compiled inner loops: arrays in, arrays out. Numba is imported with the first of them, not before."""
