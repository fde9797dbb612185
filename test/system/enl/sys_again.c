/* SPDX-License-Identifier: MIT */
/* CCEs come and go, and what they had serves those that follow; one that has it mapped is stopped
 * meanwhile: `sys_again WARM STOPPED AFTER`, so many rounds each. In each round a CCE comes, hands
 * out regions, frees one of the root's, and goes; all regions hold the round's number. The
 * bystander takes one of each, and gives it one, but while it is stopped. With SYS_INSIDE it is
 * stopped within an operation. The root prints how many numbers of segments there are after each
 * part. */
#include <bcr.h>

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/journal.h"
#include "bcri/self.h"

#define FIFO "again.fifo"
enum { HELLO = 1, ANSWER = 2, OWN = 1, WORD = 2, UNTIL_THE_END = 3, GIFT = 4, BYSTANDER = 1, REGIONS = 40 };

/* What goes to the bystander and back. */
struct forward {
    int pid;
    int number; /* 0: stop; -1: end */
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "sys_again %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    _exit(3);
}

static bcr_region filled(int number)
{
    bcr_region rgid = bcr_rgalloc(64, 0);
    must(rgid != NULL, "rgalloc");
    for (int i = 0; i < 16; i++)
        (*(int **)rgid)[i] = number;
    return rgid;
}

static void check(bcr_region rgid, int number)
{
    must(rgid != NULL, "a region");
    for (int i = 0; i < 16; i++)
        if ((*(int **)rgid)[i] != number) {
            fprintf(stderr, "sys_again %d: %d stands where %d was put\n", bcr_cceord, (*(int **)rgid)[i],
                    number);
            _exit(4);
        }
    must(bcr_rgfree(rgid) == 0, "rgfree");
}

/* Names itself in a region of the root's. */
static void say_hello(void)
{
    bcr_region rgid = bcr_rgalloc(16, 0);
    must(rgid != NULL && bcr_copyto(bcrT_1CCE, 1, rgid, 0, &bcr_cce, sizeof bcr_cce) >= 1, "copyto");
    must(bcr_enq(rgid, bcr_enlistor, HELLO, bcr_FREE) == 0, "hello");
}

static int meet(void)
{
    bcr_cce_id cce = -1;
    bcr_region rgid = bcr_deq(bcr_cce, HELLO, bcr_BLOCK);
    must(rgid != NULL && bcr_copyfm(bcrT_1CCE, 1, rgid, 0, &cce, sizeof cce) >= 1, "copyfm");
    must(bcr_rgfree(rgid) == 0, "rgfree of the hello");
    return cce;
}

/* Waits, within an operation or surely outside of one, until it has been stopped and goes on.
 * SIGCONT is blocked before the root is told, so that it is found by sigwait() also when the root
 * stops this process between the two. */
static void await_stop(bool is_inside)
{
    struct bcri_ctx *ctx = bcri_self();
    int fd = open(FIFO, O_WRONLY | O_CLOEXEC), number;
    sigset_t on;
    sigemptyset(&on);
    sigaddset(&on, SIGCONT);
    sigprocmask(SIG_BLOCK, &on, NULL);
    if (is_inside)
        bcri_journal_open(ctx, BCRI_OP_SLOW, BCRI_REF_NONE, BCRI_REF_NONE, BCRI_REF_NONE);
    must(fd >= 0 && write(fd, "", 1) == 1, "tell");
    must(sigwait(&on, &number) == 0, "sigwait");
    if (is_inside)
        bcri_journal_close(ctx);
    close(fd);
}

/* Takes a region of each CCE that it is told of: the first word of a forwarded request is a region that names
 * that. */
static int bystander(void)
{
    must(bcr_cagrow(OWN, 0, 1, 0, 0, 8, 1 << 20) == OWN, "cagrow");
    say_hello();
    for (;;) {
        bcr_cce_id cce;
        bcr_region name = bcr_deq(bcr_cce, OWN, bcr_BLOCK), forward = bcr_deq(bcr_cce, OWN, bcr_BLOCK);
        must(name != NULL && forward != NULL, "errand");
        struct forward what = **(struct forward **)forward;
        must(bcr_copyfm(bcrT_1CCE, 1, name, 0, &cce, sizeof cce) >= 1 && bcr_rgfree(name) == 0, "copyfm");
        if (what.number > 0) {
            check(bcr_deq(cce, OWN, bcr_BLOCK), what.number);
            must(bcr_enq(filled(what.number), cce, GIFT, bcr_FREE) == 0, "gift");
        }
        must(bcr_rgmod(forward) == 0, "rgmod");
        (*(struct forward **)forward)->pid = (int)getpid();
        must(bcr_enq(forward, bcr_enlistor, ANSWER, bcr_FREE) == 0, "answer");
        if (what.number == 0)
            await_stop(getenv("SYS_INSIDE") != NULL);
        if (what.number < 0)
            return 0;
    }
}

