"""Write the files of a new format: ``python -m tests.persistence.files``.

Those of a format that was released stay as they are, so that later versions are tested with them.
"""

from pathlib import Path

import numpy as np

import mercer
from mercer.persistence.container import FORMAT
from tests.persistence.test_model_files import INPUTS, MODELS, T, X, answers

FOLDER = Path(__file__).parent
MODELS = MODELS | {
    "process": lambda: mercer.GaussianProcessRegressor(alpha=0.1).fit(X, T),
    "ridge": lambda: mercer.KernelRidge(kernel="rbf").fit(X, T),
    "expansion": lambda: mercer.SVR().fit(X, T).expansion_,
}
NAMES = [
    *("probability", "composed", "sparse", "spline", "strings", "documents", "table"),
    *("many classes", "pipeline", "process", "ridge", "expansion"),
]

for name in NAMES:
    path = FOLDER / f"{FORMAT}-{name.replace(' ', '_')}.mercer"
    model = MODELS[name]()
    if name == "expansion":
        model.save(path)
        np.save(path.with_suffix(".npy"), model(X))
    else:
        mercer.save(model, path)
        np.save(path.with_suffix(".npy"), answers(model, INPUTS.get(name, X)))
