/* SPDX-License-Identifier: MIT */
/* bcr_start by real programs: what a CCE is started with arrives as it was given, here and on another host; who starts it
 * knows the CCEs; and what cannot be started is told by a code, and changes nothing. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

static struct run run;

/* Who starts them, "": the root; and where: on the starter's machine, on another host, or on the root's. */
static const struct {
    const char *by, *at;
} places[] = {{"", ""}, {"", "local1"}, {"local1", "local2"}, {"local1", "ROOT"}};
enum { PLACES = sizeof places / sizeof places[0], LINES = 64 };

static char lines[LINES][2048];
static int count;

static const char *program(void)
{
    return getenv("SYS_START");
}

static void begin_with(const char *onfail, const char *word, int place, const char *value, const char *more)
{
    char root[256] = "";
    gethostname(root, sizeof root - 1);
    const char *at = strcmp(places[place].at, "ROOT") == 0 ? root : places[place].at;
    run_folder();
    count = 0;
    if (places[place].by[0] == '\0')
        run_start(&run, run_enl(), "--local", "2", "--onfail", onfail, program(), word, at, value, more);
    else
        run_start(&run, run_enl(), "--local", "2", "--onfail", onfail, program(), "by", places[place].by,
                  word, at, value, more);
}

static void begin(const char *word, int place, const char *value, const char *more)
{
    begin_with("abort", word, place, value, more);
}

/* The next `more` lines that are told, in any order. */
static void hear(int more)
{
    for (; more > 0; more--, count++) {
        CHECK(count < LINES);
        snprintf(lines[count], sizeof lines[count], "%s", run_told_by(&run));
    }
}

/* One of them is that, or begins with it if it ends with "*". */
static void has(const char *line)
{
    const size_t length = strlen(line);
    for (int i = 0; i < count; i++)
        if (line[length - 1] == '*' ? strncmp(lines[i], line, length - 1) == 0 : strcmp(lines[i], line) == 0)
            return;
    for (int i = 0; i < count; i++)
        fprintf(stderr, "heard: %s\n", lines[i]);
    FAIL("nobody told: %s", line);
}

static void ends_well(void)
{
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
}

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
        begin("fields", i, "", "");
        hear(8);
        has("start 2 0");
        HAS("5 name=%s args=[one][two] added=yes over=none folder=/", program());
        HAS("6 name=%s args=[one][two] added=yes over=none folder=/", program());
        has("5 birth birthday");
        has("6 birth birthday");
        has("start 1 0");
        has("9 birth day");
        HAS("9 name=%s args=[one][two] added=yes over=none folder=/", program());
        ends_well();
    }
}

TEST(arguments_may_be_empty_and_hold_any_bytes)
{
    for (int i = 0; i < PLACES; i++) {
        begin("words", i, "", "");
        hear(3);
        has("start 1 0");
        HAS("1 name=%s args=[][a<0a>b][<c3><a4><ff>][][x=y][--] added=none over=none folder=*", program());
        ends_well();
    }
}

TEST(variables_are_added_and_take_the_places_of_others)
{
    setenv("SYS_OVER", "old", 1);
    for (int i = 0; i < PLACES; i++) {
        begin("variables", i, "", "");
        hear(6);
        HAS("1 name=%s args= added= over=new folder=*", program());
        HAS("1 name=%s args= added=none over=old folder=*", program());
        ends_well();
    }
    unsetenv("SYS_OVER");
}

