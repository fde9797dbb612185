/* SPDX-License-Identifier: MIT */
/* pvm2_master SCENARIO: a program of PVM 2.4 whose other processes are pvm2_worker, from PATH or beside WORKER. */
#include <earl_exec.h>

#include "pvm2_tasks.h"

#define WORKER "pvm2_worker"

/* Sends what was put, to an instance of the workers. */
static void tell(int instance, int type)
{
    MUST_BE(snd(WORKER, instance, type), 0);
}

static void tell_text(int instance, int type, const char *text)
{
    MUST_BE(initsend(), 0);
    MUST_BE(putstring(text), 0);
    tell(instance, type);
}

static void begin(int workers)
{
    MUST_BE(enroll("pvm2_master"), 0);
    for (int i = 0; i < workers; i++)
        MUST_BE(initiate(WORKER, i == 0 ? NULL : "SUN4"), i);
}

static void quit(int instance)
{
    MUST_BE(initsend(), 0);
    tell(instance, QUIT);
}

/* All kinds of values, there and back; the buffer stays, and goes to all. */
static void messages(void)
{
    const struct values values = {{-1, 2, 32767},      {-2147483647, 0, 7, 65536},
                                  {-5, 2147483647},    {1.5f, -0.25f, 3e20f},
                                  {1, -2, 3.5f, 4},    {1e300, -0.1},
                                  {0.5, -7},           {1, 0, (char)-3, 127, (char)-128},
                                  "a string, and more"};
    enum { MANY = 3 };
    struct values back;
    char component[33];
    int bytes, type, instance, seen[MANY] = {0};
    begin(MANY);
    MUST_BE(initsend(), 0);
    put_values(&values);
    tell(1, ECHO);
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(rcvinfo(&bytes, &type, component, &instance), 0);
    MUST(type == ANSWER && strcmp(component, WORKER) == 0 && instance == 1);
    get_values(&back);
    MUST(memcmp(&back, &values, sizeof back) == 0);
    MUST_BE(getbytes(component, 1), PvmNoData);
    MUST_BE(getstring(component), PvmNoData);
    tell(-1, ECHO);
    for (int i = 0; i < MANY; i++) {
        MUST_BE(rcv(-1), ANSWER);
        MUST_BE(rcvinfo(NULL, NULL, NULL, &instance), 0);
        MUST(instance >= 0 && instance < MANY && seen[instance]++ == 0);
        get_values(&back);
        MUST(memcmp(&back, &values, sizeof back) == 0);
    }
    quit(-1);
}

/* By type, by several, with and without a wait; each way to send and receive. */
static void selections(void)
{
    const int both[] = {7, 5}, none[] = {8, 9};
    char component[33];
    int number, instance;
    begin(1);
    MUST_BE(probe(-1), PvmNoMsg);
    MUST_BE(probemulti(2, both), PvmNoMsg);
    for (int type = 5; type <= 7; type++) {
        MUST_BE(initsend(), 0);
        MUST_BE(putstring("pvm2_master"), 0);
        const int to[] = {0, type, 10 * type};
        MUST_BE(putnint(to, 3), 0);
        MUST_BE(vsnd(WORKER, 0, PASS), 0);
    }
    MUST_BE(vrcv(7), 7);
    MUST_BE(getnint(&number, 1), 0);
    MUST_BE(number, 71);
    MUST_BE(probe(-1), 5); /* nothing overtakes, so all are there */
    MUST_BE(rcvinfo(NULL, NULL, component, &instance), 0);
    MUST(strcmp(component, WORKER) == 0 && instance == 0);
    MUST_BE(probe(7), PvmNoMsg);
    MUST_BE(probemulti(2, both), 5);
    MUST_BE(probemulti(2, none), PvmNoMsg);
    MUST_BE(probe(6), 6);
    MUST_BE(rcvmulti(2, both), 5);
    MUST_BE(getnint(&number, 1), 0);
    MUST_BE(number, 51);
    int many[20];
    for (int i = 0; i < 20; i++)
        many[i] = 1000 + i;
    MUST_BE(probemulti(20, many), PvmNoMsg);
    many[19] = 6;
    MUST_BE(vrcvmulti(20, many), 6);
    MUST_BE(getnint(&number, 1), 0);
    MUST_BE(number, 61);
    /* To itself. */
    MUST_BE(snd("pvm2_master", 0, 77), 0);
    MUST_BE(rcv(77), 77);
    MUST_BE(rcvinfo(NULL, NULL, component, &instance), 0);
    MUST(strcmp(component, "pvm2_master") == 0 && instance == 0);
    quit(0);
}

