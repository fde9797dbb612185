/* SPDX-License-Identifier: MIT */
/* thread.c -- the link thread: bcri/link_thread.h. Its loop, start and end. */
#include "bcri/failure.h"
#include "bcri/link_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/bell.h"
#include "bcri/clock.h"

#include "links/agent/thread_private.h"

/* POLL_CCES_MAX: where there are more CCEs, one is awake. */
enum { SOCKET_BYTES = 4 << 20, STOP_SECONDS = 2, POLL_CCES_MAX = 64 };
#define POLL_NS   50000u
#define LINGER_NS BCRI_NS_PER_S /* below STOP_SECONDS */
#define SLICE_NS  100000u       /* the shortest that Linux grants */

/* Whether such a command for the same host, or CCE, is to be executed first. */
static bool is_kept(const struct bcri_link_thread *thread, enum what what, uint32_t number)
{
    const struct enl_mail *mail;
    STAILQ_FOREACH (mail, &thread->kept, entry)
        if (((const struct command *)mail)->what == what && ((const struct command *)mail)->number == number)
            return true;
    return false;
}

/* In the tree's lane, behind what is to go first. */
static bool send_in_lane(struct bcri_link_thread *thread, struct parcel *parcel)
{
    const uint32_t host = parcel->command.number;
    struct path *path = bcri_path_find(thread, host, BCRI_LANE_TREE);
    if (parcel->bytes == 0) {
        if (path != NULL && path->paused != 0)
            return false; /* not before what the loop holds up */
        bcri_lane_came(thread, parcel);
        return true;
    }
    if (is_kept(thread, INTRODUCE, host) || is_kept(thread, LANE, host))
        return false;
    if (path == NULL) {
        bcri_lane_gone(thread, parcel);
        return true;
    }
    bcri_paths_try_again(thread, path);
    return bcri_link_send(path->link, parcel->row, parcel->row, NULL, 0, parcel->content, parcel->bytes,
                          parcel) == 0;
}

/* False: not now. */
static bool execute(struct bcri_link_thread *thread, struct command *command)
{
    char text[BCRI_SECRET_COMPLAINT_MAX];
    const char *complaint;
    bool done = false;
    switch (command->what) {
    case INTRODUCE:
        done = !is_kept(thread, INTRODUCE, command->number) &&
               bcri_paths_introduce(thread, &((struct introduce_command *)command)->introduction);
        if ((complaint = bcri_secret_complaint(text)) != NULL)
            bcri_thread_note(thread, BCRI_NO_HOST, complaint);
        break;
    case OUTBOX:
        done = bcri_agent_outbox(thread->agent, command->number,
                                 ((struct outbox_command *)command)->outbox) == 0;
        break;
    case NOTICE: done = bcri_agent_notice(thread->agent, &((struct notice_command *)command)->notice); break;
    case LINES: done = bcri_agent_lines(thread->agent, ((struct lines_command *)command)->lines); break;
    case LANE: return send_in_lane(thread, (struct parcel *)command);
    }
    if (done)
        bcri_thread_done(thread, command);
    return done;
}

/* What introduced a host, or told of a CCE's outbox, has been executed before, or is tried again before this is. */
static void execute_ends(struct bcri_link_thread *thread)
{
    uint32_t number;
    while (bcri_numbers_take(&thread->ended[UNKNOWN], &number))
        bcri_agent_unknown(thread->agent, number);
    bool has_memory = true;
    while (has_memory && bcri_numbers_take(&thread->ended[LOST], &number)) {
        struct path *path = bcri_path_find(thread, number, BCRI_LANE_TREE);
        if (path != NULL)
            bcri_packets_send_last(thread, path);
        if (!(has_memory = bcri_paths_lose(thread, number)))
            bcri_numbers_add(&thread->ended[LOST], number);
    }
    while (has_memory && bcri_numbers_take(&thread->ended[ENDED], &number))
        if ((has_memory = !is_kept(thread, OUTBOX, number)))
            bcri_agent_forget(thread->agent, number);
        else
            bcri_numbers_add(&thread->ended[ENDED], number);
}

/* Whether anything waits for memory. */
static bool keeps_some(const struct bcri_link_thread *thread)
{
    return !STAILQ_EMPTY(&thread->kept) || thread->ended[LOST].count != 0 || thread->ended[ENDED].count != 0;
}

