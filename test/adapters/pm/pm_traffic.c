/* SPDX-License-Identifier: MIT */
/* Messages in numbers. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "pm_members.h"

enum { NODES = 64 };

/* ---- random traffic beside a model: what each node sends, and to whom, follows from the seed, so all know what is to come ---- */

/* splitmix64 */
static uint64_t random_of(uint64_t *state)
{
    uint64_t value = (*state += UINT64_C(0x9e3779b97f4a7c15));
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* The i-th thing that a node sends: to whom, and how long. to -1: to all. */
struct message {
    int to;
    size_t length;
};

static struct message next_message(uint64_t *state, int node)
{
    struct message message = {.to = (int)(random_of(state) % (uint64_t)score_num_node)};
    const uint64_t kind = random_of(state) % 8;
    message.length = kind == 0  ? PM_MTU
                     : kind < 3 ? 8 + random_of(state) % PM_MTU
                                : 8 + random_of(state) % 200;
    if (message.length > PM_MTU)
        message.length = PM_MTU;
    if (message.to == node)
        message.to = -1;
    return message;
}

/* How far each node's messages have come. */
static struct source {
    uint64_t state;
    uint32_t done; /* of all that it sends */
} sources[NODES];
static uint32_t left;

static void check_message(const unsigned char *bytes, size_t length)
{
    uint32_t head[2];
    MUST(length >= sizeof head);
    memcpy(head, bytes, sizeof head);
    const uint32_t from = ntohl(head[0]), which = ntohl(head[1]);
    MUST(from < (uint32_t)score_num_node && (int)from != score_self_node && which < number);
    struct message message;
    do {
        message = next_message(&sources[from].state, (int)from);
        sources[from].done++;
    } while (message.to >= 0 && message.to != score_self_node);
    MUST(sources[from].done - 1 == which && message.length == length);
    for (size_t i = sizeof head; i < length; i++)
        MUST(bytes[i] == (unsigned char)(which + from));
    left--;
}

static bool receive_some(void)
{
    caddr_t bytes;
    size_t length;
    const int code = pmReceive(net, &bytes, &length);
    MUST(code == PM_SUCCESS || code == ENOBUFS);
    if (code != PM_SUCCESS)
        return false;
    check_message((unsigned char *)bytes, length);
    OK(pmReleaseReceiveBuffer(net));
    return true;
}

void traffic(void)
{
    int all[NODES], others = 0;
    MUST(score_num_node <= NODES);
    for (int node = 0; node < score_num_node; node++) {
        sources[node].state = number * 1000 + (uint64_t)node;
        uint64_t state = sources[node].state;
        if (node == score_self_node)
            continue;
        all[others++] = node;
        for (unsigned i = 0; i < number; i++) {
            const struct message message = next_message(&state, node);
            left += message.to < 0 || message.to == score_self_node;
        }
    }
    uint64_t state = sources[score_self_node].state;
    for (uint32_t i = 0; i < number; i++) {
        const struct message message = next_message(&state, score_self_node);
        caddr_t bytes;
        int code;
        do {
            code = message.to < 0 ? pmGetMulticastBuffer(net, all, others, &bytes, message.length)
                                  : pmGetSendBuffer(net, message.to, &bytes, message.length);
            MUST(code == PM_SUCCESS || code == ENOBUFS);
        } while (code != PM_SUCCESS && (receive_some(), true));
        const uint32_t head[2] = {htonl((uint32_t)score_self_node), htonl(i)};
        memset(bytes, (int)(i + (uint32_t)score_self_node), message.length);
        memcpy(bytes, head, sizeof head);
        OK(pmSend(net));
        if (i % 3 == 0)
            receive_some();
    }
    while (left > 0)
        receive_some();
    AWAIT(pmIsSendDone(net));
    caddr_t bytes;
    size_t length;
    meet();
    CODE(pmReceive(net, &bytes, &length), ENOBUFS);
}

/* ---- members that never receive ---- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void fill(void)
{
    const int to = (score_self_node + 1) % score_num_node;
    const int from = (score_self_node + score_num_node - 1) % score_num_node;
    caddr_t bytes;
    size_t length;
    uint32_t sent = 0, told, came = 0;
    int code;
    meet();
    /* Until there is no room: on one host at once, elsewhere when for a while none was made. */
    double last = now_s();
    do {
        code = pmGetSendBuffer(net, to, &bytes, sizeof sent);
        MUST(code == PM_SUCCESS || code == ENOBUFS);
        if (code != PM_SUCCESS)
            continue;
        told = htonl(sent);
        memcpy(bytes, &told, sizeof told);
        OK(pmSend(net));
        last = now_s();
        sent++;
        MUST(sent < 1000000);
    } while (code == PM_SUCCESS || (!is_near(to) && now_s() - last < 0.4));
    MUST(!is_near(to) || sent == PM_SLOTS);
    meet();
    pmMessageQueueStatus status;
    OK(pmGetMessageQueueStatus(net, &status));
    MUST(status.receive >= PM_SLOTS && (!is_near(from) || status.receive == PM_SLOTS));
    /* All of it is there, and then there is room again. The last message tells how many there were. */
    const uint32_t end = UINT32_MAX;
    bool has_sent = false;
    for (;;) {
        if (!has_sent && pmGetSendBuffer(net, to, &bytes, sizeof end) == PM_SUCCESS) {
            memcpy(bytes, &end, sizeof end);
            OK(pmSend(net));
            has_sent = true;
        }
        code = pmReceive(net, &bytes, &length);
        MUST(code == PM_SUCCESS || code == ENOBUFS);
        if (code != PM_SUCCESS)
            continue;
        memcpy(&told, bytes, sizeof told);
        told = ntohl(told);
        OK(pmReleaseReceiveBuffer(net));
        if (told == end)
            break;
        MUST(told == came);
        came++;
    }
    while (!has_sent && pmGetSendBuffer(net, to, &bytes, sizeof end) != PM_SUCCESS)
        continue;
    if (!has_sent) {
        memcpy(bytes, &end, sizeof end);
        OK(pmSend(net));
    }
    MUST(came >= PM_SLOTS);
    AWAIT(pmIsSendDone(net));
    meet();
}

