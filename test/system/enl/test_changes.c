/* SPDX-License-Identifier: MIT */
/* Hosts that are added to a program while it runs, and taken away (sys_changes.c). */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bcr/error.h>
#include <bcr/program.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *program(void)
{
    return getenv("SYS_CHANGES");
}

/* The next line that is told is that. */
static void tells(const char *line)
{
    CHECK_STR(run_told_by(&run), line);
}

static void tells_code(const char *word, int code)
{
    char line[64];
    snprintf(line, sizeof line, "%s %d", word, code);
    tells(line);
}

/* The next line is "list", the root's machine as it is without a list, and that. */
static void lists(const char *others)
{
    char name[256], line[2048];
    const char *told = run_told_by(&run);
    gethostname(name, sizeof name);
    snprintf(line, sizeof line, "list %s:", name);
    CHECK_INT(strncmp(told, line, strlen(line)), 0);
    const char *at = told + strlen(line);
    at += strspn(at, "0123456789");
    CHECK_INT(strncmp(at, ":0:", 3), 0);
    at += 3;
    at += strcspn(at, " ");
    CHECK_STR(at, others);
}

/* The architecture of this build, as the list has it. */
static const char *arch(void)
{
    static struct utsname machine;
    CHECK_INT(uname(&machine), 0);
    return sizeof(void *) == 4 && strcmp(machine.machine, "x86_64") == 0 ? "i386" : machine.machine;
}

/* With that for each @. Valid until the next call. */
static const char *with_arch(const char *list)
{
    static char text[1024];
    char *to = text;
    for (const char *at = list; *at != '\0'; at++)
        to += *at == '@' ? sprintf(to, "%s", arch()) : sprintf(to, "%c", *at);
    return text;
}

static void ends(int status)
{
    run_end(&run);
    if (run.status != status)
        FAIL("status %d: %s", run.status, run.error);
}

static void script(const char *name, const char *text)
{
    run_write_file(name, text, strlen(text), 0700);
}

static void reach_by(const char *text)
{
    char path[4096];
    script("rsh", text);
    snprintf(path, sizeof path, "%s/rsh", run_folder());
    setenv("BCR_RSHPATH", path, 1);
}

TEST(a_program_without_other_hosts_gets_some)
{
    run_folder();
    run_start(&run, run_enl(), program(), "list", "add", "one local slots=3", "list", "talk", "one", "by",
              "one", "add", "two local", "talk", "two", "list");
    lists("");
    tells("add 0");
    lists(with_arch(" one:3:1:@"));
    tells("talk 0");
    tells("add 0");
    tells("talk 0");
    lists(with_arch(" one:3:1:@ two:1:2:@"));
    ends(0);
    CHECK_STR(run.error, "");
}

TEST(a_list_is_added_to_and_its_hosts_are_told_before_they_are_used)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "list", "add", with_arch("new local abi=@"), "add",
              "old local path=/opt:~/bin", "list", "talk", "local2", "talk", "new", "list");
    tells("list local1:1:-1: local2:1:-1:");
    tells("add 0");
    tells("add 0");
    tells(with_arch("list local1:1:-1: local2:1:-1: new:1:1:@ old:1:2:@"));
    tells("talk 0");
    tells("talk 0");
    tells(with_arch("list local1:1:-1: local2:1:3:@ new:1:1:@ old:1:2:@"));
    ends(0);
    CHECK_STR(run.error, "");
}

TEST(what_is_no_host_is_refused)
{
    run_folder();
    run_start(&run, run_enl(), program(), "bad", "list");
    tells("bad");
    lists("");
    ends(0);
    run_check_error(&run, "enl: bcr_hostadd: \"b\" is not known; a line is NAME");
    run_check_error(&run,
                    "enl: bcr_hostadd: this names 2 hosts; give one line of a hosts file, with one name");
    run_check_error(&run, "enl: bcr_hostadd: this names 0 hosts");
    run_check_error(&run, "localhost is the host on which bcr_enlist is called");
}