static void execute_all(struct bcri_link_thread *thread)
{
    struct enl_mails todo = STAILQ_HEAD_INITIALIZER(todo);
    STAILQ_CONCAT(&todo, &thread->kept);
    pthread_mutex_lock(&thread->mutex);
    const struct grown grown = thread->grown;
    thread->grown.there = false;
    for (int what = LOST; what <= ENDED; what++)
        for (uint32_t number; bcri_numbers_take(&thread->told[what], &number);)
            bcri_numbers_add(&thread->ended[what], number);
    pthread_mutex_unlock(&thread->mutex);
    /* Last: what introduced a host that has ended, or told of an ended CCE's outbox, is among these. */
    enl_mailbox_take_all(&thread->box[COMMANDS], &todo);
    for (struct enl_mail *mail; (mail = STAILQ_FIRST(&todo)) != NULL;) {
        struct command *command = (struct command *)mail;
        STAILQ_REMOVE_HEAD(&todo, entry);
        if (!execute(thread, command))
            STAILQ_INSERT_TAIL(&thread->kept, mail, entry);
    }
    if (grown.there) /* the agent may ask for the next piece while it uses this one, and get it at once */
        bcri_agent_grown(thread->agent, &grown.piece, grown.reserved);
    execute_ends(thread);
}

/* The thread rests until a millisecond after `deadline` at most. False: that has come. A timer that is
 * set stays so from rest to rest, and rather goes off early than being set later: on a virtual machine
 * setting it, as each epoll_wait with a timeout does, takes longer than the rest of a rest. */
static bool set_timer(struct bcri_link_thread *thread, uint64_t deadline)
{
    const uint64_t now = bcri_clock_ns();
    if (deadline == BCRI_LINK_NEVER)
        return true;
    if (deadline <= now)
        return false;
    const uint64_t at = (deadline + BCRI_NS_PER_MS - 1) / BCRI_NS_PER_MS * BCRI_NS_PER_MS;
    if (thread->timer_at > now && thread->timer_at <= at)
        return true;
    const struct itimerspec timer = {
        .it_value = {.tv_sec = (time_t)(at / BCRI_NS_PER_S), .tv_nsec = (long)(at % BCRI_NS_PER_S)}};
    thread->timer_at = at;
    return timerfd_settime(thread->timer, TFD_TIMER_ABSTIME, &timer, NULL) == 0;
}

/* Whether all CCEs here sleep, none of them rung since the last rest: then the thread keeps the
 * processor from nobody here. */
static bool cces_sleep(struct bcri_link_thread *thread)
{
    struct bcri_ctx *ctx = thread->config.ctx;
    const uint32_t count = bcri_host_records(ctx->host);
    const uint32_t before = thread->rung;
    uint32_t rung = 0;
    bool all_sleep = count <= POLL_CCES_MAX;
    for (uint32_t i = BCRI_ENL_INDEX + 1; i < count && all_sleep; i++) {
        const struct bcri_record_shm *record = i != ctx->index ? bcri_record(ctx, i) : NULL;
        if (record == NULL || bcri_load(&record->id.state) != BCRI_CCE_ALIVE)
            continue;
        all_sleep = bcri_load(&record->bell.sleeping) != BCRI_AWAKE;
        rung += bcri_load(&record->bell.bell);
    }
    thread->rung = rung;
    return all_sleep && rung == before;
}

/* Shortly after a packet has come or gone the next is likely to come within microseconds, and a
 * processor that has gone idle takes ten times as long to wake. True: something has come. */
static bool poll_socket(struct bcri_link_thread *thread, uint32_t seen)
{
    const struct bcri_bell_shm *bell = thread->config.ctx->bell;
    while (!thread->full && cces_sleep(thread)) {
        if (bcri_load_acquire(&bell->bell) != seen)
            return true;
        thread->now = bcri_clock_ns();
        if (thread->now > thread->active_at + POLL_NS)
            return false;
        if (bcri_packets_receive(thread)) {
            thread->active_at = thread->now;
            return true;
        }
    }
    return false;
}

/* Rests until something happens, unless the bell has rung since it said `seen`. When the lease is over
 * that is the loop's word alone, which extends it or ends this host. */
