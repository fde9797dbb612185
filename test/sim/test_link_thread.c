/* SPDX-License-Identifier: MIT */
/* Two hosts in one process whose link threads talk over real sockets on this machine, sealed: an order
 * finds a thread that rests in epoll, and its answer wakes a CCE that sleeps. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/cces.h"
#include "bcri/clock.h"
#include "bcri/heap.h"
#include "bcri/link.h"
#include "bcri/link_thread.h"
#include "bcri/order.h"
#include "bcri/repair.h"
#include "bcri/self.h"
#include "check.h"
#include "group.h"
#include "regions.h"
#include "wire.h"

struct host {
    struct group *group;
    struct bcri_ctx *agent, *cce;
    struct bcri_link_thread *thread;
    _Atomic unsigned told;
    struct bcri_link_introduction introduction; /* of the other host */
};
#define SILENCE_NS 300000000

static struct host hosts[2];
static uint32_t most_bytes = 65000; /* of a packet */
static uint64_t pool_bytes = 1 << 20;
static uint64_t most_forged; /* packets; 0: as many as are usual */
static uint64_t silence_ns = SILENCE_NS;
static bool has_two_ways; /* the hosts reach each other by IPv4 and by IPv6 */
static int cell;
static bcr_cce_id there;

/* ---- a socket that may be full, or flooded ---- */

static _Atomic bool is_full;
static _Atomic bool is_cut;                 /* what is sent does not arrive */
static _Atomic int cut_family;              /* what is sent to addresses of this family does not */
static _Atomic bool is_flooded;             /* a packet of one byte has always come */
static _Atomic unsigned refused, elsewhere; /* sends that found it full; sends to no address */

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
ssize_t __real_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);
int __real_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes);
int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags);
ssize_t __real_recvmsg(int fd, struct msghdr *message, int flags);
int __real_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);
ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout);

static _Atomic unsigned sends;        /* to the socket with that port */
static _Atomic uint16_t counted_port; /* as it goes over the network; 0: none */

static bool finds_full(const struct sockaddr *to)
{
    if (to != NULL && to->sa_family != AF_INET)
        atomic_fetch_add(&elsewhere, 1);
    else if (to != NULL && atomic_load(&counted_port) != 0 &&
             ((const struct sockaddr_in *)(const void *)to)->sin_port == atomic_load(&counted_port))
        atomic_fetch_add(&sends, 1);
    if (!atomic_load(&is_full))
        return false;
    atomic_fetch_add(&refused, 1);
    errno = EAGAIN;
    return true;
}

static _Atomic size_t largest; /* of the packets that were sent */

static void note_packet(size_t bytes)
{
    if (bytes > atomic_load(&largest))
        atomic_store(&largest, bytes); /* both threads have the same limits */
}

/* Of each packet that the kernel is to make of a message. */
static size_t packet_bytes(struct msghdr *message)
{
    uint16_t bytes;
    const struct cmsghdr *header = CMSG_FIRSTHDR(message);
    if (header == NULL || header->cmsg_level != SOL_UDP || header->cmsg_type != UDP_SEGMENT)
        return message->msg_iov->iov_len;
    memcpy(&bytes, CMSG_DATA(header), sizeof bytes);
    return bytes;
}

static _Atomic int cut_port; /* what goes there by IPv4 is lost; 0: nothing */

static bool is_lost(const struct sockaddr *to)
{
    const struct sockaddr_in6 *at = (const struct sockaddr_in6 *)(const void *)to;
    const int family = atomic_load(&cut_family);
    const bool is_ipv4 = has_two_ways && to != NULL && IN6_IS_ADDR_V4MAPPED(&at->sin6_addr);
    return atomic_load(&is_cut) || (family != 0 && to != NULL && (family == AF_INET) == is_ipv4) ||
           (is_ipv4 && at->sin6_port == atomic_load(&cut_port));
}

ssize_t __wrap_sendto(int fd, const void *bytes, size_t length, int flags, const struct sockaddr *to,
                      socklen_t to_bytes)
{
    if (is_lost(to))
        return (ssize_t)length;
    note_packet(length);
    return finds_full(to) ? -1 : __real_sendto(fd, bytes, length, flags, to, to_bytes);
}

int __wrap_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    if (is_lost(messages->msg_hdr.msg_name))
        return 1;
    for (unsigned i = 1; i < count; i++)
        if (is_lost(messages[i].msg_hdr.msg_name))
            count = i;
    for (unsigned i = 0; i < count; i++)
        note_packet(packet_bytes(&messages[i].msg_hdr));
    return finds_full(messages->msg_hdr.msg_name) ? -1 : __real_sendmmsg(fd, messages, count, flags);
}

static _Atomic unsigned nothing; /* looks at a socket at which nothing had come */

