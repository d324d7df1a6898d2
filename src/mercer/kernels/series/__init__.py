"""Kernels on time series: delay embedding and global alignment."""

from .delay import Delayed, DelayEmbedding
from .global_alignment import GlobalAlignment

__all__ = ["DelayEmbedding", "Delayed", "GlobalAlignment"]
