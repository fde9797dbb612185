/* SPDX-License-Identifier: MIT */
/*
 * demand -- a cell that computes its values when a consumer asks for one.
 *
 *     consumer: bcr_deq(PRIMES) ----> empty: the get waits, and the handler is requested
 *                             <---- the handler computes the next prime and puts it: the get has it
 *
 * The cell is empty all the time, and has no room to be anything else (nrgns 0).  Consumers cannot tell: to them
 * it is a cell that always has one more prime.
 *
 * With `ahead`, the mark is below zero: the handler is requested whenever a take finds that many or fewer.  So a
 * stock is kept up, and who takes from it need not wait for a computation.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] =
    "usage: demand [consumers [values [ahead]]]     (3 consumers, 1000 values each, 0 ahead)\n"
    "Takes primes from a cell that computes each when it is asked for, or `ahead` of that.\n";

enum { REPORTS = 1, PRIMES = 2 }; /* the root's cells: others put into the first, and take from the second */
enum { REGION_BYTES = 64 };

struct report {
    long taken, sum;
};
static const int REPORT[] = {0, bcrT_LONG | bcrT_END, 2};

/* --- the consumers --- */

static void consume(void)
{
    int values;
    struct report report = {0};
    must(bcr_cagrow(1, 0, 0, 0, 0, 0, 4096), "grow its comm heap");
    bcr_region birth = must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its task");
    must_copy(bcr_copyfm(bcrT_1INT, 1, birth, 0, &values, sizeof values), "read its task");
    must(bcr_rgfree(birth), "free its task");

    for (int last = 0; report.taken < values; report.taken++) {
        bcr_region region = must_have(bcr_deq(bcr_enlistor, PRIMES, bcr_BLOCK), "ask for a prime");
        const int prime = **(int **)region;
        must(bcr_rgfree(region), "free a prime");
        must_hold(prime > last, "each prime is larger than the one before, so nobody else has it");
        report.sum += prime;
        last = prime;
    }

    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate its report");
    must_copy(bcr_copyto(REPORT, 1, region, 0, &report, sizeof report), "write its report");
    must(bcr_enq(region, bcr_enlistor, REPORTS, bcr_FREE), "send its report");
}

/* --- the root --- */

static struct {
    int consumers, values, ahead;
    int reports;
    long computed, taken, taken_sum;
    int last; /* prime that was computed */
} root;

static bool is_prime(int number)
{
    for (int i = 2; i <= number / i; i++)
        if (number % i == 0)
            return false;
    return true;
}

static int prime_after(int number)
{
    do
        number++;
    while (!is_prime(number));
    return number;
}

static void put_next_prime(void)
{
    bcr_region region = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate a prime");
    root.last = prime_after(root.last);
    **(int **)region = root.last;
    root.computed++;
    must(bcr_enq(region, bcr_cce, PRIMES, bcr_FREE), "offer a prime");
}

/* One request for each take, so one prime for each.  Handlers of one priority do not interrupt each other, so the
 * primes are put in their order. */
static void on_demand(int cell)
{
    (void)cell;
    put_next_prime();
}

static _Noreturn void finish(void)
{
    const long asked = (long)root.consumers * root.values;
    long sum = 0;
    int prime = 1;
    for (long i = 0; i < asked; i++) {
        prime = prime_after(prime);
        sum += prime;
    }
    printf("demand: %ld primes asked for, %ld taken, %ld computed; the last is %d\n", asked, root.taken,
           root.computed, root.last);
    must_hold(root.taken == asked && root.taken_sum == sum,
              "every prime was taken, and each by one consumer");
    must_hold(root.computed == asked + root.ahead,
              "a value is computed when it is asked for, and not before");
    must_hold(must(bcr_celllen(bcr_cce, PRIMES), "count what is in stock") == root.ahead,
              "what is ahead is in stock");
    must_hold(root.ahead > 0 || root.last == prime, "nothing was computed that nobody wanted");
    exit(EXIT_SUCCESS);
}

static void on_report(int cell)
{
    struct report report;
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a report");
    must_copy(bcr_copyfm(REPORT, 1, region, 0, &report, sizeof report), "read a report");
    must(bcr_rgfree(region), "free a report");
    root.taken += report.taken;
    root.taken_sum += report.sum;
    if (++root.reports == root.consumers)
        finish();
}

static void lead(const char *program)
{
    must(bcr_cagrow(REPORTS, 0, 1, 0, 0, root.consumers, 0), "grow its cell for reports");
    must(bcr_cagrow(PRIMES, 0, 0, 1, 0, root.ahead, 2 * 64 * (root.ahead + root.consumers + 4)),
         "grow its cell of primes");
    root.last = 1;
    for (int i = 0; i < root.ahead; i++)
        put_next_prime();
    /* What was asked for before a report was sent is computed before it is read. */
    must(bcr_handler(PRIMES, on_demand, -root.ahead, 1, 1), "install a handler");
    must(bcr_handler(REPORTS, on_report, 1, 0, 0), "install a handler");

    bcr_region birth = must_have(bcr_rgalloc(REGION_BYTES, 0), "allocate the task");
    must_copy(bcr_copyto(bcrT_1INT, 1, birth, 0, &root.values, sizeof root.values), "write the task");
    must(bcr_enlist(NULL, -root.consumers, 1, program, birth, bcr_FREE), "enlist the consumers");
    bcr_block();
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 3, USAGE);
    root.consumers = args_number(argc, argv, 1, "consumers", 3, 1, 1000);
    root.values = args_number(argc, argv, 2, "values", 1000, 1, 100000);
    root.ahead = args_number(argc, argv, 3, "ahead", 0, 0, 100000);

    must_init(bcr_user_ca | bcr_handlers, argv[0]);
    if (bcr_enlistor < 0)
        lead(argv[0]);
    else
        consume();
    return EXIT_SUCCESS;
}