static bool floods(struct msghdr *message)
{
    /* The group's sockets are connected: there the daemon does not ask whence a message came. */
    if (!atomic_load(&is_flooded) || message->msg_name == NULL)
        return false;
    message->msg_controllen = 0;
    *(char *)message->msg_iov->iov_base = 0;
    return true;
}

ssize_t __wrap_recvmsg(int fd, struct msghdr *message, int flags)
{
    const ssize_t bytes = floods(message) ? 1 : __real_recvmsg(fd, message, flags);
    if (bytes < 0 && message->msg_name != NULL)
        atomic_fetch_add(&nothing, 1);
    return bytes;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    messages->msg_len = 1;
    const int came = floods(&messages->msg_hdr) ? 1 : __real_recvmmsg(fd, messages, count, flags, timeout);
    if (came < 0)
        atomic_fetch_add(&nothing, 1);
    return came;
}

int __real_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was);
int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was);
static _Atomic unsigned timers_set;

int __wrap_timerfd_settime(int fd, int flags, const struct itimerspec *timer, struct itimerspec *was)
{
    atomic_fetch_add(&timers_set, 1);
    return __real_timerfd_settime(fd, flags, timer, was);
}
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- two hosts ---- */

/* Pieces of the pool come before the link thread has done anything else, and are counted. */
static _Atomic bool grows_at_once;
static _Atomic unsigned pieces;

static void grow_at_once(struct host *host)
{
    struct bcri_link_news news;
    while (bcri_link_thread_take(host->thread, &news))
        if (news.told == BCRI_TOLD_POOL) {
            CHECK_INT(bcri_heap_piece_reserve(group_enl(host->group), &news.piece), 0);
            atomic_fetch_add(&pieces, 1);
            bcri_link_thread_grown(host->thread, &news.piece, true);
        }
}

static void told(void *owner)
{
    atomic_fetch_add(&((struct host *)owner)->told, 1);
    if (atomic_load(&grows_at_once))
        grow_at_once(owner);
}

static void outbox(void *context, uint32_t member, bcri_ref at)
{
    CHECK(bcri_link_thread_outbox(((struct host *)context)->thread, member, at));
}

static struct bcri_ctx *join(struct host *host, int bell_fd)
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
    host->agent = join(host, bell_fd);
    host->agent->daemon.parks = true;
    host->cce = join(host, bell_fd);
    group_enl(host->group)->bell_fd = bell_fd;
    struct bcri_link_thread_config config = {.ctx = host->agent,
                                             .pool_bytes = pool_bytes,
                                             .packet_bytes = most_bytes,
                                             .silence_ns = silence_ns,
                                             .forged_max = most_forged,
                                             .told = told,
                                             .owner = host};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    memcpy(&config.bind.at, has_two_ways ? (const void *)&any6 : &any,
           has_two_ways ? sizeof any6 : sizeof any);
    config.bind.bytes = has_two_ways ? sizeof any6 : sizeof any;
    CHECK_INT(bcri_link_thread_start(&config, &host->thread), 0);
    group_has_agent(host->group, host->agent->index, outbox, host);
}

static void set_loopback(struct bcri_link_address *address, const char *text)
{
    CHECK_INT(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)(void *)&address->at)->sin6_addr), 1);
}

static void begin(void)
{
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
        if (has_two_ways) {
            introduction->address[0] = introduction->address[1];
            set_loopback(&introduction->address[0], "::ffff:127.0.0.1");
            set_loopback(&introduction->address[1], "::1");
        }
    }
    bcri_self_set(hosts[1].cce);
    cell = bcr_cagrow(0, 0, 0, 0, 1, 1000, 1 << 16);
    bcri_self_set(hosts[0].cce);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 1 << 16) >= 1);
    CHECK_INT(bcri_cce_decode(hosts[0].cce, hosts[1].cce->record->id.identity, &there), 0);
}

/* ---- memory ---- */

void *__real_calloc(size_t count, size_t bytes); /* NOLINT(bugprone-reserved-identifier) */
void *__wrap_calloc(size_t count, size_t bytes); /* NOLINT(bugprone-reserved-identifier) */

static _Atomic int callocs_to_fail; /* of other threads than the test's */
static _Thread_local bool is_tests;

void *__wrap_calloc(size_t count, size_t bytes)
{
    if (is_tests || atomic_load(&callocs_to_fail) == 0)
        return __real_calloc(count, bytes);
    atomic_fetch_sub(&callocs_to_fail, 1);
    return NULL;
}

static struct bcri_link_news news_of(struct host *host)
{
    struct bcri_link_news news;
    while (!bcri_link_thread_take(host->thread, &news))
        sched_yield();
    return news;
}

