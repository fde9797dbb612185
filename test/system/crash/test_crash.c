/* SPDX-License-Identifier: MIT */
/* What enl shows of CCEs that crash: sys_crash.c crashes in functions whose names are known, at lines that
 * it tells. */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../enl/run.h"
#include "check.h"

static struct run run;

#if defined(__x86_64__)
#define NEEDS_STACKS() ((void)0)
#else
#define NEEDS_STACKS() SKIP("stacks are shown on x86-64 only")
#endif

static const char *sys_crash(void)
{
    const char *path = getenv("SYS_CRASH");
    CHECK(path != NULL);
    return path;
}

static void begin(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/line", run_folder());
    setenv("CRASH_LINE", path, 1);
    unsetenv("CRASH_OTHERS");
}

/* The frame of the top of a stack is in `function`, at the line that the CCE has told. */
static void check_top(const char *function)
{
#if BCR_LIBDW
    char place[64] = "", frame[128];
    run_read_file(getenv("CRASH_LINE"), place, sizeof place);
    snprintf(frame, sizeof frame, "#0 %s (", function);
    const char *at = strstr(run.error, frame);
    if (at == NULL)
        FAIL("no %s in\n%s", frame, run.error);
    const char *end = strchr(at, '\n'), *found = strstr(at, place);
    if (found == NULL || found > end)
        FAIL("%s is not at %s in\n%s", frame, place, run.error);
#else
    (void)function;
#endif
}

static void check_frame(const char *function)
{
#if BCR_LIBDW
    char frame[128];
    snprintf(frame, sizeof frame, " %s (", function);
    run_check_error(&run, frame);
#else
    (void)function;
#endif
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* CCEs of which the headings of reports tell. */
static int reported(void)
{
    int all = 0, alike;
    for (const char *at = run.error; (at = strstr(at, "enl: crash: ")) != NULL; at++)
        all += sscanf(at, "enl: crash: %d CCEs crashed alike", &alike) == 1 ? alike : 1;
    return all;
}

/* Core files would only fill the disk. */
static void no_core(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static void crash_by(const char *word, int number, const char *function)
{
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "out", "last-words", word);
    run_ends(&run, 128 + number, "CCE 0 (");
    run_check_error(&run, "enl: crash: CCE 0 (");
    if (function != NULL)
        check_top(function);
    check_frame("main");
}

TEST(a_wild_store_is_shown_with_function_line_and_address)
{
    crash_by("segv", SIGSEGV, "crash_segv");
    run_check_error(&run, "signal 11 (Segmentation fault)");
    run_check_error(&run, "[0] at address 0x0\n");
}

TEST(a_bus_error_is_shown)
{
    crash_by("bus", SIGBUS, "crash_bus");
}

TEST(a_division_by_zero_is_shown)
{
    crash_by("fpe", SIGFPE, "crash_fpe");
}

TEST(an_illegal_instruction_is_shown)
{
    crash_by("ill", SIGILL, "crash_ill");
}

TEST(abort_is_shown_with_its_caller)
{
    crash_by("abort", SIGABRT, NULL);
    check_frame("crash_abort");
    CHECK_INT(count_of(run.error, "a process has sent the signal"), 0);
}

TEST(a_bad_system_call_is_shown)
{
    crash_by("sys", SIGSYS, NULL);
    check_frame("crash_sys");
}

TEST(a_call_of_a_null_pointer_is_shown_with_its_caller)
{
    NEEDS_STACKS();
    crash_by("null", SIGSEGV, NULL);
    run_check_error(&run, "#0 0x0, where no code is\n");
#if BCR_LIBDW
    run_check_error(&run, "#1 crash_null (");
#endif
}

TEST(a_crash_in_a_handler_shows_the_suspended_ones_and_the_main_program)
{
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "handler");
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    check_top("crash_segv");
    check_frame("handler_crashes");
#if BCR_LIBDW
    run_check_error(&run, "[0] the main program, interrupted by a handler or waiting:\n  [0] #0 bcr_allow (");
    check_frame("in_handler");
    run_check_error(&run, "[0] the handler of cell 1, suspended:\n  [0] #0 ");
    /* What bcr_get calls is not shown; but a compiler may have made a jump of its call, which leaves no bcr_get. */
    const char *suspended = strstr(run.error, "suspended:"), *get = strstr(suspended, " bcr_get (");
    CHECK(get == NULL || strncmp(get - 2, "#0", 2) == 0);
    CHECK(strstr(suspended, " handler_waits (") != NULL);
#endif
}

