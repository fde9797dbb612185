/* SPDX-License-Identifier: MIT */
/* Many CCEs at the same time: `scale_cce CCES CELLS REGIONS` makes so many CCEs, each with so many
 * cells and regions.
 *
 *   1  births    the root enlists them in lots of 50 and prints what each lot has cost
 *   2  ring      a token goes round once through all
 *   3  putm      each puts one region into cells of its next NEIGHBOURS, and keeps what it is given
 *   4  deaths    all put and get as fast as they can; meanwhile the root kills every third
 *   5  end       the root lets the others go
 *
 * Before 4 and before 5 the root tells the test that all is quiet, and waits for its word. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bcr.h>

#include "held.h"

/* Cells of every CCE, the root included. */
enum { TO_ROOT = 1, WORD = 2, TOKEN = 3, SHARED = 4, BUSY = 5, UNTIL_THE_END = 6, FIRST_CELLS = 6 };
enum { LOT = 50, NEIGHBOURS = 8, TURNS = 400 };

struct plan {
    int cces, cells, regions;
};
struct cry {
    bcr_cce_id cce;
    int ord, pid;
};
static const int CRY[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 2};

static int own_ord;

/* Others wait for one that fails, for ever: it ends the program, whose daemon is its parent. */
static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "scale: CCE %d: %s: %s\n", own_ord, what, bcr_strerror(bcr_errno));
    kill(getppid(), SIGTERM);
    exit(1);
}

static bcr_region new_word(void)
{
    bcr_region region = bcr_rgalloc(8, 0);
    must(region != NULL && bcr_copyto(bcrT_1INT, 1, region, 0, &own_ord, sizeof own_ord) >= 1, "make a word");
    return region;
}

static void word_to(bcr_cce_id cce, int cell)
{
    must(bcr_enq(new_word(), cce, cell, bcr_FREE) == 0, "send a word");
}

/* Returns who sent it. */
static int wait_for_word(int cell)
{
    int ord = 0;
    bcr_region region = bcr_deq(bcr_cce, cell, bcr_BLOCK);
    must(region != NULL && bcr_copyfm(bcrT_1INT, 1, region, 0, &ord, sizeof ord) >= 1, "wait for a word");
    must(bcr_rgfree(region) == 0, "rgfree");
    return ord;
}

static void grow(const struct plan *plan, int more_regions)
{
    int cells = plan->cells > FIRST_CELLS ? plan->cells : FIRST_CELLS;
    int bytes = plan->regions * 8 + more_regions * 64;
    must(bcr_cagrow(1, 0, 0, 0, cells, cells + 4 * NEIGHBOURS + more_regions, bytes) == 1, "cagrow");
}

/* --- one of many --- */

static void exchange(const struct plan *plan, const bcr_cce_id *cce, bcr_region own)
{
    int next[2 * NEIGHBOURS];
    for (int i = 0; i < NEIGHBOURS; i++) {
        next[2 * i] = cce[(own_ord + i) % plan->cces];
        next[2 * i + 1] = SHARED;
    }
    must(bcr_enqm(own, NEIGHBOURS, next, bcr_NOFREE) == 0, "putm");
    for (int i = 0; i < NEIGHBOURS; i++)
        must(bcr_deq(bcr_cce, SHARED, bcr_BLOCK) != NULL, "get what was put by putm");
}

/* Others die meanwhile: their cells may be gone at any moment. */
static void be_busy(const struct plan *plan, const bcr_cce_id *cce)
{
    bcr_putwait(0);
    for (int turn = 0; turn < TURNS; turn++) {
        int to = cce[(own_ord + turn * 7) % plan->cces];
        bcr_region region = bcr_rgalloc(8, 0); /* NULL: all that there is room for lies in cells of others */
        must(region != NULL || bcr_errno == bcrE_NBYTES, "rgalloc");
        if (region != NULL && bcr_enq(region, to, BUSY, bcr_FREE) != 0) {
            must(bcr_errno == bcrE_DEAD || bcr_errno == bcrE_FULL, "put to another CCE");
            must(bcr_rgfree(region) == 0, "rgfree");
        }
        bcr_region got = bcr_deq(turn % 2 == 0 ? bcr_cce : to, BUSY, 0);
        must(got != NULL || bcr_errno == bcrE_TIMEOUT || bcr_errno == bcrE_DEAD, "get from another CCE");
        must(got == NULL || bcr_rgfree(got) == 0, "rgfree");
    }
    bcr_putwait(bcr_BLOCK);
}

