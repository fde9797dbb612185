/* SPDX-License-Identifier: MIT */
/* See links.h. The agent is a CCE of which no process is: it has a record, which no enl_cce stands
 * for, so it counts nowhere as a CCE of the program. */
#include "links/links.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/agent.h"
#include "bcri/clock.h"
#include "bcri/descriptor.h"
#include "bcri/eventfds.h"
#include "bcri/failure.h"
#include "bcri/heap.h"
#include "bcri/lookup.h"
#include "bcri/machine.h"
#include "bcri/private.h"
#include "bcri/refuse.h"
#include "bcri/seal.h"
#include "bcri/signature.h"
#include "host/worker.h"

#define POOL_LEAST_BYTES  (UINT64_C(1) << 20)
#define LEAST_SPACE_BYTES (UINT64_C(128) << 20) /* with less of it, that is what is missing */

/* ---- what the agent's context asks of the daemon; on the link thread ---- */

static struct bcri_host *host_of(void *up)
{
    return ((struct enl_links *)up)->here->host;
}

static uint32_t index_of_agent(void *up)
{
    return ((struct enl_links *)up)->agent->index;
}

static int segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(host_of(up), fd, size_bytes, kind, index_of_agent(up), seg_out);
}

static int segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_again(host_of(up), size_bytes, kind, index_of_agent(up), seg_out) ? 0
                                                                                               : bcrE_NOMEM;
}

/* A copy, since the worker may drop the segment meanwhile. */
static int segment_fd(void *up, uint32_t seg)
{
    const int fd = bcri_host_segment_dup(host_of(up), seg);
    return fd >= 0 ? fd : -bcrE_NOMEM;
}

static int pages_take(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS], struct bcri_pages *out)
{
    const int error = bcri_host_pages_take(host_of(up), owner, pages, out);
    for (int sort = 0; sort < BCRI_PAGE_SORTS && error == 0; sort++)
        if (out->fd[sort] >= 0)
            out->fd[sort] = bcri_host_segment_dup(host_of(up), bcri_ref_seg(out->ref[sort]));
    return error;
}

static void pages_back(void *up, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    bcri_host_pages_back(host_of(up), index_of_agent(up), ref);
}

static const struct bcri_upcalls upcalls = {.segment_add = segment_add,
                                            .segment_again = segment_again,
                                            .pages_take = pages_take,
                                            .pages_back = pages_back,
                                            .segment_fd = segment_fd,
                                            .of_daemon = true};

static int fd_set_none(void *up, bcri_ref cell, int fd)
{
    (void)up, (void)cell, (void)fd;
    return bcrE_ACCESS; /* the agent has no cells */
}

static void fd_ring(void *up, bcri_ref cell, uint64_t generation)
{
    (void)generation; /* the daemon's table has today's */
    bcri_eventfds_ring(bcri_host_eventfds(host_of(up)), cell);
}

static const struct bcri_fd_upcalls fd_upcalls = {fd_set_none, fd_ring};

/* ---- the agent's record ---- */

