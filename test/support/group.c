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
#include "bcri/cell_fds.h"
#include "bcri/copying.h"
#include "bcri/eventfds.h"
#include "bcri/heap.h"
#include "bcri/host.h"
#include "bcri/lookup.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "bcri/signature.h"
#include "bcri/slot.h"
#include "check.h"

enum { HOST_NUMBER = 0x0201 }; /* not 0: what takes every CCE for one of host 0 fails */

struct group {
    struct bcri_host *host;
    pthread_t server;
    pthread_mutex_t mutex;
    int wake[2];  /* a byte: the set of sockets has changed, or it is over */
    int *sockets; /* our ends, one per forked member */
    uint32_t *owners;
    size_t count, room;
    int over;
};

struct member {
    struct bcri_ctx ctx;
    struct group *group; /* threads */
    int socket;          /* processes */
};

enum { WANTS_SEGMENT, ADDS_SEGMENT, WANTS_NUMBER, WANTS_PAGES, GIVES_PAGES, SETS_FD, RINGS_FD };
struct request {
    int32_t what;
    uint32_t kind, seg, owner;
    uint64_t size_bytes;
    uint64_t cell;
    uint32_t pages[BCRI_PAGE_SORTS];
    bcri_ref ref[BCRI_PAGE_SORTS];
};
struct reply {
    int32_t error;
    uint32_t seg;
    bcri_ref ref[BCRI_PAGE_SORTS];
};

static void die(const char *what)
{
    perror(what);
    abort();
}

static ssize_t send_with_fd(int socket, const void *data, size_t size, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
    }
    ssize_t sent;
    do
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

static ssize_t receive_with_fd(int socket, void *data, size_t size, int *fd_out)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {.iov_base = data, .iov_len = size};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    *fd_out = -1;
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *head = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head != NULL && head->cmsg_type == SCM_RIGHTS)
        memcpy(fd_out, CMSG_DATA(head), sizeof *fd_out);
    return got;
}

static void serve(struct group *group, int socket, uint32_t owner)
{
    struct request request;
    int fd;
    if (receive_with_fd(socket, &request, sizeof request, &fd) != (ssize_t)sizeof request)
        return;
    struct reply reply = {0};
    int answer = -1;
    if (request.what == RINGS_FD) {
        bcri_eventfds_ring(bcri_host_eventfds(group->host), request.cell);
        return;
    }
    if (request.what == SETS_FD) {
        reply.error = bcri_eventfds_set(bcri_host_eventfds(group->host), request.cell, owner, fd);
        if (reply.error != 0)
            close(fd);
    } else if (request.what == ADDS_SEGMENT) {
        reply.error = bcri_host_segment_add(group->host, fd, request.size_bytes,
                                            (enum bcri_seg_kind)request.kind, owner, &reply.seg);
        if (reply.error != 0)
            close(fd);
    } else if (request.what == WANTS_NUMBER) {
        if (!bcri_host_segment_again(group->host, request.size_bytes, (enum bcri_seg_kind)request.kind, owner,
                                     &reply.seg))
            reply.error = bcrE_NOMEM;
    } else if (request.what == WANTS_PAGES) {
        struct bcri_pages got;
        reply.error = bcri_host_pages_take(group->host, request.owner, request.pages, &got);
        memcpy(reply.ref, got.ref, sizeof reply.ref);
    } else if (request.what == GIVES_PAGES) {
        bcri_host_pages_back(group->host, owner, request.ref);
        return;
    } else {
        answer =
            bcri_host_segment_dup(group->host, request.seg); /* the test's thread may drop it meanwhile */
        reply.error = answer >= 0 ? 0 : bcrE_NOCELL;
    }
    send_with_fd(socket, &reply, sizeof reply, answer);
    if (answer >= 0)
        close(answer);
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
            polls[i + 1] = (struct pollfd){.fd = group->sockets[i], .events = POLLIN};
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
                uint32_t owner = group->owners[i];
                pthread_mutex_unlock(&group->mutex);
                serve(group, polls[i + 1].fd, owner);
            } else if ((polls[i + 1].revents & (POLLHUP | POLLERR)) != 0) {
                pthread_mutex_lock(&group->mutex);
                if (group->sockets[i] >= 0)
                    close(group->sockets[i]);
                group->sockets[i] = -1; /* poll skips it from now on */
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
    return bcri_host_segment_add(member->group->host, fd, size_bytes, kind, member->ctx.index, seg_out);
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
static void thread_fd_ring(void *up, bcri_ref cell)
{
    bcri_eventfds_ring(bcri_host_eventfds(((struct member *)up)->group->host), cell);
}
static const struct bcri_fd_upcalls thread_fd_upcalls = {thread_fd_set, thread_fd_ring};

static int process_segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind,
                               uint32_t *seg_out)
{
    struct member *member = up;
    struct request request = {.what = ADDS_SEGMENT, .kind = kind, .size_bytes = size_bytes};
    struct reply reply;
    int none;
    if (send_with_fd(member->socket, &request, sizeof request, fd) < 0 ||
        receive_with_fd(member->socket, &reply, sizeof reply, &none) != (ssize_t)sizeof reply)
        return bcrE_INTERNAL;
    if (reply.error == 0) {
        close(fd);
        *seg_out = reply.seg;
    }
    return reply.error;
}
static int asked(void *up, const struct request *request, struct reply *reply_out)
{
    struct member *member = up;
    int none;
    if (send_with_fd(member->socket, request, sizeof *request, -1) < 0 ||
        receive_with_fd(member->socket, reply_out, sizeof *reply_out, &none) != (ssize_t)sizeof *reply_out)
        return bcrE_INTERNAL;
    return reply_out->error;
}
static int process_segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    const struct request request = {.what = WANTS_NUMBER, .kind = kind, .size_bytes = size_bytes};
    struct reply reply;
    int error = asked(up, &request, &reply);
    if (error == 0)
        *seg_out = reply.seg;
    return error;
}
static int process_segment_fd(void *up, uint32_t seg)
{
    struct member *member = up;
    struct request request = {.what = WANTS_SEGMENT, .seg = seg};
    struct reply reply;
    int fd;
    if (send_with_fd(member->socket, &request, sizeof request, -1) < 0 ||
        receive_with_fd(member->socket, &reply, sizeof reply, &fd) != (ssize_t)sizeof reply)
        return -bcrE_INTERNAL;
    return reply.error == 0 ? fd : -reply.error;
}
static int process_pages_take(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                              struct bcri_pages *out)
{
    const struct request request = {
        .what = WANTS_PAGES, .owner = owner, .pages = {pages[BCRI_PAGE_HEADERS], pages[BCRI_PAGE_RINGS]}};
    struct reply reply;
    int error = asked(up, &request, &reply);
    for (int sort = 0; sort < BCRI_PAGE_SORTS && error == 0; sort++) {
        out->ref[sort] = reply.ref[sort];
        out->fd[sort] = pages[sort] != 0 ? process_segment_fd(up, bcri_ref_seg(reply.ref[sort])) : -1;
    }
    return error;
}
static void process_pages_back(void *up, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    const struct request request = {.what = GIVES_PAGES,
                                    .ref = {ref[BCRI_PAGE_HEADERS], ref[BCRI_PAGE_RINGS]}};
    send_with_fd(((struct member *)up)->socket, &request, sizeof request, -1);
}
static const struct bcri_upcalls process_upcalls = {.segment_add = process_segment_add,
                                                    .segment_again = process_segment_again,
                                                    .pages_take = process_pages_take,
                                                    .pages_back = process_pages_back,
                                                    .segment_fd = process_segment_fd};

