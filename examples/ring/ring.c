/* SPDX-License-Identifier: MIT */
/*
 * ring -- passes regions round a ring of CCEs and says how long that takes.
 *
 * Three things go round.  A region of each size alone: the time of a hop, which is latency.  A region of
 * each CCE, all at once: throughput.  And, if asked for, partial results of a reduction that ends with the
 * result of all in every CCE.  Each is checked: a region counts its hops in its first byte and must come home
 * unharmed.
 *
 * The figures are effective ones.  On one host a region does not move at all; what goes round is the right to
 * it, and megabytes per second say at which speed its bytes would have had to move instead.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include "startup.h"
#include <getopt.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: ring [-m machinesfile] [-r] [nCCEs minlog maxlog passes]\n"
    "Passes regions of 10^minlog to 10^maxlog bytes round a ring of CCEs, so many times.\n"
    "Without the four numbers it reads them from its input, one per line, and asks if that is a terminal.\n"
    "  -m, --machines file   names of machines, one per line, used in turn (default: those that the program\n"
    "                        has, each as often as it has slots: see enl --hosts)\n"
    "  -r, --reduce          first reduce values of all CCEs to a result in each of them\n";

enum { CCES_MAX = 10000, LOG_MAX = 9, PASSES_MAX = 1000000, MACHINE_CHARS = 256 };

struct ring {
    struct ring_task task;
    bcr_cce_id next;
};

static bool is_root(void)
{
    return bcr_cceord == 0;
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static bcr_region take(void)
{
    return must_have(bcr_deq(bcr_cce, RING_PASS, bcr_BLOCK), "take what comes round the ring");
}

static void pass(const struct ring *ring, bcr_region region)
{
    must(bcr_enq(region, ring->next, RING_PASS, bcr_FREE), "pass a region on");
}

/* Returns when every CCE has come here: an empty region goes round once. */
static void assemble(const struct ring *ring)
{
    bcr_region token = is_root() ? must_have(bcr_rgalloc(0, 0), "allocate the token") : take();
    pass(ring, token);
    if (is_root())
        must(bcr_rgfree(take()), "free the token");
}

/* --- regions that go round --- */

/* Byte 0 counts the hops; the others stay what they are. */
static bcr_region new_region(int bytes)
{
    bcr_region region = must_have(bcr_rgalloc(bytes, 0), "allocate a region to pass");
    unsigned char *data = *region;
    for (int i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i % 251);
    return region;
}

static bool is_unharmed(bcr_region region, int bytes, long hops)
{
    const unsigned char *data = *region;
    if (bcr_rglen(region, NULL) != bytes || data[0] != hops % 256)
        return false;
    for (int i = 1; i < bytes; i++)
        if (data[i] != i % 251)
            return false;
    return true;
}

/* Passes a region of the root's, or one of every CCE's, `passes` times round the ring; microseconds.
 * A CCE's own region comes home as every n-th of its arrivals, since each cell keeps the order. */
static double circulate(const struct ring *ring, int bytes, bool everyone)
{
    const bool own = everyone || is_root();
    const long hops = (long)ring->task.passes * ring->task.cces;
    const long arrivals = everyone ? hops : ring->task.passes;
    bcr_region region = own ? new_region(bytes) : NULL;

    assemble(ring);
    const double start_us = now_us();
    if (own)
        pass(ring, region);
    for (long arrival = 1; arrival <= arrivals; arrival++) {
        region = take();
        must(bcr_rgmod(region), "make a region its own");
        ++**(unsigned char **)region;
        if (!own || arrival < arrivals)
            pass(ring, region);
    }
    const double taken_us = now_us() - start_us;

    if (own) {
        must_hold(is_unharmed(region, bytes, hops), "a region comes home unharmed, having met every CCE");
        must(bcr_rgfree(region), "free the region");
    }
    return taken_us;
}