static int one_of_many(void)
{
    struct plan plan;
    bcr_region birth = bcr_deq(bcr_cce, 0, bcr_BLOCK);
    must(birth != NULL && bcr_copyfm(bcrT_1INT, 3, birth, 0, &plan, sizeof plan) >= 1, "birth region");
    must(bcr_rgfree(birth) == 0, "rgfree");
    grow(&plan, 64);
    bcr_region own = NULL;
    for (int i = 0; i < plan.regions; i++)
        must((own = bcr_rgalloc(8, 0)) != NULL, "rgalloc");

    struct cry cry = {.cce = bcr_cce, .ord = own_ord, .pid = (int)getpid()};
    bcr_region region = bcr_rgalloc(64, 0);
    must(region != NULL && bcr_copyto(CRY, 1, region, 0, &cry, sizeof cry) >= 1, "copyto");
    must(bcr_enq(region, bcr_enlistor, TO_ROOT, bcr_FREE) == 0, "birthcry");

    bcr_cce_id *cce = calloc((size_t)plan.cces, sizeof *cce);
    bcr_region list = bcr_deq(bcr_cce, WORD, bcr_BLOCK);
    must(cce != NULL && list != NULL, "list of all");
    must(bcr_copyfm(bcrT_1CCE, plan.cces, list, 0, cce, (int)sizeof *cce * plan.cces) >= 1, "copyfm");
    must(bcr_rgfree(list) == 0, "rgfree");

    bcr_region token = bcr_deq(bcr_cce, TOKEN, bcr_BLOCK);
    bool last = own_ord == plan.cces;
    must(token != NULL, "token");
    must(bcr_enq(token, last ? bcr_enlistor : cce[own_ord], TOKEN, bcr_FREE) == 0, "pass the token on");
    if (own != NULL)
        exchange(&plan, cce, own);
    word_to(bcr_enlistor, TO_ROOT);
    wait_for_word(WORD);
    bcr_region done = new_word();
    be_busy(&plan, cce);
    must(bcr_enq(done, bcr_enlistor, TO_ROOT, bcr_FREE) == 0, "send a word");
    wait_for_word(WORD);
    return 0;
}

