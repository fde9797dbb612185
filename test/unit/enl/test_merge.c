/* SPDX-License-Identifier: MIT */
/* Logs of several hosts in the order of one clock. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "verbs/merge.h"

enum { FILES = 3 };
static char paths[FILES][64];
static struct enl_log_file files[FILES];

static const char *put(int at, const char *text)
{
    snprintf(paths[at], sizeof paths[at], "%s/%d", test_folder(), at);
    FILE *file = fopen(paths[at], "w");
    CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
    return paths[at];
}

static void take_away(void)
{
    for (int i = 0; i < FILES; i++) {
        if (files[i].in != NULL)
            fclose(files[i].in);
        if (paths[i][0] != '\0')
            unlink(paths[i]);
        paths[i][0] = '\0';
        files[i].in = NULL;
    }
}

/* The texts in the order of the merge, a space behind each. */
static const char *merged(size_t count)
{
    static char all[1024];
    struct enl_merge merge;
    all[0] = '\0';
    CHECK(enl_merge_begin(&merge, files, count));
    for (const struct enl_log_file *file; (file = enl_merge_next(&merge)) != NULL;)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s ", file->line.text);
    enl_merge_end(&merge);
    return all;
}

#define ROOT(time, text)  "2026-11-23T" time "Z info  vm/10/- " text "\n"
#define OTHER(time, text) "2026-11-23T" time "Z info  far/20/- " text "\n"
#define CLOCK(sign, s)    "clock " sign s ".000000000 s to the root's, round trip 0.000100000 s"

TEST(lines_come_in_the_order_of_the_roots_clock_however_far_off_others_are)
{
    CHECK(enl_log_file_open(&files[0],
                            put(0, ROOT("12:00:00.000", "program vm.10: ring") ROOT("12:00:01.000", "a")
                                       ROOT("12:00:03.000", "c") ROOT("12:00:05.000", "e"))));
    CHECK(enl_log_file_open(&files[1],
                            put(1, OTHER("17:00:00.500", "program vm.10: host 1, daemon 1 of this machine")
                                       OTHER("17:00:00.600", CLOCK("-", "18000")) OTHER("17:00:02.000", "b")
                                           OTHER("17:00:04.000", "d"))));
    CHECK(files[0].is_root);
    CHECK(!files[1].is_root);
    CHECK_INT(files[1].clocks, 1);
    CHECK_INT(files[1].most_ns, INT64_C(-18000000000000));
    CHECK_STR(merged(2), "program vm.10: ring program vm.10: host 1, daemon 1 of this machine "
                         "clock -18000.000000000 s to the root's, round trip 0.000100000 s a b c d e ");
    take_away();
}

TEST(a_clock_that_was_set_meanwhile_is_corrected_from_then_on_and_no_log_loses_its_own_order)
{
    CHECK(enl_log_file_open(&files[0], put(0, ROOT("12:00:00.000", "program vm.10: ring")
                                                  ROOT("12:00:02.500", "x") ROOT("12:00:05.000", "y"))));
    CHECK(enl_log_file_open(
        &files[1], put(1, OTHER("12:00:01.000", "program vm.10: host 1, daemon 1 of this machine")
                              OTHER("12:00:01.000", CLOCK("+", "0")) OTHER("12:00:02.000", "1")
                                  OTHER("11:00:03.000", "2") OTHER("11:00:04.000", CLOCK("+", "3600"))
                                      OTHER("11:00:06.000", "3"))));
    CHECK_STR(merged(2), "program vm.10: ring program vm.10: host 1, daemon 1 of this machine "
                         "clock +0.000000000 s to the root's, round trip 0.000100000 s 1 2 x "
                         "clock +3600.000000000 s to the root's, round trip 0.000100000 s y 3 ");
    take_away();
}

TEST(what_a_cce_prints_is_no_measurement)
{
    CHECK(enl_log_file_open(
        &files[0],
        put(0, OTHER("12:00:00.000",
                     "program vm.10: host 1, daemon 1 of this "
                     "machine") "2026-11-23T12:00:01.000Z info  "
                                "far/21/- " CLOCK(
                                    "+", "99") "\n"
                                               "2026-11-23T12:00:01."
                                               "000Z info  "
                                               "far/20/3 " CLOCK(
                                                   "+", "9"
                                                        "9") "\n" OTHER("12:00:01.000",
                                                                        "says: " CLOCK("+", "99")))));
    CHECK_INT(files[0].clocks, 0);
    take_away();
}

TEST(lines_that_are_no_records_stay_where_they_are)
{
    CHECK(enl_log_file_open(&files[0],
                            put(0, ROOT("12:00:00.000", "a") "torn\n" ROOT(
                                       "12:00:02.000", "c") "2026-11-23T12:00:02.000Z what  vm/10/- x\n")));
    CHECK(enl_log_file_open(&files[1], put(1, OTHER("12:00:01.000", "b"))));
    CHECK_STR(merged(2), "a torn b c 2026-11-23T12:00:02.000Z what  vm/10/- x ");
    take_away();
}

TEST(what_is_no_log_is_refused)
{
    CHECK(!enl_log_file_open(&files[0], put(0, "hello\n\n2026-11-23 12:00:00 info vm/10/- x\n")));
    CHECK_INT(errno, 0);
    CHECK(!enl_log_file_open(&files[1], put(1, "")));
    CHECK(!enl_log_file_open(&files[2], "/dev/null"));
    CHECK(!enl_log_file_open(&files[2], "/nowhere/at/all"));
    CHECK_INT(errno, ENOENT);
    take_away();
}

TEST(lines_of_wrong_forms_are_no_records)
{
    static const char *const wrong[] = {
        "",
        " ",
        "2026-11-23T12:00:00.000Z",
        "2026-11-23T12:00:00.000Z ",
        "2026-11-23T12:00:00.000Z info",
        "2026-11-23T12:00:00.000Z info vm",
        "2026-11-23T12:00:00.000Z info vm/1",
        "2026-11-23T12:00:00.000Z info vm/1/-",
        "2026-11-23T12:00:00.000Z info vm/-1/- x",
        "2026-11-23T12:00:00.000Z info vm/0/- x",
        "2026-11-23T12:00:00.000Z info vm/1/y x",
        "2026-11-23T12:00:00.000Z info /1/- x",
        "2026-11-23T12:00:00.000Z info vm//- x",
        "2026-11-23T12:00:00.000Z info a-host-with-a-name-that-is-rather-long-as-some-are/1/y x",
        "2026-11-23T12:00:00.000Z loud vm/1/- x",
        "2026-1x-23T12:00:00.000Z info vm/1/- x",
        "0000-00-00T00:00:00.000Z info vm/1/- x",
        "9999-12-31T23:59:59.999Z info vm/1/- x",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char bytes[128];
        struct enl_log_line line;
        snprintf(bytes, sizeof bytes, "%s", wrong[i]);
        enl_log_line_read(bytes, &line);
        CHECK(!line.whole);
        CHECK_STR(line.text, wrong[i]);
    }
}
