/* SPDX-License-Identifier: MIT */
/*
 * bank -- accounts are cells, transfers are handlers, and tellers are killed at work.
 *
 *     teller: order  ------------------------> bank: a handler locks both accounts
 *             a handler signs or refuses <---- asks the teller, who may be dead by now
 *             the signature  ----------------> moves the money or leaves it; releases both accounts
 *             receipt  <----------------------
 *
 * Each transfer is an invocation of one handler.  It waits for its locks and for its teller by blocking, as any
 * program does, and meanwhile others run: some wait for accounts, some for tellers.  An audit, which is a handler
 * as well, locks all accounts and adds them up.
 *
 * If a teller is killed, the invocations that wait for it are told, and leave the money where it is.  So at every audit
 * all the money must be there, whenever tellers die; and in the end no account may be locked.
 *
 * Everybody locks accounts in the order of their numbers, so nobody waits for one who waits for him.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: bank [-k kills] [tellers [orders]]     (4 tellers, 1000 orders each)\n"
    "Tellers order transfers between the accounts of a bank, which audits itself all the time.\n"
    "  -k, --kill kills    so many tellers are killed at work, and replaced; needs\n"
    "                      `enl --onfail isolate bank -k 10`, since any abnormal end\n"
    "                      otherwise ends the whole program\n";

/* The bank's cells; the accounts stand in an area of their own, so there is always room to put one back. */
enum { CRIES = 1, ORDERS = 2, BYES = 3, AUDITS = 4 /* private */, ACCOUNTS = 10 };
/* A teller's cells. */
enum { ASKS = 1, RECEIPTS = 2, SIGNED = 3 /* out: the bank takes from it */ };

enum { ACCOUNT_COUNT = 20, MONEY = 1000 /* in each account at first */, ORDERS_PER_AUDIT = 50 };
enum { MAX_TELLERS = 100, MAX_KILLS = 1000, MIN_ORDERS = 10, REGION_BYTES = 64 };

struct cry {
    bcr_cce_id cce;
    int ord, pid;
};
static const int CRY[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 2};

/* Of one host: the rest is read and written in place. */
struct order {
    int ord; /* whose it is */
    int from, to, amount;
};
struct bye {
    int ord, transfers;
};

static bcr_region new_region(void)
{
    return must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a region");
}

/* The first region of an own cell, as an int. */
static int take_int(int cell, int msec)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, msec), "take a region");
    const int value = **(int **)region;
    must(bcr_rgfree(region), "free a region");
    return value;
}

/* --- a teller --- */

/* Asked whether an order stands.  Runs while the main program waits for its receipt. */
static void on_ask(int cell)
{
    const int amount = take_int(cell, 0);
    bcr_region region = new_region();
    **(int **)region = amount % 7 != 0; /* second thoughts */
    must(bcr_enq(region, bcr_cce, SIGNED, bcr_FREE), "answer");
}

static void put_order(void)
{
    bcr_region region = new_region();
    struct order *order = *region;
    order->ord = bcr_cceord;
    order->from = rand() % ACCOUNT_COUNT;
    order->to = (order->from + 1 + rand() % (ACCOUNT_COUNT - 1)) % ACCOUNT_COUNT;
    order->amount = 1 + rand() % MONEY;
    must(bcr_enq(region, bcr_enlistor, ORDERS, bcr_FREE), "put an order");
}

static void be_teller(void)
{
    const struct cry me = {.cce = bcr_cce, .ord = bcr_cceord, .pid = (int)getpid()};
    const int orders = take_int(0, bcr_BLOCK);
    must(bcr_cagrow(ASKS, 0, 2, 1, 0, 4, 4096), "grow its cells");
    must(bcr_handler(ASKS, on_ask, 1, 0, 0), "install a handler");
    bcr_region region = new_region();
    must_copy(bcr_copyto(CRY, 1, region, 0, &me, sizeof me), "write its birthcry");
    must(bcr_enq(region, bcr_enlistor, CRIES, bcr_FREE), "send its birthcry");

    struct bye bye = {.ord = bcr_cceord};
    srand((unsigned)bcr_cceord);
    for (int i = 0; i < orders; i++) {
        put_order();
        bye.transfers += take_int(RECEIPTS, bcr_BLOCK);
    }
    region = new_region();
    *(struct bye *)*region = bye;
    must(bcr_enq(region, bcr_enlistor, BYES, bcr_FREE), "say good-bye");
}

/* --- the bank --- */

