/* SPDX-License-Identifier: MIT */
/* One-sided operations. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "pm_members.h"

enum { KINDS = 3 };

static int next(void)
{
    return (score_self_node + 1) % score_num_node;
}

static int before(void)
{
    return (score_self_node + score_num_node - 1) % score_num_node;
}

static void write_there(int node, pmAddrHandle there, pmAddrHandle here, size_t length)
{
    AWAIT(pmWrite(net, node, there, here, length));
}

static void read_there(int node, pmAddrHandle there, pmAddrHandle here, size_t length)
{
    AWAIT(pmRead(net, node, there, here, length));
}

/* ---- heap, stack and a file of a member that computes and calls nothing ---- */

/* Writes random parts of the next member's memory, and keeps what it should hold; reads it back; and says at last that it is done,
 * by the last byte. */
static void work_on(pmAddrHandle there, size_t bytes)
{
    unsigned char *model = (unsigned char *)pages(bytes), *local = (unsigned char *)pages(bytes);
    pmAddrHandle here;
    unsigned random = (unsigned)score_self_node + number;
    OK(pmMLock(net, next(), (caddr_t)local, bytes, &here));
    for (unsigned i = 0; i < number; i++) {
        random = random * 1103515245 + 12345;
        const size_t length = i == 0 ? bytes - 1 : 1 + (random >> 8) % (i % 4 == 0 ? bytes - 1 : 64);
        const size_t at = (random >> 3) % (bytes - length);
        memset(local + at, (int)i + 1, length);
        memset(model + at, (int)i + 1, length);
        write_there(next(), there + at, here + at, length);
        AWAIT(pmIsWriteDone(net));
    }
    /* A read comes behind the writes before it. */
    memset(local, 0, bytes);
    read_there(next(), there, here, bytes);
    AWAIT(pmIsReadDone(net));
    MUST(memcmp(local, model, bytes - 1) == 0);
    local[0] = 0x55;
    write_there(next(), there + bytes - 1, here, 1);
    AWAIT(pmIsWriteDone(net));
    OK(pmMUnlock(net, next(), (caddr_t)local, bytes));
}

/* Until the other is done. Nothing but the memory tells: a race by design. */
static __attribute__((noinline, no_sanitize("thread"))) void compute_until_written(const volatile char *last)
{
    for (volatile unsigned long sum = 0; *last != 0x55;)
        sum++;
}

static void lend(char *memory, size_t bytes)
{
    pmAddrHandle own, there;
    memset(memory, 0, bytes);
    OK(pmMLock(net, PM_NODE_ANY, memory, bytes, &own));
    send_bytes(net, before(), &own, sizeof own);
    MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
    work_on(there, bytes);
    compute_until_written(memory + bytes - 1);
    meet();
    MUST(memory[0] != 0);
    OK(pmMUnlock(net, PM_NODE_ANY, memory, bytes));
}

static __attribute__((noinline)) void lend_stack(size_t page)
{
    char *stack = __builtin_alloca(5 * page);
    lend((char *)(((uintptr_t)stack + page - 1) / page * page), 4 * page);
}

