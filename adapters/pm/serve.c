/* SPDX-License-Identifier: MIT */
/* serve.c -- one-sided operations that other processes ask for: the helper thread, and pmReceive, carry them out.
 *
 * The lock `serving` is held from the taking of a request until it is carried out, so that one that waits for it, such as
 * pmReceive before it returns a message, knows that all earlier ones are. It is taken before pm_lock. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "pm_private.h"
#include "request.h"

static pthread_mutex_t serving = PTHREAD_MUTEX_INITIALIZER;

/* ---- a request ---- */

static bool is_request(const void *request, size_t bytes)
{
    return bytes >= PM_REQUEST_BYTES &&
           (pm_field_get(request, PM_FIELD_KIND) == PM_KIND_WRITE ||
            pm_field_get(request, PM_FIELD_KIND) == PM_KIND_READ) &&
           pm_field_get(request, PM_FIELD_RANK) < (uint64_t)pm_self.count &&
           pm_field_get(request, PM_FIELD_LENGTH) <= bytes - PM_REQUEST_BYTES;
}

/* Copies between the region and the memory; what else it is, is no data. */
static bool carry_out(void *request, uint64_t address)
{
    char *data = (char *)request + PM_REQUEST_BYTES, *memory = (char *)(uintptr_t)address;
    const size_t length = (size_t)pm_field_get(request, PM_FIELD_LENGTH);
    if (address == 0)
        return false;
    return pm_field_get(request, PM_FIELD_KIND) == PM_KIND_WRITE ? pm_copy(memory, data, length)
                                                                 : pm_copy(data, memory, length);
}

static void answer(bcr_region rgid)
{
    const struct pm_member *member = &pm_self.members[pm_field_get(*rgid, PM_FIELD_RANK)];
    if (pm_field_get(*rgid, PM_FIELD_KIND) == PM_KIND_WRITE || pm_field_get(*rgid, PM_FIELD_DONE) == 0)
        (void)bcr_rgrealloc(rgid, PM_REQUEST_BYTES);
    /* There is room: the other has no more requests under way than its cell holds. */
    if (bcr_put_within(1, rgid, member->cce, PM_CELL_ANSWERS, bcr_FREE, member->is_near ? 0 : bcr_BLOCK) !=
        0) {
        pm_say(1, "an answer to node %d: %s", (int)(member - pm_self.members), bcr_strerror(bcr_errno));
        (void)bcr_rgfree(rgid);
    }
}

/* Between pm_lock and pm_unlock, which it leaves meanwhile. */
static void serve_one(bcr_region rgid)
{
    if (bcr_rgkind(rgid) != bcr_DATA || bcr_rgmod(rgid) != 0 ||
        !is_request(*rgid, (size_t)bcr_rglen(rgid, NULL))) {
        pm_say(2, "what has come to cell %d is no request", PM_CELL_REQUESTS);
        (void)bcr_rgfree(rgid);
        return;
    }
    const uint64_t address =
        pm_address_of(pm_field_get(*rgid, PM_FIELD_HANDLE), (size_t)pm_field_get(*rgid, PM_FIELD_LENGTH));
    pm_unlock();
    const bool is_done = carry_out(*rgid, address);
    pm_lock();
    pm_field_set(*rgid, PM_FIELD_DONE, is_done);
    answer(rgid);
}

void pm_serve(void)
{
    pthread_mutex_lock(&serving);
    pm_lock();
    bcr_region rgid;
    for (int left = bcr_celllen(bcr_cce, PM_CELL_REQUESTS); left > 0; left--)
        if ((rgid = bcr_deq(bcr_cce, PM_CELL_REQUESTS, 0)) != NULL)
            serve_one(rgid);
    pm_unlock();
    pthread_mutex_unlock(&serving);
}

/* ---- the helper ---- */

/* A descriptor cannot be armed while there is no memory: it looks again then. */
enum { AGAIN_MSEC = 10 };

static void *help(void *argument)
{
    (void)argument;
    struct pollfd wait = {.fd = -1, .events = POLLIN};
    /* On the core to which the CCE is pinned it would wait behind the thread that computes. */
    (void)bcr_threadcores();
    for (;;) {
        pm_serve();
        pm_lock();
        const int fd = bcr_fd(PM_CELL_REQUESTS);
        pm_unlock();
        if (fd >= 0)
            wait.fd = fd;
        (void)poll(&wait, 1, fd >= 0 ? -1 : AGAIN_MSEC);
    }
    return NULL;
}

static int start_helper(void)
{
    pthread_t thread;
    sigset_t all, before;
    pm_lock();
    const int fd = bcr_fd(PM_CELL_REQUESTS); /* the first time it needs descriptors */
    pm_unlock();
    if (fd < 0)
        return ENOMEM;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, NULL, help, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

int pm_serve_begin(void)
{
    static bool is_begun;
    pthread_mutex_lock(&serving);
    int error = is_begun ? 0 : pm_copy_begin();
    if (!is_begun && error == 0 && (pm_self.has_far || pm_process_is_refused())) {
        error = start_helper();
        pm_lock();
        pm_self.is_served = pm_self.is_helped = error == 0;
        pm_unlock();
    }
    is_begun = error == 0;
    pthread_mutex_unlock(&serving);
    return error;
}