TEST(a_crash_in_a_thread_shows_the_others)
{
    NEEDS_STACKS();
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "thread");
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    check_top("crash_segv");
    check_frame("thread_crashes");
    check_frame("main_waits");
    run_check_error(&run, "[0] thread ");
}

TEST(a_crash_when_the_first_thread_has_ended_is_shown)
{
    NEEDS_STACKS();
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "orphan");
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    check_top("crash_segv");
    check_frame("orphan_crashes");
}

/* As where it was built anew meanwhile, or an update came. `by`: what its path holds then; NULL: nothing. */
static void crash_of_replaced(const char *by)
{
    char copy[300], line[1024];
    begin();
    no_core();
    snprintf(copy, sizeof copy, "%s/program", run_folder());
    snprintf(line, sizeof line, "cp %s %s", sys_crash(), copy);
    CHECK_INT(system(line), 0);
    run_start(&run, run_enl(), copy, "tell", "wait", "segv");
    CHECK_STR(run_told_by(&run), "there");
    CHECK_INT(unlink(copy), 0);
    snprintf(line, sizeof line, "cp %s %s", by, copy);
    CHECK(by == NULL || system(line) == 0);
    run_go();
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    check_top("crash_segv");
    unlink(copy);
}

TEST(a_program_whose_file_was_replaced_or_removed_meanwhile_has_its_names)
{
    NEEDS_STACKS();
    crash_of_replaced(getenv("SYS_CRASH_STRIPPED"));
    crash_of_replaced(NULL);
}

TEST(an_overflowing_stack_is_shown)
{
    begin();
    no_core();
    setrlimit(RLIMIT_STACK, &(struct rlimit){1 << 20, RLIM_INFINITY});
    run_start(&run, run_enl(), sys_crash(), "overflow");
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    check_frame("deeper");
#if BCR_LIBDW
    run_check_error(&run, "... and more\n");
#endif
}

TEST(an_overflowing_stack_of_a_handler_is_shown_and_named)
{
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "coroutine");
    run_ends(&run, 128 + SIGSEGV, "has used up its stack of");
    check_frame("deeper");
}

TEST(a_stripped_program_is_shown_by_offsets)
{
    NEEDS_STACKS();
    begin();
    no_core();
    const char *stripped = getenv("SYS_CRASH_STRIPPED");
    CHECK(stripped != NULL);
    run_start(&run, run_enl(), stripped, "segv");
    run_ends(&run, 128 + SIGSEGV, "#0 sys_crash_stripped+0x");
}

/* gdb may need more than the two seconds that it has on a machine that is busy, but not every time. */
TEST_TIMEOUT(local_variables_are_shown_when_asked_for, 120)
{
    NEEDS_STACKS();
    if (system("gdb --version >/dev/null 2>&1") != 0) /* NOLINT(cert-env33-c) */
        SKIP("there is no gdb");
    no_core();
    run.error[0] = '\0';
    for (int tries = 0; tries < 10 && strstr(run.error, "apples = 4711") == NULL; tries++) {
        begin();
        run_start(&run, run_enl(), "-g", sys_crash(), "out", "last-words", "locals");
        run_ends(&run, 128 + SIGSEGV, "enl: crash: CCE 0 (");
        check_top("crash_locals");
        CHECK_INT(reported(), 1);
    }
    run_check_error(&run, "[0] the same with local variables, by gdb:\n  [0] #");
    run_check_error(&run, "apples = 4711\n");
    run_check_error(&run, "pears = {23, 42}\n");
    CHECK_INT(count_of(run.error, "on_crash"), 0); /* what the handler itself calls */
}

