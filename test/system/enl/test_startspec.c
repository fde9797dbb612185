/* SPDX-License-Identifier: MIT */
/* bcr_start by real programs: what a CCE is started with arrives as it was given, here and on another host; who starts it
 * knows the CCEs; and what cannot be started is told by a code, and changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "start_run.h"

static void format_line(char line[2048], const char *format, const char *value)
{
    snprintf(line, 2048, format, value);
}

#define HAS(format, value)                  \
    do {                                    \
        char wanted[2048];                  \
        format_line(wanted, format, value); \
        has(wanted);                        \
    } while (0)

TEST(every_field_reaches_the_new_cces)
{
    unsetenv("SYS_OVER");
    for (int i = 0; i < PLACES; i++) {
        start_run("fields", i, "", "");
        hear(8);
        has("start 2 0");
        HAS("5 name=%s args=[one][two] added=yes over=none folder=/", start_program());
        HAS("6 name=%s args=[one][two] added=yes over=none folder=/", start_program());
        has("5 birth birthday");
        has("6 birth birthday");
        has("start 1 0");
        has("9 birth day");
        HAS("9 name=%s args=[one][two] added=yes over=none folder=/", start_program());
        ends_well();
    }
}

TEST(arguments_may_be_empty_and_hold_any_bytes)
{
    for (int i = 0; i < PLACES; i++) {
        start_run("words", i, "", "");
        hear(3);
        has("start 1 0");
        HAS("1 name=%s args=[][a<0a>b][<c3><a4><ff>][][x=y][--] added=none over=none folder=*",
            start_program());
        ends_well();
    }
}

TEST(variables_are_added_and_take_the_places_of_others)
{
    setenv("SYS_OVER", "old", 1);
    for (int i = 0; i < PLACES; i++) {
        start_run("variables", i, "", "");
        hear(6);
        HAS("1 name=%s args= added= over=new folder=*", start_program());
        HAS("1 name=%s args= added=none over=old folder=*", start_program());
        ends_well();
    }
    unsetenv("SYS_OVER");
}

TEST(a_megabyte_of_arguments_reaches_all_of_them_whole)
{
    for (int i = 0; i < PLACES; i++) {
        char want[2048];
        start_run("megabyte", i, "", "");
        hear(8);
        has("start 3 0");
        has("start 1 0");
        int wanted = 0;
        for (int line = 0; line < count; line++)
            if (strncmp(lines[line], "wanted ", 7) == 0) {
                wanted++;
                for (int ordinal = 1; ordinal <= (wanted == 1 ? 3 : 1); ordinal++) {
                    snprintf(want, sizeof want, "%d %.2000s", ordinal, lines[line] + 7);
                    has(want);
                }
            }
        CHECK_INT(wanted, 2);
        ends_well();
    }
}

static void longest(int place, const char *bytes, const char *number, int code)
{
    char want[64];
    start_run("longest", place, bytes, number);
    hear(1);
    snprintf(want, sizeof want, "start %d %d", code == 0 ? 1 : -1, code);
    has(want);
    ends_well();
}

TEST(what_is_longer_than_the_system_takes_is_an_argument_error)
{
    struct rlimit stack = {.rlim_cur = 8 << 20, .rlim_max = RLIM_INFINITY};
    CHECK_INT(getrlimit(RLIMIT_STACK, &stack), 0);
    stack.rlim_cur = 8 << 20;
    CHECK_INT(setrlimit(RLIMIT_STACK, &stack), 0);
    for (int i = 0; i < PLACES; i++) {
        longest(i, "131071", "1", 0);
        longest(i, "131072", "1", bcrE_ARG);
        longest(i, "100000", "15", 0);
        longest(i, "100000", "30", bcrE_ARG); /* the kernel refuses it: a quarter of the stack's limit */
        run_check_error(&run, "longer than this system takes");
        longest(i, "100000", "70", bcrE_ARG); /* the library does */
    }
}

