/* SPDX-License-Identifier: MIT */
/* A CCE that calls bcr_init, bcr_enlist and bcr_arch with each wrong argument, and looks whether
 * anything has changed. What is not as the manual says is printed; at the end the number of
 * calls. */
#include <bcr.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls, wrong;

static void fails_with(const char *what, int returned, int code)
{
    calls++;
    if (returned == -1 && bcr_errno == code)
        return;
    wrong++;
    printf("%s: returned %d, %s; wanted %s\n", what, returned, bcr_strerror(bcr_errno), bcr_strerror(code));
}
#define FAILS(call, code)                  \
    do {                                   \
        bcr_errno = bcrE_OK;               \
        fails_with(#call, (call), (code)); \
    } while (0)

static void must(int holds, const char *what)
{
    calls++;
    if (!holds) {
        wrong++;
        printf("%s does not hold\n", what);
    }
}
#define MUST(expr) must((expr), #expr)

/* A failed bcr_enlist: the region is still the caller's own, no error region has come. */
static void enlist_fails(const char *why, const char *mach, int prcssr, int ordinal, const char *obj,
                         bcr_region rgid, int code)
{
    for (int nofree = bcr_FREE; nofree <= bcr_NOFREE; nofree++) {
        bcr_errno = bcrE_OK;
        fails_with(why, bcr_enlist(mach, prcssr, ordinal, obj, rgid, nofree), code);
    }
    must(bcr_celllen(bcr_cce, 0) == 0, why);
}

static void before_init(void)
{
    FAILS(bcr_enlist(NULL, -1, 1, "x", NULL, bcr_FREE), bcrE_NOINIT);
    FAILS(bcr_arch(1), bcrE_NOINIT);
    FAILS(bcr_init(-1, NULL), bcrE_ARG);
    FAILS(bcr_init(INT_MIN, "name"), bcrE_ARG);
    MUST(bcr_cce == 0);
    MUST(getenv("BCRI_SOCKET") != NULL); /* nothing was done: bcr_init still works */
}

static void inits(void)
{
    FAILS(bcr_init(0, NULL), bcrE_BUSY);
    FAILS(bcr_init(bcr_errors, "other"), bcrE_BUSY);
    FAILS(bcr_init(-1, NULL), bcrE_ARG);
    MUST(bcr_cce == 1 && bcr_enlistor == -1 && bcr_cceord == 0 && bcr_archtype > 0);
    pid_t pid = fork();
    if (pid == 0) {
        wrong = 0;
        FAILS(bcr_init(0, NULL), bcrE_FORK);
        FAILS(bcr_enlist(NULL, -1, 1, "x", NULL, bcr_FREE), bcrE_FORK);
        FAILS(bcr_arch(1), bcrE_FORK);
        fflush(stdout);
        _exit(wrong);
    }
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    MUST(status == 0);
}

static void archs(void)
{
    MUST(bcr_arch(bcr_cce) == bcr_archtype);
    const int never[] = {0, -1, 2, 1000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        FAILS(bcr_arch(never[i]), bcrE_NOCCE);
}

static void enlists(void)
{
    static char longer[5000];
    memset(longer, 'x', sizeof longer - 1);
    MUST(bcr_cagrow(0, 0, 0, 0, 1, 4, 4096) == 1);
    bcr_region fine = bcr_rgalloc(64, 0), large = bcr_rgalloc(65, 0), freed = bcr_rgalloc(8, 0);
    bcr_region pending = bcr_deq(bcr_cce, 1, bcr_PENDING);
    void *variable = NULL;
    if (fine == NULL || large == NULL || pending == NULL || bcr_rgfree(freed) != 0) {
        must(0, "that there is memory");
        return;
    }
    void *data = *fine;

    enlist_fails("obj NULL", NULL, -1, 1, NULL, fine, bcrE_ARG);
    enlist_fails("obj empty", NULL, -1, 1, "", fine, bcrE_ARG);
    enlist_fails("obj too long", NULL, -1, 1, longer, fine, bcrE_NOPROG);
    enlist_fails("mach too long", longer, -1, 1, "sh", fine, bcrE_NOHOST);
    enlist_fails("negative ordinal", NULL, -1, -1, "sh", fine, bcrE_ARG);
    enlist_fails("least ordinal", NULL, -1, INT_MIN, "sh", fine, bcrE_ARG);
    enlist_fails("ordinals overflow", NULL, -2, INT_MAX, "sh", fine, bcrE_ARG);
    enlist_fails("ordinals overflow", NULL, INT_MIN, 1, "sh", fine, bcrE_ARG);
    enlist_fails("as many as can be", NULL, -INT_MAX, 1, "sh", fine, bcrE_ENLIST);
    enlist_fails("large region", NULL, -1, 1, "sh", large, bcrE_ARG);
    enlist_fails("freed region", NULL, -1, 1, "sh", freed, bcrE_RGID);
    enlist_fails("no region ID", NULL, -1, 1, "sh", &variable, bcrE_RGID);
    enlist_fails("pending region", NULL, -1, 1, "sh", pending, bcrE_PENDING);
    enlist_fails("unknown machine", "nowhere.invalid", -1, 1, "sh", fine, bcrE_NOHOST);
    enlist_fails("nobody's address", "192.0.2.1", -1, 1, "sh", fine, bcrE_NOHOST);
    enlist_fails("own address, no such program", "127.0.0.1", -1, 1, "/nonexistent/here", fine, bcrE_NOPROG);
    enlist_fails("no such core", NULL, 99999, 1, "sh", fine, bcrE_NOCORE);
    enlist_fails("largest core", NULL, INT_MAX, 1, "sh", fine, bcrE_NOCORE);
    enlist_fails("no such program", NULL, -1, 1, "/nonexistent/program", fine, bcrE_NOPROG);
    enlist_fails("not on PATH", NULL, -3, 1, "no-such-program-anywhere", fine, bcrE_NOPROG);
    enlist_fails("a folder", NULL, -1, 1, "/usr", fine, bcrE_NOPROG);
    enlist_fails("not executable", NULL, -1, 1, "/etc/passwd", fine, bcrE_NOPROG);

    MUST(*fine == data && bcr_rgmod(fine) == 0 && *fine == data); /* no other CCE got a share */
    MUST(bcr_rgwait(pending, 0, 0) == 0 && bcr_rgfree(pending) == 0);
    MUST(bcr_rgfree(large) == 0 && bcr_rgfree(fine) == 0 && bcr_cafree(1) == 0);
}

int main(void)
{
    before_init();
    MUST(bcr_init(bcr_errors, "args") == 0);
    inits();
    archs();
    enlists();
    printf("%d calls, %d wrong\n", calls, wrong);
    return wrong != 0;
}