TEST(local_variables_of_a_thread_on_another_host_are_its_own)
{
    NEEDS_STACKS();
    if (system("gdb --version >/dev/null 2>&1") != 0) /* NOLINT(cert-env33-c) */
        SKIP("there is no gdb");
    begin();
    no_core();
    setenv("CRASH_OTHERS", "thread", 1);
    run_start(&run, run_enl(), "-g", "--local", "2", sys_crash(), "on", "local2", "enlist", "1", "stay");
    run_ends(&run, 128 + SIGSEGV, "enl: crash: CCE 1 (");
    check_top("crash_segv");
    if (strstr(run.error, "its time was up") == NULL)
        run_check_error(&run, "local variables"); /* either them, or why not */
    const char *locals = strstr(run.error, "by gdb:\n");
    if (locals != NULL && strstr(locals, "thread_crashes") == NULL)
        FAIL("no thread_crashes in:\n%s", locals);
}

TEST(without_gdb_a_sentence_stands_for_the_local_variables)
{
    NEEDS_STACKS();
    begin();
    no_core();
    setenv("PATH", "/nowhere", 1);
    run_start(&run, run_enl(), "-g", sys_crash(), "locals");
    run_ends(&run, 128 + SIGSEGV, "[0] no local variables: there is no gdb");
    check_top("crash_locals");
}

TEST(last_operations_and_the_last_output_are_shown)
{
    begin();
    no_core();
    setenv("CRASH_OTHERS", "put out last-words segv", 1);
    run_start(&run, run_enl(), sys_crash(), "enlist", "1", "stay");
    run_ends(&run, 128 + SIGSEGV, "CCE 1 (");
    check_top("crash_segv");
    run_check_error(&run, "[1] its last operations, the last one first:\n"
                          "  [1]   get, its own cell 2, 8 bytes\n"
                          "  [1]   put, its own cell 2, 8 bytes\n");
    run_check_error(&run, "[1] the last it printed:\n  [1] last-words\n");
}

/* By enl waits, since a CCE has not noted what it sleeps for before it sleeps. */
static void wait_for_sleeper(const char *program, const char *row)
{
    static struct run look;
    do {
        run_start(&look, run_enl(), "waits", program);
        run_end(&look);
    } while (strstr(look.text, row) == NULL);
}

TEST(who_waits_for_it_is_shown)
{
    begin();
    no_core();
    setenv("CRASH_OTHERS", "need", 1);
    run_start(&run, run_enl(), sys_crash(), "enlist", "2", "tell", "wait", "segv");
    CHECK_STR(run_told_by(&run), "there");
    wait_for_sleeper(run_program(), "CCE 1 waits for a region from cell 5 of CCE 0, asleep");
    wait_for_sleeper(run_program(), "CCE 2 waits for a region from cell 5 of CCE 0, asleep");
    run_go();
    run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    run_check_error(&run, "[0] CCE 1 (");
    run_check_error(&run, "[0] CCE 2 (");
    CHECK_INT(count_of(run.error, " s to get from its cell 5\n"), 2);
}

