/* SPDX-License-Identifier: MIT */
/* One program in NX, PVM 2.4 and PVM 3: equal results, and the same messages between the same processes,
 * by the tool that counts.
 *
 * What differs by interface: EXEC, process 0 where processes come and go, is asked by PVM's routines and
 * answers, and NX has none, so that its nodes are processes from 0 on. NX's nodes tell each other their
 * process types by their first call; what that takes is counted by a run in which they do nothing else.
 * Who spawns tasks of PVM 3 tells each one which were spawned with it. Bytes differ as well, and are not
 * compared: PVM's messages say of which types their items are. */
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"
#include "trio.h"

enum { LIMIT = 120, MOST = 8 };

static struct run run;

/* Messages to a place from a place. */
struct counts {
    unsigned long came[MOST][MOST];
};

/* PVM 2.4 finds programs in PATH. */
static void prepare(void)
{
    char file[2048], path[8192];
    run_folder();
    snprintf(file, sizeof file, "%s", run_of_environment("TRIO_pvm2"));
    snprintf(path, sizeof path, "%s:%s", dirname(file), run_of_environment("PATH"));
    CHECK_INT(setenv("PATH", path, 1), 0);
}

static void must_print(const char *what, const char *wanted)
{
    run_ends_well(&run, what);
    CHECK_STR(run.text, wanted);
}

/* The line of a trio, computed by one process. */
static void computed(int count, int rounds, char *line, size_t room)
{
    static struct trio token, shares[MOST];
    FILE *into = fmemopen(line, room, "w");
    CHECK(into != NULL);
    trio_begin(&token);
    for (int round = 0; round < rounds; round++)
        for (int turn = 1; turn <= count; turn++) {
            const int place = turn % count;
            trio_change(&token, place);
            trio_share(&shares[place], &token, place);
        }
    for (int place = 1; place < count; place++)
        trio_combine(&shares[0], &shares[place]);
    trio_print(into, &shares[0], count, rounds);
    CHECK_INT(fclose(into), 0);
}

static void expected(int count, int rounds, struct counts *wanted)
{
    memset(wanted, 0, sizeof *wanted);
    for (int place = 0; place < count; place++) {
        if (place > 0)
            wanted->came[place][0]++;
        wanted->came[place][(place + count - 1) % count] += (unsigned long)rounds;
        for (int bit = 1; bit < count && (place & bit) == 0; bit *= 2)
            if (place + bit < count)
                wanted->came[place][place + bit]++;
    }
}

/* Reads the tool's lines. The process at place 0 has the number `first`; what EXEC sends is in none of the
 * places. */
static void counted(int first, int count, struct counts *counts)
{
    static const char begin[] = "count: process ", from[] = " from ";
    int lines = 0;
    memset(counts, 0, sizeof *counts);
    for (char *at = run.error; (at = strstr(at, begin)) != NULL; at++) {
        char *line_end = strchr(at, '\n'), *came = strstr(at, " bytes: ");
        const long place = strtol(at + strlen(begin), NULL, 10) - first;
        if (line_end == NULL || place < 0 || place >= count)
            continue; /* EXEC */
        lines++;
        if (came == NULL || came > line_end)
            continue; /* it got nothing */
        came += strlen(" bytes: ");
        char *word = came;
        for (bool is_more = true; is_more; is_more = *word == ',', came = word + 1) {
            const unsigned long messages = strtoul(came, &word, 10);
            const bool is_count = word != came && strncmp(word, from, strlen(from)) == 0;
            const long source = is_count ? strtol(word + strlen(from), &word, 10) : -1;
            if (source >= first && source - first < count)
                counts->came[place][source - first] = messages;
            else if (source != 0 || (*word != ',' && *word != '\n'))
                FAIL("neither EXEC nor a process of the program: %s", came);
        }
    }
    CHECK_INT(lines, count);
}

/* `own` are messages of the interface itself; NULL if it sends none from process to process. */
static void must_have_sent(const char *what, int first, int count, int rounds, const struct counts *own)
{
    struct counts wanted, counts;
    expected(count, rounds, &wanted);
    counted(first, count, &counts);
    for (int to = 0; to < count; to++)
        for (int from = 0; from < count; from++) {
            if (own != NULL)
                wanted.came[to][from] += own->came[to][from];
            if (counts.came[to][from] != wanted.came[to][from])
                FAIL("%s: %lu messages to %d from %d, not %lu: %s", what, counts.came[to][from], to, from,
                     wanted.came[to][from], run.error);
        }
}

TEST_TIMEOUT(three_interfaces_send_the_same_messages_and_have_the_result_of_one_process, LIMIT)
{
    static const int counts[] = {1, 2, 5, MOST};
    prepare();
    for (int i = 0; i < 4; i++) {
        char line[200], count[16], rounds[16];
        const int round = 3 + i;
        snprintf(count, sizeof count, "%d", counts[i]);
        snprintf(rounds, sizeof rounds, "%d", round);
        computed(counts[i], round, line, sizeof line);
        CHECK_INT(setenv("EARL_TOOLS", run_of_environment("EARL_TOOL_COUNT"), 1), 0);
        struct counts own;
        run_start(&run, run_enl(), "-n", count, run_of_environment("TRIO_nx"), "0");
        must_print("NX", "");
        counted(0, counts[i], &own);
        run_start(&run, run_enl(), "-n", count, run_of_environment("TRIO_nx"), rounds);
        must_print("NX", line);
        must_have_sent("NX", 0, counts[i], round, &own);
        run_start(&run, run_of_environment("TRIO_pvm2"), rounds, count);
        must_print("PVM 2.4", line);
        must_have_sent("PVM 2.4", 1, counts[i], round, NULL);
        run_start(&run, run_of_environment("TRIO_pvm3"), rounds, count);
        must_print("PVM 3", line);
        memset(&own, 0, sizeof own);
        for (int place = 1; place < counts[i]; place++)
            own.came[place][0] = 1; /* which tasks were spawned together */
        must_have_sent("PVM 3", 1, counts[i], round, &own);
        CHECK_INT(unsetenv("EARL_TOOLS"), 0);
    }
}

/* Which process has which number is then known to enl only. */
TEST_TIMEOUT(three_interfaces_have_that_result_as_teams_of_enl_on_one_host_and_on_three, LIMIT)
{
    char line[200];
    prepare();
    computed(5, 4, line, sizeof line);
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "--map", "cyclic", "-n", "5",
              run_of_environment("TRIO_nx"), "4");
    must_print("NX on hosts", line);
    run_start(&run, run_enl(), "-n", "5", run_of_environment("TRIO_pvm2"), "4", "5", "all");
    must_print("PVM 2.4 by enl", line);
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "-n", "5", run_of_environment("TRIO_pvm2"),
              "4", "5", "all");
    must_print("PVM 2.4 on hosts", line);
    run_start(&run, run_enl(), "-n", "5", run_of_environment("TRIO_pvm3"), "4");
    must_print("PVM 3 by enl", line);
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "-n", "5", run_of_environment("TRIO_pvm3"),
              "4");
    must_print("PVM 3 on hosts", line);
}