static void synchronizes(void)
{
    enum { MANY = 3, ALL = MANY + 1 };
    const int all = ALL;
    begin(MANY);
    MUST_BE(initsend(), 0);
    MUST_BE(putstring("here"), 0);
    MUST_BE(putnint(&all, 1), 0);
    tell(-1, BARRIER);
    MUST_BE(barrier("here", ALL), 0);
    for (int i = 0; i < MANY; i++)
        MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(barrier("alone", 1), 0);
    /* An event that comes later, one that is there already, and one for several. */
    tell_text(0, WAIT, "now");
    tell_text(1, WAIT, "now");
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(probe(ANSWER), PvmNoMsg);
    tell_text(2, READY, "now");
    MUST_BE(waituntil("now"), 0);
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(ready("now"), 0);
    MUST_BE(ready("now"), 0);
    MUST_BE(waituntil("now"), 0);
    quit(-1);
}

/* Of those who wait, one gives another number. */
static void mismatch(void)
{
    const int two = 2;
    begin(1);
    MUST_BE(initsend(), 0);
    MUST_BE(putstring("two"), 0);
    MUST_BE(putnint(&two, 1), 0);
    tell(0, BARRIER);
    /* It may not be there yet: then this would wait for the worker, which would be told. */
    int code;
    while ((code = barrier("two", 1)) == PvmOk)
        ;
    MUST_BE(code, PvmMismatch);
    MUST_BE(barrier("two", 2), 0);
    MUST_BE(rcv(ANSWER), ANSWER);
    quit(0);
}

/* From then on the end of one harms no other. */
static void have_come(int first, int last)
{
    int instance;
    for (int i = first; i <= last; i++) {
        tell_text(i, STRING, "hello");
        MUST_BE(rcv(ANSWER), ANSWER);
        MUST_BE(rcvinfo(NULL, NULL, NULL, &instance), 0);
        MUST_BE(instance, i);
    }
}

/* One that has left lives on, and another one has its place: that one is meant from then on. */
static void places(void)
{
    static const struct {
        int of, instance;
        const char *as;
        int place;
    } moves[] = {{0, 1, "again", 0}, {0, 0, "again", 1}, {1, 0, "away", 0}, {1, 1, "again", 0}};
    char component[33];
    int instance;
    begin(2);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        MUST_BE(initsend(), 0);
        MUST_BE(putstring(moves[i].as), 0);
        MUST_BE(snd(moves[i].of == 0 ? WORKER : "again", moves[i].instance, LEAVE), 0);
        MUST_BE(rcv(ANSWER), ANSWER);
        MUST_BE(rcvinfo(NULL, NULL, component, &instance), 0);
        MUST(strcmp(component, moves[i].as) == 0 && instance == moves[i].place);
    }
    MUST_BE(initsend(), 0);
    MUST_BE(putstring("who is there"), 0);
    MUST_BE(snd("again", 0, STRING), 0);
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(rcvinfo(NULL, NULL, component, &instance), 0);
    MUST(strcmp(component, "again") == 0 && instance == 0);
    MUST_BE(initsend(), 0);
    MUST_BE(snd("again", 0, QUIT), 0);
    MUST_BE(snd("away", 0, QUIT), 0);
}

static void ends(void)
{
    char component[33];
    int instance;
    begin(3);
    have_come(0, 2);
    MUST_BE(status(WORKER, 2), 1);
    MUST_BE(status(WORKER, 3), 0);
    MUST_BE(status(WORKER, -1), 1);
    MUST_BE(status("nothing", -1), 0);
    MUST_BE(status("pvm2_master", 0), 1);
    MUST_BE(status("pvm2_master", -1), 1);
    tell_text(1, LEAVE, "again");
    MUST_BE(rcv(ANSWER), ANSWER);
    MUST_BE(rcvinfo(NULL, NULL, component, &instance), 0);
    MUST(strcmp(component, "again") == 0 && instance == 0);
    MUST_BE(status(WORKER, 1), 0);
    MUST_BE(status("again", 0), 1);
    MUST_BE(snd("again", 0, QUIT), 0);
    MUST_BE(terminate(WORKER, 2), 0);
    while (status(WORKER, 2) == 1)
        ;
    MUST_BE(terminate(WORKER, 2), PvmNoComp);
    MUST_BE(snd(WORKER, 2, QUIT), PvmNoComp);
    MUST_BE(status(WORKER, 0), 1);
    /* The instances that became free are given again. */
    MUST_BE(initiate(WORKER, ""), 1);
    MUST_BE(initiate(WORKER, ""), 2);
    have_come(1, 2);
    MUST_BE(terminate(WORKER, -1), 0);
    while (status(WORKER, -1) == 1)
        ;
    MUST_BE(terminate(WORKER, -1), PvmNoComp);
    MUST_BE(snd(WORKER, -1, QUIT), PvmNoComp);
}

