/* SPDX-License-Identifier: MIT */
/* --label, --timestamp and --output-dir: where the lines of CCEs go. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

static void check_matches(const char *text, const char *pattern)
{
    regex_t regex;
    CHECK_INT(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB | REG_NEWLINE), 0);
    if (regexec(&regex, text, 0, NULL, 0) != 0)
        check_fail(__FILE__, __LINE__, "\"%s\" does not match %s", text, pattern);
    regfree(&regex);
}

static void check_file(const char *path, const char *wanted)
{
    char text[4096];
    run_read_file(path, text, sizeof text);
    CHECK_STR(text, wanted);
}

TEST(label_shows_all_lines_with_their_ordinals_the_roots_too)
{
    run_folder();
    setenv("SYS_CHILD", "out from-one err two", 1);
    run_start(&run, run_enl(), "--label", run_cce(), "out", "from-root", "err", "of-root", "enlist",
              run_cce(), "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.text, "[0] from-root\n") != NULL);
    CHECK(strstr(run.text, "[1] from-one\n") != NULL);
    run_check_error(&run, "[0] of-root\n");
    run_check_error(&run, "[1] two\n");
}

TEST(timestamp_begins_each_line_with_the_time)
{
    run_folder();
    setenv("SYS_CHILD", "out from-one", 1);
    run_start(&run, run_enl(), "--output", "--timestamp", run_cce(), "out", "as-it-is", "enlist", run_cce(),
              "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    check_matches(run.text,
                  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} \\[1\\] from-one$");
    check_matches(run.text, "^as-it-is$");
}

TEST(output_dir_gets_a_file_of_each_stream_of_each_cce_and_shows_the_root_as_without)
{
    run_folder();
    setenv("SYS_CHILD", "out from-one out again err wrong", 1);
    run_start(&run, run_enl(), "--output-dir", "printed", run_cce(), "out", "from-root", "enlist", run_cce(),
              "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "from-root\n");
    run_check_error(&run, "");
    check_file("printed/cce.0.out", "from-root\n");
    check_file("printed/cce.1.out", "from-one\nagain\n");
    check_file("printed/cce.1.err", "wrong\n");
    CHECK_INT(access("printed/cce.0.err", F_OK), -1);
}

TEST(output_dir_gets_the_lines_of_cces_of_other_hosts)
{
    run_folder();
    setenv("SYS_CHILD", "out from-afar", 1);
    run_start(&run, run_enl(), "--local", "1", "--timestamp", "--output-dir=printed", run_cce(), "at",
              "local1", "enlist", run_cce(), "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_STR(run.text, "");
    char text[4096];
    run_read_file("printed/cce.1.out", text, sizeof text);
    check_matches(text, "^[-0-9]+T[:0-9]+\\.[0-9]{3} from-afar$");
}

TEST(output_dir_loses_what_an_earlier_program_left_and_nothing_else)
{
    run_folder();
    CHECK_INT(mkdir("printed", 0700), 0);
    run_write_file("printed/cce.7.out", "old\n", 4, 0600);
    run_write_file("printed/cce.0.out", "old\n", 4, 0600);
    run_write_file("printed/cce.x.out", "mine\n", 5, 0600);
    run_start(&run, run_enl(), "--output-dir", "printed", run_cce(), "out", "new");
    run_end(&run);
    CHECK_INT(run.status, 0);
    check_file("printed/cce.0.out", "new\n");
    check_file("printed/cce.x.out", "mine\n");
    CHECK_INT(access("printed/cce.7.out", F_OK), -1);
}

TEST(a_directory_that_cannot_take_lines_is_refused_before_the_program_starts)
{
    run_folder();
    run_write_file("file", "", 0, 0600);
    run_start(&run, run_enl(), "--output-dir", "file", run_cce(), "out", "never");
    run_ends(&run, 2, "file cannot take what CCEs print: Not a directory");
    CHECK_STR(run.text, "");
    run_start(&run, run_enl(), "--output-dir", "no/such", run_cce(), "out", "never");
    run_ends(&run, 2, "no/such for what CCEs print cannot be made: No such file or directory");
    run_start(&run, run_enl(), "--output-dir");
    run_ends(&run, 2, "option --output-dir needs a value");
}

TEST(a_fifo_or_a_link_in_the_place_of_a_file_takes_no_lines_and_holds_up_nobody)
{
    for (int which = 0; which < 2; which++) {
        int ordinal;
        pid_t pid;
        run_folder();
        setenv("SYS_CHILD", "out into-nothing", 1);
        run_start(&run, run_enl(), "--output-dir", "printed", run_cce(), "tell", "wait", "enlist", run_cce(),
                  "1");
        run_told_pid(&ordinal, &pid);
        CHECK_INT(which == 0 ? mkfifo("printed/cce.1.out", 0600) : symlink("elsewhere", "printed/cce.1.out"),
                  0);
        run_go();
        CHECK_STR(run_told(), "enlist 0 0");
        run_ends(&run, 1, "printed/cce.1.out (");
        CHECK_INT(access("elsewhere", F_OK), -1);
        CHECK_INT(unlink("printed/cce.1.out"), 0);
    }
}

TEST(lines_that_no_file_takes_are_said_once_and_a_status)
{
    int ordinal;
    pid_t pid;
    run_folder();
    setenv("SYS_CHILD", "out into-nothing out more", 1);
    run_start(&run, run_enl(), "--output-dir", "printed", run_cce(), "tell", "wait", "enlist", run_cce(),
              "1");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(rmdir("printed"), 0);
    run_go();
    run_ends(&run, 1, "what CCEs print can no longer be written to ");
    const char *said = strstr(run.error, "no longer be written");
    CHECK(strstr(said + 1, "no longer be written") == NULL);
}