static void rest_in_epoll(struct bcri_link_thread *thread, uint32_t seen)
{
    struct bcri_ctx *ctx = thread->config.ctx;
    struct epoll_event events[3];
    const uint64_t agent = bcri_agent_deadline(thread->agent), paths = bcri_paths_deadline(thread);
    const uint64_t kept = keeps_some(thread) ? thread->now + BCRI_NS_PER_MS : BCRI_LINK_NEVER;
    uint64_t next = agent < paths && !thread->over ? agent : paths;
    if (thread->lingers_until != 0 && thread->lingers_until < next)
        next = thread->lingers_until;
    const bool over = bcri_thread_lease_is_over(thread) && thread->lane_count == 0;
    int count = -1;
    struct epoll_event socket = {.events = over ? 0 : EPOLLIN | (thread->full ? EPOLLOUT : 0u),
                                 .data.fd = bcri_udp_fd(thread->udp)};
    if (thread->watched != socket.events)
        epoll_ctl(thread->epoll, EPOLL_CTL_MOD, socket.data.fd, &socket);
    thread->watched = socket.events;
    if (bcri_bell_epoll_begin(ctx, seen) && (over || set_timer(thread, next < kept ? next : kept)))
        count = epoll_wait(thread->epoll, events, 3, -1);
    bcri_bell_epoll_end(ctx);
    thread->readable = false;
    thread->unasked = count < 0;
    for (int i = 0; i < count; i++)
        thread->readable |= events[i].data.fd == bcri_udp_fd(thread->udp);
    thread->full = false; /* the next flush tells */
}

/* What sched_setattr(2) takes; not every C library declares it. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* From Linux 6.12 on, a thread that wakes up takes the processor from another at once only if its
 * slice is the shorter one. Otherwise an order, or a packet, waits until a CCE that computes has used up
 * its own slice, or for the next tick after that. Where it cannot be had, nothing changes. */
static void ask_for_short_slice(void)
{
    struct scheduling scheduling = {.size = sizeof scheduling};
    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0) != 0 ||
        scheduling.policy != SCHED_OTHER)
        return;
    scheduling.size = sizeof scheduling;
    scheduling.runtime_ns = SLICE_NS;
    (void)syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

/* After a turn: whether anything is under way. Without memory the next question is answered. */
static void answer_quiet(struct bcri_link_thread *thread, uint32_t question)
{
    struct bcri_link_news news = {.told = BCRI_TOLD_QUIET, .number = question};
    news.quiet = bcri_agent_rests(thread->agent, &news.messages) && !keeps_some(thread);
    (void)bcri_thread_tell(thread, &news);
}

/* Whether the thread, which is to end, goes on for a little, since what was said last in the tree's lane has not
 * arrived. */
static bool lingers(struct bcri_link_thread *thread)
{
    if (bcri_link_thread_lane_bytes(thread) == 0)
        return false;
    if (thread->lingers_until == 0)
        thread->lingers_until = bcri_clock_ns() + LINGER_NS;
    return bcri_clock_ns() < thread->lingers_until;
}

static void *run_link_thread(void *arg)
{
    struct bcri_link_thread *thread = arg;
    ask_for_short_slice();
    const struct bcri_bell_shm *bell = thread->config.ctx->bell;
    for (;;) {
        const uint32_t seen = bcri_load_acquire(&bell->bell);
        /* Looked at after the bell: the ring for a stop that was not seen changes it then, and ends the rest. */
        if (atomic_load(&thread->stop) && !lingers(thread))
            return NULL;
        thread->now = bcri_clock_ns();
        thread->over = bcri_thread_lease_is_over(thread);
        if (thread->readable && (!thread->over || thread->lane_count != 0) && bcri_packets_receive(thread))
            thread->active_at = thread->now;
        uint32_t question =
            atomic_load(&thread->quiet); /* commands given before it are executed before its answer */
        execute_all(thread);             /* the loop waits for that even when it ends this host */
        if (thread->lingers_until != 0 && bcri_link_thread_lane_bytes(thread) == 0)
            continue; /* what it lingered for is gone */
        thread->over = bcri_thread_lease_is_over(thread);
        bcri_packets_take_tunnelled(thread);
        if (thread->over) {
            if (thread->lane_count != 0)
                bcri_packets_send(thread);
            rest_in_epoll(thread, seen);
            continue;
        }
        if (atomic_exchange(&thread->halts_lines, false))
            bcri_agent_lines_halt(thread->agent);
        bcri_agent_run(thread->agent, thread->now);
        if (bcri_packets_send(thread))
            thread->active_at = thread->now;
        bcri_paths_look_after(thread);
        if (question != 0 && atomic_compare_exchange_strong(&thread->quiet, &question, 0))
            answer_quiet(thread, question);
        if (thread->unasked) {
            /* What a CCE has ordered meanwhile has gone first; now the socket has its turn. */
            thread->unasked = false;
            thread->readable = true;
        } else if (poll_socket(thread, seen))
            thread->readable = bcri_udp_has_more(thread->udp);
        else
            rest_in_epoll(thread, seen);
    }
}