static void introduce(void)
{
    for (int i = 0; i < 2; i++)
        CHECK(bcri_link_thread_introduce(hosts[i].thread, &hosts[i].introduction));
}

static void leave(struct host *host)
{
    bcri_cce_dying(group_host(host->group), host->cce->index);
    const bool orders = host->cce->outbox != NULL;
    CHECK_INT(bcri_link_thread_forget(host->thread, host->cce->index), orders);
    CHECK(!bcri_link_thread_forget(host->thread, host->cce->index));
    struct bcri_link_news news = {.told = BCRI_TOLD_NOTE};
    while (orders && news.told != BCRI_TOLD_FORGOTTEN)
        news = news_of(host);
    CHECK_UINT(news.number, orders ? host->cce->index : 0);
    group_leave(host->group, host->cce);
}

static void end(void)
{
    bcri_self_set(NULL);
    for (int i = 0; i < 2; i++)
        leave(&hosts[i]);
    for (int i = 0; i < 2; i++) {
        const int bell_fd = hosts[i].agent->bell_fd;
        bcri_link_thread_stop(hosts[i].thread);
        group_leave(hosts[i].group, hosts[i].agent);
        group_close(hosts[i].group);
        close(bell_fd);
    }
}

TEST(an_order_wants_a_link_and_goes_when_it_is_there)
{
    begin();
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    const struct bcri_link_news news = news_of(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_WANTS_LINK);
    CHECK_UINT(news.number, 2);
    CHECK_INT(bcr_putdone(0), 0);
    introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 7);
    end();
}

TEST(an_outbox_for_which_there_was_no_memory_is_read_later)
{
    begin();
    is_tests = true;
    atomic_store(&callocs_to_fail, 3);
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    while (atomic_load(&callocs_to_fail) != 0)
        sched_yield();
    introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    end();
}

TEST(an_outbox_for_which_there_was_no_memory_is_read_before_its_cce_is_forgotten)
{
    begin();
    is_tests = true;
    atomic_store(&callocs_to_fail, 50); /* about as many milliseconds */
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    bcri_self_set(NULL);
    leave(&hosts[0]);
    CHECK_INT(atomic_load(&callocs_to_fail), 0);
    introduce();
    bcri_self_set(hosts[1].cce);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, cell, bcr_BLOCK)), 7);
    hosts[0].cce = join(&hosts[0], hosts[0].agent->bell_fd);
    end();
}

TEST(a_link_for_which_there_was_no_memory_is_made_later)
{
    begin();
    is_tests = true;
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    CHECK_INT(news_of(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&callocs_to_fail, 5);
    introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(atomic_load(&callocs_to_fail), 0);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 7);
    end();
}

TEST(a_host_that_is_lost_before_there_is_memory_for_its_link_gets_none)
{
    begin();
    is_tests = true;
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(news_of(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&callocs_to_fail, 50); /* about as many milliseconds */
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &hosts[0].introduction));
    bcri_link_thread_lost(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    while (atomic_load(&callocs_to_fail) > 49)
        sched_yield();
    atomic_store(&callocs_to_fail, 0);
    FAILS(bcr_celllen(there, cell), bcrE_DEAD);
    end();
}

