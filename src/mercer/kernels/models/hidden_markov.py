"""Hidden Markov models with discrete emissions, as generative models behind kernels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mercer.objects.callers import warn_caller
from mercer.objects.parameters import (
    EstimatorParameters,
    declared,
    integer,
    real,
    require_choice,
    same,
)

from ..sequences.sequence_kernel import alphabet_of, as_sequences
from .baum_welch import checked_alphabet, starting_tables, train, with_positive_weight
from .forward_backward import (
    Encoded,
    Tables,
    gradients,
    neighbour_counts,
    passes,
    possible_gradients,
)

COORDINATES = ("simplex", "softmax")
TABLES = ("initial", "transition", "emission")


@declared
class HiddenMarkov(EstimatorParameters, BaseEstimator):
    r"""A hidden Markov model of sequences of symbols, trained by EM.

    A path h of hidden states runs through the sequence x and emits its symbols:

    .. math:: P(x) = \sum_h p_{h_1} B_{h_1 x_1} \prod_{t=2}^T A_{h_{t-1} h_t} B_{h_t x_t}

    for sequences of the given length T; the empty sequence has P = 1. Training (Baum and Welch),
    probabilities and scores use scaled forward and backward passes in native code.

    Parameters
    ----------
    n_states : int >= 1, default=2
        Number of hidden states.
    alphabet : sequence of hashable, optional
        The symbols; by default those of the training sequences. Give it when later sequences may
        have others, together with a `pseudocount`.
    initial, transition, emission : arrays, optional
        Where EM starts: p of shape (n_states,), A of shape (n_states, n_states), B of shape
        (n_states, n_symbols). Rows are distributions; entries that are 0 stay 0 (a left-to-right
        model, for example). By default random.
    pseudocount : float >= 0, default=0.0
        Added to every expected count, so that nothing which the start allows gets probability 0.
    max_iter : int >= 0, default=200
        Largest number of EM steps; 0 keeps the start.
    tol : float >= 0, default=1e-6
        EM ends when a step gains at most this much log-likelihood per symbol.
    n_init : int >= 1, default=1
        Number of random starts, of which the best end is kept.
    coordinates : {"simplex", "softmax"}, default="simplex"
        The parameters by which `fisher_scores` differentiates; see there.
    scored : sequence of {"initial", "transition", "emission"}, default=all three
        The tables whose parameters they are.
    random_state : int, RandomState instance or None, default=None
        Seed of the random starts.

    Attributes
    ----------
    initial_, transition_, emission_ : ndarray
        The probabilities.
    alphabet_ : tuple
        The symbols, in the order of the columns of ``emission_``.
    certificate_ : Convergence
        The trace of the objective, which no step lowers, and how stationary the end is.

    Examples
    --------
    >>> from mercer.kernels import HiddenMarkov
    >>> model = HiddenMarkov(n_states=2, random_state=0).fit(["aababb", "abab", "bbaab"])
    >>> model.certificate_.monotone
    True
    >>> model.score_samples(["ab", ""]).shape
    (2,)
    """

    n_states: int = 2
    _: KW_ONLY
    alphabet: Sequence[Hashable] | None = None
    initial: Any = None
    transition: Any = None
    emission: Any = None
    pseudocount: float = 0.0
    max_iter: int = 200
    tol: float = 1e-6
    n_init: int = 1
    coordinates: str = "simplex"
    scored: Sequence[str] = TABLES
    random_state: Any = None

    @classmethod
    def from_probabilities(
        cls, initial: Any, transition: Any, emission: Any, alphabet: Sequence[Hashable]
    ) -> Self:
        """Return a fitted model with known probabilities.

        `initial`: of the first state. `transition`: of the next state, one row per state.
        `emission`: of the symbols, one row per state, in the order of `alphabet`.
        """
        model = cls(
            n_states=len(initial),
            alphabet=alphabet,
            initial=initial,
            transition=transition,
            emission=emission,
        )
        model.alphabet_ = checked_alphabet(alphabet)
        given = (initial, transition, emission)
        model._keep(starting_tables(given, len(initial), np.ones(len(model.alphabet_))))
        return model

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model.

        Parameters
        ----------
        X : list of sequences
            Strings, bytes, lists, tuples or arrays of hashable symbols.
        y : ignored
            For pipelines.
        sample_weight : array of shape (n_samples,), optional
            Weight k counts as k copies, weight 0 as none.

        Returns
        -------
        self : HiddenMarkov
            The fitted model.
        """
        self._check()
        X, weight = with_positive_weight(as_sequences(X, type(self).__name__), sample_weight)
        if not any(len(x) for x in X):
            raise ValueError("all training sequences are empty; HiddenMarkov learns from symbols.")
        alphabet = alphabet_of(X) if self.alphabet is None else self.alphabet
        self.alphabet_ = checked_alphabet(alphabet)
        data = Encoded.of(X, self.alphabet_)
        frequency = np.bincount(
            data.symbols,
            weights=np.repeat(weight, np.diff(data.start)),
            minlength=len(self.alphabet_),
        )
        random = check_random_state(self.random_state)
        given = (self.initial, self.transition, self.emission)
        runs = (
            train(
                starting_tables(given, self.n_states, frequency + self.pseudocount, random),
                data,
                weight,
                pseudocount=float(self.pseudocount),
                max_iter=int(self.max_iter),
                tol=float(self.tol),
            )
            for _ in range(self.n_init)
        )
        tables, convergence = max(runs, key=lambda run: run[1].trace[-1])
        self._keep(tables)
        self.certificate_ = convergence
        if self.certificate_.status == "iteration_limit" and self.max_iter > 0:
            warn_caller(
                f"{self.max_iter} steps of EM did not reach tol={self.tol:g}: the likelihood still "
                "rises. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; discards what was learned with other parameters."""
        super().set_params(**params)
        if params:
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
        return self

    def __eq__(self, other: object) -> bool:
        """Whether two models have the same parameters and learned the same."""
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return mine.keys() == theirs.keys() and all(same(mine[n], theirs[n]) for n in mine)

    def __hash__(self) -> int:
        return hash(type(self))

    # -- what a fitted model says --------------------------------------------------------------

    def score_samples(self, X: Any) -> np.ndarray:
        """Return log P(x) of sequences over the alphabet, minus infinity for impossible ones."""
        check_is_fitted(self)
        return gradients(self._tables(), self._encode(X))[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of sequences over the alphabet; `y` is ignored."""
        return float(self.score_samples(X).mean())

    def fisher_scores(self, X: Any) -> np.ndarray:
        r"""Return the gradients of log P(x) by the parameters of the model.

        The rows of the tables are distributions, so their entries are no free parameters. With
        g = d log P / d theta for an entry theta and a sum over the entries of its row,

        - ``coordinates="simplex"``: :math:`U = g - \sum_j \theta_j g_j`, the derivative by an
          unnormalised entry (T. Jaakkola and D. Haussler, 1999);
        - ``coordinates="softmax"``: :math:`U = \theta (g - \sum_j \theta_j g_j)`, the derivative
          by its logarithm: expected minus predicted number of uses, which stays bounded where
          theta is small.

        Entries that are 0 are no parameters; their score is 0. Under the model the scores have
        mean 0.

        Parameters
        ----------
        X : list of sequences
            Sequences over the alphabet of the model, none of them impossible.

        Returns
        -------
        ndarray of shape (n_samples, n_parameters)
            The tables of `scored` in the order p, A, B, each row by row.
        """
        check_is_fitted(self)
        self._check()
        tables = self._tables()
        g = possible_gradients(tables, self._encode(X))
        blocks = []
        for name, theta, slope in zip(TABLES, tables, tables.split(g), strict=True):
            if name in self.scored:
                mean = (theta * slope).sum(axis=-1, keepdims=True)
                score = np.where(theta > 0, slope - mean, 0.0)
                score = theta * score if self.coordinates == "softmax" else score
                blocks.append(score.reshape(len(g), -1))
        return np.hstack(blocks)

    def expected_counts(self, X: Any, order: int = 1) -> sp.csr_array:
        """Return how often symbols and hidden states are expected to occur together.

        Expectations given each sequence, none of which is impossible, over all hidden paths: a CSR
        array of shape (n_samples, (n_states * n_symbols) ** order). `order` 1: pairs (state,
        symbol) at one time; 2: such pairs at two neighbouring times.
        """
        check_is_fitted(self)
        data = self._encode(X)
        if integer(order, "order", minimum=1) > 2:
            raise ValueError(f"order must be 1 or 2; got {order}.")
        tables = self._tables()
        if order == 1:
            g = possible_gradients(tables, data)
            return sp.csr_array((tables.emission * tables.split(g).emission).reshape(len(g), -1))
        return sp.vstack([neighbour_counts(tables, data, s) for s in range(data.n)], format="csr")

    def posterior(self, x: Any) -> np.ndarray:
        """Return P(h_t = j | x), the probabilities of the hidden states j along one sequence.

        An array of shape (len(x), n_states).
        """
        check_is_fitted(self)
        forward, backward, _ = passes(self._tables(), self._encode([x]), 0)
        return forward * backward

    def sample(self, lengths: Any, random_state: Any = None) -> list[Any]:
        """Return random sequences of these lengths.

        Strings if all symbols are single characters, else lists of symbols.
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        k, symbols = self.emission_.shape
        text = all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self.alphabet_)
        sequences: list[Any] = []
        for length in lengths:
            drawn, weights = [], self.initial_
            for _ in range(integer(length, "lengths", minimum=0)):
                state = random.choice(k, p=weights)
                drawn.append(self.alphabet_[random.choice(symbols, p=self.emission_[state])])
                weights = self.transition_[state]
            sequences.append("".join(drawn) if text else drawn)
        return sequences

    # -- machinery -----------------------------------------------------------------------------

    def _check(self) -> None:
        integer(self.n_states, "n_states", minimum=1)
        integer(self.max_iter, "max_iter", minimum=0)
        integer(self.n_init, "n_init", minimum=1)
        real(self.pseudocount, "pseudocount", minimum=0)
        real(self.tol, "tol", minimum=0)
        require_choice(self.coordinates, "coordinates", COORDINATES)
        try:
            check_random_state(self.random_state)
        except ValueError:
            raise ValueError(
                "random_state must be None, an integer >= 0 or a RandomState; "
                f"got {self.random_state!r}."
            ) from None
        some = () if isinstance(self.scored, str) else self.scored
        if not (isinstance(some, Sequence) and some and set(some) <= set(TABLES)):
            raise ValueError(
                f"scored must name some of {', '.join(map(repr, TABLES))}; got {self.scored!r}."
            )

    def _keep(self, tables: Tables) -> None:
        self.initial_, self.transition_, self.emission_ = tables

    def _tables(self) -> Tables:
        return Tables(self.initial_, self.transition_, self.emission_)

    def _encode(self, X: Any) -> Encoded:
        return Encoded.of(as_sequences(X, type(self).__name__), self.alphabet_)