void remote(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *heap = NULL, name[64];
    MUST(posix_memalign((void **)&heap, page, PM_RMA_MTU) == 0);
    lend(heap, PM_RMA_MTU);
    lend_stack(page);
    snprintf(name, sizeof name, "lent.%d", score_self_node);
    const int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    MUST(fd >= 0 && ftruncate(fd, (off_t)(8 * page)) == 0);
    char *file = mmap(NULL, 8 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MUST(file != MAP_FAILED);
    lend(file, 8 * page);
    char byte = 0;
    MUST(pread(fd, &byte, 1, (off_t)(8 * page - 1)) == 1 && byte == 0x55);
    meet();
}

/* ---- a member that is stopped: on one host ---- */

static char state_of(int64_t pid)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    const int fd = open(path, O_RDONLY);
    MUST(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return strrchr(text, ')')[2];
}

void stopped(void)
{
    struct {
        pmAddrHandle handle;
        int64_t pid;
    } told;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = pages(page);
    pmAddrHandle own;
    OK(pmMLock(net, PM_NODE_ANY, memory, page, &own));
    meet();
    if (score_self_node == 1) {
        told.handle = own;
        told.pid = getpid();
        strcpy(memory, "before");
        send_bytes(net, 0, &told, sizeof told);
        MUST(raise(SIGSTOP) == 0);
        MUST(strcmp(memory, "written while it stood") == 0);
    } else if (score_self_node == 0) {
        MUST(receive_bytes(net, &told, sizeof told) == sizeof told);
        while (state_of(told.pid) != 'T')
            sched_yield();
        OK(pmRead(net, 1, told.handle, own, 7));
        OK(pmIsReadDone(net));
        MUST(strcmp(memory, "before") == 0);
        strcpy(memory, "written while it stood");
        OK(pmWrite(net, 1, told.handle, own, 32));
        OK(pmIsWriteDone(net));
        MUST(state_of(told.pid) == 'T' && kill((pid_t)told.pid, SIGCONT) == 0);
    }
    meet();
}

/* ---- memory that is gone while it is locked ---- */

static int done_write(void)
{
    int code;
    while ((code = pmIsWriteDone(net)) == EBUSY)
        continue;
    return code;
}

static int done_read(void)
{
    int code;
    while ((code = pmIsReadDone(net)) == EBUSY)
        continue;
    return code;
}

void unmapped(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = pages(4 * page), *local = pages(4 * page);
    pmAddrHandle own, here, there;
    OK(pmMLock(net, PM_NODE_ANY, memory, 4 * page, &own));
    OK(pmMLock(net, PM_NODE_ANY, local, 4 * page, &here));
    send_bytes(net, before(), &own, sizeof own);
    MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
    MUST(munmap(memory + page, page) == 0);
    meet();
    /* The first page is there, then there is none. */
    for (int round = 0; round < 3; round++) {
        write_there(next(), there, here, page);
        MUST(done_write() == PM_SUCCESS);
        write_there(next(), there, here, 2 * page);
        MUST(done_write() == EIO && done_write() == PM_SUCCESS);
        read_there(next(), there + page, here, 10);
        MUST(done_read() == EIO && done_read() == PM_SUCCESS);
        read_there(next(), there + 2 * page, here, 2 * page);
        MUST(done_read() == PM_SUCCESS);
    }
    /* The caller's own. */
    MUST(munmap(local, 4 * page) == 0);
    write_there(next(), there, here, page);
    MUST(done_write() == EIO);
    read_there(next(), there, here, page);
    MUST(done_read() == EIO);
    meet();
    OK(pmMUnlock(net, PM_NODE_ANY, local, 4 * page));
    OK(pmMUnlock(net, PM_NODE_ANY, memory, 4 * page));
}

/* ---- a message does not overtake the writes before it ---- */

void order(void)
{
    const size_t bytes = (number * sizeof(uint64_t) / 65536 + 1) * 65536;
    uint64_t *memory = (uint64_t *)(void *)pages(bytes), *local = (uint64_t *)(void *)pages(bytes);
    pmAddrHandle own, here, there;
    OK(pmMLock(net, PM_NODE_ANY, (caddr_t)memory, bytes, &own));
    OK(pmMLock(net, PM_NODE_ANY, (caddr_t)local, bytes, &here));
    send_bytes(net, before(), &own, sizeof own);
    MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
    meet();
    uint32_t sent = 0, come = 0;
    while (sent < number || come < number) {
        caddr_t buffer;
        size_t length;
        if (sent < number) {
            local[sent] = sent + 1;
            int code = pmWrite(net, next(), there + 8ull * sent, here + 8ull * sent, 8);
            MUST(code == PM_SUCCESS || code == ENOBUFS);
            while (code == PM_SUCCESS && pmGetSendBuffer(net, next(), &buffer, sizeof sent) == ENOBUFS)
                if (pmReceive(net, &buffer, &length) == PM_SUCCESS) {
                    MUST(memory[come] != 0);
                    come++;
                    OK(pmReleaseReceiveBuffer(net));
                }
            if (code == PM_SUCCESS) {
                OK(pmSend(net));
                sent++;
            }
        }
        if (pmReceive(net, &buffer, &length) == PM_SUCCESS) {
            MUST(memory[come] != 0);
            come++;
            OK(pmReleaseReceiveBuffer(net));
        }
    }
    MUST(done_write() == PM_SUCCESS);
    meet();
}

/* The same where the writes have no room: node 0 takes no request until its cell of these is full, and for a while then. Each of
 * the others has written all that it may before it sends. */
void order_full(void)
{
    uint64_t *memory = (uint64_t *)(void *)pages(65536), *local = (uint64_t *)(void *)pages(65536);
    pmAddrHandle own, here, there;
    OK(pmMLock(net, PM_NODE_ANY, (caddr_t)memory, 65536, &own));
    OK(pmMLock(net, PM_NODE_ANY, (caddr_t)local, 65536, &here));
    MUST(score_num_node >= 3 && score_num_node * PM_REQUESTS * 8 <= 65536);
    if (score_self_node != 0) {
        MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
        memset(local, 1, 65536);
        for (int i = 0; i < PM_REQUESTS; i++)
            OK(pmWrite(net, 0, there + (uint64_t)(8 * (score_self_node * PM_REQUESTS + i)), here, 8));
        const unsigned char self = (unsigned char)score_self_node;
        send_bytes(net, 0, &self, 1);
        AWAIT(pmIsWriteDone(net));
        meet();
        return;
    }
    int come;
    pm_lock();
    for (int node = 1; node < score_num_node; node++)
        send_locked(node, &own, sizeof own);
    while (bcr_celllen(bcr_cce, PM_CELL_REQUESTS) < PM_REQUESTS)
        continue;
    /* The messages of those whose writes have no room may not come, however long it takes. */
    const time_t begun = time(NULL);
    do
        come = bcr_celllen(bcr_cce, PM_CELL_MESSAGES + 2 * (int)(number % 2) + 1);
    while (come < score_num_node - 1 && time(NULL) - begun < 2);
    pm_unlock();
    MUST(come < score_num_node - 1);
    for (int node = 1; node < score_num_node; node++) {
        caddr_t bytes;
        size_t length;
        AWAIT(pmReceive(net, &bytes, &length));
        const int from = *(unsigned char *)bytes;
        for (int i = 0; i < PM_REQUESTS; i++)
            MUST(memory[from * PM_REQUESTS + i] == 0x0101010101010101);
        OK(pmReleaseReceiveBuffer(net));
    }
    meet();
}

/* ---- handles ---- */

void handles(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const unsigned count = number;
    char *memory = pages(count * page);
    pmAddrHandle *own = calloc(count, sizeof *own), there;
    MUST(own != NULL);
    for (unsigned i = 0; i < count; i++) {
        unsigned char bytes[8];
        OK(pmMLock(net, PM_NODE_ANY, memory + i * page, (i % 3 == 0 ? count - i : 1) * page, &own[i]));
        memcpy(bytes, &own[i], sizeof bytes);
        for (int k = 0; k < 4; k++)
            MUST(bytes[k] == bytes[7 - k]);
        for (unsigned k = i > 8 ? i - 8 : 0; k < i; k++)
            MUST(own[k] != own[i]);
    }
    /* Every third is unlocked, and is none any more. */
    for (unsigned i = 1; i < count; i += 3)
        OK(pmMUnlock(net, PM_NODE_ANY, memory + i * page, page));
    for (unsigned i = 0; i < count; i++) {
        send_bytes(net, before(), &own[i], sizeof own[i]);
        MUST(receive_bytes(net, &there, sizeof there) == sizeof there);
        memcpy(memory + i * page, "here", 5);
        pmAddrHandle here = own[i] + (i % 3 == 1 ? 0 : 8);
        if (i % 3 == 1) {
            CODE(pmWrite(net, next(), there, here, 5), EINVAL);
            continue;
        }
        memset(memory + i * page + 8, (int)i, 8);
        write_there(next(), there + page - 8, here, 8);
        MUST(done_write() == PM_SUCCESS);
    }
    meet();
    for (unsigned i = 0; i < count; i++)
        for (int k = 0; k < 8 && i % 3 != 1; k++)
            MUST(memory[i * page + page - 8 + (size_t)k] == (char)i);
    meet();
    for (unsigned i = 0; i < count; i++)
        if (i % 3 != 1)
            OK(pmMUnlock(net, PM_NODE_ANY, memory + i * page, (i % 3 == 0 ? count - i : 1) * page));
}
