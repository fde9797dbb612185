/* SPDX-License-Identifier: MIT */
/* Earl's own routines by node and process ID: a host, which loads generic_node on a cube. */
#include <signal.h>

#include "generic_members.h"

#define NODE_PROGRAM "generic_node"

enum { SIZE = 4 };

static void begin(void)
{
    long size = SIZE, me, host;
    MUST_BE(Generic_LEXEC(NULL, NULL, -1, -1), 0);
    MUST_BE(Generic_FirstCall(NULL, NULL, NULL, NULL), 0);
    MUST_BE(Generic_allocproc(&size, "mine", "d2", "", 0, &me, &host, 33), 33);
    MUST(me == SIZE && host == SIZE && Generic_mypid() == 33 && Generic_cubesize() == SIZE &&
         Generic_nodedim() == 2);
}

/* Each node tells its number, whatever the order. */
static void must_tell(int count, int pid)
{
    int told = 0;
    for (int i = 0; i < count; i++) {
        long number;
        MUST_BE(Generic_Breceive((char *)&number, sizeof number, TELL), TELL);
        MUST(Generic_getmpid() == pid && number == 100 * Generic_getmsource() + pid);
        told += 1 << Generic_getmsource();
    }
    MUST_BE(told, (1 << count) - 1);
}

void cubes(void)
{
    struct cubetable table[4];
    long node, pid, code;
    begin();
    /* All at once, and one by one: several processes on a node. */
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, -1, 0), 0);
    for (int i = 0; i < SIZE; i++)
        MUST_BE(Generic_load(NODE_PROGRAM, NULL, i, 5), 5);
    long number;
    int zeros = 0;
    for (int i = 0; i < 2 * SIZE; i++) {
        MUST_BE(Generic_Breceive((char *)&number, sizeof number, TELL), TELL);
        zeros += Generic_getmpid() == 0;
        MUST(number == 100 * Generic_getmsource() + Generic_getmpid());
    }
    MUST_BE(zeros, SIZE);
    MUST_BE(Generic_cubeinfo(NULL, 0, 1), 1);
    MUST_BE(Generic_cubeinfo(table, 4, 0), 1);
    MUST(strcmp(table[0].name, "mine") == 0 && table[0].numnodes == SIZE && table[0].hostpid == 33);
    MUST(table[0].host == earl_process() && table[0].keep == 0);
    /* One, and how it has ended; then the others of its process ID. */
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, 2, 5), EARL_E_BUSY);
    MUST_BE(Generic_BBsend(NULL, NULL, 0, EXIT, 0, 5, 2), 0);
    Generic_wait_one_cmplt(2, 5, &node, &pid, &code);
    MUST(node == 2 && pid == 5 && code == 12);
    MUST_BE(Generic_termproc(NULL, 0, 1, 5), 1);
    Generic_wait_one_cmplt(-1, 5, &node, &pid, &code);
    MUST(node == 1 && pid == 5 && code == -SIGKILL);
    MUST_BE(Generic_BBsend(NULL, NULL, 0, COMPLETE, 0, 5, 0), 0);
    MUST_BE(Generic_BBsend(NULL, NULL, 0, COMPLETE, 0, 5, 3), 0);
    Generic_wait_all_cmplt(-1, 5);
    MUST_BE(Generic_BBsend("x", NULL, 1, COMPLETE, 0, 0, -1), 0);
    Generic_wait_one_cmplt(-1, -1, NULL, &pid, &code);
    MUST(pid == 0 && code == 0);
    Generic_wait_all_cmplt(-1, 0);
    /* Once more, and given back with what runs there. */
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, -1, 7), 7);
    must_tell(SIZE, 7);
    Generic_relcube("mine");
    MUST_BE(Generic_cubeinfo(NULL, 0, 0), 0);
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, -1, 7), EARL_E_NONE);
    /* Two cubes, of which one is the current one. */
    long size = 1;
    MUST_BE(Generic_allocproc(&size, "b", NULL, NULL, 1, NULL, NULL, 1), 1);
    size = 2;
    MUST_BE(Generic_allocproc(&size, "a", NULL, NULL, 0, NULL, NULL, 2), 2);
    MUST_BE(Generic_cubeinfo(table, 1, 0), 2);
    MUST(strcmp(table[0].name, "a") == 0 && table[0].keep == 0);
    MUST_BE(Generic_cubesize(), 2);
    Generic_setpid(9);
    Generic_attachprocs("b");
    MUST(Generic_cubesize() == 1 && Generic_mynode() == 1 && Generic_mypid() == 9);
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, 0, 1), 1);
    must_tell(1, 1);
    MUST_BE(Generic_termgroup(NULL, 0, -1, -1), 1);
    Generic_relcube("");
    Generic_attachprocs("a");
    Generic_LastCall(1);
    MUST_BE(Generic_FirstCall("", NULL, NULL, NULL), 0);
    MUST_BE(Generic_cubeinfo(NULL, 0, 0), 0);
}

void cube_errors(void)
{
    long size = 0;
    begin();
    MUST_BE(Generic_allocproc(&size, "zero", NULL, NULL, 0, NULL, NULL, 0), EARL_E_ARG);
    size = 1;
    MUST_BE(Generic_allocproc(NULL, "none", NULL, NULL, 0, NULL, NULL, 0), EARL_E_ARG);
    MUST_BE(Generic_allocproc(&size, NULL, NULL, NULL, 0, NULL, NULL, 0), EARL_E_ARG);
    MUST_BE(Generic_allocproc(&size, "", NULL, NULL, 0, NULL, NULL, 0), EARL_E_ARG);
    MUST_BE(Generic_allocproc(&size, "mine", NULL, NULL, 0, NULL, NULL, 0), EARL_E_BUSY);
    MUST_BE(Generic_allocproc(&size, "negative", NULL, NULL, 0, NULL, NULL, -1), EARL_E_ARG);
    MUST_BE(Generic_cubeinfo(NULL, -1, 0), EARL_E_ARG);
    MUST_BE(Generic_cubeinfo(NULL, 1, 0), EARL_E_ARG);
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, SIZE, 0), EARL_E_ARG);
    MUST_BE(Generic_load(NODE_PROGRAM, NULL, 0, -1), EARL_E_ARG);
    MUST_BE(Generic_load("/no/such/program", NULL, -1, 0), EARL_E_FILE);
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 0, SIZE + 1), EARL_E_PROCESS);
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 0, -1), 0); /* nothing is loaded */
    MUST_BE(Generic_termproc(NULL, 0, 0, 0), EARL_E_PROCESS);
    MUST_BE(Generic_termproc(NULL, 0, -1, -1), 0);
}
