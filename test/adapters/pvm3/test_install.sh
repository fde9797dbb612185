#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PVM with what is installed, in a folder that was moved, by pkg-config: the example in C, a program in the style of its time, C++ and
# Fortran.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_pvm3_install: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH EARL_VERBOSE
EARL_EXEC=$scratch/moved/libexec/bcr/earl-exec
export EARL_EXEC
fail() {
    echo "FAIL test_pvm3_install: $*"
    exit 1
}
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && fail "cmake --install"; }
mv "$scratch/first" "$scratch/moved"
enl=$scratch/moved/bin/enl
pkg=$(dirname "$(find "$scratch/moved" -name bcr-pvm3.pc)")
export PKG_CONFIG_PATH=$pkg
cflags=$(pkg-config --cflags bcr-pvm3)
libs="$(pkg-config --libs bcr-pvm3) -Wl,-rpath,$(dirname "$pkg")"
mkdir "$scratch/programs"
cd "$scratch/programs"

# compiles COMPILER FILE [OPTION]...
compiles() {
    # shellcheck disable=SC2086
    "$1" "${@:3}" $cflags "$2" $libs -o program >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "$1 $2"; }
}
says() { # COUNT PATTERN
    local said
    said=$("$enl" -n "$1" ./program 2>&1) || fail "status $? of the program: $said"
    said=${said% in * s} # how long it took
    [[ $said == "$2" ]] || fail "it says \"$said\", not \"$2\""
}

compiles "$CC" "$scratch/moved/share/bcr/examples/pvm3/dot.c" -Wall -Wextra -Werror
says 3 'the product is 1001000, by 3 tasks'
echo "ok the example"

# As a makefile of that time finds it.
PVM_ROOT=$(dirname "$pkg")/bcr/pvm3
arch=$("$PVM_ROOT/lib/pvmgetarch")
[ "$(readlink -f "$PVM_ROOT/include/pvm3.h")" = "$(readlink -f "$scratch/moved/include/bcr-pvm3/pvm3.h")" ] || fail "pvm3.h is no link"
for libraries in "-lpvm3" "-lgpvm3 -lpvm3" "-lfpvm3 -lpvm3 -lgpvm3"; do
    # shellcheck disable=SC2086
    "$CC" "-I$PVM_ROOT/include" "$scratch/moved/share/bcr/examples/pvm3/dot.c" "-L$PVM_ROOT/lib/$arch" $libraries \
        "-Wl,-rpath,$PVM_ROOT/lib/$arch" -o program >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "$libraries"; }
    says 2 'the product is 1001000, by 2 tasks'
done
echo "ok a PVM_ROOT"

pvm=$scratch/moved/bin/bcr-pvm
said=$(PVM_VMID=install$$ BCR_ENLISTPATH=$enl BCR_LOGDIR=$scratch "$pvm" <<<$'id\nhalt' 2>&1) || fail "status $? of bcr-pvm: $said"
[ "$said" = t40002 ] || fail "bcr-pvm says \"$said\""
echo "ok the console"

cat >old.c <<'C'
#include <pvm3.h>
main()
{
    int *tids, n = pvm_siblings(&tids), got = -1;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&n, 1, 1);
    pvm_send(tids[0], 7);
    if (pvm_mytid() == tids[0]) {
        while (n-- > 0)
            pvm_recv(-1, 7);
        pvm_upkint(&got, 1, 1);
        printf("%d tasks\n", got);
    }
    pvm_exit();
    return 0;
}
C
compiles "$CC" old.c -std=gnu89
says 2 '2 tasks'
echo "ok a program in the style of that time"

cat >cxx.cc <<'C'
#include <cstdio>
#include <pvm3.h>
int main()
{
    std::printf("%d siblings, tid %x\n", pvm_siblings(nullptr), pvm_mytid());
    return pvm_exit();
}
C
if command -v g++ >/dev/null; then
    compiles g++ cxx.cc -Wall -Wextra -Werror
    says 1 '1 siblings, tid 40001'
    echo "ok C++"
else
    echo "skip C++: there is no g++ (package g++)"
fi

cat >fortran.f90 <<'F'
program free
  include 'fpvm3.h'
  integer :: tid, n, info
  call pvmfmytid(tid)
  call pvmfsiblings(n, 0, info)
  if (tid == info) print '(i2,a)', n, ' tasks'
  call pvmfexit(info)
end program
F
if command -v gfortran >/dev/null; then
    compiles gfortran fortran.f90 -Wall -Werror
    says 3 ' 3 tasks'
    echo "ok Fortran, in free form"
else
    echo "skip Fortran: there is no gfortran (package gfortran)"
fi