static int process_fd_set(void *up, bcri_ref cell, int fd)
{
    struct member *member = up;
    struct request request = {.what = SETS_FD, .cell = cell};
    struct reply reply;
    int none;
    if (send_with_fd(member->socket, &request, sizeof request, fd) < 0 ||
        receive_with_fd(member->socket, &reply, sizeof reply, &none) != (ssize_t)sizeof reply)
        return bcrE_INTERNAL;
    return reply.error;
}
static void process_fd_ring(void *up, bcri_ref cell)
{
    struct request request = {.what = RINGS_FD, .cell = cell};
    send_with_fd(((struct member *)up)->socket, &request, sizeof request, -1);
}
static const struct bcri_fd_upcalls process_fd_upcalls = {process_fd_set, process_fd_ring};

struct group *group_open(void)
{
    struct group *group = calloc(1, sizeof *group);
    if (group == NULL || bcri_host_init("test-1", HOST_NUMBER, bcri_layout_signature(), &group->host) != 0 ||
        pipe(group->wake) != 0)
        die("group_open");
    pthread_mutex_init(&group->mutex, NULL);
    if (pthread_create(&group->server, NULL, server, group) != 0)
        die("pthread_create");
    return group;
}

void group_close(struct group *group)
{
    pthread_mutex_lock(&group->mutex);
    group->over = 1;
    pthread_mutex_unlock(&group->mutex);
    wake_server(group);
    pthread_join(group->server, NULL);
    for (size_t i = 0; i < group->count; i++)
        if (group->sockets[i] >= 0)
            close(group->sockets[i]);
    close(group->wake[0]);
    close(group->wake[1]);
    bcri_heap_fini(group_enl(group));
    bcri_resolved_fini(group_enl(group));
    bcri_host_fini(group->host);
    free(group->sockets);
    free(group->owners);
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
    /* Else the test has it die within a call, or has repaired it already. */
    if (bcri_load(&ctx->journal->op) == BCRI_OP_NONE && bcri_load(&ctx->record->id.state) == BCRI_CCE_ALIVE)
        group_check_ids(ctx);
    free_private(ctx);
    free((struct member *)(void *)ctx); /* ctx is its first member */
    bcri_cce_dying(group->host, index);
    group_repair(group, index);
}

static void add_socket(struct group *group, int socket, uint32_t owner)
{
    pthread_mutex_lock(&group->mutex);
    if (group->count == group->room) {
        group->room = group->room != 0 ? 2 * group->room : 16;
        group->sockets = realloc(group->sockets, group->room * sizeof *group->sockets);
        group->owners = realloc(group->owners, group->room * sizeof *group->owners);
        if (group->sockets == NULL || group->owners == NULL)
            die("realloc");
    }
    group->sockets[group->count] = socket;
    group->owners[group->count++] = owner;
    pthread_mutex_unlock(&group->mutex);
    wake_server(group);
}

pid_t group_fork(struct group *group, int (*body)(struct bcri_ctx *ctx, void *arg), void *arg,
                 uint32_t *index_out)
{
    int ends[2];
    uint32_t index = new_record(group);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        die("socketpair");
    int host_fd = bcri_host_segment_fd(group->host, BCRI_HOST_SEG);
    pid_t pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0) {
        struct member member = {.socket = ends[1]};
        close(ends[0]);
        if (bcri_ctx_init(&member.ctx, host_fd, index, bcri_layout_signature(), &process_upcalls, &member) !=
            0)
            die("bcri_ctx_init");
        member.ctx.fd_upcalls = &process_fd_upcalls;
        live(&member.ctx);
        bcri_self_set(&member.ctx);
        _exit(body(&member.ctx, arg));
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

int group_name(struct bcri_ctx *ctx, uint32_t index)
{
    int id;
    if (bcri_cce_id_of_index(ctx, index, &id) != 0)
        die("bcri_cce_id_of_index");
    return id;
}
