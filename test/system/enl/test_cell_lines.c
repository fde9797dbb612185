/* SPDX-License-Identifier: MIT */
/* Lines of bcr_start: the scenarios of sys_lines.c, on one host and on several. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

/* What is wrong the program has said. */
static void runs(const char *scenario, const char *hosts, const char *one, const char *other)
{
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", hosts, getenv("SYS_LINES"), scenario, one,
              other);
    run_end(&run);
    if (run.status != 0)
        FAIL("%s ends with status %d: %s", scenario, run.status, run.error);
    CHECK(strstr(run.text, "is as it should be") != NULL);
}

static void runs_everywhere(const char *scenario)
{
    runs(scenario, "1", NULL, NULL);
    runs(scenario, "1", "local1", NULL);
    runs(scenario, "2", "local1", "local2");
}

TEST_TIMEOUT(each_byte_comes_once_and_in_order_in_lines_or_parts_of_long_ones, 120)
{
    runs_everywhere("all");
}

TEST_TIMEOUT(twenty_cces_print_at_once, 120)
{
    runs_everywhere("many");
}

TEST_TIMEOUT(a_full_cell_slows_its_writer_alone, 120)
{
    runs_everywhere("slow");
}

TEST_TIMEOUT(what_a_killed_cce_has_printed_comes, 120)
{
    runs_everywhere("killed");
}

TEST_TIMEOUT(a_line_that_is_printed_as_a_whole_comes_as_a_whole, 120)
{
    runs_everywhere("wholes");
}

TEST_TIMEOUT(what_is_printed_without_a_newline_comes_at_once, 120)
{
    runs_everywhere("asks");
}

TEST(a_cell_that_is_none_is_refused_and_an_older_struct_is_not)
{
    runs("refused", "1", NULL, NULL);
}

/* What CCE 7 of the scenarios "owner" and "freed" prints: it comes into the cell first, then to the terminal. What lay in the cell
 * of an owner that ended is gone with it. */
enum { NUMBERS = 20000, ROOM = 8, LINE_MAX_BYTES = 20, ALL_MAX = 1 << 20 };

/* Runs a scenario whose owner writes what it has taken to a file; that is how `all`, the lines that may come, begins. Returns how
 * many bytes these are; of what the run has printed run.text has the rest. */
static size_t run_taking(const char *scenario, const char *hosts, const char *one, const char *other,
                         const char *all, size_t length)
{
    static char taken[ALL_MAX];
    static int round;
    char name[32], sentence[64];
    snprintf(name, sizeof name, "taken%d", round++);
    run_folder();
    setenv("SYS_TAKEN", name, 1);
    runs(scenario, hosts, one, other);
    const size_t taken_length = run_read_file(name, taken, sizeof taken);
    CHECK(taken_length > 1000 && taken_length <= length);
    CHECK_MEM(taken, all, taken_length);
    snprintf(sentence, sizeof sentence, "%s is as it should be\n", scenario);
    char *said = strstr(run.text, sentence);
    CHECK(said != NULL);
    memmove(said, said + strlen(sentence), strlen(said + strlen(sentence)) + 1);
    return taken_length;
}

static void each_once_but(const char *scenario, const char *hosts, const char *one, const char *other,
                          size_t most_lost)
{
    static char all[NUMBERS * LINE_MAX_BYTES];
    size_t length = 0;
    for (int i = 0; i < NUMBERS; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "line 7.%d.\n", i);
    const size_t taken_length = run_taking(scenario, hosts, one, other, all, length);
    const size_t shown = strlen(run.text);
    CHECK(taken_length + shown <= length && taken_length + shown + most_lost >= length);
    CHECK_MEM(run.text, all + length - shown, shown);
}

TEST_TIMEOUT(lines_that_a_killed_owner_has_not_got_are_shown, 240)
{
    each_once_but("owner", "1", NULL, NULL, ROOM * LINE_MAX_BYTES);
    each_once_but("owner", "1", "localhost", "local1", ROOM * LINE_MAX_BYTES);
    each_once_but("owner", "1", "local1", "localhost", ROOM * LINE_MAX_BYTES);
    each_once_but("owner", "2", "local1", "local2", ROOM * LINE_MAX_BYTES);
}

TEST_TIMEOUT(lines_that_come_when_the_cell_is_freed_are_shown, 240)
{
    each_once_but("freed", "1", NULL, NULL, 0);
    each_once_but("freed", "1", "local1", NULL, 0);
}

/* One that prints without end, and is killed with its host: the numbers of its lines go on where those in the cell end. */
static void each_once_as_the_host_is_taken_away(const char *scenario, const char *hosts, const char *one,
                                                const char *other)
{
    static char all[ALL_MAX];
    size_t length = 0;
    for (int i = 0; length < sizeof all - 2 * LINE_MAX_BYTES; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "line 7.%d.\n", i);
    const size_t taken_length = run_taking(scenario, hosts, one, other, all, length);
    const size_t shown = strlen(run.text);
    CHECK(taken_length + shown <= length);
    CHECK_MEM(run.text, all + taken_length, shown);
}

TEST_TIMEOUT(each_line_is_in_the_cell_or_shown_when_the_printers_host_is_taken_away, 240)
{
    for (int i = 0; i < 5; i++) { /* the end meets lines at any point of their way */
        each_once_as_the_host_is_taken_away("deleted", "1", "local1", NULL);
        each_once_as_the_host_is_taken_away("deleted", "2", "local1", "local2");
        each_once_as_the_host_is_taken_away("deleted-while-taking", "1", "local1", NULL);
        each_once_as_the_host_is_taken_away("deleted-while-taking", "2", "local1", "local2");
    }
}
