/* SPDX-License-Identifier: MIT */
/* Which routines run handlers that were requested: what bcr.h says of each, "may run handlers", is
 * what it does. */
#include <stdbool.h>
#include <stdlib.h>

#include "bcri/self.h"
#include "cce.h"
#include "told.h"

enum { HOME = 1, USED = 2, EMPTY = 3, AWAITED = 4 };

static void note(int cell)
{
    (void)cell;
    say("ran ");
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
static void putm(void)
{
    const int cell[2] = {bcr_cce, USED};
    CHECK_INT(bcr_putm(1, region, 1, cell, bcr_NOFREE), 0);
}
static void zap(void)
{
    CHECK_INT(bcr_zap(bcr_cce, USED), 0);
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

static const struct {
    const char *name;
    void (*call)(void);
} routines[] = {
    {"get", get},           {"put", put},           {"putm", putm},
    {"zap", zap},           {"rgwait", rgwait},     {"rgwaitm", rgwaitm},
    {"acqrl", acqrl},       {"acqwl", acqwl},       {"handler", handler},
    {"priority", priority}, {"putdone", putdone},   {"celllen", celllen},
    {"cagrow", cagrow},     {"cafree", cafree},     {"rgalloc", rgalloc},
    {"rgmod", rgmod},       {"rgfree", rgfree},     {"rgrealloc", rgrealloc},
    {"rglen", rglen},       {"rlsrl", rlsrl},       {"copyfm", copyfm},
    {"copyto", copyto},     {"copytosz", copytosz}, {"rgerror", rgerror},
    {"putwait", putwait},
};

/* What stands under "Blocks" in the routine's comment. */
static bool says_that_it_runs_handlers(const char *header, const char *routine)
{
    char title[64];
    snprintf(title, sizeof title, "/* bcr_%s -- ", routine);
    const char *comment = strstr(header, title);
    CHECK(comment != NULL);
    const char *blocks = strstr(comment, " * Blocks  : ");
    CHECK(blocks != NULL);
    const char *handlers = strstr(blocks, "ay run handlers"), *end = strstr(blocks, "*/");
    CHECK(end != NULL);
    return handlers != NULL && handlers < end;
}

static char *read_header(void)
{
    static char text[1 << 18];
    FILE *file = fopen(BCR_HEADER, "r");
    CHECK(file != NULL);
    size_t length = fread(text, 1, sizeof text - 1, file);
    CHECK(length > 0 && length < sizeof text - 1);
    fclose(file);
    return text;
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
