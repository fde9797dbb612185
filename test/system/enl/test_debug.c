/* SPDX-License-Identifier: MIT */
/* bcr_debug: a debugger on the CCE that asks, all others stopped until the last such debugger leaves, and then the end. The debugger
 * is gdb, which carries out a file of commands; tmux shows it where that is there. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

enum { MEMBERS = 3 };

static struct run run;
static char told_path[256], script[256], where[300];
static int told_fd, there_fd, go_fd;
static pid_t pids[8];

static const char *program(void)
{
    return getenv("SYS_DEBUG");
}

static void need_gdb(void)
{
    if (system("command -v gdb >/dev/null 2>&1") != 0)
        SKIP("gdb is not installed");
}

static int make_fifo(const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", run_folder(), name);
    CHECK_INT(mkfifo(path, 0600), 0);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

/* The debugger tells when it is there, and stays until it is let go: each of both is a line in a fifo. */
static void prepare(void)
{
    char there[256], go[256];
    setenv("DEBUGINFOD_URLS", "", 1);
    unsetenv("DISPLAY");
    told_fd = make_fifo("told", told_path);
    there_fd = make_fifo("there", there);
    go_fd = make_fifo("leave", go);
    snprintf(script, sizeof script, "%s/script", run_folder());
    FILE *file = fopen(script, "w");
    CHECK(file != NULL);
    fprintf(file, "printf \"seen by gdb\\n\"\nbacktrace 8\nshell echo there > %s; read -r line < %s\n", there,
            go);
    CHECK_INT(fclose(file), 0);
    snprintf(where, sizeof where, "batch:%s", script);
}

static char read_byte(int fd)
{
    char byte = 0;
    CHECK_INT(read(fd, &byte, 1), 1);
    return byte;
}

static void read_line(int fd, char *line, size_t size)
{
    size_t used = 0;
    while (used + 1 < size && (line[used] = read_byte(fd)) != '\n')
        used++;
    line[used] = '\0';
}

static void debugger_is_there(void)
{
    char line[64];
    read_line(there_fd, line, sizeof line);
}

/* All that are there, or are about to be. */
static void debuggers_leave(void)
{
    CHECK_INT(write(go_fd, "\n\n\n\n", 4), 4);
}

