#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# NX with what is installed, in a folder that was moved, by pkg-config: the example in C, a program that does not include the header, one
# that has a routine's name for something else, C++ and Fortran.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_nx_install: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH EARL_VERBOSE
fail() {
    echo "FAIL test_nx_install: $*"
    exit 1
}
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && fail "cmake --install"; }
mv "$scratch/first" "$scratch/moved"
enl=$scratch/moved/bin/enl
pkg=$(dirname "$(find "$scratch/moved" -name bcr-nx.pc)")
export PKG_CONFIG_PATH=$pkg
cflags=$(pkg-config --cflags bcr-nx)
libs="$(pkg-config --libs bcr-nx) -Wl,-rpath,$(dirname "$pkg")"
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
    [[ $said == $2 ]] || fail "it says \"$said\", not \"$2\""
}

compiles "$CC" "$scratch/moved/share/bcr/examples/nx/pi.c" -Wall -Wextra -Werror -lm
says 3 'pi is 3.14159265*, by 3 nodes in *'
echo "ok the example"

# A makefile of that time, of which only the variables are ours.
cp "$scratch/moved/share/bcr/examples/nx/pi.c" .
cat >makefile <<'M'
CC = icc
CFLAGS = -O
LIBS = -lm -node
pi: pi.o
	$(CC) $(CFLAGS) -o pi pi.o $(LIBS)
M
make CC="$CC" CFLAGS="-O $cflags" LIBS="-lm $libs" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "make"; }
mv pi program
says 2 'pi is 3.14159265*, by 2 nodes in *'
echo "ok a makefile"

cat >both.c <<'C'
#include <cube.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    long node, got, sum = 0;
    if (argc > 1) {
        getcube("", argv[1], "", 0);
        load(argv[0], -1, 0);
        for (node = 0; node < numnodes(); node++) {
            crecv(1, &got, sizeof got);
            sum += got;
        }
        printf("%ld from %ld nodes\n", sum, numnodes());
        return 0;
    }
    node = mynode();
    csend(1, &node, sizeof node, myhost(), 0);
    return 0;
}
C
# shellcheck disable=SC2046
"$CC" both.c $(pkg-config --cflags --libs bcr-nxhost) "-Wl,-rpath,$(dirname "$pkg")" -o both || fail "a host program"
export PATH=$scratch/moved/bin:$PATH NX_PROGRAM=nx-$$
[ "$(timeout 60 ./both 3)" = "3 from 3 nodes" ] || fail "the host program"
commands=$(pkg-config --variable=commands bcr-nxhost)
[ "$("$commands/getcube" --help | head -n 1)" = 'usage: getcube [-c NAME] [-t TYPE]' ] || fail "$commands"
echo "ok a host program, and the commands"

cat >old.c <<'C'
char led[] = "a lamp of its own";
main()
{
    int got, sent = mynode();
    csend(1, &sent, sizeof(sent), numnodes() - 1 - mynode(), 0);
    crecv(1, &got, sizeof(got));
    if (got == 0)
        printf("%d got %d, and has %s\n", mynode(), got, led);
    return 0;
}
C
compiles "$CC" old.c -std=gnu89 -Wimplicit-function-declaration
grep -q "implicit declaration of function .csend" "$scratch/log" || fail "the compiler does not warn"
says 2 '1 got 0, and has a lamp of its own'
echo "ok a program without the header"

cat >cxx.cc <<'C'
#include <cube.h>
#include <cstdio>
int main()
{
    double sum = 0.5, work;
    gdsum(&sum, 1, &work);
    if (mynode() == 0)
        std::printf("%g\n", sum);
}
C
if command -v g++ >/dev/null; then
    compiles g++ cxx.cc -Wall -Wextra -Werror
    says 3 1.5
    echo "ok C++"
else
    echo "skip C++: there is no g++ (package g++)"
fi

cat >fortran.f90 <<'F'
program free
  include 'fcube.h'
  integer :: sums(2), work(2)
  sums = (/ mynode(), 1 /)
  call gisum(sums, 2, work)
  if (mynode() == 0) print '(2i3)', sums
end program
F
if command -v gfortran >/dev/null; then
    compiles gfortran fortran.f90 -Wall -Werror
    says 3 '  3  3'
    echo "ok Fortran, in free form"
else
    echo "skip Fortran: there is no gfortran (package gfortran)"
fi
