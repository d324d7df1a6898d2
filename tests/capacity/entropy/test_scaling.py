"""The optimised scaling operator and laws of decay: closed form, rates, constants, misprints."""

import math

import numpy as np
import pytest
import scipy.special

from mercer.capacity import rate_T, rates
from mercer.capacity.entropy import (
    ExponentialSpectrum,
    LPClass,
    MercerMap,
    PolynomialSpectrum,
    ScalingOperator,
    Spectrum,
    SVClass,
    continuum_entropy,
    entropy_A,
    kernel_entropy,
)
from mercer.capacity.entropy.decay import continuum_tau
from mercer.kernels import RBF

GAUSSIAN = RBF(gamma=1.0)
J = np.arange(1.0, 41.0)
DECAYS = {
    "e^-j": (np.exp(-J), (0.262111, 0.139570, 0.054523), (4, 5, 7)),
    "e^-j^2/4": (np.exp(-(J**2) / 4), (0.336244, 0.145699, 0.037107), None),
    "j^-3": (J**-3, (0.298867, 0.183426, 0.104620), None),
}


@pytest.mark.spec("SM-8.13")
@pytest.mark.parametrize("name", DECAYS)
def test_the_closed_form_is_the_optimum_of_the_convex_problem(name):
    values, expected, indices = DECAYS[name]
    for i, bits in enumerate((5, 10, 20)):
        ln_n = bits * math.log(2)
        closed = entropy_A(values, ln_n)
        assert closed.value / 6 == pytest.approx(expected[i], abs=1e-6)
        if indices is not None:
            assert closed.index == indices[i]
        short = values[:9]
        convex = entropy_A(short, bits * math.log(2) / 2, method="convex").value
        assert convex == pytest.approx(entropy_A(short, bits * math.log(2) / 2).value, rel=1e-5)
        assert entropy_A(values, ln_n, method="family").value >= closed.value * (1 - 1e-12)
        # The scaling that is returned attains the value.
        a = closed.scaling
        j = np.arange(1, len(a) + 1)
        means = np.exp((np.cumsum(np.log(a)) - ln_n) / j)
        assert 6 * math.sqrt((values / a**2).sum()) * means.max() == pytest.approx(closed.value)


@pytest.mark.spec("SM-8.13")
def test_a_list_that_is_cut_too_early_is_refused_and_a_tail_is_counted():
    whole, cut = J**-2.0, J[:10] ** -2.0
    tail = float((J[10:] ** -2.0).sum())
    exact = entropy_A(whole, 4.0).value
    assert entropy_A(Spectrum(cut, tail=tail), 4.0).value == pytest.approx(exact)
    assert entropy_A(Spectrum(cut, tail=2 * tail), 4.0).value > exact
    with pytest.raises(ValueError, match="listed eigenvalues serve ln_n below"):
        entropy_A(Spectrum(cut, tail=tail), 40.0)
    # Classes use what is listed: any a_s gives a valid bound, here one above the optimum.
    beyond = float(SVClass(Spectrum(cut, tail=tail)).eps(40.0, which="operator"))
    assert beyond > entropy_A(whole, 40.0).value
    a = np.append(np.sqrt(cut), np.full(30, (np.prod(cut) * math.exp(-80.0)) ** (1 / 20)))
    means = np.exp((np.cumsum(np.log(a)) - 40.0) / J)
    assert beyond == pytest.approx(6 * math.sqrt((whole / a**2).sum()) * means.max())
    with pytest.raises(ValueError, match="method must be one of"):
        entropy_A(whole, 4.0, method="guess")
    with pytest.raises(ValueError, match="ln_n"):
        entropy_A(whole, -1.0)


@pytest.mark.spec("SM-8.10")
def test_admissible_operators_contain_all_features():
    spectrum = Spectrum.from_translation_invariant(GAUSSIAN, 8.0)
    F = MercerMap(spectrum, 25).transform(np.linspace(-4.0, 4.0, 101))
    block = spectrum.leading(25)
    for theta in (0.0, 0.3, 0.8):
        A = ScalingOperator(spectrum, block ** (theta / 2))
        assert A.is_admissible
        assert A.norm == pytest.approx(A.radius * block[0] ** (theta / 2))
        lengths = np.linalg.norm(A.apply_inverse(F), axis=1)
        assert lengths.max() <= 1.0
        # a is constant on degenerate blocks, so that cos^2 + sin^2 = 1: exactly a factor 2 less.
        np.testing.assert_allclose(lengths**2, lengths[0] ** 2, rtol=1e-6)
        exact = (spectrum.leading(25) / A.a**2).sum() / 8.0
        assert A.radius**2 == pytest.approx(2 * exact, rel=1e-3)
    sharp = Spectrum.from_translation_invariant(GAUSSIAN, 8.0, constant="shells")
    assert entropy_A(sharp, 30.0).value == pytest.approx(
        entropy_A(spectrum, 30.0).value / math.sqrt(2)
    )
    assert sharp.C_k**2 * sharp.trace == pytest.approx(1.0)  # k_v(0)
    # The optimum over a is below every single operator, and its own is among them.
    best = ScalingOperator(spectrum)
    grid = np.array([1.0, 10.0, 60.0])
    assert (best.eps(grid) <= ScalingOperator(spectrum, block**0.25).eps(grid) + 1e-12).all()


