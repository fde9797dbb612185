/* SPDX-License-Identifier: MIT */
/* init.c -- bcr_init and bcr_enter: how a process becomes a CCE.
 *
 *   BCRI_SOCKET is set: started by enl, by bcr_enlist, or under enl --join: join by that socket
 *   else BCR_AWAIT is set: a member of a team that nobody starts; member 0 starts a daemon, others wait for one
 *   else BCR_ENTER is set, as by enl --enter, or bcr_enter was called: enter the program of that name
 *   else: started by a shell (or by a CCE, which unset the variables): start a daemon, then join it
 *
 * on_exit records the exit status in shared memory, since enl cannot ask for the status of a
 * process that is not its child. Processes that the CCE forks run the same handler and must leave
 * the record alone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/environment.h"
#include "bcri/ids.h"
#include "bcri/private.h"
#include "bcri/scheduler.h"
#include "bcri/self.h"

/* The socket that BCRI_SOCKET names; the variable is unset. -1: it was not set; -bcrE_ENLIST: it
 * names no open socket. */
static int inherited_socket(void)
{
    const char *text = getenv(BCRI_CONTROL_ENV);
    if (text == NULL)
        return -1;
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    struct stat status;
    bool usable = errno == 0 && end != text && *end == '\0' && number >= 0 && number < 1 << 24 &&
                  fstat((int)number, &status) == 0 && S_ISSOCK(status.st_mode);
    if (!usable)
        bcri_client_complain(
            "%s=%s names no socket; whatever runs between enl and this program must not close "
            "descriptors that it does not know",
            BCRI_CONTROL_ENV, text);
    unsetenv(BCRI_CONTROL_ENV);
    return usable ? (int)number : -bcrE_ENLIST;
}

/* Whether this user or root made the socket. Its maker gives this process the memory that it works
 * on, and any user can start a set-user-ID program with a socket of his own. */
static bool is_trusted(int fd)
{
    struct ucred maker;
    socklen_t size = sizeof maker;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) != 0) {
        bcri_client_complain("cannot ask of which user enl is: getsockopt: %s", strerror(errno));
        return false;
    }
    if (maker.uid == geteuid() || maker.uid == 0)
        return true;
    bcri_client_complain(
        "the enl that started this program is not of user %lu, as whom it runs, nor of root; start "
        "it without enl, or by an enl of that user",
        (unsigned long)geteuid());
    return false;
}

static void record_exit(int status, void *data)
{
    struct bcri_client *client = data;
    uint32_t none = 0;
    if (getpid() != client->pid)
        return;
    bcri_client_wait_for_crash();
    atomic_compare_exchange_strong(&client->ctx.record->id.exit_status, &none,
                                   BCRI_EXITED | ((uint32_t)status & 0xffu));
}

/* The socket to the program that BCR_ENTER names, or a negative bcrE_ code. */
static int enter_by_variable(const char *name)
{
    const int fd = bcri_client_reach(name);
    if (fd == -bcrE_ARG)
        bcri_client_complain(BCRI_ENTER_ENV "=%s is no program's name", name);
    else if (fd == -bcrE_NOPROG)
        bcri_client_complain("no program %s of this user runs on this machine; enl ps lists them", name);
    return fd;
}

/* The socket to the daemon, or a negative bcrE_ code. The variables that lead there are unset: programs that this one
 * starts are others. The starter of a set-user-ID program does not choose what that enters. */
static int find_daemon(struct bcri_client *client)
{
    struct bcri_client_await await;
    const int code = bcri_client_await_take(&await);
    char program[256] = "";
    const char *wanted = secure_getenv(BCRI_ENTER_ENV);
    if (wanted != NULL)
        snprintf(program, sizeof program, "%s", wanted); /* one that is cut off is no name either */
    unsetenv(BCRI_ENTER_ENV);
    const int fd = inherited_socket();
    if (fd >= 0 && !is_trusted(fd)) {
        close(fd);
        return -bcrE_ENLIST;
    }
    int found = fd;
    if (fd == -1 && code != 0)
        found = -code;
    else if (fd == -1 && await.rank != 0) {
        client->awaited = await.members;
        found = bcri_client_await(client, &await);
    } else if (fd == -1 && await.members == 0 && wanted != NULL) {
        client->enters = true;
        found = enter_by_variable(program);
    } else if (fd == -1) {
        client->direct = true;
        found = bcri_client_start_daemon(&await);
    }
    free(await.hosts);
    return found;
}

/* `program` NULL: the one that has started this process, or that its environment names, or a new one. */
static int become_cce(struct bcri_client *client, const char *program, int flags, const char *ccename)
{
    client->enters = program != NULL;
    const int fd = program != NULL ? bcri_client_reach(program) : find_daemon(client);
    if (fd < 0)
        return -fd;
    int code = bcri_client_join(client, fd, flags, ccename);
    if (code != 0)
        return code;
    unsetenv(BCRI_ENTER_ENV);
    code = bcri_ids_set_globals(&client->ctx, client->enlistor);
    if (code != 0 || on_exit(record_exit, client) != 0) {
        if (client->ctx.bell_fd >= 0)
            close(client->ctx.bell_fd);
        bcri_ctx_fini(&client->ctx);
        close(client->kill_socket);
        close(client->fd);
        return bcrE_NOMEM;
    }
    bcri_client_stay_loaded();
    bcri_sched_prepare();
    if (client->reports_crashes)
        bcri_client_watch_crashes(client);
    return 0;
}

static struct bcri_client *new_client(void)
{
    struct bcri_client *client = bcri_ctx_alloc(sizeof *client);
    if (client != NULL)
        client->taken = -1;
    return client;
}

/* `program`: as become_cce's. */
static int begin(const char *program, int flags, const char *ccename)
{
    static _Atomic int begun;
    int code = 0;
    int not_yet = 0;
    struct bcri_client *client = NULL;
    if (bcri_self_is_fork())
        code = bcrE_FORK;
    else if (flags < 0)
        code = bcrE_ARG;
    else if (bcri_self() != NULL || !atomic_compare_exchange_strong(&begun, &not_yet, 1))
        code = bcrE_BUSY;
    else if ((client = new_client()) == NULL)
        code = bcrE_NOMEM;
    else
        code = become_cce(client, program, flags, ccename);
    if (code != 0) {
        if (client != NULL || code == bcrE_NOMEM)
            atomic_store(&begun, 0);
        if (client != NULL && client->taken >= 0)
            close(client->taken);
        bcri_private_free(client);
        bcri_set_errno(code);
        return -1;
    }
    bcri_store_release(&client->ctx.record->id.state, BCRI_CCE_ALIVE);
    bcri_self_set_process(&client->ctx);
    return flags & ~(bcr_implemented | bcr_anystatus | bcr_isolate | bcr_passsignals);
}

int bcr_init(int flags, const char *ccename)
{
    return begin(NULL, flags, ccename);
}

int bcr_enter(const char *program, int flags, const char *ccename)
{
    /* enl waits for the hello of a process that it has started, and would take this one's end for a failed start. */
    const int code = program == NULL                                           ? bcrE_ARG
                     : bcri_self() == NULL && getenv(BCRI_CONTROL_ENV) != NULL ? bcrE_BUSY
                                                                               : 0;
    return code == 0 ? begin(program, flags, ccename) : bcri_fail(code);
}
