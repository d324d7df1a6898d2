"""Classes whose objects a model file may hold, by name: estimators, and parts of fitted ones."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from mercer import features, machines
from mercer.kernels import HiddenMarkov
from mercer.kernels.models.baum_welch import Convergence
from mercer.machines.calibration import Sigmoids, Steps, TwoSlopes
from mercer.machines.class_pairs import PairCertificates, PairTable
from mercer.machines.record import TrainingRecord
from mercer.objects.vocabulary import Vocabulary
from mercer.solvers import Certificate
from mercer.solvers.curvature import NegativeCurvature

ESTIMATORS: dict[str, Any] = {
    name: value
    for room in (machines, features)
    for name in room.__all__
    if isinstance(value := getattr(room, name), type) and issubclass(value, BaseEstimator)
}

RECORDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        Certificate,
        Convergence,
        HiddenMarkov,
        NegativeCurvature,
        PairCertificates,
        PairTable,
        Sigmoids,
        Steps,
        TrainingRecord,
        TwoSlopes,
        Vocabulary,
    )
}
