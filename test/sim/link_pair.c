/* SPDX-License-Identifier: MIT */
/* See link_pair.h. */
#include "link_pair.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "bcri/cces.h"
#include "bcri/heap.h"
#include "bcri/link.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "check.h"

struct host hosts[2];
struct link_pair pair = {.most_bytes = 65000, .pool_bytes = 1 << 20};

static void grow_at_once(struct host *host)
{
    struct bcri_link_news news;
    while (bcri_link_thread_take(host->thread, &news))
        if (news.told == BCRI_TOLD_POOL) {
            CHECK_INT(bcri_heap_piece_reserve(group_enl(host->group), &news.piece), 0);
            atomic_fetch_add(&pair.pieces, 1);
            bcri_link_thread_grown(host->thread, &news.piece, true);
        }
}

/* Two daemons with pipes between them. */
static struct {
    pthread_t thread;
    sem_t told; /* by a link thread, or at the end */
    _Atomic bool carries;
    _Atomic unsigned packets;
} tree;

static void told(void *owner)
{
    atomic_fetch_add(&((struct host *)owner)->told, 1);
    sem_post(&tree.told);
    if (atomic_load(&pair.grows_at_once))
        grow_at_once(owner);
}

static void outbox(void *context, uint32_t member, bcri_ref at)
{
    CHECK(bcri_link_thread_outbox(((struct host *)context)->thread, member, at));
}

struct bcri_ctx *pair_join(struct host *host, int bell_fd)
{
    struct bcri_ctx *ctx = group_join(host->group);
    ctx->bell_fd = bell_fd;
    return ctx;
}

static void open_host(struct host *host, uint32_t number)
{
    host->group = group_open_host(number);
    const int bell_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    CHECK(bell_fd >= 0);
    host->agent = pair_join(host, bell_fd);
    host->agent->daemon.parks = true;
    host->cce = pair_join(host, bell_fd);
    group_enl(host->group)->bell_fd = bell_fd;
    struct bcri_link_thread_config config = {.ctx = host->agent,
                                             .pool_bytes = pair.pool_bytes,
                                             .packet_bytes = pair.most_bytes,
                                             .silence_ns = pair.silence_ns,
                                             .forged_max = pair.most_forged,
                                             .told = told,
                                             .owner = host};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    memcpy(&config.bind.at, sockets.has_two_ways ? (const void *)&any6 : &any,
           sockets.has_two_ways ? sizeof any6 : sizeof any);
    config.bind.bytes = sockets.has_two_ways ? sizeof any6 : sizeof any;
    CHECK_INT(bcri_link_thread_start(&config, &host->thread), 0);
    group_has_agent(host->group, host->agent->index, outbox, host);
}

static void set_loopback(struct bcri_link_address *address, const char *text)
{
    CHECK_INT(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)(void *)&address->at)->sin6_addr), 1);
}

void pair_begin(void)
{
    CHECK_INT(sem_init(&tree.told, 0, 0), 0);
    for (uint32_t i = 0; i < 2; i++)
        open_host(&hosts[i], i + 1);
    for (uint32_t i = 0; i < 2; i++) {
        struct bcri_link_introduction *introduction = &hosts[i].introduction;
        *introduction =
            (struct bcri_link_introduction){.host = 2 - i, .secret.cipher = BCRI_CIPHER_CHACHA20POLY1305};
        memset(introduction->secret.bytes, 0x42, sizeof introduction->secret.bytes);
        /* Of two addresses the first leads nowhere. */
        introduction->address_count = 2;
        struct sockaddr_in nowhere = {.sin_family = AF_INET, .sin_port = htons(9)};
        nowhere.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        memcpy(&introduction->address[0].at, &nowhere, sizeof nowhere);
        introduction->address[0].bytes = sizeof nowhere;
        introduction->address[1] = bcri_link_thread_address(hosts[1 - i].thread);
        if (sockets.has_two_ways) {
            introduction->address[0] = introduction->address[1];
            set_loopback(&introduction->address[0], "::ffff:127.0.0.1");
            set_loopback(&introduction->address[1], "::1");
        }
    }
    bcri_self_set(hosts[1].cce);
    pair.cell = bcr_cagrow(0, 0, 0, 0, 1, 1000, 1 << 16);
    bcri_self_set(hosts[0].cce);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) >= 1);
    CHECK_INT(bcri_cce_decode(hosts[0].cce, hosts[1].cce->record->id.identity, &pair.there), 0);
}

struct bcri_link_news pair_news(struct host *host)
{
    struct bcri_link_news news;
    while (!bcri_link_thread_take(host->thread, &news))
        sched_yield();
    return news;
}

void pair_introduce(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(bcri_link_thread_introduce(hosts[i].thread, &hosts[i].introduction));
}

void pair_leave(struct host *host)
{
    bcri_cce_dying(group_host(host->group), host->cce->index);
    const bool orders = host->cce->outbox != NULL;
    CHECK_INT(bcri_link_thread_forget(host->thread, host->cce->index), orders);
    CHECK(!bcri_link_thread_forget(host->thread, host->cce->index));
    struct bcri_link_news news = {.told = BCRI_TOLD_NOTE};
    while (orders && news.told != BCRI_TOLD_FORGOTTEN)
        news = pair_news(host);
    CHECK_UINT(news.number, orders ? host->cce->index : 0);
    group_leave(host->group, host->cce);
}

void pair_end(void)
{
    bcri_self_set(NULL);
    for (int i = 0; i < 2; i++)
        pair_leave(&hosts[i]);
    for (int i = 0; i < 2; i++) {
        const int bell_fd = hosts[i].agent->bell_fd;
        bcri_link_thread_stop(hosts[i].thread);
        group_leave(hosts[i].group, hosts[i].agent);
        group_close(hosts[i].group);
        close(bell_fd);
    }
}

/* ---- memory ---- */

void *__real_calloc(size_t count, size_t bytes); /* NOLINT(bugprone-reserved-identifier) */
void *__wrap_calloc(size_t count, size_t bytes); /* NOLINT(bugprone-reserved-identifier) */

static _Thread_local bool is_tests;

void pair_own_memory(void)
{
    is_tests = true;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (is_tests || atomic_load(&pair.callocs_to_fail) == 0)
        return __real_calloc(count, bytes);
    atomic_fetch_sub(&pair.callocs_to_fail, 1);
    return NULL;
}

/* ---- the tree of daemons ---- */

static void *carry(void *arg)
{
    uint8_t packet[BCRI_TUNNELLED_MAX];
    uint32_t host, bytes;
    while (atomic_load(&tree.carries)) {
        for (uint32_t i = 0; i < 2; i++)
            while ((bytes = bcri_link_thread_take_packet(hosts[i].thread, &host, packet)) != 0) {
                CHECK_UINT(host, 2 - i);
                atomic_fetch_add(&tree.packets, 1);
                bcri_link_thread_tunnelled(hosts[1 - i].thread, packet, bytes);
            }
        while (sem_wait(&tree.told) != 0)
            ;
    }
    return arg;
}

void pair_tree_begins(void)
{
    atomic_store(&tree.carries, true);
    CHECK_INT(pthread_create(&tree.thread, NULL, carry, NULL), 0);
}

void pair_tree_ends(void)
{
    atomic_store(&tree.carries, false);
    sem_post(&tree.told);
    CHECK_INT(pthread_join(tree.thread, NULL), 0);
}

unsigned pair_tree_packets(void)
{
    return atomic_load(&tree.packets);
}
