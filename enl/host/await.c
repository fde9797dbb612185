/* SPDX-License-Identifier: MIT */
/* await.c -- members of a team that this daemon does not start (BCR_AWAIT): their processes come by themselves, and wait for it
 * at addresses of their own (bcri/rendezvous.h).
 *
 *   AWAITED --connected--> CLAIMED --hello--> as any CCE that has said hello (cce.c)
 *      |                      |
 *      | awaittimeout is over | the connection ends without hello
 *      +----------------------+--> the start has failed
 *
 * AWAITED is STARTED without process and connection; CLAIMED has the connection as its handshake. The address at which
 * the daemon listens for the member stays until the CCE ends: another program with the same key is refused there. */
#include "host/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "base/watch.h"
#include "bcri/refuse.h"
#include "bcri/rendezvous.h"
#include "wire/wire.h"

struct enl_await {
    struct enl_cce *cce;
    struct enl_watch *listening; /* at the daemon's address for that member */
    uv_timer_t timer;            /* until its time is up */
    bool comes;                  /* false: its process was there before, as the root's */
    uint32_t rank;
    uint8_t nonce[BCRI_NONCE_BYTES];
    char key[BCRI_AWAIT_KEY_MAX + 1];
};

static bool is_awaited(const struct enl_cce *cce)
{
    return cce->await != NULL && cce->await->comes && cce->life == ENL_STARTED;
}

/* Connects to the member, if it waits. */
static void look_for_member(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct enl_await *await = cce->await;
    const int fd = bcri_rendezvous_connect(BCRI_RENDEZVOUS_MEMBER, await->key, await->rank);
    if (fd == -EPERM)
        enl_log_often(here->self, ENL_OFTEN_STRANGER, "a process of another user waits as member %u of %s",
                      await->rank, await->key);
    if (fd < 0)
        return; /* when it waits it will be noticed (on_noticed) */
    cce->handshake = enl_conn_new(here->conns, ENL_HANDSHAKE, fd, cce);
    if (cce->handshake != NULL)
        uv_timer_stop(&await->timer);
}

/* A member has begun to wait, or any process has connected. */
static void on_noticed(void *data)
{
    struct enl_cce *cce = data;
    const int fd = bcri_rendezvous_accept(cce->await->listening->fd);
    if (fd >= 0)
        close(fd);
    if (is_awaited(cce) && cce->handshake == NULL)
        look_for_member(cce);
}

static void on_time(uv_timer_t *timer)
{
    const struct enl_await *await = timer->data;
    enl_cce_fail(await->cce, bcrE_TIMEOUT, "no process has come for it in %d ms (awaittimeout)",
                 await->cce->here->self->config.awaittimeout);
}

int enl_await_claim(struct enl_cce *cce, const struct enl_await_who *who, char *error, size_t error_size)
{
    struct enl_here *here = cce->here;
    struct enl_await *await = calloc(1, sizeof *await);
    const int fd =
        await != NULL ? bcri_rendezvous_listen(BCRI_RENDEZVOUS_DAEMON, who->key, who->rank) : -ENOMEM;
    if (fd < 0) {
        free(await);
        return fd == -EADDRINUSE
                   ? bcri_refuse(
                         error, error_size, bcrE_BUSY,
                         "another program has claimed member %u of %s on this machine; programs that run "
                         "at once need keys of their own",
                         who->rank, who->key)
                   : bcri_refuse(error, error_size, bcrE_NOMEM, "no socket for member %u of %s: %s",
                                 who->rank, who->key, strerror(-fd));
    }
    await->listening = enl_watch_start(here->self, fd, on_noticed, cce);
    if (await->listening == NULL) {
        free(await);
        return bcri_refuse(error, error_size, bcrE_NOMEM, "no memory");
    }
    await->cce = cce;
    await->rank = who->rank;
    memcpy(await->nonce, who->nonce, sizeof await->nonce);
    memcpy(await->key, who->key, strlen(who->key) + 1);
    uv_timer_init(&here->self->loop, &await->timer);
    await->timer.data = await;
    cce->await = await;
    return 0;
}

int enl_await_member(struct enl_cce *cce, const struct enl_await_who *who, char *error, size_t error_size)
{
    const int code = enl_await_claim(cce, who, error, error_size);
    if (code != 0)
        return code;
    cce->await->comes = true;
    uv_timer_start(&cce->await->timer, on_time, (uint64_t)cce->here->self->config.awaittimeout, 0);
    look_for_member(cce);
    return 0;
}

const uint8_t *enl_await_nonce(const struct enl_cce *cce)
{
    return cce->await != NULL ? cce->await->nonce : NULL;
}

bool enl_await_lost(struct enl_cce *cce)
{
    if (!is_awaited(cce))
        return false;
    if (cce->refused)
        enl_cce_fail(cce, bcrE_ENLIST, "it was refused");
    else if (cce->misheard != NULL)
        enl_cce_fail(cce, bcrE_ENLIST, "what it said by bcr_init was not understood: %s", cce->misheard);
    else
        enl_cce_fail(cce, bcrE_ENLIST,
                     "its process was asked, and has ended, or was another program's already");
    return true;
}

static void free_await(uv_handle_t *timer)
{
    free(timer->data);
}

void enl_await_stop(struct enl_cce *cce)
{
    struct enl_await *await = cce->await;
    if (await == NULL)
        return;
    const bool comes = await->comes;
    cce->await = NULL;
    enl_watch_stop(await->listening);
    uv_close((uv_handle_t *)&await->timer, free_await);
    if (cce->handshake != NULL && comes)
        enl_conn_close(cce->handshake);
}

void enl_await_none(struct enl_here *here)
{
    struct enl_cce *cce, *next;
    for (cce = TAILQ_FIRST(&here->all); cce != NULL; cce = next) {
        next = TAILQ_NEXT(cce, entry);
        if (is_awaited(cce))
            enl_cce_drop(cce);
    }
}
