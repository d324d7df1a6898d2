"""How the duality gap closes: accuracy of a fit against its cost.

The same problem with tighter and tighter limits on the relative gap. The predictions settle long
before the last digits of the objective do, and the gap bounds how far the objective can still fall.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from mercer import SVC

X, y = make_classification(2500, n_features=10, flip_y=0.1, random_state=0)
exact = SVC(gap_tol=1e-9).fit(X, y)
reference = exact.predict(X)
limits = 10.0 ** -np.arange(0.5, 7)
fits = [SVC(gap_tol=limit).fit(X, y) for limit in limits]
iterations = [model.certificate_.n_iter for model in fits]
changed = [np.mean(model.predict(X) != reference) for model in fits]
for limit, count, share in zip(limits, iterations, changed, strict=True):
    print(f"relative gap {limit:7.1e}  {count:6,} iterations  {share:.2%} of predictions differ")
figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
gaps = [model.certificate_.relative_gap for model in fits]
ax.loglog(iterations, gaps, "o-", color="#0072B2", label="relative gap reached")
ax.set(xlabel="iterations of the solver", ylabel="relative duality gap")
second = ax.twinx()
second.semilogx(
    iterations, 100 * np.array(changed), "s--", color="#D55E00", label="predictions that differ"
)
second.set_ylabel("predictions that differ from the optimum (%)")
lines = [*ax.lines, *second.lines]
ax.legend(lines, [line.get_label() for line in lines], frameon=False, loc="lower left")
plt.show()