enum moment { AT_ORDER, AT_QUESTION, AT_RECEIPT, MOMENTS };

static struct {
    const char *program;
    int tellers, orders, kills; /* as asked for */
    int enlisted, killed, byes; /* tellers so far */
    long ordered, transferred, refused, abandoned, audits;
    int under_way, most_under_way; /* transfers at the same time */
    struct teller {
        bcr_cce_id cce;
        int pid, orders, transfers;
    } teller[1 + MAX_TELLERS + MAX_KILLS]; /* by ordinal */
} bank;

static void enlist_tellers(int count)
{
    const int first = bank.enlisted + 1;
    bcr_region birth = new_region();
    **(int **)birth = bank.orders;
    bank.enlisted += count; /* before the call: it waits, and others may enlist meanwhile */
    must(bcr_enlist(NULL, -count, first, bank.program, birth, bcr_FREE), "enlist a teller");
}

static void on_cry(int cell)
{
    struct cry from;
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a birthcry");
    must_copy(bcr_copyfm(CRY, 1, region, 0, &from, sizeof from), "read a birthcry");
    must(bcr_rgfree(region), "free a birthcry");
    bank.teller[from.ord].cce = from.cce;
    bank.teller[from.ord].pid = from.pid;
}

/* The first tellers die in the middle of their work: at the moment that their ordinal says, or while they do
 * whatever comes after it. */
static void kill_if_due(int ord, enum moment moment)
{
    struct teller *teller = &bank.teller[ord];
    if (ord > bank.kills || teller->pid == 0 || teller->orders != 1 + ord % (MIN_ORDERS - 1) ||
        (int)moment != ord % MOMENTS)
        return;
    const pid_t pid = (pid_t)teller->pid;
    teller->pid = 0;
    bank.killed++;
    must_hold(kill(pid, SIGKILL) == 0, "a teller that is to be killed is there");
    enlist_tellers(1);
}

/* What a call that has to do with a teller gave; false if there is no such teller any more. */
static bool is_there(bool good, const char *doing)
{
    if (!good && bcr_errno != bcrE_DEAD)
        must_end(doing, bcr_strerror(bcr_errno));
    return good;
}

/* Whether the teller signs; waits for that as long as it takes. */
static bool ask(const struct order *order)
{
    const int teller = bank.teller[order->ord].cce;
    bcr_region region = new_region();
    **(int **)region = order->amount;
    if (!is_there(bcr_enq(region, teller, ASKS, bcr_FREE) == 0, "ask a teller")) {
        must(bcr_rgfree(region), "free a question");
        bank.abandoned++;
        return false;
    }
    kill_if_due(order->ord, AT_QUESTION);
    region = bcr_deq(teller, SIGNED, bcr_BLOCK);
    if (!is_there(region != NULL, "hear a teller's answer")) {
        bank.abandoned++;
        return false;
    }
    const bool yes = **(int **)region != 0;
    must(bcr_rgfree(region), "free an answer");
    bank.refused += !yes;
    return yes;
}

static void give_receipt(int ord, bool done)
{
    bcr_region region = new_region();
    **(int **)region = done;
    if (!is_there(bcr_enq(region, bank.teller[ord].cce, RECEIPTS, bcr_FREE) == 0, "give a receipt"))
        must(bcr_rgfree(region), "free a receipt");
}

static bcr_region lock(int account)
{
    return must_have(bcr_acqwl(bcr_cce, ACCOUNTS + account, bcr_BLOCK), "lock an account");
}

static void unlock(bcr_region region, int account)
{
    must(bcr_rlswl(region, bcr_cce, ACCOUNTS + account), "release an account");
}

static bool transfer(const struct order *order)
{
    const int low = order->from < order->to ? order->from : order->to;
    const int high = order->from < order->to ? order->to : order->from;
    bcr_region low_region = lock(low), high_region = lock(high);
    const bool yes = ask(order);
    if (yes) {
        **(long **)low_region += low == order->to ? order->amount : -order->amount;
        **(long **)high_region += high == order->to ? order->amount : -order->amount;
        bank.transferred++;
        bank.teller[order->ord].transfers++;
    }
    unlock(high_region, high);
    unlock(low_region, low);
    return yes;
}

