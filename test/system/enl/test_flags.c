/* SPDX-License-Identifier: MIT */
/* What the flags of bcr_init change of a CCE's end: each way to end, under each onfail, here and on another host. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "check.h"
#include "run.h"

static struct run run;

/* A way to end: the words, what enl says of it, and its status. */
static const struct way {
    const char *words, *says;
    int status;
} ways[] = {{"exit 3", "exited with status 3", 3},
            {"kill 9", "was killed by signal 9", 128 + SIGKILL},
            {"abort", "was killed by signal 6", 128 + SIGABRT}};
enum { STATUS, KILLED, ABORTED, WAYS };

static const char *ends_program(const char *onfail)
{
    static char text[64];
    snprintf(text, sizeof text, "that ends the program (onfail %s)", onfail);
    return text;
}

static const char *sys_ends(void)
{
    run_folder();
    setenv("BCR_CRASHREPORT", "no", 1);
    return getenv("SYS_ENDS");
}

static void set_flags(const char *variable, int flags)
{
    char text[16];
    snprintf(text, sizeof text, "%d", flags);
    setenv(variable, text, 1);
}

/* What is wanted of an end: nothing is said of it; it is blamed and the others go on; it ends the program. */
enum wanted { NOTHING_SAID, OTHERS_GO_ON, PROGRAM_ENDS };

static void check_said(const struct way *way, enum wanted wanted, const char *says)
{
    if (wanted == NOTHING_SAID || says[0] == '\0') {
        run_check_error(&run, "");
        return;
    }
    run_check_error(&run, way->says);
    run_check_error(&run, says);
}

/* The log of the daemon on that machine. */
static const char *log_of(const char *machine)
{
    static char name[256];
    char host[128] = "";
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(name, sizeof name, "bcr.%s.%d%s.log", host, (int)run.pid,
             strcmp(machine, "local1") == 0 ? ".1" : "");
    return name;
}

/* CCE 1, on that machine, ends in that way. The root goes on until its end is judged, if that harms no other. */
static void another_ends(const char *onfail, const char *machine, int flags, const struct way *way,
                         enum wanted wanted, const char *says)
{
    char words[64];
    int ordinal;
    pid_t pid;
    snprintf(words, sizeof words, "tell %s", way->words);
    set_flags("SYS_CHILD_FLAGS", flags);
    setenv("SYS_CHILD", words, 1);
    const bool ends = wanted == PROGRAM_ENDS;
    run_start(&run, run_enl(), "--local", "1", "--onfail", onfail, sys_ends(), "at", machine, "enlist", "1",
              ends ? "pause" : "wait", "out", "on");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 1);
    if (!ends) {
        run_wait_for_text(log_of(machine), way->says);
        run_go();
    }
    run_end(&run);
    CHECK_STR(run.text, ends ? "" : "on\n");
    CHECK_INT(run.status, ends ? way->status : 0);
    check_said(way, wanted, says);
}

static const char *const machines[] = {"localhost", "local1"};

TEST(without_a_flag_each_of_these_ends_is_abnormal)
{
    for (int i = 0; i < WAYS; i++)
        for (int k = 0; k < 2; k++) {
            another_ends("abort", machines[k], 0, &ways[i], PROGRAM_ENDS, ends_program("abort"));
            another_ends("isolate", machines[k], 0, &ways[i], OTHERS_GO_ON,
                         "the others go on (onfail isolate)");
            another_ends("root", machines[k], 0, &ways[i], OTHERS_GO_ON, "the others go on (onfail root)");
        }
}

TEST(with_anystatus_an_exit_is_normal_and_a_signal_is_not)
{
    for (int k = 0; k < 2; k++) {
        another_ends("abort", machines[k], bcr_anystatus, &ways[STATUS], NOTHING_SAID, "");
        another_ends("isolate", machines[k], bcr_anystatus, &ways[STATUS], NOTHING_SAID, "");
        another_ends("root", machines[k], bcr_anystatus, &ways[STATUS], NOTHING_SAID, "");
        for (int i = KILLED; i <= ABORTED; i++)
            another_ends("abort", machines[k], bcr_anystatus, &ways[i], PROGRAM_ENDS, ends_program("abort"));
        another_ends("root", machines[k], bcr_anystatus, &ways[KILLED], OTHERS_GO_ON,
                     "the others go on (onfail root)");
    }
}

TEST(with_isolate_no_end_harms_another_whatever_onfail_says)
{
    for (int i = 0; i < WAYS; i++)
        for (int k = 0; k < 2; k++) {
            another_ends("abort", machines[k], bcr_isolate, &ways[i], OTHERS_GO_ON,
                         "the others go on (bcr_isolate)");
            another_ends("isolate", machines[k], bcr_isolate, &ways[i], OTHERS_GO_ON,
                         "the others go on (bcr_isolate)");
            another_ends("root", machines[k], bcr_isolate, &ways[i], OTHERS_GO_ON,
                         "the others go on (bcr_isolate)");
        }
}

TEST(with_passsignals_alone_ends_mean_what_they_always_do)
{
    another_ends("abort", "localhost", bcr_passsignals, &ways[STATUS], PROGRAM_ENDS, ends_program("abort"));
    another_ends("isolate", "local1", bcr_passsignals, &ways[KILLED], OTHERS_GO_ON,
                 "the others go on (onfail isolate)");
}