TEST(a_host_that_never_was_is_no_cces_host_until_it_is_introduced)
{
    begin();
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(news_of(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    bcri_link_thread_unknown(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_NOCCE);
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    const struct bcri_link_news news = news_of(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_WANTS_LINK);
    CHECK_UINT(news.number, 2);
    introduce();
    bcri_link_thread_unknown(hosts[0].thread, 2); /* late */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 7);
    end();
}

/* In the name of host 2. */
static void send_forged(unsigned count)
{
    const struct bcri_link_address to = bcri_link_thread_address(hosts[0].thread);
    uint8_t packet[100] = {BCRI_WIRE_VERSION};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    packet[7] = 2;
    packet[14] = 0x70; /* a number that is not expected yet */
    for (unsigned i = 0; i < count; i++)
        CHECK_INT(__real_sendto(fd, packet, sizeof packet, 0, (const struct sockaddr *)&to.at, to.bytes),
                  sizeof packet);
    close(fd);
}

/* The second half comes before the hosts are introduced anew: meanwhile nothing opens. */
TEST(a_link_that_forged_packets_wear_out_gets_new_keys)
{
    most_forged = 40;
    silence_ns = 0;
    begin();
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    for (int round = 1; round <= 3; round++) {
        send_forged(20);
        const struct bcri_link_news wants = news_of(&hosts[0]);
        CHECK_INT(wants.told, BCRI_TOLD_WANTS_LINK);
        CHECK_UINT(wants.number, 2);
        const struct bcri_link_news note = news_of(&hosts[0]);
        CHECK_INT(note.told, BCRI_TOLD_NOTE);
        CHECK(strstr(note.text, "forged packets in the name of host 2: the two change their keys") != NULL);
        send_forged(40);
        bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
        CHECK_INT(bcr_put(1, number(round), there, cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(waits, 20, 0), 0);
        for (int i = 0; i < 2; i++)
            memset(hosts[i].introduction.secret.bytes, 0x42 + round,
                   sizeof hosts[i].introduction.secret.bytes);
        introduce();
        CHECK_INT(bcr_rgwait(waits, bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(waits), round);
    }
    end();
}

TEST(orders_and_answers_pass_while_threads_sleep)
{
    begin();
    introduce();
    for (int i = 0; i < 200; i++) {
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), i);
    }
    for (int i = 0; i < 2000; i++)
        CHECK_INT(bcr_put(1, filled(100, i & 0xff), there, cell, bcr_FREE) | bcr_zap(there, cell), 0);
    end();
}

/* The region has no room, and when it has, the pool is more than half full: so the agent asks for the second
 * piece while it uses the first one. */
TEST(a_piece_of_the_pool_may_come_while_the_one_before_is_put_to_use)
{
    enum { BYTES = 3 << 20 };
    pool_bytes = 64 << 20;
    begin();
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    bcri_self_set(hosts[1].cce);
    CHECK(bcr_cagrow(0, 0, 0, 0, 0, 0, 2 * BYTES) >= 1);
    CHECK_INT(bcr_put(1, filled(BYTES, 7), bcr_cce, cell, bcr_FREE), 0);
    bcri_self_set(hosts[0].cce);
    atomic_store(&grows_at_once, true);
    bcr_region got = bcr_get(1, there, cell, bcr_BLOCK);
    CHECK(got != NULL);
    CHECK_INT(((char *)*got)[BYTES - 1], 7);
    CHECK(atomic_load(&pieces) >= 2);
    atomic_store(&grows_at_once, false);
    CHECK_INT(bcr_rgfree(got), 0);
    end();
}

TEST(a_timer_is_not_set_anew_for_each_rest)
{
    enum { ORDERS = 2000 };
    begin();
    introduce();
    const unsigned before = atomic_load(&timers_set);
    const uint64_t start = bcri_clock_ns();
    for (int i = 0; i < ORDERS; i++)
        CHECK_INT(bcr_celllen(there, cell), 0);
    const uint64_t msec = (bcri_clock_ns() - start) / BCRI_NS_PER_MS;
    const unsigned set = atomic_load(&timers_set) - before;
    CHECK(set > 0 && set <= 2 * 4 * (msec + 2)); /* by two threads, again after it went off */
    end();
}

/* The slice that the kernel keeps for a thread; 0: it keeps none (before Linux 6.12). */
static uint64_t slice_of(int thread)
{
    struct {
        uint32_t size, policy;
        uint64_t flags, nice_and_priority, slice_ns, deadline_ns, period_ns;
    } scheduling = {.size = sizeof scheduling};
    return syscall(SYS_sched_getattr, thread, &scheduling, sizeof scheduling, 0) == 0 ? scheduling.slice_ns
                                                                                      : 0;
}

TEST(link_threads_take_the_processor_from_what_computes)
{
    const uint64_t usual = slice_of(0);
    int shorter = 0;
    if (usual == 0)
        return;
    begin();
    introduce(); /* now both run */
    CHECK_INT(bcr_celllen(there, cell), 0);
    DIR *threads = opendir("/proc/self/task");
    CHECK(threads != NULL);
    for (struct dirent *at; (at = readdir(threads)) != NULL;)
        shorter += at->d_name[0] != '.' && slice_of((int)strtol(at->d_name, NULL, 10)) < usual;
    closedir(threads);
    CHECK_INT(shorter, 2);
    CHECK(slice_of(0) == usual);
    end();
}

TEST(packets_have_at_most_what_their_hosts_allow)
{
    static const uint32_t limits[] = {4000, 65000};
    for (int i = 0; i < 2; i++) {
        most_bytes = limits[i];
        atomic_store(&largest, 0);
        begin();
        introduce();
        for (int k = 0; k < 20; k++)
            CHECK_INT(bcr_put(1, filled(50000, k), there, cell, bcr_FREE) | bcr_zap(there, cell), 0);
        end();
        CHECK(atomic_load(&largest) <= limits[i]);
        CHECK(atomic_load(&largest) > (i == 0 ? BCRI_LINK_PACKET_MIN : limits[0]));
    }
}

TEST(notes_come_at_a_bounded_rate_whatever_gives_cause_for_them)
{
    struct bcri_link_news news;
    unsigned notes = 0, say_more = 0;
    begin();
    introduce();
    const uint64_t start = bcri_clock_ns();
    for (int i = 0; i < 2000; i++)
        CHECK_INT(bcr_put(1, number(i), there, cell + 1, bcr_FREE), 0); /* there is no such cell */
    (void)bcr_putdone(bcr_BLOCK);
    const uint64_t seconds = 2 + (bcri_clock_ns() - start) / BCRI_NS_PER_S;
    while (bcri_link_thread_take(hosts[0].thread, &news)) {
        notes += news.told == BCRI_TOLD_NOTE;
        say_more += news.told == BCRI_TOLD_NOTE && strstr(news.text, "more such notes") != NULL;
    }
    CHECK(notes >= 64 && notes <= seconds * 64);
    CHECK(say_more >= 1 && say_more <= seconds);
    end();
}

TEST(a_thread_looks_out_for_answers_while_all_sleep_and_rests_when_none_is_due)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    begin();
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    const unsigned before = atomic_load(&nothing);
    for (int i = 0; i < 100; i++)
        CHECK_INT(bcr_celllen(there, cell), 0);
    CHECK(atomic_load(&nothing) > before + 50);
    unsigned idle;
    do {
        idle = atomic_load(&nothing);
        usleep(100000);
    } while (atomic_load(&nothing) > idle + 10); /* keepalives */
    end();
}

