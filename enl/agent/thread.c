/* SPDX-License-Identifier: MIT */
/* thread.c -- the link thread: bcri/link_thread.h. */
#include "bcri/link_thread.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/agent.h"
#include "bcri/bell.h"
#include "bcri/clock.h"
#include "bcri/link.h"
#include "bcri/udp.h"

/* RECEIVES_MAX: from the socket at a time, so that a flood of packets does not stop what is sent. */
enum { SOCKET_BYTES = 4 << 20, RECEIVES_MAX = 64, STOP_SECONDS = 2 };
#define KEEPALIVE_NS (2 * BCRI_NS_PER_S)

/* What another thread wants. */
enum what { INTRODUCE, LOST, OUTBOX, FORGET, GROWN };
struct wish {
    struct wish *next;
    enum what what;
    uint32_t number;
    bcri_ref outbox;
    struct bcri_heap_piece piece;
    bool reserved;
    struct bcri_link_introduction introduction;
};

struct news {
    struct news *next;
    struct bcri_link_news news;
};

/* A CCE that has an outbox: what it takes to forget the CCE is there from then on, so that no death
 * needs memory. */
struct member {
    struct member *next;
    struct wish *forget;
    struct news *forgotten; /* with the wish, until it is told */
};

/* A host to which there is a link. */
struct way {
    struct way *next;
    uint32_t host;
    struct bcri_link *link;
    struct bcri_link_address address[BCRI_INTRODUCED_MAX];
    uint32_t address_count;
    bool heard;      /* data goes to the first address, by which the host has answered */
    bool was_silent; /* it was told, and nothing has come since */
};

struct bcri_link_thread {
    struct bcri_link_thread_config config;
    struct bcri_agent *agent;
    struct bcri_udp *udp;
    int epoll;
    struct way *ways;
    struct way *lost; /* packets to them may still be gathered, which name their addresses */
    uint32_t way_count;
    bool full; /* the socket is; nothing is filled until it is writable */
    uint64_t now;
    pthread_t thread;
    pthread_mutex_t mutex; /* of the two queues, and the list */
    struct wish *wishes, **wishes_end;
    struct news *news, **news_end;
    struct wish *grown;               /* for the next piece of the pool, of which one at a time is told */
    struct member *members, *leaving; /* that have an outbox; that are to be forgotten */
    atomic_bool stop;
};

/* ---- the queues ---- */

/* With the mutex. */
static void add_wish(struct bcri_link_thread *thread, struct wish *wish)
{
    wish->next = NULL;
    *thread->wishes_end = wish;
    thread->wishes_end = &wish->next;
}

static void ring(struct bcri_link_thread *thread)
{
    bcri_bell_ring(thread->config.ctx, thread->config.ctx->record);
}

static bool wish(struct bcri_link_thread *thread, const struct wish *like)
{
    struct wish *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *like;
    pthread_mutex_lock(&thread->mutex);
    add_wish(thread, copy);
    pthread_mutex_unlock(&thread->mutex);
    ring(thread);
    return true;
}

bool bcri_link_thread_introduce(struct bcri_link_thread *thread,
                                const struct bcri_link_introduction *introduction)
{
    struct wish like = {.what = INTRODUCE, .number = introduction->host, .introduction = *introduction};
    if (like.introduction.address_count > BCRI_INTRODUCED_MAX)
        like.introduction.address_count = BCRI_INTRODUCED_MAX;
    const bool done = wish(thread, &like);
    bcri_seal_wipe(&like.introduction.secret, sizeof like.introduction.secret);
    return done;
}

bool bcri_link_thread_lost(struct bcri_link_thread *thread, uint32_t host)
{
    return wish(thread, &(struct wish){.what = LOST, .number = host});
}

static void free_member(struct member *member)
{
    free(member->forget);
    free(member->forgotten);
    free(member);
}

static struct member *new_member(uint32_t index)
{
    struct member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return NULL;
    member->forget = calloc(1, sizeof *member->forget);
    member->forgotten = calloc(1, sizeof *member->forgotten);
    if (member->forget == NULL || member->forgotten == NULL) {
        free_member(member);
        return NULL;
    }
    *member->forget = (struct wish){.what = FORGET, .number = index};
    member->forgotten->news = (struct bcri_link_news){.told = BCRI_TOLD_FORGOTTEN, .number = index};
    return member;
}

