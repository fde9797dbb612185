/* SPDX-License-Identifier: MIT */
/* Hosts whose starter is lost go on: nothing of what they print, hand over and ask for is
 * lost, and nothing comes twice. */
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "orphan_board.h"
#include "run.h"

enum { HOSTS = 8, ASKED_MAX = 20000 };

static struct run run;
static struct orphan_board *board;

/* For a millisecond; the program must not end meanwhile. */
static void look_on(void)
{
    siginfo_t ended = {0};
    usleep(1000);
    if (waitid(P_PID, (id_t)run.pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0)
        return;
    run_end(&run);
    FAIL("the program has ended with status %d: %s", run.status, run.error);
}

/* Eight hosts, three levels deep: no daemon starts more than two. */
static void begin(const char *onfail, const char *hosttimeout)
{
    char hosts[16];
    board = run_board("ORPHAN_BOARD", sizeof *board);
    snprintf(hosts, sizeof hosts, "%d", HOSTS);
    setenv("BCR_FANOUT", "2", 1);
    setenv("BCR_HOSTTIMEOUT", hosttimeout, 1);
    run_start(&run, run_enl(), "--onfail", onfail, "--output", "--local", hosts, getenv("SYS_ORPHAN"), hosts);
    while (!board->begun)
        look_on();
}

static pid_t starter_of(pid_t daemon)
{
    char path[64], text[1024];
    int starter = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)daemon);
    run_read_file(path, text, sizeof text);
    CHECK_INT(sscanf(strrchr(text, ')') + 1, " %*c %d", &starter), 1);
    return (pid_t)starter;
}

static pid_t starters[HOSTS + 1]; /* the daemons by which hosts were started, before any is lost */

static void note_starters(void)
{
    for (int host = 1; host <= HOSTS; host++)
        starters[host] = starter_of(board->daemons[host]);
}

/* How many daemons are between that of `host` and the root's. */
static int level_of(int host)
{
    int level = 1, up = host;
    while (starters[up] != run.pid) {
        int other = 1;
        while (other <= HOSTS && board->daemons[other] != starters[up])
            other++;
        CHECK(other <= HOSTS);
        up = other;
        level++;
    }
    return level;
}

static int below(int host)
{
    int count = 0;
    for (int other = 1; other <= HOSTS; other++)
        count += starters[other] == board->daemons[host];
    return count;
}

/* A host whose daemon the root's has started, and which has started others. */
static int inner_of_first_level(void)
{
    for (int host = 1; host <= HOSTS; host++)
        if (level_of(host) == 1 && below(host) != 0)
            return host;
    FAIL("no host of the first level has started another");
}

/* The root has had more numbers of every host that is left. */
static void let_go_on(int rounds)
{
    const int from = board->rounds;
    while (board->rounds < from + rounds)
        look_on();
}

static void stop(void)
{
    board->stop = 1;
    run_end(&run);
    unsetenv("BCR_FANOUT");
    unsetenv("BCR_HOSTTIMEOUT");
}

/* ---- what was printed ---- */

static int next_line[HOSTS + 1], total[HOSTS + 1], asked[HOSTS + 1];
static signed char born[HOSTS + 1][ASKED_MAX], result[HOSTS + 1][ASKED_MAX];

static void take_line(const char *line, int lost)
{
    int host, number, at, got;
    const char *const behind = strchr(line, ']'); /* of the ordinal */
    line = behind != NULL ? behind + 1 : line;
    if (sscanf(line, " line %d %d", &host, &number) == 2) {
        CHECK(host >= 1 && host <= HOSTS);
        CHECK_INT(number, next_line[host]);
        next_line[host]++;
    } else if (sscanf(line, " born %d %d", &host, &number) == 2) {
        CHECK(host >= 1 && host <= HOSTS && number < ASKED_MAX);
        born[host][number]++;
    } else if (sscanf(line, " asked %d %d %d %d", &host, &number, &at, &got) == 4) {
        CHECK(number < ASKED_MAX);
        CHECK_INT(number, asked[host] + 1);
        asked[host] = number;
        CHECK(got == 0 || at == lost || host == lost);
        result[host][number] = (signed char)(at == lost ? -1 : got == 0);
    } else if (sscanf(line, " total %d %d %d", &host, &number, &got) == 3) {
        CHECK_INT(number, next_line[host]);
        CHECK_INT(got, asked[host]);
        total[host]++;
    } else {
        FAIL("a line that nobody prints: %s", line);
    }
}

/* All that the hosts that are left have said is there, in order, and each of the CCEs that they asked for has been
 * there once. */
static void all_is_there(int lost)
{
    int born_count = 0;
    for (char *line = strtok(run.text, "\n"); line != NULL; line = strtok(NULL, "\n"))
        take_line(line, lost);
    for (int host = 1; host <= HOSTS; host++) {
        CHECK_INT(total[host], host != lost);
        CHECK_INT(board->dead[host], host == lost);
        for (int number = 1; host != lost && number <= asked[host]; number++) {
            CHECK(result[host][number] != 1 || born[host][number] == 1);
            CHECK(born[host][number] <= 1);
            born_count += born[host][number];
        }
    }
    CHECK(born_count > 0);
}

