/* SPDX-License-Identifier: MIT */
/* pvm_machine.c -- scenarios of tasks from the shell that enter a virtual machine which is held (test_console.sh). */
#include <signal.h>
#include <unistd.h>

#include "pvm_members.h"

void puts_number(void)
{
    IS(pvm_insert("held", 0, 42), 0);
    FAILS(pvm_start_pvmd(0, NULL, 1), PvmDupHost);
}

void finds_number(void)
{
    int data = 0;
    FAILS(pvm_parent(), PvmNoParent);
    IS(pvm_lookup("held", 0, &data), 0);
    IS(data, 42);
}

void misses_number(void)
{
    int data;
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_lookup("held", 0, &data), PvmNotFound);
}

static int find_host(const char *name)
{
    int hosts, tid = 0;
    struct pvmhostinfo *host;
    IS(pvm_config(&hosts, NULL, &host), PvmOk);
    for (int i = 0; i < hosts; i++)
        if (strcmp(host[i].hi_name, name) == 0)
            tid = host[i].hi_tid;
    return tid;
}

/* Waits until host n3 is lost, of which a notice tells. */
void sees_loss(void)
{
    int host = find_host("n3");
    MUST(host > 0);
    IS(pvm_notify(PvmHostDelete, 5, 1, &host), PvmOk);
    puts("watching");
    fflush(stdout);
    MUST(pvm_recv(-1, 5) > 0);
    IS(next_int(), host);
    IS(find_host("n3"), 0);
}

/* A reset spares it. */
void stays_on(void)
{
    IS(pvm_setopt(PvmNoReset, 1), 0);
    IS(pvm_setopt(PvmNoReset, 0), 1);
    IS(pvm_setopt(PvmNoReset, 1), 0);
    puts("spared");
    fflush(stdout);
    for (;;)
        pause();
}

/* It is ended by SIGKILL alone. */
void ignores_terms(void)
{
    signal(SIGTERM, SIG_IGN);
    puts("deaf");
    fflush(stdout);
    for (;;)
        pause();
}

void halts_machine(void)
{
    signal(SIGTERM, SIG_IGN);
    IS(pvm_halt(), PvmOk);
}

/* Not yet a task: $HOSTS is a file of hosts. */
int starts_machine(void)
{
    char *arguments[] = {"-d0", getenv("HOSTS")}, *none[] = {"/no/such/file"};
    int hosts;
    pvm_setopt(PvmAutoErr, 0);
    FAILS(pvm_start_pvmd(-1, NULL, 1), PvmBadParam);
    IS(pvm_start_pvmd(2, arguments, 1), PvmOk);
    FAILS(pvm_start_pvmd(1, none, 1), PvmDupHost);
    IS(pvm_config(&hosts, NULL, NULL), PvmOk);
    IS(hosts, 3);
    IS(pvm_exit(), PvmOk);
    return 0;
}
