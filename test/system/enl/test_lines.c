/* SPDX-License-Identifier: MIT */
/* Where what CCEs print goes, and that it is what they print: --label, --timestamp, --output-dir, and two that
 * print at a time. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "raw.h"
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

TEST(output_dir_gets_a_file_of_each_stream_of_each_cce_and_all_is_shown_as_without)
{
    run_folder();
    setenv("SYS_CHILD", "out from-one out again err wrong", 1);
    run_start(&run, run_enl(), "--output-dir", "printed", run_cce(), "out", "from-root", "enlist", run_cce(),
              "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.text, "from-root\n") != NULL && strstr(run.text, "from-one\nagain\n") != NULL);
    CHECK_UINT(strlen(run.text), strlen("from-root\nfrom-one\nagain\n"));
    CHECK_STR(run.error, "wrong\n");
    check_file("printed/cce.0.out", "from-root\n");
    check_file("printed/cce.1.out", "from-one\nagain\n");
    check_file("printed/cce.1.err", "wrong\n");
    CHECK_INT(access("printed/cce.0.err", F_OK), -1);
}

TEST(output_dir_gets_the_lines_of_cces_of_other_hosts)
{
    run_folder();
    setenv("SYS_CHILD", "out from-afar", 1);
    run_start(&run, run_enl(), "--local", "1", "--output=none", "--timestamp", "--output-dir=printed",
              run_cce(), "at", "local1", "enlist", run_cce(), "1");
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

/* ---- bytes ---- */

static const char *const hosts_of_one[] = {"localhost", "local1"};

/* Runs a command line of sh that has enl, its options, and what one CCE on `host` does. */
static void start_one(const char *options, const char *host, const char *behind)
{
    char line[2048];
    snprintf(line, sizeof line, "exec %s --local 1 %s %s at %s enlist %s 1 %s", run_enl(), options, run_cce(),
             host, run_cce(), behind);
    run_start(&run, "/bin/sh", "-c", line);
    run_end(&run);
    CHECK_STR(run.error, "");
    CHECK_INT(run.status, 0);
}

static void check_raw(const char *path, size_t length)
{
    static char bytes[1 << 20];
    CHECK_UINT(run_read_file(path, bytes, sizeof bytes), length);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] != sys_raw_byte(1, i))
            check_fail(__FILE__, __LINE__, "%s: byte %zu is not what was printed", path, i);
}

TEST(bytes_at_the_root_and_in_files_are_those_printed_and_no_newline_is_added)
{
    for (int i = 0; i < 2; i++) {
        run_folder();
        setenv("SYS_CHILD", "raw 300001", 1);
        start_one("--output-dir printed", hosts_of_one[i], ">shown");
        check_raw("shown", 300001);
        check_raw("printed/cce.1.out", 300001);
    }
}

TEST(a_last_line_without_a_newline_gets_none)
{
    setenv("SYS_CHILD", "out whole part end", 1);
    for (int i = 0; i < 2; i++) {
        run_folder();
        start_one("", hosts_of_one[i], "");
        CHECK_STR(run.text, "whole\nend");
        start_one("--label", hosts_of_one[i], "");
        CHECK_STR(run.text, "[1] whole\n[1] end");
        start_one("--output-dir printed", hosts_of_one[i], "");
        check_file("printed/cce.1.out", "whole\nend");
    }
}

TEST(a_long_line_has_its_label_once_and_no_newline_inside)
{
    enum { LONG = 300000 };
    setenv("SYS_CHILD", "long 300000 out then", 1);
    for (int i = 0; i < 2; i++) {
        run_folder();
        start_one("--label", hosts_of_one[i], "");
        CHECK(strncmp(run.text, "[1] b", 5) == 0);
        CHECK_UINT(strspn(run.text + 4, "b"), LONG);
        CHECK_STR(run.text + 4 + LONG, "\n[1] then\n");
        start_one("--timestamp --output=none --output-dir printed", hosts_of_one[i], "");
        static char text[LONG + 4096];
        run_read_file("printed/cce.1.out", text, sizeof text);
        CHECK_UINT(strspn(strchr(text, 'b'), "b"), LONG);
        check_matches(text, "^[-0-9]+T[:0-9]+\\.[0-9]{3} then$");
    }
}

/* ---- two at a time ---- */

static const struct pair {
    const char *one, *two;
} pairs[] = {{"localhost", "localhost"},
             {"local1", "local1"},
             {"local1", "localhost"},
             {"localhost", "local1"},
             {"local1", "local2"}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void start_pair(const struct pair *pair, const char *option, const char *one, const char *two)
{
    run_folder();
    setenv("SYS_CHILD1", one, 1);
    setenv("SYS_CHILD2", two, 1);
    unlink("one");
    unlink("two");
    CHECK_INT(mkfifo("one", 0600), 0);
    CHECK_INT(mkfifo("two", 0600), 0);
    run_start(&run, run_enl(), "--local", "2", option, run_cce(), "at", pair->one, "enlist", run_cce(), "1",
              "at", pair->two, "from", "2", "enlist", run_cce(), "1");
}

static void go(const char *fifo)
{
    const int fd = open(fifo, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "g", 1) == 1);
    close(fd);
}

