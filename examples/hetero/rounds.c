/* SPDX-License-Identifier: MIT */
/*
 * rounds.c -- see rounds.h.
 *
 *     sheet:   goes from CCE to CCE and home again; each checks every value and CCE ID, and writes the next ones
 *     ledger:  a cell of each CCE as a lock; in each round one CCE takes one and adds to what it protects
 *     tick:    a region into a cell that has a handler, which adds it up
 *     error:   now and then, a put into a cell that nobody has; its error region must tell so
 *
 * Nothing here asks which machine it is on, or which another CCE is on.
 */
#include "rounds.h"
#include "must.h"
#include <stdint.h>
#include <string.h>

enum { IN_FLIGHT = 8, ERROR_EVERY = 5, NO_SUCH_CELL = 4000 };
enum { ALL_HOME = -1, TELL = -2 }; /* what the root says in place of a round */

struct inner {
    char c;
    int i;
    double d;
    short s[3];
};
struct sheet {
    char c[3];
    struct inner inner[2];
    short s;
    long long ll[2];
    float f;
    long l;
    bcr_cce_id from; /* who has written it */
    int round;
    bcr_cce_id all[MEMBERS_MAX]; /* the members; -1 behind them */
    double d[2];
    int stops; /* CCEs that it has been at */
};
static const int SHEET[] = {bcrD_STRUCT(struct sheet, (CHAR, c), (NEST, inner, struct inner, 0), (SHORT, s),
                                        (LONGLONG, ll), (FLOAT, f), (LONG, l), (CCE, from), (INT, round),
                                        (CCE, all), (DOUBLE, d), (INT, stops)),
                            bcrD_STRUCT(struct inner, (CHAR, c), (INT, i), (DOUBLE, d), (SHORT, s))};

struct ledger {
    int entries;
    long long sum;
};
static const int LEDGER_TYPE[] = {bcrD_STRUCT(struct ledger, (INT, entries), (LONGLONG, sum))};

struct tally {
    bcr_cce_id who;
    int sheets, errors, ticks;
    long long sum; /* of the ticks */
};
static const int TALLY[] = {
    bcrD_STRUCT(struct tally, (CCE, who), (INT, sheets), (INT, errors), (INT, ticks), (LONGLONG, sum))};

const int MEMBER_TYPE[] = {bcrD_STRUCT(struct member, (INT, archtype), (CCE, cce))};

static struct tally own;

