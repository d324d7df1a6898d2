"""Novelty detection: the region of the inliers for three values of nu.

nu is an upper bound on the share of training points outside the region and a lower bound on the
share of support vectors. Both are printed.
"""

import matplotlib.pyplot as plt
import numpy as np

from mercer import OneClassSVM
from mercer.plots import decision_surface

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(100, 2)) * 0.5, rng.normal(size=(60, 2)) * 0.4 + [3.0, 2.0]])
figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for ax, nu in zip(axes, (0.02, 0.1, 0.3), strict=True):
    model = OneClassSVM(nu=nu, gamma=1.0).fit(X)
    decision_surface(model, X, ax=ax)
    outside = np.mean(model.slack_ > 1e-6)
    share = len(model.support_) / len(X)
    ax.set_title(f"nu = {nu}")
    print(f"nu {nu:4}: {outside:.3f} outside <= nu <= {share:.3f} support vectors")
plt.show()
