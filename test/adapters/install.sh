# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# install.sh TEST PACKAGE -- sourced by each test_install.sh: BCR is installed into $scratch/first, which becomes $scratch/moved;
# `enl` is the command there, `pkg` the folder of its files for pkg-config, `cflags` and `libs` are what those say of PACKAGE.
# The working directory is an empty folder.
# shellcheck disable=SC2034 # who sources this uses the variables
set -euo pipefail

test=$1
if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip $test: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH EARL_VERBOSE
fail() {
    echo "FAIL $test: $*"
    exit 1
}
# does WHAT COMMAND...: what it prints is in $scratch/log.
does() {
    "${@:2}" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "$1"; }
}
# compiles COMPILER FILE PROGRAM [OPTION]...
compiles() {
    # shellcheck disable=SC2086
    does "$1 $2" "$1" "${@:4}" $cflags "$2" $libs -o "$3"
}
# says PATTERN COMMAND...: that is all that it prints.
says() {
    local said
    said=$("${@:2}" 2>&1) || fail "status $? of ${*:2}: $said"
    # shellcheck disable=SC2053
    [[ $said == $1 ]] || fail "${*:2} says \"$said\", not \"$1\""
}
# has COMPILER LANGUAGE
has() {
    command -v "$1" >/dev/null || { echo "skip $2: there is no $1 (package $1)" && false; }
}

does "cmake --install" "$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/moved"
enl=$scratch/moved/bin/enl
pkg=$(dirname "$(find "$scratch/moved" -name "$2.pc")")
export PKG_CONFIG_PATH=$pkg
cflags=$(pkg-config --cflags "$2")
libs="$(pkg-config --libs "$2") -Wl,-rpath,$(dirname "$pkg")"
mkdir "$scratch/programs"
cd "$scratch/programs"
