"""Regularised principal manifolds: steps, special cases, variants, bad input."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import mercer
from mercer import KernelKMeans, KernelPCA, RegularizedPrincipalManifold
from mercer.features.manifolds.domain import Domain
from mercer.features.manifolds.starts import node_points, principal_axes
from mercer.features.manifolds.surface import Surface
from mercer.kernels import RBF, FromFunction, NegativeDistance, PeriodicGaussian, ThinPlate

RNG = np.random.default_rng(0)
T = RNG.uniform(0.0, np.pi, 120)
WAVE = np.stack([T - np.pi / 2, np.sin(2.0 * T)], axis=1)
X = WAVE + 0.05 * RNG.normal(size=WAVE.shape)
CLOUD = RNG.normal(size=(80, 3)) * [3.0, 1.0, 0.3] + [5.0, -2.0, 1.0]
TURN = np.linalg.qr(RNG.normal(size=(2, 2)))[0]


def objective(model, X, weight=1.0):
    """The sum form of the regularised quantisation error, from the fitted attributes alone."""
    R = X - model.inverse_transform(model.transform(X))
    K = model.kernel_(model.nodes_)
    penalty = np.trace(model.coef_.T @ K @ model.coef_)
    return (weight * (R**2).sum(axis=1)).sum() + 0.5 * model.lam * penalty


@pytest.mark.spec("SM-5.27", "SM-5.29")
def test_objective_is_a_sum_and_invariant_under_rotations():
    model = RegularizedPrincipalManifold(1, 0.5).fit(X)
    assert model.objective_ == pytest.approx(objective(model, X), rel=1e-6)
    K = model.kernel_(model.nodes_)
    norm = sum(
        model.coef_[i] @ model.coef_[j] * K[i, j] for i in range(len(K)) for j in range(len(K))
    )
    assert model.regularizer_ == pytest.approx(norm, rel=1e-6)
    turned = RegularizedPrincipalManifold(1, 0.5).fit(X @ TURN)
    assert turned.objective_ == pytest.approx(model.objective_, rel=1e-3)
    # lam stands beside a sum: twice the points with twice the lam have the same manifold.
    double = RegularizedPrincipalManifold(1, 1.0).fit(np.vstack([X, X]))
    assert double.objective_ == pytest.approx(2.0 * model.objective_, rel=1e-4)


@pytest.mark.spec("SM-5.29", "SM-5.33")
def test_regulariser_falls_with_lambda_and_the_objective_with_every_iteration():
    norms, errors = [], []
    for lam in (0.05, 0.2, 1.0, 10.0, 100.0):
        model = RegularizedPrincipalManifold(1, lam).fit(X)
        assert model.certificate_.status == "stationary"
        assert (np.diff(model.objective_path_) <= 0.0).all()
        assert model.certificate_.kkt_violation < 5e-3
        norms.append(model.regularizer_)
        errors.append(model.quantization_error(X))
    assert (np.diff(norms) < 0.0).all()
    assert (np.diff(errors) > 0.0).all()
    # Noise of 0.05 in two columns: what is left is its part across the curve, 0.05^2.
    assert errors[1] == pytest.approx(0.05**2, rel=0.3)


@pytest.mark.spec("SM-5.31")
def test_adaptation_solves_the_printed_linear_system():
    model = RegularizedPrincipalManifold(1, 0.5, tol=0.0, max_iter=400, n_nodes=8)
    model.fit(X)
    K_b = model.kernel_(model.nodes_)
    K_beta = model.kernel_(model.latent_, model.nodes_)
    centred = X - X.mean(axis=0)
    left = (0.25 * K_b + K_beta.T @ K_beta) @ model.coef_
    np.testing.assert_allclose(left, K_beta.T @ centred, atol=1e-4 * abs(K_beta.T @ centred).max())


@pytest.mark.spec("SM-5.28")
def test_expansion_at_new_coordinates():
    model = RegularizedPrincipalManifold(1, 0.1, n_nodes=15).fit(X)
    b = RNG.uniform(size=(7, 1))
    by_hand = model.offset_ + model.kernel_(b, model.nodes_) @ model.coef_
    np.testing.assert_allclose(model.inverse_transform(b), by_hand, atol=1e-10)
    np.testing.assert_allclose(model.offset_, X.mean(axis=0))
    assert model.nodes_.shape == (15, 1)


@pytest.mark.spec("SM-5.30")
def test_projection_finds_the_nearest_point_and_never_does_worse_than_its_grid():
    model = RegularizedPrincipalManifold(1, 0.1).fit(X)
    fine = np.linspace(0.0, 1.0, 20001)[:, None]
    curve = model.inverse_transform(fine)
    Z = RNG.normal(size=(40, 2)) * 1.5
    brute = ((Z[:, None] - curve) ** 2).sum(axis=2).min(axis=1)
    b = model.transform(Z)
    found = ((Z - model.inverse_transform(b)) ** 2).sum(axis=1)
    assert ((b >= 0.0) & (b <= 1.0)).all()
    assert (found <= brute * (1.0 + 1e-9) + 1e-12).all()
    surface: Surface = model._surface()
    rough = surface.project(Z, 1, steps=0)
    refined = surface.project(Z, 1, steps=30)
    assert (refined.squares <= rough.squares).all()
    assert refined.squares.sum() < rough.squares.sum()


@pytest.mark.spec("SM-5.32")
def test_start_is_the_line_of_the_first_principal_component():
    axes = principal_axes(CLOUD, np.ones(80))
    points = node_points(Domain("box", (9,)), CLOUD, np.ones(80), axes)
    first = PCA(1).fit(CLOUD)
    offsets = points - CLOUD.mean(axis=0)
    across = offsets - offsets @ first.components_.T @ first.components_
    assert abs(across).max() < 1e-12
    scores = first.transform(CLOUD)[:, 0]
    np.testing.assert_allclose(np.ptp(offsets @ first.components_[0]), np.ptp(scores))
    given = RegularizedPrincipalManifold(1, 10.0, n_nodes=9, init=points).fit(CLOUD)
    same = RegularizedPrincipalManifold(1, 10.0, n_nodes=9).fit(CLOUD)
    assert given.objective_ == pytest.approx(same.objective_, rel=1e-3)


@pytest.mark.spec("SM-5.24", "SM-5.36")
def test_principal_components_are_the_limit_of_a_large_lambda():
    for D in (1, 2):
        plane = RegularizedPrincipalManifold(D, 1e9, linear_term=True).fit(CLOUD)
        pca = PCA().fit(CLOUD)
        # The sum of the remaining eigenvalues of the covariance (with 1/n).
        left = pca.explained_variance_[D:].sum() * 79 / 80
        assert plane.quantization_error(CLOUD) == pytest.approx(left, rel=1e-6)
        span = plane.linear_coef_ @ pca.components_[D:].T
        assert abs(span).max() < 1e-6 * abs(plane.linear_coef_).max()
        kernel_pca = KernelPCA(D, kernel="linear").fit(CLOUD)
        assert kernel_pca.certificate_.primal / 80 == pytest.approx(left)
    # From the plane to a curve as lambda falls.
    errors = [
        RegularizedPrincipalManifold(1, lam, linear_term=True).fit(X).quantization_error(X)
        for lam in (1e9, 10.0, 0.1)
    ]
    assert errors[0] > errors[1] > errors[2]


@pytest.mark.spec("SM-5.21", "SM-5.23")
def test_k_means_is_the_functional_with_a_finite_index_set():
    start = CLOUD[[3, 30, 60, 70]]
    codes = RegularizedPrincipalManifold(
        1, 0.0, domain="grid", n_nodes=4, kernel=RBF(1e6), init=start, tol=1e-12
    ).fit(CLOUD)
    peer = KMeans(4, init=start, n_init=1, tol=0.0).fit(CLOUD)
    assert codes.objective_ == pytest.approx(peer.inertia_)
    np.testing.assert_allclose(
        codes.inverse_transform(codes.nodes_), peer.cluster_centers_, atol=1e-8
    )
    ours = KernelKMeans(4, kernel="linear", random_state=0).fit(CLOUD)
    assert codes.objective_ >= ours.certificate_.dual
    other = RNG.normal(size=(50, 3))
    nearest = ((other[:, None] - peer.cluster_centers_) ** 2).sum(axis=2).min(axis=1).mean()
    assert codes.quantization_error(other) == pytest.approx(nearest)
    assert codes.score(other) == -codes.quantization_error(other)


@pytest.mark.spec("SM-5.22")
def test_one_node_is_the_mean_and_its_error_the_variance():
    model = RegularizedPrincipalManifold(1, 0.0, domain="grid", n_nodes=1).fit(CLOUD)
    np.testing.assert_allclose(model.inverse_transform([[0.5]])[0], CLOUD.mean(axis=0))
    assert model.quantization_error(CLOUD) == pytest.approx(CLOUD.var(axis=0).sum())


@pytest.mark.spec("SM-5.21")
def test_training_and_test_errors_of_a_fixed_manifold_come_together():
    def sample(n, seed):
        rng = np.random.default_rng(seed)
        t = rng.uniform(0.0, np.pi, n)
        return np.c_[t - np.pi / 2, np.sin(2 * t)] + 0.05 * rng.normal(size=(n, 2))

    model = RegularizedPrincipalManifold(1, 0.1).fit(X)
    few = [
        abs(np.diff([model.quantization_error(sample(30, s)) for s in (i, i + 50)])[0])
        for i in range(10)
    ]
    many = [
        abs(np.diff([model.quantization_error(sample(3000, s)) for s in (i, i + 50)])[0])
        for i in range(10)
    ]
    assert np.mean(many) < 0.3 * np.mean(few)  # 0.1 in expectation


@pytest.mark.spec("SM-5.25")
def test_without_regularisation_the_error_of_a_curve_vanishes():
    few = X[:25]
    rough = RegularizedPrincipalManifold(
        1, 1e-9, kernel=RBF(3000.0), n_nodes=120, lam_start=1.0, tol=1e-2
    )
    rough.fit(few)
    smooth = RegularizedPrincipalManifold(1, 1.0).fit(few)
    assert rough.quantization_error(few) < 0.02 * smooth.quantization_error(few)
    # ... which says nothing about other points.
    assert rough.quantization_error(WAVE) > 5.0 * rough.quantization_error(few)


@pytest.mark.spec("SM-5.34")
def test_penalised_speed_is_a_penalty_on_the_length():
    lengths = []
    for lam in (1.0, 5.0, 20.0):
        curve = RegularizedPrincipalManifold(
            1, lam, kernel=0.5 * NegativeDistance(), n_nodes=60, tol=1e-9
        ).fit(X)
        length = curve.curve_length()
        # Cauchy-Schwarz: the integral of the squared speed is L^2 for constant speed only.
        assert 0.0 <= curve.regularizer_ / length**2 - 1.0 < 2e-3
        speeds = np.linalg.norm(np.diff(curve.inverse_transform(curve.nodes_), axis=0), axis=1)
        assert speeds.std() < 0.05 * speeds.mean()
        lengths.append(length)
    assert (np.diff(lengths) < 0.0).all()


@pytest.mark.spec("SM-5.35")
def test_soft_assignment_on_the_grid_is_the_generative_topographic_map():
    """One step of expectation maximisation, against the formulas of Bishop et al. (1998)."""
    kernel, lam, noise = RBF(20.0), 0.3, 0.04
    model = RegularizedPrincipalManifold(
        1,
        lam,
        kernel=kernel,
        n_nodes=12,
        domain="grid",
        assignment="soft",
        regularizer="l2",
        offset="mean",
        noise=noise,
        max_iter=1,
        tol=1e9,
    ).fit(X)
    centred = X - X.mean(axis=0)
    nodes = np.linspace(0.0, 1.0, 12)[:, None]
    Phi = kernel(nodes)
    axis = PCA(1).fit(X).components_[0]
    axis = axis * np.sign(axis[np.abs(axis).argmax()])
    scores = centred @ axis
    target = (scores.min() + nodes * np.ptp(scores)) * axis
    W = np.linalg.solve(Phi.T @ Phi + 0.5 * lam * np.eye(12), Phi.T @ target)
    squares = ((centred[:, None] - Phi @ W) ** 2).sum(axis=2)
    R = np.exp(-(squares - squares.min(axis=1, keepdims=True)) / (2 * noise))
    R /= R.sum(axis=1, keepdims=True)
    G = np.diag(R.sum(axis=0))
    W = np.linalg.solve(Phi.T @ G @ Phi + 0.5 * lam * np.eye(12), Phi.T @ R.T @ centred)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-6, atol=1e-8)
    shares = model.responsibilities(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.transform(X), shares @ nodes)


@pytest.mark.spec("SM-5.35")
def test_more_nodes_hardly_change_the_kernel_regulariser_but_the_l2_one():
    def change(regularizer):
        few, many = (
            RegularizedPrincipalManifold(1, 1.0, n_nodes=n, regularizer=regularizer).fit(X)
            for n in (20, 40)
        )
        grid = np.linspace(0.0, 1.0, 50)[:, None]
        return abs(few.inverse_transform(grid) - many.inverse_transform(grid)).max()

    assert change("kernel") < 0.02
    assert change("l2") > 5.0 * change("kernel")


@pytest.mark.spec("SM-5.35")
def test_soft_assignment_tends_to_hard_and_estimates_the_noise():
    options = {"n_nodes": 25, "domain": "grid", "kernel": RBF(12.0)}
    hard = RegularizedPrincipalManifold(1, 0.5, **options).fit(X)
    soft = RegularizedPrincipalManifold(1, 0.5, assignment="soft", noise=1e-5, **options).fit(X)
    cold = soft.objective_ - 2e-5 * 120 * np.log(25)  # the mean over the grid counts its points
    assert cold == pytest.approx(hard.objective_, rel=0.02)
    estimated = RegularizedPrincipalManifold(1, 0.01, assignment="soft").fit(X)
    assert (np.diff(estimated.objective_path_) <= 0.0).all()
    assert estimated.noise_variance_ == pytest.approx(0.05**2, rel=0.5)


@pytest.mark.spec("SM-5.37")
def test_closed_curves_and_tori():
    angle = RNG.uniform(0.0, 2 * np.pi, 150)
    ring = np.stack([2.0 * np.cos(angle), np.sin(angle)], axis=1) + 0.05 * RNG.normal(size=(150, 2))
    curve = RegularizedPrincipalManifold(1, 0.01, domain="periodic").fit(ring)
    ends = curve.inverse_transform([[0.0], [2 * np.pi]])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    assert curve.quantization_error(ring) == pytest.approx(0.05**2, rel=0.3)
    assert curve.curve_length() == pytest.approx(9.69, rel=0.02)  # the ellipse with axes 2 and 1
    assert isinstance(curve.kernel_, PeriodicGaussian)
    u, v = RNG.uniform(0.0, 2 * np.pi, (2, 250))
    tube = 2.0 + 0.7 * np.cos(v)
    torus = np.stack([tube * np.cos(u), tube * np.sin(u), 0.7 * np.sin(v)], axis=1)
    surface = RegularizedPrincipalManifold(
        2, 1e-2, domain="periodic", n_nodes=(10, 8), tol=1e-3
    ).fit(torus)
    assert surface.quantization_error(torus) < 0.003 * torus.var(axis=0).sum()


@pytest.mark.spec("SM-5.38")
def test_surfaces_and_volumes():
    u = RNG.uniform(-1.0, 1.0, (300, 2))
    sheet = np.c_[u, 0.5 * np.sin(2 * u[:, 0]) * np.cos(u[:, 1])] + 0.02 * RNG.normal(size=(300, 3))
    surface = RegularizedPrincipalManifold(2, 0.01, n_nodes=8, tol=1e-3).fit(sheet)
    assert surface.nodes_.shape == (64, 2)
    assert surface.transform(sheet).shape == (300, 2)
    assert surface.quantization_error(sheet) == pytest.approx(0.02**2, rel=0.4)
    w = RNG.uniform(-1.0, 1.0, (200, 3))
    block = np.c_[w, w[:, 0] ** 2]
    volume = RegularizedPrincipalManifold(3, 1e-3, n_nodes=4, tol=1e-3).fit(block)
    assert volume.quantization_error(block) < 0.02 * block.var(axis=0).sum()


def test_robust_losses_resist_outliers():
    t = RNG.uniform(-2.0, 2.0, 60)
    line = np.stack([t, 0.5 * t], axis=1) + 0.05 * RNG.normal(size=(60, 2))
    bad = np.vstack([line, [-2.0, 2.0] + 0.1 * RNG.normal(size=(6, 2))])

    def slope(**options):
        model = RegularizedPrincipalManifold(1, 1e6, linear_term=True, n_nodes=5, **options)
        model.fit(bad)
        assert (np.diff(model.objective_path_) <= 0.0).all()
        return model.linear_coef_[0, 1] / model.linear_coef_[0, 0]

    assert slope() < 0.4
    assert slope(loss="huber", threshold=0.1) == pytest.approx(0.5, abs=0.05)
    assert slope(loss="epsilon_insensitive", threshold=0.05) == pytest.approx(0.5, abs=0.05)
    options = {"n_nodes": 12, "init": np.linspace([-1.5, 0.5], [1.5, -0.5], 12), "offset": "mean"}
    wide = RegularizedPrincipalManifold(1, 1.0, loss="huber", threshold=1e3, **options).fit(X)
    same = RegularizedPrincipalManifold(1, 1.0, **options).fit(X)
    np.testing.assert_allclose(wide.coef_, same.coef_)


def test_robust_losses_keep_a_curve_off_scattered_outliers():
    rng = np.random.default_rng(1)
    t = rng.uniform(0.0, np.pi, 150)
    wave = np.stack([t - np.pi / 2, np.sin(2.0 * t)], axis=1) + 0.1 * rng.normal(size=(150, 2))
    bad = np.vstack([wave, rng.uniform([-1.6, -3.0], [1.6, 3.0], (20, 2))])
    grid, t = np.linspace(0.0, 1.0, 100)[:, None], np.linspace(0.0, np.pi, 200)
    truth = np.stack([t - np.pi / 2, np.sin(2.0 * t)], axis=1)

    def error(lam, **options):
        """Return the larger of the distances from the curve to the wave and back, squared means."""
        curve = RegularizedPrincipalManifold(1, lam, **options).fit(bad).inverse_transform(grid)
        squares = ((curve[:, None] - truth) ** 2).sum(axis=2)
        return np.sqrt(max(squares.min(axis=0).mean(), squares.min(axis=1).mean()))

    squared = min(error(lam) for lam in (1.0, 2.0, 10.0))
    assert error(1.0, loss="huber", threshold=0.1) < 0.6 * squared
    assert error(2.0, loss="epsilon_insensitive", threshold=0.05) < 0.6 * squared


@pytest.mark.spec("SM-5.33")
def test_annealing_and_restarts_never_hurt():
    spiral_t = np.linspace(0.0, 3.0 * np.pi, 150)
    spiral = (0.3 + spiral_t / 10)[:, None] * np.c_[np.cos(spiral_t), np.sin(spiral_t)]
    options = {"kernel": RBF(60.0), "random_state": 0, "tol": 1e-2}
    one = RegularizedPrincipalManifold(1, 1e-3, **options).fit(spiral)
    several = RegularizedPrincipalManifold(1, 1e-3, n_restarts=4, **options).fit(spiral)
    assert several.objective_ <= one.objective_
    annealed = RegularizedPrincipalManifold(1, 0.01, lam_start=10.0, tol=1e-3).fit(X)
    direct = RegularizedPrincipalManifold(1, 0.01, tol=1e-3).fit(X)
    assert annealed.objective_ <= 1.02 * direct.objective_
    assert annealed.objective_ == pytest.approx(objective(annealed, X), rel=1e-6)


def test_conditional_kernels_have_unpenalised_polynomials():
    sheet = RegularizedPrincipalManifold(2, 1e6, kernel=ThinPlate(), n_nodes=5).fit(CLOUD)
    left = PCA().fit(CLOUD).explained_variance_[2] * 79 / 80
    assert sheet.quantization_error(CLOUD) == pytest.approx(left, rel=1e-3)
    assert abs(np.c_[np.ones(25), sheet.nodes_].T @ sheet.coef_).max() < 1e-8


def test_saved_manifolds_answer_alike(tmp_path):
    for options in ({}, {"assignment": "soft"}, {"linear_term": True}):
        model = RegularizedPrincipalManifold(1, 0.1, **options).fit(X)
        model.transform(X)
        mercer.save(model, tmp_path / "model")
        loaded = mercer.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
        assert loaded.certificate_.status == model.certificate_.status


def test_time_limit_and_callbacks_end_a_fit_with_what_was_found():
    model = RegularizedPrincipalManifold(1, 0.01, tol=0.0, time_limit=1e-6)
    with pytest.warns(match="time limit"):
        model.fit(X)
    assert model.certificate_.status == "time_limit"
    assert model.transform(X).shape == (120, 1)
    stopped = RegularizedPrincipalManifold(1, 0.01, tol=0.0)
    stopped.set_callbacks(lambda report: report.iteration >= 3).fit(X)
    assert stopped.certificate_.status == "interrupted"
    assert stopped.n_iter_ == 3


def test_ctrl_c_keeps_the_manifold_found_so_far():
    def press(report):
        if report.iteration == 2:
            raise KeyboardInterrupt

    model = RegularizedPrincipalManifold(1, 0.01, tol=0.0).set_callbacks(press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.certificate_.status == "interrupted"
    assert model.quantization_error(X) < X.var(axis=0).sum()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lam": -1.0}, "lam must be a finite number of at least 0"),
        ({"domain": "sphere"}, "domain must be one of 'box', 'periodic', 'grid'"),
        ({"assignment": "soft", "loss": "huber"}, "mixture of Gaussians"),
        ({"domain": "periodic", "kernel": RBF(1.0)}, "period 2 pi"),
        ({"domain": "periodic", "kernel": "linear"}, "is not periodic"),
        ({"domain": "periodic", "linear_term": True}, "does not close"),
        ({"n_components": 3}, "3 principal directions, but X has 2"),
        ({"n_nodes": (3, 4)}, "one for each of the 1 axes"),
        ({"n_nodes": 10**6}, "are too many"),
        ({"init": np.zeros((3, 2))}, "a finite point for each of the 40 nodes"),
        ({"init": "random"}, "init must be 'pca' or"),
        ({"kernel": "precomputed"}, "cannot be precomputed"),
        ({"kernel": NegativeDistance(), "offset": "mean"}, "free constant"),
        ({"kernel": FromFunction(lambda A, B: -np.exp(-((A - B.T) ** 2)))}, "not positive semi"),
        ({"threshold": 0.0}, "threshold must be a number > 0"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        RegularizedPrincipalManifold(**options).fit(X)


def test_bad_coordinates():
    model = RegularizedPrincipalManifold(1, 0.1).fit(X)
    with pytest.raises(ValueError, match="latent coordinates"):
        model.inverse_transform([[0.0, 1.0]])
    with pytest.raises(ValueError, match="soft"):
        model.responsibilities(X)
    with pytest.raises(ValueError, match="only curves have a length"):
        RegularizedPrincipalManifold(2, 0.1, n_nodes=4).fit(CLOUD).curve_length()
