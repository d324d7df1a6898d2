"""Fitted models as ONNX graphs, for servers without Python.

The operators of a graph are those of ONNX alone; a runtime such as onnxruntime evaluates them.
Everything that has to be written down follows from the program of the kernel
(`mercer.gram.program`), so that a composed kernel is exported like a simple one.
"""

from .onnx_model import to_onnx

__all__ = ["to_onnx"]