TEST(what_the_program_has_is_not_added_again)
{
    char own[256], line[300];
    gethostname(own, sizeof own);
    snprintf(line, sizeof line, "%s local", own);
    reach_by("#!/bin/sh\nshift\nexec sh -c \"$1\"\n");
    run_start(&run, run_enl(), program(), "add", "one local", "add", "ONE local", "add", own, "add",
              "127.0.0.1", "add", line, "add", "away", "list", "talk", "one");
    tells("add 0");
    for (int i = 0; i < 5; i++)
        tells_code("add", bcrE_BUSY);
    lists(with_arch(" one:1:1:@"));
    tells("talk 0");
    ends(0);
    run_check_error(&run, "host ONE was not added: the program has one of that name");
    run_check_error(&run, "host 127.0.0.1 was not added: it is the machine of the program's root");
    run_check_error(&run, "host away was not added: it is the machine of the program's root");
    unsetenv("BCR_RSHPATH");
}

TEST(a_host_that_cannot_be_begun_is_not_in_the_list)
{
    reach_by("#!/bin/sh\necho 'no way' >&2\nexit 255\n");
    run_start(&run, run_enl(), program(), "add", "away", "list", "talk", "away", "add", "away local", "talk",
              "away", "list");
    tells_code("add", bcrE_NOHOST);
    lists("");
    tells_code("talk", bcrE_NOHOST);
    tells("add 0");
    tells("talk 0");
    lists(with_arch(" away:1:2:@"));
    ends(0);
    run_check_error(&run, "host away cannot be used: rsh ended with status 255: no way");
    run_check_error(&run,
                    "machine away is not this one, and not in the program's list of 1 hosts (bcr_hostadd)");
    unsetenv("BCR_RSHPATH");
}

TEST(a_host_that_does_not_answer_is_given_up)
{
    reach_by("#!/bin/sh\nexec sleep 1000\n");
    setenv("BCR_CONNECTTIMEOUT", "300", 1);
    run_start(&run, run_enl(), program(), "add", "away", "list");
    tells_code("add", bcrE_NOHOST);
    lists("");
    ends(0);
    run_check_error(&run, "nothing came from it for 300 ms (connecttimeout)");
    unsetenv("BCR_CONNECTTIMEOUT");
    unsetenv("BCR_RSHPATH");
}

/* How many of the next `count` lines are that one. */
static int told_times(int count, const char *line)
{
    int times = 0;
    for (; count > 0; count--)
        times += strcmp(run_told_by(&run), line) == 0;
    return times;
}

TEST(of_several_that_add_one_host_at_a_time_one_does)
{
    enum { ADDERS = 6 };
    run_folder();
    run_start(&run, run_enl(), "--local", "1", program(), "each", "6", "local1", "wait", "add", "one local");
    for (int i = 0; i < ADDERS; i++)
        run_go();
    CHECK_INT(told_times(ADDERS, "add 0"), 1);
    ends(0);
    run_check_error(&run, "host one was not added: the program has one of that name");
}

/* It tells, and waits to be killed. */
static const char slow[] = "#!/bin/sh\necho begun >\"$SYS_TELL\"\nexec sleep 1000\n";

/* A CCE of local1 adds a host whose command waits until it is let go; gives the CCE's process and its daemon's. */
static void add_slowly(pid_t *adder, pid_t *daemon)
{
    int ordinal;
    reach_by(slow);
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "1", program(), "by", "local1", "pid", "add",
              "away");
    CHECK_INT(sscanf(run_told_by(&run), "pid %d %d %d", &ordinal, adder, daemon), 3);
    tells("begun");
}

TEST(an_adder_that_is_killed_leaves_the_list_as_it_was)
{
    pid_t adder, daemon;
    add_slowly(&adder, &daemon);
    kill(adder, SIGKILL);
    ends(0); /* nobody waits for the host, and the program ends without it */
    add_slowly(&adder, &daemon);
    kill(daemon, SIGKILL); /* the adder's host is lost while its request is under way */
    ends(0);
    unsetenv("BCR_RSHPATH");
}