TEST(a_megabyte_of_arguments_reaches_all_of_them_whole)
{
    for (int i = 0; i < PLACES; i++) {
        char want[2048];
        begin("megabyte", i, "", "");
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
    begin("longest", place, bytes, number);
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

TEST(a_directory_that_is_none_there_is_said_with_its_name)
{
    for (int i = 0; i < PLACES; i++) {
        begin("directory", i, "/no/such/place", "");
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
        begin("directory", i, "inner", "");
        hear(3);
        snprintf(want, sizeof want, "1 name=%s args= added=none over=none folder=%s/inner", program(),
                 run_folder());
        has(want);
        ends_well();
    }
}

TEST(the_starter_knows_the_cces_before_they_have_cells)
{
    for (int i = 0; i < PLACES; i++) {
        char want[64];
        begin("ids", i, "3", "");
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
        begin("many", i, text, "");
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
        begin_with("root", "partly", i, "60", "");
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
    begin("wrong", 0, "", "");
    hear(1);
    has("start 1 0"); /* all else was refused as it should be */
    ends_well();
}

TEST(a_process_that_waits_is_taken_only_by_a_start_without_strings)
{
    static struct run waiting;
    begin("joined", 0, "", "");
    hear(1);
    run_start(&waiting, run_enl(), "--join", run_program(), program(), "show", "own");
    run_wait_for_text("bcr.", "waits to be enlisted as sys_start");
    run_go();
    hear(7);
    HAS("1 name=%s args=[given] added=none over=none folder=*", program());
    HAS("2 name=%s args=[own] added=none over=none folder=*", program());
    has("id 3");
    run_end(&waiting);
    CHECK_INT(waiting.status, 0);
    ends_well();
}

TEST(a_handler_may_start_while_the_program_waits)
{
    for (int i = 0; i < PLACES; i++) {
        begin("handlers", i, "", "");
        hear(7);
        has("start 3 0");
        has(places[i].by[0] == '\0' ? "ids 2 3 4" : "ids 3 4 5");
        has("done");
        ends_well();
    }
}

/* ------------------------------------------------------------------------- deaths in the midst --- */

static pid_t told_pid(const char *format)
{
    int pid = 0;
    hear(1);
    CHECK_INT(sscanf(lines[count - 1], format, &pid),
              1); /* NOLINT(cert-err34-c,clang-diagnostic-format-nonliteral) */
    return pid;
}

/* Whether a request to start CCEs waits in that pipe; what is there stays. */
static bool has_request(int pipe_in)
{
    static char bytes[65536];
    int copy[2];
    CHECK_INT(pipe2(copy, O_CLOEXEC), 0);
    ssize_t got = tee(pipe_in, copy[1], sizeof bytes, SPLICE_F_NONBLOCK);
    if (got > 0)
        got = read(copy[0], bytes, sizeof bytes);
    close(copy[0]);
    close(copy[1]);
    return got > 0 && memmem(bytes, (size_t)got, "enlist", 6) != NULL;
}

/* Until one waits in a pipe to that daemon, which stands still. */
static void wait_for_request(pid_t daemon)
{
    char path[64], file[64];
    for (int number = 0;; number = (number + 1) % 64) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)daemon, number);
        const ssize_t length = readlink(path, file, sizeof file);
        const int pipe_in =
            length > 5 && memcmp(file, "pipe:", 5) == 0 ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
        const bool found = pipe_in >= 0 && has_request(pipe_in);
        if (pipe_in >= 0)
            close(pipe_in);
        if (found)
            return;
        sched_yield();
    }
}

/* The daemon there stands still, and the starter waits for it, with what it sends under way. */
static pid_t stop_in_the_midst(int place, pid_t *starter_out, pid_t *above_out)
{
    int starter, above;
    begin_with("isolate", "lost", place, "", "");
    const pid_t daemon = told_pid("daemon %d");
    kill(daemon, SIGSTOP);
    run_wait_for_state(daemon, 'T', true);
    run_go();
    hear(1);
    CHECK_INT(sscanf(lines[count - 1], "calls %d %d", &starter, &above), 2); /* NOLINT(cert-err34-c) */
    wait_for_request(daemon);
    *starter_out = starter;
    *above_out = above;
    return daemon;
}

static void end_by_signal(void)
{
    kill(run.pid, SIGTERM);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
}

TEST(a_daemon_killed_in_the_midst_of_a_start_is_a_lost_host_and_the_next_start_succeeds)
{
    char want[64];
    for (int i = 1; i < 3; i++) {
        pid_t starter, above;
        const pid_t daemon = stop_in_the_midst(i, &starter, &above);
        kill(daemon, SIGKILL);
        hear(1);
        snprintf(want, sizeof want, "start -1 %d", bcrE_HOSTLOST);
        has(want);
        run_go();
        hear(3);
        has("start 2 0");
        has("1 stays");
        has("2 stays");
        end_by_signal();
    }
}

TEST(a_starter_killed_in_the_midst_of_a_start_does_not_hinder_it)
{
    pid_t starter, above;
    const pid_t daemon = stop_in_the_midst(2, &starter, &above);
    const int gone = run_watch(starter);
    kill(starter, SIGKILL);
    run_gone(gone);
    kill(daemon, SIGCONT);
    hear(2);
    has("1 stays");
    has("2 stays");
    end_by_signal();
}

/* Whether the strings had got as far as the root is open, so their CCEs may be there or not. */
TEST(the_starters_daemon_killed_in_the_midst_of_a_start_leaves_the_program_in_order)
{
    pid_t starter, above;
    const pid_t daemon = stop_in_the_midst(2, &starter, &above);
    const int gone = run_watch(starter);
    kill(above, SIGKILL);
    run_gone(gone);
    kill(daemon, SIGCONT);
    end_by_signal();
}
