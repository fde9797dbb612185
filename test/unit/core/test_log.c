/* SPDX-License-Identifier: MIT */
/* The log: what a line looks like, that it is one line and one write whatever it holds, that a full
 * disk is survived, and that nothing which waits at the log's name is ever touched. */
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "bcri/log.h"
#include "check.h"
#include "scratch.h"

static const struct bcri_log_who me = {.host = "node-a", .pid = 1234, .cce = 0};

static void open_log(struct bcri_log *log, enum bcri_log_level level)
{
    char error[512] = "";

    if (bcri_log_open(log, scratch(), "p", level, &me, error, sizeof error) != 0)
        FAIL("bcri_log_open: %s", error);
}

/* Tries to open the log and checks that it is refused with `code` and a sentence that has `part` in
 * it. */
static void refused(const char *tempdir, const char *program, int code, const char *part)
{
    struct bcri_log log;
    char error[512] = "";

    CHECK_INT(bcri_log_open(&log, tempdir, program, BCRI_LOG_INFO, &me, error, sizeof error), code);
    if (!strstr(error, part))
        FAIL("wanted a sentence with \"%s\", got \"%s\"", part, error);
    CHECK_INT(log.fd, -1);
    bcri_log_close(&log);
}

static bool matches(const char *text, const char *pattern)
{
    regex_t regex;
    bool found;

    CHECK_INT(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
    found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

TEST(a_record_has_time_level_who_and_text)
{
    struct bcri_log log;
    static const struct bcri_log_who other = {.host = "node-b", .pid = 77, .cce = 9};

    open_log(&log, BCRI_LOG_DEBUG);
    bcri_log_write(&log, BCRI_LOG_WARN, "%d of %s", 3, "them");
    CHECK(matches(
        scratch_read("bcr.p.log"),
        "^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\\.[0-9]{3}Z warn  node-a/1234/- "
        "3 of them\n$"));
    bcri_log_about(&log, BCRI_LOG_ERROR, &other, "gone");
    CHECK(matches(scratch_read("bcr.p.log"), "Z error node-b/77/9 gone\n$"));
    log.cce = 5;
    bcri_log_write(&log, BCRI_LOG_DEBUG, "mine");
    CHECK(matches(scratch_read("bcr.p.log"), "Z debug node-a/1234/5 mine\n$"));
    bcri_log_close(&log);
    bcri_log_close(&log);
}

TEST(on_stderr_a_record_has_no_time)
{
    struct bcri_log log;

    bcri_log_attach(&log, scratch_create("err"), BCRI_LOG_INFO, &me);
    bcri_log_write(&log, BCRI_LOG_INFO, "started");
    bcri_log_close(&log);
    CHECK_STR(scratch_read("err"), "bcr: info: node-a/1234/-: started\n");
}

static char shown[8192];
static bool has_room = true;

static bool show(void *owner, const char *line, size_t length)
{
    CHECK(owner == &shown && length > 0 && line[length - 1] == '\n');
    if (has_room)
        strncat(shown, line, length);
    return has_room;
}

TEST(a_log_that_is_shown_gives_lines_as_in_a_file_and_counts_those_without_room)
{
    struct bcri_log log;

    bcri_log_show(&log, BCRI_LOG_INFO, &me, show, &shown);
    bcri_log_write(&log, BCRI_LOG_INFO, "first");
    bcri_log_write(&log, BCRI_LOG_DEBUG, "not wanted");
    has_room = false;
    bcri_log_write(&log, BCRI_LOG_INFO, "second");
    bcri_log_write(&log, BCRI_LOG_WARN, "third");
    has_room = true;
    bcri_log_write(&log, BCRI_LOG_WARN, "fourth");
    CHECK(matches(shown,
                  "^[-0-9]+T[:.0-9]+Z info  node-a/1234/- first\n"
                  "[-0-9]+T[:.0-9]+Z warn  node-a/1234/- 2 log lines before this one are lost: No buffer "
                  "space available\n"
                  "[-0-9]+T[:.0-9]+Z warn  node-a/1234/- fourth\n$"));
    CHECK_UINT(log.lost_total, 2);
    bcri_log_close(&log);
    bcri_log_write(&log, BCRI_LOG_ERROR, "closed");
    CHECK(strstr(shown, "closed") == NULL);
}

TEST(an_attached_descriptor_stays_open)
{
    struct bcri_log log;
    int fd = scratch_create("err");

    bcri_log_attach(&log, fd, BCRI_LOG_INFO, &me);
    bcri_log_close(&log);
    CHECK(fcntl(fd, F_GETFD) >= 0);
}

TEST(less_urgent_records_than_the_level_are_dropped)
{
    static const enum bcri_log_level levels[] = {BCRI_LOG_ERROR, BCRI_LOG_WARN, BCRI_LOG_INFO,
                                                 BCRI_LOG_DEBUG};

    for (size_t i = 0; i < 4; i++) {
        char name[8];
        struct bcri_log log;

        snprintf(name, sizeof name, "log%zu", i);
        bcri_log_attach(&log, scratch_create(name), levels[i], &me);
        for (size_t j = 0; j < 4; j++) {
            CHECK_INT(bcri_log_wants(&log, levels[j]), j <= i);
            bcri_log_write(&log, levels[j], "a");
            bcri_log_about(&log, levels[j], &me, "b");
            bcri_log_bytes(&log, levels[j], &me, "c", 1);
        }
        CHECK_UINT(scratch_lines(name), 3 * (i + 1));
        for (size_t j = 0; j < 4; j++)
            CHECK_INT(strstr(scratch_read(name), bcri_log_level_name(levels[j])) != NULL, j <= i);
    }
}

TEST(no_log_and_a_closed_log_take_records_and_drop_them)
{
    struct bcri_log log = BCRI_LOG_INIT;

    bcri_log_write(NULL, BCRI_LOG_ERROR, "x");
    bcri_log_about(NULL, BCRI_LOG_ERROR, &me, "x");
    bcri_log_bytes(NULL, BCRI_LOG_ERROR, &me, "x", 1);
    bcri_log_write(&log, BCRI_LOG_ERROR, "x");
    open_log(&log, BCRI_LOG_INFO);
    bcri_log_close(&log);
    bcri_log_write(&log, BCRI_LOG_ERROR, "x");
    CHECK_STR(scratch_read("bcr.p.log"), "");
    CHECK_UINT(log.lost_total, 0);
}

TEST(foreign_text_cannot_make_a_second_line_or_reach_the_terminal)
{
    struct bcri_log log;
    static const struct bcri_log_who forged = {.host = "x\n2026-01-01T00:00:00.000Z", .pid = 1, .cce = 1};

    bcri_log_attach(&log, scratch_create("err"), BCRI_LOG_INFO, &me);
    bcri_log_write(&log, BCRI_LOG_INFO, "said %s", "hello\nbcr: error: forged\r\x1b[2J");
    bcri_log_about(&log, BCRI_LOG_INFO, &forged, "y");
    bcri_log_bytes(&log, BCRI_LOG_INFO, &me, "a\0b\xff\n", 5);
    CHECK_STR(scratch_read("err"), "bcr: info: node-a/1234/-: said hello\\nbcr: error: forged\\r\\x1b[2J\n"
                                   "bcr: info: x\\n2026-01-01T00:00:00.000Z/1/1: y\n"
                                   "bcr: info: node-a/1234/-: a\\x00b\\xff\\n\n");
}

TEST(a_text_too_long_is_cut_and_says_by_how_much)
{
    struct bcri_log log;
    char *text = malloc(10001);
    unsigned long kept, cut;

    memset(text, 'x', 10000);
    text[10000] = '\0';
    bcri_log_attach(&log, scratch_create("err"), BCRI_LOG_INFO, &me);
    bcri_log_write(&log, BCRI_LOG_INFO, "%s", text);
    memset(text, '\n', 10000); /* each takes two bytes of the line */
    bcri_log_write(&log, BCRI_LOG_INFO, "%s", text);
    free(text);

    char *line = scratch_read("err");

    for (int i = 0; i < 2; i++) {
        char *end = strchr(line, '\n');
        char *bracket = strstr(line, " [+");

        CHECK(end && bracket && bracket < end);
        CHECK((size_t)(end + 1 - line) <= BCRI_LOG_LINE_MAX);
        kept = (unsigned long)(bracket - (strstr(line, "-: ") + 3)) / (i < 1 ? 1 : 2);
        CHECK_INT(sscanf(bracket, " [+%lu bytes]", &cut), 1);
        CHECK_UINT(kept + cut, 10000);
        CHECK(kept > 1000);
        line = end + 1;
    }
    CHECK_STR(line, "");
}

TEST(what_a_cce_printed_goes_on_in_further_records_and_nothing_of_it_is_lost)
{
    enum { BYTES = 10000, ESCAPED = 4 };
    struct bcri_log log;
    char bytes[BYTES];
    size_t seen = 0;
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (char)(1 + i % 7); /* four characters of a line each */
    bcri_log_attach(&log, scratch_create("err"), BCRI_LOG_INFO, &me);
    bcri_log_bytes(&log, BCRI_LOG_INFO, &me, bytes, BYTES);
    bcri_log_bytes(&log, BCRI_LOG_INFO, &me, "", 0);
    char *line = scratch_read("err");
    for (char *end; seen < BYTES; line = end + 1) {
        const char *at = strstr(line, "-: ") + 3;
        end = strchr(line, '\n');
        CHECK(end != NULL && end > at && (size_t)(end + 1 - line) <= BCRI_LOG_LINE_MAX);
        for (; at < end; at += ESCAPED, seen++) {
            char want[ESCAPED + 1];
            snprintf(want, sizeof want, "\\x%02x", (unsigned char)bytes[seen]);
            CHECK_MEM(at, want, ESCAPED);
        }
    }
    CHECK_STR(line, "bcr: info: node-a/1234/-: \n");
}

TEST(a_line_is_one_write)
{
    int ends[2];
    char packet[2 * BCRI_LOG_LINE_MAX], *text = malloc(9001);
    struct bcri_log log;

    /* A pipe in packet mode gives back each write by itself. */
    CHECK_INT(pipe2(ends, O_DIRECT), 0);
    memset(text, '\x01', 9000);
    text[9000] = '\0';
    bcri_log_attach(&log, ends[1], BCRI_LOG_INFO, &me);
    bcri_log_write(&log, BCRI_LOG_INFO, "%s", text);
    bcri_log_write(&log, BCRI_LOG_INFO, "short");
    free(text);
    for (int i = 0; i < 2; i++) {
        ssize_t length = read(ends[0], packet, sizeof packet);

        CHECK(length > 0 && packet[length - 1] == '\n');
        CHECK_PTR(memchr(packet, '\n', (size_t)length), packet + length - 1);
    }
}

TEST(lines_of_many_processes_in_one_file_stay_whole)
{
    enum { WRITERS = 4, LINES = 300 };
    struct bcri_log log;
    pid_t writers[WRITERS];
    char text[1500];

    open_log(&log, BCRI_LOG_INFO);
    for (int w = 0; w < WRITERS; w++) {
        writers[w] = fork();
        if (writers[w] == 0) {
            memset(text, 'a' + w, sizeof text);
            for (int i = 0; i < LINES; i++)
                bcri_log_bytes(&log, BCRI_LOG_INFO, &me, text, (size_t)(100 + i * 4));
            _exit(log.lost_total > 0);
        }
    }
    for (int w = 0; w < WRITERS; w++)
        test_join(writers[w], 0);

    char *line = scratch_read("bcr.p.log");
    size_t count = 0;

    for (char *end; (end = strchr(line, '\n')); line = end + 1, count++) {
        char *start = strstr(line, "/- ") + 3;

        for (char *c = start; c < end; c++)
            CHECK_INT(*c, *start);
    }
    CHECK_UINT(count, WRITERS * LINES);
    bcri_log_close(&log);
}

TEST(errno_is_left_alone)
{
    struct bcri_log log;
    int full = open("/dev/full", O_WRONLY);

    CHECK(full >= 0);
    bcri_log_attach(&log, full, BCRI_LOG_INFO, &me);
    errno = EDOM;
    bcri_log_write(&log, BCRI_LOG_INFO, "x");
    CHECK_INT(errno, EDOM);
    CHECK_UINT(log.lost_count, 1);
}

TEST(lines_lost_on_a_full_disk_are_counted_and_told_about_later)
{
    struct bcri_log log;
    int fd = open("/dev/full", O_WRONLY);

    CHECK(fd >= 0);
    bcri_log_attach(&log, fd, BCRI_LOG_INFO, &me);
    for (int i = 0; i < 7; i++)
        bcri_log_write(&log, BCRI_LOG_INFO, "line %d", i);
    CHECK_UINT(log.lost_count, 7);

    /* Room again. */
    CHECK_INT(dup2(scratch_create("err"), fd), fd);
    bcri_log_write(&log, BCRI_LOG_INFO, "line 7");
    bcri_log_write(&log, BCRI_LOG_INFO, "line 8");
    CHECK_STR(scratch_read("err"),
              "bcr: warn: node-a/1234/-: 7 log lines before this one are lost: No space left on device\n"
              "bcr: info: node-a/1234/-: line 7\n"
              "bcr: info: node-a/1234/-: line 8\n");
    CHECK_UINT(log.lost_count, 0);
    CHECK_UINT(log.lost_total, 7);
}

TEST(closing_tells_about_lost_lines_a_last_time)
{
    struct bcri_log log;
    int fd = open("/dev/full", O_WRONLY);

    CHECK(fd >= 0);
    bcri_log_attach(&log, fd, BCRI_LOG_INFO, &me);
    bcri_log_write(&log, BCRI_LOG_INFO, "x");
    CHECK_INT(dup2(scratch_create("err"), fd), fd);
    bcri_log_close(&log);
    CHECK_UINT(scratch_lines("err"), 1);
    CHECK(strstr(scratch_read("err"), "1 log lines before this one are lost"));
}

TEST(a_torn_line_does_not_spoil_the_next_one)
{
    struct bcri_log log;
    struct rlimit limit = {.rlim_max = RLIM_INFINITY};

    signal(SIGXFSZ, SIG_IGN);
    open_log(&log, BCRI_LOG_INFO);
    bcri_log_write(&log, BCRI_LOG_INFO, "first");

    struct stat st;

    CHECK_INT(fstat(log.fd, &st), 0);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &limit), 0);

    struct rlimit tight = {.rlim_cur = (rlim_t)st.st_size + 10, .rlim_max = limit.rlim_max};

    CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bcri_log_write(&log, BCRI_LOG_INFO, "second"); /* ten bytes of it go out */
    bcri_log_write(&log, BCRI_LOG_INFO, "third");  /* nothing of it */
    tight.rlim_cur += 1;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &tight), 0);
    bcri_log_write(&log, BCRI_LOG_INFO, "fourth"); /* the newline that ends the torn line */
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bcri_log_write(&log, BCRI_LOG_INFO, "fifth");

    const char *all = scratch_read("bcr.p.log");

    CHECK_UINT(log.lost_total, 3);
    CHECK_UINT(scratch_lines("bcr.p.log"), 4);
    CHECK(matches(
        all, "first\n20[0-9-]{8}\n20[^\n]* 3 log lines before this one are lost: [^\n]*\n20[^\n]* fifth\n$"));
    bcri_log_close(&log);
}