/* ---- hosts that are taken away ---- */

/* Two CCEs on that host have come. */
static void two_are_there(void)
{
    int ordinal;
    pid_t pid;
    for (int i = 0; i < 3; i++) { /* in any order with the answer of bcr_start */
        const char *line = run_told_by(&run);
        CHECK(strcmp(line, "start 2 0") == 0 || sscanf(line, "pid %d %d", &ordinal, &pid) == 2);
    }
}

/* An end of a CCE, by SIGKILL or with its host. */
static void one_has_ended(void)
{
    int ordinal, how;
    CHECK_INT(sscanf(run_told_by(&run), "ended %d %d", &ordinal, &how), 2);
    CHECK(ordinal > 0 && (how == bcr_KILLED || how == bcr_HOSTLOST));
}

/* Whatever onfail is: here it is abort. */
TEST(what_runs_on_a_host_that_is_taken_away_is_ended_and_told_of)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "start", "local1", "2", "wait", "del", "local1",
              "ended", "ended", "list", "talk", "local1", "talk", "local2", "add", "local1 local", "list",
              "talk", "local1", "del", "local2", "del", "local1", "del", "local1", "list");
    two_are_there();
    run_go();
    tells("del 0");
    one_has_ended();
    one_has_ended();
    tells("list local2:1:-1:");
    tells_code("talk", bcrE_NOHOST);
    tells("talk 0");
    tells("add 0");
    tells(with_arch("list local2:1:2:@ local1:1:3:@"));
    tells("talk 0");
    tells("del 0");
    tells("del 0");
    tells_code("del", bcrE_NOHOST);
    lists("");
    ends(0);
    run_check_error(&run, "machine local1 is not this one, and not in the program's list of 1 hosts");
    CHECK_PTR(strstr(run.error, "lost"), NULL);
}

TEST(a_cce_takes_away_another_host_and_its_own)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "talk", "local2", "by", "local1", "del", "local2",
              "list", "del", "local1");
    tells("talk 0");
    tells("del 0");
    tells(with_arch("list local1:1:2:@"));
    ends(0);
    CHECK_STR(run.error, "");
}

/* local1 has begun local2, and local2 local3. */
TEST(hosts_that_were_begun_from_one_that_is_taken_away_go_on)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "3", "--fanout", "1", "--start-hosts", "all", program(), "start",
              "local3", "2", "wait", "talk", "local1", "talk", "local2", "del", "local1", "list", "talk",
              "local3", "del", "local2", "talk", "local3", "list", "add", "local4 local", "talk", "local4",
              "del", "local3", "list");
    two_are_there();
    run_go();
    tells("talk 0");
    tells("talk 0");
    tells("del 0");
    tells(with_arch("list local2:1:2:@ local3:1:3:@"));
    tells("talk 0");
    tells("del 0");
    tells("talk 0");
    tells(with_arch("list local3:1:3:@"));
    tells("add 0");
    tells("talk 0");
    tells("del 0");
    tells(with_arch("list local4:1:4:@"));
    ends(0);
    CHECK_STR(run.error, "");
}

