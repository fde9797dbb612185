/* SPDX-License-Identifier: MIT */
/* Hosts that are all started at once, by each other: that all of them come up, what is told of those that cannot, and
 * that a daemon killed in any phase of starting, or one that starts it, costs nothing but another try.
 *
 * An enl that is told to hold does so before it speaks, or in its startscript, until it is let go itself. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "on_terminal.h"
#include "run.h"

enum { HOSTS = 7 };

static struct run run;

/* Makes the daemons tell "begun STARTER PID", and hold in that phase until held.PID has a byte. */
static void hold(const char *phase)
{
    char text[2048];
    run_folder();
    snprintf(
        text, sizeof text,
        "#!/bin/sh\nmkfifo \"$SYS_HELD.$$\"\necho begun $PPID $$ > \"$SYS_TELL\"\n%s\nexec '%s' \"$@\"\n",
        strcmp(phase, "speaking") == 0 ? "head -c 1 \"$SYS_HELD.$$\" > /dev/null" : "", run_enl());
    run_script("enl-held", text);
    run_script("script-held", "#!/bin/sh\n[ \"$4\" = 1 ] || head -c 1 \"$SYS_HELD.$PPID\" > /dev/null\n");
    setenv("SYS_HELD", run_in_folder("held"), 1);
    setenv("BCR_ENLISTPATH", run_in_folder("enl-held"), 1);
    if (strcmp(phase, "startscript") == 0)
        setenv("BCR_STARTSCRIPT", run_in_folder("script-held"), 1);
    else
        unsetenv("BCR_STARTSCRIPT");
}

/* The root waits, and then enlists on each host. */
static void start_all(void)
{
    char numbers[HOSTS + 1][16], names[HOSTS + 1][24];
    const char *argv[96] = {run_enl(), "--onfail", "isolate", "--start-hosts", "all",  "--fanout",
                            "2",       "--local",  "7",       run_cce(),       "tell", "wait"};
    int count = 12;
    setenv("SYS_CHILD", "tell", 1);
    for (int i = 1; i <= HOSTS; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%d", i);
        snprintf(names[i], sizeof names[i], "local%d", i);
        const char *more[] = {"at", names[i], "from", numbers[i], "enlist", run_cce(), "1"};
        memcpy(argv + count, more, sizeof more);
        count += (int)(sizeof more / sizeof more[0]);
    }
    argv[count] = NULL;
    run_start_words(&run, argv);
}

struct begun {
    pid_t starter, pid;
};

static bool is_begun(const char *line, struct begun *out)
{
    int starter, pid;
    if (sscanf(line, "begun %d %d", &starter, &pid) != 2)
        return false;
    *out = (struct begun){starter, pid};
    return true;
}

/* The next daemon that is begun. Lines of CCEs come between. */
static struct begun next_begun(void)
{
    struct begun begun;
    while (!is_begun(run_told_by(&run), &begun))
        ;
    return begun;
}

/* The descriptor stays open, so that the byte waits for who is not there yet. */
static void let_go(struct begun begun)
{
    char name[32];
    snprintf(name, sizeof name, "held.%d", (int)begun.pid);
    const int held = open(run_in_folder(name), O_RDWR | O_CLOEXEC);
    CHECK(held >= 0);
    CHECK_INT(write(held, "x", 1), 1);
}

/* All hosts have a CCE in the end; nobody is held any more. */
static void all_are_used(void)
{
    int good = 0;
    struct begun begun;
    run_go();
    while (good < HOSTS) {
        const char *line = run_told_by(&run);
        if (is_begun(line, &begun))
            let_go(begun);
        good += strcmp(line, "enlist 0 0") == 0;
        CHECK(strncmp(line, "enlist -1", 9) != 0);
    }
    run_end(&run);
    CHECK_INT(run.status, 0);
}

/* Two daemons are up, and four that those have begun are held. */
static void begin_six(struct begun first[2], struct begun second[4])
{
    for (int i = 0; i < 2; i++) {
        first[i] = next_begun();
        CHECK_INT(first[i].starter, run.pid);
    }
    for (int i = 0; i < 2; i++)
        let_go(first[i]);
    for (int i = 0; i < 4; i++) {
        second[i] = next_begun();
        CHECK(second[i].starter == first[0].pid || second[i].starter == first[1].pid);
    }
}