/* The `nth` value of a sheet: splitmix64. */
static uint64_t value(int round, int stops, int nth)
{
    uint64_t z = ((uint64_t)round * 1000 + (uint64_t)stops) * 100 + (uint64_t)nth;
    z = (z + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return z ^ z >> 31;
}

/* What lies between the members is zero, so that two sheets can be compared as they are. */
static void write_sheet(struct sheet *sheet, const struct member *members, int count, int round, int stops)
{
    int n = 0;
    memset(sheet, 0, sizeof *sheet);
    for (int k = 0; k < 3; k++)
        sheet->c[k] = (char)(value(round, stops, n++) & 127);
    for (int k = 0; k < 2; k++) {
        struct inner *inner = &sheet->inner[k];
        inner->c = (char)(value(round, stops, n++) & 127);
        inner->i = (int32_t)value(round, stops, n++);
        inner->d = (double)(int32_t)value(round, stops, n++) / 64;
        for (int m = 0; m < 3; m++)
            inner->s[m] = (int16_t)value(round, stops, n++);
        sheet->ll[k] = (int64_t)value(round, stops, n++);
        sheet->d[k] = (double)((int64_t)value(round, stops, n++) >> 12) / 8;
    }
    sheet->s = (int16_t)value(round, stops, n++);
    sheet->f = (float)((int32_t)value(round, stops, n++) >> 9) / 4;
    sheet->l = (int32_t)value(round, stops, n++); /* a long of some machines has no more bits */
    for (int k = 0; k < MEMBERS_MAX; k++)
        sheet->all[k] = k < count ? members[k].cce : -1;
    sheet->from = members[stops % count].cce;
    sheet->round = round;
    sheet->stops = stops;
}

static void check_sheet(const struct sheet *got, const struct member *members, int count)
{
    struct sheet want;
    write_sheet(&want, members, count, got->round, got->stops);
    must_hold(memcmp(got, &want, sizeof want) == 0, "every value of a sheet is what was written");
    own.sheets++;
}

/* Every other round the sheet is represented as its reader has it, else as its writer does. */
static void send_sheet(const struct member *members, int count, int round, int stops)
{
    struct sheet sheet;
    const struct member *next = &members[(stops + 1) % count];
    write_sheet(&sheet, members, count, round, stops);
    must_copy(bcr_send(&sheet, sizeof sheet, SHEET, 1, next->cce, SHEETS, 1,
                       round % 2 != 0 ? bcr_arch(next->cce) : 0),
              "send a sheet on");
}

static void next_sheet(struct sheet *sheet)
{
    memset(sheet, 0, sizeof *sheet);
    must_copy(bcr_recv(sheet, sizeof *sheet, SHEET, 1, bcr_cce, SHEETS, 1, bcr_BLOCK), "take a sheet");
}

/* --- what each does on the way --- */

static void enter_in_ledger(bcr_cce_id cce, int round)
{
    struct ledger ledger;
    bcr_region region = must_have(bcr_acqwl(cce, LEDGER, bcr_BLOCK), "get the write lock of a ledger");
    must_copy(bcr_copyfm(LEDGER_TYPE, 1, region, 0, &ledger, sizeof ledger), "read a ledger");
    ledger.entries++;
    ledger.sum += round;
    must_copy(bcr_copyto(LEDGER_TYPE, 1, region, 0, &ledger, sizeof ledger), "write a ledger");
    must(bcr_rlswl(region, cce, LEDGER), "release the write lock of a ledger");
}

static void count_tick(int cell)
{
    long long number;
    must_copy(bcr_recv(&number, sizeof number, bcrT_1LONGLONG, 1, bcr_cce, cell, 1, 0), "take a tick");
    own.ticks++;
    own.sum += number;
}

static void tick(bcr_cce_id cce, int round)
{
    const long long number = (long long)round << 32 | (unsigned)bcr_cceord;
    must_copy(bcr_send(&number, sizeof number, bcrT_1LONGLONG, 1, cce, TICKS, 1, 0), "send a tick");
}

/* Within a host the put itself fails. */
static void make_error(bcr_cce_id cce)
{
    int error[4];
    bcr_region region = must_have(bcr_rgalloc(8, 0), "allocate a region");
    own.errors++;
    if (bcr_enq(region, cce, NO_SUCH_CELL, bcr_FREE) < 0) {
        must_hold(bcr_errno == bcrE_NOCELL, "a put into a cell that nobody has fails for that");
        must(bcr_rgfree(region), "free a region");
        return;
    }
    region = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "wait for the error region");
    must_copy(bcr_copyfm(bcrT_1ERROR, 1, region, 0, error, sizeof error), "read an error region");
    must_hold(bcr_rgerror(region) == bcrE_NOCELL && error[0] == bcrE_NOCELL && error[1] == bcr_op_put &&
                  error[2] == cce && error[3] == NO_SUCH_CELL,
              "an error region tells the operation, the CCE and the cell");
    must(bcr_rgfree(region), "free an error region");
}

/* In each round one member does this, with one of the others or itself. */
static void do_chores(const struct member *members, int count, int round, int own_place)
{
    const bcr_cce_id other = members[(own_place + 1 + round / count) % count].cce;
    if (round % count != own_place)
        return;
    enter_in_ledger(other, round);
    tick(other, round);
    if (round / count % ERROR_EVERY == 0)
        make_error(other);
}

/* --- the two parts --- */

void rounds_begin(void)
{
    const struct ledger empty = {0};
    must(bcr_cagrow(SHEETS, 0, 3, 0, 0, 512, 1 << 20), "grow its cells");
    must(bcr_cagrow(LEDGER, 0, 0, 0, 1, 1, 0), "grow the cell of its ledger");
    must_copy(bcr_send(&empty, sizeof empty, LEDGER_TYPE, 1, bcr_cce, LEDGER, 1, 0), "open its ledger");
    must(bcr_handler(TICKS, count_tick, 1, 1, 1), "have its ticks counted");
}