static void time_regions(const struct ring *ring)
{
    const int cces = ring->task.cces;
    const double hops = (double)ring->task.passes * cces;
    if (is_root()) {
        printf("%12s %26s %26s\n", "", "one region", "one region of each CCE");
        printf("%12s %12s %13s %12s %13s\n", "bytes", "us per hop", "MB/s", "us per hop", "MB/s");
    }
    for (int log = 0, bytes = 1; log <= ring->task.maxlog; log++) {
        if (log >= ring->task.minlog) {
            const double one_us = circulate(ring, bytes, false) / hops;
            const double all_us = circulate(ring, bytes, true) / (hops * cces);
            if (is_root())
                printf("%12d %12.3f %13.1f %12.3f %13.1f\n", bytes, one_us, bytes / one_us, all_us,
                       bytes / all_us);
        }
        if (log < ring->task.maxlog)
            bytes *= 10;
    }
}

/* --- the reduction --- */

struct partial {
    long sum, least, most;
};

/* Every CCE begins a partial result and passes it on; each that it meets adds its own value.  After n-1 hops
 * it holds the values of all, and stays where it is: every CCE keeps one.  Nothing is ever copied. */
/* It goes round through CCEs on machines of any kinds. */
static const int PARTIAL[] = {bcrD_STRUCT(struct partial, (LONG, sum), (LONG, least), (LONG, most))};

static struct partial read_partial(bcr_region region)
{
    struct partial partial;
    must_copy(bcr_copyfm(PARTIAL, 1, region, 0, &partial, sizeof partial), "read a partial result");
    return partial;
}

static void write_partial(bcr_region region, struct partial partial)
{
    must_copy(bcr_copyto(PARTIAL, 1, region, 0, &partial, sizeof partial), "write a partial result");
}

static struct partial reduce(const struct ring *ring, long value)
{
    bcr_region region = must_have(bcr_rgalloc(sizeof(struct partial), 0), "allocate a partial result");
    write_partial(region, (struct partial){.sum = value, .least = value, .most = value});
    for (int hop = 1; hop < ring->task.cces; hop++) {
        pass(ring, region);
        region = take();
        must(bcr_rgmod(region), "make a partial result its own");
        struct partial partial = read_partial(region);
        partial.sum += value;
        partial.least = value < partial.least ? value : partial.least;
        partial.most = value > partial.most ? value : partial.most;
        write_partial(region, partial);
    }
    const struct partial result = read_partial(region);
    must(bcr_rgfree(region), "free a result");
    return result;
}

static void time_reductions(const struct ring *ring)
{
    const long cces = ring->task.cces;
    assemble(ring);
    const double start_us = now_us();
    for (long i = 0; i < ring->task.passes; i++) {
        const struct partial got = reduce(ring, i + bcr_cceord);
        must_hold(got.sum == cces * i + cces * (cces - 1) / 2 && got.least == i && got.most == i + cces - 1,
                  "every CCE gets the result of all");
    }
    const double each_us = (now_us() - start_us) / ring->task.passes;
    if (is_root())
        printf("all-to-all reduction, %d times: %.3f us each, %.3f us per hop; every CCE had every result\n",
               ring->task.passes, each_us, each_us / (double)(cces > 1 ? cces - 1 : 1));
}

/* --- the task --- */

/* A question is put to a person only; from a file or a pipe the answer must be there and right. */
static int ask(const char *question, int min, int max)
{
    const bool person = isatty(STDIN_FILENO);
    for (;;) {
        char line[64];
        int answer;
        if (person) {
            printf("%s (%d to %d): ", question, min, max);
            fflush(stdout);
        }
        if (fgets(line, sizeof line, stdin) == NULL) {
            fprintf(stderr, "ring: %s: no number on the input\n%s", question, USAGE);
            exit(EXIT_USAGE);
        }
        line[strcspn(line, "\n")] = '\0';
        if (args_parse(line, min, max, &answer))
            return answer;
        fprintf(person ? stdout : stderr, "%s: \"%s\" is not a number from %d to %d.\n", question, line, min,
                max);
        if (!person)
            exit(EXIT_USAGE);
    }
}