bool bcri_link_thread_outbox(struct bcri_link_thread *thread, uint32_t index, bcri_ref outbox)
{
    struct member *member = new_member(index);
    if (member == NULL)
        return false;
    pthread_mutex_lock(&thread->mutex);
    member->next = thread->members;
    thread->members = member;
    pthread_mutex_unlock(&thread->mutex);
    return wish(thread, &(struct wish){.what = OUTBOX, .number = index, .outbox = outbox});
}

void bcri_link_thread_grown(struct bcri_link_thread *thread, const struct bcri_heap_piece *piece,
                            bool reserved)
{
    pthread_mutex_lock(&thread->mutex);
    struct wish *wish = thread->grown;
    thread->grown = NULL;
    *wish = (struct wish){.what = GROWN, .piece = *piece, .reserved = reserved};
    add_wish(thread, wish);
    pthread_mutex_unlock(&thread->mutex);
    ring(thread);
}

/* Moves member `index` from one list to another, which may be NULL. With the mutex. */
static struct member *move_member(struct member **from, struct member **to, uint32_t index)
{
    while (*from != NULL && (*from)->forgotten->news.number != index)
        from = &(*from)->next;
    struct member *member = *from;
    if (member == NULL)
        return NULL;
    *from = member->next;
    if (to != NULL) {
        member->next = *to;
        *to = member;
    }
    return member;
}

bool bcri_link_thread_forget(struct bcri_link_thread *thread, uint32_t index)
{
    pthread_mutex_lock(&thread->mutex);
    struct member *member = move_member(&thread->members, &thread->leaving, index);
    if (member != NULL) {
        add_wish(thread, member->forget);
        member->forget = NULL;
    }
    pthread_mutex_unlock(&thread->mutex);
    if (member != NULL)
        ring(thread);
    return member != NULL;
}

/* With the mutex. */
static void add_news(struct bcri_link_thread *thread, struct news *news)
{
    news->next = NULL;
    *thread->news_end = news;
    thread->news_end = &news->next;
}

static bool tell(struct bcri_link_thread *thread, const struct bcri_link_news *what)
{
    struct news *news = malloc(sizeof *news);
    if (news == NULL)
        return false;
    news->news = *what;
    pthread_mutex_lock(&thread->mutex);
    add_news(thread, news);
    pthread_mutex_unlock(&thread->mutex);
    thread->config.told(thread->config.owner);
    return true;
}

bool bcri_link_thread_take(struct bcri_link_thread *thread, struct bcri_link_news *news_out)
{
    pthread_mutex_lock(&thread->mutex);
    struct news *news = thread->news;
    if (news != NULL && (thread->news = news->next) == NULL)
        thread->news_end = &thread->news;
    pthread_mutex_unlock(&thread->mutex);
    if (news == NULL)
        return false;
    *news_out = news->news;
    free(news);
    return true;
}

static bool wants_link(void *owner, uint32_t host)
{
    return tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_WANTS_LINK, .number = host});
}

static bool wants_pool(void *owner, const struct bcri_heap_piece *piece)
{
    return tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_POOL, .piece = *piece});
}

static void forgotten(void *owner, uint32_t index)
{
    struct bcri_link_thread *thread = owner;
    pthread_mutex_lock(&thread->mutex);
    struct member *member = move_member(&thread->leaving, NULL, index);
    if (member != NULL) {
        add_news(thread, member->forgotten);
        member->forgotten = NULL;
    }
    pthread_mutex_unlock(&thread->mutex);
    if (member != NULL) {
        thread->config.told(thread->config.owner);
        free_member(member);
    }
}

static void note(void *owner, const char *sentence)
{
    struct bcri_link_news news = {.told = BCRI_TOLD_NOTE};
    strncpy(news.text, sentence, sizeof news.text - 1);
    (void)tell(owner, &news);
}

static const struct bcri_agent_events events = {
    .wants_link = wants_link, .forgotten = forgotten, .note = note, .wants_pool = wants_pool};

/* ---- links ---- */

