/* SPDX-License-Identifier: MIT */
/* A root that starts CCEs by bcr_start, and those CCEs, which are this program, too. The root's first word says what it
 * does; the second, unless it is "", on which machine. It tells what came of it, a line each ($SYS_TELL).
 *
 *   fields       every field: the CCEs tell what they were given
 *   words        empty arguments, newlines, other bytes than letters
 *   variables    $ADDED, and $SYS_OVER, which is there already
 *   megabyte     1 MB of arguments, among them one of the longest that there may be
 *   longest N M  M arguments of N bytes; what came of it
 *   directory D  starts in D
 *   ids N        puts to N CCEs before they have cells, and afterwards
 *   many N       the IDs of N CCEs
 *   partly N     N CCEs that stay, where not all can be started
 *   wrong        bad input
 *   handlers     starts in a handler
 *   joined       when let, starts one with arguments and one without
 *   lost         tells of the daemon there; when let, starts two CCEs with 1 MB of arguments; when let, once more
 *   by M WORD... has a CCE of that machine do the rest of the words
 *
 * A CCE whose first argument is "show" tells all that it was given; "sum": how many arguments, their bytes and a sum of
 * them; "cells": makes a cell when it is let, and tells what comes; "parent": tells of its daemon; "pause": stays; "act": does the rest of the
 * words as the root does; any other ends at once. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "sys_tell.h"

static const char *own_name;
static const char *machine;

/* --------------------------------------------------------------------------- those started --- */

static void show(int argc, char **argv)
{
    char shown[1024] = "", folder[512];
    for (int i = 2; i < argc; i++) {
        strcat(shown, "[");
        for (const char *at = argv[i]; *at != '\0'; at++)
            sprintf(shown + strlen(shown), *at > ' ' && *at < 0x7f ? "%c" : "<%02x>", (unsigned char)*at);
        strcat(shown, "]");
    }
    const char *added = getenv("ADDED"), *over = getenv("SYS_OVER");
    tell("%d name=%s args=%s added=%s over=%s folder=%s\n", bcr_cceord, argv[0], shown,
         added != NULL ? added : "none", over != NULL ? over : "none", getcwd(folder, sizeof folder));
    bcr_region rgid = bcr_deq(bcr_cce, 0, 0);
    tell("%d birth %.*s\n", bcr_cceord, rgid != NULL ? bcr_rglen(rgid, NULL) : 4,
         rgid != NULL ? (char *)*rgid : "none");
}

static void sum(int argc, char **argv)
{
    unsigned long bytes = 0, sum = 0;
    for (int i = 2; i < argc; i++)
        for (const char *at = argv[i]; *at != '\0'; at++, bytes++)
            sum = sum * 31 + (unsigned char)*at;
    tell("%d sum %d %lu %lx\n", bcr_cceord, argc - 2, bytes, sum);
}

static void cells(void)
{
    wait_to_go();
    if (bcr_cagrow(1, 0, 1, 0, 0, 1, 64) != 1 || bcr_enq(bcr_rgalloc(0, 0), bcr_enlistor, 1, bcr_FREE) != 0)
        _exit(97);
    bcr_region rgid = bcr_deq(bcr_cce, 1, bcr_BLOCK);
    if (rgid == NULL)
        _exit(96);
    tell("%d got %.*s\n", bcr_cceord, bcr_rglen(rgid, NULL), (char *)*rgid);
}

static int act(int argc, char **argv);

static int be_started(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "show") == 0)
        show(argc, argv);
    if (argc > 1 && strcmp(argv[1], "sum") == 0)
        sum(argc, argv);
    if (argc > 1 && strcmp(argv[1], "cells") == 0)
        cells();
    if (argc > 1 && strcmp(argv[1], "parent") == 0)
        tell("daemon %d\n", (int)getppid());
    if (argc > 1 && strcmp(argv[1], "pause") == 0) {
        tell("%d stays\n", bcr_cceord);
        for (;;)
            pause();
    }
    return argc > 2 && strcmp(argv[1], "act") == 0 ? act(argc - 1, argv + 1) : 0;
}

/* -------------------------------------------------------------------------------- the root --- */

static struct bcr_startspec spec_of(int count, const char *const *arguments)
{
    return (struct bcr_startspec){.size = sizeof(struct bcr_startspec),
                                  .machine = machine,
                                  .core = -1,
                                  .count = count,
                                  .ordinal = 1,
                                  .program = own_name,
                                  .arguments = arguments};
}

static void start(const struct bcr_startspec *spec, bcr_cce_id *ids)
{
    const int got = bcr_start(spec, ids);
    tell("start %d %d\n", got, got < 0 ? bcr_errno : 0);
}