static void on_order(int cell)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take an order");
    const struct order order = *(struct order *)*region;
    must(bcr_rgfree(region), "free an order");
    bank.teller[order.ord].orders++;
    if (++bank.under_way > bank.most_under_way)
        bank.most_under_way = bank.under_way;
    if (++bank.ordered % ORDERS_PER_AUDIT == 0)
        must(bcr_enq(new_region(), bcr_cce, AUDITS, bcr_FREE), "ask for an audit");

    kill_if_due(order.ord, AT_ORDER);
    const bool done = transfer(&order);
    give_receipt(order.ord, done);
    kill_if_due(order.ord, AT_RECEIPT);
    bank.under_way--;
}

/* All accounts at one time: with all locks held, no transfer is half done. */
static void audit(void)
{
    bcr_region account[ACCOUNT_COUNT];
    long sum = 0;
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        account[i] = lock(i);
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        sum += **(long **)account[i];
    must_hold(sum == (long)ACCOUNT_COUNT * MONEY, "no money is lost or made");
    bank.audits++;
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        unlock(account[i], i);
}

static void on_audit(int cell)
{
    (void)take_int(cell, 0);
    audit();
}

/* All tellers that live have gone home.  Transfers of dead ones may still wait; the last audit waits for them. */
static _Noreturn void close_bank(void)
{
    audit();
    printf("bank: %d tellers at a time, %d killed: %ld orders: %ld transferred, %ld refused, %ld given up\n",
           bank.tellers, bank.killed, bank.ordered, bank.transferred, bank.refused, bank.abandoned);
    printf("bank: %ld audits, up to %d transfers at the same time: no money is lost or made\n", bank.audits,
           bank.most_under_way);
    must_hold(bank.killed == bank.kills, "so many were killed as asked for");
    must_hold(bank.killed > 0 || bank.abandoned == 0, "no order of a teller that lives is given up");
    for (int i = 0; i < ACCOUNT_COUNT; i++)
        must_hold(must(bcr_celllen(bcr_cce, ACCOUNTS + i), "look at an account") == 1,
                  "no account stays locked");
    exit(EXIT_SUCCESS);
}

static void on_bye(int cell)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a good-bye");
    const struct bye bye = *(struct bye *)*region;
    must(bcr_rgfree(region), "free a good-bye");
    must_hold(bank.teller[bye.ord].transfers == bye.transfers,
              "a teller's receipts are what the bank has done");
    if (++bank.byes == bank.tellers)
        close_bank();
}

static void open_bank(void)
{
    const int all = bank.tellers + bank.kills;
    must(bcr_cagrow(CRIES, 0, 3, 0, 0, 3 * all, (8 * all + ACCOUNT_COUNT) * REGION_BYTES + 4096),
         "grow its cells");
    must(bcr_cagrow(AUDITS, 1, 0, 0, 0, all * bank.orders / ORDERS_PER_AUDIT + 1, 0),
         "grow its cell for audits");
    must(bcr_cagrow(ACCOUNTS, ACCOUNT_COUNT, 0, 0, 0, ACCOUNT_COUNT, 0), "grow its accounts");
    for (int i = 0; i < ACCOUNT_COUNT; i++) {
        bcr_region region = new_region();
        **(long **)region = MONEY;
        unlock(region, i);
    }
    must(bcr_handler(CRIES, on_cry, 1, 1, 1), "install a handler"); /* before that CCE's orders */
    must(bcr_handler(ORDERS, on_order, 1, 0, 0), "install a handler");
    must(bcr_handler(BYES, on_bye, 1, 0, 0), "install a handler");
    must(bcr_handler(AUDITS, on_audit, 1, 0, 0), "install a handler");
    enlist_tellers(bank.tellers);
    bcr_block();
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"kill", required_argument, NULL, 'k'}, {"help", no_argument, NULL, 'h'}, {0}};
    for (int option; (option = getopt_long(argc, argv, "k:h", options, NULL)) != -1;) {
        if (option != 'k' || !args_parse(optarg, 0, MAX_KILLS, &bank.kills)) {
            fputs(USAGE, option == 'h' ? stdout : stderr);
            return option == 'h' ? EXIT_SUCCESS : EXIT_USAGE;
        }
    }
    args_check(argc - optind + 1, argv + optind - 1, 2, USAGE);
    bank.program = argv[0];
    bank.tellers = args_number(argc, argv, optind, "tellers", 4, 1, MAX_TELLERS);
    bank.orders = args_number(argc, argv, optind + 1, "orders", 1000, MIN_ORDERS, 1000000);

    must_init(bcr_user_ca | bcr_handlers, argv[0]);
    if (bcr_enlistor < 0)
        open_bank();
    else
        be_teller();
    return EXIT_SUCCESS;
}