static void has_lost(int host, const char *how)
{
    char part[200];
    snprintf(part, sizeof part, "host local%d is lost: %s", host, how);
    run_check_error(&run, part);
    for (int other = 1; other <= HOSTS; other++) {
        snprintf(part, sizeof part, "host local%d is lost", other);
        if (other != host && strstr(run.error, part) != NULL)
            FAIL("more is lost than host %d: %s", host, run.error);
    }
}

/* Who asks for the program's hosts gets all of them. */
static void look_at_hosts(void)
{
    static struct run command;
    char program[300], name[32];
    snprintf(program, sizeof program, "%s", run_program_by(".8.log"));
    run_start(&command, run_enl(), "ps", program);
    run_end(&command);
    CHECK_INT(command.status, 0);
    for (int host = 1; host <= HOSTS; host++) {
        snprintf(name, sizeof name, "local%d", host);
        if (strstr(command.text, name) == NULL)
            FAIL("no %s in: %s", name, command.text);
    }
}

/* While all hosts print, ask, and hand over. */
TEST_TIMEOUT(hosts_below_a_daemon_that_is_killed_go_on_and_nothing_is_lost, 120)
{
    char part[200];
    begin("isolate", "20000");
    note_starters();
    const int lost = inner_of_first_level();
    let_go_on(30);
    const int gone = run_watch(board->daemons[lost]);
    kill(board->daemons[lost], SIGKILL);
    run_gone(gone);
    let_go_on(50);
    look_at_hosts();
    let_go_on(50);
    stop();
    CHECK_INT(run.status, 0);
    has_lost(lost, "enl was killed by signal 9 (Killed)");
    snprintf(part, sizeof part, "started through host local%d go", lost);
    run_check_error(&run, part);
    all_is_there(lost);
}

TEST_TIMEOUT(hosts_below_a_daemon_that_stands_still_go_on_before_it_is_lost, 120)
{
    begin("isolate", "6000");
    note_starters();
    const int lost = inner_of_first_level();
    let_go_on(30);
    kill(board->daemons[lost], SIGSTOP);
    while (!board->dead[lost])
        look_on();
    let_go_on(50);
    stop();
    CHECK_INT(run.status, 0);
    has_lost(lost, "nothing came from it for 6000 ms (hosttimeout)");
    all_is_there(lost);
}

/* A host of the third level is killed when the pipes above its starter have ended. */
TEST_TIMEOUT(an_orphan_tells_how_a_host_has_ended_that_it_started, 120)
{
    char part[200];
    int host = 1, inner = 1, first = 1;
    begin("isolate", "6000");
    note_starters();
    while (level_of(host) != 3)
        host++;
    while (board->daemons[inner] != starters[host])
        inner++;
    while (board->daemons[first] != starters[inner])
        first++;
    const int ended = run_watch(board->daemons[host]);
    let_go_on(30);
    kill(board->daemons[first], SIGKILL);
    while (!board->dead[first])
        look_on();
    let_go_on(50);
    kill(board->daemons[host], SIGKILL);
    while (!board->dead[host])
        look_on();
    run_gone(ended);
    stop();
    CHECK_INT(run.status, 0);
    snprintf(part, sizeof part, "host local%d is lost: enl was killed by signal 9 (Killed)", host);
    run_check_error(&run, part);
}

/* Those that have no starter any more find nobody, and end when their leases do. */
TEST_TIMEOUT(when_the_roots_daemon_is_killed_nothing_is_left_at_any_depth, 120)
{
    int daemons[HOSTS + 1];
    begin("isolate", "2000");
    note_starters();
    for (int host = 1; host <= HOSTS; host++)
        daemons[host] = run_watch(board->daemons[host]);
    kill(run.pid, SIGKILL);
    for (int host = 1; host <= HOSTS; host++)
        run_gone(daemons[host]);
    run_end(&run);
}

/* The others have stopped by then, and send no beats: those times do not count against them. */
TEST_TIMEOUT(when_a_stop_waits_for_a_host_that_never_answers_that_one_alone_is_lost, 120)
{
    siginfo_t stopped;
    begin("isolate", "6000");
    note_starters();
    int hangs = 1;
    while (level_of(hangs) == 1 || below(hangs) != 0)
        hangs++;
    let_go_on(30);
    kill(board->daemons[hangs], SIGSTOP);
    kill(run.pid, SIGTSTP);
    CHECK_INT(waitid(P_PID, (id_t)run.pid, &stopped, WSTOPPED | WNOWAIT), 0);
    kill(run.pid, SIGCONT);
    let_go_on(50);
    stop();
    CHECK_INT(run.status, 0);
    has_lost(hangs, "nothing came from it for 6000 ms (hosttimeout)");
    all_is_there(hangs);
}

TEST_TIMEOUT(under_abort_a_lost_daemon_ends_those_below_it_too, 120)
{
    int daemons[HOSTS + 1];
    begin("abort", "20000");
    note_starters();
    const int lost = inner_of_first_level();
    for (int host = 1; host <= HOSTS; host++)
        daemons[host] = run_watch(board->daemons[host]);
    kill(board->daemons[lost], SIGKILL);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "that ends the program (onfail abort)");
    for (int host = 1; host <= HOSTS; host++)
        run_gone(daemons[host]);
}