TEST(what_was_printed_on_a_host_that_is_taken_away_is_shown)
{
    enum { LINES = 3000 };
    run_folder();
    run_start(&run, run_enl(), "--local", "1", program(), "print", "3000", "wait", "del", "local1");
    tells("printed");
    run_go();
    tells("del 0");
    ends(0);
    int lines = 0;
    for (const char *at = run.text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    CHECK_INT(lines, LINES);
    CHECK(strstr(run.text, "line 2999\n") != NULL);
}

TEST(of_several_that_take_one_host_away_one_does)
{
    enum { TAKERS = 6 };
    char none[64];
    run_folder();
    run_start(&run, run_enl(), "--local", "2", program(), "talk", "local2", "each", "6", "local1", "wait",
              "del", "local2");
    tells("talk 0");
    for (int i = 0; i < TAKERS; i++)
        run_go();
    snprintf(none, sizeof none, "del %d", bcrE_NOHOST);
    CHECK_INT(told_times(TAKERS, none), TAKERS - 1);
    ends(0);
}

TEST(a_host_that_is_being_added_is_taken_away)
{
    pid_t adder, daemon;
    int ordinal;
    reach_by(slow);
    run_start(&run, run_enl(), "--local", "1", program(), "each", "2", "local1", "pid", "wait", "add", "away",
              "del", "away");
    for (int i = 0; i < 2; i++)
        CHECK_INT(sscanf(run_told_by(&run), "pid %d %d %d", &ordinal, &adder, &daemon), 3);
    run_go();
    tells("begun");
    run_go(); /* the other one: it is there already, and is taken away */
    tells_code("add", bcrE_BUSY);
    char added[64], taken[64];
    int told = 0; /* the first one is told before it tries the same */
    snprintf(added, sizeof added, "add %d", bcrE_NOHOST);
    snprintf(taken, sizeof taken, "del %d", bcrE_NOHOST);
    for (int i = 0; i < 3; i++) {
        const char *line = run_told_by(&run);
        told |= strcmp(line, added) == 0     ? 1
                : strcmp(line, taken) == 0   ? 2
                : strcmp(line, "del 0") == 0 ? 4
                                             : 8;
    }
    CHECK_INT(told, 7);
    ends(0);
    unsetenv("BCR_RSHPATH");
}

/* It does not hear that it is to end: its silence ends it. */
TEST(a_host_that_stands_still_is_taken_away)
{
    int ordinal;
    pid_t pid, daemon = 0;
    run_folder();
    run_start(&run, run_enl(), "--local", "1", program(), "start", "local1", "1", "wait", "del", "local1",
              "ended", "list");
    for (int i = 0; i < 2; i++)
        (void)sscanf(run_told_by(&run), "pid %d %d %d", &ordinal, &pid, &daemon);
    CHECK(daemon != 0);
    const int cce = run_watch(pid);
    kill(daemon, SIGSTOP);
    run_go();
    tells("del 0");
    one_has_ended();
    lists("");
    run_gone(cce);
    ends(0);
    CHECK_STR(run.error, "");
}

/* A start there that is under way has failed with the host, or comes too late. */
TEST(starts_on_a_host_that_is_taken_away_are_answered)
{
    int ordinal;
    pid_t pid, daemon = 0;
    char lost[64], none[64];
    run_folder();
    snprintf(lost, sizeof lost, "talk %d", bcrE_HOSTLOST);
    snprintf(none, sizeof none, "talk %d", bcrE_NOHOST);
    run_start(&run, run_enl(), "--local", "2", program(), "start", "local1", "1", "beside", "local2", "4",
              "pid", "wait", "talk", "local1", "wait", "del", "local1");
    pid_t other;
    for (int i = 0; i < 3; i++) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "pid %d %d %d", &ordinal, &pid, &other) == 3 && ordinal == 1)
            daemon = other;
    }
    CHECK(daemon != 0);
    kill(daemon, SIGSTOP);
    run_go();
    run_go();
    for (int i = 0; i < 2; i++) {
        const char *line = run_told_by(&run);
        CHECK(strcmp(line, "del 0") == 0 || strcmp(line, lost) == 0 || strcmp(line, none) == 0);
    }
    ends(0);
}

/* Its daemon is killed while it is to end. */
TEST(a_host_that_is_lost_while_it_is_taken_away_harms_nobody)
{
    int ordinal;
    pid_t pid, daemon = 0;
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "1", program(), "start", "local1", "1",
              "wait", "del", "local1", "ended", "list");
    for (int i = 0; i < 2; i++)
        (void)sscanf(run_told_by(&run), "pid %d %d %d", &ordinal, &pid, &daemon);
    CHECK(daemon != 0);
    kill(daemon, SIGSTOP);
    run_go();
    kill(daemon, SIGKILL); /* or just before */
    tells("del 0");
    one_has_ended();
    lists("");
    ends(0);
}
