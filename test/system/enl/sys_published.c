/* SPDX-License-Identifier: MIT */
/* sys_published.c -- bcr_publish and bcr_find: a root, and CCEs on a machine that do what they are told.
 *
 *     sys_published SCENARIO [MACHINE]
 *
 * A scenario that goes wrong ends the root with status 1 and a sentence. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

enum { CELL = 1 };

#define MUST(condition)                                                                              \
    do {                                                                                             \
        if (!(condition)) {                                                                          \
            fprintf(stderr, "sys_published: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, \
                    bcr_errno);                                                                      \
            exit(1);                                                                                 \
        }                                                                                            \
    } while (0)
#define FAILS(call, code) MUST((call) == -1 && bcr_errno == (code))

static const char *program, *machine;
static char longest[257]; /* 255 bytes, and one more */

/* ---- the CCEs: argv[1] says what they do ---- */

static _Noreturn void stay(void)
{
    for (;;)
        bcr_rgfree(bcr_deq(bcr_cce, CELL, bcr_BLOCK));
}

static void act(const char *what, const char *name)
{
    bcr_cce_id cce = -5;
    int cell = -5;
    MUST(bcr_cagrow(CELL, 0, 1, 0, 0, 8, 4096) == CELL);
    if (strcmp(what, "publish") == 0) {
        MUST(bcr_publish(name, CELL) == 0);
        stay();
    }
    if (strcmp(what, "tell") == 0) { /* whom it finds it puts a region to */
        MUST(bcr_find(name, &cce, &cell, bcr_BLOCK) == 0);
        MUST(bcr_enq(bcr_rgalloc(1, 0), cce, cell, bcr_FREE) == 0);
        exit(0);
    }
    if (strcmp(what, "seek") == 0) { /* until it is killed */
        MUST(bcr_find(name, &cce, &cell, bcr_BLOCK) == 0);
        exit(3);
    }
    fprintf(stderr, "sys_published: %s is no word\n", what);
    exit(1);
}

/* ---- the root ---- */

static bcr_cce_id start(const char *what, const char *name)
{
    static int started;
    const char *const words[] = {what, name, NULL};
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = machine,
                                       .core = -1,
                                       .count = 1,
                                       .ordinal = started++,
                                       .program = program,
                                       .arguments = words};
    bcr_cce_id cce;
    MUST(bcr_start(&spec, &cce) == 1);
    MUST(bcr_watch(cce, 2) == 0);
    return cce;
}

static void ends(bcr_cce_id cce, int how, int number)
{
    int told[4];
    bcr_region rgid = bcr_deq(bcr_cce, 2, bcr_BLOCK);
    MUST(rgid != NULL && bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) >= 0);
    MUST(told[0] == cce && told[2] == how && told[3] == number);
    MUST(bcr_rgfree(rgid) == 0);
}

static void found(void)
{
    bcr_cce_id cce = -5, one = start("publish", "one");
    int cell = -5;
    MUST(bcr_find("one", &cce, &cell, bcr_BLOCK) == 0 && cce == one && cell == CELL);
    MUST(bcr_enq(bcr_rgalloc(1, 0), cce, cell, bcr_FREE) == 0);
    MUST(bcr_find("one", NULL, NULL, 0) == 0);
    FAILS(bcr_publish("one", CELL), bcrE_BUSY);
    FAILS(bcr_publish("one", 0), bcrE_BUSY);
    bcr_cce_id teller = start("tell", "mine"); /* it waits, or finds it */
    MUST(bcr_publish("mine", CELL) == 0);
    MUST(bcr_publish("the same", 2) == 0 && bcr_publish("the same", CELL) == 0);
    MUST(bcr_rgfree(bcr_deq(bcr_cce, CELL, bcr_BLOCK)) == 0);
    ends(teller, bcr_EXITED, 0);
    MUST(bcr_find("mine", &cce, &cell, 0) == 0 && cce == bcr_cce && cell == CELL);
    MUST(bcr_find("the same", &cce, &cell, 0) == 0 && cell == CELL);
    MUST(bcr_publish("mine", 0) == 0 && bcr_publish("mine", 0) == 0);
    FAILS(bcr_find("mine", &cce, &cell, 0), bcrE_TIMEOUT);
}

