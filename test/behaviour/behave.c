/* SPDX-License-Identifier: MIT */
/* See behave.h. The test's process makes a folder for the log and the socket, and forks; bcr_init
 * turns that child into the daemon, and the behaviour runs in the root CCE, the daemon's child. The
 * other CCEs are actor.c, enlisted when they are needed. They are told what to do through a Unix
 * socket, not through BCR: so what the behaviour sees is ordered by BCR alone. */
#include "behave.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verbs.h"

const struct place place_own = {.name = "own", .own = true};
const struct place place_other = {.name = "other", .mach = NULL};
const struct place place_host = {.name = "host", .mach = "elsewhere", .far = true};

const struct place *place;
struct cce *me, *owner;
bcr_cce_id there;

struct cce {
    bcr_cce_id name; /* how this process calls it */
    FILE *in, *out;  /* NULL: this process itself */
    bool gone;
};

enum { CCES_MAX = 8, MY_MEMORY = 2000000 };
static struct cce cces[CCES_MAX];
static int cce_count;
static char folder[] = "/tmp/bcr-behave-XXXXXX";
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

bcr_cce_id name_of(struct cce *cce)
{
    return cce->name;
}

static void vtell(struct cce *who, const char *format, va_list arguments)
{
    CHECK(!who->gone);
    vfprintf(who->out, format, arguments);
    fputc('\n', who->out);
    CHECK_INT(fflush(who->out), 0);
}

void begin(struct cce *who, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vtell(who, format, arguments);
    va_end(arguments);
}

int result_of(struct cce *who)
{
    char line[64];
    int result, code;
    if (fgets(line, sizeof line, who->in) == NULL || sscanf(line, "%d %d", &result, &code) != 2)
        FAIL("CCE %d has ended instead of an answer", who->name);
    bcr_errno = code;
    return result;
}

int by(struct cce *who, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    if (who == me)
        vsnprintf(line, sizeof line, format, arguments);
    else
        vtell(who, format, arguments);
    va_end(arguments);
    return who == me ? verb_do(line, &there) : result_of(who);
}

void leave(struct cce *who)
{
    char line[64];
    begin(who, "exit 0");
    CHECK_PTR(fgets(line, sizeof line, who->in), NULL);
    who->gone = true;
    while (bcr_celllen(who->name, MEETING_CELL) >= 0) /* until the daemon has seen it */
        continue;
    CHECK_INT(bcr_errno, bcrE_DEAD);
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

void turn_round(struct cce *who)
{
    CHECK_INT(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, who->name, MEETING_CELL, 1, 0), 2);
    CHECK(by(who, "meet") > 0);
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
    behaviour();
    audit_all();
    exit(0);
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *at)
{
    (void)status;
    (void)flag;
    (void)at;
    return remove(path);
}

/* A list of hosts with one that is a daemon of its own on this machine. */
static void write_hosts(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/hosts", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fprintf(file, "%s local\n", name);
    CHECK_INT(fclose(file), 0);
    CHECK_INT(setenv("BCR_HOSTSFILE", path, 1), 0);
}

void behave(const struct place *at, void (*behaviour)(void))
{
    int status;
    CHECK(mkdtemp(folder) != NULL);
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
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("%s: the program did not end with status 0", at->name);
}

/* ---- shorthands ---- */

int grow(int cells, int nrgns, int nbytes)
{
    if (nbytes > 0)
        CHECK(bcr_cagrow(MY_MEMORY, 0, 0, 0, 0, nrgns, nbytes) > 0);
    const int base = by(owner, "grow 0 0 0 0 %d %d 0", cells, nrgns);
    CHECK(base >= 1);
    return base;
}

int put(int cell, int value)
{
    const int returned = bcr_enq(number(value), there, cell, bcr_FREE);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    return returned;
}

void arrive(void)
{
    if (place->far)
        (void)bcr_celllen(there, MEETING_CELL);
}

int take(int cell)
{
    return value_of(bcr_deq(there, cell, 0));
}

void error_is(int code, int operation, bcr_cce_id cce, int cell)
{
    int error[4];
    bcr_region rgid = bcr_deq(bcr_cce, 0, place->far ? bcr_BLOCK : 0);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgerror(rgid), code);
    CHECK(bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error) >= 2);
    CHECK_INT(error[0], code);
    CHECK_INT(error[1], operation);
    CHECK_INT(error[2], cce);
    CHECK_INT(error[3], cell);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

void refused(const char *file, int line, int returned, bcr_region rgid, int cell, int code)
{
    const int error = bcr_errno;
    if (returned == 0 && place->far) {
        error_is(code, bcr_op_put, there, cell);
        (void)bcr_rgfree(rgid); /* a put with nofree */
        return;
    }
    check_int(file, line, "what the put returned", returned, -1);
    check_int(file, line, "bcr_errno of the put", error, code);
    void *data = *rgid;
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data); /* no other CCE got a share */
    CHECK_INT(bcr_rgfree(rgid), 0);
}

void get_fails(const char *file, int line, bcr_region returned, int code)
{
    if (returned != NULL && place->far)
        check_int(file, line, "what rgwait returned", bcr_rgwait(returned, bcr_BLOCK, 0), -1);
    else
        check_int(file, line, "whether the get returned NULL", returned == NULL, 1);
    check_int(file, line, "bcr_errno of the get", bcr_errno, code);
}

int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