static struct way **find_way(struct bcri_link_thread *thread, uint32_t host)
{
    struct way **at = &thread->ways;
    while (*at != NULL && (*at)->host != host)
        at = &(*at)->next;
    return at;
}

/* All links share what the socket holds. */
static void share_room(struct bcri_link_thread *thread)
{
    struct bcri_link_carrier carrier;
    bcri_udp_carrier(thread->udp, thread->way_count, &carrier);
    for (struct way *way = thread->ways; way != NULL; way = way->next)
        bcri_link_set_room(way->link, carrier.room);
}

static void introduce(struct bcri_link_thread *thread, const struct bcri_link_introduction *introduction)
{
    struct bcri_link_carrier carrier;
    struct way *way = calloc(1, sizeof *way);
    bcri_udp_carrier(thread->udp, thread->way_count + 1, &carrier);
    const struct bcri_link_config config = {.host = thread->config.ctx->host->number,
                                            .peer = introduction->host,
                                            .packet_max = carrier.packet_max,
                                            .keepalive_ns = KEEPALIVE_NS,
                                            .carrier = carrier,
                                            .secret = &introduction->secret};
    if (way == NULL ||
        (way->link = bcri_agent_link(thread->agent, introduction->host, &config, thread->now)) == NULL) {
        free(way);
        return;
    }
    way->host = introduction->host;
    way->address_count = introduction->address_count;
    memcpy(way->address, introduction->address, sizeof way->address);
    way->next = thread->ways;
    thread->ways = way;
    thread->way_count++;
    share_room(thread);
}

static void lose(struct bcri_link_thread *thread, uint32_t host)
{
    struct way **at = find_way(thread, host), *way = *at;
    if (way != NULL) {
        *at = way->next;
        way->next = thread->lost;
        thread->lost = way;
        if (--thread->way_count != 0)
            share_room(thread);
    }
    bcri_agent_lost(thread->agent, host);
}

static void grant(struct bcri_link_thread *thread, const struct wish *wish)
{
    switch (wish->what) {
    case INTRODUCE: introduce(thread, &wish->introduction); break;
    case LOST: lose(thread, wish->number); break;
    case OUTBOX:
        if (bcri_agent_outbox(thread->agent, wish->number, wish->outbox) != 0)
            note(thread, "no memory for the outbox of a CCE: its orders stand still");
        break;
    case FORGET: bcri_agent_forget(thread->agent, wish->number); break;
    case GROWN: bcri_agent_grown(thread->agent, &wish->piece, wish->reserved); break;
    }
}

/* The wish of a piece is used again. */
static bool keep_grown(struct bcri_link_thread *thread, struct wish *wish)
{
    if (wish->what != GROWN)
        return false;
    pthread_mutex_lock(&thread->mutex);
    thread->grown = wish;
    pthread_mutex_unlock(&thread->mutex);
    return true;
}

static void grant_all(struct bcri_link_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    struct wish *wish = thread->wishes;
    thread->wishes = NULL;
    thread->wishes_end = &thread->wishes;
    pthread_mutex_unlock(&thread->mutex);
    while (wish != NULL) {
        struct wish *next = wish->next;
        grant(thread, wish);
        bcri_seal_wipe(&wish->introduction.secret, sizeof wish->introduction.secret);
        if (!keep_grown(thread, wish))
            free(wish);
        wish = next;
    }
}

/* ---- packets ---- */

static void on_packet(void *context, const struct sockaddr *from, socklen_t from_bytes, uint8_t *packet,
                      size_t bytes)
{
    struct bcri_link_thread *thread = context;
    uint32_t host;
    if (!bcri_link_sender(packet, bytes, &host))
        return;
    struct way *way = *find_way(thread, host);
    if (way == NULL || !bcri_link_receive(way->link, packet, bytes, thread->now) ||
        from_bytes > sizeof way->address[0].at)
        return;
    /* This way works; a host that has moved is followed, since the packet is its own and new. */
    way->heard = true;
    memcpy(&way->address[0].at, from, from_bytes);
    way->address[0].bytes = from_bytes;
}

/* Until the host has answered, each packet goes to all of its addresses: what comes twice does no
 * harm. */
