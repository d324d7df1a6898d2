"""The report on generalisation, a method of every machine with a certificate."""

from __future__ import annotations

from typing import Any

from mercer.capacity import GeneralizationReport, generalization_report


class Reported:
    """Mixin: `generalization_report`."""

    def generalization_report(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        delta: float = 0.05,
        holdout: tuple[Any, Any] | None = None,
        theta: float | None = None,
        tuned: bool | None = None,
        time_limit: float | None = 10.0,
        **fit_params: Any,
    ) -> GeneralizationReport:
        """Return every bound and estimate of the error on new data that applies to this machine.

        Parameters
        ----------
        X, y, sample_weight : array-like
            What ``fit`` was called with.
        delta : float, default=0.05
            Probability with which each guarantee may fail.
        holdout : tuple (X, y), default=None
            Rows that played no part in choosing or training the machine.
        theta : float, default=None
            For regression: a residual larger than this counts as an error.
        tuned : bool, default=None
            Whether kernel and parameters were chosen with the help of these rows, which voids all
            guarantees but that of the hold-out; None: not known.
        time_limit : float or None, default=10.0
            Seconds for the exact leave-one-out error.
        **fit_params
            Further arguments of ``fit``, such as `sample_epsilon`.

        Returns
        -------
        GeneralizationReport
            Prints as a table; see :func:`mercer.capacity.generalization_report`.
        """
        return generalization_report(
            self,
            X,
            y,
            sample_weight,
            delta=delta,
            holdout=holdout,
            theta=theta,
            tuned=tuned,
            time_limit=time_limit,
            **fit_params,
        )
