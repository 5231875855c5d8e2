"""The methods, tables and figures of three papers on random Fourier features.

``python -m benchmarks.papers`` measures a table or a figure beside its published values. The systems of the papers
are the presets of the package and :mod:`benchmarks.papers.baselines`.
"""
