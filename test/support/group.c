/* SPDX-License-Identifier: MIT */
/* See group.h. */
#include "group.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/cell0.h"
#include "bcri/client.h"
#include "bcri/copier.h"
#include "bcri/eventfds.h"
#include "bcri/fd.h"
#include "bcri/heap.h"
#include "bcri/host.h"
#include "bcri/lookup.h"
#include "bcri/order.h"
#include "bcri/private.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "bcri/signature.h"
#include "bcri/slot.h"
#include "check.h"

enum { HOST_NUMBER = 0x0201 }; /* not 0: what takes every CCE for one of host 0 fails */

/* What the group has of a forked member: its private socket, or before its hello the one that it has
 * inherited, and the other end of its kill socket. */
struct end {
    int socket, kill_socket;
    uint32_t owner;
};

struct group {
    struct bcri_host *host;
    pthread_t server;
    pthread_mutex_t mutex;
    int wake[2]; /* a byte: the set of sockets has changed, or it is over */
    struct end *ends;
    size_t count, room;
    int over;
    void (*outbox)(void *context, uint32_t member, bcri_ref at);
    void *outbox_context;
};

/* A member that is a thread. One that is a process is a struct bcri_client. */
struct member {
    struct bcri_ctx ctx;
    struct group *group;
};

static void die(const char *what)
{
    perror(what);
    abort();
}

static void close_end(struct end *end)
{
    if (end->socket >= 0)
        close(end->socket);
    if (end->kill_socket >= 0)
        close(end->kill_socket);
    end->socket = end->kill_socket = -1;
}

static void answer(int socket, const struct bcri_control *message, const int *fds, unsigned fd_count)
{
    bcri_channel_send(socket, message, fds, fd_count, false); /* it may have died meanwhile */
}

/* As the daemon does: welcomes the member on the private socket that has come. */
static void welcome(struct group *group, struct end *end, struct bcri_incoming *in)
{
    static const char nobody[BCRI_IDENTITY_BYTES];
    int kill_sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, kill_sockets) != 0)
        die("socketpair");
    const int private_socket = bcri_incoming_take(in, 0);
    const int fds[] = {bcri_host_segment_fd(group->host, BCRI_HOST_SEG), kill_sockets[1]};
    const struct bcri_control message = {.type = BCRI_MSG_welcome,
                                         .present = BCRI_HAS(id) | BCRI_HAS(index) | BCRI_HAS(enlistor) |
                                                    BCRI_HAS(program),
                                         .id = in->message.id,
                                         .index = end->owner,
                                         .enlistor = {nobody, sizeof nobody},
                                         .program = bcri_view_of("test-1")};
    answer(private_socket, &message, fds, 2);
    close(kill_sockets[1]);
    close(end->socket);
    end->socket = private_socket;
    end->kill_socket = kill_sockets[0];
}

static void serve_pages(struct group *group, const struct bcri_control *asked, struct bcri_control *reply,
                        int fds[BCRI_PAGE_SORTS], unsigned *fd_count)
{
    struct bcri_pages got;
    const uint32_t pages[BCRI_PAGE_SORTS] = {(uint32_t)asked->size, (uint32_t)asked->rings};
    reply->status = (uint32_t)bcri_host_pages_take(group->host, asked->index, pages, &got);
    if (reply->status != 0)
        return;
    reply->present |= BCRI_HAS(cell) | BCRI_HAS(rings);
    reply->cell = got.ref[BCRI_PAGE_HEADERS];
    reply->rings = got.ref[BCRI_PAGE_RINGS];
    for (int sort = 0; sort < BCRI_PAGE_SORTS; sort++)
        if (got.fd[sort] >= 0)
            fds[(*fd_count)++] = got.fd[sort];
}

