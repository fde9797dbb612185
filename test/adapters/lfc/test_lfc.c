/* SPDX-License-Identifier: MIT */
/* LFC programs: the guide's own, and the scenarios of lfc_members.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

/* Seconds for each test, on a busy machine. */
enum { LIMIT = 200 };

static struct run run;

static const char *members(void)
{
    return getenv("LFC_MEMBERS");
}

/* On one host, and with others. `option`: one of LFC's. */
static void runs(const char *count, const char *scenario, const char *number, const char *allowed,
                 const char *option)
{
    static const char *const hosts[] = {"1", "3"};
    run_folder();
    run_start(&run, run_enl(), "-n", count, members(), option, scenario, number, allowed);
    run_ends_well(&run, scenario);
    for (int i = 0; i < 2; i++) {
        run_start(&run, run_enl(), "--local", hosts[i], "--per-host", count, "--map", "cyclic", "-n", count,
                  members(), option, scenario, number, allowed);
        run_ends_well(&run, scenario);
    }
}

TEST_TIMEOUT(the_guides_latency_program_runs_as_it_stands, LIMIT)
{
    static const char *const counts[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        run_folder();
        run_start(&run, run_enl(), "-n", counts[i], getenv("LFC_LATENCY"), "-nsend", "50");
        run_ends_well(&run, "latency");
        CHECK(strstr(run.text, "Size:   16, polling: 1") != NULL &&
              strstr(run.text, "Size:   16, polling: 0") != NULL);
        run_start(&run, run_enl(), "-n", counts[i], getenv("LFC_LATENCY"), "-nsend", "20", "-size", "5000",
                  "-lfc-interval=0");
        run_ends_well(&run, "latency");
        CHECK(strstr(run.text, "Size: 5000, polling: 0") != NULL);
    }
    run_start(&run, run_enl(), "--local", "1", "-n", "2", getenv("LFC_LATENCY"), "-nsend", "20", "-size",
              "3000");
    run_ends_well(&run, "latency");
}

TEST_TIMEOUT(each_packet_comes_once_and_in_order_with_upcalls_and_without, LIMIT)
{
    runs("1", "all_to_all", "100", "1", "-lfc-ring-frames=4");
    runs("4", "all_to_all", "60", "1", "-lfc-ring-frames=4");
    runs("4", "all_to_all", "60", "0", "-lfc-ring-frames=4");
    runs("3", "all_to_all", "300", "1", "-lfc-ring-frames=512");
}

TEST_TIMEOUT(sixteen_that_all_broadcast_into_small_cells, LIMIT)
{
    char number[16];
    run_folder();
    snprintf(number, sizeof number, "%d", (int)test_scale(8, 500));
    for (int allowed = 0; allowed < 2; allowed++) {
        run_start(&run, run_enl(), "-n", "16", members(), "all_to_all", number, allowed == 0 ? "0" : "1",
                  "-lfc-ring-frames=4");
        run_ends_well(&run, "all_to_all");
    }
}

TEST_TIMEOUT(upcalls_may_broadcast_while_a_broadcast_waits_for_room, LIMIT)
{
    runs("4", "ask", "20", "1", "-lfc-ring-frames=4");
}

TEST_TIMEOUT(a_multicast_reaches_its_group, LIMIT)
{
    runs("5", "groups", "60", "1", "-lfc-ring-frames=4");
    runs("4", "groups", "60", "0", "-lfc-ring-frames=9");
}

/* The numbers told are 0 to all - 1, each once. */
static void check_numbers(unsigned all)
{
    static unsigned char seen[100000];
    unsigned told = 0;
    memset(seen, 0, sizeof seen);
    for (char *at = run.text, *end; *at != '\0'; at = end + 1, told++) {
        const unsigned long number = strtoul(at, &end, 10);
        CHECK(end != at && *end == '\n' && number < all && !seen[number]);
        seen[number] = 1;
    }
    CHECK_INT(told, all);
}

TEST_TIMEOUT(fetch_and_adds_are_a_permutation_also_where_upcalls_add, LIMIT)
{
    static const char *const hosts[] = {"1", "3"};
    run_folder();
    for (int i = 0; i < 2; i++) {
        run_start(&run, run_enl(), "-n", "8", members(), "add", i == 0 ? "100" : "151", "1");
        run_ends_well(&run, "add");
        check_numbers(i == 0 ? 800 : 2 * 8 * 151);
        run_start(&run, run_enl(), "-n", "3", members(), "add", "100", "0");
        run_ends_well(&run, "add");
        check_numbers(300);
        run_start(&run, run_enl(), "--local", hosts[i], "--per-host", "2", "--map", "cyclic", "-n", "3",
                  members(), "add", "51", "1");
        run_ends_well(&run, "add");
        check_numbers(2 * 3 * 51);
    }
}