TEST(the_log_is_private_appended_to_and_closed_on_exec)
{
    struct bcri_log log;
    struct stat st;

    umask(0);
    open_log(&log, BCRI_LOG_INFO);
    CHECK_INT(fstat(log.fd, &st), 0);
    CHECK_UINT(st.st_mode, S_IFREG | 0600);
    CHECK(fcntl(log.fd, F_GETFL) & O_APPEND);
    CHECK(fcntl(log.fd, F_GETFD) & FD_CLOEXEC);
    CHECK_STR(log.path, scratch_path("bcr.p.log"));
    bcri_log_close(&log);
    CHECK_PTR(log.path, NULL);
}

TEST(a_symbolic_link_at_the_name_is_never_followed)
{
    scratch_write("victim", "precious", 0600);
    CHECK_INT(symlink(scratch_path("victim"), scratch_path("bcr.p.log")), 0);
    refused(scratch(), "p", -EEXIST, "a symbolic link stands there");
    CHECK_STR(scratch_read("victim"), "precious");

    CHECK_INT(unlink(scratch_path("bcr.p.log")), 0);
    CHECK_INT(symlink(scratch_path("nothing"), scratch_path("bcr.p.log")), 0);
    refused(scratch(), "p", -EEXIST, "a symbolic link stands there");
    CHECK_INT(access(scratch_path("nothing"), F_OK), -1);
}