static void check_members(const struct member *members, int count)
{
    for (int i = 0; i < count; i++)
        must_hold(bcr_arch(members[i].cce) == members[i].archtype, "bcr_arch tells what that CCE has told");
    own.who = bcr_cce;
}

static void send_news(const struct member *members, int round)
{
    must(bcr_putdone(bcr_BLOCK), "have all its puts done");
    if (round == TELL)
        must(bcr_allow(0), "have its last ticks counted");
    must_copy(bcr_send(&own, sizeof own, TALLY, 1, members[0].cce, NEWS, 1, 0), "tell the root");
}

void rounds_follow(const struct member *members, int count)
{
    int own_place = 0;
    check_members(members, count);
    while (members[own_place].cce != bcr_cce)
        must_hold(++own_place < count, "each CCE knows itself in the list of members");
    for (;;) {
        struct sheet sheet;
        next_sheet(&sheet);
        if (sheet.round < 0) {
            send_news(members, sheet.round);
            if (sheet.round == TELL)
                return;
            continue;
        }
        check_sheet(&sheet, members, count);
        do_chores(members, count, sheet.round, own_place);
        send_sheet(members, count, sheet.round, sheet.stops + 1);
    }
}

/* Says something to all others, and adds up what they answer. */
static struct tally ask_all(const struct member *members, int count, int what)
{
    struct sheet sheet;
    struct tally sum = own;
    write_sheet(&sheet, members, count, 0, 0);
    sheet.round = what;
    for (int i = 1; i < count; i++)
        must_copy(bcr_send(&sheet, sizeof sheet, SHEET, 1, members[i].cce, SHEETS, 1, 0), "ask a CCE");
    for (int i = 1; i < count; i++) {
        struct tally one;
        must_copy(bcr_recv(&one, sizeof one, TALLY, 1, bcr_cce, NEWS, 1, bcr_BLOCK), "hear from a CCE");
        sum.sheets += one.sheets;
        sum.errors += one.errors;
        sum.ticks += one.ticks;
        sum.sum += one.sum;
    }
    return sum;
}

static struct ledger all_ledgers(const struct member *members, int count)
{
    struct ledger all = {0}, one;
    for (int i = 0; i < count; i++) {
        bcr_region region =
            must_have(bcr_acqrl(members[i].cce, LEDGER, bcr_BLOCK), "get a ledger's read lock");
        must_copy(bcr_copyfm(LEDGER_TYPE, 1, region, 0, &one, sizeof one), "read a ledger");
        must(bcr_rlsrl(region), "release a ledger's read lock");
        all.entries += one.entries;
        all.sum += one.sum;
    }
    return all;
}

static long long sum_of_ticks(int count, int rounds)
{
    long long sum = 0;
    for (int round = 0; round < rounds; round++)
        sum += (long long)round << 32 | (unsigned)(round % count); /* a member's ordinal is its place */
    return sum;
}

void rounds_lead(const struct member *members, int count, int rounds)
{
    check_members(members, count);
    for (int begun = 0, home = 0; home < rounds;) {
        if (begun < rounds && begun - home < IN_FLIGHT) {
            send_sheet(members, count, begun++, 0);
            continue;
        }
        struct sheet sheet;
        next_sheet(&sheet);
        check_sheet(&sheet, members, count);
        do_chores(members, count, sheet.round, 0);
        home++;
    }
    must(bcr_putdone(bcr_BLOCK), "have all its puts done");
    ask_all(members, count, ALL_HOME);
    must(bcr_allow(0), "have its last ticks counted");
    const struct ledger ledger = all_ledgers(members, count); /* they go with their CCEs */
    const struct tally tally = ask_all(members, count, TELL);
    must_hold(tally.sheets == rounds * count, "each sheet was at every CCE");
    must_hold(ledger.entries == rounds && ledger.sum == (long long)rounds * (rounds - 1) / 2,
              "the ledgers have every entry once");
    must_hold(tally.ticks == rounds && tally.sum == sum_of_ticks(count, rounds),
              "the handlers have counted every tick once");
    printf("hetero: %d rounds among %d CCEs: %d sheets, %d locked entries, %d handled ticks, %d errors; all "
           "right\n",
           rounds, count, tally.sheets, ledger.entries, tally.ticks, tally.errors);
}