@pytest.mark.spec("SM-8.51", "SM-8.49")
def test_degenerate_spectra_equal_their_expanded_lists():
    values, counts = np.exp(-np.arange(0.0, 12.0)), np.array([1, 4, 4, 8, 4, 8, 12, 4, 4, 8, 8, 2])
    for ln_n in (0.0, 5.0, 50.0):
        blocks = entropy_A(Spectrum(values, counts), ln_n)
        expanded = entropy_A(np.repeat(values, counts), ln_n)
        assert blocks.value == pytest.approx(expanded.value)
        assert blocks.index == expanded.index


@pytest.mark.spec("SM-8.54", "SM-8.55")
def test_radial_spectra_on_lattices_in_d_dimensions():
    expected = {1: (-5.763, -35.32), 2: (-0.0445, -4.951), 3: (0.997, -0.396)}
    for d, values in expected.items():
        # eigenvalues exp(-|w|^2 / 2) themselves, without the factor (2 pi)^(d/2)
        found = np.log(
            kernel_entropy(
                lambda w, d=d: (2 * math.pi) ** (-d / 2) * np.exp(-(w**2) / 2), 10.0, d, [100, 1000]
            )
        )
        np.testing.assert_allclose(found, values, atol=3e-3)
        shifted = np.log(kernel_entropy(lambda w: np.exp(-(w**2) / 2), 10.0, d, 100.0))
        assert shifted == pytest.approx(values[0] + d / 4 * math.log(2 * math.pi), abs=6e-4)


@pytest.mark.spec("SM-8.44")
@pytest.mark.parametrize("alpha", [1.0, 2.0])
def test_polynomial_decay_has_half_its_exponent(alpha):
    spectrum = PolynomialSpectrum(1.0, alpha).spectrum(60_000)
    rate = rates.polynomial(alpha)
    slope = rate.slope(lambda x: entropy_A(spectrum, x).value, 1e3)
    assert slope == pytest.approx(rate.exponent, abs=0.003)  # no loss delta for the best a
    assert rates.polynomial(1.0, dimension=3).exponent == pytest.approx(1 / 6)


@pytest.mark.spec("SM-8.45")
def test_constants_of_polynomial_decay():
    s = PolynomialSpectrum(beta=1.0, alpha=1.0)
    table = {
        10: (3.860, 0.681, 0.666, 3.561, 2.407, 0.1204),
        100: (1.613, 0.813, 0.811, 1.549, 0.8341, 0.0381),
        1000: (0.6102, 0.869, 0.868, 0.5946, 0.2677, 0.0120),
        10000: (0.2202, 0.899, 0.899, 0.2159, 0.08483, 0.00381),
    }
    exact = s.spectrum(100_000)
    for ln_n, (upper, tau, rule, family, best, lower) in table.items():
        found = s.entropy_upper(float(ln_n))
        assert found.value == pytest.approx(upper, rel=1e-3)
        assert s.best_tau(ln_n) == pytest.approx(tau, abs=1e-3)
        assert s.rule_of_thumb(ln_n) == pytest.approx(rule, abs=1e-3)
        assert entropy_A(exact, float(ln_n)).value == pytest.approx(best, rel=1e-3)
        assert s.entropy_lower(float(ln_n)).value == pytest.approx(lower, rel=5e-3)
        assert lower < best < family < upper
        # the family a_j = j^(-tau/2), evaluated exactly at the best tau
        t = np.linspace(tau - 0.05, tau + 0.05, 21)
        j = np.unique(np.round(np.geomspace(1.0, 40 * ln_n, 3000)))
        logs = np.array(
            [
                0.5 * math.log(scipy.special.zeta(2 - x))
                + ((-x / 2 * scipy.special.gammaln(j + 1) - ln_n) / j).max()
                for x in t
            ]
        )
        assert 6 * math.exp(logs.min()) == pytest.approx(family, rel=2e-3)
    # (8.65) and (8.67), and (8.66) needs the exponent 1/j that is missing in print
    for x in (0.5, 2.0, 10.0):
        assert x + 0.5772156649 <= scipy.special.zeta(1 + 1 / x) <= x + 1
    for j in (1, 5, 50):
        mean = math.lgamma(j + 1) / j
        assert math.log(j) - 1 <= mean <= math.log(j) + 1e-12
    assert math.lgamma(51) > math.log(50)  # without 1/j the inequality fails
    with pytest.raises(ValueError, match="tau must lie in"):
        s.entropy_upper(10.0, tau=1.0)


