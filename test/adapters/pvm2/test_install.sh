#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PVM 2.4 with what is installed, in a folder that was moved, by pkg-config: two components in C, one without the header, and C++.
set -euo pipefail

if [ -n "${BCR_SANITIZE-}" ]; then
    echo "skip test_pvm2_install: a program would need the same sanitizer"
    exit 77
fi
: "${BCR_SOURCE_DIR:?run by ctest}" "${BCR_BUILD_DIR:?run by ctest}" "${CC:=cc}" "${CMAKE:=cmake}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCR_TEMPDIR=$scratch
unset BCR_ENLISTPATH
fail() {
    echo "FAIL test_pvm2_install: $*"
    exit 1
}
"$CMAKE" --install "$BCR_BUILD_DIR" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log" && fail "cmake --install"; }
mv "$scratch/first" "$scratch/moved"
pkg=$(dirname "$(find "$scratch/moved" -name bcr-pvm2.pc)")
# Where EXEC was to be installed is not where it is now.
EARL_EXEC=$(find "$scratch/moved" -name earl-exec)
export PKG_CONFIG_PATH=$pkg EARL_EXEC PATH=$scratch/moved/bin:$scratch/programs:$PATH
cflags=$(pkg-config --cflags bcr-pvm2)
libs="$(pkg-config --libs bcr-pvm2) -Wl,-rpath,$(dirname "$pkg")"
mkdir "$scratch/programs"
cd "$scratch/programs"

# compiles COMPILER FILE PROGRAM [OPTION]...
compiles() {
    # shellcheck disable=SC2086
    "$1" "${@:4}" $cflags "$2" $libs -o "$3" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "$1 $2"; }
}
says() { # TEXT
    local said
    said=$(./master 2>&1) || fail "status $? of the program: $said"
    [ "$said" = "$1" ] || fail "it says \"$said\", not \"$1\""
}

# The example of docs/pvm2.md.
awk '/^```/ { inside = $0 == "```c"; next } inside' "$BCR_SOURCE_DIR/docs/pvm2.md" >master.c
cat >slave.c <<'C'
main()
{
    int number, instance;
    char component[33];
    enroll("slave");
    rcv(1);
    getnint(&number, 1);
    rcvinfo(0, 0, component, &instance);
    number++;
    initsend();
    putnint(&number, 1);
    snd(component, instance, 2);
    leave();
    return 0;
}
C
compiles "$CC" master.c master -Wall -Wextra -Werror
compiles "$CC" slave.c slave -std=gnu89 -Wimplicit-function-declaration
grep -q "implicit declaration of function .enroll" "$scratch/log" || fail "the compiler does not warn"
says 'slave 0 says 21'
echo "ok a master, and a slave without the header"

# A makefile of that time, of which only the variables are ours.
cp "$scratch/moved/share/bcr/examples/pvm2/primes.c" .
cat >makefile <<'M'
CC = cc
PVM = $(HOME)/pvm
CFLAGS = -O -I$(PVM)/include
LIBS = -L$(PVM)/lib -lpvm
primes: primes.o
	$(CC) $(CFLAGS) -o primes primes.o $(LIBS)
M
make CC="$CC" CFLAGS="-O -Wall -Wextra -Werror $cflags" LIBS="$libs" >"$scratch/log" 2>&1 || { cat "$scratch/log" && fail "make"; }
said=$(./primes 20000 2 2>&1) || fail "status $? of primes: $said"
[ "$said" = "2262 primes below 20000, by 2 helpers" ] || fail "primes says \"$said\""
echo "ok the example, by a makefile"

cat >cxx.cc <<'C'
#include <cstdio>
#include <pvmuser.h>
int main()
{
    int number = 0;
    if (enroll("slave") < 0 || rcv(1) != 1 || getnint(&number, 1) != PvmOk)
        return 1;
    number *= 2;
    initsend();
    putnint(&number, 1);
    snd("master", 0, 2);
    return leave();
}
C
if command -v g++ >/dev/null; then
    compiles g++ cxx.cc slave -Wall -Wextra -Werror
    says 'slave 0 says 40'
    echo "ok C++"
else
    echo "skip C++: there is no g++ (package g++)"
fi