TEST(a_fifo_at_the_name_is_refused_and_not_waited_for)
{
    CHECK_INT(mkfifo(scratch_path("bcr.p.log"), 0600), 0);
    refused(scratch(), "p", -EEXIST, "is no plain file");
}

TEST(a_directory_at_the_name_is_refused)
{
    CHECK_INT(mkdir(scratch_path("bcr.p.log"), 0700), 0);
    refused(scratch(), "p", -EEXIST, "is no plain file");
}

TEST(a_socket_at_the_name_is_refused)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    CHECK_INT(chdir(scratch()), 0); /* the whole path may be too long for a socket's */
    strcpy(name.sun_path, "bcr.p.log");
    CHECK_INT(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    refused(scratch(), "p", -EEXIST, "that this user cannot open");
}

TEST(a_file_of_another_user_is_refused_and_kept)
{
    if (geteuid() != 0)
        SKIP("only root can make a file of another user");
    scratch_write("bcr.p.log", "bait", 0666);
    CHECK_INT(chown(scratch_path("bcr.p.log"), 65534, 65534), 0);
    refused(scratch(), "p", -EEXIST, "a file of user 65534 stands there");
    CHECK_STR(scratch_read("bcr.p.log"), "bait");
}

TEST(a_left_over_of_an_earlier_program_is_set_aside)
{
    struct bcri_log log;

    scratch_write("bcr.p.log", "earlier", 0600);
    scratch_write("bcr.p.log.old", "earliest", 0600);
    open_log(&log, BCRI_LOG_INFO);
    CHECK_STR(scratch_read("bcr.p.log"), "");
    CHECK_STR(scratch_read("bcr.p.log.old"), "earlier");
    bcri_log_close(&log);
}