TEST(a_wrapper_gets_the_arguments_too)
{
    setenv("BCR_WRAP", "env WRAPPED=1 SYS_OVER=wrapped", 1);
    for (int i = 0; i < 2; i++) {
        start_run("fields", i, "", "");
        hear(8);
        has("start 2 0");
        HAS("5 name=%s args=[one][two] added=yes over=wrapped folder=/", start_program());
        HAS("6 name=%s args=[one][two] added=yes over=wrapped folder=/", start_program());
        ends_well();
    }
    unsetenv("BCR_WRAP");
}

TEST(a_directory_that_is_none_there_is_said_with_its_name)
{
    for (int i = 0; i < PLACES; i++) {
        start_run("directory", i, "/no/such/place", "");
        hear(1);
        char want[64];
        snprintf(want, sizeof want, "start -1 %d", bcrE_NOPROG);
        has(want);
        ends_well();
        run_check_error(&run, "directory /no/such/place, in which it is to start: No such file or directory");
    }
}

TEST(a_directory_counts_from_the_roots)
{
    for (int i = 0; i < PLACES; i++) {
        char want[2048];
        run_folder();
        run_write_file("placeholder", "x", 1, 0600);
        if (access("inner", F_OK) != 0)
            CHECK_INT(mkdir("inner", 0700), 0);
        start_run("directory", i, "inner", "");
        hear(3);
        snprintf(want, sizeof want, "1 name=%s args= added=none over=none folder=%s/inner", start_program(),
                 run_folder());
        has(want);
        ends_well();
    }
}

TEST(the_starter_knows_the_cces_before_they_have_cells)
{
    for (int i = 0; i < PLACES; i++) {
        char want[64];
        start_run("ids", i, "3", "");
        hear(4);
        has("start 3 0");
        snprintf(want, sizeof want, "put -1 %d", bcrE_NOCELL);
        for (int line = 0; line < count; line++)
            if (strncmp(lines[line], "put", 3) == 0)
                CHECK_STR(lines[line], want);
        for (int go = 0; go < 3; go++)
            run_go();
        hear(6);
        has("put 0 0");
        has("1 got number-1");
        has("2 got number-2");
        has("3 got number-3");
        ends_well();
    }
}

TEST(each_of_many_has_an_id_of_its_own)
{
    const int number = (int)test_scale(150, 1000);
    char text[16], want[32];
    snprintf(text, sizeof text, "%d", number);
    for (int i = 0; i < PLACES; i++) {
        start_run("many", i, text, "");
        hear(2);
        snprintf(want, sizeof want, "start %d 0", number);
        has(want);
        snprintf(want, sizeof want, "distinct %d", number);
        has(want);
        ends_well();
    }
}

TEST(of_a_start_that_fails_in_part_the_ids_are_those_of_the_started)
{
    struct rlimit few = {.rlim_cur = 100, .rlim_max = 100};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < 2; i++) {
        start_run_with("root", "partly", i, "60", "");
        do
            hear(1);
        while (strncmp(lines[count - 1], "partly", 6) != 0);
        has("partly some named");
        ends_well();
        run_check_error(&run, "was not started: ");
    }
}

TEST(bad_input_is_told_by_a_code_and_changes_nothing)
{
    start_run("wrong", 0, "", "");
    hear(1);
    has("start 1 0"); /* all else was refused as it should be */
    ends_well();
}

TEST(a_process_that_waits_is_taken_only_by_a_start_without_strings)
{
    static struct run waiting;
    start_run("joined", 0, "", "");
    hear(1);
    run_start(&waiting, run_enl(), "--join", run_program(), start_program(), "show", "own");
    run_wait_for_text("bcr.", "waits to be enlisted as sys_start");
    run_go();
    hear(7);
    HAS("1 name=%s args=[given] added=none over=none folder=*", start_program());
    HAS("2 name=%s args=[own] added=none over=none folder=*", start_program());
    has("id 3");
    run_end(&waiting);
    CHECK_INT(waiting.status, 0);
    ends_well();
}

TEST(a_handler_may_start_while_the_program_waits)
{
    for (int i = 0; i < PLACES; i++) {
        start_run("handlers", i, "", "");
        hear(7);
        has("start 3 0");
        has(places[i].by[0] == '\0' ? "ids 2 3 4" : "ids 3 4 5");
        has("done");
        ends_well();
    }
}