/* A request of a CCE that sleeps may still be on its way, but not every time. */
TEST_TIMEOUT(requests_of_other_hosts_that_wait_for_it_are_counted, 120)
{
    no_core();
    run.error[0] = '\0';
    for (int tries = 0; tries < 20 && strstr(run.error, "2 requests of CCEs") == NULL; tries++) {
        char program[128];
        begin();
        setenv("CRASH_OTHERS", "need", 1);
        run_start(&run, run_enl(), "--local", "2", sys_crash(), "on", "local2", "enlist", "2", "tell", "wait",
                  "segv");
        CHECK_STR(run_told_by(&run), "there");
        const char *log = run_file("bcr.", ".1.log"), *name = strrchr(log, '/') + strlen("/bcr.");
        snprintf(program, sizeof program, "%.*s", (int)(strlen(name) - strlen(".1.log")), name);
        wait_for_sleeper(program, "CCE 1 on local2 waits for a region from cell 5 of CCE 0 on ");
        wait_for_sleeper(program, "CCE 2 on local2 waits for a region from cell 5 of CCE 0 on ");
        CHECK_INT(remove(log), 0);
        run_go();
        run_ends(&run, 128 + SIGSEGV, "CCE 0 (");
    }
    run_check_error(&run, "[0] 2 requests of CCEs on other hosts to get from its cell 5 wait\n");
}

/* On a machine that is busy there may be several reports, of those that ended at about the same time. */
TEST_TIMEOUT(cces_that_crash_alike_are_one_report_that_counts_them, 120)
{
    NEEDS_STACKS();
    begin();
    no_core();
    setenv("CRASH_OTHERS", "say segv", 1);
    for (int tries = 0; tries < 20 && strstr(run.error, "enl: crash: 8 ") == NULL; tries++) {
        run_start(&run, run_enl(), "--onfail", "isolate", sys_crash(), "enlist", "8");
        run_end(&run);
        CHECK_INT(run.status, 0);
        CHECK_INT(reported(), 8);
        CHECK_INT(count_of(run.error, "was killed by signal 11"), 8);
    }
    run_check_error(&run, "enl: crash: 8 CCEs crashed alike (1-8); of them CCE ");
    CHECK_INT(count_of(run.error, "#0 "), 1);
}

/* Three crash while the first is looked at, which takes the time that it may take. On a machine that is
 * busy one may come too late; not every time. */
TEST_TIMEOUT(abort_waits_until_each_cce_that_has_crashed_is_seen, 120)
{
    NEEDS_STACKS();
    begin();
    no_core();
    setenv("CRASH_OTHERS", "vfork wait segv", 1);
    for (int tries = 0; tries < 20 && reported() < 3; tries++) {
        run_start(&run, run_enl(), sys_crash(), "enlist", "3", "stay");
        for (int i = 0; i < 3; i++)
            run_go();
        run_end(&run);
        CHECK_INT(run.status, 128 + SIGSEGV);
        CHECK_INT(reported(), count_of(run.error, "was killed by signal 11"));
    }
    CHECK_INT(reported(), 3);
}

TEST(crashes_of_other_hosts_come_to_the_root)
{
    begin();
    no_core();
    setenv("CRASH_OTHERS", "out far-away segv", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "2", sys_crash(), "on", "local2", "enlist",
              "3");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_INT(reported(), 3);
    run_check_error(&run, " on local2, signal 11 (Segmentation fault)");
    check_top("crash_segv");
    run_check_error(&run, "far-away");
}

TEST(a_crash_on_another_host_ends_the_program_with_its_report)
{
    begin();
    no_core();
    setenv("CRASH_OTHERS", "give fpe", 1);
    run_start(&run, run_enl(), "--local", "2", sys_crash(), "on", "local2", "enlist", "1", "stay");
    run_ends(&run, 128 + SIGFPE, "enl: crash: CCE 1 (");
    check_top("crash_fpe");
    run_check_error(&run, "[1] its last operations, the last one first:\n"
                          "  [1]   put, another host's cell ");
}

TEST(a_programs_own_handler_stays)
{
    begin();
    run_start(&run, run_enl(), sys_crash(), "own", "segv");
    run_ends(&run, 7, "exited with status 7");
    CHECK_INT(reported(), 0);
}