TEST(a_left_over_that_another_program_looks_at_is_taken_for_no_running_programs)
{
    struct bcri_log log;

    scratch_write("bcr.p.log", "earlier", 0600);
    const int looks = open(scratch_path("bcr.p.log"), O_RDWR | O_CLOEXEC);
    CHECK(looks >= 0 && flock(looks, LOCK_SH | LOCK_NB) == 0); /* as log_keep.c does */
    open_log(&log, BCRI_LOG_INFO);
    CHECK_STR(scratch_read("bcr.p.log"), "");
    CHECK_STR(scratch_read("bcr.p.log.old"), "earlier");
    bcri_log_close(&log);
    close(looks);
}

/* Logs lines with numbers [from, to). */
static void log_numbers(struct bcri_log *log, int from, int to)
{
    for (int i = from; i < to; i++)
        bcri_log_write(log, BCRI_LOG_INFO, "number %d", i);
}

TEST(a_log_that_has_reached_its_limit_is_set_aside_and_the_newest_lines_are_there)
{
    struct bcri_log log;
    struct stat old, now;

    open_log(&log, BCRI_LOG_INFO);
    log.limit_bytes = 10000;
    log_numbers(&log, 0, 1000);
    CHECK_INT(stat(scratch_path("bcr.p.log"), &now), 0);
    CHECK_INT(stat(scratch_path("bcr.p.log.old"), &old), 0);
    CHECK(old.st_size >= 10000 && old.st_size < 10100 && now.st_size < 10000);
    CHECK_INT((int)(now.st_mode & 07777), 0600);
    CHECK(matches(scratch_read("bcr.p.log"),
                  "^[^\n]* goes on from .*/bcr\\.p\\.log\\.old, which has reached 100[0-9]+ "
                  "bytes\n[^\n]* number [0-9]+\n"));
    CHECK(matches(scratch_read("bcr.p.log"), "number 999\n$"));
    /* Nothing is missing where one goes over into the other. */
    int last, first;
    CHECK_INT(sscanf(strrchr(scratch_read("bcr.p.log.old"), ' '), " %d", &last), 1);
    CHECK_INT(sscanf(strstr(scratch_read("bcr.p.log"), "number "), "number %d", &first), 1);
    CHECK_INT(first, last + 1);
    bcri_log_close(&log);
}