static bcr_region region_of(const char *text)
{
    bcr_region rgid = bcr_rgalloc((int)strlen(text), 0);
    memcpy(*rgid, text, strlen(text));
    return rgid;
}

static void fields(void)
{
    const char *const arguments[] = {"show", "one", "two", NULL}, *const added[] = {"ADDED=yes", NULL};
    bcr_cce_id ids[2] = {-7, -7};
    struct bcr_startspec spec = spec_of(2, arguments);
    if (bcr_cagrow(1, 0, 0, 0, 0, 0, 4096) < 0)
        _exit(95);
    spec.ordinal = 5;
    spec.environment = added;
    spec.directory = "/";
    spec.region = region_of("birthday");
    spec.nofree = bcr_NOFREE;
    start(&spec, ids);
    if (ids[0] == ids[1] || ids[0] < 2 || ids[1] < 2 || bcr_rgfree(spec.region) != 0)
        tell("bad ids %d %d\n", ids[0], ids[1]);
    spec.region = region_of("day");
    spec.nofree = bcr_FREE;
    spec.count = 1;
    spec.core = 0;
    spec.ordinal = 9;
    const bcr_region rgid = spec.region;
    start(&spec, NULL);
    if (bcr_rgfree(rgid) == 0)
        tell("it should be gone\n");
}

static void words(void)
{
    const char *const arguments[] = {"show", "", "a\nb", "\xc3\xa4\xff", "", "x=y", "--", NULL};
    struct bcr_startspec spec = spec_of(1, arguments);
    start(&spec, NULL);
}

static void variables(void)
{
    const char *const arguments[] = {"show", NULL}, *const added[] = {"SYS_OVER=new",
                                                                      "ADDED=", "BCRI_SOCKET=99", "OTHER=a=b",
                                                                      NULL};
    struct bcr_startspec spec = spec_of(1, arguments);
    spec.environment = added;
    start(&spec, NULL);
    spec.environment = NULL;
    start(&spec, NULL);
}

/* A list of so many arguments of so many bytes each, behind `first`; until the next call. */
static const char *const *list_of(const char *first, size_t count, size_t bytes)
{
    static const char **list;
    static char *texts;
    free(list);
    free(texts);
    list = malloc((count + 2) * sizeof *list);
    texts = malloc(count * (bytes + 1));
    char *text = texts;
    if (list == NULL || text == NULL)
        _exit(94);
    list[0] = first;
    for (size_t i = 0; i < count; i++, text += bytes + 1) {
        for (size_t at = 0; at < bytes; at++)
            text[at] = (char)('!' + (i * 7 + at) % 90);
        text[bytes] = '\0';
        list[i + 1] = text;
    }
    list[count + 1] = NULL;
    return list;
}

static void sums_of(const char *const *list)
{
    unsigned long bytes = 0, sum = 0;
    int count = 0;
    for (list++; *list != NULL; list++, count++)
        for (const char *at = *list; *at != '\0'; at++, bytes++)
            sum = sum * 31 + (unsigned char)*at;
    tell("wanted sum %d %lu %lx\n", count, bytes, sum);
}

static void megabyte(void)
{
    const char *const *list = list_of("sum", 1 << 10, 1 << 10);
    bcr_cce_id ids[3];
    struct bcr_startspec spec = spec_of(3, list);
    sums_of(list);
    start(&spec, ids);
    list = list_of("sum", 5, 131071);
    sums_of(list);
    spec.arguments = list;
    spec.count = 1;
    start(&spec, NULL);
}

static void longest(size_t bytes, size_t count)
{
    const char *const *list = list_of("end", count, bytes);
    struct bcr_startspec spec = spec_of(1, list);
    start(&spec, NULL);
}

static void directory(const char *name)
{
    const char *const arguments[] = {"show", NULL};
    struct bcr_startspec spec = spec_of(1, arguments);
    spec.directory = name;
    start(&spec, NULL);
}

/* With a time, a put to another host tells by its result what came of it. */
static void put_to(bcr_cce_id cce, const char *text)
{
    const bcr_region rgid = region_of(text);
    const int rc = bcr_enq(rgid, cce, 1, bcr_FREE);
    tell("put %d %d\n", rc, rc < 0 ? bcr_errno : 0);
    if (rc < 0 && bcr_rgfree(rgid) != 0)
        tell("it should be there\n");
}