TEST(a_process_that_may_not_be_looked_into_is_reported_without_a_stack)
{
    NEEDS_STACKS();
    if (geteuid() == 0 && (chown(test_folder(), 65534, 65534) != 0 || setgid(65534) != 0 ||
                           setuid(65534) != 0 || access(run_enl(), X_OK) != 0))
        SKIP("root may look into every process, and other users cannot run this enl");
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "undumpable", "put", "segv");
    run_ends(&run, 128 + SIGSEGV,
             "no stack: process_vm_readv: Operation not permitted (the process has made itself undumpable");
    run_check_error(&run, "its last operations");
}

TEST(a_sandbox_that_forbids_to_read_stacks_is_told_as_such)
{
    NEEDS_STACKS();
    begin();
    no_core();
    run_start(&run, getenv("SYS_FORBID"), "process_vm_readv", run_enl(), sys_crash(), "segv");
    run_end(&run);
    if (run.status == 77)
        SKIP("system calls cannot be filtered here");
    run_check_error(&run, "[0] no stack: process_vm_readv: Operation not permitted (");
}

TEST(crashreport_no_leaves_everything_to_the_system)
{
    begin();
    no_core();
    setenv("BCR_CRASHREPORT", "no", 1);
    run_start(&run, run_enl(), sys_crash(), "segv");
    run_ends(&run, 128 + SIGSEGV, "was killed by signal 11 (Segmentation fault)");
    CHECK_INT(reported(), 0);
}

TEST(a_core_file_is_left_as_without_a_report)
{
    char pattern[256];
    begin();
    run_read_file("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
    if (strcmp(pattern, "core\n") != 0)
        SKIP("core files go elsewhere here");
    if (setrlimit(RLIMIT_CORE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) != 0)
        SKIP("no core files here");
    run_start(&run, run_enl(), sys_crash(), "segv");
    run_ends(&run, 128 + SIGSEGV, "[0] it has left a core file\n");
    CHECK(access(run_file("core", ""), R_OK) == 0);
}

/* The pid of the tracer, whose parent is the daemon. */
static pid_t tracer_of(pid_t daemon)
{
    for (;;) {
        DIR *folder = opendir("/proc");
        const struct dirent *entry;
        pid_t found = 0;
        while (found == 0 && (entry = readdir(folder)) != NULL) {
            char path[300], text[512];
            long parent = 0;
            snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
            FILE *file = fopen(path, "re");
            if (file == NULL)
                continue;
            if (fscanf(file, "%*d %*s %*c %ld", &parent) != 1)
                parent = 0;
            fclose(file);
            snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
            if (parent != daemon || (file = fopen(path, "re")) == NULL)
                continue;
            const size_t length = fread(text, 1, sizeof text - 1, file);
            text[length] = '\0';
            fclose(file);
            if (strcmp(text, "enl") == 0 && length > 4 && strcmp(text + 4, "--trace") == 0)
                found = (pid_t)strtol(entry->d_name, NULL, 10);
        }
        closedir(folder);
        if (found != 0)
            return found;
    }
}

/* A child of that process whose program has that name. */
static pid_t child_named(pid_t of, const char *name)
{
    for (;;) {
        DIR *folder = opendir("/proc");
        const struct dirent *entry;
        pid_t found = 0;
        while (found == 0 && (entry = readdir(folder)) != NULL) {
            char path[300], comm[64] = "";
            long parent = 0;
            snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
            FILE *file = fopen(path, "re");
            if (file == NULL)
                continue;
            if (fscanf(file, "%*d (%63[^)]) %*c %ld", comm, &parent) == 2 && parent == of &&
                strcmp(comm, name) == 0)
                found = (pid_t)strtol(entry->d_name, NULL, 10);
            fclose(file);
        }
        closedir(folder);
        if (found != 0)
            return found;
    }
}

/* The tracer, which waits for a thread in vfork, ends while the daemon is stopped; then the time is over. */
TEST(a_trace_that_is_there_is_shown_by_a_daemon_that_stood_still)
{
    NEEDS_STACKS();
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "vfork", "segv");
    const pid_t tracer = tracer_of(run.pid);
    const pid_t child = child_named(child_named(run.pid, "sys_crash"), "sys_crash");
    CHECK_INT(kill(run.pid, SIGSTOP), 0);
    run_wait_for_state(run.pid, 'T', true);
    CHECK_INT(kill(child, SIGKILL), 0);
    run_wait_for_state(tracer, 'Z', true);
    sleep(2); /* which is longer than a trace may take */
    CHECK_INT(kill(run.pid, SIGCONT), 0);
    run_ends(&run, 128 + SIGSEGV, "[0] #0 ");
    CHECK_PTR(strstr(run.error, "its time was up"), NULL);
}