TEST(a_log_without_a_limit_grows)
{
    struct bcri_log log;
    struct stat now;

    open_log(&log, BCRI_LOG_INFO);
    log_numbers(&log, 0, 1000);
    CHECK_INT(stat(scratch_path("bcr.p.log"), &now), 0);
    CHECK(now.st_size > 40000);
    CHECK(access(scratch_path("bcr.p.log.old"), F_OK) != 0);
    bcri_log_close(&log);
}

TEST(a_log_that_cannot_be_set_aside_takes_only_warnings_and_errors_from_then_on)
{
    struct bcri_log log;

    open_log(&log, BCRI_LOG_INFO);
    CHECK_INT(mkdir(scratch_path("bcr.p.log.old"), 0700), 0);
    log.limit_bytes = 10000;
    log_numbers(&log, 0, 1000);
    bcri_log_write(&log, BCRI_LOG_WARN, "it is late");
    char *text = scratch_read("bcr.p.log");
    CHECK(strlen(text) < 11000);
    CHECK(strstr(text, "only warnings and errors follow, since it cannot be set aside: ") != NULL);
    CHECK(strstr(text, "it is late") != NULL);
    bcri_log_close(&log);
}

TEST(a_log_that_was_moved_is_left_where_it_is)
{
    struct bcri_log log;

    open_log(&log, BCRI_LOG_INFO);
    scratch_write("bcr.p.log.old", "earlier", 0600);
    CHECK_INT(rename(scratch_path("bcr.p.log"), scratch_path("moved")), 0);
    log.limit_bytes = 1000;
    log_numbers(&log, 0, 30);
    CHECK(strlen(scratch_read("moved")) >= 1000);
    CHECK(strstr(scratch_read("bcr.p.log"), "number 29") != NULL);
    CHECK_STR(scratch_read("bcr.p.log.old"), "earlier");
    bcri_log_close(&log);
}