/* Cells are there when their owner has made them: until then puts fail and change nothing. */
static void put_early_and_late(int count)
{
    const char *const arguments[] = {"cells", NULL};
    bcr_cce_id *ids = calloc((size_t)count, sizeof *ids);
    struct bcr_startspec spec = spec_of(count, arguments);
    char text[32];
    if (ids == NULL || bcr_cagrow(1, 0, 1, 0, 0, count, 4096) < 0 || bcr_putwait(30000) == -1)
        _exit(95);
    start(&spec, ids);
    for (int i = 0; i < count; i++)
        put_to(ids[i], "early");
    for (int i = 0; i < count; i++)
        if (bcr_rgfree(bcr_deq(bcr_cce, 1, bcr_BLOCK)) != 0)
            _exit(95);
    for (int i = 0; i < count; i++) {
        sprintf(text, "number-%d", i + 1);
        put_to(ids[i], text);
    }
    free(ids);
}

/* IDs of all, and of each one another. */
static void many(int count)
{
    const char *const arguments[] = {"end", NULL};
    bcr_cce_id *ids = calloc((size_t)count, sizeof *ids);
    struct bcr_startspec spec = spec_of(count, arguments);
    int distinct = 0;
    start(&spec, ids);
    for (int i = 0; i < count; i++)
        distinct += ids[i] > 1 && ids[i] == ids[0] + i;
    tell("distinct %d\n", distinct);
    free(ids);
}

static void partly(int count)
{
    const char *const *list = list_of("pause", 100, 100);
    bcr_cce_id *ids = calloc((size_t)count, sizeof *ids);
    struct bcr_startspec spec = spec_of(count, list);
    int named = 0;
    const int got = bcr_start(&spec, ids);
    while (named < count && ids[named] > 0)
        named++;
    tell("partly %s %s\n",
         got > 0 && got < count ? "some"
         : got == count         ? "all"
                                : "none",
         named == got ? "named" : "not named");
    free(ids);
}

static void expect(const char *what, const struct bcr_startspec *spec, int code)
{
    bcr_cce_id ids[1] = {-7};
    const int got = bcr_start(spec, ids);
    if (got != -1 || bcr_errno != code || ids[0] != -7)
        tell("%s: %d %d %d\n", what, got, bcr_errno, ids[0]);
}

