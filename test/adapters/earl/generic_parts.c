/* SPDX-License-Identifier: MIT */
/* Earl's own routines by component and instance, with copies of generic_part, which are in PATH. */
#include "generic_members.h"

#define PART "generic_part"

static void load(int count)
{
    for (int i = 0; i < count; i++)
        MUST_BE(Generic_load(PART, "any", -1, -1), i);
}

/* All modes, to one and to all, and answers by component or by node. */
void parts(void)
{
    enum { MANY = 3 };
    char component[EARL_COMPONENT], got[8], host[256];
    int bytes, type, pid, instance, numproc, parent, formats, value;
    long count, node;
    MUST_BE(Generic_LEXEC("", NULL, -1, -1), 0);
    MUST_BE(Generic_FirstCall("whole", &count, &node, NULL), 0);
    MUST(count == 1 && node == earl_process() && Generic_mynode() == node && Generic_mypid() == 0);
    load(MANY);
    MUST_BE(Generic_BBsend("abc", PART, 3, ECHO, 0, 0, 0), 0);
    const long id = Generic_NBNBsend("def", PART, 3, ECHO, 1, 0, 0);
    MUST(id > 0);
    Generic_msgwait(id);
    MUST_BE(Generic_Sync_send("ghi", PART, 3, ECHO, 2, 0, 0), 0);
    for (int i = 0; i < MANY; i++) {
        MUST_BE(Generic_Breceive(got, sizeof got, ANSWER + i), ANSWER + i);
        MUST_BE(Generic_recvinfo(&bytes, &type, component, &pid, &instance), 0);
        MUST(bytes == 3 && type == ANSWER + i && strcmp(component, PART) == 0 && pid == 0 && instance == i);
        MUST(memcmp(got, &"abcdefghi"[3 * i], 3) == 0);
    }
    for (int how = 0; how < 3; how++) {
        if (how == 0)
            MUST_BE(Generic_BBsend("j", PART, 1, ECHO, -1, 0, 0), 0);
        else if (how == 1)
            MUST_BE(Generic_NBNBsend("k", PART, 1, ECHO, -1, 0, 0), 0);
        else
            MUST_BE(Generic_Sync_send("l", PART, 1, ECHO, -1, 0, 0), 0);
        for (int i = 0; i < MANY; i++) {
            MUST_BE(Generic_Breceive(got, sizeof got, ANSWER + i), ANSWER + i);
            MUST(got[0] == 'j' + how);
        }
    }
    /* By nodes, which are numbers of earl.h. */
    Generic_clearbuf();
    MUST_BE(Generic_BBsend(NULL, NULL, 0, NODE, 0, -1, -1), 0);
    int sum = 0;
    for (int i = 0; i < MANY; i++) {
        MUST_BE(Generic_Breceive(NULL, 0, ANSWER), ANSWER);
        MUST_BE(Generic_recvinfo(NULL, NULL, NULL, NULL, &instance), 0);
        MUST_BE(Generic_xtractint(&value, 1), 0);
        MUST_BE(value, instance);
        sum += 1 << value;
        node = Generic_getmsource();
    }
    MUST_BE(sum, 7);
    SEND(NODE, node);
    MUST_BE(Generic_Breceive(NULL, 0, ANSWER), ANSWER);
    MUST_BE(Generic_getmsource(), node);
    MUST(Generic_cubesize() == 1 && Generic_nodedim() == 0 && Generic_myhost() == -1);
    MUST_BE(Generic_who(component, &pid, &numproc, &instance, &parent), 0);
    MUST(strcmp(component, "whole") == 0 && pid == 0 && numproc == 1 && instance == 0 && parent == -1);
    int hosts = 0;
    while (earl_exec_host(hosts, host, sizeof host) > 0)
        hosts++;
    MUST_BE(Generic_numnodes(&numproc, &formats), hosts);
    MUST(numproc == hosts && formats == (hosts > 1 ? 2 : 1));
    MUST(earl_exec_host(hosts - 1, host, sizeof host) > 0);
    MUST_BE(Generic_loadm(PART, host, -1, -1), MANY);
    SEND(QUIT, -1);
    MUST_BE(Generic_barrsync("one", 1), 0);
}

