/* SPDX-License-Identifier: MIT */
/* sys_lines.c -- lines of bcr_start: a root that starts CCEs and takes what they print out of a cell.
 *
 *     sys_lines SCENARIO [MACHINE [MACHINE]]
 *
 * The CCEs run on the machines in turn, or here. A scenario that goes wrong ends the root with status 1 and a sentence.
 *
 * What a CCE prints follows from its ordinal and the stream, so the root knows it: bytes of any value, in lines of any length, one of
 * more than a megabyte, the last without a newline. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

enum { MANY = 20, ROOM = 8, LINE_HEAD = 3 * (int)sizeof(int), PART_MAX = 65524 };
enum { BYTES = 3000000, LONG_FROM = 200000, LONG_TO = 1500000, SLOW_BYTES = 8 << 20, UNDER_WAY = 1 << 20 };
enum { WHOLE_BYTES = 64, WHOLES = 30000, TAKEN_MOST = 20000 };
enum { LINES = 1, NEWS, OTHER };

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "sys_lines: line %d: not %s (bcr_errno %d)\n", __LINE__, #condition, bcr_errno); \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)
#define FAILS(call, code) MUST((call) == -1 && bcr_errno == (code))

static const char *program, *machines[2];

/* ---- what is printed ---- */

struct source {
    uint64_t state;
    long at;
};

static struct source source_of(int ordinal, int stream)
{
    return (struct source){.state = (uint64_t)(ordinal * 2 + stream) * UINT64_C(0x9e3779b97f4a7c15) + 1};
}

static unsigned char next_byte(struct source *source)
{
    source->state ^= source->state << 13;
    source->state ^= source->state >> 7;
    source->state ^= source->state << 17;
    const long at = source->at++;
    const unsigned char byte = (unsigned char)(source->state >> 32);
    const bool is_newline = source->state % 60 == 0 && (at < LONG_FROM || at > LONG_TO);
    return is_newline ? '\n' : byte == '\n' ? 'n' : byte;
}

static void print_bytes(int fd, const char *bytes, size_t length)
{
    while (length != 0) {
        const ssize_t done = write(fd, bytes, length);
        MUST(done > 0);
        bytes += done;
        length -= (size_t)done;
    }
}

static void print_all(long bytes)
{
    static char buffers[2][10000];
    struct source sources[2] = {source_of(bcr_cceord, 1), source_of(bcr_cceord, 2)};
    for (long at = 0; at < bytes;) {
        long step = 1 + (long)((sources[0].state >> 20) % sizeof buffers[0]);
        step = step < bytes - at ? step : bytes - at;
        for (int i = 0; i < 2; i++) {
            for (long k = 0; k < step; k++)
                buffers[i][k] = (char)next_byte(&sources[i]);
            print_bytes(1 + i, buffers[i], (size_t)step);
        }
        at += step;
    }
}

/* Lines that tell their numbers, which a test finds on the terminal. */
static void print_numbers(long count)
{
    char line[64];
    for (long i = 0; i < count; i++)
        print_bytes(1, line, (size_t)snprintf(line, sizeof line, "line %d.%ld.\n", bcr_cceord, i));
}

/* Lines of which so many fill a pipe, and the room of a reading, that the last does not end with it. */
static void print_wholes(long count)
{
    static const char line[WHOLE_BYTES + 1] =
        "a line of sixty-four bytes that is printed by one call of write\n";
    for (long i = 0; i < count; i++)
        MUST(write(1, line, WHOLE_BYTES) == WHOLE_BYTES);
}

/* ---- the CCEs ---- */

static void tell_root(void)
{
    bcr_region rgid = bcr_rgalloc(0, 0);
    MUST(rgid != NULL && bcr_enq(rgid, bcr_enlistor, NEWS, bcr_FREE) == 0);
}

