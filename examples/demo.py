"""Train a machine on real data, report what it is worth, and draw it (`make demo`).

The data are the 569 tumours of the Wisconsin breast cancer set that comes with scikit-learn: 30
measurements of cell nuclei, to tell benign from malignant.
"""

import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.kernels import RBF

PICTURE = Path("mercer-demo.png")


def peak_memory() -> float:
    """Peak memory of this process so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def line(name: str, value: str) -> None:
    """Print one line of the report."""
    print(f"  {name:<24} {value}")


def main() -> None:
    """Fit, report, draw."""
    data = load_breast_cancer()
    X, X_test, y, y_test = train_test_split(
        data.data, data.target, test_size=0.25, stratify=data.target, random_state=0
    )
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)

    # C and the width of the kernel are chosen on the training rows alone.
    before = peak_memory()
    grid = {"C": [1, 3, 10, 30], "kernel__gamma": [0.003, 0.01, 0.03, 0.1]}
    start = time.perf_counter()
    search = GridSearchCV(mercer.SVC(kernel=RBF()), grid, cv=5, refit=False).fit(X, y)
    search_seconds = time.perf_counter() - start

    start = time.perf_counter()
    model = mercer.SVC(kernel=RBF()).set_params(**search.best_params_).fit(X, y)
    fit_seconds = time.perf_counter() - start
    start = time.perf_counter()
    accuracy = model.score(X_test, y_test)
    predict_seconds = time.perf_counter() - start

    print(f"\nmercer {mercer.__version__}: {model}\n")
    print("Data: breast cancer (scikit-learn), columns standardised")
    line("training rows", f"{len(X)} x {X.shape[1]}")
    line("held-out rows", f"{len(X_test)}")
    print("\nResult")
    wrong = round((1 - accuracy) * len(y_test))
    line("held-out accuracy", f"{accuracy:.1%} ({wrong} of {len(y_test)} wrong)")
    free, bounded = len(model.free_support_), len(model.bounded_support_)
    line("support vectors", f"{free + bounded} of {len(X)}")
    line("  on the margin", f"{free}")
    line("  at the bound", f"{bounded}")
    line("margin", f"{float(np.ravel(model.margin_)[0]):.4g} (in feature space)")
    line("time to choose C, gamma", f"{search_seconds:.2f} s for {16 * 5} fits")
    line("time to fit", f"{1000 * fit_seconds:.1f} ms")
    line("time to predict", f"{1000 * predict_seconds:.1f} ms for {len(X_test)} rows")
    line(
        "memory", f"{peak_memory():.0f} MB at the peak, {peak_memory() - before:.1f} MB by the fits"
    )
    print("\nCertificate: how far from the optimum this answer can be at most")
    print("\n".join("  " + row for row in str(model.certificate_).splitlines()))

    draw(model, X, y, X_test, y_test, data.target_names)
    print(f"\nPicture: {PICTURE.resolve()}\n")


def draw(
    model: mercer.SVC,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    names: np.ndarray,
) -> None:
    """Draw what the machine says of the held-out rows, and a machine in the plane."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from mercer.plots import decision_surface

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")

    values = model.decision_function(X_test)
    bins = np.linspace(values.min(), values.max(), 31)
    left.axvspan(-1, 1, color="#222222", alpha=0.07, linewidth=0, label="margin")
    for label, colour in ((1, "#0072B2"), (0, "#D55E00")):
        left.hist(values[y_test == label], bins, color=colour, alpha=0.75, label=names[label])
    left.axvline(0, color="#222222", linewidth=1.8)
    left.set_title(f"held-out rows: {model.score(X_test, y_test):.1%} right")
    left.set_xlabel("decision function")
    left.set_ylabel("rows")
    left.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)

    plane = PCA(2, random_state=0).fit(X)
    flat = mercer.SVC(C=5, kernel=RBF(0.02)).fit(plane.transform(X), names[y])
    decision_surface(flat, plane.transform(X), names[y], ax=right)
    right.set_title("a machine on the first two principal components")
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
