/* SPDX-License-Identifier: MIT */
/* See behave.h. The test's process forks; bcr_init
 * turns that child into the daemon, and the behaviour runs in the root CCE, the daemon's child. The
 * other CCEs are actor.c, enlisted when they are needed. They are told what to do through a Unix
 * socket, not through BCR: so what the behaviour sees is ordered by BCR alone. */
#include "behave.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cce.h"
#include "verbs.h"

const struct place place_own = {.name = "own", .own = true};
const struct place place_other = {.name = "other", .mach = NULL};
const struct place place_host = {.name = "host", .mach = "elsewhere", .far = true};
const struct place place_timed = {.name = "timed", .mach = "elsewhere", .far = true, .timed = true};

enum { CCES_MAX = 8 };
static struct cce cces[CCES_MAX];
static int cce_count;
static const char *folder;
static int handshake = -1;
static bool host_is_lost;
static const char *network; /* $HOSTS_IN, where the hosts are those of with_hosts.sh */
static const char *hosts[CCES_MAX];
static int host_count; /* beside the root's: in the order in which they were started, which is their names' */

/* ---- the CCEs ---- */

static void open_door(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s/handshake", folder);
    CHECK_INT(setenv("BEHAVE_SOCKET", name.sun_path, 1), 0);
    handshake = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(handshake >= 0);
    CHECK_INT(bind(handshake, (struct sockaddr *)&name, sizeof name), 0);
    CHECK_INT(listen(handshake, CCES_MAX), 0);
}

static struct cce *enlist(const char *mach)
{
    CHECK(cce_count < CCES_MAX);
    struct cce *cce = &cces[cce_count];
    if (mach != NULL)
        hosts[host_count++] = mach;
    const char *actor = getenv("BEHAVE_ACTOR");
    if (actor == NULL)
        FAIL("BEHAVE_ACTOR is not set; run this test by ctest");
    CHECK_INT(bcr_cagrow(MEETING_CELL, 0, 0, 0, 1, 1, 0), MEETING_CELL);
    CHECK_INT(bcr_enlist(mach, -1, cce_count, actor, NULL, bcr_FREE), 0);
    const int fd = accept(handshake, NULL, NULL);
    CHECK(fd >= 0);
    cce->in = fdopen(fd, "r");
    cce->out = fdopen(dup(fd), "w");
    CHECK(cce->in != NULL && cce->out != NULL);
    CHECK_INT(bcr_recv(&cce->name, sizeof cce->name, bcrT_1CCE, 1, bcr_cce, MEETING_CELL, 1, bcr_BLOCK), 2);
    CHECK_INT(bcr_cafree(MEETING_CELL), 0);
    cce_count++;
    return cce;
}

/* Tells `cce` who the owner is. */
static void introduce(struct cce *cce)
{
    CHECK_INT(bcr_send(&there, sizeof there, bcrT_1CCE, 1, cce->name, MEETING_CELL, 1, 0), 2);
    CHECK(by(cce, "meet") > 0);
}

/* Of a network each has a host of its own. */
static struct cce *at_hand(struct cce **cce, const char *mach)
{
    if (*cce != NULL)
        return *cce;
    const int memory = bcr_cagrow(MY_MEMORY, 0, 0, 0, 0, 0, 4096);
    CHECK(memory > 0);
    *cce = enlist(network != NULL ? mach : NULL);
    introduce(*cce);
    if (place->timed)
        CHECK_INT(by(*cce, "putwait %d", TIMED_MSEC), 0);
    while (bcr_cafree(memory) != 0) /* the other host's acknowledgement may be on its way */
        CHECK_INT(bcr_errno, bcrE_BUSY);
    return *cce;
}

struct cce *another(void)
{
    static struct cce *cce;
    return at_hand(&cce, "second");
}

struct cce *third(void)
{
    static struct cce *cce;
    return at_hand(&cce, "third");
}

void have_lost_host(void)
{
    owner->gone = host_is_lost = true;
}

void lose_host(void)
{
    CHECK_INT(kill(by(owner, "parent"), SIGKILL), 0);
    have_lost_host();
    while (bcr_celllen(there, MEETING_CELL) >= 0)
        continue;
    CHECK_INT(bcr_errno, bcrE_DEAD);
}

/* ---- a behaviour's program ---- */

/* No CCE is inside a call that does not wait. `host`: NULL, the root's; one of a network hears only who asks
 * there. */
static void audit(const char *program, const char *host)
{
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        const char *enl = getenv("BCR_ENL");
        char within[PATH_MAX];
        if (freopen("/dev/null", "w", stdout) == NULL)
            _exit(126);
        if (network != NULL && host != NULL) {
            snprintf(within, sizeof within, "%s/%s", network, host);
            execl(within, within, enl, "audit", program, (char *)NULL);
        } else {
            execl(enl, enl, "audit", program, (char *)NULL);
        }
        _exit(126);
    }
    test_join(pid, 0);
}

/* Of all hosts that are not lost. */
static void audit_all(void)
{
    char name[HOST_NAME_MAX + 1], program[HOST_NAME_MAX + 40];
    CHECK_INT(gethostname(name, sizeof name), 0);
    snprintf(program, sizeof program, "%s.%d", name, (int)getppid());
    audit(program, NULL);
    for (int i = 0; i < host_count; i++) {
        if (host_is_lost && strcmp(hosts[i], place->mach) == 0)
            continue;
        snprintf(program, sizeof program, "%s.%d:%d", name, (int)getppid(), i + 1);
        audit(program, hosts[i]);
    }
}

static _Noreturn void play(const struct place *at, void (*behaviour)(void))
{
    open_door();
    if (bcr_init(bcr_errors, NULL) != 0)
        FAIL("bcr_init: %s", bcr_strerror(bcr_errno));
    place = at;
    cces[0] = (struct cce){.name = bcr_cce};
    cce_count = 1;
    me = owner = &cces[0];
    there = bcr_cce;
    if (!place->own) {
        owner = enlist(place->mach);
        there = owner->name;
    }
    if (place->timed)
        putwait(TIMED_MSEC);
    behaviour();
    audit_all();
    exit(0);
}

/* A list of hosts with one that is a daemon of its own on this machine: of another build of BCR, perhaps for
 * another architecture, if $BEHAVE_THERE is its folder. */
static void write_hosts(const char *name)
{
    char path[PATH_MAX];
    const char *build = getenv("BEHAVE_THERE");
    snprintf(path, sizeof path, "%s/hosts", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "%s local", name);
    if (build != NULL)
        fprintf(file, " enl=%s/enl/enl path=%s/test/behaviour", build, build);
    fprintf(file, "\n");
    CHECK_INT(fclose(file), 0);
    CHECK_INT(setenv("BCR_HOSTSFILE", path, 1), 0);
}

void behave(const struct place *at, void (*behaviour)(void))
{
    int status;
    folder = test_folder();
    CHECK_INT(setenv("BCR_TEMPDIR", folder, 1), 0);
    CHECK_INT(setenv("HOME", folder, 1), 0);
    if (at->far) {
        network = getenv("HOSTS_IN");
        if (network == NULL)
            write_hosts(at->mach);
        CHECK_INT(setenv("BEHAVE_FAR", "1", 1), 0);
        CHECK_INT(setenv("BCR_ONFAIL", "isolate", 1), 0); /* of a host that is lost */
    }
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        play(at, behaviour);
    while (waitpid(pid, &status, 0) < 0)
        CHECK_INT(errno, EINTR);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("%s: the program did not end with status 0", at->name);
}
