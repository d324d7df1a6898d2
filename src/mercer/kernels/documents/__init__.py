"""Kernels on documents: bags of words with tf-idf weights."""

from .tfidf import TfIdf, mutual_information

__all__ = ["TfIdf", "mutual_information"]