TEST(a_link_put_at_the_name_of_a_log_that_is_set_aside_is_not_followed)
{
    struct bcri_log log;

    open_log(&log, BCRI_LOG_INFO);
    scratch_write("precious", "", 0600);
    CHECK_INT(rename(scratch_path("bcr.p.log"), scratch_path("moved")), 0);
    CHECK_INT(symlink(scratch_path("precious"), scratch_path("bcr.p.log")), 0);
    log.limit_bytes = 1000;
    log_numbers(&log, 0, 100);
    CHECK_STR(scratch_read("precious"), "");
    CHECK(strstr(scratch_read("moved"), "a symbolic link stands there") != NULL);
    bcri_log_close(&log);
}

TEST(a_hard_link_to_a_file_of_ours_loses_only_its_name)
{
    struct bcri_log log;

    scratch_write("precious", "content", 0644);
    CHECK_INT(link(scratch_path("precious"), scratch_path("bcr.p.log")), 0);
    open_log(&log, BCRI_LOG_INFO);
    bcri_log_write(&log, BCRI_LOG_INFO, "x");
    CHECK_STR(scratch_read("precious"), "content");
    bcri_log_close(&log);
}

TEST(both_names_being_one_file_ends_the_attempt)
{
    scratch_write("bcr.p.log", "x", 0600);
    CHECK_INT(link(scratch_path("bcr.p.log"), scratch_path("bcr.p.log.old")), 0);
    refused(scratch(), "p", -EEXIST, "cannot be renamed to .old");
}

TEST(a_left_over_that_cannot_be_set_aside_is_an_error)
{
    scratch_write("bcr.p.log", "x", 0600);
    CHECK_INT(mkdir(scratch_path("bcr.p.log.old"), 0700), 0);
    refused(scratch(), "p", -EISDIR, "cannot set the old log");
}

TEST(a_log_that_a_running_program_writes_is_refused_until_it_ends)
{
    struct bcri_log log;

    open_log(&log, BCRI_LOG_INFO);
    bcri_log_write(&log, BCRI_LOG_INFO, "mine");
    refused(scratch(), "p", -EEXIST, "a running program writes it");
    CHECK_UINT(scratch_lines("bcr.p.log"), 1);
    bcri_log_close(&log);
    open_log(&log, BCRI_LOG_INFO);
    bcri_log_close(&log);
}

TEST(a_bad_directory_is_named)
{
    refused(scratch_path("missing"), "p", -ENOENT, "cannot use the directory");
    scratch_write("file", "", 0600);
    refused(scratch_path("file"), "p", -ENOTDIR, "cannot use the directory");
    refused("/proc", "p", -ENOENT, "cannot create the log /proc/bcr.p.log");
}

TEST(a_program_name_that_would_leave_the_directory_is_refused)
{
    char name[202];

    refused(scratch(), "", -EINVAL, "cannot be used in a file name");
    refused(scratch(), "../p", -EINVAL, "cannot be used in a file name");
    refused(scratch(), "a b", -EINVAL, "cannot be used in a file name");
    refused(scratch(), "a\n", -EINVAL, "cannot be used in a file name");
    memset(name, 'n', 201);
    name[201] = '\0';
    refused(scratch(), name, -EINVAL, "cannot be used in a file name");

    struct bcri_log log;
    char error[64];

    name[200] = '\0';
    CHECK_INT(bcri_log_open(&log, scratch(), name, BCRI_LOG_INFO, &me, error, sizeof error), 0);
    bcri_log_close(&log);
    CHECK_INT(bcri_log_open(&log, scratch(), name, BCRI_LOG_INFO, &me, error, sizeof error), 0);
    bcri_log_close(&log);
}

TEST(a_sentence_without_a_buffer_is_no_crash)
{
    struct bcri_log log;

    CHECK_INT(bcri_log_open(&log, "/missing", "p", BCRI_LOG_INFO, &me, NULL, 0), -ENOENT);
}
