/* SPDX-License-Identifier: MIT */
/* sys_enter.c -- a program that others enter, and processes that enter it.
 *
 *     sys_enter serve N [MACHINE]  the root: starts a CCE there, if that is given; its cell 1 is "board"; it answers those who put their ID there, watches
 *                                  them, prints how each has ended, and ends when N have
 *     sys_enter lonely             the root: it waits for a region that no CCE can put
 *     sys_enter visit NAME WORD... enters program NAME by bcr_enter, and does as the words say
 *     sys_enter init WORD...       the same by bcr_init
 *
 *   try NAME      bcr_enter of another program, which must fail: prints the code; before all else
 *   thread        has a second thread; before all else
 *   about         prints whether it is the root, was enlisted or has entered
 *   environment   prints the variables by which bcr_init finds its program
 *   team          prints "RANK of SIZE, HOST" when all of its team have come so far
 *   put           finds "board", puts its ID there, and waits for the answer
 *   tell, wait    as sys_cce's
 *   exit N, kill N, pause */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#include "sys_tell.h"

enum { CELL = 1 };

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "sys_enter: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, bcr_errno); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static void tell_self(void)
{
    tell("%d %d %d\n", bcr_cceord, (int)getpid(), (int)getpgrp());
}

/* ---- the root ---- */

static void answer(bcr_region rgid)
{
    int visitor;
    MUST(bcr_copyfm(bcrT_1CCE, 1, rgid, 0, &visitor, sizeof visitor) >= 0);
    MUST(bcr_watch(visitor, CELL) == 0);
    MUST(bcr_enq(rgid, visitor, CELL, bcr_FREE) == 0);
}

/* The program has a daemon there when this returns. */
static void start_at(const char *machine, const char *program)
{
    static const char *const words[] = {"init", NULL};
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = machine,
                                       .core = -1,
                                       .count = 1,
                                       .ordinal = 9,
                                       .program = program,
                                       .arguments = words};
    bcr_cce_id cce;
    MUST(bcr_start(&spec, &cce) == 1 && bcr_watch(cce, CELL) == 0);
    MUST(bcr_rgfree(bcr_deq(bcr_cce, CELL, bcr_BLOCK)) == 0);
}

static void serve(int count, const char *machine, const char *program)
{
    MUST(bcr_init(0, NULL) == 0 && bcr_cagrow(CELL, 0, 1, 0, 0, 8, 1 << 16) == CELL);
    if (machine != NULL)
        start_at(machine, program);
    MUST(bcr_publish("board", CELL) == 0);
    tell_self();
    for (int gone = 0; gone < count;) {
        int told[4];
        bcr_region rgid = bcr_deq(bcr_cce, CELL, bcr_BLOCK);
        MUST(rgid != NULL);
        if (bcr_rgkind(rgid) != bcr_END) {
            answer(rgid);
            continue;
        }
        MUST(bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0 && bcr_rgfree(rgid) == 0);
        printf("gone %d %d\n", told[2], told[3]);
        fflush(stdout);
        gone++;
    }
}

/* ---- those who enter ---- */

static void put(void)
{
    bcr_cce_id board, own = bcr_cce;
    int cell;
    MUST(bcr_cagrow(CELL, 0, 1, 0, 0, 1, 4096) == CELL && bcr_find("board", &board, &cell, bcr_BLOCK) == 0);
    bcr_region rgid = bcr_rgalloc(64, 0);
    MUST(rgid != NULL && bcr_copyto(bcrT_1CCE, 1, rgid, 0, &own, sizeof own) >= 0);
    MUST(bcr_enq(rgid, board, cell, bcr_FREE) == 0);
    MUST((rgid = bcr_deq(bcr_cce, CELL, bcr_BLOCK)) != NULL && bcr_rgfree(rgid) == 0);
    printf("answered\n");
}

static int perform(char **words)
{
    const char *word = words[0];
    const int number = words[1] != NULL ? atoi(words[1]) : 0;
    if (strcmp(word, "about") == 0)
        return puts(bcr_enlistor != -1 ? "enlisted" : bcr_cceord == 0 ? "root" : "entered"), 1;
    if (strcmp(word, "environment") == 0)
        return printf("%s %s\n",
                      getenv("BCR_ENTER") != NULL || getenv("BCR_AWAIT") != NULL ||
                              getenv("BCR_TEAM") != NULL || getenv("BCR_RANK") != NULL ||
                              getenv("BCR_HOSTS") != NULL
                          ? "enter"
                          : "-",
                      getenv("BCRI_SOCKET") != NULL ? "socket" : "-"),
               1;
    if (strcmp(word, "team") == 0) {
        MUST(bcr_teamsync(bcr_BLOCK) == 0);
        return printf("%d of %d, %d\n", bcr_teamrank(), bcr_teamsize(), bcr_teamhost(bcr_teamrank())), 1;
    }
    if (strcmp(word, "put") == 0)
        return put(), 1;
    if (strcmp(word, "tell") == 0)
        return fflush(stdout), tell_self(), 1;
    if (strcmp(word, "wait") == 0)
        return wait_to_go(), 1;
    fflush(stdout);
    if (strcmp(word, "exit") == 0)
        exit(number);
    if (strcmp(word, "kill") == 0)
        raise(number);
    if (strcmp(word, "pause") == 0)
        for (;;)
            pause();
    fprintf(stderr, "sys_enter: %s is no word\n", word);
    exit(1);
}

static void *second_thread(void *data)
{
    pause();
    return data;
}

static char **prepare(char **words)
{
    pthread_t thread;
    for (;;)
        if (*words != NULL && strcmp(*words, "try") == 0) {
            bcr_errno = 0;
            printf("try %d", bcr_enter(words[1], 0, NULL));
            printf(" %d\n", bcr_errno);
            words += 2;
        } else if (*words != NULL && strcmp(*words, "thread") == 0) {
            MUST(pthread_create(&thread, NULL, second_thread, NULL) == 0);
            words++;
        } else {
            return words;
        }
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "serve") == 0)
        return serve(atoi(argv[2]), argv[3], argv[0]), 0;
    if (argc > 1 && strcmp(argv[1], "lonely") == 0) {
        MUST(bcr_init(0, NULL) == 0 && bcr_cagrow(CELL, 0, 1, 0, 0, 1, 64) == CELL);
        tell_self();
        return bcr_deq(bcr_cce, CELL, bcr_BLOCK) == NULL ? 1 : 2;
    }
    const int visits = argc > 2 && strcmp(argv[1], "visit") == 0;
    char **words = prepare(argv + 2 + visits);
    const int got = visits ? bcr_enter(argv[2], 0, NULL) : bcr_init(0, NULL);
    if (got != 0) {
        printf("refused %d\n", bcr_errno);
        return 3;
    }
    while (*words != NULL)
        words += perform(words);
    return 0;
}
