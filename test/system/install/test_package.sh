#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds BCR as packagers do: with the default generator and no build type, from a tree that is not written to and has a blank in its
# name, with their flags, into a DESTDIR and a library folder of the architecture's. Then as a part of another project, with several
# configurations and link-time optimization.
set -euo pipefail

: "${BCR_SOURCE_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
command -v make >/dev/null || { echo "skip test_package: make is not installed"; exit 77; }

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT
for name in $(compgen -v BCR_ | grep -vE '^BCR_(SOURCE_DIR|TEST_FULL)$'); do unset "$name"; done
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CMAKE_GENERATOR
export BCR_TEMPDIR="$scratch" # for logs
installed="$BCR_SOURCE_DIR/test/system/install"
tree="$scratch/a tree"
build="$scratch/a build"
root="$scratch/root"
arch=$("$CC" -dumpmachine)

step() { echo "-- $*"; }

fail() {
    echo "FAIL test_package: $*"
    exit 1
}

# Runs a command whose output only matters if it fails.
quietly() { "$@" >"$scratch/log" 2>&1 || { tail -n 60 "$scratch/log"; fail "$*"; }; }

check_runs() {
    local said
    said=$("$@") || fail "ended with status $?: $*"
    [[ $said == "a region of my own, BCR "* ]] || fail "said \"$said\": $*"
}

step "a tree that is not written to"
mkdir "$tree"
tar -C "$BCR_SOURCE_DIR" --exclude=./.git --exclude='./build*' -cf - . | tar -C "$tree" -xf -
chmod -R a-w "$tree"
touch "$scratch/unpacked"

step "make, as packages are built"
flags="-g -ffile-prefix-map=$scratch=. -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time"
if [ -n "${BCR_TEST_FULL-}" ]; then
    flags+=" -O2 -D_FORTIFY_SOURCE=2"
else
    echo "skip a part of test_package: optimized, which takes twice as long: ./check --all does it"
fi
quietly env CC="$CC" CFLAGS="$flags" LDFLAGS="-Wl,-z,relro -Wl,-z,now" "$CMAKE" -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_SYSCONFDIR=/etc -DCMAKE_INSTALL_LIBDIR="lib/$arch"
grep -q '^CMAKE_GENERATOR:INTERNAL=Unix Makefiles$' "$build/CMakeCache.txt" || fail "the default generator is not Unix Makefiles"
quietly make -C "$build" -j 2
! grep 'warning:' "$scratch/log" || fail "the compiler warns"
[ ! -e "$build/test" ] || fail "tests are built that nobody has asked for"

step "make install into a DESTDIR"
quietly make -C "$build" install DESTDIR="$root"
for file in bin/enl include/bcr.h "lib/$arch/libbcr.so" "lib/$arch/libbcr.a" "lib/$arch/pkgconfig/bcr.pc" \
    "lib/$arch/cmake/BCR/bcr-config.cmake" share/man/man1/enl.1 share/man/man3/bcr_put.3 share/doc/bcr/guide.md share/bcr/examples/Makefile; do
    [ -e "$root/usr/$file" ] || fail "$file is not installed"
done
library=$(readlink -f "$root/usr/lib/$arch/libbcr.so")
[ -e "$root/usr/share/gdb/auto-load${library#"$root"}-gdb.py" ] || fail "gdb's script is not where Debian's gdb looks for it"
[ "$(ls "$root")" = usr ] || fail "beside usr there is: $(ls "$root")"
if grep -rlF "$scratch" "$root"; then
    fail "these name the folder in which they were built"
fi
if readelf -d "$root/usr/bin/enl" "$root/usr/lib/$arch/libbcr.so" | grep -E 'R(UN)?PATH'; then
    fail "these have a path for libraries"
fi

step "programs beside what was installed there"
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$root/usr/lib/$arch/pkgconfig"
eval "$CC -o '$scratch/shared' '$installed/consumer/consumer.c' $(pkg-config --cflags --libs bcr)"
LD_LIBRARY_PATH="$root/usr/lib/$arch" check_runs "$root/usr/bin/enl" "$scratch/shared"
unset PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
quietly "$CMAKE" -S "$installed/consumer" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_LIBRARY_ARCHITECTURE="$arch"
quietly "$CMAKE" --build "$scratch/consumer"
check_runs "$root/usr/bin/enl" "$scratch/consumer/consumer"
check_runs "$root/usr/bin/enl" "$scratch/consumer/consumer_static"
echo 'set(CMAKE_FIND_LIBRARY_SUFFIXES .a)' >"$scratch/archives.cmake" # docs/machines.md
quietly "$CMAKE" -S "$installed/consumer" -B "$scratch/archives" -DCMAKE_PREFIX_PATH="$root/usr" -DCMAKE_LIBRARY_ARCHITECTURE="$arch" \
    -DCMAKE_PROJECT_consumer_INCLUDE="$scratch/archives.cmake" -DCMAKE_EXE_LINKER_FLAGS=-static
quietly "$CMAKE" --build "$scratch/archives" --target consumer_static
check_runs "$root/usr/bin/enl" "$scratch/archives/consumer_static"

if [ -z "${BCR_TEST_FULL-}" ]; then
    echo "skip a part of test_package: within another project, with link-time optimization: ./check --all runs it"
elif command -v ninja >/dev/null; then
    step "within another project, with several configurations and link-time optimization"
    quietly env CC="$CC" CFLAGS="-std=gnu17" "$CMAKE" -S "$installed/subproject" -B "$scratch/subproject" -G "Ninja Multi-Config" \
        -DBCR_TREE="$tree" -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=OFF -DCMAKE_C_FLAGS_RELEASE=-O0
    quietly "$CMAKE" --build "$scratch/subproject" --config Release --target hello ring
    check_runs "$root/usr/bin/enl" "$scratch/subproject/Release/hello"
    check_runs "$root/usr/bin/enl" "$scratch/subproject/Release/ring"
fi

step "uninstalled by the list of what was installed"
sed "s|^|$root|" "$build/install_manifest.txt" | xargs -d '\n' rm
[ -z "$(find "$root" ! -type d)" ] || fail "these stay: $(find "$root" ! -type d)"

step "nothing has been written to the tree"
[ -z "$(find "$tree" -newer "$scratch/unpacked" -print -quit)" ] || fail "these are new: $(find "$tree" -newer "$scratch/unpacked")"

echo "ok test_package"