static void gone(void)
{
    for (int i = 0; i < 20; i++) { /* the name is free again, though the watch may be told first or last */
        bcr_cce_id cce, one = start("publish", "one");
        MUST(bcr_find("one", &cce, NULL, bcr_BLOCK) == 0 && cce == one);
        MUST(bcr_signal(one, SIGKILL) == 0);
        ends(one, bcr_KILLED, SIGKILL);
        while (bcr_find("one", NULL, NULL, 0) == 0)
            ;
        MUST(bcr_errno == bcrE_TIMEOUT);
    }
}

/* One that waits for a name ends, and is not served. */
static void seekers(void)
{
    bcr_cce_id first = start("seek", "late"), second = start("seek", "late");
    FAILS(bcr_find("late", NULL, NULL, 100), bcrE_TIMEOUT);
    MUST(bcr_signal(first, SIGKILL) == 0);
    ends(first, bcr_KILLED, SIGKILL);
    MUST(bcr_publish("late", CELL) == 0);
    ends(second, bcr_EXITED, 3);
}

static int runs;

static void on_region(int cell)
{
    MUST(bcr_rgfree(bcr_deq(bcr_cce, cell, 0)) == 0);
    runs++;
}

/* Handlers run while bcr_find waits. */
static void handlers(void)
{
    MUST(bcr_handler(CELL, on_region, 1, 0, 0) == 0 && bcr_publish("me", CELL) == 0);
    for (int i = 0; i < 10; i++) {
        bcr_cce_id teller = start("tell", "me");
        while (runs == i)
            FAILS(bcr_find("nobody", NULL, NULL, 20), bcrE_TIMEOUT);
        ends(teller, bcr_EXITED, 0);
    }
    bcr_cce_id cce, one = start("publish", "one");
    MUST(bcr_find("one", &cce, NULL, bcr_BLOCK) == 0 && cce == one);
}

static void refused(void)
{
    static const char *const bad[] = {"",
                                      "a\nb",
                                      "\x7f",
                                      "\xff",
                                      "\xc3",
                                      "\xc0\xaf",
                                      "\xed\xa0\x80",
                                      "\xe2\x82",
                                      "\xf4\x90\x80\x80",
                                      "\x80",
                                      "\xc2\x80",
                                      "\xc2\x9b",
                                      longest,
                                      NULL};
    static const char *const good[] = {"a",
                                       "gr\xc3\xb6\xc3\x9f"
                                       "e",
                                       "\xc2\xa0",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x90\x8c",
                                       " ",
                                       longest + 1};
    memset(longest, 'x', sizeof longest - 1);
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        FAILS(bcr_publish(bad[i], CELL), bcrE_ARG);
        FAILS(bcr_find(bad[i], NULL, NULL, 0), bcrE_ARG);
    }
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        FAILS(bcr_find(good[i], NULL, NULL, 0), bcrE_TIMEOUT);
        MUST(bcr_publish(good[i], CELL) == 0 && bcr_find(good[i], NULL, NULL, 0) == 0);
    }
    FAILS(bcr_publish("name", 77), bcrE_NOCELL);
    FAILS(bcr_publish("name", -1), bcrE_NOCELL);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"found", found}, {"gone", gone}, {"seekers", seekers}, {"handlers", handlers}, {"refused", refused}};
    if (bcr_init(bcr_handlers, NULL) != 0)
        return 2;
    if (bcr_enlistor != -1)
        act(argv[1], argv[2]);
    program = argv[0];
    machine = argc > 2 ? argv[2] : NULL;
    MUST(bcr_cagrow(CELL, 0, 1, 0, 0, 8, 1 << 16) == CELL && bcr_cagrow(2, 0, 1, 0, 0, 8, 1 << 16) == 2);
    for (unsigned i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            printf("%s is as it should be\n", argv[1]);
            fflush(stdout);
            MUST(bcr_end(0, bcr_ALL) == 0); /* those that stay, too */
        }
    fprintf(stderr, "sys_published: no scenario\n");
    return 2;
}