/* What the last program has left in a fifo. */
static void drain(int fd)
{
    char bytes[256];
    const int flags = fcntl(fd, F_GETFL);
    CHECK_INT(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
    while (read(fd, bytes, sizeof bytes) > 0)
        continue;
    CHECK_INT(fcntl(fd, F_SETFL, flags), 0);
}

static void members_tell(int count)
{
    char line[64];
    for (int i = 0; i < count; i++) {
        int rank;
        long pid;
        read_line(told_fd, line, sizeof line);
        CHECK_INT(sscanf(line, "%d %ld", &rank, &pid), 2);
        pids[rank] = (pid_t)pid;
    }
}

/* Stopped, or in a debugger. */
static bool is_still(char state)
{
    return state == 'T' || state == 't';
}

/* SIGSTOP is on its way to another host's. */
static void is_stopped_soon(pid_t pid)
{
    run_wait_for_state(pid, 'T', true);
}

static void starts(const char *hosts, const char *most, const char *way0, const char *way1, const char *way2)
{
    drain(there_fd);
    drain(go_fd);
    run_start(&run, run_enl(), "--local", hosts, "--per-host", "1", "--map", "cyclic", "-n", "3", program(),
              told_path, where, most, way0, way1, way2);
    members_tell(MEMBERS);
}

TEST_TIMEOUT(all_others_are_stopped_until_the_debugger_leaves_and_then_the_program_ends, 120)
{
    need_gdb();
    prepare();
    for (int asks = 0; asks < MEMBERS; asks++) {
        starts("2", "4", asks == 0 ? "ask" : "-", asks == 1 ? "ask" : "-", asks == 2 ? "ask" : "-");
        debugger_is_there();
        for (int i = 0; i < MEMBERS; i++)
            if (i != asks)
                is_stopped_soon(pids[i]);
        debuggers_leave();
        run_ends(&run, 134, "seen by gdb");
        run_check_error(&run, "asks for a debugger; all others are stopped");
        run_check_error(&run, "bcr_debug (where=");
    }
}

/* The second to ask may be stopped before it has. So this is tried until both are in debuggers. */
TEST_TIMEOUT(two_that_ask_at_once_get_a_debugger_each, 120)
{
    need_gdb();
    prepare();
    for (bool both = false; !both;) {
        starts("2", "4", "-", "ask", "ask");
        debugger_is_there();
        is_stopped_soon(pids[0]);
        for (char one = 0, two = 0; !is_still(one) || !is_still(two);) {
            one = run_state_of(pids[1]);
            two = run_state_of(pids[2]);
            both = one == 't' && two == 't';
        }
        debuggers_leave();
        run_ends(&run, 134, "seen by gdb");
    }
}

TEST_TIMEOUT(with_so_many_open_or_none_allowed_the_program_ends_at_once, 120)
{
    need_gdb();
    prepare();
    starts("2", "0", "-", "ask", "-");
    run_ends(&run, 134, "asks for a debugger; 0 of 0 are open, so program");
    CHECK(strstr(run.error, "seen by gdb") == NULL);
    starts("2", "-3", "ask", "-", "-");
    run_ends(&run, 134, "0 of 0 are open, so program");
    for (bool both = false; !both;) { /* as above */
        starts("2", "1", "ask", "ask", "ask");
        debuggers_leave();
        run_ends(&run, 134, "asks for a debugger; all others are stopped");
        both = strstr(run.error, "1 of 1 are open, so program") != NULL;
    }
}

TEST_TIMEOUT(it_may_be_called_by_a_handler_that_has_interrupted_malloc_on_a_small_stack, 120)
{
    need_gdb();
    prepare();
    starts("2", "4", "-", "fault", "-");
    debugger_is_there();
    debuggers_leave();
    run_ends(&run, 134, "malloc (bytes=");
    CHECK(strstr(run.error, "while it is in malloc") == NULL);
}

TEST_TIMEOUT(it_may_be_called_by_a_thread_while_another_waits_in_bcr, 120)
{
    need_gdb();
    prepare();
    starts("2", "4", "thread", "-", "-");
    debugger_is_there();
    is_stopped_soon(pids[1]);
    debuggers_leave();
    run_ends(&run, 134, "seen by gdb");
}

TEST_TIMEOUT(ctrl_c_and_a_killed_debugger_end_the_program, 120)
{
    need_gdb();
    prepare();
    starts("2", "4", "-", "ask", "-");
    debugger_is_there();
    is_stopped_soon(pids[0]);
    CHECK_INT(kill(run.pid, SIGINT), 0);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGINT);
    starts("2", "4", "-", "ask", "-");
    debugger_is_there();
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pids[1]);
    run_read_file(path, text, sizeof text);
    const char *at = strstr(text, "TracerPid:");
    CHECK(at != NULL);
    CHECK_INT(kill((pid_t)strtol(at + 10, NULL, 10), SIGKILL), 0);
    run_end(&run);
    CHECK_INT(run.status, 134);
}

/* Ctrl-Z and fg: those that were stopped stay so. */
TEST_TIMEOUT(a_program_that_is_stopped_and_goes_on_stays_stopped_but_for_the_debugger, 120)
{
    need_gdb();
    prepare();
    starts("2", "4", "-", "ask", "-");
    debugger_is_there();
    is_stopped_soon(pids[0]);
    CHECK_INT(kill(run.pid, SIGTSTP), 0);
    run_wait_for_state(run.pid, 'T', true);
    CHECK_INT(kill(run.pid, SIGCONT), 0);
    run_wait_for_state(run.pid, 'T', false);
    debuggers_leave();
    run_ends(&run, 134, "seen by gdb");
}

TEST_TIMEOUT(where_is_looked_at, 120)
{
    need_gdb();
    prepare();
    static const struct {
        const char *where, *says;
    } cases[] = {
        {"server", "bcr_debug takes an X display such as :0, tmux, batch, or batch:FILE, not server"},
        {"nowhere", "bcr_debug takes an X display such as :0, tmux, batch, or batch:FILE, not nowhere"},
        {"batch:none", "/none: No such file or directory"},
        {"batch", "bcr_debug ("}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(where, sizeof where, "%s", cases[i].where);
        starts("2", "4", "-", "ask", "-");
        run_ends(&run, 134, cases[i].says);
        run_check_error(&run, "#0"); /* the stack, in any case */
    }
}

TEST(a_process_that_is_no_cce_says_so_and_aborts)
{
    prepare();
    run_start(&run, program(), "alone", "-", "4");
    run_ends(&run, 128 + SIGABRT, "bcr_debug: there is no enl here that could open a debugger");
    run_start(&run, run_enl(), "-n", "1", program(), told_path, "-", "4", "fork");
    run_ends(&run, 7, "bcr_debug: there is no enl here that could open a debugger");
}
