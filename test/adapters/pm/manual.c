/* SPDX-License-Identifier: MIT */
/* See manual.h. The routines and their names are those of the guide; each has its figure's number. */
#include "manual.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#define BUFF_LEN 65536 /* a multiple of every machine's pages */

int (*manual_receive)(pmContext *, caddr_t *, size_t *) = spinwait_receive;
static char *buffer;
static pmAddrHandle loc_handle, rmt_handle;

/* 2.4 */
int naive_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    int cc;
    while (1) {
        cc = pmReceive(pmc, bufp, lenp);
        if (cc == ENOBUFS || cc == EBUSY)
            continue;
        break;
    }
    return cc;
}

/* 2.9 */
int spinwait_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    int cc;
    if ((cc = pmReceive(pmc, bufp, lenp)) == ENOBUFS || cc == EBUSY)
        while ((cc = pmReceive(pmc, bufp, lenp)) == ENOBUFS || cc == EBUSY)
            continue;
    return cc;
}

/* 2.10 */
int get_send_buffer(pmContext *pmc, int dst, caddr_t *sbuf_p, size_t slen, int (*recv_func)(caddr_t, size_t))
{
    int cc;
    while (1) {
        cc = pmGetSendBuffer(pmc, dst, sbuf_p, slen);
        if (cc != ENOBUFS && cc != EBUSY)
            break;
        while (recv_func != NULL) {
            caddr_t rbuf;
            size_t rlen;
            if ((cc = pmReceive(pmc, &rbuf, &rlen)) != PM_SUCCESS) {
                if (cc == ENOBUFS || cc == EBUSY)
                    break;
                return cc;
            }
            if ((cc = recv_func(rbuf, rlen)) != 0)
                return cc;
            if ((cc = pmReleaseReceiveBuffer(pmc)) != PM_SUCCESS)
                return cc;
        }
    }
    return cc;
}

/* 2.11 */
int read_file_and_pass_next(pmContext *pmc, int fd_in, int fd_out)
{
    const size_t mtu = PM_MIN_MTU;
    caddr_t sbuff;
    uint16_t sz;
    ssize_t cc;
    do {
        cc = get_send_buffer(pmc, NEXT_NODE, &sbuff, mtu, NULL);
        if (cc != PM_SUCCESS)
            return (int)cc;
        cc = read(fd_in, sbuff + sizeof(sz), mtu - sizeof(sz));
        if (cc < 0)
            return errno;
        sz = (uint16_t)cc;
        *(uint16_t *)(void *)sbuff = htons(sz);
        if (sz > 0 && write(fd_out, sbuff + sizeof(sz), (size_t)sz) != sz)
            return errno;
        cc = pmTruncateBuffer(pmc, sizeof(sz) + sz);
        if (cc != PM_SUCCESS)
            return (int)cc;
        cc = pmSend(pmc);
        if (cc != PM_SUCCESS)
            return (int)cc;
    } while (sz > 0);
    return 0;
}

/* 2.13 */
int write_file_and_pass_next(pmContext *pmc, int fd_out)
{
    caddr_t rbuff, sbuff;
    size_t len;
    uint16_t sz;
    int cc;
    do {
        cc = manual_receive(pmc, &rbuff, &len);
        if (cc != PM_SUCCESS)
            return cc;
        if ((sz = ntohs(*(uint16_t *)(void *)rbuff)) > 0 &&
            write(fd_out, rbuff + sizeof(sz), (size_t)sz) != sz)
            return errno;
        if (!IS_PIPE_LAST) {
            cc = get_send_buffer(pmc, NEXT_NODE, &sbuff, len, NULL);
            if (cc != PM_SUCCESS)
                return cc;
            (void)memcpy(sbuff, rbuff, len);
            if ((cc = pmSend(pmc)) != PM_SUCCESS)
                return cc;
        }
        cc = pmReleaseReceiveBuffer(pmc);
        if (cc != PM_SUCCESS)
            return cc;
    } while (sz > 0);
    return 0;
}

