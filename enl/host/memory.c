/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host/host.h"

#include <bcr/error.h>

#include "bcri/eventfds.h"
#include "bcri/outbox.h"

/* A program has a limited number of segment numbers at a time. A person is told before they are
 * used up. */
static void watch_numbers(struct enl_here *here, int code)
{
    const uint32_t used = bcri_host_segment_count(here->host);
    if (code == bcrE_NOMEM && used == BCRI_SEG_MAX && here->numbers_told < 2) {
        here->numbers_told = 2;
        enl_report(
            here->self, BCRI_LOG_ERROR,
            "all %u numbers of memory segments are used up: bcr_cagrow fails until CCEs end that have some "
            "of the same size; run fewer CCEs at a time",
            BCRI_SEG_MAX);
    } else if (used >= BCRI_SEG_MAX / 8 * 7 && here->numbers_told < 1) {
        here->numbers_told = 1;
        enl_report(
            here->self, BCRI_LOG_WARN,
            "%u of the %u memory segments that a program can have are made; those of CCEs that have ended "
            "serve others again, and each CCE beyond as many as there were takes more",
            used, BCRI_SEG_MAX);
    }
}

static bool cces_make(const struct enl_conn *conn, const struct bcri_control *message)
{
    const struct enl_here *here = conn->cce->here;
    if (message->kind == BCRI_SEG_OUTBOX)
        return here->ops->network_bell(here->self->links) >= 0 && message->size == BCRI_OUTBOX_BYTES &&
               !conn->cce->has_outbox;
    return message->kind == BCRI_SEG_HEAP || message->kind == BCRI_SEG_SLOTS;
}

/* The agent learns of a CCE's outbox when the CCE has a number for it. Without memory for that the
 * CCE has no outbox, and the number is unused until it ends. Returns 0 or a code. */
static int tell_agent(struct enl_conn *conn, uint32_t kind, uint32_t seg)
{
    if (kind != BCRI_SEG_OUTBOX)
        return 0;
    const struct enl_here *here = conn->cce->here;
    conn->cce->has_outbox =
        here->ops->outbox_made(here->self->links, conn->cce->index, bcri_ref_make(seg, 0));
    return conn->cce->has_outbox ? 0 : bcrE_NOMEM;
}

const char *enl_memory_segment_add(struct enl_conn *conn, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    if (in->fds[0] < 0 || !cces_make(conn, message))
        return "segment_add without a descriptor, or of a kind that CCEs do not make";
    int code = bcri_host_segment_add(conn->cce->here->host, in->fds[0], message->size,
                                     (enum bcri_seg_kind)message->kind, conn->cce->index, &reply.seg);
    if (code == 0) {
        bcri_incoming_take(in, 0);
        code = tell_agent(conn, message->kind, reply.seg);
    }
    if (code == 0)
        reply.present |= BCRI_HAS(seg);
    reply.status = (uint32_t)code;
    enl_conn_send(conn, &reply, NULL, 0);
    watch_numbers(conn->cce->here, code);
    return NULL;
}

const char *enl_memory_segment_again(struct enl_conn *conn, const struct bcri_control *message)
{
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    if (!cces_make(conn, message))
        return "segment_again of a kind that CCEs do not make";
    if (bcri_host_segment_again(conn->cce->here->host, message->size, (enum bcri_seg_kind)message->kind,
                                conn->cce->index, &reply.seg) &&
        tell_agent(conn, message->kind, reply.seg) == 0)
        reply.present |= BCRI_HAS(seg);
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}

/* Pages of cells for the CCE itself, or for another CCE into whose cells it gives regions back. A
 * CCE that has ended needs none any more; the pages that it got before its end go with it. */
const char *enl_memory_pages_take(struct enl_conn *conn, const struct bcri_control *message)
{
    struct enl_here *here = conn->cce->here;
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    const struct enl_cce *owner = enl_cce_at(here, message->index);
    const bool too_many = message->size > UINT32_MAX || message->rings > UINT32_MAX;
    const uint32_t pages[] = {(uint32_t)message->size, (uint32_t)message->rings};
    struct bcri_pages got;
    int code = owner == NULL || owner->life == ENL_OVER || too_many
                   ? bcrE_NOMEM
                   : bcri_host_pages_take(here->host, message->index, pages, &got);
    int fds[BCRI_PAGE_SORTS];
    unsigned fd_count = 0;
    for (int sort = 0; sort < BCRI_PAGE_SORTS && code == 0; sort++)
        if (got.fd[sort] >= 0)
            fds[fd_count++] = got.fd[sort];
    if (code == 0) {
        reply.present |= BCRI_HAS(cell) | BCRI_HAS(rings);
        reply.cell = got.ref[BCRI_PAGE_HEADERS];
        reply.rings = got.ref[BCRI_PAGE_RINGS];
    }
    reply.status = (uint32_t)code;
    enl_conn_send(conn, &reply, fds, fd_count);
    watch_numbers(conn->cce->here, code);
    return NULL;
}

const char *enl_memory_pages_back(struct enl_conn *conn, const struct bcri_control *message)
{
    bcri_host_pages_back(conn->cce->here->host, conn->cce->index,
                         (const bcri_ref[]){message->cell, message->rings});
    return NULL;
}

const char *enl_memory_segment_fd(struct enl_conn *conn, const struct bcri_control *message)
{
    int fd = bcri_host_segment_dup(conn->cce->here->host, message->seg); /* the worker may drop the segment */
    enl_conn_reply_fd(conn, message->id, fd);
    return NULL;
}

const char *enl_memory_fd_set(struct enl_conn *conn, struct bcri_incoming *in)
{
    struct bcri_eventfds *eventfds = bcri_host_eventfds(conn->cce->here->host);
    int fd = in->fds[0];
    int code = bcri_eventfds_set(eventfds, in->message.cell, conn->cce->index, fd);
    if (code == 0 && fd >= 0)
        bcri_incoming_take(in, 0);
    enl_conn_reply(conn, in->message.id, code, NULL);
    return NULL;
}

const char *enl_memory_fd_get(struct enl_conn *conn, const struct bcri_control *message)
{
    const int fd = bcri_eventfds_dup(bcri_host_eventfds(conn->cce->here->host), message->cell);
    enl_conn_reply_fd(conn, message->id, fd);
    return NULL;
}

const char *enl_memory_fd_ring(struct enl_conn *conn, const struct bcri_control *message)
{
    bcri_eventfds_ring(bcri_host_eventfds(conn->cce->here->host), message->cell);
    return NULL;
}