/* --- the root --- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void quiet(const char *what)
{
    char byte;
    const char *tell = getenv("SYS_TELL");
    fflush(stdout);
    if (tell == NULL)
        return;
    int fd = open(tell, O_WRONLY | O_CLOEXEC);
    must(fd >= 0 && write(fd, what, strlen(what)) > 0 && write(fd, "\n", 1) == 1, "tell the test");
    close(fd);
    fd = open(getenv("SYS_GO"), O_RDONLY | O_CLOEXEC);
    must(fd >= 0 && read(fd, &byte, 1) == 1, "word of the test");
    close(fd);
}

static void births(const struct plan *plan, const char *program, struct cry *cry)
{
    for (int done = 0; done < plan->cces;) {
        int lot = plan->cces - done < LOT ? plan->cces - done : LOT;
        struct held before = held_by_daemon();
        double start = now_ms();
        bcr_region birth = bcr_rgalloc(64, 0);
        must(birth != NULL && bcr_copyto(bcrT_1INT, 3, birth, 0, plan, sizeof *plan) >= 1, "copyto");
        must(bcr_enlist(NULL, -lot, done + 1, program, birth, bcr_FREE) == 0, "enlist");
        for (int i = 0; i < lot; i++) {
            struct cry one = {0};
            bcr_region region = bcr_deq(bcr_cce, TO_ROOT, bcr_BLOCK);
            must(region != NULL && bcr_copyfm(CRY, 1, region, 0, &one, sizeof one) >= 1, "birthcry");
            must(bcr_rgfree(region) == 0, "rgfree");
            cry[one.ord - 1] = one;
        }
        done += lot;
        double took = now_ms() - start;
        struct held after = held_by_daemon();
        printf("CCEs %4d to %4d: %.2f ms, %llu bytes of memory files, %.1f descriptors of enl each\n",
               done - lot + 1, done, took / lot, (after.bytes - before.bytes) / (unsigned long long)lot,
               (double)(after.descriptors - before.descriptors) / lot);
    }
}

static void tell_all(const struct plan *plan, const struct cry *cry, bcr_cce_id *cce)
{
    for (int i = 0; i < plan->cces; i++)
        cce[i] = cry[i].cce;
    bcr_region list = bcr_rgalloc(16 * plan->cces, 0);
    must(list != NULL && bcr_copyto(bcrT_1CCE, plan->cces, list, 0, cce, (int)sizeof *cce * plan->cces) >= 1,
         "copyto");
    for (int i = 0; i < plan->cces; i++)
        must(bcr_enq(list, cce[i], WORD, bcr_NOFREE) == 0, "send the list of all");
    must(bcr_rgfree(list) == 0, "rgfree");
}

static bool is_victim(int i)
{
    return i % 3 == 0;
}

static void await_end(bcr_cce_id cce)
{
    must(bcr_deq(cce, UNTIL_THE_END, bcr_BLOCK) == NULL && bcr_errno == bcrE_DEAD, "await an end");
}

static int root(int argc, char **argv)
{
    struct plan plan = {.cces = argc > 1 ? atoi(argv[1]) : 0};
    plan.cells = argc > 2 ? atoi(argv[2]) : 0;
    plan.regions = argc > 3 ? atoi(argv[3]) : 0;
    must(plan.cces > NEIGHBOURS, "more CCEs than neighbours");
    struct cry *cry = calloc((size_t)plan.cces, sizeof *cry);
    bcr_cce_id *cce = calloc((size_t)plan.cces, sizeof *cce);
    must(cry != NULL && cce != NULL, "memory");
    struct plan own = {.cells = FIRST_CELLS};
    grow(&own, 4 * plan.cces + 64);
    births(&plan, argv[0], cry);
    tell_all(&plan, cry, cce);
    word_to(cce[0], TOKEN);
    wait_for_word(TOKEN);
    for (int i = 0; i < plan.cces; i++)
        wait_for_word(TO_ROOT);
    quiet("exchanged");

    int victims = 0;
    for (int i = 0; i < plan.cces; i++)
        word_to(cce[i], WORD);
    for (int i = 0; i < plan.cces; i++)
        if (is_victim(i)) {
            must(kill(cry[i].pid, SIGKILL) == 0, "kill");
            victims++;
        }
    for (int i = 0; i < plan.cces; i++)
        if (is_victim(i))
            await_end(cce[i]);
    for (int living = plan.cces - victims; living > 0;)
        living -= !is_victim(wait_for_word(TO_ROOT) - 1); /* some of the dead had come to it too */
    quiet("killed");

    for (int i = 0; i < plan.cces; i++)
        if (!is_victim(i))
            word_to(cce[i], WORD);
    for (int i = 0; i < plan.cces; i++)
        if (!is_victim(i))
            await_end(cce[i]);
    printf("%d CCEs, %d of them killed\n", plan.cces, victims);
    return 0;
}

int main(int argc, char **argv)
{
    must(bcr_init(0, argv[0]) == 0, "bcr_init");
    own_ord = bcr_cceord;
    return bcr_enlistor < 0 ? root(argc, argv) : one_of_many();
}