static void send_packet(struct bcri_link_thread *thread, const struct way *way, const uint8_t *space,
                        size_t bytes)
{
    const uint32_t count = way->heard ? 1 : way->address_count;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *copy = (uint8_t *)(uintptr_t)space;
        if (i != 0) {
            if ((copy = bcri_udp_space(thread->udp)) == NULL)
                return;
            memcpy(copy, space, bytes);
        }
        bcri_udp_add(thread->udp, (const struct sockaddr *)&way->address[i].at, way->address[i].bytes, bytes);
    }
}

static void free_ways(struct way **ways)
{
    while (*ways != NULL) {
        struct way *next = (*ways)->next;
        free(*ways);
        *ways = next;
    }
}

static bool flush(struct bcri_link_thread *thread)
{
    if (!bcri_udp_flush(thread->udp))
        return false;
    free_ways(&thread->lost); /* nothing is gathered any more */
    return true;
}

static void fill(struct bcri_link_thread *thread)
{
    for (struct way *way = thread->ways; way != NULL && !thread->full; way = way->next)
        for (;;) {
            uint8_t *space = bcri_udp_space(thread->udp);
            if (space == NULL) {
                thread->full = !flush(thread);
                if (thread->full)
                    break;
                continue;
            }
            const size_t bytes = bcri_link_fill(way->link, space, thread->now);
            if (bytes == 0)
                break;
            send_packet(thread, way, space, bytes);
        }
    if (!flush(thread))
        thread->full = true;
}

/* ---- the thread ---- */