static void wrong(void)
{
    struct {
        struct bcr_startspec spec;
        char more[64];
    } later = {0};
    const char *const nameless[] = {"=x", NULL}, *const no_variable[] = {"x", NULL},
                      *const end[] = {"end", NULL};
    const struct bcr_startspec good = spec_of(1, end);
    char *much = malloc(140000), *long_name = calloc(1, 5000);
    const char *const too_long[] = {much, NULL};
    const char **too_many = calloc((1 << 20) + 1, sizeof *too_many);
    if (much == NULL || long_name == NULL || too_many == NULL)
        _exit(94);
    memset(much, 'x', 131072);
    much[131072] = '\0';
    memset(long_name, 'd', 4999);
    for (int i = 0; i < 1 << 20; i++)
        too_many[i] = "";
    expect("no struct", NULL, bcrE_ARG);
#define WRONG(field, value, code)                 \
    do {                                          \
        struct bcr_startspec spec = good;         \
        spec.field = (value);                     \
        expect(#field " " #value, &spec, (code)); \
    } while (0)
    WRONG(size, 0, bcrE_ARG);
    WRONG(size, offsetof(struct bcr_startspec, lines) - 1, bcrE_ARG);
    WRONG(size, offsetof(struct bcr_startspec, lines) + 1, bcrE_ARG);
    WRONG(size, sizeof(struct bcr_startspec) - 1, bcrE_ARG);
    WRONG(lines, 4711, bcrE_NOCELL);
    WRONG(size, 5000, bcrE_ARG);
    WRONG(program, NULL, bcrE_ARG);
    WRONG(program, "", bcrE_ARG);
    WRONG(program, "/no/such/program", bcrE_NOPROG);
    WRONG(program, long_name, bcrE_NOPROG);
    WRONG(count, 0, bcrE_ARG);
    WRONG(count, -1, bcrE_ARG);
    WRONG(count, 65001, bcrE_ENLIST);
    WRONG(ordinal, -1, bcrE_ARG);
    WRONG(core, 100000, bcrE_NOCORE);
    WRONG(core, -2, bcrE_ARG);
    WRONG(machine, "nowhere", bcrE_NOHOST);
    WRONG(environment, nameless, bcrE_ARG);
    WRONG(environment, no_variable, bcrE_ARG);
    WRONG(arguments, too_long, bcrE_ARG);
    WRONG(arguments, too_many, bcrE_ARG);
    WRONG(directory, "/no/such/directory", bcrE_NOPROG);
    WRONG(directory, "/dev/null", bcrE_NOPROG);
    WRONG(directory, long_name, bcrE_NOPROG);
    WRONG(region, (bcr_region)&later, bcrE_RGID);
    struct bcr_startspec last = good;
    last.ordinal = INT_MAX;
    last.count = 2;
    expect("ordinals", &last, bcrE_ARG);
    later.spec = good;
    later.spec.size = sizeof later;
    later.more[60] = 1;
    expect("a later struct that wants more", &later.spec, bcrE_ARG);
    later.more[60] = 0;
    start(&later.spec, NULL);
    free(much);
    free(long_name);
    free(too_many);
}

/* It waits within a handler, while the program waits for something else. */
static void on_request(int cell)
{
    const char *const *list = list_of("sum", 1 << 10, 1 << 10);
    bcr_cce_id ids[3];
    struct bcr_startspec spec = spec_of(3, list);
    sums_of(list);
    start(&spec, ids);
    tell("ids %d %d %d\n", ids[0], ids[1], ids[2]);
    bcr_enq(region_of("done"), bcr_cce, cell + 1, bcr_FREE);
}

static void with_handlers(void)
{
    if (bcr_cagrow(1, 2, 0, 0, 0, 2, 4096) != 1 || bcr_handler(1, on_request, 1, 1, 1) != 0 ||
        bcr_enq(region_of("go"), bcr_cce, 1, bcr_FREE) != 0 || bcr_deq(bcr_cce, 2, bcr_BLOCK) == NULL)
        _exit(93);
    tell("done\n");
}

/* A process that waits has arguments of its own: it is taken by the second start. */
static void joined(void)
{
    const char *const arguments[] = {"show", "given", NULL};
    struct bcr_startspec spec = spec_of(1, arguments);
    bcr_cce_id ids[1];
    tell("up\n");
    wait_to_go();
    start(&spec, ids);
    spec.ordinal = 2;
    spec.arguments = &arguments[2];
    start(&spec, ids);
    tell("id %d\n", ids[0]);
}

static void lost(void)
{
    const char *const *list = list_of("pause", 1 << 10, 1 << 10), *const parent[] = {"parent", NULL};
    bcr_cce_id ids[2] = {-7, -7};
    struct bcr_startspec spec = spec_of(1, parent);
    if (bcr_start(&spec, NULL) != 1)
        _exit(92);
    wait_to_go();
    tell("calls %d %d\n", (int)getpid(), (int)getppid());
    spec = spec_of(2, list);
    start(&spec, ids);
    wait_to_go();
    start(&spec, ids);
    for (;;)
        pause();
}

/* Has a CCE of another machine do the rest of the words. */
static void by(const char *there, int argc, char **argv)
{
    const char *words[16] = {"act"};
    for (int i = 0; i < argc && i < 14; i++)
        words[i + 1] = argv[i];
    struct bcr_startspec spec = spec_of(1, words);
    spec.machine = there;
    spec.ordinal = 100;
    if (bcr_start(&spec, NULL) != 1)
        _exit(91);
    if (strcmp(argv[0], "lost") == 0)
        for (;;)
            pause();
}

static int act(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "", *value = argc > 3 ? argv[3] : "";
    machine = argc > 2 && argv[2][0] != '\0' ? argv[2] : NULL;
    if (strcmp(word, "fields") == 0)
        fields();
    else if (strcmp(word, "words") == 0)
        words();
    else if (strcmp(word, "variables") == 0)
        variables();
    else if (strcmp(word, "megabyte") == 0)
        megabyte();
    else if (strcmp(word, "longest") == 0)
        longest(strtoul(value, NULL, 10), argc > 4 ? strtoul(argv[4], NULL, 10) : 1);
    else if (strcmp(word, "directory") == 0)
        directory(value);
    else if (strcmp(word, "ids") == 0)
        put_early_and_late(atoi(value));
    else if (strcmp(word, "many") == 0)
        many(atoi(value));
    else if (strcmp(word, "partly") == 0)
        partly(atoi(value));
    else if (strcmp(word, "wrong") == 0)
        wrong();
    else if (strcmp(word, "handlers") == 0)
        with_handlers();
    else if (strcmp(word, "joined") == 0)
        joined();
    else if (strcmp(word, "lost") == 0)
        lost();
    else if (strcmp(word, "by") == 0 && argc > 3)
        by(machine, argc - 3, argv + 3);
    else
        return 78;
    return 0;
}

int main(int argc, char **argv)
{
    own_name = argv[0];
    if (bcr_init(0, NULL) != 0)
        return 77;
    return bcr_enlistor >= 0 ? be_started(argc, argv) : act(argc, argv);
}