/* ---- blocking: one message goes round; each member waits for it in poll ---- */

static void wait_for_one(caddr_t *bytes, size_t *length)
{
    struct pollfd fds[8];
    int numbers[8], count = 8, code;
    OK(pmGetFd(net, numbers, &count));
    for (int i = 0; i < count; i++)
        fds[i] = (struct pollfd){.fd = numbers[i], .events = POLLIN};
    OK(pmBeforeSelect(net));
    while ((code = pmReceive(net, bytes, length)) == ENOBUFS)
        MUST(poll(fds, (nfds_t)count, -1) > 0);
    MUST(code == PM_SUCCESS);
    OK(pmAfterSelect(net));
}

void blocking(void)
{
    const int next = (score_self_node + 1) % score_num_node;
    caddr_t bytes;
    size_t length;
    uint32_t which = 0;
    meet();
    for (uint32_t i = 0; i < number; i++) {
        if (score_self_node != 0 || i > 0) {
            wait_for_one(&bytes, &length);
            memcpy(&which, bytes, sizeof which);
            MUST(length == sizeof which && ntohl(which) == (score_self_node == 0 ? i - 1 : i));
            OK(pmReleaseReceiveBuffer(net));
        }
        which = htonl(i);
        send_bytes(net, next, &which, sizeof which);
    }
    if (score_self_node == 0) {
        wait_for_one(&bytes, &length);
        OK(pmReleaseReceiveBuffer(net));
    }
}

/* ---- threads of one process: locks are theirs, and nothing is lost or comes twice ---- */

enum { SENDERS = 3, RECEIVERS = 2 };
static atomic_uint received, refused;

static void *send_many(void *argument)
{
    const int to = (score_self_node + 1) % score_num_node;
    (void)argument;
    for (unsigned i = 0; i < number; i++) {
        caddr_t bytes;
        int code;
        while ((code = pmGetSendBuffer(net, to, &bytes, 64)) != PM_SUCCESS) {
            MUST(code == ENOBUFS || code == EBUSY);
            atomic_fetch_add(&refused, code == EBUSY);
        }
        memset(bytes, (int)i, 64);
        OK(pmSend(net));
    }
    return NULL;
}

static void *receive_many(void *argument)
{
    (void)argument;
    while (atomic_load(&received) < SENDERS * number) {
        caddr_t bytes;
        size_t length;
        const int code = pmReceive(net, &bytes, &length);
        MUST(code == PM_SUCCESS || code == ENOBUFS || code == EBUSY);
        if (code != PM_SUCCESS)
            continue;
        MUST(length == 64);
        for (int i = 1; i < 64; i++)
            MUST(bytes[i] == bytes[0]);
        atomic_fetch_add(&received, 1);
        OK(pmReleaseReceiveBuffer(net));
    }
    return NULL;
}

void threads(void)
{
    pthread_t running[SENDERS + RECEIVERS];
    for (int i = 0; i < SENDERS + RECEIVERS; i++)
        MUST(pthread_create(&running[i], NULL, i < SENDERS ? send_many : receive_many, NULL) == 0);
    for (int i = 0; i < SENDERS + RECEIVERS; i++)
        MUST(pthread_join(running[i], NULL) == 0);
    MUST(received == SENDERS * number);
    meet();
    caddr_t bytes;
    size_t length;
    CODE(pmReceive(net, &bytes, &length), ENOBUFS);
}
