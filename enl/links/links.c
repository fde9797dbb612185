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
#include "bcri/network.h"
#include "bcri/refuse.h"
#include "bcri/seal.h"
#include "bcri/signature.h"
#include "host/host.h"
#include "host/worker.h"

#define POOL_LEAST_BYTES  (UINT64_C(1) << 20)
#define LEAST_SPACE_BYTES (UINT64_C(128) << 20) /* with less of it, that is what is missing */

struct enl_agent {
    struct bcri_ctx ctx; /* the agent's; its thread's while that runs */
    struct enl_links *links;
    uint32_t index;                  /* of its record */
    struct bcri_link_thread *thread; /* NULL: it does not run */
    bool has_told;                   /* `told` is there */
    uv_async_t told;                 /* link thread -> loop: there is news */
};

/* ---- what the agent's context asks of the daemon; on the link thread ---- */

static struct enl_agent *agent_of(void *up)
{
    return up;
}

static struct bcri_host *host_of(void *up)
{
    return agent_of(up)->links->here->host;
}

static int segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_add(host_of(up), fd, size_bytes, kind, agent_of(up)->index, seg_out);
}

static int segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return bcri_host_segment_again(host_of(up), size_bytes, kind, agent_of(up)->index, seg_out) ? 0
                                                                                                : bcrE_NOMEM;
}

static int copy_or_nomem(int fd)
{
    return fd >= 0 ? fd : -bcrE_NOMEM;
}

