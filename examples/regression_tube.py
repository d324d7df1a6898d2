"""Support vector regression: a tube of width epsilon and the points that carry it.

The function sin(x)/x with noise. Points inside the tube cost nothing and have no influence; the
support vectors lie on its edge or outside. nu-SVR finds the width so that at most a share nu of the
points lies outside.
"""

import matplotlib.pyplot as plt

from mercer import SVR, NuSVR
from mercer.data import noisy_sinc
from mercer.plots import tube

X, y = noisy_sinc(80, noise=0.1, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, model in zip(
    axes, (SVR(C=10, epsilon=0.2, gamma=0.5), NuSVR(C=10, nu=0.3, gamma=0.5)), strict=True
):
    model.fit(X, y)
    tube(model, X, y, ax=ax)
    outside = int((model.slack_ > 1e-6).sum())
    title = f"{type(model).__name__}: {len(model.support_)} support vectors, {outside} outside"
    ax.set_title(title)
    print(title)
plt.show()