@pytest.mark.spec("SM-8.46", "SM-8.56")
def test_exponential_decay_has_a_fractional_power_of_ln_n():
    for p, alpha, measured in ((1.0, 1.0, 0.509), (2.0, 0.25, 0.671)):
        rate = rates.exponential(p)
        # logarithms throughout: the values underflow
        j = np.arange(1.0, 20_000.0 if p == 1 else 2000.0)
        sums = np.cumsum(-alpha * j**p)
        critical = sums[:-1] + alpha * j[:-1] * j[1:] ** p

        def log_eps(ln_n, j=j, sums=sums, critical=critical, alpha=alpha, p=p):
            i = int(np.searchsorted(critical, 2 * ln_n, side="right"))
            w = (sums[i] - 2 * ln_n) / j[i]
            rest = np.logaddexp.reduce(-alpha * j[i + 1 : i + 400] ** p)
            return math.log(6) + 0.5 * np.logaddexp(math.log(j[i]) + w, rest)

        slope = (math.log(-log_eps(1e6)) - math.log(-log_eps(1e4))) / math.log(100)
        assert slope == pytest.approx(measured, abs=0.005)
        assert slope == pytest.approx(rate.exponent, abs=0.01)
        s = ExponentialSpectrum(1.0, alpha, p)
        assert log_eps(20.0) == pytest.approx(math.log(entropy_A(s.spectrum(), 20.0).value))
    for d, measured in ((1, 0.679), (2, 0.577)):
        spectrum = Spectrum.from_translation_invariant(
            lambda w, d=d: (2 * math.pi) ** (-d / 2) * np.exp(-(w**2) / 2), 10.0, d
        )
        slope = rates.exponential(2.0, d).slope(
            lambda x, s=spectrum: entropy_A(s, x).value, 3e3, 8.0
        )
        assert slope == pytest.approx(measured, abs=0.03)
        assert slope > rates.exponential(2.0, d).exponent  # from above, slowly


@pytest.mark.spec("SM-8.47")
def test_constants_of_exponential_decay_and_their_misprints():
    s = ExponentialSpectrum(beta=1.0, alpha=1.0, p=1.0)
    for ln_n, printed, best in ((10, 0.045, -0.628), (100, -6.273, -6.937), (1000, -27.34, -28.0)):
        found = math.log(s.entropy_upper(float(ln_n), printed=True).value)
        sharper = math.log(s.entropy_upper(float(ln_n)).value)
        exact = math.log(entropy_A(s.spectrum(), float(ln_n)).value)
        assert found == pytest.approx(printed, abs=6e-3)
        assert exact == pytest.approx(best, abs=6e-3)
        assert math.log(s.entropy_lower(float(ln_n)).value) <= exact - math.log(6)
        assert exact <= sharper <= found
    # (8.76): the printed lower bound on the geometric mean is violated; the corrected one holds.
    j, tau, p = 5, 1.0, 1
    mean = math.exp(-tau / (2 * j) * sum(i**p for i in range(1, j + 1)))
    assert mean == pytest.approx(0.2231, abs=1e-4)
    assert mean < math.exp(-tau * j**p / (2 * (p + 1)))
    corrected = math.exp(-tau * ((j + 1) ** (p + 1) - 1) / (2 * j * (p + 1)))
    assert corrected <= mean <= math.exp(-tau * j**p / (2 * (p + 1)))
    # (8.80) is no upper bound for spectra that start at 0, and is refused for them.
    zero, one = (ExponentialSpectrum(1.0, 1.0, 2.0, start=i) for i in (0, 1))
    truth = math.log(entropy_A(zero.spectrum(), 10.0).value)
    assert truth == pytest.approx(-1.747, abs=1e-3)
    wrong = math.log(one.entropy_upper(10.0, printed=True).value)
    assert wrong == pytest.approx(-2.053, abs=1e-3)
    assert wrong < truth
    with pytest.raises(ValueError, match="not an upper bound"):
        zero.entropy_upper(10.0, printed=True)
    for ln_n in (1.0, 10.0, 100.0):  # shifted into the right form it is one
        assert zero.entropy_upper(ln_n).value >= entropy_A(zero.spectrum(), ln_n).value
    # (8.79) is a rate and no lower bound, and says so.
    rate = one.entropy_lower(10.0, printed=True)
    infimum = math.log(entropy_A(one.spectrum(), 10.0).value / 6)
    assert math.log(rate.value) == pytest.approx(-4.888, abs=1e-3)
    assert rate.violated
    assert infimum == pytest.approx(-5.116, abs=1e-3)
    assert infimum < math.log(rate.value)
    assert math.log(one.entropy_lower(10.0).value) <= infimum