/* A second fifo, for those that are not to go on with the root. */
static int later = -1;

static void make_later(void)
{
    sys_ends();
    CHECK_INT(mkfifo("later", 0600), 0);
    later = open("later", O_RDWR | O_CLOEXEC);
    CHECK(later >= 0);
}

/* The root ends in that way; CCE 1 waits, until the root's end is judged or for ever. enl's status is the root's. */
static void root_ends(const char *onfail, int flags, const struct way *way, enum wanted wanted,
                      const char *says)
{
    char words[2][16] = {"", ""};
    int watches[2];
    sscanf(way->words, "%15s %15s", words[0], words[1]);
    set_flags("SYS_ROOT_FLAGS", flags);
    const bool ends = wanted == PROGRAM_ENDS;
    setenv("SYS_CHILD", ends ? "tell pause" : "tell wait-at later out on", 1);
    run_start(&run, run_enl(), "--onfail", onfail, sys_ends(), "enlist", "1", "tell", "wait", words[0],
              words[1]);
    for (int i = 0; i < 2; i++) {
        int ordinal;
        pid_t pid;
        run_told_pid(&ordinal, &pid);
        watches[ordinal] = run_watch(pid);
    }
    run_go();
    run_gone(watches[0]);
    if (!ends) {
        run_wait_for_text(log_of("localhost"), way->says);
        CHECK_INT(write(later, "g", 1), 1);
    }
    run_end(&run);
    run_gone(watches[1]);
    CHECK_STR(run.text, ends ? "" : "on\n");
    CHECK_INT(run.status, way->status);
    check_said(way, wanted, says);
}

TEST(flags_of_the_root_hold_for_its_end)
{
    make_later();
    root_ends("abort", 0, &ways[STATUS], PROGRAM_ENDS, ends_program("abort"));
    root_ends("abort", bcr_anystatus, &ways[STATUS], NOTHING_SAID, "");
    root_ends("abort", bcr_anystatus, &ways[KILLED], PROGRAM_ENDS, ends_program("abort"));
    root_ends("root", bcr_anystatus, &ways[KILLED], PROGRAM_ENDS, ends_program("root"));
    for (int i = 0; i < WAYS; i++) {
        root_ends("abort", bcr_isolate, &ways[i], OTHERS_GO_ON, "the others go on (bcr_isolate)");
        root_ends("root", bcr_isolate, &ways[i], OTHERS_GO_ON, "the others go on (bcr_isolate)");
    }
}

TEST(under_root_the_root_s_normal_end_ends_all_also_with_anystatus)
{
    make_later();
    root_ends("root", bcr_anystatus, &ways[STATUS], PROGRAM_ENDS, "");
}

/* enl knows the status by what the library has recorded. */
TEST(with_anystatus_an_exit_is_normal_under_a_wrapper_too)
{
    char command[600];
    set_flags("SYS_ROOT_FLAGS", bcr_anystatus);
    snprintf(command, sizeof command, "%s exit 3; true", sys_ends());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 3, "");
    snprintf(command, sizeof command, "%s kill 9; true", sys_ends());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_ends(&run, 1, "ended without exit(); that ends the program (onfail abort)");
}

TEST(bcr_init_says_that_the_flags_are_available)
{
    set_flags("SYS_ROOT_FLAGS", bcr_implemented | bcr_anystatus | bcr_isolate | bcr_passsignals | 1 << 20);
    run_start(&run, run_enl(), sys_ends(), "flags");
    CHECK_STR(run_told_by(&run), "flags 1048576 0");
    run_ends(&run, 0, "");
}

/* Two CCEs on local1, whose daemon is killed. */
static void host_is_lost(const char *second, int status, const char *says)
{
    pid_t pid, daemon = 0;
    int ordinal, cces[2];
    set_flags("SYS_CHILD_FLAGS", bcr_isolate);
    setenv("SYS_CHILD", "tell parent pause", 1);
    run_start(&run, run_enl(), "--local", "1", sys_ends(), "at", "local1", "enlist", "1", "wait", "as",
              second, "from", "2", "enlist", "1", "wait", "out", "on");
    for (int told = 0; told < 2;) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "parent %d", &daemon) == 1) {
            if (told == 1)
                run_go();
            continue;
        }
        CHECK_INT(sscanf(line, "%d %d", &ordinal, &pid), 2);
        cces[told++] = run_watch(pid);
    }
    while (sscanf(run_told_by(&run), "parent %d", &daemon) != 1)
        ;
    kill(daemon, SIGKILL);
    run_gone(cces[0]);
    run_gone(cces[1]);
    if (status == 0)
        run_go();
    run_ends(&run, status, says);
}

TEST(a_lost_host_ends_the_program_unless_all_cces_there_were_isolated)
{
    char plain[300];
    snprintf(plain, sizeof plain, "%s/plain", run_folder());
    CHECK_INT(symlink(sys_ends(), plain), 0);
    host_is_lost(plain, 1, "2 CCEs were there; that ends the program (onfail abort)");
    host_is_lost(sys_ends(), 0, "2 CCEs were there; the others go on (bcr_isolate)");
}
