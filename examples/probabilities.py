"""Calibrated probabilities: the three maps of SVC compared.

The reliability curve of a calibrated classifier is the diagonal: of the rows with a predicted
probability of 0.8, four in five belong to the class. Log loss on held-out rows is printed.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from mercer import SVC

X, y = make_moons(1200, noise=0.35, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
figure, ax = plt.subplots(figsize=(5.5, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="#9A9A9A", lw=1, label="perfectly calibrated")
styles = {"free": ("#0072B2", "o"), "consistent": ("#D55E00", "s"), "isotonic": ("#009E73", "^")}
for calibration, (colour, marker) in styles.items():
    model = SVC(gamma=1.0, probability=True, calibration=calibration, random_state=0).fit(X, y)
    probability = model.predict_proba(X_test)[:, 1]
    share, mean = calibration_curve(y_test, probability, n_bins=8)
    ax.plot(mean, share, color=colour, marker=marker, ms=5, label=f'calibration="{calibration}"')
    print(f"{calibration:10}  log loss {log_loss(y_test, probability):.3f}")
ax.set(xlabel="predicted probability of class 1", ylabel="observed share of class 1")
ax.legend(frameon=False)
plt.show()
