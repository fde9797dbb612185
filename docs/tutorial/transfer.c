/* SPDX-License-Identifier: MIT */
#include <bcr.h>
#include <stdio.h>
#include <unistd.h>

enum { ACCOUNTS = 1 }; /* the first of two cells of CCE 0, each with the balance of an account */

static int transfer(int from, int to, int amount)
{
    bcr_region payer = bcr_acqwl(bcr_enlistor, ACCOUNTS + from, bcr_BLOCK);
    if (payer == NULL)
        return -1;
    usleep(100000); /* time in which a limit is looked up somewhere */
    bcr_region payee = bcr_acqwl(bcr_enlistor, ACCOUNTS + to, bcr_BLOCK);
    if (payee == NULL)
        return -1;
    *(int *)*payer -= amount;
    *(int *)*payee += amount;
    if (bcr_rlswl(payee, bcr_enlistor, ACCOUNTS + to) < 0)
        return -1;
    return bcr_rlswl(payer, bcr_enlistor, ACCOUNTS + from);
}

int main(int argc, char **argv)
{
    if (argc < 1 || bcr_init(0, NULL) < 0)
        return 1;
    if (bcr_enlistor != -1) /* CCE 1 pays from account 0 to account 1, CCE 2 back */
        return transfer(bcr_cceord - 1, 2 - bcr_cceord, 10) < 0;
    if (bcr_cagrow(ACCOUNTS, 0, 0, 0, 2, 2, 4096) < 0)
        return 1;
    for (int account = 0; account < 2; account++) {
        bcr_region balance = bcr_rgalloc((int)sizeof(int), 0);
        if (balance == NULL)
            return 1;
        *(int *)*balance = 100;
        if (bcr_enq(balance, bcr_cce, ACCOUNTS + account, bcr_FREE) < 0)
            return 1;
    }
    if (bcr_enlist(NULL, -2, 1, argv[0], NULL, bcr_FREE) < 0)
        return 1;
    pause(); /* the accounts are there as long as this CCE is */
    return 0;
}