/* A copy, since the worker may drop the segment meanwhile. */
static int segment_fd(void *up, uint32_t seg)
{
    return copy_or_nomem(bcri_host_segment_dup(host_of(up), seg));
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
    bcri_host_pages_back(host_of(up), agent_of(up)->index, ref);
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

static void fd_ring(void *up, bcri_ref cell)
{
    bcri_eventfds_ring(bcri_host_eventfds(host_of(up)), cell);
}

static const struct bcri_fd_upcalls fd_upcalls = {fd_set_none, fd_ring};

/* ---- the agent's record ---- */

static int make_record(struct enl_agent *agent)
{
    struct bcri_host *host = agent->links->here->host;
    int error = bcri_host_cce_add(host, 0, &agent->index);
    if (error != 0)
        return error;
    struct bcri_ctx *ctx = &agent->ctx;
    error = bcri_ctx_init(ctx, bcri_host_segment_fd(host, BCRI_HOST_SEG), agent->index,
                          bcri_layout_signature(), &upcalls, agent);
    if (error != 0)
        return error;
    ctx->fd_upcalls = &fd_upcalls;
    ctx->bell_fd = bcri_descriptor_aside(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (ctx->bell_fd < 0)
        bcri_failure_note("eventfd");
    if (ctx->bell_fd < 0) {
        bcri_ctx_fini(ctx);
        return bcrE_NOMEM;
    }
    bcri_host_ctx(host)->bell_fd = ctx->bell_fd;
    bcri_store(&ctx->record->id.pid, (uint32_t)getpid());
    bcri_store_release(&ctx->record->id.state, BCRI_CCE_ALIVE);
    return 0;
}

bool enl_links_prepare(struct enl_links *links, char *error, size_t error_size)
{
    char failure[BCRI_FAILURE_TEXT_MAX];
    bcri_failure_forget();
    struct enl_agent *agent = bcri_ctx_alloc(sizeof *agent);
    if (agent != NULL) {
        agent->links = links;
        if (make_record(agent) == 0) {
            links->agent = agent;
            return true;
        }
    }
    free(agent);
    return bcri_refuse(error, error_size, false, "what other hosts need cannot be made: %s",
                       bcri_failure_text("no memory", failure));
}

int enl_links_bell(const struct enl_links *links)
{
    return links->agent != NULL ? links->agent->ctx.bell_fd : -1;
}

/* ---- the thread ---- */

static struct bcri_link_thread *thread_of(const struct enl_links *links)
{
    return links->agent != NULL ? links->agent->thread : NULL;
}

void enl_links_grown(struct enl_links *links, const struct bcri_heap_piece *piece, bool reserved)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_grown(thread_of(links), piece, reserved);
}

/* The worker does it, since it may take long. */
static void backup(struct enl_links *links, const struct bcri_heap_piece *piece)
{
    const struct enl_work work = {.kind = ENL_WORK_POOL, .piece = *piece};
    if (!enl_worker_add(links->here->worker, &work))
        enl_links_grown(links, piece, false);
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

/* What is to go over the tree. */
static void send_packets(struct enl_links *links, struct bcri_link_thread *thread)
{
    uint8_t packet[BCRI_TUNNELLED_MAX];
    uint32_t host, bytes;
    while ((bytes = bcri_link_thread_take_packet(thread, &host, packet)) != 0)
        links->ops->send_packet(links->self->program, host, packet, bytes);
}

/* What daemons say in the control link. */
static void take_control_link(struct enl_agent *agent)
{
    uint8_t content[BCRI_LANE_BYTES_MAX];
    uint32_t host, bytes;
    while (!uv_is_closing((uv_handle_t *)&agent->told) &&
           (bytes = bcri_link_thread_lane_take(agent->thread, &host, content)) != 0)
        agent->links->ops->came_in_control_link(agent->links->self->program, host, content, bytes);
}

static void on_told(uv_async_t *told)
{
    struct enl_agent *agent = told->data;
    struct enl_links *links = agent->links;
    struct bcri_link_news news;
    while (!uv_is_closing((uv_handle_t *)told) && bcri_link_thread_take(agent->thread, &news)) {
        struct enl_cce *cce = news.told == BCRI_TOLD_FORGOTTEN ? enl_cce_at(links->here, news.number) : NULL;
        if (news.told == BCRI_TOLD_WANTS_LINK)
            links->ops->wants_link(links->self->program, news.number);
        else if (news.told == BCRI_TOLD_POOL)
            backup(links, &news.piece);
        else if (news.told == BCRI_TOLD_WAY)
            enl_ways_changed(links, &news);
        else if (news.told == BCRI_TOLD_QUIET)
            links->ops->is_quiet(links->self->program, news.number, news.quiet, news.messages);
        else if (news.told == BCRI_TOLD_NOTE)
            log_note(links, &news);
        else if (cce != NULL)
            enl_cce_forgotten(cce);
    }
    if (!uv_is_closing((uv_handle_t *)told))
        send_packets(links, agent->thread);
    take_control_link(agent);
}

/* On the link thread. */
static void tell_loop(void *owner)
{
    uv_async_send(&((struct enl_agent *)owner)->told);
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

/* Tries each port of dataport at each address. Returns 0 or a code. */
static int start_link_thread(struct bcri_link_thread_config *config, const struct bcri_config *settings,
                             struct bcri_link_thread **out)
{
    struct bcri_link_address at[ENL_BIND_MAX];
    struct bcri_ports ports;
    int failed = bcrE_NOHOST;
    const uint32_t count = enl_sockets_bind(settings->bindaddr, at);
    if (!bcri_ports_parse(settings->dataport, &ports))
        ports = (struct bcri_ports){0, 0};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t port = ports.first; port <= ports.last && failed == bcrE_NOHOST; port++) {
            config->bind = at[i];
            enl_sockets_set_port(&config->bind, (uint16_t)port);
            failed = bcri_link_thread_start(config, out);
        }
    return failed;
}

bool enl_links_begin(struct enl_links *links, char *error, size_t error_size)
{
    struct enl_agent *agent = links->agent;
    char why[400];
    if (agent == NULL)
        return bcri_refuse(error, error_size, false, "this program was started without other hosts");
    if (agent->thread != NULL)
        return true;
    const int told = agent->has_told ? 0 : uv_async_init(&links->self->loop, &agent->told, on_told);
    if (told != 0)
        return bcri_refuse(error, error_size, false, "no eventfd for links to other hosts: %s",
                           strerror(-told));
    agent->has_told = true;
    agent->told.data = agent;
    struct bcri_link_thread_config config = {.ctx = &agent->ctx,
                                             .pool_bytes = pool_bytes(links),
                                             .packet_bytes = (uint32_t)links->self->config.packwords * 4,
                                             .silence_ns = (uint64_t)links->self->config.hosttimeout *
                                                           BCRI_NS_PER_MS / 2,
                                             .told = tell_loop,
                                             .owner = agent};
    bcri_failure_forget();
    const int failed = start_link_thread(&config, &links->self->config, &agent->thread);
    if (failed != 0) {
        agent->thread = NULL;
        char failure[BCRI_FAILURE_TEXT_MAX];
        snprintf(why, sizeof why, "%s", bcri_failure_text("no memory for them", failure));
        if (failed == bcrE_NOHOST)
            enl_sockets_refuse(links->self->config.bindaddr, links->self->config.dataport, why, sizeof why);
        else if ((bcri_failure_errno() == 0 || bcri_failure_errno() == ENOMEM) &&
                 bcri_machine_space_left() < LEAST_SPACE_BYTES)
            snprintf(why, sizeof why, "too little address space, or too small files; raise ulimit -v and -f");
        return bcri_refuse(error, error_size, false, "%s has no links to other hosts: %s",
                           links->self->hostname, why);
    }
    bcri_store_release(&agent->ctx.host->agent, agent->index);
    return true;
}

void enl_links_lease(struct enl_links *links, uint64_t until_ms)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_lease(thread_of(links), until_ms < UINT64_MAX / BCRI_NS_PER_MS
                                                     ? until_ms * BCRI_NS_PER_MS
                                                     : BCRI_DEADLINE_NEVER);
}

static void on_agent_closed(uv_handle_t *handle)
{
    free(handle->data);
}

bool enl_links_stop(struct enl_links *links)
{
    struct enl_agent *agent = links->agent;
    if (agent == NULL)
        return true;
    if (agent->thread != NULL && !bcri_link_thread_stop(agent->thread)) {
        if (agent->has_told) /* it is the thread's still, and the loop is to end without it */
            uv_unref((uv_handle_t *)&agent->told);
        return false;
    }
    bcri_host_ctx(links->here->host)->bell_fd = -1;
    close(agent->ctx.bell_fd);
    bcri_resolved_fini(&agent->ctx);
    bcri_heap_fini(&agent->ctx);
    bcri_ctx_fini(&agent->ctx);
    links->agent = NULL;
    if (agent->has_told)
        uv_close((uv_handle_t *)&agent->told, on_agent_closed);
    else
        free(agent);
    return true;
}

/* ---- hosts and CCEs ---- */

uint32_t enl_links_addresses(const struct enl_links *links, struct bcri_link_address out[BCRI_INTRODUCED_MAX])
{
    if (thread_of(links) == NULL)
        return 0;
    const struct bcri_link_address own = bcri_link_thread_address(thread_of(links));
    return enl_sockets_reach(&own, out);
}

bool enl_links_introduce(struct enl_links *links, struct bcri_link_introduction *introduction)
{
    struct bcri_link_thread *thread = thread_of(links);
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

bool enl_links_ask_quiet(struct enl_links *links, uint32_t question)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_quiet(thread_of(links), question);
    return thread_of(links) != NULL;
}

bool enl_links_run(const struct enl_links *links)
{
    return thread_of(links) != NULL;
}

void enl_links_lost(struct enl_links *links, uint32_t host)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_lost(thread_of(links), host);
}

void enl_links_unknown(struct enl_links *links, uint32_t host)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_unknown(thread_of(links), host);
}

void enl_links_tunnelled(struct enl_links *links, const void *packet, uint32_t bytes)
{
    if (thread_of(links) != NULL)
        bcri_link_thread_tunnelled(thread_of(links), packet, bytes);
}

bool enl_links_control_link_send(struct enl_links *links, uint32_t host, unsigned row, const void *content,
                                 uint32_t bytes)
{
    struct bcri_link_thread *thread = thread_of(links);
    return thread != NULL && bcri_link_thread_lane_send(thread, host, row, content, bytes);
}

uint32_t enl_links_control_link_waits(const struct enl_links *links, uint32_t host)
{
    return thread_of(links) != NULL ? bcri_link_thread_lane_waits(thread_of(links), host) : 0;
}

bool enl_links_outbox(struct enl_links *links, uint32_t index, bcri_ref outbox)
{
    struct bcri_link_thread *thread = thread_of(links);
    return thread != NULL && bcri_link_thread_outbox(thread, index, outbox);
}

bool enl_links_forget(struct enl_links *links, uint32_t index)
{
    struct bcri_link_thread *thread = thread_of(links);
    return thread != NULL && bcri_link_thread_forget(thread, index);
}