/* 3.4 */
int blocking_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp)
{
    static int *fd_net = NULL;
    static int num_fds, fd_max;
    fd_set fds;
    int cc, n;
    if (fd_net == NULL) {
        num_fds = 0;
        (void)pmGetFd(pmc, NULL, &num_fds);
        fd_net = malloc(sizeof(int) * (size_t)num_fds);
        if (fd_net == NULL)
            return ENOMEM;
        if ((cc = pmGetFd(pmc, fd_net, &num_fds)) != PM_SUCCESS)
            return cc;
        fd_max = fd_net[0];
        for (n = 1; n < num_fds; n++)
            fd_max = (fd_net[n] > fd_max) ? fd_net[n] : fd_max;
        fd_max++;
    }
    if ((cc = pmBeforeSelect(pmc)) != PM_SUCCESS)
        return cc;
    while (1) {
        if ((cc = pmReceive(pmc, bufp, lenp)) == PM_SUCCESS)
            break;
        if (cc == EBUSY)
            continue;
        if (cc != ENOBUFS)
            return cc;
        FD_ZERO(&fds);
        for (n = 0; n < num_fds; n++)
            FD_SET(fd_net[n], &fds);
        (void)select(fd_max, &fds, NULL, NULL, NULL);
    }
    return pmAfterSelect(pmc);
}

/* 3.15 */
static int allocate_locked_buffer(pmContext *pmc)
{
    int cc = posix_memalign((void **)&buffer, (size_t)sysconf(_SC_PAGESIZE), BUFF_LEN);
    if (cc != 0)
        return cc;
    return pmMLock(pmc, PM_NODE_ANY, buffer, BUFF_LEN, &loc_handle);
}

/* 3.16 */
static int send_local_handle(pmContext *pmc, int dst)
{
    caddr_t buff;
    int cc = get_send_buffer(pmc, dst, &buff, sizeof(pmAddrHandle), NULL);
    if (cc != PM_SUCCESS)
        return cc;
    memcpy(buff, &loc_handle, sizeof(pmAddrHandle));
    return pmSend(pmc);
}

static int recv_remote_handle(pmContext *pmc)
{
    caddr_t buff;
    size_t len;
    int cc = manual_receive(pmc, &buff, &len);
    if (cc != PM_SUCCESS)
        return cc;
    if (len != sizeof(pmAddrHandle))
        return EIO;
    memcpy(&rmt_handle, buff, sizeof(pmAddrHandle));
    return pmReleaseReceiveBuffer(pmc);
}

/* 3.19 */
static int is_write_done(pmContext *pmc)
{
    int cc;
    while ((cc = pmIsWriteDone(pmc)) == EBUSY)
        continue;
    return cc;
}

static int is_read_done(pmContext *pmc)
{
    int cc;
    while ((cc = pmIsReadDone(pmc)) == EBUSY)
        continue;
    return cc;
}

/* What the figures below have in many places. */
static int send_length(pmContext *pmc, int dst, size_t len)
{
    caddr_t buff;
    int cc = get_send_buffer(pmc, dst, &buff, sizeof(uint16_t), NULL);
    if (cc != PM_SUCCESS)
        return cc;
    *(uint16_t *)(void *)buff = htons((uint16_t)len);
    return pmSend(pmc);
}

static int send_byte(pmContext *pmc, int dst)
{
    caddr_t buff;
    int cc = get_send_buffer(pmc, dst, &buff, 1, NULL);
    return cc == PM_SUCCESS ? pmSend(pmc) : cc;
}

static int receive_length(pmContext *pmc, size_t *len)
{
    caddr_t buff;
    size_t sz;
    int cc = manual_receive(pmc, &buff, &sz);
    if (cc != PM_SUCCESS)
        return cc;
    if (sz == sizeof(uint16_t))
        *len = ntohs(*(uint16_t *)(void *)buff);
    return pmReleaseReceiveBuffer(pmc);
}

static int remote(pmContext *pmc, int (*routine)(pmContext *, int, pmAddrHandle, pmAddrHandle, size_t),
                  int node, size_t len)
{
    int cc = PM_SUCCESS;
    while (len > 0 && (cc = routine(pmc, node, rmt_handle, loc_handle, len)) != PM_SUCCESS)
        if (cc != ENOBUFS && cc != EBUSY)
            break;
    return cc;
}