struct bcri_link_address bcri_link_thread_address(const struct bcri_link_thread *thread)
{
    struct bcri_link_address address;
    address.bytes = bcri_udp_address(thread->udp, &address.at);
    return address;
}

static bool watch_in_epoll(const struct bcri_link_thread *thread, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.fd = fd};
    return epoll_ctl(thread->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void drop_thread(struct bcri_link_thread *thread)
{
    const struct path *path;
    if (thread->agent != NULL)
        bcri_agent_free(thread->agent);
    LIST_FOREACH (path, &thread->paths, entry)
        if (path->lane == BCRI_LANE_TREE)
            bcri_link_free(path->link);
    bcri_paths_free(&thread->paths);
    bcri_paths_free(&thread->lost);
    if (thread->udp != NULL)
        bcri_udp_close(thread->udp);
    if (thread->epoll >= 0)
        close(thread->epoll);
    if (thread->timer >= 0)
        close(thread->timer);
    enl_mailbox_take_all(&thread->box[COMMANDS], &thread->kept);
    for (struct enl_mail *mail; (mail = STAILQ_FIRST(&thread->kept)) != NULL;) {
        STAILQ_REMOVE_HEAD(&thread->kept, entry);
        bcri_thread_done(thread, (struct command *)mail);
    }
    for (int i = NEWS; i < BOXES; i++)
        for (struct enl_mail *mail; (mail = enl_mailbox_take(&thread->box[i])) != NULL;)
            free(mail);
    pthread_mutex_destroy(&thread->mutex);
    free(thread);
}

int bcri_link_thread_start(const struct bcri_link_thread_config *config, struct bcri_link_thread **out)
{
    struct bcri_link_thread *thread = calloc(1, sizeof *thread);
    bool has_aes;
    if (thread == NULL)
        return -ENOMEM;
    thread->config = *config;
    thread->readable = true;
    atomic_init(&thread->lease_ns, BCRI_DEADLINE_NEVER);
    STAILQ_INIT(&thread->kept);
    for (int i = 0; i < BOXES; i++)
        enl_mailbox_init(&thread->box[i]);
    pthread_mutex_init(&thread->mutex, NULL);
    thread->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (thread->epoll < 0)
        bcri_failure_note("epoll_create1");
    thread->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (thread->timer < 0)
        bcri_failure_note("timerfd_create");
    const int bound = bcri_udp_open((const struct sockaddr *)&config->bind.at, config->bind.bytes,
                                    SOCKET_BYTES, &thread->udp);
    if (bound != 0) {
        thread->udp = NULL;
        drop_thread(thread);
        return bound == -EMFILE || bound == -ENFILE ? -ENOMEM : bound;
    }
    if (thread->epoll < 0 || thread->timer < 0 || bcri_seal_prepare(&has_aes) != 0 ||
        !watch_in_epoll(thread, bcri_udp_fd(thread->udp), thread->watched = EPOLLIN) ||
        !watch_in_epoll(thread, config->ctx->bell_fd, EPOLLIN | EPOLLET) ||
        !watch_in_epoll(thread, thread->timer, EPOLLIN | EPOLLET) || /* it is never read */
        (thread->agent = bcri_agent_new(config->ctx, config->pool_bytes, &bcri_thread_events, thread)) ==
            NULL) {
        drop_thread(thread);
        return -ENOMEM;
    }
    errno = pthread_create(&thread->thread, NULL, run_link_thread, thread);
    if (errno == 0) {
        *out = thread;
        return 0;
    }
    bcri_failure_note("pthread_create");
    drop_thread(thread);
    return -ENOMEM;
}

bool bcri_link_thread_stop(struct bcri_link_thread *thread)
{
    struct timespec deadline;
    atomic_store(&thread->stop, true);
    bcri_thread_ring(thread);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    if (pthread_clockjoin_np(thread->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0)
        return false;
    drop_thread(thread);
    return true;
}
