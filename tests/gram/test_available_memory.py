"""Limits of memory: free memory, nested control groups of both versions, the address space."""

import subprocess
import sys
from mmap import PAGESIZE

import pytest

from mercer.gram.available_memory import available_bytes

MB = 1 << 20
UNLIMITED = 9223372036854771712  # as version 1 writes it


V1 = "35 31 0:32 {shown} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
V2 = "41 31 0:38 {shown} /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw\n"
OTHER = (
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
)


class Machine:
    """A folder with the files that the kernel shows; 20 GB are free."""

    def __init__(self, root):
        self.root = root
        self.write(
            "proc/meminfo", "MemTotal: 25000000 kB\nMemFree: 1 kB\nMemAvailable: 20971520 kB\n"
        )
        self.limits("unlimited")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def limits(self, soft, pages=0):
        row = f"{soft:<20} {'unlimited':<20}"
        self.write(
            "proc/self/limits",
            f"Limit                     Soft Limit           Hard Limit           Units\n"
            f"Max processes             64                   64                   processes\n"
            f"Max address space         {row} bytes\n",
        )
        self.write("proc/self/statm", f"{pages} 300 200 1 0 400 0\n")

    def groups(self, own, mounts):
        self.write("proc/self/cgroup", own)
        self.write("proc/self/mountinfo", OTHER + mounts)

    def v1(self, group, limit, used, cached=0):
        folder = f"sys/fs/cgroup/memory/{group}"
        self.write(f"{folder}/memory.limit_in_bytes", f"{limit}\n")
        self.write(f"{folder}/memory.usage_in_bytes", f"{used}\n")
        self.write(
            f"{folder}/memory.stat", f"cache 5\ninactive_file 3\ntotal_inactive_file {cached}\n"
        )

    def v2(self, group, limit, used, cached=0):
        folder = f"sys/fs/cgroup/{group}"
        self.write(f"{folder}/memory.max", f"{limit}\n")
        self.write(f"{folder}/memory.current", f"{used}\n")
        self.write(f"{folder}/memory.stat", f"anon 5\ninactive_file {cached}\nactive_file 3\n")

    @property
    def free(self):
        return available_bytes(str(self.root))


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_without_limits_the_free_memory_of_the_machine_counts(machine):
    assert machine.free == 20 << 30


def test_a_group_of_version_1_binds(machine):
    machine.groups("5:cpu:/\n4:cpuset,memory:/jobs/a\n0::/\n", V1.format(shown="/"))
    machine.v1("jobs/a", 500 * MB, 120 * MB)
    machine.v1("", UNLIMITED, 3000 * MB)
    assert machine.free == 380 * MB


def test_a_nested_group_of_version_2_binds(machine):
    machine.groups("0::/slice/job/step\n", V2.format(shown="/"))
    machine.v2("slice/job/step", "max", 40 * MB)
    machine.v2("slice/job", 500 * MB, 100 * MB)
    machine.v2("slice", 600 * MB, 550 * MB)  # others use it: the smallest rest binds
    assert machine.free == 50 * MB
    machine.v2("slice", "max", 550 * MB)
    assert machine.free == 400 * MB
    machine.v2("slice/job/step", 60 * MB, 40 * MB)
    assert machine.free == 20 * MB


def test_another_group_does_not_bind(machine):
    machine.groups("0::/mine\n", V2.format(shown="/"))
    machine.v2("mine", "max", 1)
    machine.v2("theirs", MB, MB)
    assert machine.free == 20 << 30


@pytest.mark.parametrize("own", ["4:memory:/docker/abc", "4:memory:/"])
def test_a_container_sees_its_own_group_as_the_mount(machine, own):
    machine.groups(own + "\n", V1.format(shown="/docker/abc"))
    machine.v1("", 256 * MB, 56 * MB)
    assert machine.free == 200 * MB


def test_a_group_below_that_of_the_container(machine):
    machine.groups("4:memory:/docker/abc/worker\n", V1.format(shown="/docker/abc"))
    machine.v1("", 256 * MB, 56 * MB)
    machine.v1("worker", 128 * MB, 28 * MB)
    assert machine.free == 100 * MB


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_pages_of_files_that_nobody_uses_count_as_free(machine, version):
    own, mount = {"v1": ("4:memory:/a\n", V1), "v2": ("0::/a\n", V2)}[version]
    machine.groups(own, mount.format(shown="/"))
    getattr(machine, version)("a", 500 * MB, 490 * MB, cached=400 * MB)
    assert machine.free == 410 * MB


def test_a_group_that_is_full_leaves_nothing(machine):
    machine.groups("0::/a\n", V2.format(shown="/"))
    machine.v2("a", 500 * MB, 501 * MB)
    assert machine.free == 0


def test_both_versions_at_once(machine):
    mounts = V1.format(shown="/") + V2.format(shown="/").replace(
        "cgroup rw", "cgroup/unified rw", 1
    )
    machine.groups("4:memory:/a\n0::/b\n", mounts)
    machine.v1("a", 500 * MB, 0)
    machine.v2("unified/b", 300 * MB, 0)
    assert machine.free == 300 * MB


def test_the_address_space_binds(machine):
    machine.limits(1000 * MB, pages=400 * MB // PAGESIZE)
    assert machine.free == 600 * MB


def test_files_of_another_form_are_no_limits(machine):
    machine.groups("nonsense\n\n0::/a\n", "nonsense\n\n" + V2.format(shown="/"))
    machine.v2("a", "nonsense", 0)
    machine.limits("nonsense")
    assert machine.free == 20 << 30


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_real_limit_of_the_address_space_makes_ridge_iterate():
    program = """
import resource
import numpy as np
from mercer import KernelRidge
from mercer.gram.available_memory import available_bytes
before = available_bytes()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), resource.RLIM_INFINITY))
assert available_bytes() <= 100 << 20 < before, (available_bytes(), before)
X = np.linspace(0, 1, 3000)[:, None]
model = KernelRidge(kernel="rbf", gamma=1.0, alpha=1.0).fit(X, np.sin(9 * X[:, 0]))
print(model.solver_)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "cg\n"