def test_the_scaling_operator_of_a_law_of_decay_is_that_of_its_list():
    for law in (ExponentialSpectrum(1.0, 1.0, 1.0), PolynomialSpectrum(1.0, 2.0)):
        assert entropy_A(law, 5.0).value == entropy_A(law.spectrum(), 5.0).value
        assert entropy_A(law, 5.0).value <= law.entropy_upper(5.0).value


@pytest.mark.spec("SM-8.47")
def test_periodised_gaussians_are_brought_into_the_form_of_the_law():
    w0 = 2 * math.pi / 10
    spectrum = Spectrum.from_translation_invariant(GAUSSIAN, 10.0)
    # sorted index i >= 1 belongs to the wave number floor(i / 2) >= (i - 1) / 2
    law = ExponentialSpectrum(
        math.sqrt(math.sqrt(math.pi)), w0**2 / 16, 2.0, start=0, C_k=spectrum.C_k
    )
    i = np.arange(60)
    assert (spectrum.leading(60) <= law.beta**2 * np.exp(-law.alpha * i**2) * (1 + 1e-12)).all()
    for ln_n in (20.0, 200.0):
        assert law.entropy_upper(ln_n).value >= entropy_A(spectrum, ln_n).value


@pytest.mark.spec("SM-8.57")
def test_the_density_of_the_lattice_is_the_power_d():
    expected = {1: (-5.684, 0.4570), 2: (0.0685, 0.3364), 3: (1.095, 0.1773)}
    for d, (value, tau) in expected.items():
        found = continuum_entropy(100.0, alpha=0.5, p=2.0, dimension=d, period=10.0)
        exact = kernel_entropy(
            lambda w, d=d: (2 * math.pi) ** (-d / 2) * np.exp(-(w**2) / 2), 10.0, d, 100.0
        )
        assert math.log(found.value) == pytest.approx(value, abs=6e-4)
        assert 0.05 < math.log(found.value / exact) < 0.2  # above the exact value, by little
        assert found.relative
        assert not found.certified
        surface, density = 2 * math.pi ** (d / 2) / math.gamma(d / 2), (10 / (2 * math.pi)) ** d
        T = ((d + 2) * d / 2 * 100.0 / (density * surface)) ** (2 / (d + 2))
        assert continuum_tau(0.5, 2.0, d, T) == pytest.approx(tau, abs=1e-4)
        grid = np.linspace(0.001, 0.4999, 2000)  # the root is the minimiser
        objective = -d / 4 * np.log(0.5 - grid) - (grid / 2) ** (d / (d + 2)) * T
        assert grid[np.argmin(objective)] == pytest.approx(tau, abs=5e-4)
    printed = continuum_entropy(100.0, 0.5, 2.0, 1, 10.0, printed=True)
    assert math.log(printed.value) == pytest.approx(-7.14, abs=0.01)
    assert printed.violated
    assert math.log(printed.value) < -5.76


@pytest.mark.spec("SM-8.20")
def test_maureys_theorem_gains_one_half_and_not_two():
    assert rate_T(rates.Rate("algebraic", 0.5)).exponent == 1.0  # printed: alpha + 2 = 2.5
    fast = rates.Rate("exponential", 2 / 3)
    assert rate_T(fast) == fast
    # At a fixed ratio of m and log n, the mixed inequality has the slope alpha + 1/2.
    alpha = 1.0
    svc = SVClass(PolynomialSpectrum(1.0, alpha).spectrum(100_000), c=1.86)

    def eps(ln_n):
        return float(svc.eps(ln_n, int(10 * ln_n), which="mixed"))

    predicted = rate_T(rates.polynomial(alpha))
    assert predicted.slope(eps, 1e3) == pytest.approx(1.0, abs=0.02)
    # The best share of ln n for an algebraic rate a is 1 / (1 + 2 a).
    a = 0.7
    share = np.linspace(0.01, 0.99, 999)
    assert share[np.argmin(share**-0.5 * (1 - share) ** -a)] == pytest.approx(
        1 / (1 + 2 * a), abs=1e-3
    )