TEST(a_host_from_which_nothing_comes_is_told_once)
{
    begin();
    hosts[0].introduction.address_count = 1; /* which leads nowhere */
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &hosts[0].introduction));
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    const struct bcri_link_news news = news_of(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_SILENT);
    CHECK_UINT(news.number, 2);
    CHECK_STR(news.text, "127.0.0.1, UDP port 9");
    CHECK_INT(bcr_rgwait(waits, 3 * SILENCE_NS / 1000000, 0), 0);
    struct bcri_link_news more;
    CHECK(!bcri_link_thread_take(hosts[0].thread, &more));
    bcri_link_thread_lost(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    end();
}

/* ---- the tree ---- */

static _Atomic bool carries;
static _Atomic unsigned carried;

/* Two daemons: what one link thread gives out for the tree the other gets. */
static void *carry(void *arg)
{
    uint8_t packet[BCRI_CARRIED_MAX];
    uint32_t host, bytes;
    while (atomic_load(&carries)) {
        for (uint32_t i = 0; i < 2; i++)
            while ((bytes = bcri_link_thread_take_packet(hosts[i].thread, &host, packet)) != 0) {
                CHECK_UINT(host, 2 - i);
                atomic_fetch_add(&carried, 1);
                bcri_link_thread_carried(hosts[1 - i].thread, packet, bytes);
            }
        usleep(100);
    }
    return arg;
}

static void expect_told_once(void)
{
    unsigned told_of[2] = {0, 0};
    struct bcri_link_news news;
    for (int i = 0; i < 2; i++)
        while (bcri_link_thread_take(hosts[i].thread, &news))
            told_of[i] += news.told == BCRI_TOLD_SILENT;
    CHECK(told_of[0] <= 1 && told_of[1] <= 1 && told_of[0] + told_of[1] >= 1);
}

TEST(hosts_between_which_no_packet_passes_go_on_over_the_tree_and_come_back)
{
    pthread_t tree;
    begin();
    atomic_store(&is_cut, true);
    atomic_store(&carries, true);
    CHECK_INT(pthread_create(&tree, NULL, carry, NULL), 0);
    introduce();
    for (int i = 0; i < 100; i++) {
        CHECK_INT(bcr_put(1, number(i), there, cell, bcr_FREE), 0);
        CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), i);
    }
    CHECK(atomic_load(&carried) > 100);
    expect_told_once();
    atomic_store(&is_cut, false);
    unsigned before;
    do {
        before = atomic_load(&carried);
        for (int i = 0; i < 10; i++)
            CHECK_INT(bcr_celllen(there, cell), 0);
        usleep(10000);
    } while (atomic_load(&carried) != before);
    atomic_store(&carries, false);
    pthread_join(tree, NULL);
    end();
}

static bool has_ipv6(void)
{
    const int probe = socket(AF_INET6, SOCK_DGRAM, 0);
    const struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    const bool has = probe >= 0 && bind(probe, (const struct sockaddr *)&loopback, sizeof loopback) == 0;
    if (probe >= 0)
        close(probe);
    return has;
}

