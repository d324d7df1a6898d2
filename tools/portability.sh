#!/bin/sh
# The C++ tests on another architecture and by another compiler: cross-compiled for 64-bit ARM and
# run in an emulator on the path that such machines take (the tests of the loops look at all paths);
# compiled by clang for this machine and run on every instruction set it has.
#
# usage: portability.sh CMAKE NINJA JOBS
set -e
cmake=$1
ninja=$2
jobs=$3

missing=
command -v aarch64-linux-gnu-g++ > /dev/null 2>&1 || missing="$missing g++-aarch64-linux-gnu"
command -v qemu-aarch64 > /dev/null 2>&1 || missing="$missing qemu-user"
command -v clang++ > /dev/null 2>&1 || missing="$missing clang"
if [ -n "$missing" ]; then
    echo "mercer: the checks of portability need more compilers; on Debian: apt install$missing" >&2
    exit 1
fi

# configure TREE OPTIONS...
configure() {
    tree=$1
    shift
    "$cmake" -S . -B "$tree" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" -DCMAKE_BUILD_TYPE=Release \
        -DMERCER_BUILD_PYTHON=OFF -DMERCER_BUILD_TESTS=ON -DMERCER_WERROR=ON "$@" > /dev/null
    "$cmake" --build "$tree" --target mercer_tests -j "$jobs"
    sh tools/check_isa.sh "$tree"
}

echo "== C++ tests on 64-bit ARM, in an emulator"
configure build/aarch64 -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
MERCER_ISA=neon qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/mercer_tests

echo "== C++ tests compiled by clang"
configure build/clang -DCMAKE_CXX_COMPILER=clang++
sh tools/on_every_isa.sh build/clang/mercer_tests
