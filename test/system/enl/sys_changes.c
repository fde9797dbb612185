/* SPDX-License-Identifier: MIT */
/* A root that adds hosts to its program and takes them away, and the CCEs that it starts there, which are this program, too. Its
 * words, which it does one after the other, and of which it tells what came ($SYS_TELL):
 *
 *   add LINE     bcr_hostadd: "add CODE"
 *   del NAME     bcr_hostdel: "del CODE"
 *   bad          bad input to bcr_hostadd, bcr_hostdel and bcr_hostinfo, which it looks at itself: "bad"
 *   list         the hosts that bcr_host and bcr_hostinfo tell: "list NAME:SLOTS:NUMBER:ARCH ..."
 *   start M N    starts N CCEs on machine M, which stay: "start COUNT CODE", and each CCE "pid ORDINAL PID DAEMON"
 *   talk M       starts one there that puts a region here, and takes that: "talk CODE"
 *   fetch M N    the same with N bytes
 *   by M WORD... has a CCE on machine M do all words behind that, and waits for its end
 *   each N M WORD... has N CCEs on machine M do all words behind that, at a time
 *   pid          "pid ORDINAL PID DAEMON" of itself
 *   beside M N WORD... has a CCE on machine M do the next N words, and goes on
 *   print N      starts a CCE on machine local1 that prints N lines and stays; when all are printed, "printed"
 *   ended        takes the next end of a CCE that it has started: "ended ORDINAL HOW"
 *   wait         until the test lets it go on ($SYS_GO) */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "sys_tell.h"

enum { ENDS = 1, TALK = 2 };

static const char *own_name;
static int next_ordinal = 1;

static void must(bool holds, int line)
{
    if (holds)
        return;
    tell("line %d: error %d\n", line, bcr_errno);
    _exit(97);
}
#define MUST(holds) must((holds), __LINE__)

/* ---- what it does ---- */

static void bad(void)
{
    static const char *const lines[] = {
        "",          "  # nothing", "a b",       "a[1-2]",    "a local login=x",
        "localhost", "-a",          "a slots=0", "a enl=b/c", "a addr=-x"};
    char longest[2000];
    struct bcr_hostentry entry = {.size = sizeof entry}, other = {.size = 1};
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        MUST(bcr_hostadd(lines[i]) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostadd(NULL) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostadd(longest) == -1 && bcr_errno == bcrE_ARG);
    longest[1023] = '\0'; /* it comes to enl, which takes no name of that length */
    MUST(bcr_hostadd(longest) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostinfo(0, NULL) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostinfo(-1, &entry) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostinfo(0, &other) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostof(-1) == -1 && bcr_errno == bcrE_NOCCE && bcr_hostof(9999) == -1 &&
         bcr_errno == bcrE_NOCCE);
    MUST(bcr_hostof(bcr_cce) == 0);
    MUST(bcr_hostinfo(1 << 30, &entry) == 0 && bcr_hostinfo(500, &entry) == 0);
    MUST(bcr_host(0, longest, sizeof longest) > 0 && bcr_hostdel(longest) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostdel(NULL) == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostdel("") == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostdel("127.0.0.1") == -1 && bcr_errno == bcrE_ARG);
    MUST(bcr_hostdel("nobody") == -1 && bcr_errno == bcrE_NOHOST);
    memset(longest, 'a', sizeof longest);
    MUST(bcr_hostdel(longest) == -1 && bcr_errno == bcrE_ARG);
    longest[1023] = '\0';
    MUST(bcr_hostdel(longest) == -1 && bcr_errno == bcrE_NOHOST);
    tell("bad\n");
}

static void list(void)
{
    char text[2000] = "", name[256];
    struct bcr_hostentry entry = {.size = sizeof entry};
    int k = 0, got;
    for (; (got = bcr_hostinfo(k, &entry)) == 1; k++) {
        MUST(bcr_host(k, name, sizeof name) == entry.slots && strcmp(name, entry.name) == 0);
        MUST((entry.archtype != 0) == (entry.number >= 0));
        MUST(entry.number != 0 || entry.archtype == bcr_archtype);
        snprintf(text + strlen(text), sizeof text - strlen(text), " %s:%d:%d:%s", entry.name, entry.slots,
                 entry.number, entry.arch);
    }
    MUST(got == 0 && bcr_host(k, NULL, 0) == 0);
    tell("list%s\n", text);
}

static int start(const char *machine, int count, const char *const *words, bcr_cce_id *ids)
{
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = machine,
                                       .core = -1,
                                       .count = count,
                                       .ordinal = next_ordinal,
                                       .program = own_name,
                                       .arguments = words};
    next_ordinal += count;
    return bcr_start(&spec, ids);
}

static void start_and_tell(const char *machine, int count)
{
    const int got = start(machine, count, (const char *const[]){"stay", NULL}, NULL);
    tell("start %d %d\n", got, got < 0 ? bcr_errno : 0);
}