/* After a while on the tree. */
TEST_TIMEOUT(a_way_that_goes_away_is_left_for_another_address, 60)
{
    pthread_t tree;
    if (!has_ipv6())
        SKIP("this machine has no IPv6");
    has_two_ways = true;
    begin();
    atomic_store(&carries, true);
    CHECK_INT(pthread_create(&tree, NULL, carry, NULL), 0);
    atomic_store(&cut_family, AF_INET6);
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    atomic_store(&cut_family, AF_INET); /* that was the way */
    const unsigned first = atomic_load(&carried);
    unsigned before;
    do {
        before = atomic_load(&carried);
        for (int call = 0; call < 10; call++)
            CHECK_INT(bcr_celllen(there, cell), 0);
        usleep(10000);
    } while (before == first || atomic_load(&carried) != before);
    atomic_store(&cut_family, 0);
    atomic_store(&carries, false);
    pthread_join(tree, NULL);
    end();
    has_two_ways = false;
}

/* The host that is not heard by IPv4 hears the other one by it, while both are on the tree. */
TEST_TIMEOUT(a_way_that_works_in_one_direction_is_left_for_another_address, 120)
{
    enum { CALLS = 200 };
    pthread_t tree;
    if (!has_ipv6())
        SKIP("this machine has no IPv6");
    has_two_ways = true;
    begin();
    atomic_store(&carries, true);
    CHECK_INT(pthread_create(&tree, NULL, carry, NULL), 0);
    atomic_store(&cut_family, AF_INET6);
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    const struct bcri_link_address here = bcri_link_thread_address(hosts[1].thread);
    atomic_store(&cut_port, ((const struct sockaddr_in6 *)(const void *)&here.at)->sin6_port);
    atomic_store(&cut_family, 0);
    /* A link on a way that is no good is back on the tree after at most a second. */
    const unsigned first = atomic_load(&carried);
    unsigned before;
    do {
        before = atomic_load(&carried);
        for (int call = 0; call < CALLS; call++) {
            CHECK_INT(bcr_celllen(there, cell), 0);
            usleep(10000);
        }
    } while (before == first || atomic_load(&carried) != before);
    atomic_store(&cut_port, 0);
    atomic_store(&carries, false);
    pthread_join(tree, NULL);
    end();
    has_two_ways = false;
}

TEST(a_link_that_falls_silent_in_the_midst_of_regions_loses_none)
{
    enum { REGIONS = 80, BYTES = 6000 };
    pthread_t tree;
    begin();
    atomic_store(&carries, true);
    CHECK_INT(pthread_create(&tree, NULL, carry, NULL), 0);
    introduce();
    for (int i = 0; i < REGIONS; i++) {
        atomic_store(&is_cut, i >= REGIONS / 4);
        CHECK_INT(bcr_put(1, filled(BYTES, i), there, cell, bcr_FREE), 0);
        if (i % 8 == 7)
            CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    }
    for (int i = 0; i < REGIONS; i++) {
        bcr_region region = bcr_get(1, there, cell, bcr_BLOCK);
        CHECK(region != NULL);
        const unsigned char *at = *region;
        for (int byte = 0; byte < BYTES; byte++)
            if (at[byte] != i)
                CHECK_INT(at[byte], i);
        CHECK_INT(bcr_rgfree(region), 0);
    }
    CHECK(atomic_load(&carried) > 100);
    expect_told_once();
    atomic_store(&carries, false);
    pthread_join(tree, NULL);
    atomic_store(&is_cut, false);
    end();
}

TEST(a_host_whose_lease_is_over_neither_serves_nor_sends)
{
    begin();
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    const struct bcri_link_address own = bcri_link_thread_address(hosts[0].thread);
    bcri_link_thread_lease(hosts[1].thread, 1);
    usleep(50000); /* what was under way is done */
    atomic_store(&counted_port, ((const struct sockaddr_in *)(const void *)&own.at)->sin_port);
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    CHECK_INT(bcr_putdone(200), 0);
    CHECK_UINT(atomic_load(&sends), 0);
    bcri_self_set(hosts[1].cce);
    CHECK_INT(bcr_celllen(bcr_cce, cell), 0);
    bcri_self_set(hosts[0].cce);
    bcri_link_thread_lease(hosts[1].thread, UINT64_MAX); /* the loop has read an answer */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK(atomic_load(&sends) > 0);
    atomic_store(&counted_port, 0);
    end();
}