/* Reads what is shown until it ends so. Returns all of it since the last call. */
static const char *shown_until(const char *end)
{
    static char text[4096];
    size_t length = 0;
    text[0] = '\0';
    while (length < strlen(end) || strcmp(text + length - strlen(end), end) != 0) {
        const ssize_t got = read(run.out, text + length, 1);
        CHECK(got == 1 && length < sizeof text - 1);
        text[++length] = '\0';
    }
    return text;
}

TEST(an_unfinished_line_keeps_the_stream_until_its_end)
{
    int ordinal;
    pid_t pid = 0;
    setenv("BCR_LINEHOLD", "86400000", 1);
    for (int i = 0; i < PAIRS; i++) {
        start_pair(&pairs[i], "--onfail=abort", "part half wait-at one out -rest",
                   "wait-at two out other tell");
        CHECK_STR(shown_until("half"), "half");
        go("two");
        while (sscanf(run_told(), "%d %d", &ordinal, &pid) != 2 || ordinal != 2)
            ; /* it has printed */
        go("one");
        run_end(&run);
        CHECK_STR(run.text, "-rest\nother\n");
        CHECK_INT(run.status, 0);
    }
}

TEST(a_line_that_is_not_finished_in_time_lets_others_go_on_and_nothing_is_put_in)
{
    setenv("BCR_LINEHOLD", "50", 1);
    for (int i = 0; i < PAIRS; i++) {
        start_pair(&pairs[i], i % 2 == 0 ? "--label" : "--output=plain", "part half wait-at one out -rest",
                   "wait-at two out other");
        shown_until("half");
        go("two");
        CHECK_STR(shown_until("other\n"), i % 2 == 0 ? "[2] other\n" : "other\n");
        go("one");
        run_end(&run);
        CHECK_STR(run.text, "-rest\n");
        CHECK_INT(run.status, 0);
    }
}

TEST(one_that_prints_for_ever_without_a_newline_keeps_nobody_from_printing)
{
    static char text[1 << 16];
    setenv("BCR_LINEHOLD", "1", 1);
    for (int i = 0; i < PAIRS; i++) {
        start_pair(&pairs[i], "--output=plain", "endless", "wait-at two out other pause");
        shown_until(".");
        go("two");
        for (char last = '.';;) { /* "other\n" stands in one piece */
            const ssize_t got = read(run.out, text, sizeof text - 1);
            CHECK(got > 0);
            text[got] = '\0';
            if (last == '\n' || strchr(text, '\n') != NULL)
                break;
            last = text[got - 1];
        }
        CHECK_INT(kill(run.pid, SIGTERM), 0);
        run_end(&run);
        CHECK_INT(run.status, 128 + SIGTERM);
    }
}

TEST(long_lines_of_many_that_print_at_once_stay_whole)
{
    enum { LONG = 1000000, LINES = 8 };
    static char shown[LINES * (LONG + 1) + 1];
    char line[1024];
    setenv("BCR_LINEHOLD", "86400000", 1);
    setenv("SYS_CHILD", "long 1000000 long 1000000", 1);
    run_folder();
    snprintf(line, sizeof line, "exec %s --local 1 %s enlist %s 2 at local1 from 3 enlist %s 2 >shown",
             run_enl(), run_cce(), run_cce(), run_cce());
    run_start(&run, "/bin/sh", "-c", line);
    run_ends(&run, 0, "");
    CHECK_UINT(run_read_file("shown", shown, sizeof shown), LINES * (LONG + 1));
    int of[5] = {0};
    for (const char *at = shown; *at != '\0'; at += LONG + 1) {
        const char one[2] = {at[0], '\0'};
        CHECK(at[0] > 'a' && at[0] <= 'e');
        CHECK_UINT(strspn(at, one), LONG);
        CHECK_INT(at[LONG], '\n');
        of[at[0] - 'a']++;
    }
    for (int i = 1; i <= 4; i++)
        CHECK_INT(of[i], 2);
}

TEST(a_message_of_enls_own_begins_a_line)
{
    run_folder();
    setenv("SYS_CHILD", "errpart half kill 9", 1);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1", "pause");
    run_ends(&run, 128 + SIGKILL, "half\nenl: CCE 1 (");
}

TEST(a_long_line_of_a_script_on_another_host_is_shown_whole)
{
    enum { LONG = 5000 };
    static const char script[] = "#!/bin/sh\n[ $4 = 1 ] || head -c 5000 /dev/zero | tr '\\0' y >&2\n";
    run_folder();
    run_write_file("script", script, sizeof script - 1, 0700);
    setenv("BCR_ENDSCRIPT", "./script", 1);
    run_start(&run, run_enl(), "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1");
    run_end(&run);
    size_t count = 0;
    for (const char *at = run.error; (at = strstr(at, "enl: host local1: y")) != NULL;) {
        at += strlen("enl: host local1: ");
        count += strspn(at, "y");
    }
    CHECK_UINT(count, LONG);
}
