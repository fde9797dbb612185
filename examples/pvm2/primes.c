/* SPDX-License-Identifier: MIT */
/* primes.c -- how many primes there are below a limit, counted by instances of a component of PVM 2.4: primes [LIMIT [HELPERS]]
 *
 * The first process enrolls as instance 0 of the component primes, and initiates the helpers: further instances, 1 and up. Each asks
 * for a part when it has nothing to do, so a slow one gets fewer of them. */
#include <stdio.h>
#include <stdlib.h>

#include <pvm.h>

enum { ASKS = 1, PART = 2, NO_MORE = 3, PARTS = 32 };

static int count_primes(int from, int to)
{
    int count = 0;
    for (int n = from < 2 ? 2 : from; n < to; n++) {
        int divisor = 2;
        while (divisor <= n / divisor && n % divisor != 0)
            divisor++;
        count += divisor > n / divisor;
    }
    return count;
}

/* Sends what it has counted so far until it is told that nothing is left. */
static int help(char *component)
{
    int count = 0, part[2];
    for (;;) {
        if (initsend() != PvmOk || putnint(&count, 1) != PvmOk || snd(component, 0, ASKS) != PvmOk)
            return 1;
        int types[] = {PART, NO_MORE};
        const int type = rcvmulti(2, types);
        if (type != PART)
            return type != NO_MORE;
        if (getnint(part, 2) != PvmOk)
            return 1;
        count = count_primes(part[0], part[1]);
    }
}

static int lead(char *component, const char *file, int limit, int helpers)
{
    int counted = 0, instance, length;
    for (int i = 0; i < helpers; i++)
        if (initiate(file, NULL) < 0) {
            fprintf(stderr, "primes: %s cannot be started\n", file);
            return 1;
        }
    /* Every helper is told once that there are no more. */
    for (int part = 0, told = 0; told < helpers; part++) {
        int count = 0;
        const int ends[] = {(int)((long long)limit * part / PARTS),
                            (int)((long long)limit * (part + 1) / PARTS)};
        if (rcv(ASKS) != ASKS || rcvinfo(&length, NULL, component, &instance) != PvmOk ||
            getnint(&count, 1) != PvmOk)
            return 1;
        counted += count;
        initsend();
        if (part < PARTS)
            putnint(ends, 2);
        if (snd(component, instance, part < PARTS ? PART : NO_MORE) != PvmOk)
            return 1;
        told += part >= PARTS;
    }
    printf("%d primes below %d, by %d helpers\n", counted, limit, helpers);
    return 0;
}

int main(int argc, char **argv)
{
    char component[33] = "primes";
    const int limit = argc > 1 ? atoi(argv[1]) : 100000, helpers = argc > 2 ? atoi(argv[2]) : 3;
    if (limit < 1 || helpers < 1) {
        fprintf(stderr, "usage: primes [LIMIT [HELPERS]]\n");
        return 2;
    }
    const int instance = enroll(component);
    if (instance < 0)
        return 1;
    const int failed = instance == 0 ? lead(component, argv[0], limit, helpers) : help(component);
    leave();
    return failed;
}
