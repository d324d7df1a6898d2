"""Which kernel is drawn on what: a line for each class of `mercer.kernels`.

A kernel on vectors is drawn as curves over an interval (one per kernel, or one per point z) or over
the plane; a kernel on other objects as its matrix on some of them, with their names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, pi
from typing import Any

import numpy as np

from mercer import kernels as mk


@dataclass(frozen=True)
class Curves:
    """Curves k(x, z) over an interval of x.

    Attributes
    ----------
    kernels : sequence of Kernel
        The kernels, told apart by their parameters; the first is the one that is asked for facts.
    interval : tuple of float
        Where x runs.
    at : sequence of float
        The points z. Several kernels have one.
    words : str
        What is drawn, where the printed form does not say it.
    """

    kernels: Sequence[mk.Kernel]
    interval: tuple[float, float] = (-4.0, 4.0)
    at: Sequence[float] = (0.0,)
    words: str = ""

    @property
    def objects(self) -> np.ndarray:
        """Some points of the interval."""
        return np.linspace(*self.interval, 5)[:, None]


@dataclass(frozen=True)
class Plane:
    """The values k(x, z) over the plane, for a kernel that treats columns differently.

    Attributes
    ----------
    kernels : sequence of Kernel
        One kernel.
    at : tuple of float
        The point z.
    half : float
        The plane reaches from -half to half.
    """

    kernels: Sequence[mk.Kernel]
    at: tuple[float, float] = (1.0, 0.5)
    half: float = 3.0

    @property
    def objects(self) -> np.ndarray:
        """Some points of the plane."""
        return self.half * np.array([[0.0, 0.0], [1.0, -1.0], [0.5, 0.5], [-1.0, 0.25]])


@dataclass(frozen=True)
class Matrix:
    """The matrix of a kernel on some objects.

    Attributes
    ----------
    kernels : sequence of Kernel
        The first is drawn; the others are asked for their definiteness.
    objects : sequence
        The objects.
    names : sequence of str
        What to write beside them, by default the objects.
    normalized : bool
        Whether the cosines are drawn, where sizes would hide all else.
    words : str
        What is drawn, where the printed form does not say it.
    """

    kernels: Sequence[mk.Kernel]
    objects: Any
    names: Sequence[str] = ()
    normalized: bool = False
    words: str = ""

    @property
    def drawn(self) -> mk.Kernel:
        """The kernel whose values are drawn."""
        return mk.normalize(self.kernels[0]) if self.normalized else self.kernels[0]


Portrait = Curves | Plane | Matrix


def varied(kernels: Sequence[mk.Kernel]) -> list[str]:
    """Return the names of the parameters in which kernels differ."""
    first, *others = (kernel.get_params() for kernel in kernels)
    return [
        name
        for name, value in first.items()
        if isinstance(value, int | float | str | list)
        and any(other[name] != value for other in others)
    ]


def bump(w: np.ndarray) -> np.ndarray:
    """Return a spectrum with its power about the frequency 3."""
    return np.exp(-2.0 * (w - 3.0) ** 2)


def swings(X: Any) -> np.ndarray:
    """Return eight functions: waves that are damped on the right."""
    x = np.asarray(X)[:, :1]
    return np.exp(-np.maximum(x, 0.0) / 3) * np.cos(np.arange(1, 9) * x / 2 + np.arange(8))


def lengths(words: Any) -> np.ndarray:
    """Return the length of words."""
    return np.array([[float(len(word))] for word in words])


def common(A: Any, B: Any) -> list[list[int]]:
    """Return how many letters words have in common."""
    return [[len(set(a) & set(b)) for b in B] for a in A]


def pairs(sentence: str) -> list[tuple[str, str]]:
    """Return the words that follow each other."""
    words = sentence.split()
    return list(pairwise(words))


WORDS = ["banana", "bananas", "ananas", "cabana", "cabbage", "baggage"]
GENES = ["ACGTACGT", "ACGTACG", "ACGTTCGT", "ACACGT", "CCCGGGCC", "CCGGGCC"]
SITES = ["GTAAGT", "GTGAGT", "GTAAGA", "CTAAGT", "AAGTGT", "TTTTCC"]
NESTED = ["()", "()()", "(())", "()(())", "(()())", "((()))"]
BRACKETS = {
    "S": {("L", "R"): 0.5, ("L", "T"): 0.25, ("S", "S"): 0.25},
    "T": {("S", "R"): 1.0},
    "L": {"(": 1.0},
    "R": {")": 1.0},
}
BASKETS = [
    {"milk", "bread", "butter"},
    {"milk", "bread"},
    {"milk", "tea"},
    {"tea", "sugar"},
    {"nails", "hammer"},
    {"nails", "hammer", "saw"},
]
BASKET_NAMES = [" ".join(sorted(basket)) for basket in BASKETS]
BAGS = ["aab", "aabb", "ab", "bcc", "ccc", "c"]
NEWS = [
    "wheat and corn prices",
    "corn harvest, wheat harvest",
    "prices of wheat rise",
    "a ship in the harbour",
    "the harbour and the ship",
    "ship with corn",
]
PHRASES = [
    "the red car",
    "a red car",
    "the red house",
    "the old house",
    "an old house",
    "a tree",
]
STATES = ["aaaaaa", "aabaaa", "aaabbb", "ababab", "bbabbb", "bbbbbb"]
SERIES = {
    "rise": [0, 0, 1, 2, 3, 3],
    "early rise": [0, 1, 2, 3, 3, 3, 3],
    "slow rise": [0, 0, 0, 1, 1, 2, 2, 3],
    "fall": [3, 3, 2, 1, 0, 0],
    "early fall": [3, 2, 1, 0, 0, 0],
    "hump": [0, 1, 3, 3, 1, 0],
}
MODEL = "a model of two states that tend to stay, of which one prefers a and the other b"
RULES = [[1, 1, 1, 0, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]]
EDGES = ["ab", "ac", "bc", "cd", "de", "df", "ef"]
NODES = ["a", "b", "c", "d", "e", "f"]
GRAPH = [[float(a + b in EDGES or b + a in EDGES) for b in NODES] for a in NODES]
TASTES = [[1.0, 0.8, 0.2, 0.0], [0.8, 1.0, 0.3, 0.1], [0.2, 0.3, 1.0, 0.6], [0.0, 0.1, 0.6, 1.0]]
GIVEN = [[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.9, 0.1], [0.1, 0.9, 1.0, 0.3], [0.0, 0.1, 0.3, 1.0]]
FRUIT = ["lemon", "lime", "plum", "cherry"]
CLOTHES = [
    ["red", "S", "shirt"],
    ["red", "L", "shirt"],
    ["blue", "L", "coat"],
    ["blue", "S", "shirt"],
]


def two_states() -> mk.HiddenMarkov:
    """Return a model that stays in a state and prefers a letter in each."""
    return mk.HiddenMarkov.from_probabilities(
        [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.2, 0.8]], alphabet="ab"
    )


def portraits() -> dict[str, Portrait]:
    """Return the portrait of every kernel, by the name of its class."""
    return {**_vectors(), **_composed(), **_general(), **_structured()}


def _vectors() -> dict[str, Portrait]:
    positive, thirds = (0.0, 4.0), (0.5, 1.5, 3.0)
    circle = (-2 * pi, 2 * pi)
    return {
        "Linear": Curves([mk.Linear()], (-2, 2), at=(-1.0, 0.5, 1.0)),
        "Bilinear": Plane([mk.Bilinear([[1.0, 0.8], [0.8, 1.0]])]),
        "Polynomial": Curves([mk.Polynomial(q, 1.0, 1.0) for q in (1, 2, 3)], (-2, 2), (1.0,)),
        "SumOfPowers": Curves([mk.SumOfPowers(q) for q in (1, 2, 3)], (-1.5, 1.5), (1.0,)),
        "ExponentialDot": Curves([mk.ExponentialDot(g) for g in (0.25, 0.5, 1.0)], (-2, 2), (1.0,)),
        "PowerSeries": Curves(
            [mk.PowerSeries(name) for name in ("geometric", "log", "sinh")], (-0.9, 0.9), (0.9,)
        ),
        "Sigmoid": Curves([mk.Sigmoid(g, -0.5) for g in (0.5, 1.0, 2.0)], at=(1.0,)),
        "RBF": Curves([mk.RBF(g) for g in (0.125, 0.5, 2.0)]),
        "Laplacian": Curves([mk.Laplacian(g) for g in (0.5, 1.0, 2.0)]),
        "Exponential": Curves([mk.Exponential(g) for g in (0.5, 1.0, 2.0)]),
        "Matern": Curves([mk.Matern(nu) for nu in (0.5, 1.5, 2.5, inf)]),
        "RationalQuadratic": Curves([mk.RationalQuadratic(a) for a in (0.6, 1.0, 10.0)]),
        "DampedOscillator": Curves([mk.DampedOscillator(g) for g in (0.7, 1.0, 2.0)]),
        "InverseMultiquadric": Curves([mk.InverseMultiquadric(c) for c in (0.5, 1.0, 2.0)]),
        "BSpline": Curves([mk.BSpline(n) for n in (1, 3, 5)]),
        "RadialBSpline": Curves(
            [mk.RadialBSpline(n, 0.5, dimension=1) for n in (1, 3, 5)],
        ),
        "FromSpectrum": Curves(
            [mk.FromSpectrum(bump, dimension=1, reach=30.0)],
            words="a spectrum with its power about the frequency 3",
        ),
        "Multiquadric": Curves([mk.Multiquadric(c) for c in (0.3, 1.0, 2.0)]),
        "NegativeDistance": Curves([mk.NegativeDistance(p) for p in (0.5, 1.0, 1.5)]),
        "LogDistance": Curves([mk.LogDistance(2.0, c) for c in (0.1, 1.0, 4.0)]),
        "ThinPlate": Curves([mk.ThinPlate()], (-2, 2)),
        "ExpSineSquared": Curves(
            [mk.ExpSineSquared(width, 2 * pi) for width in (0.5, 1.0, 2.0)], circle
        ),
        "Dirichlet": Curves([mk.Dirichlet(n) for n in (1, 3, 6)], circle),
        "PeriodicGaussian": Curves(
            [mk.PeriodicGaussian(1.0, form=form) for form in ("series", "unit", "wrapped")], circle
        ),
        "FourierSeries": Curves([mk.FourierSeries([0.2, 0.0, 1.0, 0.0, 0.0, 0.5])], circle),
        "Periodized": Curves(
            [mk.Periodized(mk.Exponential(g), dimension=1) for g in (1.0, 2.0)], circle
        ),
        "HistogramIntersection": Curves([mk.HistogramIntersection()], positive, thirds),
        "ChiSquare": Curves([mk.ChiSquare()], positive, thirds),
        "AdditiveChiSquare": Curves([mk.AdditiveChiSquare()], positive, thirds),
        "Spline": Curves([mk.Spline()], (0.0, 3.0), (0.5, 1.5, 2.5)),
        "ANOVA": Plane([mk.ANOVA(1, mk.RBF(1.0)), mk.ANOVA(2, mk.RBF(1.0))]),
        "DistanceKernel": Plane([mk.DistanceKernel("linf")]),
    }


def _composed() -> dict[str, Portrait]:
    rbf, wave = mk.RBF(0.1), mk.PeriodicGaussian(0.5, 2.0, "wrapped")
    words = mk.normalize(mk.Spectrum(2))
    return {
        "Sum": Curves([rbf + wave], (-6, 6)),
        "Product": Curves([rbf * wave], (-6, 6)),
        "Scaled": Curves([s * mk.RBF(0.5) for s in (0.5, 1.0, 2.0)]),
        "Power": Curves([mk.FourierSeries([0.5, 0.5]) ** n for n in (1, 2, 8)], (-2 * pi, 2 * pi)),
        "PolynomialOf": Curves(
            [mk.polynomial(mk.Linear(), c) for c in ([0, 1, 1], [1, 0, 1], [0, 0, 0, 1])],
            (-1.5, 1.5),
            (1.0,),
        ),
        "Exp": Curves([mk.exp(g * mk.NegativeDistance(1.5)) for g in (0.5, 1.0, 2.0)]),
        "Normalized": Curves(
            [mk.normalize(mk.Polynomial(q, 1.0, 1.0)) for q in (1, 2, 8)], at=(1.0,)
        ),
        "OverFeatureSpace": Matrix([mk.OverFeatureSpace(words, 1.0)], WORDS),
        "Projected": Curves(
            [mk.Projected(mk.NegativeDistance(), points=[[0.0]])], (-2, 2), (-1.0, 0.5, 1.5)
        ),
    }


def _general() -> dict[str, Portrait]:
    return {
        "Constant": Curves([mk.Constant(1.0)]),
        "White": Matrix(
            [mk.White(1.0)],
            ["a", "b", "b", "c"],
            words="what four samples share, two of which look alike",
        ),
        "OnColumns": Plane([mk.RBF(0.3).on_columns([0])]),
        "Precomputed": Matrix(
            [mk.Precomputed()],
            np.array(GIVEN),
            ["0", "1", "2", "3"],
            words="similarities that are no kernel: 0 is near 1 and 1 near 2, but 0 is far from 2",
        ),
        "Categorical": Matrix(
            [mk.Categorical()],
            np.array(CLOTHES, dtype=object),
            [" ".join(row) for row in CLOTHES],
            words="clothes by colour, size and kind",
        ),
        "FiniteMatrix": Matrix(
            [mk.FiniteMatrix(TASTES, items=FRUIT)], FRUIT, words="fruits by taste"
        ),
        "FromFunction": Matrix(
            [mk.FromFunction(common)],
            WORDS,
            words="the number of letters that two words have in common",
        ),
        "FromFeatureMap": Matrix(
            [mk.FromFeatureMap(lengths, kernel=mk.RBF(1.0))],
            WORDS,
            words="a Gaussian of the lengths of words",
        ),
        "Covariance": Curves(
            [mk.Covariance(swings)],
            (-6, 6),
            (-3.0, 0.0, 3.0),
            words="eight waves that are damped on the right",
        ),
    }


def _structured() -> dict[str, Portrait]:
    model = two_states()
    return {
        "Spectrum": Matrix([mk.Spectrum(2)], WORDS),
        "BlendedSpectrum": Matrix([mk.BlendedSpectrum(3)], WORDS),
        "Substring": Matrix([mk.Substring(0.5)], WORDS),
        "Subsequence": Matrix([mk.Subsequence(3, 0.5)], WORDS),
        "Mismatch": Matrix([mk.Mismatch(3, 1, alphabet="ACGT")], GENES),
        "WeightedDegree": Matrix([mk.WeightedDegree(3)], SITES),
        "PairHMM": Matrix(
            [mk.PairHMM(alphabet="ACGT", mutation=0.4, gap=0.3)], GENES, normalized=True
        ),
        "Grammar": Matrix(
            [mk.Grammar(BRACKETS, independence=0.5)],
            NESTED,
            normalized=True,
            words="brackets that match, with the grammar of the example, normalised",
        ),
        "TfIdf": Matrix([mk.TfIdf(stop_words="english")], NEWS),
        "SetIntersection": Matrix([mk.SetIntersection()], BASKETS, BASKET_NAMES),
        "SetPower": Matrix([mk.SetPower()], BASKETS, BASKET_NAMES),
        "Jaccard": Matrix([mk.Jaccard()], BASKETS, BASKET_NAMES),
        "Multiset": Matrix(
            [mk.Multiset(m) for m in ("minimum", "product", "multisets", "subsets")],
            [list(bag) for bag in BAGS],
            BAGS,
        ),
        "Boolean": Matrix(
            [mk.Boolean(), mk.Boolean(monotone=False)],
            RULES,
            ["".join(map(str, row)) for row in RULES],
        ),
        "Diffusion": Matrix(
            [mk.Diffusion(GRAPH, nodes=NODES)],
            NODES,
            words="two triangles abc and def with an edge from c to d, `beta=1.0`",
        ),
        "Convolution": Matrix(
            [mk.Convolution(pairs)],
            PHRASES,
            words="the parts are pairs of words that follow each other",
        ),
        "Fisher": Matrix([mk.Fisher(model)], STATES, words=MODEL),
        "Marginalized": Matrix([mk.Marginalized(model)], STATES, words=MODEL),
        "Delayed": Matrix(
            [mk.Delayed(mk.RBF(0.2), dimension=3)], list(SERIES.values()), list(SERIES)
        ),
        "GlobalAlignment": Matrix(
            [mk.GlobalAlignment(0.1)], list(SERIES.values()), list(SERIES), normalized=True
        ),
    }
