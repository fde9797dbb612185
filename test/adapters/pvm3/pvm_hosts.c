/* SPDX-License-Identifier: MIT */
/* pvm_hosts.c -- scenarios of hosts that come and go. */
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "pvm_members.h"

/* The next message with that tag has just these ints. */
static void must_have(int tag, int many, int first, int second)
{
    int bytes, got;
    const int id = pvm_recv(-1, tag);
    MUST(id > 0 && pvm_bufinfo(id, &bytes, NULL, NULL) == PvmOk);
    IS(bytes, many * (int)sizeof(int));
    IS(pvm_upkint(&got, 1, 1), PvmOk);
    IS(got, first);
    if (many < 2)
        return;
    IS(pvm_upkint(&got, 1, 1), PvmOk);
    IS(got, second);
}

static int add(const char *line)
{
    char *hosts[] = {(char *)(uintptr_t)line};
    int info = 1;
    const int done = pvm_addhosts(hosts, 1, &info);
    MUST(done == (info > 0));
    return info;
}

static int del(const char *name)
{
    char *hosts[] = {(char *)(uintptr_t)name};
    int info = 1;
    const int done = pvm_delhosts(hosts, 1, &info);
    MUST(done == (info == PvmOk));
    return info;
}

static int count_hosts(void)
{
    int many;
    IS(pvm_config(&many, NULL, NULL), PvmOk);
    return many;
}

static int spawn_on(const char *host)
{
    char *waiting[] = {"spawned", "2", NULL};
    int tid = 0;
    return pvm_spawn(me, waiting, PvmTaskHost, host, 1, &tid) == 1 ? tid : 0;
}

/* By the command of the test nothing can be reached. */
static void must_refuse(void)
{
    char *several[] = {"one local", "ONE local", "a b c", "no-such-host.invalid", "192.0.2.1"};
    char own[256];
    int infos[5];
    const int before = count_hosts();
    IS(pvm_addhosts(several, 5, infos), 1);
    MUST(infos[0] > 0);
    IS(infos[1], PvmDupHost);
    IS(infos[2], PvmBadParam);
    IS(infos[3], PvmNoHost);
    IS(infos[4], PvmCantStart);
    IS(count_hosts(), before + 1);
    IS(pvm_addhosts(several + 1, 2, NULL), 0);
    FAILS(pvm_addhosts(NULL, 1, infos), PvmBadParam);
    FAILS(pvm_addhosts(several, 0, infos), PvmBadParam);
    FAILS(pvm_delhosts(NULL, 1, infos), PvmBadParam);
    several[1] = NULL;
    IS(pvm_addhosts(several + 1, 1, infos), 0);
    IS(infos[0], PvmBadParam);
    IS(del("nowhere"), PvmNoHost);
    MUST(gethostname(own, sizeof own) == 0);
    IS(del(own), PvmBadParam);
    IS(del("one"), PvmOk);
    IS(count_hosts(), before);
}

static void must_tell_of_new_ones(void)
{
    IS(pvm_notify(PvmHostAdd, 60, 1, NULL), PvmOk);
    const int first =
        add("first lo=me sp=700 ep=/opt wd=/tmp local") > 0 ? 0 : add("first ep=/opt sp=700 local");
    MUST(first > 0); /* a login is none of a local one */
    must_have(60, 2, 1, first);
    const int second = add("second local");
    IS(pvm_nrecv(-1, 60), 0);
    IS(pvm_notify(PvmHostAdd, 61, 5, NULL), PvmOk);
    IS(pvm_notify(PvmHostAdd, 62, -1, NULL), PvmOk);
    const int third = add("third local"), fourth = add("fourth local");
    must_have(62, 2, 1, third);
    must_have(62, 2, 1, fourth);
    IS(pvm_notify(PvmHostAdd | PvmNotifyCancel, 62, -1, NULL), PvmOk);
    must_have(62, 1, 0, 0);
    IS(del("third"), PvmOk);
    MUST(add("third local") > fourth && second > first);
    IS(pvm_nrecv(-1, -1), 0);
    FAILS(pvm_notify(PvmHostAdd, 60, -2, NULL), PvmBadParam);
}

void hosts(void)
{
    pvm_setopt(PvmAutoErr, 0);
    must_refuse();
    const int one = add("one local"), task = spawn_on("one");
    int gone[2] = {one, task};
    MUST(one > 0 && task > 0);
    IS(pvm_tidtohost(task), one);
    IS(pvm_mstat("one"), PvmOk);
    IS(pvm_notify(PvmTaskExit, 50, 1, &task), PvmOk);
    IS(pvm_notify(PvmHostDelete, 51, 2, gone), PvmOk); /* by the host, and by a task there */
    IS(pvm_notify(PvmHostDelete, 52, 1, gone), PvmOk);
    IS(pvm_notify(PvmHostDelete | PvmNotifyCancel, 52, 1, gone), PvmOk);
    must_have(52, 1, one, 0);
    IS(pvm_nrecv(-1, -1), 0);
    IS(del("one"), PvmOk);
    must_have(51, 1, one, 0);
    must_have(51, 1, one, 0);
    must_have(50, 1, task, 0);
    FAILS(pvm_mstat("one"), PvmNoHost);
    FAILS(pvm_tasks(one, NULL, NULL), PvmNoHost);
    IS(spawn_on("one"), 0);
    IS(pvm_notify(PvmHostDelete, 53, 1, gone), PvmOk); /* at once */
    must_have(53, 1, one, 0);
    IS(pvm_nrecv(-1, -1), 0);
    must_tell_of_new_ones();
    gone[0] = 77 << 18;
    FAILS(pvm_notify(PvmHostDelete, 1, 1, gone), PvmBadParam);
    FAILS(pvm_notify(PvmHostDelete, 1, 1, NULL), PvmBadParam);
    FAILS(pvm_notify(PvmRouteAdd, 1, 1, gone), PvmNotImpl);
}

/* The daemon of a host is killed, and the task there with it. */
void loses(void)
{
    pvm_setopt(PvmAutoErr, 0);
    int one = add("one local");
    const int before = count_hosts();
    char *telling[] = {"spawned", "3", NULL};
    int tid = 0;
    IS(pvm_spawn(me, telling, PvmTaskHost, "one", 1, &tid), 1);
    IS(pvm_notify(PvmHostDelete, 51, 1, &one), PvmOk);
    IS(pvm_notify(PvmTaskExit, 50, 1, &tid), PvmOk);
    MUST(pvm_recv(tid, 3) > 0);
    IS(kill(next_int(), SIGKILL), 0);
    must_have(51, 1, one, 0);
    must_have(50, 1, tid, 0);
    IS(count_hosts(), before - 1);
    one = add("one local"); /* a replacement */
    MUST(one > 0 && spawn_on("one") > 0);
    IS(del("one"), PvmOk);
}
