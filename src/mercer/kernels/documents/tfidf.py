"""Documents as bags of words with tf-idf weights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from mercer.gram.mapped_objects import Views
from mercer.gram.program import Builder
from mercer.objects.parameters import (
    integer_from,
    one_of,
    optional,
    parameter,
    positive,
    require_choice,
    show,
    truth,
)
from mercer.objects.rows import squared_norms
from mercer.objects.validation import Objects, as_items, as_vectors, is_missing
from mercer.objects.vocabulary import Columns, Names, Vocabulary

from ..base import Kernel
from ..brief import Brief
from ..definiteness import PSD
from .bags import DOCUMENTS, Bags, TermsOf

FREQUENCIES = ("count", "log", "binary")
RULES = ("log", "smooth", "none")


class TfIdf(Kernel):
    r"""The cosine of two documents as vectors of weighted words.

    .. math:: k(x, z) = \phi(x) \cdot \phi(z), \quad
        \phi_i(x) = \frac{\mathrm{tf}_i(x) \, \mathrm{idf}_i}{\kappa(x)}

    tf counts the term i in the document, idf is large for terms that few documents contain, and
    :math:`\kappa` gives every document length 1, except one whose terms all weigh 0, which has the
    value 0 with every other. The order of the words is lost. Positive semidefinite: a dot product.

    The vocabulary and idf are learned by `bind`, from the training documents only; terms that
    they do not contain are ignored later.

    Parameters
    ----------
    tf : {"count", "log", "binary"}, default="count"
        The number of occurrences n; 1 + log(n); or 1, for every term that occurs.
    idf : {"log", "smooth", "none"} or array of shape (n_terms,), default="log"
        With N documents of which n contain the term: log(N / n), which is 0 for a term that all
        contain; log((1 + N) / (1 + n)) + 1, scikit-learn's form; or 1. Documents count with their
        weights. An array holds the numbers themselves.
    normalize : bool, default=True
        Whether to divide by :math:`\kappa`.
    analyzer : callable or vectoriser, optional
        How a document becomes terms: a function from a document to a list of terms, or an object
        with `build_analyzer`, such as scikit-learn's CountVectorizer; pieces of 2 to 4 letters are
        ``CountVectorizer(analyzer="char", ngram_range=(2, 4))``. By default the words of two or
        more letters or digits of a string, in lower case, and the items of a list of tokens.
    stop_words : "english" or collection of str, optional
        Terms that are dropped, before they are stemmed.
    stemmer : callable, optional
        Maps a term to its stem, such as ``PorterStemmer().stem`` of a language toolkit.
    min_df : float > 0, default=1
        Terms that fewer documents contain are dropped. Documents count with their weights. Below 1
        it is a share of the documents.
    max_features : int >= 1, optional
        Keep this many terms only, those that most documents contain.
    vocabulary : sequence of str, optional
        The terms; by default those of the documents.

    Notes
    -----
    Use it for topics of texts: news, mails, abstracts, from a hundred documents to millions. It is
    the usual first try on text, and a value costs the words that two documents share. Drop stop
    words, and take idf="smooth" if words that all documents have should count. Avoid it where the
    order of words, spelling or meaning matters: Spectrum on letters sees spelling, and synonyms
    have nothing in common here.

    The documents are strings, lists of tokens or mappings from terms to counts. They may also be
    rows of counts, dense or sparse, as a vectoriser of scikit-learn makes them; then there is
    nothing to analyse, and the columns are the terms.

    Examples
    --------
    >>> from mercer.kernels import TfIdf
    >>> news = ["wheat and corn prices", "corn harvest and wheat", "ship and harbour"]
    >>> TfIdf(stop_words="english")(news).round(3)
    array([[1.   , 0.214, 0.   ],
           [0.214, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    tf: str = parameter(one_of(*FREQUENCIES), default="count")
    idf: Any = "log"
    normalize: bool = parameter(truth, default=True)
    analyzer: Any = None
    stop_words: str | Collection[str] | None = None
    stemmer: Callable[[str], str] | None = None
    min_df: float = parameter(positive, default=1)
    max_features: int | None = parameter(optional(integer_from(1)), default=None)
    vocabulary: Sequence[str] | None = None

    _objects: ClassVar[Objects] = DOCUMENTS

    _fixed: ClassVar[tuple[str, ...]] = ("idf", "min_df")
    definiteness = PSD  # a dot product

    def _check(self) -> None:
        if isinstance(self.idf, str):
            require_choice(self.idf, "idf", RULES)
        else:
            self._check_idf()
        if self.analyzer is not None and not (
            callable(self.analyzer) or hasattr(self.analyzer, "build_analyzer")
        ):
            raise TypeError(
                "analyzer must be a function from a document to a list of terms, or a vectoriser "
                f"with build_analyzer(); got {show(self.analyzer)}. For letters and for n-grams "
                'pass CountVectorizer(analyzer="char", ngram_range=(2, 4)) of scikit-learn.'
            )
        if self.stemmer is not None and not callable(self.stemmer):
            raise TypeError(f"stemmer must be a function; got {self.stemmer!r}.")
        if isinstance(self.stop_words, str) and self.stop_words != "english":
            raise ValueError(
                f"stop_words must be 'english' or a collection of words; got {self.stop_words!r}."
            )
        if self.vocabulary is not None and len(set(self.vocabulary)) < len(self.vocabulary):
            raise ValueError("vocabulary must list every term once.")

    def _check_idf(self) -> None:
        idf = np.asarray(self.idf)
        if idf.ndim != 1 or idf.dtype.kind not in "iuf" or not np.isfinite(idf).all():
            raise ValueError("idf must be a rule or one finite number for every term.")
        if self.vocabulary is not None and len(self.vocabulary) != len(idf):
            raise ValueError(
                f"idf has {len(idf)} numbers for a vocabulary of {len(self.vocabulary)} terms."
            )

    @property
    def is_bound(self) -> bool:
        """Whether idf is known."""
        return not isinstance(self.idf, str)

    def _bound(self, views: Views, weight: np.ndarray | None, names: Any) -> Self:
        self._check_all()
        if self.is_bound:
            return self.replace()
        terms = self.vocabulary
        bags = views.over(self.validate(views.X)).images(self._map)
        if isinstance(bags, Bags):
            if terms is None:
                terms = bags.met()
            counts = bags.over(_columns(terms))
        else:
            counts = sp.csr_array(bags)
        total = float(counts.shape[0] if weight is None else np.sum(weight))
        containing = _document_frequency(counts, weight)
        kept = self._kept(containing, float(self.min_df) * (total if self.min_df < 1 else 1.0))
        idf = np.zeros(len(containing))
        idf[kept] = _idf(self.idf, total, containing[kept])
        if terms is not None:
            idf, terms = idf[kept], [terms[i] for i in kept]
        return self.replace(idf=idf, vocabulary=terms)

    def _kept(self, containing: np.ndarray, fewest: float) -> np.ndarray:
        """Return the positions of the terms that enough documents contain."""
        # A sum of weights, and a share of it, are rounded.
        kept = np.flatnonzero((containing >= fewest * (1 - 1e-12)) & (containing > 0))
        if self.max_features is not None:
            # Most frequent first; of equally frequent ones the first in the vocabulary.
            kept = np.sort(kept[np.argsort(-containing[kept], kind="stable")[: self.max_features]])
        if not kept.size:
            raise ValueError(
                f"TfIdf found no term that {fewest:g} documents contain: they are empty, hold "
                "stop words or one-letter words only (which the default analyzer leaves out), or "
                "min_df is too large."
            )
        return kept

    # -- values --------------------------------------------------------------------------------

    def validate(self, X: Any, against: Any = None) -> Any:
        """Return `X` if it is a list of documents or a matrix of counts."""
        owner = type(self).__name__
        if sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"):
            X = as_vectors(X, owner)
            values = X.data if sp.issparse(X) else X
            if values.size and values.min() < 0:
                raise ValueError(f"{owner} needs counts of at least 0; got {values.min():g}.")
            self._check_columns(X.shape[1])
            return X
        X = as_items(X, owner, "documents")
        if self.is_bound and self.vocabulary is None:
            raise TypeError(
                f"{owner} was bound to rows of counts and cannot read documents; pass rows of "
                "counts, or bind it to documents."
            )
        for i, x in enumerate(X):
            if not isinstance(x, str | Mapping | Sequence) or isinstance(x, bytes):
                raise TypeError(
                    f"{owner} is defined on documents (str, list of tokens, mapping to counts); "
                    f"object {i} is of type {type(x).__name__}."
                    + (' It is missing: fill it in with fillna("").' if is_missing(x) else "")
                )
        return X

    def _check_columns(self, n_columns: int) -> None:
        if self.is_bound and len(self.idf) != n_columns:
            raise ValueError(
                f"X has {n_columns} columns of counts, but TfIdf has {len(self.idf)} terms."
            )

    def compile(self, builder: Builder) -> None:
        self.require_bound("on documents")
        with builder.through(self._map):
            builder.mapped(self, "dot")

    def map_objects(self, X: Any, vocabulary: Vocabulary) -> sp.csr_array:
        bags = X if isinstance(X, Bags) else self._map(X)
        if isinstance(bags, Bags):
            # The dictionary of the terms is made once for the reference objects.
            columns = vocabulary.memory.get("columns")
            if columns is None:
                columns = vocabulary.memory["columns"] = _columns(self.vocabulary or ())
            counts = bags.over(columns)
        else:
            counts = sp.csr_array(bags, dtype=np.float64)
        return _weighted(counts, self.tf, np.asarray(self.idf, dtype=np.float64), self.normalize)

    def counts(self, views: Views) -> sp.csr_array:
        """Return how often each document has every term of the vocabulary, in few bytes."""
        bags: Bags = views.images(self._map)
        found = bags.over(_columns(self.vocabulary or ()))
        brief = found.data.astype(np.float32)
        few = max(found.nnz, found.shape[1]) <= np.iinfo(np.int32).max
        index = np.int32 if few else np.int64
        return sp.csr_array(
            (
                brief if np.array_equal(brief, found.data) else found.data,
                found.indices.astype(index),
                found.indptr.astype(index),
            ),
            shape=found.shape,
        )

    def feature_map(self, X: Any) -> sp.csr_array:
        """Return the weighted terms, one column for each; see :meth:`Kernel.feature_map`."""
        self.require_bound("as explicit features")
        return self.map_objects(self.validate(X), Vocabulary())

    def feature_names(self, columns: Columns, vocabulary: Vocabulary) -> Names:
        return None if self.vocabulary is None else [str(term) for term in self.vocabulary]

    @property
    def _map(self) -> TermsOf:
        """The analysis of single documents, which does not depend on the weights."""
        return TermsOf(self.analyzer, self.stop_words, self.stemmer)

    def __repr__(self) -> str:
        short = {
            name: Brief(f"<{len(value)} {what}>")
            for name, value, what in (
                ("idf", self.idf, "numbers"),
                ("vocabulary", self.vocabulary, "terms"),
            )
            if value is not None and not isinstance(value, str)
        }
        return super(TfIdf, self.replace(**short)).__repr__()


def mutual_information(counts: Any, y: Any) -> np.ndarray:
    r"""Return how much the presence of each term says about the label, in nats.

    .. math:: I_i = \sum_{t \in \{0, 1\}} \sum_c P(t, c) \log \frac{P(t, c)}{P(t) P(c)}

    with t whether a document contains the term i and c its label, as relative frequencies. It
    ranks terms for a dictionary, as the score of ``SelectKBest(mutual_information, k=1000)``.

    Parameters
    ----------
    counts : array or sparse matrix of shape (n_documents, n_terms)
        Counts of the terms.
    y : array of shape (n_documents,)
        The labels.

    Returns
    -------
    ndarray of shape (n_terms,)
        The mutual informations, 0 where term and label are independent.

    Examples
    --------
    >>> from mercer.kernels import mutual_information
    >>> mutual_information([[1, 0, 2], [3, 1, 0], [0, 1, 0], [0, 0, 1]], [1, 1, 0, 0]).round(6)
    array([0.693147, 0.      , 0.      ])
    """
    counts = sp.csr_array(counts)
    labels, code = np.unique(np.asarray(y), return_inverse=True)
    n = len(code)
    if counts.shape[0] != n:
        raise ValueError(f"counts have {counts.shape[0]} documents, but y has {n} labels.")
    share = np.bincount(code) / n
    contains = np.array([_document_frequency(counts, code == c) for c in range(len(labels))]) / n
    joint = np.stack([contains, share[:, None] - contains])
    independent = joint.sum(axis=1, keepdims=True) * share[:, None]
    ratio = np.divide(joint, independent, out=np.ones_like(joint), where=joint > 0)
    return np.maximum((joint * np.log(ratio)).sum(axis=(0, 1)), 0.0)


def _columns(terms: Sequence[Any]) -> dict[Any, int]:
    """Return the column of every term."""
    return {term: column for column, term in enumerate(terms)}


def _document_frequency(counts: sp.csr_array, weight: np.ndarray | None) -> np.ndarray:
    """Return the (weighted) number of documents that contain each term."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    each = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=float)[rows]
    return np.bincount(counts.indices, weights=each * (counts.data > 0), minlength=counts.shape[1])


def _idf(rule: str, total: float, containing: np.ndarray) -> np.ndarray:
    if rule == "none":
        return np.ones(len(containing))
    if rule == "smooth":
        return np.log((1.0 + total) / (1.0 + containing)) + 1.0
    # A term of the given vocabulary that no document contains tells nothing.
    return np.log(np.divide(total, containing, out=np.ones(len(containing)), where=containing > 0))


def _weighted(counts: sp.csr_array, tf: str, idf: np.ndarray, normalize: bool) -> sp.csr_array:
    """Return counts times idf, with rows of length 1 or 0."""
    features = counts.copy()
    if tf == "binary":
        features.data = (features.data > 0).astype(np.float64)
    elif tf == "log":
        positive = features.data > 0
        features.data[positive] = 1.0 + np.log(features.data[positive])
    features.data *= idf[features.indices]
    features.eliminate_zeros()
    if normalize:
        norms = np.sqrt(squared_norms(features))
        features.data /= np.repeat(norms, np.diff(features.indptr))
    return features