/* One message of a member. What is not asked of the daemon here has no answer. */
static void serve(struct group *group, struct end *end)
{
    struct bcri_incoming in;
    if (bcri_channel_recv(end->socket, &in, false) != 1)
        return;
    if (in.wrong != NULL)
        FAIL("a message of member %u: %s", end->owner, in.wrong);
    const struct bcri_control *asked = &in.message;
    struct bcri_control reply = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = asked->id};
    int fds[BCRI_PAGE_SORTS] = {-1, -1}, code = 0, copy = -1;
    unsigned fd_count = 0;
    switch (asked->type) {
    case BCRI_MSG_hello: welcome(group, end, &in); break;
    case BCRI_MSG_segment_add:
        code = bcri_host_segment_add(group->host, in.fds[0], asked->size, (enum bcri_seg_kind)asked->kind,
                                     end->owner, &reply.seg);
        reply.present |= code == 0 ? BCRI_HAS(seg) : 0;
        if (code == 0)
            bcri_incoming_take(&in, 0);
        if (code == 0 && asked->kind == BCRI_SEG_OUTBOX)
            group->outbox(group->outbox_context, end->owner, bcri_ref_make(reply.seg, 0));
        break;
    case BCRI_MSG_segment_again:
        if (bcri_host_segment_again(group->host, asked->size, (enum bcri_seg_kind)asked->kind, end->owner,
                                    &reply.seg))
            reply.present |= BCRI_HAS(seg);
        break;
    case BCRI_MSG_pages_take:
        serve_pages(group, asked, &reply, fds, &fd_count);
        code = (int)reply.status;
        break;
    case BCRI_MSG_pages_back:
        bcri_host_pages_back(group->host, end->owner, (const bcri_ref[]){asked->cell, asked->rings});
        break;
    case BCRI_MSG_segment_fd:
        copy = bcri_host_segment_dup(group->host, asked->seg); /* the test's thread may drop it meanwhile */
        fds[0] = copy;
        fd_count = copy >= 0;
        code = copy >= 0 ? 0 : bcrE_NOCELL;
        break;
    case BCRI_MSG_fd_set:
        code = bcri_eventfds_set(bcri_host_eventfds(group->host), asked->cell, end->owner, in.fds[0]);
        if (code == 0)
            bcri_incoming_take(&in, 0);
        break;
    case BCRI_MSG_fd_get:
        copy = bcri_eventfds_dup(bcri_host_eventfds(group->host), asked->cell);
        fds[0] = copy;
        fd_count = copy >= 0;
        break;
    case BCRI_MSG_fd_ring: bcri_eventfds_ring(bcri_host_eventfds(group->host), asked->cell); break;
    default: break;
    }
    reply.status = (uint32_t)code;
    if ((asked->present & BCRI_HAS(id)) != 0 && asked->type != BCRI_MSG_hello)
        answer(end->socket, &reply, fds, fd_count);
    if (copy >= 0)
        close(copy);
    bcri_incoming_close(&in);
}

static void *server(void *arg)
{
    struct group *group = arg;
    struct pollfd *polls = NULL;
    for (;;) {
        pthread_mutex_lock(&group->mutex);
        size_t count = group->count;
        int over = group->over;
        polls = realloc(polls, (count + 1) * sizeof *polls);
        if (polls == NULL)
            die("realloc");
        polls[0] = (struct pollfd){.fd = group->wake[0], .events = POLLIN};
        for (size_t i = 0; i < count; i++)
            polls[i + 1] = (struct pollfd){.fd = group->ends[i].socket, .events = POLLIN};
        pthread_mutex_unlock(&group->mutex);
        if (over)
            break;
        if (poll(polls, count + 1, -1) < 0) {
            if (errno != EINTR && errno != EINVAL)
                die("poll");
            sched_yield(); /* EINVAL: the test leaves this process no descriptors for a moment, and poll looks at none then */
            continue;
        }
        char byte;
        if ((polls[0].revents & POLLIN) != 0 && read(group->wake[0], &byte, 1) != 1)
            die("read");
        for (size_t i = 0; i < count; i++) {
            if ((polls[i + 1].revents & POLLIN) != 0) {
                pthread_mutex_lock(&group->mutex);
                struct end end = group->ends[i]; /* the array may move meanwhile */
                pthread_mutex_unlock(&group->mutex);
                serve(group, &end);
                pthread_mutex_lock(&group->mutex);
                group->ends[i] = end;
                pthread_mutex_unlock(&group->mutex);
            } else if ((polls[i + 1].revents & (POLLHUP | POLLERR)) != 0) {
                pthread_mutex_lock(&group->mutex);
                close_end(&group->ends[i]); /* poll skips it from now on */
                pthread_mutex_unlock(&group->mutex);
            }
        }
    }
    free(polls);
    return NULL;
}

