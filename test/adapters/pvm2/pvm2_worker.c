/* SPDX-License-Identifier: MIT */
/* A component that others initiate: it does what their messages say. */
#include "pvm2_tasks.h"

static char master[33];
static int master_instance, type;

static void answer(void)
{
    MUST_BE(snd(master, master_instance, ANSWER), 0);
}

static void answer_nothing(void)
{
    MUST_BE(initsend(), 0);
    answer();
}

static void echo(void)
{
    struct values values;
    get_values(&values);
    MUST_BE(initsend(), 0);
    put_values(&values);
    answer();
}

static void pass(void)
{
    char component[64];
    int to[3];
    MUST_BE(getstring(component), 0);
    MUST_BE(getnint(to, 3), 0);
    to[2]++;
    MUST_BE(initsend(), 0);
    MUST_BE(putnint(&to[2], 1), 0);
    MUST_BE(snd(component, to[0], to[1]), 0);
}

static void obey(void)
{
    char text[256];
    int number;
    switch (type) {
    case ECHO: echo(); break;
    case PASS: pass(); break;
    case STRING:
        MUST_BE(getstring(text), 0);
        MUST_BE(initsend(), 0);
        MUST_BE(putstring(text), 0);
        answer();
        break;
    case BARRIER:
        MUST_BE(getstring(text), 0);
        MUST_BE(getnint(&number, 1), 0);
        MUST_BE(barrier(text, number), 0);
        answer_nothing();
        break;
    case WAIT:
        MUST_BE(getstring(text), 0);
        answer_nothing();
        MUST_BE(waituntil(text), 0);
        answer_nothing();
        break;
    case READY:
        MUST_BE(getstring(text), 0);
        MUST_BE(ready(text), 0);
        break;
    case LEAVE:
        MUST_BE(getstring(text), 0);
        MUST_BE(leave(), 0);
        MUST_BE(leave(), PvmSysErr);
        MUST(enroll(text) >= 0);
        answer_nothing();
        break;
    default: MUST(type == QUIT);
    }
}

int main(void)
{
    char own[33];
    int instance, bytes, told;
    const int mine = enroll("pvm2_worker");
    MUST(mine >= 0);
    MUST_BE(whoami(own, &instance), 0);
    MUST(strcmp(own, "pvm2_worker") == 0 && instance == mine);
    do {
        type = rcv(-1);
        MUST_BE(rcvinfo(&bytes, &told, master, &master_instance), 0);
        MUST(told == type && bytes >= 0);
        obey();
    } while (type != QUIT);
    MUST_BE(leave(), 0);
    return 0;
}
