#!/bin/sh
# Name what is missing before anything is built: one line, with the Debian package that brings it.
#
# usage: prerequisites.sh PYTHON CXX
python=$1
cxx=$2

missing() {
    echo "mercer: $1; on Debian: apt install $2" >&2
    exit 1
}

command -v "$python" > /dev/null 2>&1 \
    || missing "'$python' not found (Python 3.11 or newer is needed)" "python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null \
    || missing "Python 3.11 or newer is needed, '$python' is $("$python" -c 'import platform; print(platform.python_version())' 2> /dev/null)" \
        "python3 (or choose another: make PYTHON=python3.12)"
"$python" -c 'import ensurepip, venv' 2> /dev/null \
    || missing "Python's venv module is missing" "python3-venv"
"$python" -c 'import os, sys, sysconfig
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' \
    || missing "the header Python.h is missing" "python3-dev"
# CXX may carry arguments ("ccache g++"): it is split into words on purpose.
# shellcheck disable=SC2086
command -v ${cxx%% *} > /dev/null 2>&1 \
    || missing "the C++ compiler '$cxx' was not found" "g++"
# shellcheck disable=SC2086
echo '#include <concepts>
int main() {}' | $cxx -std=c++20 -fsyntax-only -x c++ - 2> /dev/null \
    || missing "the C++ compiler '$cxx' does not compile C++20 (g++ 11 or newer is needed)" "g++"
