"""Plain NumPy and SciPy versions of published algorithms, which share no code with the package."""