static struct bcr_startspec spec_of(int machine, int ordinal, const char *const *arguments, int lines)
{
    return (struct bcr_startspec){.size = sizeof(struct bcr_startspec),
                                  .machine = machines[machine],
                                  .core = -1,
                                  .count = 1,
                                  .ordinal = ordinal,
                                  .program = program,
                                  .arguments = arguments,
                                  .lines = lines};
}

/* An owner of a cell that ends while lines come: it says which it has taken. Those that lie in its cell end with it. */
static void take_some(long count, const char *path, const char *machine)
{
    const char *const words[] = {"numbers", "20000", NULL};
    struct bcr_startspec spec = spec_of(0, 7, words, LINES);
    spec.machine = machine;
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    MUST(bcr_cagrow(LINES, 0, 1, 0, 0, ROOM, 4096) == LINES && file >= 0);
    MUST(bcr_start(&spec, NULL) == 1);
    for (long i = 0; i < count; i++) {
        bcr_region rgid = bcr_deq(bcr_cce, LINES, bcr_BLOCK);
        MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_LINE);
        print_bytes(file, (const char *)*rgid + LINE_HEAD, (size_t)(bcr_rglen(rgid, NULL) - LINE_HEAD));
        MUST(bcr_rgfree(rgid) == 0);
    }
    raise(SIGKILL);
}

static void delete_host(const char *name);
static void deleted(bool keeps_taking, const char *path, const char *machine);

static int act(int argc, char **argv)
{
    const char *what = argv[1];
    const long number = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    MUST(bcr_cagrow(OTHER, 0, 1, 0, 0, 1, 4096) == OTHER);
    if (strcmp(what, "bytes") == 0) {
        print_all(number);
    } else if (strcmp(what, "numbers") == 0) {
        print_numbers(number);
    } else if (strcmp(what, "wholes") == 0) {
        print_wholes(number);
    } else if (strcmp(what, "killed") == 0) {
        print_numbers(number);
        raise(SIGKILL);
    } else if (strcmp(what, "told") == 0) {
        print_all(number);
        tell_root();
    } else if (strcmp(what, "asks") == 0) {
        print_bytes(1, "your name? ", 11);
        MUST(bcr_recv(NULL, 0, bcrT_1INT, 0, bcr_cce, OTHER, 1, bcr_BLOCK) != -1);
        print_bytes(1, "thanks\n", 7);
    } else if (strcmp(what, "takes") == 0) {
        take_some(number, argv[3], argc > 4 ? argv[4] : NULL);
    } else if (strcmp(what, "deletes") == 0) {
        delete_host(argv[2]);
    } else if (strcmp(what, "owns") == 0) {
        MUST(bcr_cagrow(LINES, 0, 1, 0, 0, ROOM, 4096) == LINES &&
             bcr_cagrow(NEWS, 0, 1, 0, 0, 1, 4096) == NEWS);
        deleted(number != 0, argv[3], argv[4]);
    }
    return 0;
}

/* ---- the root ---- */

static int start_one(int machine, int ordinal, const char *what, const char *number, const char *path,
                     int lines)
{
    int id = 0;
    const char *const words[] = {what, number, path, machines[1], NULL};
    const struct bcr_startspec spec = spec_of(machine, ordinal, words, lines);
    MUST(bcr_start(&spec, &id) == 1 && id > 0);
    return id;
}

struct line {
    int ordinal, stream, goes_on, length;
    const char *bytes;
    bcr_region rgid;
};

static struct line read_line(bcr_region rgid)
{
    int told[3];
    MUST(rgid != NULL && bcr_rgkind(rgid) == bcr_LINE && bcr_rgerror(rgid) == 0);
    MUST(bcr_copyfm(bcrT_1LINE, 1, rgid, 0, told, sizeof told) >= 1);
    struct line line = {
        told[0], told[1], told[2], bcr_rglen(rgid, NULL) - LINE_HEAD, (const char *)*rgid + LINE_HEAD, rgid};
    MUST(line.length >= 0 && line.length <= PART_MAX && (line.stream == 1 || line.stream == 2));
    MUST(line.length == 0 ? line.goes_on == 0 : line.goes_on == (line.bytes[line.length - 1] != '\n'));
    MUST(line.length == 0 || memchr(line.bytes, '\n', (size_t)line.length - 1) == NULL);
    return line;
}