/* 3.23, 3.27; a write goes to the next node before the length. */
static int head(pmContext *pmc, int fd_in, int fd_out, int by_write)
{
    int cc;
    while (1) {
        size_t len, none;
        ssize_t got = read(fd_in, buffer, BUFF_LEN / 2);
        if (got < 0)
            return errno;
        len = (size_t)got;
        if (by_write && (cc = remote(pmc, pmWrite, NEXT_NODE, len)) != PM_SUCCESS)
            return cc;
        if ((cc = send_length(pmc, NEXT_NODE, len)) != PM_SUCCESS)
            return cc;
        if (len == 0)
            return PM_SUCCESS;
        if (write(fd_out, buffer, len) != got)
            return errno;
        if ((cc = receive_length(pmc, &none)) != PM_SUCCESS)
            return cc;
        if (by_write && (cc = is_write_done(pmc)) != PM_SUCCESS)
            return cc;
    }
}

/* 3.24 */
static int write_tail(pmContext *pmc, int fd_out)
{
    size_t len = 0, none;
    int cc;
    while (1) {
        if ((cc = receive_length(pmc, &len)) != PM_SUCCESS)
            return cc;
        if (!IS_PIPE_LAST) {
            if ((cc = remote(pmc, pmWrite, NEXT_NODE, len)) != PM_SUCCESS)
                return cc;
            if ((cc = send_length(pmc, NEXT_NODE, len)) != PM_SUCCESS)
                return cc;
        }
        if (len == 0)
            return PM_SUCCESS;
        if (write(fd_out, buffer, len) != (ssize_t)len)
            return errno;
        if ((cc = is_write_done(pmc)) != PM_SUCCESS)
            return cc;
        if (!IS_PIPE_LAST && (cc = receive_length(pmc, &none)) != PM_SUCCESS)
            return cc;
        if ((cc = send_byte(pmc, PREV_NODE)) != PM_SUCCESS)
            return cc;
    }
}

/* 3.28 */
static int read_tail(pmContext *pmc, int fd_out)
{
    size_t len = 0, none;
    int cc;
    while (1) {
        if ((cc = receive_length(pmc, &len)) != PM_SUCCESS)
            return cc;
        if (len > 0) {
            if ((cc = remote(pmc, pmRead, PREV_NODE, len)) != PM_SUCCESS)
                return cc;
            if ((cc = is_read_done(pmc)) != PM_SUCCESS)
                return cc;
        }
        if (!IS_PIPE_LAST && (cc = send_length(pmc, NEXT_NODE, len)) != PM_SUCCESS)
            return cc;
        if (len == 0)
            return PM_SUCCESS;
        if (write(fd_out, buffer, len) != (ssize_t)len)
            return errno;
        if (!IS_PIPE_LAST && (cc = receive_length(pmc, &none)) != PM_SUCCESS)
            return cc;
        if ((cc = send_byte(pmc, PREV_NODE)) != PM_SUCCESS)
            return cc;
    }
}

/* 3.21 */
int rdma_write(pmContext *pmc, int fd_in, int fd_out)
{
    int cc = allocate_locked_buffer(pmc);
    if (cc == PM_SUCCESS && !IS_PIPE_LAST)
        cc = recv_remote_handle(pmc);
    if (cc == PM_SUCCESS && !IS_PIPE_FIRST)
        cc = send_local_handle(pmc, PREV_NODE);
    if (cc != PM_SUCCESS)
        return cc;
    return IS_PIPE_FIRST ? head(pmc, fd_in, fd_out, 1) : write_tail(pmc, fd_out);
}

/* 3.25 */
int rdma_read(pmContext *pmc, int fd_in, int fd_out)
{
    int cc = allocate_locked_buffer(pmc);
    if (cc == PM_SUCCESS && !IS_PIPE_LAST)
        cc = send_local_handle(pmc, NEXT_NODE);
    if (cc == PM_SUCCESS && !IS_PIPE_FIRST)
        cc = recv_remote_handle(pmc);
    if (cc != PM_SUCCESS)
        return cc;
    return IS_PIPE_FIRST ? head(pmc, fd_in, fd_out, 0) : read_tail(pmc, fd_out);
}