static bool tell_silence(struct bcri_link_thread *thread, const struct way *way)
{
    char host[INET6_ADDRSTRLEN] = "an unknown address", port[16] = "?";
    struct bcri_link_news news = {.told = BCRI_TOLD_SILENT, .number = way->host};
    const struct bcri_link_address *at = &way->address[0];
    (void)getnameinfo((const struct sockaddr *)&at->at, at->bytes, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    static const char of_ipv4[] = "::ffff:"; /* in a socket of IPv6 */
    const size_t skip = strncmp(host, of_ipv4, sizeof of_ipv4 - 1) == 0 ? sizeof of_ipv4 - 1 : 0;
    snprintf(news.text, sizeof news.text, "%s, UDP port %s", host + skip, port);
    return tell(thread, &news);
}

/* A firewall that stops packets, or a cable, is told of once, until something comes again. Probes bring
 * the thread here meanwhile. */
static void look_for_silence(struct bcri_link_thread *thread)
{
    for (struct way *way = thread->ways; way != NULL && thread->config.silence_ns != 0; way = way->next) {
        const uint64_t waits = bcri_link_waits_since(way->link), heard = bcri_link_heard_at(way->link);
        const uint64_t since = waits > heard ? waits : heard;
        const bool silent = waits != BCRI_LINK_NEVER && thread->now > since + thread->config.silence_ns;
        if (silent && !way->was_silent)
            way->was_silent = tell_silence(thread, way);
        else if (waits == BCRI_LINK_NEVER || heard > waits)
            way->was_silent = false;
    }
}

static uint64_t next_deadline(const struct bcri_link_thread *thread)
{
    uint64_t next = bcri_agent_deadline(thread->agent);
    for (const struct way *way = thread->ways; way != NULL; way = way->next) {
        const uint64_t at = bcri_link_deadline(way->link);
        next = at < next ? at : next;
    }
    return next;
}

static int timeout_until(uint64_t deadline)
{
    const uint64_t now = bcri_clock_ns();
    if (deadline == BCRI_LINK_NEVER)
        return -1;
    if (deadline <= now)
        return 0;
    const uint64_t msec = (deadline - now + BCRI_NS_PER_MS - 1) / BCRI_NS_PER_MS;
    return msec < 1000 ? (int)msec : 1000;
}

/* Rests until something happens, unless the bell has rung since it said `seen`. */
static void rest(struct bcri_link_thread *thread, uint32_t seen)
{
    struct bcri_ctx *ctx = thread->config.ctx;
    struct epoll_event events_seen[2];
    struct epoll_event socket = {.events = EPOLLIN | (thread->full ? EPOLLOUT : 0u)};
    epoll_ctl(thread->epoll, EPOLL_CTL_MOD, bcri_udp_fd(thread->udp), &socket);
    const int timeout = timeout_until(next_deadline(thread));
    if (bcri_bell_epoll_begin(ctx, seen) && timeout != 0)
        (void)epoll_wait(thread->epoll, events_seen, 2, timeout);
    bcri_bell_epoll_end(ctx);
    thread->full = false; /* the next flush tells */
}

static void *run(void *arg)
{
    struct bcri_link_thread *thread = arg;
    while (!atomic_load(&thread->stop)) {
        const uint32_t seen = bcri_load_acquire(&thread->config.ctx->bell->bell);
        thread->now = bcri_clock_ns();
        for (int i = 0; i < RECEIVES_MAX && bcri_udp_receive(thread->udp, on_packet, thread) != 0; i++)
            ;
        grant_all(thread);
        bcri_agent_run(thread->agent, thread->now);
        fill(thread);
        look_for_silence(thread);
        rest(thread, seen);
    }
    return NULL;
}

struct bcri_link_address bcri_link_thread_address(const struct bcri_link_thread *thread)
{
    struct bcri_link_address address;
    address.bytes = bcri_udp_address(thread->udp, &address.at);
    return address;
}

static bool watch(const struct bcri_link_thread *thread, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(thread->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void free_members(struct member **members)
{
    while (*members != NULL) {
        struct member *next = (*members)->next;
        free_member(*members);
        *members = next;
    }
}

static void drop(struct bcri_link_thread *thread)
{
    if (thread->agent != NULL)
        bcri_agent_free(thread->agent);
    free_members(&thread->members);
    free_members(&thread->leaving);
    free_ways(&thread->ways);
    free_ways(&thread->lost);
    if (thread->udp != NULL)
        bcri_udp_close(thread->udp);
    if (thread->epoll >= 0)
        close(thread->epoll);
    pthread_mutex_destroy(&thread->mutex);
    free(thread->grown);
    free(thread);
}

int bcri_link_thread_start(const struct bcri_link_thread_config *config, struct bcri_link_thread **out)
{
    struct bcri_link_thread *thread = calloc(1, sizeof *thread);
    bool has_aes;
    if (thread == NULL)
        return bcrE_NOMEM;
    thread->config = *config;
    thread->wishes_end = &thread->wishes;
    thread->news_end = &thread->news;
    pthread_mutex_init(&thread->mutex, NULL);
    thread->epoll = epoll_create1(EPOLL_CLOEXEC);
    thread->grown = malloc(sizeof *thread->grown);
    const int bound = bcri_udp_open((const struct sockaddr *)&config->bind.at, config->bind.bytes,
                                    SOCKET_BYTES, &thread->udp);
    if (bound != 0) {
        thread->udp = NULL;
        drop(thread);
        return bound == -ENOMEM || bound == -EMFILE || bound == -ENFILE ? bcrE_NOMEM : bcrE_NOHOST;
    }
    if (thread->grown == NULL || thread->epoll < 0 || bcri_seal_prepare(&has_aes) != 0 ||
        !watch(thread, bcri_udp_fd(thread->udp)) || !watch(thread, config->ctx->bell_fd) ||
        (thread->agent = bcri_agent_new(config->ctx, config->pool_bytes, &events, thread)) == NULL ||
        pthread_create(&thread->thread, NULL, run, thread) != 0) {
        drop(thread);
        return bcrE_NOMEM;
    }
    *out = thread;
    return 0;
}

bool bcri_link_thread_stop(struct bcri_link_thread *thread)
{
    struct bcri_link_news news;
    struct timespec deadline;
    atomic_store(&thread->stop, true);
    ring(thread);
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += STOP_SECONDS;
    if (pthread_clockjoin_np(thread->thread, NULL, CLOCK_MONOTONIC, &deadline) != 0)
        return false;
    for (struct wish *wish = thread->wishes, *next; wish != NULL; wish = next) {
        next = wish->next;
        bcri_seal_wipe(&wish->introduction.secret, sizeof wish->introduction.secret);
        free(wish);
    }
    while (bcri_link_thread_take(thread, &news))
        ;
    drop(thread);
    return true;
}