/* False: it is not there; bcri_failure_text may say why. */
static bool make_agent(struct enl_links *links)
{
    struct bcri_host *host = links->here->host;
    struct bcri_ctx *ctx = links->agent;
    uint32_t index;
    if (ctx == NULL || bcri_host_cce_add(host, 0, &index) != 0 ||
        bcri_ctx_init(ctx, bcri_host_segment_fd(host, BCRI_HOST_SEG), index, bcri_layout_signature(),
                      &upcalls, links) != 0)
        return false;
    ctx->fd_upcalls = &fd_upcalls;
    ctx->bell_fd = bcri_descriptor_aside(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (ctx->bell_fd < 0) {
        bcri_failure_note("eventfd");
        bcri_ctx_fini(ctx);
        return false;
    }
    bcri_host_ctx(host)->bell_fd = ctx->bell_fd;
    bcri_store(&ctx->record->id.pid, (uint32_t)getpid());
    bcri_store_release(&ctx->record->id.state, BCRI_CCE_ALIVE);
    return true;
}

bool enl_links_prepare(struct enl_links *links, char *error, size_t error_size)
{
    char failure[BCRI_FAILURE_TEXT_MAX];
    bcri_failure_forget();
    links->agent = bcri_ctx_alloc(sizeof *links->agent);
    if (make_agent(links))
        return true;
    bcri_private_free(links->agent);
    links->agent = NULL;
    return bcri_refuse(error, error_size, false, "what other hosts need cannot be made: %s",
                       bcri_failure_text("no memory", failure));
}

int enl_links_bell(const struct enl_links *links)
{
    return links->agent != NULL ? links->agent->bell_fd : -1;
}

/* ---- the thread ---- */

void enl_links_grown(struct enl_links *links, const struct bcri_heap_piece *piece, bool reserved)
{
    if (links->thread != NULL)
        bcri_link_thread_grown(links->thread, piece, reserved);
}

/* What the agent notes is of one host, or of none. */
static void log_note(struct enl_links *links, const struct bcri_link_news *news)
{
    const char *name =
        news->number != BCRI_NO_HOST ? links->ops->host_name(links->self->program, news->number) : NULL;
    if (news->number == BCRI_NO_HOST)
        bcri_log_write(&links->self->log, BCRI_LOG_WARN, "%s", news->text);
    else if (name != NULL)
        bcri_log_write(&links->self->log, BCRI_LOG_WARN, "host %s: %s", name, news->text);
    else /* it is gone */
        bcri_log_write(&links->self->log, BCRI_LOG_WARN, "host number %u: %s", news->number, news->text);
}

static void take_news(struct enl_links *links, const struct bcri_link_news *news)
{
    struct enl_program *program = links->self->program;
    struct enl_cce *cce;
    switch (news->told) {
    case BCRI_TOLD_WANTS_LINK: links->ops->wants_link(program, news->number); break;
    case BCRI_TOLD_FORGOTTEN:
        if ((cce = enl_cce_at(links->here, news->number)) != NULL)
            enl_cce_forgotten(cce);
        break;
    case BCRI_TOLD_POOL: /* the worker's, since it may take long */
        if (!enl_worker_add(links->here->worker,
                            &(struct enl_work){.kind = ENL_WORK_POOL, .piece = news->piece}))
            enl_links_grown(links, &news->piece, false);
        break;
    case BCRI_TOLD_WAY: enl_ways_changed(links, news); break;
    case BCRI_TOLD_QUIET: links->ops->is_quiet(program, news->number, news->quiet, news->messages); break;
    case BCRI_TOLD_NOTE: log_note(links, news); break;
    case BCRI_TOLD_ENDED: enl_starts_notice(links->here, &news->notice); break;
    case BCRI_TOLD_PRINTED: enl_cell_lines_put(links->here, news->lines); break;
    }
}

/* Any of these may stop the thread. */
static void on_told(uv_async_t *told)
{
    struct enl_links *links = told->data;
    struct enl_program *program = links->self->program;
    struct bcri_link_news news;
    uint8_t bytes[BCRI_LANE_BYTES_MAX];
    uint32_t host, count;
    while (links->thread != NULL && bcri_link_thread_take(links->thread, &news))
        take_news(links, &news);
    while (links->thread != NULL && (count = bcri_link_thread_take_packet(links->thread, &host, bytes)) != 0)
        links->ops->send_packet(program, host, bytes, count);
    while (links->thread != NULL && (count = bcri_link_thread_lane_take(links->thread, &host, bytes)) != 0)
        if (count != BCRI_LANE_MARK)
            links->ops->came_in_control_link(program, host, bytes, count);
        else
            links->ops->control_link_is_read(program, host);
    if (links->thread != NULL)
        links->ops->control_links_moved(program);
}

/* On the link thread. */
static void tell_loop(void *owner)
{
    uv_async_send(&((struct enl_links *)owner)->told);
}

/* recvpool in bytes. CCEs map the whole pool: where pointers have 32 bits it is small, and where
 * address space or the size of files is limited it is a quarter of that. */
static uint64_t pool_bytes(struct enl_links *links)
{
    const struct bcri_config *settings = &links->self->config;
    const uint64_t space = bcri_machine_space_left() / 4;
    const uint64_t most = sizeof(void *) == 8 ? UINT64_C(32) << 30 : UINT64_C(256) << 20;
    const uint64_t left = bcri_machine_memory_left("");
    uint64_t bytes = (uint64_t)settings->recvpool << 20;
    if (bytes == 0)
        bytes = left / 4;
    bytes = bytes < most ? bytes : most;
    if (bytes > space) {
        bytes = space;
        bcri_log_write(
            &links->self->log, BCRI_LOG_WARN,
            "recvpool is %llu MiB here, a quarter of what address space or files may have (ulimit -v, -f)",
            (unsigned long long)bytes >> 20);
    }
    return bytes > POOL_LEAST_BYTES ? bytes : POOL_LEAST_BYTES;
}

bool enl_links_begin(struct enl_links *links, char *error, size_t error_size)
{
    char why[400];
    if (links->thread != NULL)
        return true;
    const int told = links->told.data != NULL ? 0 : uv_async_init(&links->self->loop, &links->told, on_told);
    if (told != 0)
        return bcri_refuse(error, error_size, false, "no eventfd for links to other hosts: %s",
                           strerror(-told));
    links->told.data = links;
    struct bcri_link_thread_config config = {.ctx = links->agent,
                                             .pool_bytes = pool_bytes(links),
                                             .packet_bytes = (uint32_t)links->self->config.packwords * 4,
                                             .silence_ns = (uint64_t)links->self->config.hosttimeout *
                                                           BCRI_NS_PER_MS / 2,
                                             .told = tell_loop,
                                             .owner = links};
    bcri_failure_forget();
    const int failed = enl_sockets_start(&config, &links->self->config, &links->thread);
    if (failed != 0) {
        links->thread = NULL;
        char failure[BCRI_FAILURE_TEXT_MAX];
        snprintf(why, sizeof why, "%s", bcri_failure_text("no memory for them", failure));
        if (failed != -ENOMEM)
            enl_sockets_refuse(links->self->config.bindaddr, links->self->config.dataport, -failed, why,
                               sizeof why);
        else if ((bcri_failure_errno() == 0 || bcri_failure_errno() == ENOMEM) &&
                 bcri_machine_space_left() < LEAST_SPACE_BYTES)
            snprintf(why, sizeof why, "too little address space, or too small files; raise ulimit -v and -f");
        return bcri_refuse(error, error_size, false, "%s has no links to other hosts: %s",
                           links->self->hostname, why);
    }
    bcri_store_release(&links->agent->host->agent, links->agent->index);
    return true;
}

void enl_links_lease(struct enl_links *links, uint64_t until_ms)
{
    if (links->thread != NULL)
        bcri_link_thread_lease(links->thread, until_ms < UINT64_MAX / BCRI_NS_PER_MS
                                                  ? until_ms * BCRI_NS_PER_MS
                                                  : BCRI_DEADLINE_NEVER);
}

bool enl_links_stop(struct enl_links *links)
{
    if (links->agent == NULL)
        return true;
    if (links->thread != NULL && !bcri_link_thread_stop(links->thread)) {
        uv_unref(
            (uv_handle_t *)&links->told); /* it is the thread's still, and the loop is to end without it */
        return false;
    }
    bcri_host_ctx(links->here->host)->bell_fd = -1;
    close(links->agent->bell_fd);
    bcri_resolved_fini(links->agent);
    bcri_heap_fini(links->agent);
    bcri_ctx_fini(links->agent);
    bcri_private_free(links->agent);
    links->agent = NULL;
    links->thread = NULL;
    if (links->told.data != NULL)
        uv_close((uv_handle_t *)&links->told, NULL);
    return true;
}

/* ---- hosts and CCEs ---- */

uint32_t enl_links_addresses(const struct enl_links *links, struct bcri_link_address out[BCRI_INTRODUCED_MAX])
{
    if (links->thread == NULL)
        return 0;
    const struct bcri_link_address own = bcri_link_thread_address(links->thread);
    return enl_sockets_reach(&own, out);
}

bool enl_links_introduce(struct enl_links *links, struct bcri_link_introduction *introduction)
{
    struct bcri_link_thread *thread = links->thread;
    bool done = true; /* without a thread nothing waits for it */
    if (thread != NULL && introduction->address_count <= BCRI_INTRODUCED_MAX) {
        const int family = bcri_link_thread_address(thread).at.ss_family;
        uint32_t kept = 0;
        for (uint32_t i = 0; i < introduction->address_count; i++)
            if (enl_sockets_fit(&introduction->address[i], family))
                introduction->address[kept++] = introduction->address[i];
        introduction->address_count = kept;
        done = bcri_link_thread_introduce(thread, introduction);
    }
    bcri_seal_wipe(&introduction->secret, sizeof introduction->secret);
    return done;
}

bool enl_links_control_link_send(struct enl_links *links, uint32_t host, unsigned row, const void *content,
                                 uint32_t bytes)
{
    return links->thread != NULL && bcri_link_thread_lane_send(links->thread, host, row, content, bytes);
}

void enl_links_control_link_tell_empty(struct enl_links *links)
{
    if (links->thread != NULL)
        bcri_link_thread_lane_tell_empty(links->thread);
}

bool enl_links_control_link_mark(struct enl_links *links, uint32_t host)
{
    return links->thread != NULL && bcri_link_thread_lane_mark(links->thread, host);
}

uint32_t enl_links_control_link_waits(const struct enl_links *links, uint32_t host)
{
    return links->thread != NULL ? bcri_link_thread_lane_waits(links->thread, host) : 0;
}

bool enl_links_outbox(struct enl_links *links, uint32_t index, bcri_ref outbox)
{
    return links->thread != NULL && bcri_link_thread_outbox(links->thread, index, outbox);
}

bool enl_links_forget(struct enl_links *links, uint32_t index)
{
    return links->thread != NULL && bcri_link_thread_forget(links->thread, index);
}

bool enl_links_notice(struct enl_links *links, const struct bcri_notice *notice)
{
    return links->thread != NULL && bcri_link_thread_notice(links->thread, notice);
}

bool enl_links_lines(struct enl_links *links, struct bcri_lines *lines)
{
    return links->thread != NULL && bcri_link_thread_lines(links->thread, lines);
}

void enl_links_lines_halt(struct enl_links *links)
{
    if (links->thread != NULL)
        bcri_link_thread_lines_halt(links->thread);
}

void enl_links_lost(struct enl_links *links, uint32_t host)
{
    bcri_link_thread_lost(links->thread, host);
    enl_starts_host_lost(links->here, host);
}
