"""Fitted models in files that run no code when they are read.

>>> import os, tempfile
>>> import mercer
>>> model = mercer.SVC(kernel="linear").fit([[-1.0], [1.0]], [0, 1])
>>> path = os.path.join(tempfile.mkdtemp(), "model.mercer")
>>> mercer.save(model, path)
>>> mercer.load(path).predict([[3.0]])
array([1])
"""

from .container import DamagedFileError
from .model_files import load, save

__all__ = ["DamagedFileError", "load", "save"]