static struct line take_line(int cell)
{
    return read_line(bcr_deq(bcr_cce, cell, bcr_BLOCK));
}

/* What has come of each stream so far. */
static struct {
    struct source source;
    int ended;
} streams[MANY + 2][3];

static void begin_streams(void)
{
    for (int i = 0; i < MANY + 2; i++)
        for (int k = 1; k <= 2; k++) {
            streams[i][k].source = source_of(i, k);
            streams[i][k].ended = 0;
        }
}

/* The number of streams that this has ended. */
static int check_line(struct line line)
{
    MUST(line.ordinal > 0 && line.ordinal <= MANY + 1 && !streams[line.ordinal][line.stream].ended);
    for (int i = 0; i < line.length; i++)
        MUST((unsigned char)line.bytes[i] == next_byte(&streams[line.ordinal][line.stream].source));
    streams[line.ordinal][line.stream].ended = line.length == 0;
    MUST(bcr_rgfree(line.rgid) == 0);
    return line.length == 0;
}

static void check_whole(int ordinal, long bytes)
{
    for (int k = 1; k <= 2; k++)
        MUST(streams[ordinal][k].ended && streams[ordinal][k].source.at == bytes);
}

/* Each byte comes once, in order, whatever its value, from many at once. */
static void all(int count, long bytes)
{
    char number[24];
    snprintf(number, sizeof number, "%ld", bytes);
    begin_streams();
    for (int i = 1; i <= count; i++)
        MUST(bcr_watch(start_one(i % 2, i, "bytes", number, NULL, LINES), OTHER) == 0);
    for (int ended = 0; ended != 2 * count;) {
        ended += check_line(take_line(LINES));
        MUST(bcr_celllen(bcr_cce, LINES) <= ROOM);
    }
    for (int i = 1; i <= count; i++)
        check_whole(i, bytes);
    for (int i = 0; i < count; i++) /* before, among or behind the lines */
        MUST(bcr_rgkind(bcr_deq(bcr_cce, OTHER, bcr_BLOCK)) == bcr_END);
    MUST(bcr_get(1, bcr_cce, LINES, 0) == NULL && bcr_get(1, bcr_cce, OTHER, 0) == NULL);
}

/* While a cell is full its writer waits, and another CCE, which prints into another cell, does not. */
static void slow(void)
{
    char number[24];
    snprintf(number, sizeof number, "%d", SLOW_BYTES);
    begin_streams();
    (void)start_one(0, 1, "told", number, NULL, LINES);
    (void)start_one(1, 2, "bytes", "1000000", NULL, OTHER);
    for (int ended = 0; ended != 2;)
        ended += check_line(take_line(OTHER));
    check_whole(2, 1000000);
    for (int ended = 0; ended != 2;) {
        if (streams[1][1].source.at + streams[1][2].source.at < 2 * (long)SLOW_BYTES - UNDER_WAY)
            MUST(bcr_celllen(bcr_cce, NEWS) == 0); /* it cannot have printed all */
        ended += check_line(take_line(LINES));
    }
    check_whole(1, SLOW_BYTES);
    MUST(bcr_deq(bcr_cce, NEWS, bcr_BLOCK) != NULL);
}

/* What one that is killed has printed comes, too. */
static void killed(void)
{
    char want[64];
    long next = 0;
    (void)start_one(0, 3, "killed", "5000", NULL, LINES);
    for (int ended = 0; ended != 2;) {
        struct line line = take_line(LINES);
        ended += line.length == 0;
        if (line.length != 0) {
            const int length = snprintf(want, sizeof want, "line 3.%ld.\n", next++);
            MUST(line.length == length && memcmp(line.bytes, want, (size_t)length) == 0);
        }
        MUST(bcr_rgfree(line.rgid) == 0);
    }
    MUST(next == 5000);
}