@pytest.mark.spec("SM-9.23", "SM-9.24")
def test_linear_programming_machines_square_algebraic_rates():
    for power, slope in ((2.0, 0.997), (1.5, 0.510), (3.0, 1.991), (2.5, 1.494)):
        alpha = power - 1
        lp = LPClass(PolynomialSpectrum(1.0, alpha).spectrum(60_000))
        rate = rates.polynomial(alpha, lp=True)
        found = rate.slope(lambda x, lp=lp: float(lp.eps(x, which="operator")), 1e3)
        assert found == pytest.approx(slope, abs=0.02) == pytest.approx(rate.exponent, abs=0.03)
        assert rate.exponent == 2 * rates.polynomial(alpha).exponent
    # Printed: j^-(alpha + 1/2) gives alpha. With j^-1.5, alpha = 1, the slope would be 1, not 0.51.
    assert rates.exponential(2.0, 3, lp=True) == rates.exponential(2.0, 3)


@pytest.mark.spec("SM-9.32")
def test_several_outputs_divide_ln_n():
    s = ExponentialSpectrum(1.0, 0.25, 2.0)
    assert s.entropy_upper(50.0, n_outputs=1).value == s.entropy_upper(50.0).value
    for d in (2, 3):
        repeated = entropy_A(s.spectrum().repeat(d), 60.0).value
        assert s.entropy_upper(60.0, n_outputs=d).value >= repeated
        assert s.entropy_upper(60.0, n_outputs=d).value == pytest.approx(
            math.sqrt(d) * s.entropy_upper(60.0 / d).value
        )
        # (9.52) prints ln dn, with which the value would fall with d and undercut the truth.
        printed = math.sqrt(d) * s.entropy_upper(60.0 + math.log(d)).value
        assert printed < repeated


@pytest.mark.spec("SM-8.45")
@pytest.mark.parametrize("alpha", [0.5, 2.0])
def test_polynomial_constants_by_brute_force(alpha):
    s = PolynomialSpectrum(beta=1.3, alpha=alpha, C_k=0.7)
    exact = s.spectrum(50_000)
    tau = np.linspace(0.001, 0.999, 400)[:, None] * alpha
    j = np.geomspace(1.0, 1e6, 2000)
    for ln_n in (0.02, 1.0, 40.0):
        sup = np.exp(-ln_n / j + tau / 2 * (1 - np.log(j))).max(axis=1)
        grid = 6 * 0.7 * 1.3 * np.sqrt(1 / (alpha - tau[:, 0]) + 1) * sup
        upper, lower = s.entropy_upper(ln_n), s.entropy_lower(ln_n)
        assert upper.value == pytest.approx(grid.min(), rel=2e-3)
        assert upper.value >= entropy_A(exact, ln_n).value
        constant = (2 * math.e) ** (-alpha / 2) * math.sqrt(1 / alpha + 0.57721566)
        formula = 0.7 * 1.3 * constant * (2 * ln_n / alpha) ** (-alpha / 2)
        assert lower.value == pytest.approx(formula)
        assert bool(lower.violated) == (ln_n < alpha / 4)
        if not lower.violated:
            assert lower.value <= entropy_A(exact, ln_n).value


@pytest.mark.spec("SM-8.47")
@pytest.mark.parametrize("p", [0.5, 3.0])
def test_exponential_constants_by_brute_force(p):
    s = ExponentialSpectrum(beta=1.3, alpha=0.8, p=p, C_k=0.7)
    tau = np.linspace(0.001, 0.9999, 2000)[:, None] * 0.8
    j = np.geomspace(1.0, 1e5, 3000)
    size = math.gamma(1 / p) / (p * (0.8 - tau[:, 0]) ** (1 / p))
    for ln_n in (0.02, 1.0, 40.0):
        sup = (-ln_n / j - tau * j**p / (2 * (p + 1))).max(axis=1)
        grid = 6 * 0.7 * 1.3 * np.sqrt(size) * np.exp(sup)
        assert s.entropy_upper(ln_n).value == pytest.approx(grid.min(), rel=2e-3)
        assert s.entropy_upper(ln_n).value >= entropy_A(s.spectrum(), ln_n).value