static void ask_for_task(struct ring_task *task)
{
    task->cces = ask("CCEs in the ring", 1, CCES_MAX);
    task->minlog = ask("smallest region, as a power of 10", 0, LOG_MAX);
    task->maxlog = ask("largest region, as a power of 10", task->minlog, LOG_MAX);
    task->passes = ask("passes round the ring", 1, PASSES_MAX);
}

/* The machines that enl was given, each as often as it has slots; without a list it names its own. */
static void ask_for_machines(struct strings *machines)
{
    char name[MACHINE_CHARS];
    for (int k = 0, slots; (slots = must(bcr_host(k, name, sizeof name), "look for a machine")) != 0; k++)
        for (int slot = 0; slot < slots; slot++)
            if (addstring(machines, name) != 0)
                must_end("remember the machines", "out of memory");
}

static void find_machines(const char *program, const char *path, struct strings *machines)
{
    const int error = path != NULL ? readstrings(path, machines) : 0;
    if (error != 0) {
        fprintf(stderr, "%s: %s: %s\n", program, path, strerror(error));
        exit(EXIT_USAGE);
    }
    if (path == NULL)
        ask_for_machines(machines);
}

/* True if the four numbers were there. */
static bool read_arguments(int argc, char **argv, struct ring_task *task, const char **machines_path)
{
    static const struct option options[] = {{"machines", required_argument, NULL, 'm'},
                                            {"reduce", no_argument, NULL, 'r'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    for (int option; (option = getopt_long(argc, argv, "m:rh", options, NULL)) != -1;) {
        if (option == 'm') {
            *machines_path = optarg;
        } else if (option == 'r') {
            task->reduce = 1;
        } else {
            fputs(USAGE, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? EXIT_SUCCESS : EXIT_USAGE);
        }
    }
    if (argc == optind)
        return false;
    if (argc != optind + 4) {
        fputs(USAGE, stderr);
        exit(EXIT_USAGE);
    }
    task->cces = args_number(argc, argv, optind, "nCCEs", 0, 1, CCES_MAX);
    task->minlog = args_number(argc, argv, optind + 1, "minlog", 0, 0, LOG_MAX);
    task->maxlog = args_number(argc, argv, optind + 2, "maxlog", 0, task->minlog, LOG_MAX);
    task->passes = args_number(argc, argv, optind + 3, "passes", 0, 1, PASSES_MAX);
    return true;
}

/* Cells for one region of each CCE and the token; room for the largest region, twice over against
 * fragmentation, and for a region to start each of the others with. */
static void grow(const struct ring_task *task)
{
    int bytes = 1;
    for (int log = 0; log < task->maxlog; log++)
        bytes *= 10;
    must(bcr_cagrow(RING_START, 0, 2, 0, 0, task->cces + 2, 2 * bytes + (task->cces + 16) * RING_START_BYTES),
         "grow its cells and its comm heap");
}

int main(int argc, char **argv)
{
    struct ring ring = {.task = {.reduce = 0}};
    struct strings machines = {0};
    const char *machines_path = NULL;
    const bool told = read_arguments(argc, argv, &ring.task, &machines_path);
    must_init(bcr_user_ca | bcr_inorder | bcr_errors, argv[0]);
    if (bcr_enlistor >= 0)
        ring.task = take_ring_task();
    else if (!told)
        ask_for_task(&ring.task);
    grow(&ring.task);

    if (is_root()) {
        const double start_us = now_us();
        find_machines(argv[0], machines_path, &machines);
        ring.next = start_ring(argv[0], &ring.task, &machines);
        printf("ring: %d CCEs, started in %.1f ms\n", ring.task.cces, (now_us() - start_us) / 1e3);
    } else {
        ring.next = join_ring();
    }
    freestrings(&machines);

    if (ring.task.reduce)
        time_reductions(&ring);
    time_regions(&ring);
    if (is_root())
        printf("ring: every region came home unharmed, having met every CCE in each pass\n");
    return EXIT_SUCCESS;
}
