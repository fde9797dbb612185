#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PVM 2.4 with what is installed, in a folder that was moved, by pkg-config: two components in C, one without the header, and C++.
source "$(dirname "$0")/../install.sh" test_pvm2_install bcr-pvm2
# Where EXEC was to be installed is not where it is now.
EARL_EXEC=$(find "$scratch/moved" -name earl-exec)
export EARL_EXEC PATH=$scratch/moved/bin:$scratch/programs:$PATH

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
says 'slave 0 says 21' ./master
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
does make make CC="$CC" CFLAGS="-O -Wall -Wextra -Werror $cflags" LIBS="$libs"
says "2262 primes below 20000, by 2 helpers" ./primes 20000 2
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
if has g++ C++; then
    compiles g++ cxx.cc slave -Wall -Wextra -Werror
    says 'slave 0 says 40' ./master
    echo "ok C++"
fi