TEST(a_host_that_is_lost_fails_what_waits)
{
    begin();
    introduce();
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(bcr_celllen(there, cell), 0);
    bcri_link_thread_lost(hosts[0].thread, 2);
    bcri_link_thread_lost(hosts[1].thread, 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    FAILS(bcr_celllen(there, cell), bcrE_DEAD);
    end();
}

TEST(a_host_that_is_lost_while_the_socket_is_full_is_sent_nothing_astray)
{
    mallopt(M_PERTURB, 0x5a); /* what is freed has no address any more */
    begin();
    introduce();
    CHECK_INT(bcr_celllen(there, cell), 0);
    atomic_store(&is_full, true);
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    while (atomic_load(&refused) < 2)
        sched_yield();
    bcri_link_thread_lost(hosts[0].thread, 2);
    bcri_link_thread_lost(hosts[1].thread, 1);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    const unsigned before = atomic_load(&refused);
    while (atomic_load(&refused) == before && atomic_load(&elsewhere) == 0)
        (void)bcr_celllen(there, cell); /* wakes the thread */
    atomic_store(&is_full, false);
    end();
    CHECK_UINT(atomic_load(&elsewhere), 0);
}

TEST(a_flood_of_packets_stops_no_order)
{
    begin();
    atomic_store(&is_flooded, true);
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    CHECK_INT(news_of(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&is_flooded, false);
    introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    end();
}

/* ---- the tree's lane ---- */

/* Host 2 listens only. */
static void introduce_lane(void)
{
    for (int i = 0; i < 2; i++) {
        struct bcri_link_introduction introduction = hosts[i].introduction;
        introduction.lane = BCRI_LANE_TREE;
        introduction.listens = i == 1;
        memset(introduction.secret.bytes, 0x77, sizeof introduction.secret.bytes);
        CHECK(bcri_link_thread_introduce(hosts[i].thread, &introduction));
    }
}

static void say(int from, unsigned row, unsigned number, uint32_t bytes)
{
    uint8_t content[BCRI_LANE_BYTES_MAX] = {(uint8_t)row, (uint8_t)(number >> 8), (uint8_t)number};
    CHECK(bcri_link_thread_lane_send(hosts[from].thread, (uint32_t)(2 - from), row, content, bytes));
}

static unsigned heard_next[2];

/* Of either row, the next. */
static void hear(int at, uint32_t bytes)
{
    uint8_t content[BCRI_LANE_BYTES_MAX];
    uint32_t host, came;
    while ((came = bcri_link_thread_lane_take(hosts[at].thread, &host, content)) == 0)
        sched_yield();
    CHECK_UINT(came, bytes);
    CHECK_UINT(host, 2 - at);
    CHECK(content[0] < 2);
    CHECK_UINT((unsigned)content[1] << 8 | content[2], heard_next[content[0]]);
    heard_next[content[0]]++;
}

TEST(what_daemons_say_in_the_trees_lane_comes_once_and_in_the_order_of_its_row)
{
    begin();
    introduce_lane();
    for (unsigned i = 0; i < 300; i++) {
        say(0, 0, i, 3 + i);
        say(0, 1, i, 3 + i);
    }
    for (int i = 0; i < 2; i++)
        heard_next[i] = 0;
    for (unsigned i = 0; i < 600; i++) {
        uint8_t content[BCRI_LANE_BYTES_MAX];
        uint32_t host, came;
        while ((came = bcri_link_thread_lane_take(hosts[1].thread, &host, content)) == 0)
            sched_yield();
        CHECK_UINT(host, 1);
        CHECK_UINT((unsigned)content[1] << 8 | content[2], heard_next[content[0]]);
        CHECK_UINT(came, 3 + heard_next[content[0]]);
        heard_next[content[0]]++;
    }
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    heard_next[0] = 0;
    say(1, 0, 0, BCRI_LANE_BYTES_MAX);
    hear(0, BCRI_LANE_BYTES_MAX);
    end();
}

TEST(the_trees_lane_is_a_link_of_its_own_beside_that_of_orders)
{
    begin();
    introduce();
    introduce_lane();
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    say(0, 0, 0, 100);
    hear(1, 100);
    CHECK_INT(value_of(bcr_get(1, there, cell, bcr_BLOCK)), 7);
    introduce_lane(); /* changes nothing: a packet number would be used again */
    say(0, 0, 1, 100);
    hear(1, 100);
    end();
}

TEST(a_host_that_listens_in_the_trees_lane_sends_nothing_before_it_has_heard_something)
{
    begin();
    const struct bcri_link_address to = bcri_link_thread_address(hosts[0].thread);
    atomic_store(&counted_port, ((const struct sockaddr_in *)(const void *)&to.at)->sin_port);
    struct bcri_link_introduction introduction = hosts[1].introduction;
    introduction.lane = BCRI_LANE_TREE;
    introduction.listens = true;
    introduction.address[0] = introduction.address[1];
    introduction.address_count = 1;
    CHECK(bcri_link_thread_introduce(hosts[1].thread, &introduction));
    say(1, 0, 0, 100);
    CHECK(bcri_link_thread_quiet(hosts[1].thread, 1)); /* it has executed both when it answers */
    CHECK_INT(news_of(&hosts[1]).told, BCRI_TOLD_QUIET);
    CHECK_UINT(atomic_load(&sends), 0);
    introduction = hosts[0].introduction;
    introduction.lane = BCRI_LANE_TREE;
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &introduction));
    hear(0, 100);
    CHECK(atomic_load(&sends) > 0);
    end();
}

