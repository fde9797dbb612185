// SPDX-License-Identifier: MIT
// pvm_cxx.cc -- PVM from C++.
#include <cstdio>

#include <pvm3.h>

static int called;

static int handler(int mid)
{
    int value = 0;
    called += mid > 0 && pvm_upkint(&value, 1, 1) == PvmOk ? value : 100;
    return 0;
}

int main()
{
    int *tids;
    const int mine = pvm_mytid(), count = pvm_siblings(&tids);
    if (pvm_addmhf(-1, 5, -1, handler) < 0)
        return 1;
    pvm_initsend(PvmDataInPlace);
    const int one = 1;
    pvm_pkint(&one, 1, 1);
    pvm_send(tids[0], 5);
    pvm_packf("%+ %s", PvmDataDefault, "done");
    pvm_send(tids[0], 6);
    for (int i = 0; mine == tids[0] && i < count; i++)
        if (pvm_recv(-1, 6) <= 0)
            return 2;
    if (mine == tids[0])
        std::printf("c++ %d: %d\n", count, called);
    pvm_exit();
    return 0;
}
