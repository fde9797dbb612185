/* SPDX-License-Identifier: MIT */
/*
 * thrut -- the taker: enlists a putter, takes all that it puts, and says how fast that went.
 *
 * The putter writes every byte and the taker reads every byte, so the figure is that of memory, not that of
 * handing pointers over.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include "thru.h"
#include <errno.h>
#include <string.h>
#include <time.h>

static const char USAGE[] =
    "usage: thrut [host [count [bytes]]]     (localhost, 1000 regions, 1000000 bytes)\n"
    "Starts thrup, which lies beside thrut, on that host; takes the regions it puts.\n";

enum { BYTES_MAX = 200 * 1000 * 1000, UNDER_WAY_BYTES = 64 * 1000 * 1000, WINDOW_MIN = 2, WINDOW_MAX = 64 };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* As many regions under way as are worth it: two of the largest, no more than 64 of the small ones. */
static int window_for(int bytes)
{
    const int window = UNDER_WAY_BYTES / bytes;
    return window < WINDOW_MIN ? WINDOW_MIN : window > WINDOW_MAX ? WINDOW_MAX : window;
}

/* The program named `sibling` in the folder that `program` came from. */
static char *beside(const char *program, const char *sibling)
{
    const char *slash = strrchr(program, '/');
    const int folder_chars = slash == NULL ? 0 : (int)(slash - program) + 1;
    const size_t size = (size_t)folder_chars + strlen(sibling) + 1;
    char *path = malloc(size);
    if (path == NULL)
        must_end("name the putter", strerror(errno));
    snprintf(path, size, "%.*s%s", folder_chars, program, sibling);
    return path;
}

static void enlist_putter(const char *host, const char *program, const struct order *order)
{
    char *putter = beside(program, "thrup");
    bcr_region birth = must_have(bcr_rgalloc(ORDER_BYTES, 0), "allocate the order");
    must_copy(bcr_copyto(ORDER, 1, birth, 0, order, sizeof *order), "write the order");
    must(bcr_enlist(host, -1, 1, putter, birth, bcr_FREE), "enlist thrup");
    free(putter);
}

static bool is_intact(bcr_region region, int number, int bytes)
{
    const word *words = *region;
    word wrong = 0;
    for (size_t i = 0; i < (size_t)bytes / sizeof *words; i++)
        wrong |= words[i] ^ thru_word(number, i);
    return wrong == 0;
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 3, USAGE);
    const char *host = argc > 1 ? argv[1] : "localhost";
    const int bytes = args_number(argc, argv, 3, "bytes", 1000 * 1000, sizeof(word), BYTES_MAX);
    struct order order = {.count = args_number(argc, argv, 2, "count", 1000, 1, INT_MAX),
                          .bytes = bytes - bytes % (int)sizeof(word),
                          .window = window_for(bytes)};

    must_init(bcr_user_ca | bcr_inorder, argv[0]);
    must(bcr_cagrow(STREAM, 0, 2, 0, 0, order.window, 4 * ORDER_BYTES), "grow its cells");
    enlist_putter(host, argv[0], &order);

    double start_s = 0;
    for (int number = 0; number < order.count; number++) {
        bcr_region region = must_have(bcr_deq(bcr_cce, STREAM, bcr_BLOCK), "take a region");
        if (number == 0)
            start_s = now_s(); /* the putter's start is not part of the figure */
        must_hold(bcr_rglen(region, NULL) == order.bytes, "a region arrives in its length");
        must_hold(is_intact(region, number, order.bytes), "regions arrive whole and in order");
        must(bcr_rgfree(region), "free a region");
    }
    const double taken_s = now_s() - start_s;

    double put_s;
    bcr_region report = must_have(bcr_deq(bcr_cce, REPORT, bcr_BLOCK), "take thrup's report");
    must_copy(bcr_copyfm(SECONDS, 1, report, 0, &put_s, sizeof put_s), "read thrup's report");
    must(bcr_rgfree(report), "free thrup's report");

    const double megabytes = (double)order.count * order.bytes / 1e6;
    printf("thrut: %d regions of %d bytes, %d under way: all arrived, whole and in order\n", order.count,
           order.bytes, order.window);
    printf("  put   in %9.3f ms: %9.1f MB/s\n", put_s * 1e3, megabytes / put_s);
    printf("  taken in %9.3f ms: %9.1f MB/s\n", taken_s * 1e3, megabytes / taken_s);
    return EXIT_SUCCESS;
}