static void wake_server(struct group *group)
{
    if (write(group->wake[1], "", 1) != 1)
        die("write");
}

static int thread_segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                              uint32_t *seg_out)
{
    struct member *member = up;
    const int error =
        bcri_host_segment_add(member->group->host, fd, size_bytes, kind, member->ctx.index, seg_out);
    if (error == 0 && kind == BCRI_SEG_OUTBOX)
        member->group->outbox(member->group->outbox_context, member->ctx.index, bcri_ref_make(*seg_out, 0));
    return error;
}
static int thread_segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    struct member *member = up;
    return bcri_host_segment_again(member->group->host, size_bytes, kind, member->ctx.index, seg_out)
               ? 0
               : bcrE_NOMEM;
}
static int thread_pages_take(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                             struct bcri_pages *out)
{
    struct member *member = up;
    int error = bcri_host_pages_take(member->group->host, owner, pages, out);
    for (int sort = 0; sort < BCRI_PAGE_SORTS && error == 0; sort++)
        if (out->fd[sort] >= 0)
            out->fd[sort] = dup(out->fd[sort]);
    return error;
}
static void thread_pages_back(void *up, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    struct member *member = up;
    bcri_host_pages_back(member->group->host, member->ctx.index, ref);
}
static int thread_segment_fd(void *up, uint32_t seg)
{
    struct member *member = up;
    int copy = bcri_host_segment_dup(member->group->host, seg);
    return copy >= 0 ? copy : -bcrE_NOMEM;
}
static const struct bcri_upcalls thread_upcalls = {.segment_add = thread_segment_add,
                                                   .segment_again = thread_segment_again,
                                                   .pages_take = thread_pages_take,
                                                   .pages_back = thread_pages_back,
                                                   .segment_fd = thread_segment_fd};

static int thread_fd_set(void *up, bcri_ref cell, int fd)
{
    struct member *member = up;
    return bcri_eventfds_set(bcri_host_eventfds(member->group->host), cell, member->ctx.index,
                             fd >= 0 ? dup(fd) : -1);
}
static void thread_fd_ring(void *up, bcri_ref cell, uint64_t generation)
{
    (void)generation; /* the table has today's */
    bcri_eventfds_ring(bcri_host_eventfds(((struct member *)up)->group->host), cell);
}
static const struct bcri_fd_upcalls thread_fd_upcalls = {thread_fd_set, thread_fd_ring};

struct group *group_open_host(uint32_t number)
{
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL || bcri_host_init("test-1", number, bcri_layout_signature(), &group->host) != 0 ||
        pipe(group->wake) != 0)
        die("group_open");
    pthread_mutex_init(&group->mutex, NULL);
    if (pthread_create(&group->server, NULL, server, group) != 0)
        die("pthread_create");
    return group;
}

struct group *group_open(void)
{
    return group_open_host(HOST_NUMBER);
}

void group_has_agent(struct group *group, uint32_t index,
                     void (*outbox)(void *context, uint32_t member, bcri_ref at), void *context)
{
    group->outbox = outbox;
    group->outbox_context = context;
    bcri_store_release(&group_enl(group)->host->agent, index);
}

void group_close(struct group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->over = 1;
    pthread_mutex_unlock(&group->mutex);
    wake_server(group);
    pthread_join(group->server, NULL);
    for (size_t i = 0; i < group->count; i++)
        close_end(&group->ends[i]);
    close(group->wake[0]);
    close(group->wake[1]);
    bcri_heap_fini(group_enl(group));
    bcri_resolved_fini(group_enl(group));
    bcri_host_fini(group->host);
    free(group->ends);
    free(group);
}