TEST_TIMEOUT(no_number_is_added_twice_or_left_out, 1800)
{
    char number[16];
    run_folder();
    snprintf(number, sizeof number, "%d", (int)test_scale(1000, 125000));
    run_start(&run, run_enl(), "-n", "8", members(), "add_many", number, "1");
    run_ends_well(&run, "add_many");
}

TEST_TIMEOUT(who_never_polls_is_interrupted_also_within_malloc, LIMIT)
{
    runs("1", "interrupts", "300", "1", "-lfc-interval=0");
    runs("2", "interrupts", "300", "1", "-lfc-interval=20");
    runs("3", "interrupts", "100", "0", "-lfc-interval=70");
}

TEST_TIMEOUT(a_handler_of_the_programs_own_may_poll, LIMIT)
{
    runs("1", "own_handler", "300", "1", "-lfc-interval=0");
    runs("3", "own_handler", "100", "0", "-lfc-interval=20");
}

/* The number behind that name, of process 0. */
static long counted(const char *name)
{
    const char *at = strstr(run.text, name);
    if (at == NULL)
        FAIL("there is no count of %s", name);
    return strtol(at + strlen(name), NULL, 10);
}

/* A signal without end would come some thousand times in the 200 ms that nothing is to be done. */
TEST_TIMEOUT(signals_end_when_nothing_is_left_to_do, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", members(), "quiet", "20", "-lfc-ring-frames=4",
              "-lfc-intr-first=300000", "-lfc-intr-next=1");
    run_ends_well(&run, "quiet");
    CHECK(counted("\nsignals") < 200);
}

TEST_TIMEOUT(an_upcall_may_enable_and_disable_interrupts_for_what_follows, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", members(), "switches", "-lfc-intr-next=1");
    run_ends_well(&run, "switches");
    CHECK(counted("\nsignals") < 200);
}

TEST_TIMEOUT(a_program_that_calls_bcr_all_the_time_is_interrupted, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", members(), "calls_bcr", "500", "-lfc-interval=0");
    run_ends_well(&run, "calls_bcr");
}

TEST_TIMEOUT(statistics_of_all_are_gathered_at_process_0, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "3", members(), "statistics");
    run_ends_well(&run, "statistics");
    CHECK(strncmp(run.text, "first\n", 6) == 0 && strstr(run.text, "\nsecond\n") != NULL);
    CHECK(strstr(run.text, "unicasts sent                        10           10           10\n") != NULL);
    CHECK(strstr(run.text, "unicasts received                    10           10           10\n") != NULL);
    CHECK(strstr(run.text, "unicasts sent                         0            0            0\n") != NULL);
}

TEST_TIMEOUT(the_heap_gives_each_block_once, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", members(), "memory");
    run_ends_well(&run, "memory");
}

TEST_TIMEOUT(options_are_taken_out_and_others_are_left, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "1", members(), "shown", "-lfc-no-intr", "a", "-lfc-tree=bst",
              "-lfc-verbose", "-lfc-what=1", "-x", "-lfc-lcp=file", "-lfc-routes=file", "-lfc-stats");
    run_ends_well(&run, "shown");
    CHECK(strstr(run.text, "[shown][a][-lfc-what=1][-x]\n") != NULL);
    CHECK(strstr(run.text, "process 0 of 1") != NULL && strstr(run.text, "no interrupts") != NULL);
    CHECK(strstr(run.text, "lcp, routes and tree have no effect") != NULL);
    CHECK(strstr(run.error, "-lfc-what=1 is no option of LFC's") != NULL);
    setenv("LFC_VERBOSE", "", 1);
    setenv("LFC_RING_FRAMES", "77", 1);
    setenv("LFC_INTERVAL", "5", 1);
    run_start(&run, run_enl(), "-n", "2", members(), "shown");
    run_ends_well(&run, "shown");
    CHECK(strstr(run.text, "interrupts after 5 us, then every 5 us") != NULL);
    run_start(&run, run_enl(), "-n", "2", members(), "shown", "-lfc-intr-next=9");
    run_ends_well(&run, "shown");
    CHECK(strstr(run.text, "77 in the receive queue") != NULL);
    CHECK(strstr(run.text, "interrupts after 5 us, then every 9 us") != NULL);
    setenv("LFC_INTERVAL", "fast", 1);
    run_start(&run, run_enl(), "-n", "1", members(), "shown");
    run_ends(&run, 1, "LFC_INTERVAL takes a number from 0 to 10000000, not fast");
    unsetenv("LFC_VERBOSE");
    unsetenv("LFC_RING_FRAMES");
    static const char *const emptied[] = {"LFC_RING_FRAMES", "LFC_INTERVAL", "LFC_TREE", "ROUTES", "HOSTS"};
    for (unsigned i = 0; i < sizeof emptied / sizeof emptied[0]; i++)
        setenv(emptied[i], "", 1);
    run_start(&run, members(), "shown", "a", "b", "c");
    run_ends_well(&run, "shown");
    CHECK(strstr(run.text, "[shown][a][b][c]") != NULL);
    run_start(&run, members(), "shown", "-lfc-use-hosts");
    run_ends(&run, 1, "-lfc-use-hosts needs HOSTS, which is not set");
    for (unsigned i = 0; i < sizeof emptied / sizeof emptied[0]; i++)
        unsetenv(emptied[i]);
}