static void elsewhere(void)
{
    char host[256];
    MUST_BE(enroll("pvm2_master"), 0);
    int hosts = 0, told, formats;
    while (earl_exec_host(hosts, host, sizeof host) > 0)
        MUST_BE(hosts % 2 == 0 ? initiatem(WORKER, host) : initiateM(WORKER, host), hosts++);
    MUST_BE(pstatus(&told, &formats), 0);
    MUST(told == hosts && formats == (hosts > 1 ? 2 : 1));
    MUST_BE(pstatus(NULL, NULL), 0);
    for (int i = 0; i < hosts; i++) {
        tell_text(i, STRING, "where");
        MUST_BE(rcv(ANSWER), ANSWER);
    }
    MUST_BE(initiatem(WORKER, "no.such.host"), PvmNoHost);
    quit(-1);
}

static void errors(void)
{
    char component[33], longest[40];
    int number = 1;
    const int wrong[] = {1, -2};
    const char *const nothing = NULL;
    /* Before anything else. */
    MUST_BE(initsend(), PvmSysErr);
    MUST_BE(putnint(&number, 1), PvmSysErr);
    MUST_BE(putstring("x"), PvmSysErr);
    MUST_BE(getnint(&number, 1), PvmSysErr);
    MUST_BE(getstring(component), PvmSysErr);
    MUST_BE(snd("x", 0, 1), PvmSysErr);
    MUST_BE(rcv(1), PvmSysErr);
    MUST_BE(rcvmulti(1, &number), PvmSysErr);
    MUST_BE(probe(1), PvmSysErr);
    MUST_BE(probemulti(1, &number), PvmSysErr);
    MUST_BE(rcvinfo(NULL, NULL, component, NULL), PvmSysErr);
    MUST_BE(barrier("x", 1), PvmSysErr);
    MUST_BE(ready("x"), PvmSysErr);
    MUST_BE(waituntil("x"), PvmSysErr);
    MUST_BE(status("x", 0), PvmSysErr);
    MUST_BE(terminate("x", 0), PvmSysErr);
    MUST_BE(initiate(WORKER, NULL), PvmSysErr);
    MUST_BE(initiatem(WORKER, "x"), PvmSysErr);
    MUST_BE(whoami(component, NULL), PvmSysErr);
    MUST_BE(pstatus(NULL, NULL), PvmSysErr);
    MUST_BE(leave(), PvmSysErr);
    /* Names. */
    memset(longest, 'n', 33);
    longest[33] = '\0';
    MUST_BE(enroll(nothing), PvmBadParam);
    MUST_BE(enroll(""), PvmBadParam);
    MUST_BE(enroll(longest), PvmTooLong);
    MUST_BE(enroll(longest + 1), 0);
    MUST_BE(enroll("other"), PvmAlready);
    MUST_BE(whoami(component, &number), 0);
    MUST(strcmp(component, longest + 1) == 0 && number == 0);
    MUST_BE(whoami(NULL, NULL), 0);
    MUST_BE(snd(nothing, 0, 1), PvmBadParam);
    MUST_BE(snd(longest, 0, 1), PvmTooLong);
    MUST_BE(snd("nothing", 0, 1), PvmNoComp);
    MUST_BE(snd("nothing", -1, 1), PvmNoComp);
    MUST_BE(snd(longest + 1, 1, 1), PvmNoComp);
    MUST_BE(snd(longest + 1, -2, 1), PvmBadParam);
    MUST_BE(snd(longest + 1, 0, -1), PvmBadParam);
    MUST_BE(status("", 0), PvmBadParam);
    MUST_BE(status(longest, 0), PvmTooLong);
    MUST_BE(status("x", -2), PvmBadParam);
    MUST_BE(terminate(nothing, 0), PvmBadParam);
    MUST_BE(terminate(longest, 0), PvmTooLong);
    MUST_BE(terminate("nothing", 0), PvmNoComp);
    MUST_BE(barrier("", 1), PvmBadParam);
    MUST_BE(barrier(longest, 1), PvmTooLong);
    MUST_BE(barrier("x", 0), PvmBadParam);
    MUST_BE(ready(""), PvmBadParam);
    MUST_BE(ready(longest), PvmTooLong);
    MUST_BE(waituntil(nothing), PvmBadParam);
    MUST_BE(waituntil(longest), PvmTooLong);
    MUST_BE(initiate(nothing, NULL), PvmBadParam);
    MUST_BE(initiate("/bin/", NULL), PvmBadParam);
    MUST_BE(initiate(longest, NULL), PvmTooLong);
    MUST_BE(initiate("no_such_program", NULL), PvmNoFile);
    MUST_BE(initiate("/no/such/program", NULL), PvmNoFile);
    MUST_BE(initiatem(nothing, "x"), PvmBadParam);
    MUST_BE(initiatem(WORKER, nothing), PvmBadParam);
    MUST_BE(initiatem(WORKER, "no.such.host"), PvmNoHost);
    /* Messages. */
    MUST_BE(rcvinfo(NULL, NULL, NULL, NULL), PvmNoMsg);
    MUST_BE(getnint(&number, 1), PvmNoMsg);
    MUST_BE(getstring(component), PvmNoMsg);
    MUST_BE(rcv(-2), PvmBadParam);
    MUST_BE(rcvmulti(2, wrong), PvmBadParam);
    MUST_BE(rcvmulti(0, wrong), PvmBadParam);
    MUST_BE(rcvmulti(1, NULL), PvmBadParam);
    MUST_BE(probe(-2), PvmBadParam);
    MUST_BE(probemulti(2, wrong), PvmBadParam);
    MUST_BE(probemulti(0, NULL), PvmBadParam);
    MUST_BE(putnint(&number, -1), PvmBadParam);
    MUST_BE(putnint(NULL, 1), PvmBadParam);
    MUST_BE(putstring(nothing), PvmBadParam);
    /* Without initsend: what was put so far, nothing. */
    MUST_BE(snd(longest + 1, 0, 3), 0);
    MUST_BE(rcv(3), 3);
    MUST_BE(getnint(&number, 1), PvmNoData);
    MUST_BE(getnint(&number, -1), PvmBadParam);
    MUST_BE(getnint(NULL, 1), PvmBadParam);
    MUST_BE(getnint(NULL, 0), 0);
    /* What was put as something else is no string. */
    MUST_BE(initsend(), 0);
    number = -4;
    MUST_BE(putnint(&number, 1), 0);
    MUST_BE(snd(longest + 1, 0, 3), 0);
    MUST_BE(rcv(3), 3);
    MUST_BE(getstring(component), PvmNoData);
    MUST_BE(leave(), 0);
    MUST_BE(rcv(3), PvmSysErr);
    MUST_BE(enroll("second"), 0);
    MUST_BE(getnint(&number, 1), PvmNoMsg);
}