/* Lines that are printed as a whole come as a whole, also where a reading of the pipe ends in the midst of one. */
static void wholes(void)
{
    char number[24];
    long count = 0;
    snprintf(number, sizeof number, "%d", WHOLES);
    (void)start_one(0, 5, "wholes", number, NULL, LINES);
    for (int ended = 0; ended != 2;) {
        const struct line line = take_line(LINES);
        ended += line.length == 0;
        count += line.length != 0;
        MUST(line.length == 0 || (line.length == WHOLE_BYTES && !line.goes_on));
        MUST(bcr_rgfree(line.rgid) == 0);
    }
    MUST(count == WHOLES);
}

/* What is printed without a newline does not wait for one. */
static void asks(void)
{
    const int cce = start_one(0, 4, "asks", NULL, NULL, LINES);
    struct line line = take_line(LINES);
    MUST(line.length == 11 && memcmp(line.bytes, "your name? ", 11) == 0 && line.goes_on);
    bcr_region answer = bcr_rgalloc(0, 0);
    MUST(answer != NULL && bcr_enq(answer, cce, OTHER, bcr_FREE) == 0);
    int lines = 0;
    for (int ended = 0; ended != 2; ended += line.length == 0) { /* stderr may end first */
        line = take_line(LINES);
        lines += line.length != 0;
        MUST(line.length == 0 ||
             (line.length == 7 && memcmp(line.bytes, "thanks\n", 7) == 0 && !line.goes_on));
    }
    MUST(lines == 1);
}

/* An owner that is killed; a cell that is freed. The test looks at what comes to the terminal. */
static void owner(const char *path)
{
    const int cce = start_one(0, 5, "takes", "1000", path, 0);
    MUST(bcr_watch(cce, OTHER) == 0 && bcr_rgkind(bcr_deq(bcr_cce, OTHER, bcr_BLOCK)) == bcr_END);
}

static void freed(const char *path)
{
    MUST(path != NULL);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)start_one(0, 7, "numbers", "20000", NULL, LINES);
    for (int i = 0; i < 1000; i++) {
        const struct line line = take_line(LINES);
        print_bytes(file, line.bytes, (size_t)line.length);
        MUST(bcr_rgfree(line.rgid) == 0);
    }
    while (bcr_cafree(LINES) != 0) { /* what comes meanwhile is taken, too */
        MUST(bcr_errno == bcrE_BUSY);
        bcr_region rgid = bcr_deq(bcr_cce, LINES, 0);
        if (rgid == NULL)
            continue;
        const struct line line = read_line(rgid);
        print_bytes(file, line.bytes, (size_t)line.length);
        MUST(bcr_rgfree(rgid) == 0);
    }
}

/* ---- a host that is taken out of the program ---- */

static void delete_host(const char *name)
{
    MUST(bcr_hostdel(name) == 0);
    tell_root();
}

/* Takes what lies in the cell; blocks for the first if it should. */
static bool take_into(int file, int msec)
{
    bcr_region rgid = bcr_deq(bcr_cce, LINES, msec);
    if (rgid == NULL)
        return false;
    const struct line line = read_line(rgid);
    print_bytes(file, line.bytes, (size_t)line.length);
    MUST(bcr_rgfree(rgid) == 0);
    return true;
}

/* A CCE that prints without end loses its host. Meanwhile the cell's owner takes its lines, or takes none, so that the cell is
 * full. All lines that the host has not shown are in the cell, or wait for room there. */
