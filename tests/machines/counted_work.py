"""Factorisations of Gaussian processes, counted, and a clock that only they advance."""

from typing import Any

from mercer import run


class Work:
    """Counts factorisations and inverses, and is a clock that they alone advance."""

    def __init__(self, monkeypatch: Any, module: Any) -> None:
        self.factors = self.inverses = 0
        potrf, potri = module.dpotrf, module.dpotri
        monkeypatch.setattr(module, "dpotrf", lambda *a, **k: self.add("factors", potrf(*a, **k)))
        monkeypatch.setattr(module, "dpotri", lambda *a, **k: self.add("inverses", potri(*a, **k)))
        monkeypatch.setattr(run, "time", self)

    def add(self, what: str, result: Any) -> Any:
        setattr(self, what, getattr(self, what) + 1)
        return result

    def perf_counter(self) -> float:
        return float(self.factors + 2 * self.inverses)