/* Of a team by enl, with two components: COUNT pingers send to as many pongers and are answered. */
static void pings(const char *component, int pairs)
{
    const int is_pinger = strcmp(component, "ping") == 0;
    const char *other = is_pinger ? "pong" : "ping";
    char from[33];
    int number = 0, instance;
    const int mine = enroll(component);
    MUST(mine >= 0 && mine < pairs);
    MUST_BE(barrier("all", 2 * pairs), 0);
    for (int i = 0; i < 10; i++) {
        if (is_pinger) {
            MUST_BE(initsend(), 0);
            MUST_BE(putnint(&number, 1), 0);
            MUST_BE(snd(other, mine, i), 0);
        }
        MUST_BE(rcv(i), i);
        MUST_BE(rcvinfo(NULL, NULL, from, &instance), 0);
        MUST(strcmp(from, other) == 0 && instance == mine);
        MUST_BE(getnint(&number, 1), 0);
        number++;
        if (!is_pinger) {
            MUST_BE(initsend(), 0);
            MUST_BE(putnint(&number, 1), 0);
            MUST_BE(snd(other, mine, i), 0);
        }
    }
    MUST_BE(number, is_pinger ? 20 : 19);
    MUST_BE(leave(), 0);
}

static const struct {
    const char *name;
    void (*routine)(void);
} scenarios[] = {
    {"messages", messages}, {"selections", selections}, {"ends", ends},     {"synchronizes", synchronizes},
    {"mismatch", mismatch}, {"elsewhere", elsewhere},   {"errors", errors}, {"places", places}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, argv[1]) == 0) {
            scenarios[i].routine();
            return 0;
        }
    if (argc == 4 && strcmp(argv[1], "pings") == 0) {
        pings(argv[2], atoi(argv[3]));
        return 0;
    }
    fprintf(stderr, "pvm2_master: no such scenario\n");
    return 2;
}
