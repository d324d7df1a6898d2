"""Lossless compression of arrays of numbers and of states, for files and pickles.

The bytes of the numbers are transposed before they go to zlib: first all first bytes, then all
second ones, and so on. Signs and exponents of neighbours are alike and compress, the last digits
are not and do not.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import struct
import zlib
from typing import Any

import numpy as np
import scipy.sparse as sp


def shuffled(raw: bytes, size: int) -> bytes:
    """Return the bytes of numbers of `size` bytes each, sorted by their place in the number."""
    return np.frombuffer(raw, dtype=np.uint8).reshape(-1, size).T.tobytes()


def unshuffled(raw: Any, size: int) -> bytes:
    """Undo `shuffled`."""
    return np.frombuffer(raw, dtype=np.uint8).reshape(size, -1).T.tobytes()


_SAMPLE = 2**16  # bytes on which the byte shuffle is tried


def compressed(raw: bytes, size: int, level: int) -> tuple[bytes, int]:
    """Return bytes compressed by zlib, and the item size of the byte shuffle; 1: no shuffle.

    A byte shuffle puts the first bytes of all numbers first, then the second ones, and so on, which
    compresses signs and exponents; repeated numbers compress better without it. `size`: bytes of a
    number. `level`: of zlib.
    """
    some = raw[: _SAMPLE // size * size]
    ways = {by: zlib.compress(shuffled(some, by), level) for by in (1, size)}
    by = min(ways, key=lambda by: len(ways[by]))
    return (ways[by] if len(some) == len(raw) else zlib.compress(shuffled(raw, by), level)), by


_OVERHEAD = 40  # bytes that a packed array takes in a pickle beyond an array


class PackedArray:
    """An array of numbers, compressed."""

    def __init__(self, array: np.ndarray) -> None:
        self.dtype, self.shape = array.dtype.str, array.shape
        level = 6 if array.nbytes <= _SAMPLE else 1  # where little time is at stake
        self.content, self.by = compressed(array.tobytes(), array.itemsize, level)

    def unpacked(self) -> np.ndarray:
        """Return the array."""
        return _array(self.dtype, self.shape, zlib.decompress(self.content), self.by)


_LARGE = 2**23  # bytes beyond which time counts for more than size


def packed_if_smaller(value: Any) -> Any:
    """Return an array of numbers in packed form if that saves a twentieth; others as they are."""
    if not (isinstance(value, np.ndarray) and value.dtype.kind in "biuf"):
        return value
    if not 0 < value.nbytes <= _LARGE:
        return value
    packed = PackedArray(value)
    return packed if len(packed.content) + _OVERHEAD < 0.95 * value.nbytes else value


def unpacked(value: Any) -> Any:
    """Return what `packed_if_smaller` was given."""
    return value.unpacked() if isinstance(value, PackedArray) else value


def differing_bits(array: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return the bits in which float64 numbers differ from others, as integers.

    Numbers that are equal, or nearly so, give zeros in most places, which compress.
    """
    return np.ascontiguousarray(array).view(np.uint64) ^ reference.view(np.uint64)


