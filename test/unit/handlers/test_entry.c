/* SPDX-License-Identifier: MIT */
/* Which routines run handlers that were requested: what bcr.h says of each, "may run handlers", is
 * what it does. While they run the CCE is in BCR (bcr_sigenter), and after each routine it is not. */
#include <bcr/program.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { HOME = 1, USED = 2, EMPTY = 3, AWAITED = 4 };

static void note(int cell)
{
    (void)cell;
    say("ran ");
    FAILS(bcr_sigenter(), bcrE_INSIDE);
}

/* What the calls below work on. */
static bcr_region region, pending;
static int value;

static void get(void)
{
    bcr_region got = bcr_get(1, bcr_cce, EMPTY, 0);
    CHECK_PTR(got, NULL);
}
static void put(void)
{
    CHECK_INT(bcr_put(1, region, bcr_cce, USED, bcr_NOFREE), 0);
}
static void put_within(void)
{
    CHECK_INT(bcr_put_within(1, region, bcr_cce, USED, bcr_NOFREE, 0), 0);
}
static void rgalloc_within(void)
{
    CHECK_INT(bcr_rgfree(bcr_rgalloc_within(1, 0, 0)), 0);
}
static void getputwait(void)
{
    CHECK_INT(bcr_getputwait(&value), 0);
}
static void rgshared(void)
{
    CHECK(bcr_rgshared(region) >= 0);
}
static void rgkind(void)
{
    CHECK_INT(bcr_rgkind(region), bcr_DATA);
}
static void heapleft(void)
{
    CHECK(bcr_heapleft() > 0);
}
static void handler_arg(void)
{
    CHECK_INT(bcr_handler_arg(EMPTY, NULL, NULL, 0, 0, 0), 0);
}
static void getpriority_(void)
{
    CHECK_INT(bcr_getpriority(&value, NULL), 0);
}
static void putm(void)
{
    const int cell[2] = {bcr_cce, USED};
    CHECK_INT(bcr_putm(1, region, 1, cell, bcr_NOFREE), 0);
}
static void zap(void)
{
    CHECK_INT(bcr_zap(bcr_cce, USED), 0);
}
static void wake(void)
{
    CHECK_INT(bcr_wake(USED), 0);
}
static void threadcores(void)
{
    CHECK_INT(bcr_threadcores(), 0);
}
static void idle(void)
{
    CHECK_INT(bcr_idle(bcr_IDLE_WAITING), 0);
    CHECK_INT(bcr_idle(0), 0);
}
static void take_note(void)
{
    CHECK_INT(bcr_note("nothing", bcr_cce), 0);
}
static void wakefd(void)
{
    CHECK(bcr_wakefd() >= 0);
}
static void wakeon(void)
{
    CHECK_INT(bcr_wakeon(EMPTY, 0), 0);
}
static void rgwait(void)
{
    CHECK_INT(bcr_rgwait(pending, 0, 0), 0);
}
static void rgwaitm(void)
{
    bcr_region of[1] = {pending};
    CHECK_INT(bcr_rgwaitm(1, of, 0, 0), 0);
}
static void acqrl(void)
{
    CHECK_PTR(bcr_acqrl(bcr_cce, EMPTY, 0), NULL);
}
static void acqwl(void)
{
    CHECK_PTR(bcr_acqwl(bcr_cce, EMPTY, 0), NULL);
}
static void handler(void)
{
    CHECK_INT(bcr_handler(EMPTY, NULL, 0, 0, 0), 0);
}
static void priority(void)
{
    CHECK_INT(bcr_priority(0, 0), 0);
}
static void putdone(void)
{
    CHECK_INT(bcr_putdone(0), 1);
}
static void celllen(void)
{
    CHECK(bcr_celllen(bcr_cce, USED) >= 0);
}
static void cagrow(void)
{
    int base = bcr_cagrow(0, 1, 0, 0, 0, 1, 64);
    CHECK(base > 0);
    CHECK_INT(bcr_cafree(base), 0);
}
static void cafree(void)
{
    FAILS(bcr_cafree(HOME), bcrE_BUSY);
}
static void rgalloc(void)
{
    CHECK_INT(bcr_rgfree(bcr_rgalloc(1, 0)), 0);
}
static void rgmod(void)
{
    CHECK_INT(bcr_rgmod(region), 0);
}
static void rgfree(void)
{
    FAILS(bcr_rgfree(NULL), bcrE_RGID);
}
static void rgrealloc(void)
{
    CHECK_INT(bcr_rgrealloc(region, sizeof(int)), 0);
}
static void rglen(void)
{
    CHECK_INT(bcr_rglen(region, NULL), sizeof(int));
}
static void rlsrl(void)
{
    FAILS(bcr_rlsrl(NULL), bcrE_RGID);
}
static void copyfm(void)
{
    CHECK(bcr_copyfm(bcrT_1INT, 1, region, 0, &value, sizeof value) >= 2);
}
static void copyto(void)
{
    CHECK(bcr_copyto(bcrT_1INT, 1, region, 0, &value, sizeof value) >= 2);
}
static void copytosz(void)
{
    CHECK(bcr_copytosz(bcrT_1INT, 1, 0, 0, &value, sizeof value) >= 2);
}
static void rgerror(void)
{
    CHECK_INT(bcr_rgerror(region), 0);
}
static void putwait(void)
{
    CHECK_INT(bcr_putwait(bcr_BLOCK), 0);
}