TEST(what_the_loop_does_not_take_holds_up_the_trees_lane_and_is_not_lost)
{
    enum { FRAMES = 200 };
    begin();
    introduce_lane();
    for (unsigned i = 0; i < FRAMES; i++)
        say(0, 0, i, BCRI_LANE_BYTES_MAX);
    hear(1, BCRI_LANE_BYTES_MAX);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) > (FRAMES - 30) * BCRI_LANE_BYTES_MAX)
        sched_yield();
    CHECK(bcri_link_thread_lane_bytes(hosts[0].thread) >= (FRAMES - 50) * BCRI_LANE_BYTES_MAX);
    for (unsigned i = 1; i < FRAMES; i++)
        hear(1, BCRI_LANE_BYTES_MAX);
    end();
}

/* It may have asked for that itself, again and again. */
TEST(what_waits_in_the_trees_lane_for_a_host_that_takes_nothing_is_bounded)
{
    const uint8_t content[BCRI_LANE_BYTES_MAX] = {0};
    uint32_t sent = 0;
    begin();
    introduce_lane(); /* host 2 listens, and hears nothing */
    atomic_store(&is_cut, true);
    while (sent <= BCRI_LANE_WAITS_MAX &&
           bcri_link_thread_lane_send(hosts[1].thread, 1, 0, content, sizeof content))
        sent += sizeof content;
    CHECK_UINT(sent, BCRI_LANE_WAITS_MAX);
    CHECK_UINT(bcri_link_thread_lane_waits(hosts[1].thread, 1), sent);
    CHECK(bcri_link_thread_lane_send(hosts[1].thread, 7, 0, content,
                                     sizeof content)); /* others are not meant */
    bcri_link_thread_lost(hosts[1].thread, 1);
    while (bcri_link_thread_lane_bytes(hosts[1].thread) != 0)
        sched_yield();
    CHECK_UINT(bcri_link_thread_lane_waits(hosts[1].thread, 1), 0);
    end();
}

TEST(the_trees_lane_goes_on_while_the_lease_is_over_and_orders_do_not)
{
    begin();
    introduce();
    introduce_lane();
    CHECK_INT(bcr_celllen(there, cell), 0);
    say(0, 0, 0, 100);
    hear(1, 100);
    for (int i = 0; i < 2; i++)
        bcri_link_thread_lease(hosts[i].thread, 1);
    bcr_region waits = bcr_get(1, there, cell, bcr_PENDING);
    CHECK_INT(bcr_put(1, number(7), there, cell, bcr_FREE), 0);
    for (unsigned i = 0; i < 50; i++) {
        say(1, 1, i, 1000);
        heard_next[1] = i;
        hear(0, 1000);
    }
    CHECK_INT(bcr_rgwait(waits, 20, 0), 0);
    for (int i = 0; i < 2; i++)
        bcri_link_thread_lease(hosts[i].thread, BCRI_DEADLINE_NEVER);
    CHECK_INT(bcr_rgwait(waits, bcr_BLOCK, 0), 1);
    CHECK_INT(value_of(waits), 7);
    end();
}

TEST(what_is_said_in_the_trees_lane_to_a_host_that_is_lost_is_dropped)
{
    begin();
    introduce_lane();
    atomic_store(&is_cut, true);
    for (unsigned i = 0; i < 10; i++)
        say(0, 0, i, 1000);
    bcri_link_thread_lost(hosts[0].thread, 2);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    say(0, 0, 10, 1000);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    introduce_lane();
    say(0, 0, 11, 1000);
    while (bcri_link_thread_lane_bytes(hosts[0].thread) != 0)
        sched_yield();
    end();
}

TEST(what_is_said_last_in_the_trees_lane_arrives_before_the_thread_ends)
{
    begin();
    introduce_lane();
    heard_next[0] = 0;
    for (unsigned i = 0; i < 30; i++)
        say(0, 0, i, BCRI_LANE_BYTES_MAX);
    bcri_self_set(NULL);
    leave(&hosts[0]);
    CHECK(bcri_link_thread_stop(hosts[0].thread));
    for (unsigned i = 0; i < 30; i++)
        hear(1, BCRI_LANE_BYTES_MAX);
}

TEST(a_link_in_the_trees_lane_for_which_there_was_no_memory_is_made_before_what_is_said_there)
{
    begin();
    is_tests = true;
    atomic_store(&callocs_to_fail, 5);
    introduce_lane();
    for (unsigned i = 0; i < 5; i++)
        say(0, 0, i, 1000);
    for (unsigned i = 0; i < 5; i++)
        hear(1, 1000);
    CHECK_INT(atomic_load(&callocs_to_fail), 0);
    end();
}
