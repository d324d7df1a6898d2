"""The thread pool of the native core, made known to threadpoolctl.

``threadpoolctl.threadpool_limits(limits=1)`` and everything built on it (joblib's worker
processes, scikit-learn's nested parallelism) then also limits mercer.
"""

from __future__ import annotations

from threadpoolctl import LibController, register

from mercer._version import __version__


class MercerController(LibController):
    """Reads and sets the number of threads through two C functions of the native module."""

    user_api = "mercer"
    internal_api = "mercer"
    filename_prefixes = ("_native",)
    check_symbols = ("mercer_get_num_threads", "mercer_set_num_threads")

    def get_num_threads(self) -> int:
        """Return the number of threads in use."""
        return int(self.dynlib.mercer_get_num_threads())

    def set_num_threads(self, num_threads: int) -> None:
        """Limit the number of threads."""
        self.dynlib.mercer_set_num_threads(int(num_threads))

    def get_version(self) -> str:
        """Return the version of mercer."""
        return __version__


def register_pool() -> None:
    """Tell threadpoolctl about the pool."""
    register(MercerController)