static void copytofm(void)
{
    bcr_region to = number(8);
    CHECK(bcr_copytofm(bcrT_1INT, 1, to, 0, region, 0) >= 2);
    CHECK_INT(bcr_rgfree(to), 0);
}
static void descshow(void)
{
    CHECK(bcr_descshow(bcrT_1INT, 0, NULL, 0) > 0);
}
static void fd(void)
{
    CHECK(bcr_fd(EMPTY) >= 0);
}
static void write_(void)
{
    CHECK_INT(bcr_write(region, bcr_cce, USED, bcr_NOFREE), 0);
}
static void enq(void)
{
    CHECK_INT(bcr_enq(region, bcr_cce, USED, bcr_NOFREE), 0);
}
static void rlswl(void)
{
    CHECK_INT(bcr_rlswl(number(8), bcr_cce, USED), 0);
}
static void wl2rl(void)
{
    CHECK_INT(bcr_wl2rl(region, bcr_cce, USED), 0);
}
static void deq(void)
{
    CHECK_PTR(bcr_deq(bcr_cce, EMPTY, 0), NULL);
}
static void read_(void)
{
    CHECK_PTR(bcr_read(bcr_cce, EMPTY, 0), NULL);
}
static void writem(void)
{
    const int cell[2] = {bcr_cce, USED};
    CHECK_INT(bcr_writem(region, 1, cell, bcr_NOFREE), 0);
}
static void enqm(void)
{
    const int cell[2] = {bcr_cce, USED};
    CHECK_INT(bcr_enqm(region, 1, cell, bcr_NOFREE), 0);
}
static void send_(void)
{
    CHECK(bcr_send(&value, sizeof value, bcrT_1INT, 1, bcr_cce, USED, 1, 0) >= 2);
}
static void sendm(void)
{
    const int cell[2] = {bcr_cce, USED};
    CHECK(bcr_sendm(&value, sizeof value, bcrT_1INT, 1, 1, cell, 1, 0) >= 2);
}
static void recv_(void)
{
    FAILS(bcr_recv(&value, sizeof value, bcrT_1INT, 1, bcr_cce, EMPTY, 1, 0), bcrE_TIMEOUT);
}
static void allow(void)
{
    CHECK_INT(bcr_allow(0), 0);
}
static void signal_section(void)
{
    CHECK_INT(bcr_sigenter(), 0);
    CHECK_INT(bcr_sigleave(), 0);
}

static const struct {
    const char *name;
    void (*call)(void);
} routines[] = {
    {"get", get},
    {"put", put},
    {"put_within", put_within},
    {"rgalloc_within", rgalloc_within},
    {"putm", putm},
    {"zap", zap},
    {"rgwait", rgwait},
    {"rgwaitm", rgwaitm},
    {"acqrl", acqrl},
    {"acqwl", acqwl},
    {"handler", handler},
    {"handler_arg", handler_arg},
    {"priority", priority},
    {"getpriority", getpriority_},
    {"putdone", putdone},
    {"celllen", celllen},
    {"cagrow", cagrow},
    {"cafree", cafree},
    {"rgalloc", rgalloc},
    {"rgmod", rgmod},
    {"rgfree", rgfree},
    {"rgrealloc", rgrealloc},
    {"rglen", rglen},
    {"rlsrl", rlsrl},
    {"copyfm", copyfm},
    {"copyto", copyto},
    {"copytosz", copytosz},
    {"rgerror", rgerror},
    {"rgshared", rgshared},
    {"rgkind", rgkind},
    {"heapleft", heapleft},
    {"putwait", putwait},
    {"getputwait", getputwait},
    {"copytofm", copytofm},
    {"descshow", descshow},

    {"fd", fd},
    {"write", write_},
    {"enq", enq},
    {"rlswl", rlswl},
    {"wl2rl", wl2rl},
    {"deq", deq},
    {"read", read_},
    {"writem", writem},
    {"enqm", enqm},
    {"send", send_},
    {"sendm", sendm},
    {"recv", recv_},
    {"allow", allow},
    {"sigenter", signal_section},
    {"sigleave", signal_section},
    {"wake", wake},
    {"threadcores", threadcores},
    {"idle", idle},
    {"note", take_note},
    {"wakefd", wakefd},
    {"wakeon", wakeon},
};