struct bcri_host *group_host(struct group *group)
{
    return group->host;
}

struct bcri_ctx *group_enl(struct group *group)
{
    return bcri_host_ctx(group->host);
}

static uint32_t new_record(struct group *group)
{
    uint32_t index;
    if (bcri_host_cce_add(group->host, 0, &index) != 0)
        die("bcri_host_cce_add");
    bcri_cell0_init(group_enl(group), index);
    return index;
}

static void live(struct bcri_ctx *ctx)
{
    static const uint8_t nobody[BCRI_IDENTITY_BYTES];
    if (bcri_ids_set_globals(ctx, nobody) != 0)
        die("bcri_ids_set_globals");
    bcri_store(&ctx->record->id.pid, (uint32_t)getpid());
    bcri_store_release(&ctx->record->id.state, BCRI_CCE_ALIVE);
}

struct bcri_ctx *group_join(struct group *group)
{
    struct member *member = bcri_ctx_alloc(sizeof *member);
    uint32_t index = new_record(group);
    if (member == NULL)
        die("calloc");
    member->group = group;
    if (bcri_ctx_init(&member->ctx, bcri_host_segment_fd(group->host, BCRI_HOST_SEG), index,
                      bcri_layout_signature(), &thread_upcalls, member) != 0)
        die("bcri_ctx_init");
    member->ctx.fd_upcalls = &thread_fd_upcalls;
    live(&member->ctx);
    return &member->ctx;
}

static void free_private(struct bcri_ctx *ctx)
{
    bcri_cell_fds_close(ctx, BCRI_REF_NONE);
    bcri_heap_fini(ctx);
    bcri_resolved_fini(ctx);
    bcri_copier_fini(ctx);
    bcri_ctx_fini(ctx);
}

static bool is_dying(struct bcri_ctx *enl, uint32_t index)
{
    const struct bcri_record_shm *record = bcri_record(enl, index);
    return record != NULL && bcri_load_acquire(&record->id.state) == BCRI_CCE_DYING;
}

static void sleep_until_rung(struct bcri_ctx *enl, uint32_t seen)
{
    atomic_store_explicit(&enl->bell->sleeping, BCRI_SLEEPS_ON_FUTEX, memory_order_seq_cst);
    bcri_futex_wait(&enl->bell->bell, seen, UINT64_MAX);
    bcri_store(&enl->bell->sleeping, BCRI_AWAKE);
}

void group_repair_both(struct group *group, uint32_t one, uint32_t other)
{
    struct bcri_ctx *enl = group_enl(group);
    bool one_done = false, other_done = false, all = false;
    while (!all) {
        uint32_t seen = bcri_load_acquire(&enl->bell->bell);
        const bool before = one_done, other_before = other_done;
        one_done = one_done || bcri_cce_repair(enl, one);
        other_done = other_done || bcri_cce_repair(enl, other);
        all = bcri_looks_done(enl) && one_done && other_done;
        if (!all && one_done == before && other_done == other_before)
            sleep_until_rung(enl, seen);
    }
}

void group_repair(struct group *group, uint32_t index)
{
    struct bcri_ctx *enl = group_enl(group);
    for (bool done = false;;) {
        uint32_t seen = bcri_load_acquire(&enl->bell->bell);
        enl->daemon.parked = 0;
        done = done || bcri_cce_repair(enl, index);
        const uint32_t holder = enl->daemon.parked;
        if (bcri_looks_done(enl) && done)
            return;
        if (holder == 0 || !is_dying(enl, holder - 1) || !bcri_cce_repair(enl, holder - 1))
            sleep_until_rung(enl, seen);
    }
}

static int slot_order(const void *left, const void *right)
{
    const uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
    return (a > b) - (a < b);
}

