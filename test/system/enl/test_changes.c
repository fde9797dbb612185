/* SPDX-License-Identifier: MIT */
/* Hosts that are added to a program while it runs (sys_changes.c). */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/error.h>

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
static const char *with_arch(const char *list)
{
    static char text[1024];
    char *to = text;
    const char *arch = sizeof(void *) == 4 ? "i386" :
#ifdef __x86_64__
                                           "x86_64";
#else
                                           "";
#endif
    for (const char *at = list; *at != '\0'; at++)
        to += *at == '@' ? sprintf(to, "%s", arch) : sprintf(to, "%c", *at);
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
    run_start(&run, run_enl(), "--local", "2", program(), "list", "add", "new local abi=x86_64", "add",
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

/* A CCE of local1 adds a host whose command waits until it is let go; gives the CCE's process and its daemon's. */
static void add_slowly(pid_t *adder, pid_t *daemon)
{
    int ordinal;
    reach_by("#!/bin/sh\necho begun >\"$SYS_TELL\"\nread -r line <\"$SYS_GO\"\nexit 255\n");
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