def restored_bits(value: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return what `differing_bits` was given; an array of floats, as older files hold it, as is."""
    if value.dtype != np.uint64:
        return value
    bits = value.copy()
    bits ^= reference.view(np.uint64)  # in place: never larger than what was stored
    return bits.view(np.float64)


# Preset dictionaries of `deflated`: names and values that fitted models have. Parts of the formats
# of model files, so they never change.
USUAL_3 = b"""
X_fit_ alpha eigenvalues_ eigenvectors_ expansion_ Expansion vectors coef intercept poly_coef
float32 random_state scalar objects sparse csr_matrix csr_array set frozenset slice mapping
Vocabulary nu epsilon
epsilon_insensitive loss NuSVC NuSVR OneClassSVM SVC SVR ["estimator" pipeline steps
mercer.machines.record mercer.machines.class_pairs mercer.solvers.certificate numpy.dtype
numpy._core.multiarray _reconstruct ndarray mercer.kernels.vectors.rbf mercer.objects.compression
PackedArray content shape Linear Polynomial {"kernel":["RBF",{"gamma": {"tuple":[
"certificates_":[{"record":["Certificate",{"status":"optimal","primal": "dual": "gap":
"relative_gap": "kkt_violation": "n_iter": "n_kernel_values": "seconds": "precision":"float64",
"assumes":null,"rounding": "convexity":"theorem","eigenvalue":null,"rounding_basis":"estimate",
"widened":0.0,"n_problems":1}]}],"certificates_":{"record":["PairCertificates",{"_columns":
{"mapping":[["primal",{"array":["<f8",[1],"C",  ["dual",{"array":["<u8",["terms",["rounding",
["violation",["n_iter",{"array":["<i4",[1],"C", ["status",{"array":["|i1",[1],"C", "_statuses":
["optimal","iteration_limit","time_limit","interrupted","infeasible","stationary","stalled"],
"_seconds": "_n_kernel_values": "rho_": "offset_": "_support_share":
{"kernel":"rbf","degree":3,"gamma":"scale","coef0":0.0,"shrinking":true,"probability":false,
"tol":0.001,"C":1.0,"epsilon":0.1,"cache_size":200,"class_weight":null,"verbose":false,
"max_iter":-1,"decision_function_shape":"ovr","break_ties":false,"random_state":null,
"penalty_norm":1,"C2":null,"multiclass":"ovo","calibration":"free","fit_intercept":true,
"lam":null,"gap_tol":null,"time_limit":null,"warm_start":false,"n_jobs":null,"dtype":"auto",
"solver":"auto","n_features_in_": "_trained_on_sparse":false,"classes_":{"array":["|b1",[2],"C",
"class_weight_": "C_":1.0,"n_support_":{"array":["<i4",[2],"C", "intercept_":{"array":["<f8",
"_linear":null,"_precision":"float64","kernel_":{"kernel":["RBF",{"gamma":
"support_":{"array":["<i4",[ "support_vectors_":{"array":["<f8",[ "dual_coef_":{"array":["<f8",[1,
"_linear_columns":null,"shape_fit_":{"tuple":["_support_price":1.0,"_largest":1.0,
"_support_weight":null,"_support_target": "_support_epsilon":null,"_alpha_shares":{"array":["<f8",
"negative_curvature_":null,"_squared_norms": "_intercept_ranges":{"array":["<u8",[2,1],"C",
"fit_status_":0,"n_iter_": "_record":{"record":["TrainingRecord",{"n_total": "kept":null,
"codes":null,"excess":{"record":["BriefParts",{"codes":{"array":["|u1",[ "lengths":{"array":["|u1",
"values":{"array":["<f4",[ "marks": "values":null}]},"edge":0.001}]},"_distinct":null}]}
"""

USUAL = (
    b"""
{"mercer":"0.1.0","model":{"estimator":["Nystrom",{"kernel":"rbf","gamma":"scale","degree":3,
"coef0":0.0,"n_components":100,"selection":"uniform","rank_tol":1e-14,"random_state":null,
"landmark_indices_":"landmarks_":"normalization_":"n_components_":
["KernelPCA",{"n_components":2,"kernel":"linear","gamma":null,"degree":3,"coef0":1,
"kernel_params":null,"alpha":1.0,"fit_inverse_transform":false,"preimage":"learned",
"eigen_solver":"auto","tol":1e-05,"max_iter":null,"iterated_power":"auto","remove_zero_eig":false,
"random_state":null,"copy_X":true,"n_jobs":null,"center":true,"project_out":null,
"allow_indefinite":false,"time_limit":null,"verbose":false,"n_features_in_":1,
"_trained_on_sparse":false,"eigenvalues_":{"array":["<f8",[ "eigenvectors_":"total_variance_":
"_root":null,"_total": "_offsets":{"array":["<f8",[1, "_point":null,"n_components_":
"_n_left_out":0,"X_fit_":{"array":["<f4",[ "eigenvalue_bounds_":{"array":["<u8",[
"certificate_":{"record":["Certificate",{"status":
{"estimator":["KernelRidge",{"alpha":1.0,"kernel":"rbf","gamma":null,"degree":3,"coef0":1,
"kernel_params":null,"fit_intercept":false,"solver":"auto","tol":1e-09,"max_iter":null,
"time_limit":null,"verbose":false,"n_features_in_":1,"_trained_on_sparse":false,"_weight":null,
"noise_variance_":1.0,"certificates_":{"tuple":[{"array":["<u8",[11,1],"C",0,
,1]},["optimal","float64",null,"theorem",null,"estimate"]]},"solver_":"cholesky","n_iter_":1,
"kernel_":{"kernel":["RBF",{"gamma":1.0}]},"dual_coef_":{"array":["<f8",[
"intercept_":{"array":["<f8",["intercept_":0.0,"_kept":null,"support_vectors_":{"array":["<f8",[
"_task_weights":{"array":["<f8",[
""".replace(b"\n", b"")
    + USUAL_3
)


def _in_pickles(attributes: str) -> bytes:
    """Return names of attributes and usual values, or how any starts, as pickles hold them."""
    parts = [word.partition("=")[::2] for word in attributes.split()]
    names = [b"\x8c%c%b\x94" % (len(name), name.encode()) for name, _ in parts]
    return b"".join(name + _opcode(value) for name, (_, value) in zip(names, parts, strict=True))


def _opcode(value: str) -> bytes:
    if value.isdigit():
        return b"K%c" % int(value)
    if value[:1].isdigit():
        return b"G" + struct.pack(">d", float(value))
    starts = {"None": b"N", "False": b"\x89", "True": b"\x88", "float": b"G", "int": b"K"}
    starts |= {"minus": b"J\xff\xff\xff\xff", "dict": b"}\x94"}
    return starts.get(value, b"")  # a name follows


# Preset dictionary of pickles, which the version that wrote them alone reads.
_USUAL_IN_PICKLES = USUAL + _in_pickles(
    """
    kernel rbf gamma scale degree=3 coef0=0.0 probability=False class_weight=None
    decision_function_shape ovr break_ties=False random_state=None multiclass ovo calibration free
    shrinking=True tol=0.001 cache_size=200 verbose=False max_iter=minus fit_intercept=True lam=None
    gap_tol=None time_limit=None warm_start=False n_jobs=None dtype auto solver n_features_in_=int
    _trained_on_sparse=False classes_ mercer.objects.compression _array <i8 class_weight_ <f8
    C_=1.0 _linear=None n_support_ <i4 intercept_ _precision float64 kernel_
    mercer.kernels.vectors.rbf RBF support_ support_vectors_ dual_coef_ _linear_columns=None
    shape_fit_=int _lazy=dict _support_price=1.0 _largest=1.0 _support_weight=None _task_weights
    certificates_ <u8 optimal float64=None theorem=None estimate negative_curvature_=None
    _squared_norms _intercept_ranges fit_status_=0 n_iter_ _record
    mercer.machines.support_vector.training_record TrainingRecord n_total=int kept=None codes=None
    excess BriefParts lengths values marks edge _distinct=None
    numpy._core.multiarray scalar numpy dtype
    n_components=int selection uniform rank_tol random_state=None landmark_indices_ landmarks_
    eigenvalues_ normalization_ n_components_=int
    n_components=int kernel rbf gamma=None degree=3 coef0=1 kernel_params=None alpha=1.0
    fit_inverse_transform=False preimage learned eigen_solver auto tol=1e-5 max_iter=None
    iterated_power remove_zero_eig=False random_state=None copy_X=True n_jobs=None center=True
    project_out=None allow_indefinite=False time_limit=None verbose=False n_features_in_=int
    _trained_on_sparse=False eigenvalues_ eigenvectors_ total_variance_=float _root=None
    _total=float _offsets _point=None n_components_=int kernel_ _n_left_out=0 X_fit_
    eigenvalue_bounds_ certificate_ mercer.solvers.certificate Certificate status optimal
    primal=float dual=float gap=float relative_gap=float kkt_violation=float n_iter=0
    n_kernel_values=int seconds=float precision float64 assumes=None rounding=float
    convexity theorem eigenvalue=None rounding_basis estimate widened=0.0 n_problems=1 dual_coef_
    alpha=1.0 kernel rbf gamma=None degree=3 coef0=1 kernel_params=None fit_intercept=False
    solver auto tol=1e-9 max_iter=None time_limit=None verbose=False n_features_in_=int
    _trained_on_sparse=False _weight=None _lazy=dict noise_variance_=1.0 certificates_
    mercer.objects.compression _array <u8 optimal float64=None theorem=None estimate solver_
    cholesky n_iter_=1 kernel_ mercer.kernels.vectors.rbf RBF dual_coef_ intercept_=0.0 _kept=None
    support_vectors_
    """
)


def deflated(raw: bytes, usual: bytes = USUAL) -> bytes:
    """Return the text of a model, compressed."""
    packer = zlib.compressobj(9, zdict=usual)
    return packer.compress(raw) + packer.flush()


def inflated(stored: Any, most: int = 0, usual: bytes = USUAL) -> bytes:
    """Return what `deflated` was given, at most so many bytes; 0 stands for all."""
    return zlib.decompressobj(zdict=usual).decompress(stored, most)


_ALONE = 24  # bytes by which an array compressed alone may look too large
_SMALL = 2**14  # bytes up to which a value is pickled with the rest


class _Pickler(pickle.Pickler):
    """Writes small arrays of numbers in few bytes, in the order that compresses.

    Large ones go to `arrays`, packed, and those that are equal only once.
    """

    def __init__(self, buffer: io.BytesIO) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self.arrays: list[Any] = []
        self._places: dict[Any, int] = {}
        self._known: dict[bytes, bytes] = {}

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is not np.ndarray or value.nbytes <= _SMALL or not value.flags.c_contiguous:
            return None
        known = value.dtype.str, value.shape, hashlib.sha256(value.data).digest()
        if known not in self._places:
            self._places[known] = len(self.arrays)
            self.arrays.append(packed_if_smaller(value))
        return self._places[known]

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.dtype.kind not in "biuf":
            return NotImplemented
        if value.flags.f_contiguous and not value.flags.c_contiguous:
            return np.transpose, (value.T,)
        raw = value.tobytes()
        by_place = shuffled(raw, value.itemsize)
        # Beside the rest of the state signs and exponents compress better than alone.
        plainly = len(zlib.compress(raw, 1)) + _ALONE <= len(zlib.compress(by_place, 1))
        raw = raw if plainly else by_place
        raw = self._known.setdefault(raw, raw)  # equal bytes are written once
        return _array, (value.dtype.str, value.shape, raw, 1 if plainly else value.itemsize)


class _Unpickler(pickle.Unpickler):
    """Reads what `_Pickler` wrote."""

    def __init__(self, content: bytes, arrays: list[Any]) -> None:
        super().__init__(io.BytesIO(content))
        self._arrays = [unpacked(array) for array in arrays]

    def persistent_load(self, place: int) -> np.ndarray:
        return self._arrays[place]


def _array(dtype: str, shape: tuple[int, ...], raw: bytes, by: int) -> np.ndarray:
    return np.frombuffer(bytearray(unshuffled(raw, by)), dtype=dtype).reshape(shape)


def packed_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state whose plain values are one compressed pickle and a list of large arrays.

    Names, types and small arrays cost more bytes than what they hold. Values of types that are not
    plain, such as a user's functions, are left for the pickler.
    """
    plain = {name: value for name, value in state.items() if _is_plain(value)}
    rest = {k: value for k, value in state.items() if k not in plain}
    buffer = io.BytesIO()
    pickler = _Pickler(buffer)
    pickler.dump(plain)
    return {**rest, "_packed": (deflated(buffer.getvalue(), _USUAL_IN_PICKLES), *pickler.arrays)}


def unpacked_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return what `packed_state` was given."""
    content, *arrays = state.pop("_packed")
    whole: dict[str, Any] = _Unpickler(inflated(content, usual=_USUAL_IN_PICKLES), arrays).load()
    return whole | state


_OWN = ("mercer.", "sklearn.gaussian_process.kernels")  # classes that parts of models have


def _is_plain(value: Any) -> bool:
    if value is None or type(value) in (bool, int, float):
        return True
    if type(value) in (str, bytes):
        return len(value) <= _SMALL
    if isinstance(value, np.generic):
        return value.dtype.kind in "biuf"
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biuf" or (value.dtype.kind == "U" and value.nbytes <= _SMALL)
    if isinstance(value, sp.csr_matrix | sp.csr_array):
        return value.dtype.kind in "biuf"
    if type(value) in (list, tuple, frozenset):
        return len(value) <= _SMALL and all(map(_is_plain, value))
    if type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    if type(value).__module__.startswith(_OWN) and hasattr(value, "__dict__"):
        return _is_plain(value.__getstate__())
    return False