TEST_TIMEOUT(a_value_that_is_none_ends_the_program_with_a_sentence, LIMIT)
{
    static const char *const bad[][2] = {
        {"-lfc-ring-frames=0", "-lfc-ring-frames=0 takes a number from 1 to 1000000, not 0"},
        {"-lfc-interval=fast", "takes a number from 0 to 10000000, not fast"},
        {"-lfc-intr-first=", "-lfc-intr-first= needs a value"},
        {"-lfc-intr-next", "-lfc-intr-next needs a value"},
        {"-lfc-tree=oak", "-lfc-tree (LFC_TREE) takes binary, bst or chain, not oak"},
        {"-lfc-no-intr=maybe", "-lfc-no-intr=maybe takes no value, not maybe"}};
    run_folder();
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        run_start(&run, run_enl(), "-n", "1", members(), "shown", bad[i][0]);
        run_end(&run);
        CHECK(run.status != 0 && strstr(run.error, bad[i][1]) != NULL);
    }
}

TEST_TIMEOUT(misuse_ends_the_program_with_the_routines_name, LIMIT)
{
    static const char *const said[] = {"lfc_group_create: process 0 is named twice",
                                       "lfc_group_create: there is no process 99",
                                       "lfc_poll: lfc_start has not been called",
                                       "lfc_start: it was called before",
                                       "lfc_group_create: it must be called between lfc_init and lfc_start",
                                       "lfc_ucast_launch: there is no process 2: they are 0 to 1",
                                       "lfc_ucast_launch: 1025 bytes are more than a packet has",
                                       "is no packet of lfc_send_alloc, or was launched before",
                                       "is no packet of lfc_send_alloc, or was launched before",
                                       "lfc_mcast_launch: there is no group 0",
                                       "is no packet that an upcall has got and kept",
                                       "lfc_intr_enable: interrupts are enabled",
                                       "lfc_fetch_and_add: there is no process 2",
                                       "lfc_stats_dump: there is no buffer 3",
                                       "is no block of lfc_malloc, or was freed before",
                                       "lfc_poll: lfc_exit was called before",
                                       NULL, /* 16 and 17: test_lfc_debug.c */
                                       NULL,
                                       "lfc_intr_enable: an upcall is running",
                                       "is no packet that an upcall has got and kept, or was freed before",
                                       "lfc_exit: an upcall is running",
                                       "lfc_poll: lfc_exit was called before"};
    run_folder();
    for (unsigned i = 0; i < sizeof said / sizeof said[0]; i++) {
        char number[16];
        if (said[i] == NULL)
            continue;
        snprintf(number, sizeof number, "%u", i);
        run_start(&run, run_enl(), "-n", "2", members(), "misuse", number);
        run_end(&run);
        if (run.status != 1 || strstr(run.error, said[i]) == NULL)
            FAIL("misuse %u: status %d, %s", i, run.status, run.error);
    }
}

TEST_TIMEOUT(the_end_of_a_member_ends_the_program, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "2", members(), "all_to_all", "100000000", ":", "-n", "1", "sh", "-c",
              "sleep 1; exit 4");
    run_end(&run);
    CHECK_INT(run.status, 4);
}

TEST_TIMEOUT(a_member_that_leaves_without_lfc_exit_ends_the_program, LIMIT)
{
    run_folder();
    run_start(&run, run_enl(), "-n", "3", members(), "leaves", "100");
    run_ends(&run, 1, "another process of the program has ended");
}

TEST_TIMEOUT(the_others_of_a_member_that_is_killed_end_with_one_sentence, LIMIT)
{
    for (int i = 0; i < 2; i++) { /* on one host, and on two */
        run_folder();
        if (i == 0)
            run_start(&run, run_enl(), "-n", "4", members(), "killed", "100");
        else
            run_start(&run, run_enl(), "--local", "1", "--per-host", "4", "--map", "cyclic", "-n", "4",
                      members(), "killed", "100");
        run_end(&run);
        CHECK_INT(run.status, 128 + 9);
        CHECK(strstr(run.error, "was killed by signal 9") != NULL && strstr(run.error, "lfc: ") == NULL);
        if (i == 0)
            CHECK_STR(strchr(run.error, '\n'), "\n");
    }
}
