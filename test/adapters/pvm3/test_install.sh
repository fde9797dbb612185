#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# PVM with what is installed, in a folder that was moved, by pkg-config: the example in C, a program in the style of its time, C++ and
# Fortran.
source "$(dirname "$0")/../install.sh" test_pvm3_install bcr-pvm3
EARL_EXEC=$scratch/moved/libexec/bcr/earl-exec
export EARL_EXEC

compiles "$CC" "$scratch/moved/share/bcr/examples/pvm3/dot.c" program -Wall -Wextra -Werror
says 'the product is 1001000, by 3 tasks in * s' "$enl" -n 3 ./program
echo "ok the example"

# As a makefile of that time finds it.
PVM_ROOT=$(dirname "$pkg")/bcr/pvm3
arch=$("$PVM_ROOT/lib/pvmgetarch")
[ "$(readlink -f "$PVM_ROOT/include/pvm3.h")" = "$(readlink -f "$scratch/moved/include/bcr-pvm3/pvm3.h")" ] || fail "pvm3.h is no link"
for libraries in "-lpvm3" "-lgpvm3 -lpvm3" "-lfpvm3 -lpvm3 -lgpvm3"; do
    # shellcheck disable=SC2086
    does "$libraries" "$CC" "-I$PVM_ROOT/include" "$scratch/moved/share/bcr/examples/pvm3/dot.c" "-L$PVM_ROOT/lib/$arch" $libraries \
        "-Wl,-rpath,$PVM_ROOT/lib/$arch" -o program
    says 'the product is 1001000, by 2 tasks in * s' "$enl" -n 2 ./program
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
compiles "$CC" old.c program -std=gnu89
says '2 tasks' "$enl" -n 2 ./program
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
if has g++ C++; then
    compiles g++ cxx.cc program -Wall -Wextra -Werror
    says '1 siblings, tid 40001' "$enl" -n 1 ./program
    echo "ok C++"
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
if has gfortran Fortran; then
    compiles gfortran fortran.f90 program -Wall -Werror
    says ' 3 tasks' "$enl" -n 3 ./program
    echo "ok Fortran, in free form"
fi