static int send(bcr_cce_id cce, int number)
{
    bcr_region name = bcr_rgalloc(16, 0), forward = bcr_rgalloc(sizeof(struct forward), 0);
    static int to;
    if (to == 0) {
        to = cce; /* the bystander itself */
        return 0;
    }
    must(name != NULL && forward != NULL && bcr_copyto(bcrT_1CCE, 1, name, 0, &cce, sizeof cce) >= 1,
         "copyto");
    **(struct forward **)forward = (struct forward){.number = number};
    must(bcr_enq(name, to, OWN, bcr_FREE) == 0 && bcr_enq(forward, to, OWN, bcr_FREE) == 0, "errand");
    forward = bcr_deq(bcr_cce, ANSWER, bcr_BLOCK);
    must(forward != NULL, "answer");
    int pid = (*(struct forward **)forward)->pid;
    must(bcr_rgfree(forward) == 0, "rgfree of the answer");
    return pid;
}

static int child(void)
{
    must(bcr_cagrow(OWN, 0, 0, 0, 4, 100, 1 << 16) == OWN, "cagrow");
    for (int i = 0; i < REGIONS; i++)
        must(bcr_enq(filled(bcr_cceord), bcr_cce, OWN, bcr_NOFREE) == 0, "put");
    check(bcr_deq(bcr_cce, 0, bcr_BLOCK), bcr_cceord);
    say_hello();
    bcr_region word = bcr_deq(bcr_cce, WORD, bcr_BLOCK);
    must(word != NULL, "word to go");
    if (**(int **)word != 0)
        check(bcr_deq(bcr_cce, GIFT, bcr_BLOCK), bcr_cceord);
    return 0;
}

static void rounds(char *program, int *number, int count, bool with_bystander)
{
    for (int i = 0; i < count; i++) {
        ++*number;
        must(bcr_enlist(NULL, -1, *number, program, filled(*number), bcr_FREE) == 0, "enlist");
        bcr_cce_id cce = meet();
        check(bcr_deq(cce, OWN, 0), *number);
        if (with_bystander)
            (void)send(cce, *number);
        must(bcr_enq(filled(with_bystander), cce, WORD, bcr_FREE) == 0, "word to go");
        must(bcr_deq(cce, UNTIL_THE_END, bcr_BLOCK) == NULL && bcr_errno == bcrE_DEAD, "the child's end");
    }
    printf("%u\n", bcri_host_segments(bcri_self()->host));
}

int main(int argc, char **argv)
{
    must(bcr_init(0, argv[0]) >= 0, "bcr_init");
    if (bcr_enlistor >= 0)
        return bcr_cceord == BYSTANDER ? bystander() : child();
    int number = BYSTANDER;
    must(argc > 3 && bcr_cagrow(HELLO, 0, 2, 0, 0, 16, 1 << 16) == HELLO, "cagrow");
    must(bcr_enlist(NULL, -1, BYSTANDER, argv[0], NULL, bcr_FREE) == 0, "enlist");
    const int to = meet();
    (void)send(to, 0);
    must(mkfifo(FIFO, 0600) == 0, "mkfifo");
    rounds(argv[0], &number, atoi(argv[1]), true);
    int told = open(FIFO, O_RDWR | O_CLOEXEC);
    const int pid = send(to, 0);
    char byte;
    must(read(told, &byte, 1) == 1, "the bystander waits for it");
    must(kill(pid, SIGSTOP) == 0, "stop");
    rounds(argv[0], &number, atoi(argv[2]), false);
    must(kill(pid, SIGCONT) == 0, "go on");
    rounds(argv[0], &number, atoi(argv[3]), true);
    (void)send(to, -1);
    return 0;
}
