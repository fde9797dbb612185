/* SPDX-License-Identifier: MIT */
/* pipeline.c -- SCore's "scatter" in its pipeline version, after the figures 2.8 to 2.15 of the manual "SCore and PM": the first
 * node reads its standard input, and each node writes all of it to its standard output and passes it on to the next.
 *
 *     scorecc pipeline.c -o pipeline
 *     enl -n 3 ./pipeline < file           three copies of the file
 *     enl -n 3 ./pipeline -b < file        nodes that wait sleep in poll, and do not spin */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sc.h>
#include <score.h>

#define NEXT_NODE     (score_self_node + 1)
#define IS_PIPE_FIRST (score_self_node == 0)
#define IS_PIPE_LAST  (NEXT_NODE == score_num_node)

/* Each packet begins with the number of bytes behind it; 0 is the end of the file. */
enum { HEAD = sizeof(uint16_t) };

/* PM_SUCCESS, or why there is no message. */
static int spinwait_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    int cc = pmReceive(pmc, bufp, lenp);
    if (cc == ENOBUFS || cc == EBUSY) {
        score_become_idle();
        while ((cc = pmReceive(pmc, bufp, lenp)) == ENOBUFS || cc == EBUSY)
            continue;
    }
    score_become_busy();
    return cc;
}

static int blocking_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    enum { FDS_MAX = 8 };
    static int fds[FDS_MAX], count = FDS_MAX;
    static struct pollfd look[FDS_MAX];
    int cc = fds[0] == 0 ? pmGetFd(pmc, fds, &count) : PM_SUCCESS;
    if (cc == PM_SUCCESS)
        cc = pmBeforeSelect(pmc);
    if (cc != PM_SUCCESS)
        return cc;
    while ((cc = pmReceive(pmc, bufp, lenp)) == ENOBUFS || cc == EBUSY) {
        for (int i = 0; i < count; i++)
            look[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
        poll(look, (nfds_t)count, -1);
    }
    const int after = pmAfterSelect(pmc);
    return cc != PM_SUCCESS ? cc : after;
}

static int (*receive)(pmContext *pmc, caddr_t *bufp, size_t *lenp) = spinwait_receive;

/* The first node gets no messages that it would have to take meanwhile. */
static int get_send_buffer(pmContext *pmc, caddr_t *bufp, size_t length)
{
    int cc;
    while ((cc = pmGetSendBuffer(pmc, NEXT_NODE, bufp, length)) == ENOBUFS || cc == EBUSY)
        continue;
    return cc;
}

static int write_all(const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(STDOUT_FILENO, bytes, length);
        if (written < 0 && errno != EINTR)
            return errno;
        bytes += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return PM_SUCCESS;
}

/* All nodes can take PM_MIN_MTU bytes; pmGetMtu tells what the next one can take, and those behind it may take less. */
static int read_file_and_pass_next(pmContext *pmc)
{
    uint16_t size = 1;
    while (size > 0) {
        caddr_t packet;
        int cc = get_send_buffer(pmc, &packet, PM_MIN_MTU);
        if (cc != PM_SUCCESS)
            return cc;
        const ssize_t got = read(STDIN_FILENO, packet + HEAD, PM_MIN_MTU - HEAD);
        if (got < 0)
            return errno;
        size = (uint16_t)got;
        const uint16_t head = htons(size);
        memcpy(packet, &head, HEAD);
        if ((cc = write_all(packet + HEAD, size)) != PM_SUCCESS ||
            (cc = pmTruncateBuffer(pmc, HEAD + (size_t)size)) != PM_SUCCESS ||
            (cc = pmSend(pmc)) != PM_SUCCESS)
            return cc;
    }
    return PM_SUCCESS;
}

static int pass_on(pmContext *pmc, const char *packet, size_t length)
{
    caddr_t copy;
    const int cc = get_send_buffer(pmc, &copy, length);
    if (cc != PM_SUCCESS)
        return cc;
    memcpy(copy, packet, length);
    return pmSend(pmc);
}

static int write_file_and_pass_next(pmContext *pmc)
{
    uint16_t size = 1;
    while (size > 0) {
        caddr_t packet;
        size_t length;
        int cc = receive(pmc, &packet, &length);
        if (cc != PM_SUCCESS)
            return cc;
        memcpy(&size, packet, HEAD);
        size = ntohs(size);
        if ((cc = write_all(packet + HEAD, size)) != PM_SUCCESS ||
            (!IS_PIPE_LAST && (cc = pass_on(pmc, packet, length)) != PM_SUCCESS) ||
            (cc = pmReleaseReceiveBuffer(pmc)) != PM_SUCCESS)
            return cc;
    }
    return PM_SUCCESS;
}

int main(int argc, char **argv)
{
    score_initialize();
    if (score_num_node == 1) {
        fprintf(stderr, "pipeline: two nodes or more are needed, as by: enl -n 2 %s\n", argv[0]);
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "-b") == 0)
        receive = blocking_receive;
    pmContext *const pmc = score_pmnet[0];
    const int cc = IS_PIPE_FIRST ? read_file_and_pass_next(pmc) : write_file_and_pass_next(pmc);
    if (cc != PM_SUCCESS) {
        fprintf(stderr, "pipeline: node %d: %s\n", score_self_node, pmErrorString(cc));
        sc_exit(1);
    }
    return 0;
}
