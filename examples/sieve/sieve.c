/* SPDX-License-Identifier: MIT */
/*
 * sieve -- the sieve of Eratosthenes, every prime being an actor: thousands of cells with handlers in one CCE.
 *
 *     2, 3, 4, 5, ... --> [2] --> 3, 5, 7, 9, ... --> [3] --> 5, 7, 11, ... --> [5] --> ...
 *
 * The first number that comes to a cell is its prime, since no smaller prime divides it.  Of those that come later
 * the cell lets pass what its prime does not divide.  The cell behind the last prime gets its handler when that
 * prime comes.
 *
 * Handlers run in BCR calls only. So nothing happens to a number that the main program puts until it calls
 * bcr_allow, which lets them run until none is requested any more.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] = "usage: sieve [limit]     (20000)\n"
                            "Finds the primes up to the limit with an actor for each.\n";

enum { FIRST = 1, NUMBER_BYTES = 64 };

static struct {
    int *prime; /* of each cell, from FIRST; 0 as long as it has none */
    int found;
    long runs;
} sieve;

static int *number_in(bcr_region region)
{
    return *region;
}

static void on_number(int cell)
{
    bcr_region region = must_have(bcr_deq(bcr_cce, cell, 0), "take a number");
    const int number = *number_in(region);
    sieve.runs++;
    if (sieve.prime[cell - FIRST] == 0) {
        sieve.prime[cell - FIRST] = number;
        sieve.found++;
        must(bcr_handler(cell + 1, on_number, 1, 0, 0), "install the next handler");
    } else if (number % sieve.prime[cell - FIRST] != 0) {
        must(bcr_enq(region, bcr_cce, cell + 1, bcr_FREE), "let a number pass");
        return;
    }
    must(bcr_rgfree(region), "free a number");
}

/* The same without actors: how many primes there are up to `limit`. */
static int count_primes(int limit)
{
    int count = 0;
    bool *composite = calloc((size_t)limit + 1, sizeof *composite);
    must_hold(composite != NULL, "there is memory for the other way to find primes");
    for (int i = 2; i <= limit; i++) {
        count += !composite[i];
        for (long j = (long)i * i; !composite[i] && j <= limit; j += i)
            composite[j] = true;
    }
    free(composite);
    return count;
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int limit = args_number(argc, argv, 1, "limit", 20000, 2, 1000000);
    const int primes = count_primes(limit);

    must_init(bcr_user_ca | bcr_handlers, argv[0]);
    must(bcr_cagrow(FIRST, primes + 1, 0, 0, 0, primes + 1, 4096), "grow a cell for each prime");
    sieve.prime = calloc((size_t)primes + 1, sizeof *sieve.prime);
    must_hold(sieve.prime != NULL, "there is memory for the primes");
    must(bcr_handler(FIRST, on_number, 1, 0, 0), "install the first handler");

    for (int number = 2; number <= limit; number++) {
        bcr_region region = must_have(bcr_rgalloc(NUMBER_BYTES, 0), "allocate a number");
        *number_in(region) = number;
        must(bcr_enq(region, bcr_cce, FIRST, bcr_FREE), "put a number");
        must(bcr_allow(0), "let it through the cells");
    }

    printf("sieve: %d primes up to %d, the last is %d; %d cells, %ld handler runs\n", sieve.found, limit,
           sieve.prime[sieve.found - 1], sieve.found + 1, sieve.runs);
    must_hold(sieve.found == primes, "the actors found all primes and nothing else");
    for (int i = 1; i < sieve.found; i++)
        must_hold(sieve.prime[i] > sieve.prime[i - 1], "each cell has the prime after the last one's");
    for (int cell = FIRST; cell <= FIRST + primes; cell++)
        must_hold(must(bcr_celllen(bcr_cce, cell), "count what is left") == 0, "no number is left");
    free(sieve.prime);
    return EXIT_SUCCESS;
}
