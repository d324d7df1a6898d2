"""Numerical methods that SciPy lacks: Fourier transforms, profile tables, pivoted Cholesky."""