/* The number of the host that the list has under that name. */
static int number_of(const char *machine)
{
    struct bcr_hostentry entry = {.size = sizeof entry};
    int k = 0;
    while (bcr_hostinfo(k, &entry) == 1 && strcmp(entry.name, machine) != 0)
        k++;
    return entry.number;
}

static void talk(const char *machine, const char *bytes)
{
    bcr_cce_id other;
    if (start(machine, 1, (const char *const[]){"put", bytes, NULL}, &other) != 1) {
        tell("talk %d\n", bcr_errno);
        return;
    }
    MUST(bcr_hostof(other) == number_of(machine));
    bcr_region region = bcr_deq(bcr_cce, TALK, bcr_BLOCK);
    MUST(region != NULL && strcmp(*region, "here") == 0 && bcr_rgfree(region) == 0);
    MUST(bcr_hostof(other) == number_of(machine)); /* it may have ended */
    tell("talk 0\n");
}

static void take_end(bool tells)
{
    int end[4] = {0};
    bcr_region region = bcr_deq(bcr_cce, ENDS, bcr_BLOCK);
    MUST(region != NULL && bcr_copyfm(bcrT_1END, 1, region, 0, end, sizeof end) >= 2 &&
         bcr_rgfree(region) == 0);
    if (tells)
        tell("ended %d %d\n", end[1], end[2]);
}

static void print(const char *count)
{
    MUST(start("local1", 1, (const char *const[]){"lines", count, NULL}, NULL) == 1);
}

static void beside(const char *at, int count, char **words)
{
    const char *some[16] = {NULL};
    MUST(count < 16);
    for (int i = 0; i < count; i++)
        some[i] = words[i];
    MUST(start(at, 1, some, NULL) == 1);
}

static void lines(int count)
{
    for (int i = 0; i < count; i++)
        printf("line %d\n", i);
    fflush(stdout);
    tell("printed\n");
    for (;;)
        pause();
}

static void put(int bytes)
{
    bcr_region region = bcr_rgalloc(bytes, 0);
    MUST(region != NULL);
    strcpy(*region, "here");
    MUST(bcr_enq(region, bcr_enlistor, TALK, bcr_FREE) == 0);
}

/* Returns how many words it has used; 0: all. */
static int one(char **words)
{
    const char *word = words[0];
    if (strcmp(word, "add") == 0)
        return tell("add %d\n", bcr_hostadd(words[1]) == 0 ? 0 : bcr_errno), 2;
    if (strcmp(word, "del") == 0)
        return tell("del %d\n", bcr_hostdel(words[1]) == 0 ? 0 : bcr_errno), 2;
    if (strcmp(word, "print") == 0)
        return print(words[1]), 2;
    if (strcmp(word, "bad") == 0)
        return bad(), 1;
    if (strcmp(word, "list") == 0)
        return list(), 1;
    if (strcmp(word, "start") == 0)
        return start_and_tell(words[1], atoi(words[2])), 3;
    if (strcmp(word, "talk") == 0)
        return talk(words[1], "5"), 2;
    if (strcmp(word, "fetch") == 0)
        return talk(words[1], words[2]), 3;
    if (strcmp(word, "ended") == 0)
        return take_end(true), 1;
    if (strcmp(word, "wait") == 0)
        return wait_to_go(), 1;
    if (strcmp(word, "lines") == 0)
        lines(atoi(words[1]));
    if (strcmp(word, "beside") == 0)
        return beside(words[1], atoi(words[2]), words + 3), 3 + atoi(words[2]);
    if (strcmp(word, "put") == 0)
        return put(atoi(words[1])), 2;
    if (strcmp(word, "pid") == 0 || strcmp(word, "stay") == 0)
        tell("pid %d %d %d\n", bcr_cceord, (int)getpid(), (int)getppid());
    while (strcmp(word, "stay") == 0)
        pause();
    if (strcmp(word, "pid") == 0)
        return 1;
    if (strcmp(word, "each") == 0) {
        const int count = atoi(words[1]);
        MUST(start(words[2], count, (const char *const *)words + 3, NULL) == count);
        return 0;
    }
    MUST(strcmp(word, "by") == 0 && start(words[1], 1, (const char *const *)words + 2, NULL) == 1);
    take_end(false);
    return 0;
}

int main(int argc, char **argv)
{
    own_name = argv[0];
    MUST(bcr_init(bcr_anystatus, "changes") >= 0);
    MUST(bcr_cagrow(1, 0, 0, 0, 2, 16, 1 << 22) == ENDS);
    if (argc < 2 || (strcmp(argv[1], "stay") != 0 && strcmp(argv[1], "put") != 0))
        MUST(bcr_watch(bcr_STARTED, ENDS) == 0);
    next_ordinal += 100 * bcr_cceord;
    for (int at = 1, used; at < argc; at += used)
        if ((used = one(argv + at)) == 0)
            break;
    return 0;
}