static void deleted(bool keeps_taking, const char *path, const char *machine)
{
    const char *const words[] = {"numbers", "1000000000", NULL}, *const deletes[] = {"deletes", machine,
                                                                                     NULL};
    struct bcr_startspec printer = spec_of(0, 7, words, LINES), deleter = spec_of(0, 8, deletes, 0);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    printer.machine = machine;
    deleter.machine = NULL;
    MUST(file >= 0 && bcr_start(&printer, NULL) == 1);
    for (int i = 0; i < 1000; i++)
        MUST(take_into(file, bcr_BLOCK));
    if (keeps_taking) {
        MUST(bcr_start(&deleter, NULL) == 1);
        for (int i = 0; i < TAKEN_MOST && bcr_celllen(bcr_cce, NEWS) == 0; i++)
            (void)take_into(file, 10);
        MUST(bcr_deq(bcr_cce, NEWS, bcr_BLOCK) != NULL);
    } else {
        MUST(bcr_hostdel(machine) == 0);
    }
    while (take_into(file, 0))
        continue;
}

/* The owner is the root, or a CCE of the other machine. */
static void host_deleted(const char *keeps_taking, const char *path)
{
    const char *const words[] = {"owns", keeps_taking, path, machines[0], NULL};
    const struct bcr_startspec spec = spec_of(1, 5, words, 0);
    int owner, end[4];
    if (machines[1] == machines[0]) {
        deleted(strcmp(keeps_taking, "1") == 0, path, machines[0]);
        return;
    }
    MUST(bcr_start(&spec, &owner) == 1 && bcr_watch(owner, OTHER) == 0);
    bcr_region rgid = bcr_deq(bcr_cce, OTHER, bcr_BLOCK);
    MUST(bcr_rgkind(rgid) == bcr_END && bcr_copyfm(bcrT_1END, 1, rgid, 0, end, sizeof end) >= 1);
    MUST(end[2] == bcr_EXITED && end[3] == 0);
}

static void refused(void)
{
    const char *const none[] = {NULL};
    struct bcr_startspec spec = spec_of(0, 1, none, 77);
    FAILS(bcr_start(&spec, NULL), bcrE_NOCELL);
    spec.lines = -1;
    FAILS(bcr_start(&spec, NULL), bcrE_NOCELL);
    spec.lines = bcr_cagrow(50, 1, 0, 1, 0, 1, 0);
    MUST(spec.lines == 50);
    FAILS(bcr_start(&spec, NULL), bcrE_ACCESS);
    spec.lines = 51;
    FAILS(bcr_start(&spec, NULL), bcrE_ACCESS);
    spec = spec_of(0, 1, none, 0);
    spec.size = offsetof(struct bcr_startspec, lines) - 1;
    FAILS(bcr_start(&spec, NULL), bcrE_ARG);
    spec.size = offsetof(struct bcr_startspec, lines); /* of a program that knows no lines */
    spec.lines = 77;
    MUST(bcr_start(&spec, NULL) == 1);
}

int main(int argc, char **argv)
{
    program = argv[0];
    MUST(argc > 1 && bcr_init(0, NULL) == 0);
    if (bcr_enlistor != -1)
        return act(argc, argv);
    machines[0] = argc > 2 ? argv[2] : NULL;
    machines[1] = argc > 3 ? argv[3] : machines[0];
    MUST(bcr_cagrow(LINES, 0, 1, 0, 0, ROOM, 4096) == LINES && bcr_cagrow(NEWS, 0, 2, 0, 0, 4, 4096) == NEWS);
    const char *const path = getenv("SYS_TAKEN");
    if (strcmp(argv[1], "all") == 0)
        all(4, BYTES);
    else if (strcmp(argv[1], "many") == 0)
        all(MANY, 100000);
    else if (strcmp(argv[1], "slow") == 0)
        slow();
    else if (strcmp(argv[1], "killed") == 0)
        killed();
    else if (strcmp(argv[1], "wholes") == 0)
        wholes();
    else if (strcmp(argv[1], "asks") == 0)
        asks();
    else if (strcmp(argv[1], "owner") == 0)
        owner(path);
    else if (strcmp(argv[1], "freed") == 0)
        freed(path);
    else if (strcmp(argv[1], "deleted") == 0)
        host_deleted("0", path);
    else if (strcmp(argv[1], "deleted-while-taking") == 0)
        host_deleted("1", path);
    else
        refused();
    printf("%s is as it should be\n", argv[1]);
    return 0;
}