void group_check_ids(const struct bcri_ctx *ctx)
{
    size_t all = 0, used = 0;
    const size_t free_count = (size_t)(ctx->slot_top - ctx->slots.stack);
    for (uint32_t chunk = 0; chunk < ctx->slots.chunks; chunk++) {
        const struct bcri_slot_shm *slot = ctx->slots.base[chunk];
        all += ctx->slots.count[chunk];
        for (size_t i = 0; i < ctx->slots.count[chunk]; i++)
            used += bcri_load(&slot[i].word) != 0;
    }
    uintptr_t *free_ids = calloc(free_count + 1, sizeof *free_ids);
    CHECK(free_ids != NULL);
    for (size_t i = 0; i < free_count; i++)
        free_ids[i] = (uintptr_t)ctx->slots.stack[i + 1]; /* NULL lies at the bottom */
    qsort(free_ids, free_count, sizeof *free_ids, slot_order);
    for (size_t i = 0; i < free_count; i++) {
        const struct bcri_slot_shm *slot = (const void *)free_ids[i];
        if (bcri_load(&slot->word) != 0)
            FAIL("an ID of CCE %u is free and in use", ctx->index);
        if (i != 0 && free_ids[i] == free_ids[i - 1])
            FAIL("an ID of CCE %u is free twice", ctx->index);
    }
    free(free_ids);
    if (used + free_count != all)
        FAIL("of %zu IDs of CCE %u %zu are in use and %zu free", all, ctx->index, used, free_count);
}

void group_leave(struct group *group, struct bcri_ctx *ctx)
{
    uint32_t index = ctx->index;
    bcri_order_fini(ctx);
    /* Else the test has it die within a call, or has repaired it already. */
    if (bcri_load(&ctx->journal->op) == BCRI_OP_NONE && bcri_load(&ctx->record->id.state) == BCRI_CCE_ALIVE)
        group_check_ids(ctx);
    free_private(ctx);
    bcri_private_free((struct member *)(void *)ctx); /* ctx is its first member */
    bcri_cce_dying(group->host, index);
    group_repair(group, index);
}

static void add_socket(struct group *group, int socket, uint32_t owner)
{
    pthread_mutex_lock(&group->mutex);
    if (group->count == group->room) {
        group->room = group->room != 0 ? 2 * group->room : 16;
        group->ends = realloc(group->ends, group->room * sizeof *group->ends);
        if (group->ends == NULL)
            die("realloc");
    }
    group->ends[group->count++] = (struct end){.socket = socket, .kill_socket = -1, .owner = owner};
    pthread_mutex_unlock(&group->mutex);
    wake_server(group);
}

pid_t group_fork(struct group *group, int (*body)(struct bcri_ctx *ctx, void *arg), void *arg,
                 uint32_t *index_out)
{
    int ends[2];
    uint32_t index = new_record(group);
    if (bcri_channel_pair(ends) != 0)
        die("bcri_channel_pair");
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        struct bcri_client *client = bcri_ctx_alloc(sizeof *client);
        close(ends[0]);
        if (client == NULL || bcri_client_join(client, ends[1], 0, "member") != 0)
            die("bcri_client_join");
        live(&client->ctx);
        bcri_self_set(&client->ctx);
        _exit(body(&client->ctx, arg));
    }
    close(ends[1]);
    add_socket(group, ends[0], index);
    *index_out = index;
    return pid;
}

int group_bury(struct group *group, pid_t pid, uint32_t index)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("waitpid");
    bcri_eventfds_drop(bcri_host_eventfds(group->host), index);
    bcri_cce_dying(group->host, index);
    group_repair(group, index);
    return status;
}

struct bcri_slot_shm *group_slot(struct bcri_ctx *ctx, bcr_region rgid)
{
    struct bcri_slot_shm *slot = bcri_slot_of(ctx, rgid);
    CHECK(slot != NULL);
    return slot;
}

bcri_ref group_region(struct bcri_ctx *ctx, bcr_region rgid)
{
    return bcri_slot_region(bcri_load(&group_slot(ctx, rgid)->word));
}

bcr_cce_id group_name(struct bcri_ctx *ctx, uint32_t index)
{
    int id;
    if (bcri_cce_id_of_index(ctx, index, &id) != 0)
        die("bcri_cce_id_of_index");
    return id;
}