/* The block that names the routine: "bcr_one, bcr_other -- ...". */
static const char *block_of(const char *header, const char *routine)
{
    char name[64];
    snprintf(name, sizeof name, "bcr_%s", routine);
    for (const char *block = header; (block = strstr(block, "\n/* bcr_")) != NULL; block++) {
        const char *end = strstr(block, " -- "), *found = strstr(block, name);
        for (; found != NULL && end != NULL && found < end; found = strstr(found + 1, name))
            if (strchr(", ", found[strlen(name)]) != NULL)
                return block;
    }
    return NULL;
}

/* What stands under "Blocks" in the routine's block, or in the block that it refers to; without
 * that label it runs none. */
static bool says_that_it_runs_handlers(const char *header, const char *routine)
{
    const char *block = block_of(header, routine);
    if (block == NULL)
        FAIL("bcr.h has no block for bcr_%s", routine);
    const char *end = strstr(block, "*/\n"), *blocks = strstr(block, "\n * Blocks");
    CHECK(end != NULL);
    if (blocks == NULL || blocks > end)
        return false;
    char other[16];
    if (sscanf(blocks, "\n * Blocks, Order: as bcr_%15[a-z].", other) == 1)
        return says_that_it_runs_handlers(header, other);
    const char *handlers = strstr(blocks, "ay run handlers");
    return handlers != NULL && handlers < end;
}

static char *read_header(void)
{
    static const char *const headers[] = {BCR_HEADERS "/bcr.h", BCR_HEADERS "/bcr/program.h"};
    static char text[1 << 18];
    size_t length = 0;
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(headers[i], "r");
        CHECK(file != NULL);
        const size_t more = fread(text + length, 1, sizeof text - 1 - length, file);
        length += more;
        CHECK(more > 0 && length < sizeof text - 1);
        fclose(file);
    }
    text[length] = '\0';
    return text;
}

/* Those that the test below cannot call: they are the daemon's client, never return, or return an address. */
static bool is_left_out(const char *name)
{
    return strcmp(name, "init") == 0 || strcmp(name, "enter") == 0 || strcmp(name, "enlist") == 0 ||
           strcmp(name, "start") == 0 || strcmp(name, "arch") == 0 || strncmp(name, "host", 4) == 0 ||
           strcmp(name, "watch") == 0 || strcmp(name, "unwatch") == 0 || strcmp(name, "signal") == 0 ||
           strcmp(name, "end") == 0 || strcmp(name, "publish") == 0 || strncmp(name, "team", 4) == 0 ||
           strcmp(name, "find") == 0 || strcmp(name, "tempdir") == 0 || strcmp(name, "outdone") == 0 ||
           strcmp(name, "debug") == 0 || strcmp(name, "block") == 0 || strcmp(name, "strerror") == 0 ||
           strstr(name, "_location") != NULL;
}

TEST(every_routine_was_looked_at)
{
    const char *header = read_header();
    size_t found = 0;
    while ((header = strstr(header, "\nBCR_API ")) != NULL) {
        char name[64];
        const char *at = strstr(header++, "bcr_");
        while (at[strcspn(at, "( ;")] != '(') /* the name, after types that begin like it */
            at = strstr(at + 1, "bcr_");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 4, "("), at + 4);
        bool known = is_left_out(name);
        for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
            known = known || strcmp(name, routines[i].name) == 0;
        if (!known)
            FAIL("bcr_%s is not in the list", name);
        found++;
    }
    CHECK(found > sizeof routines / sizeof routines[0]);
}

TEST(those_routines_run_handlers_that_say_so)
{
    const char *header = read_header();
    begin();
    CHECK_INT(grow(4, 100, 1 << 16), HOME);
    CHECK_INT(bcr_handler(HOME, note, 1, 0, 0), 0);
    region = number(7);
    pending = bcr_get(1, bcr_cce, AWAITED, bcr_PENDING);
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++) {
        as(two);
        CHECK_INT(bcr_enq(number(1), one_of_two, HOME, bcr_FREE), 0);
        as(one);
        routines[i].call();
        signal_section();
        if ((strcmp(told, "ran ") == 0) != says_that_it_runs_handlers(header, routines[i].name))
            FAIL("bcr_%s ran \"%s\"; bcr.h says otherwise", routines[i].name, told);
        CHECK_INT(bcr_allow(0), 0);
        SAID("ran ");
    }
    CHECK_INT(bcr_rgfree(pending), 0);
    CHECK_INT(bcr_rgfree(region), 0);
    CHECK_INT(bcr_zap(bcr_cce, HOME), 0);
    CHECK_INT(bcr_zap(bcr_cce, USED), 0);
    end();
}
