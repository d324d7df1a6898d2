"""In which order the page shows the kernels, and which of them suits which data."""

from dataclasses import dataclass

from mercer import kernels as mk

# Classes to derive from, and classes beside the kernels.
BASES = {mk.Kernel, mk.VectorKernel, mk.RadialKernel, mk.SequenceKernel}


@dataclass(frozen=True)
class Family:
    """Kernels that are explained together.

    Attributes
    ----------
    title : str
        The heading.
    words : str
        What they have in common.
    names : str
        Their classes, in order.
    """

    title: str
    words: str
    names: str


FAMILIES = [
    Family(
        "Functions of the dot product",
        "Vectors are compared by angle and length. Values grow with the length of the rows, so "
        "rows or columns are scaled first.",
        "Linear Polynomial SumOfPowers ExponentialDot PowerSeries Bilinear Sigmoid",
    ),
    Family(
        "Functions of the distance",
        "Translation-invariant kernels: adding a constant to all vectors changes nothing. The "
        "faster the spectrum decays, the smoother are the functions of a machine.",
        "RBF Laplacian Exponential Matern RationalQuadratic DampedOscillator InverseMultiquadric "
        "BSpline RadialBSpline DistanceKernel FromSpectrum",
    ),
    Family(
        "Conditionally positive definite kernels",
        "Their quadratic form is positive for coefficients that sum to zero (order 1), or that are "
        "also orthogonal to linear functions (order 2). Machines with a bias accept kernels of "
        "order 1 directly.",
        "Multiquadric NegativeDistance LogDistance ThinPlate Projected",
    ),
    Family(
        "Periodic kernels",
        "Columns whose ends meet. The spectrum is a series: a weight for each whole frequency.",
        "ExpSineSquared PeriodicGaussian Dirichlet FourierSeries Periodized",
    ),
    Family(
        "Histograms and single columns",
        "Kernels on single columns, added up or multiplied.",
        "HistogramIntersection ChiSquare AdditiveChiSquare Spline ANOVA",
    ),
    Family(
        "Strings and sequences",
        "Sequences of letters, words or any tokens, of any lengths. Long sequences have large "
        "values; `normalize` removes the effect of the length.",
        "Spectrum BlendedSpectrum Substring Subsequence Mismatch WeightedDegree PairHMM Grammar",
    ),
    Family(
        "Kernels from generative models",
        "A generative model turns sequences into vectors, which are then compared.",
        "Fisher Marginalized",
    ),
    Family("Time series", "Lists of numbers or vectors, in time.", "Delayed GlobalAlignment"),
    Family(
        "Documents, sets and logic",
        "Kernels that compare the common elements of two collections.",
        "TfIdf SetIntersection Jaccard SetPower Multiset Boolean",
    ),
    Family(
        "Graphs, parts and finite sets",
        "Objects described by their neighbours, their parts, or only by their name.",
        "Diffusion Convolution Categorical FiniteMatrix",
    ),
    Family(
        "Algebra",
        "Kernels made of kernels. All of them are written with operators or a function in lower "
        "case, and keep what is known about definiteness and derivatives.",
        "Sum Product Scaled Power PolynomialOf Exp Normalized OverFeatureSpace OnColumns Constant "
        "White",
    ),
    Family(
        "Your own",
        "A kernel from a function, a feature map, samples or a matrix.",
        "FromFunction FromFeatureMap Covariance Precomputed",
    ),
]

# Data, kernels to try first, and what to do beforehand.
ADVICE = [
    ("dense numeric columns", "RBF Matern Laplacian", "standardise the columns; search the width"),
    ("many sparse columns", "Linear Polynomial", "rows of length 1: `normalize(Linear())`"),
    (
        "a smooth or rough target of known spectrum",
        "Matern FromSpectrum",
        "the spectrum is the filter",
    ),
    ("few columns, width unknown", "NegativeDistance ThinPlate Spline", "they have no width"),
    (
        "a map, a surface, scattered points",
        "ThinPlate Multiquadric Matern",
        "one unit for all columns",
    ),
    ("angles, hours, seasons", "ExpSineSquared PeriodicGaussian", "give the period"),
    ("histograms, counts per bin", "HistogramIntersection ChiSquare", "divide by the mass"),
    ("interactions of few columns", "ANOVA Polynomial Boolean", "order 2 first"),
    ("texts by topic", "TfIdf", "drop stop words"),
    ("texts by style, words, names", "Spectrum Subsequence BlendedSpectrum", "`normalize`"),
    (
        "DNA and proteins",
        "Mismatch Spectrum WeightedDegree Fisher",
        "`normalize`; WeightedDegree for aligned sites",
    ),
    ("related sequences with gaps", "PairHMM Subsequence", "costs the product of the lengths"),
    ("time series", "GlobalAlignment Delayed", "standardise the channels"),
    ("sets, tags, fingerprints", "Jaccard SetIntersection", "`OverFeatureSpace` for a width"),
    ("bags with counts", "Multiset TfIdf", ""),
    ("nodes of a graph", "Diffusion", "up to some thousands of nodes"),
    ("objects made of parts", "Convolution", "write the function that lists the parts"),
    ("columns of categories", "Categorical", "no encoding needed"),
    ("categories of known similarity", "FiniteMatrix", ""),
    (
        "a table with columns of different kinds",
        "OnColumns Sum Product",
        "a kernel for each group, then `+` or `*`",
    ),
    ("a distance of your own", "DistanceKernel", "check its definiteness on the data"),
    ("a similarity or features of your own", "FromFunction FromFeatureMap Precomputed", ""),
]


def kernels() -> dict[str, type[mk.Kernel]]:
    """Return the exported kernel classes by name, without base classes and second names."""
    exported = {name: getattr(mk, name) for name in mk.__all__}
    return {
        name: kind
        for name, kind in exported.items()
        if isinstance(kind, type)
        and issubclass(kind, mk.Kernel)
        and kind not in BASES
        and name == kind.__name__
    }


def second_names(kind: type[mk.Kernel]) -> list[str]:
    """Return the other names under which a class is exported."""
    return [name for name in mk.__all__ if getattr(mk, name) is kind and name != kind.__name__]
