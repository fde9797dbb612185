#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# NX with what is installed, in a folder that was moved, by pkg-config: the example in C, a program that does not include the header, one
# that has a routine's name for something else, C++ and Fortran.
source "$(dirname "$0")/../install.sh" test_nx_install bcr-nx

compiles "$CC" "$scratch/moved/share/bcr/examples/nx/pi.c" program -Wall -Wextra -Werror -lm
says 'pi is 3.14159265*, by 3 nodes in *' "$enl" -n 3 ./program
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
does make make CC="$CC" CFLAGS="-O $cflags" LIBS="-lm $libs"
mv pi program
says 'pi is 3.14159265*, by 2 nodes in *' "$enl" -n 2 ./program
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
says "3 from 3 nodes" timeout 60 ./both 3
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
compiles "$CC" old.c program -std=gnu89 -Wimplicit-function-declaration
grep -q "implicit declaration of function .csend" "$scratch/log" || fail "the compiler does not warn"
says '1 got 0, and has a lamp of its own' "$enl" -n 2 ./program
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
if has g++ C++; then
    compiles g++ cxx.cc program -Wall -Wextra -Werror
    says 1.5 "$enl" -n 3 ./program
    echo "ok C++"
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
if has gfortran Fortran; then
    compiles gfortran fortran.f90 program -Wall -Werror
    says '  3  3' "$enl" -n 3 ./program
    echo "ok Fortran, in free form"
fi