/* A thread that waits in vfork keeps the tracer waiting, until the daemon has had enough. */
TEST(a_tracer_that_is_killed_or_stopped_holds_nobody_up)
{
    NEEDS_STACKS();
    static const int signals[] = {SIGKILL, SIGSTOP};
    begin();
    no_core();
    for (int i = 0; i < 2; i++) {
        run_start(&run, run_enl(), sys_crash(), "vfork", "segv");
        const pid_t tracer = tracer_of(run.pid);
        kill(tracer, signals[i]);
        run_ends(&run, 128 + SIGSEGV, "enl: crash: CCE 0 (");
    }
}

/* The thread that waits in vfork keeps the tracer waiting meanwhile. */
TEST(an_exit_while_a_crash_is_looked_at_does_not_hide_it)
{
    NEEDS_STACKS();
    static const char *const words[] = {"leave", "vanish"}, *const ends[] = {"was killed by signal 11",
                                                                             "crashed by signal 11"};
    no_core();
    for (int i = 0; i < 2; i++) {
        begin();
        run_start(&run, run_enl(), sys_crash(), "vfork", "aside", "wait", words[i]);
        (void)tracer_of(run.pid);
        run_go();
        run_ends(&run, 128 + SIGSEGV, ends[i]);
        CHECK_INT(reported(), 1);
    }
}

/* Too much for one report, or for the time that there is. */
TEST(stacks_of_many_threads_leave_room_for_the_rest_and_are_cut_aloud)
{
    NEEDS_STACKS();
    begin();
    no_core();
    setenv("CRASH_OTHERS", "put out last-words threads 31 segv", 1);
    run_start(&run, run_enl(), sys_crash(), "enlist", "1", "stay");
    run_ends(&run, 128 + SIGSEGV, "[1] its last operations");
    const char *output = strstr(run.error, "[1] last-words\n"), *stacks = strstr(run.error, "[1] thread ");
    CHECK(output != NULL && stacks != NULL && output < stacks);
#if BCR_LIBDW
    const char *more = strstr(stacks, "[1] ... and more");
    CHECK(more != NULL && strchr(more, '\n')[1] == '\0');
#endif
}

TEST(a_narrow_alternate_stack_of_the_programs_suffices)
{
    begin();
    no_core();
    run_start(&run, run_enl(), sys_crash(), "narrow", "segv");
    run_ends(&run, 128 + SIGSEGV, "enl: crash: CCE 0 (");
    check_top("crash_segv");
}

TEST(a_report_without_a_stack_says_why)
{
    static const char *const words[][3] = {{"put", "deep", ""}, {"put", "closed", "segv"}},
                             *const why[] = {"could not stop at the signal", "could not tell enl"};
    no_core();
    for (int i = 0; i < 2; i++) {
        begin();
        run_start(&run, run_enl(), sys_crash(), words[i][0], words[i][1], words[i][2]);
        run_ends(&run, 128 + SIGSEGV, why[i]);
        CHECK_INT(reported(), 1);
        run_check_error(&run, "[0] no stack: ");
        run_check_error(&run, "[0] its last operations");
    }
}
