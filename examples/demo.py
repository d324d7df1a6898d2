"""Train a machine on two spirals, certify it and draw it.

``make demo`` runs this program. No straight line separates two spirals; a Gaussian kernel does. The
left picture shows the decision function with its margin and the support vectors, the right one how
the solver closes the duality gap: the objective of the model and the lower bound that proves how
good it is.
"""

import resource
import sys
import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

import mercer
from mercer.data import spirals
from mercer.kernels import RBF
from mercer.plots import decision_surface

PICTURE = Path("mercer-demo.png")
STEPS = np.unique(np.geomspace(10, 400, 12).astype(int))


def peak_memory() -> float:
    """Return the peak memory of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def gap_curve(model: mercer.SVC, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return iterations, primal and dual values of fits that are stopped early."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that they are stopped early is the point
        for steps in STEPS:
            early = mercer.SVC(C=model.C, kernel=model.kernel_, max_iter=int(steps)).fit(X, y)
            rows.append((steps, early.certificate_.primal, early.certificate_.dual))
    return np.array(rows)


def draw(model: mercer.SVC, X: np.ndarray, y: np.ndarray, accuracy: float) -> None:
    """Draw the decision function with its margin, and the gap over the iterations."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
    decision_surface(model, X, y, ax=left)
    left.set_title(f"SVC, Gaussian kernel: {accuracy:.1%} of held-out points right")
    beside = left.get_legend()
    labels = [text.get_text() for text in beside.get_texts()]
    beneath = {"loc": "upper center", "ncols": 5, "bbox_to_anchor": (0.5, -0.12)}
    beside.remove()
    left.legend(beside.legend_handles, labels, frameon=False, fontsize="small", **beneath)
    steps, primal, dual = gap_curve(model, X, y).T
    right.fill_between(steps, dual, primal, color="#56B4E9", alpha=0.3, label="duality gap")
    right.plot(
        steps, primal, color="#0072B2", marker="o", ms=4, label="objective of the model (primal)"
    )
    right.plot(
        steps, dual, color="#D55E00", marker="s", ms=4, label="lower bound for every model (dual)"
    )
    right.set_xscale("log")
    right.set(xlabel="iterations of the solver", ylabel="objective")
    right.set_title("the optimum lies between the curves")
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False, fontsize="small")
    figure.savefig(PICTURE, dpi=110)


def main() -> None:
    """Fit, report, draw."""
    X, y = spirals(500, noise=0.04, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    grid = {"C": [1.0, 10.0, 100.0], "kernel__gamma": [1.0, 4.0, 16.0]}
    began = time.perf_counter()
    search = GridSearchCV(mercer.SVC(kernel=RBF(1.0)), grid).fit(X, y)
    seconds = time.perf_counter() - began
    model = search.best_estimator_
    accuracy = model.score(X_test, y_test)
    print(f"two spirals, {len(X)} training points, {len(X_test)} held out")
    print(
        f"  kernel                   {model.kernel_!r}, C={model.C:g} (45 fits in {seconds:.2f} s)"
    )
    print(f"  held-out points right    {accuracy:.1%}")
    print(f"  support vectors          {len(model.support_)} of {len(X)}")
    print(f"  peak memory              {peak_memory():.0f} MB")
    print("\ncertificate")
    print("\n".join(f"  {row}" for row in str(model.certificate_).splitlines()))
    draw(model, X, y, accuracy)
    print(f"\nPicture: {PICTURE.resolve()}")


if __name__ == "__main__":
    main()