/* Ends by instance and by node; messages that stay, and that are dropped. */
void ends(void)
{
    char got[8];
    MUST_BE(Generic_FirstCall("whole", NULL, NULL, NULL), 0);
    load(3);
    MUST_BE(Generic_BBsend("x", PART, 1, ECHO, -1, 0, 0), 0);
    long nodes[3];
    for (int i = 0; i < 3; i++) {
        MUST_BE(Generic_Breceive(got, sizeof got, ANSWER + i), ANSWER + i);
        nodes[i] = Generic_getmsource();
    }
    MUST_BE(Generic_groupstatus(PART, 2), 1);
    MUST_BE(Generic_groupstatus(PART, 3), 0);
    MUST_BE(Generic_groupstatus(PART, -1), 1);
    MUST_BE(Generic_groupstatus("whole", -1), 1);
    MUST_BE(Generic_groupstatus("nothing", -1), 0);
    /* Its messages are there, and stay. */
    SEND(FLOOD, nodes[0]);
    Generic_waitsignal("flooded");
    MUST_BE(Generic_Bprobe(ANSWER), ANSWER);
    MUST_BE(Generic_termproc(PART, 0, 0, 0), 1);
    while (Generic_groupstatus(PART, 0) == 1)
        ;
    for (int i = 0; i < 50; i++)
        MUST_BE(Generic_Breceive(got, sizeof got, ANSWER), ANSWER);
    MUST_BE(Generic_recvinfo(NULL, NULL, NULL, NULL, NULL), 0);
    MUST_BE(Generic_termproc(PART, 0, 0, 0), EARL_E_NONE);
    MUST_BE(Generic_BBsend("x", PART, 1, ECHO, 0, 0, 0), EARL_E_NONE);
    MUST_BE(Generic_termproc(NULL, 0, nodes[0], 0), EARL_E_ENDED);
    long code; /* on another host it may be on its way when that tells of the end */
    while ((code = Generic_BBsend("x", NULL, 1, ECHO, 0, 0, nodes[0])) == 0)
        ;
    MUST_BE(code, EARL_E_ENDED);
    /* And are dropped. */
    SEND(FLOOD, nodes[1]);
    MUST_BE(Generic_Bprobe(ANSWER), ANSWER);
    MUST_BE(Generic_BBsend("y", "whole", 1, ANSWER, 0, 0, 0), 0);
    MUST_BE(Generic_termgroup(NULL, 0, nodes[1], 0), 1);
    MUST_BE(Generic_Breceive(got, sizeof got, ANSWER), ANSWER);
    MUST(got[0] == 'y' && Generic_probe(-1) == EARL_E_NONE);
    /* Another gets the first free instance, and what is sent there. */
    while (Generic_groupstatus(PART, 1) == 1)
        ;
    MUST_BE(Generic_load(PART, NULL, -1, -1), 0);
    MUST_BE(Generic_BBsend("z", PART, 1, ECHO, 0, 0, 0), 0);
    MUST_BE(Generic_Breceive(got, sizeof got, ANSWER), ANSWER);
    /* Likewise if others have seen to it: what EXEC had said of the instance holds no more. */
    int instance, process;
    struct earl_exec_process told;
    MUST_BE(Generic_BBsend(NULL, PART, 0, NODE, 2, 0, 0), 0);
    MUST_BE(Generic_Breceive(NULL, 0, ANSWER), ANSWER);
    process = (int)Generic_getmsource();
    MUST_BE(Generic_termgroup(NULL, 0, process, 0), 1);
    MUST_BE(earl_exec_await(1, &process, &told), 0);
    for (int i = 1; i <= 2; i++) {
        MUST_BE(Generic_BBsend(NULL, PART, 0, LOAD, 0, 0, 0), 0);
        MUST_BE(Generic_Breceive(NULL, 0, ANSWER), ANSWER);
        MUST_BE(Generic_xtractint(&instance, 1), 0);
        MUST_BE(instance, i);
    }
    for (int i = 2; i >= 1; i--) {
        MUST_BE(Generic_BBsend("again", PART, 5, ECHO, i, 0, 0), 0);
        MUST_BE(Generic_Breceive(got, sizeof got, ANSWER + i), ANSWER + i);
    }
    MUST_BE(Generic_termgroup(PART, -1, 0, 0), 3);
    MUST_BE(Generic_probe(-1), EARL_E_NONE);
}

void part_errors(void)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[EARL_COMPONENT] = '\0';
    MUST_BE(Generic_FirstCall(name, NULL, NULL, NULL), EARL_E_ARG);
    MUST_BE(Generic_LEXEC(NULL, NULL, 0, 0), 0);
    MUST_BE(Generic_FirstCall(NULL, NULL, NULL, NULL), 0);
    MUST_BE(Generic_who(NULL, NULL, NULL, NULL, NULL), EARL_E_NONE);
    MUST_BE(Generic_cubesize(), 1);
    MUST_BE(Generic_FirstCall(name + 1, NULL, NULL, NULL), 0);
    MUST_BE(Generic_FirstCall("other", NULL, NULL, NULL), EARL_E_BUSY);
    MUST_BE(Generic_BBsend("x", name, 1, 1, 0, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_BBsend("x", "nothing", 1, 1, 0, 0, 0), EARL_E_NONE);
    MUST_BE(Generic_BBsend("x", "nothing", 1, 1, -1, 0, 0), EARL_E_NONE);
    MUST_BE(Generic_BBsend("x", "nothing", 1, 1, -2, 0, 0), EARL_E_ARG);
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 0, 0), EARL_E_PROCESS); /* EXEC */
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 1, 1), EARL_E_PROCESS);
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 0, 999), EARL_E_ENDED);
    MUST_BE(Generic_BBsend("x", NULL, 1, 1, 0, 0, -1), 0); /* to nobody */
    MUST_BE(Generic_Sync_send("x", NULL, 1, 1, 0, 0, -1), 0);
    MUST_BE(Generic_load(NULL, NULL, -1, -1), EARL_E_ARG);
    MUST_BE(Generic_load("folder/", NULL, -1, -1), EARL_E_ARG);
    MUST_BE(Generic_load(name, NULL, -1, -1), EARL_E_ARG);
    MUST_BE(Generic_load("/no/such/program", NULL, -1, -1), EARL_E_FILE);
    MUST_BE(Generic_loadm(PART, NULL, -1, -1), EARL_E_ARG);
    MUST_BE(Generic_loadm(PART, "no.such.host", -1, -1), EARL_E_HOST);
    MUST_BE(Generic_termproc("nothing", 0, 0, 0), EARL_E_NONE);
    MUST_BE(Generic_termgroup(NULL, 0, 999, 0), EARL_E_PROCESS);
    MUST_BE(Generic_termproc(NULL, 0, 0, 0), EARL_E_PROCESS);
    MUST_BE(Generic_barrsync("x", 0), EARL_E_ARG);
    MUST_BE(Generic_barrsync("", 1), EARL_E_ARG);
    MUST_BE(Generic_groupstatus("x", -2), EARL_E_ARG);
    name[EARL_COMPONENT - 7] = '\0';
    Generic_readysig(name);
    Generic_readysig(name);
    Generic_waitsignal(name);
    Generic_LastCall(0);
    MUST_BE(Generic_FirstCall("third", NULL, NULL, NULL), 0);
}