/* `victim`: 0 and 1, one of the two; 2, one that is held. */
static void kill_while_held(const char *phase, int victim)
{
    hold(phase);
    start_all();
    struct begun first[2], second[4];
    begin_six(first, second);
    const pid_t pid = victim == 2 ? second[0].pid : first[victim].pid;
    const int gone = run_watch(pid);
    kill(pid, SIGKILL);
    run_gone(gone);
    let_go(next_begun()); /* so the root knows: who enlists at a host that is gone before that gets NOHOST */
    for (int i = 0; i < 4; i++)
        let_go(second[i]);
    all_are_used();
}

TEST_TIMEOUT(daemons_killed_before_those_that_they_have_begun_speak_cost_another_try, 300)
{
    kill_while_held("speaking", 0);
    kill_while_held("speaking", 1);
}

TEST_TIMEOUT(daemons_killed_while_startscripts_run_that_they_have_begun_cost_another_try, 300)
{
    kill_while_held("startscript", 0);
    kill_while_held("startscript", 1);
}

/* Six daemons are up, and the seventh is held by one whose own starter ends, so that it goes on over a link. */
static void kill_above_one_that_holds(const char *phase)
{
    hold(phase);
    start_all();
    struct begun first[2], second[4];
    begin_six(first, second);
    for (int i = 0; i < 4; i++)
        let_go(second[i]);
    const struct begun last = next_begun();
    pid_t victim = 0;
    for (int i = 0; i < 4; i++)
        if (second[i].pid == last.starter)
            victim = second[i].starter;
    CHECK(victim != 0);
    const int gone = run_watch(victim);
    kill(victim, SIGKILL);
    run_gone(gone);
    const struct begun again = next_begun();
    CHECK_INT(again.starter == last.starter, 0);
    let_go(again);
    let_go(last);
    all_are_used(); /* nobody waits for the daemon that nobody knows any more */
}

TEST_TIMEOUT(a_daemon_that_goes_on_over_a_link_gives_up_what_it_was_starting, 300)
{
    kill_above_one_that_holds("speaking");
    kill_above_one_that_holds("startscript");
}

TEST_TIMEOUT(a_daemon_killed_before_it_speaks_is_begun_again_by_the_root, 300)
{
    kill_while_held("speaking", 2);
    char log[512];
    snprintf(log, sizeof log, "bcr.%s.log", run_program_by(".1.log"));
    run_wait_for_text(log, "it is started by another daemon");
}

TEST_TIMEOUT(a_host_that_cannot_be_started_is_told_once_and_has_the_same_sentence_for_whoever_enlists_there,
             300)
{
    char want[64], log[512];
    run_folder();
    run_script("no-way", "#!/bin/sh\necho no way >&2\nexit 255\n");
    run_write_file("machines", "n1\nn2\n", 6, 0600);
    setenv("BCR_RSHPATH", run_in_folder("no-way"), 1);
    setenv("SYS_CHILD", "", 1);
    run_start(&run, run_enl(), "--start-hosts=all", "--hosts", "machines", run_cce(), "tell", "wait", "at",
              "n1", "enlist", run_cce(), "1");
    CHECK_INT(run_told_by(&run)[0], '0'); /* the root */
    snprintf(log, sizeof log, "bcr.%s.log", run_program());
    run_wait_for_text(log, "host n1 cannot be used");
    run_wait_for_text(log, "host n2 cannot be used");
    run_go();
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    CHECK_STR(run_told_by(&run), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
    int told = 0;
    for (const char *at = run.error; (at = strstr(at, "host n2 cannot be used: ")) != NULL; at++)
        told++;
    CHECK_INT(told, 1);
    run_check_error(&run,
                    "on n1 was not started: host n1 cannot be used: no-way ended with status 255: no way");
}

TEST_TIMEOUT(who_waits_at_a_terminal_is_told_how_many_hosts_are_up, 300)
{
    char *const words[] = {(char *)run_enl(), "--start-hosts", "all",  "--fanout", "2", "--local", "7",
                           (char *)run_cce(), "tell",          "wait", NULL};
    struct begun begun;
    hold("speaking");
    terminal_start(80, 24, words);
    terminal_shows("0 of 7 hosts\r");
    for (int count = 0; count < HOSTS;) {
        if (!is_begun(run_told(), &begun))
            continue;
        let_go(begun);
        count++;
    }
    terminal_shows("6 of 7 hosts\r\r            \r");
    run_go();
    CHECK_INT(terminal_shell_says(), 'e');
    CHECK_INT((unsigned char)terminal_shell_says(), 0);
}

TEST_TIMEOUT(where_no_terminal_is_nothing_is_told_of_hosts_that_come_up, 300)
{
    hold("speaking");
    start_all();
    usleep(1200 * 1000); /* longer than a terminal would be kept waiting */
    all_are_used();
    CHECK_PTR(strstr(run.error, "hosts"), NULL);
}
