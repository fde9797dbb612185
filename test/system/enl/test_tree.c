/* SPDX-License-Identifier: MIT */
/* Programs on several hosts: daemons that the root's daemon starts on this machine, directly (hosts
 * that are "local") or by a command that stands for ssh. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

static struct run run;

static void hosts(const char *text)
{
    run_write_file("machines", text, strlen(text), 0600);
}

/* The pid that a CCE's "parent" tells. */
static pid_t told_parent(void)
{
    int pid;
    while (sscanf(run_told_by(&run), "parent %d", &pid) != 1)
        ;
    return pid;
}

TEST(ccees_start_on_each_host_and_what_they_print_is_shown_with_their_ordinals)
{
    run_folder();
    setenv("SYS_CHILD", "out hello err world", 1);
    run_start(&run, run_enl(), "--output", "--local", "3", run_cce(), "at", "local1", "enlist", run_cce(),
              "2", "at", "LOCAL2", "from", "5", "enlist", run_cce(), "1", "at", "local1", "from", "7",
              "enlist", run_cce(), "1");
    for (int i = 0; i < 3; i++)
        CHECK_STR(run_told_by(&run), "enlist 0 0");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK_INT(run_count_lines(run.text, "[1] hello\n"), 1);
    CHECK_INT(run_count_lines(run.text, "[2] hello\n"), 1);
    CHECK_INT(run_count_lines(run.text, "[5] hello\n"), 1);
    CHECK_INT(run_count_lines(run.text, "[7] hello\n"), 1);
    CHECK_INT(run_count_lines(run.error, "[5] world\n"), 1);
    run_file("bcr.", ".2.log");
}

TEST(a_host_has_one_daemon_and_the_root_another)
{
    run_folder();
    setenv("SYS_CHILD", "parent", 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(), "1", "enlist",
              run_cce(), "1", "at", "local2", "enlist", run_cce(), "1", "wait");
    int parent[3], count = 0;
    while (count < 3) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "parent %d", &parent[count]) == 1)
            count++;
    }
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK((parent[0] == parent[1]) + (parent[0] == parent[2]) + (parent[1] == parent[2]) == 1);
    for (int i = 0; i < 3; i++)
        CHECK(parent[i] != run.pid);
}

TEST(ccees_elsewhere_enlist_on_any_host)
{
    char words[1024];
    run_folder();
    snprintf(words, sizeof words,
             "parent only 1 hosts at local2 from 2 birth %s 1 at localhost from 3 enlist %s 1 at ROOT from 4 "
             "enlist %s 1 at nowhere enlist %s 1",
             run_cce(), run_cce(), run_cce(), run_cce());
    char name[128] = "", *root = strstr(words, "ROOT"), rest[1024];
    CHECK_INT(gethostname(name, sizeof name - 1), 0);
    snprintf(rest, sizeof rest, "%s", root + 4);
    snprintf(root, sizeof words - (size_t)(root - words), "%s%s", name, rest);
    setenv("SYS_CHILD", words, 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(), "1", "wait");
    pid_t parents[4];
    int count = 0, good = 0, bad = 0, named = 0;
    char want[64];
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    while (count < 4 || good < 4 || bad < 1 || named < 1) {
        const char *line = run_told_by(&run);
        count += count < 4 && sscanf(line, "parent %d", &parents[count]) == 1;
        good += strcmp(line, "enlist 0 0") == 0;
        bad += strcmp(line, want) == 0;
        named += strcmp(line, "hosts local1:1 local2:1") == 0;
    }
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    int of_root = 0;
    for (int i = 0; i < 4; i++)
        of_root += parents[i] == run.pid;
    CHECK_INT(of_root, 1);
    run_check_error(&run, "machine nowhere is not this one, and not in the program's list of 2 hosts");
}

TEST(a_hosts_path_says_where_its_programs_are)
{
    char text[1024], name[128] = "";
    CHECK_INT(gethostname(name, sizeof name - 1), 0);
    snprintf(text, sizeof text, "n1 local path=/nowhere:%s/there\nn2 local\n%s path=%s/here\n", run_folder(),
             name, run_folder());
    hosts(text);
    CHECK_INT(mkdir("there", 0700), 0);
    CHECK_INT(mkdir("here", 0700), 0);
    CHECK_INT(symlink(run_cce(), "there/one"), 0);
    CHECK_INT(symlink(run_cce(), "here/two"), 0);
    snprintf(text, sizeof text, "enlist -1 %d", bcrE_NOPROG);
    setenv("SYS_CHILD", "only 7", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", "/gone/one", "1",
              "enlist", "/gone/two", "1", "at", "n2", "enlist", "/gone/one", "1", "at", name, "enlist",
              "/gone/two", "1", "at", "localhost", "enlist", "two", "1", "enlist", "/gone/one", "1");
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    CHECK_STR(run_told_by(&run), text);
    CHECK_STR(run_told_by(&run), text);
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    CHECK_STR(run_told_by(&run), text);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(ccees_elsewhere_find_what_those_at_home_find)
{
    char here[1024], there[1024];
    run_folder();
    setenv("SYS_CHILD", "about", 1);
    CHECK_INT(umask(0027), 0022);
    run_start(&run, run_enl(), run_cce(), "enlist", run_cce(), "1");
    const char *line = run_told_by(&run);
    if (strncmp(line, "enlist", 6) == 0)
        line = run_told_by(&run);
    snprintf(here, sizeof here, "%s", line);
    run_end(&run);
    run_start(&run, run_enl(), "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1");
    while (strncmp(line = run_told_by(&run), "1 ", 2) != 0)
        ;
    snprintf(there, sizeof there, "%s", line);
    run_end(&run);
    umask(0022);
    CHECK_STR(there, here);
}

TEST(a_failure_elsewhere_ends_the_program_with_its_status_and_shows_its_last_lines)
{
    run_folder();
    setenv("SYS_CHILD", "tell wait err dying exit 7", 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(), "1", "at",
              "local2", "from", "2", "enlist", run_cce(), "1", "pause");
    int ordinal, ends[2];
    pid_t pid;
    for (int told = 0; told < 2;) {
        const char *line = run_told_by(&run);
        if (sscanf(line, "%d %d", &ordinal, &pid) == 2)
            ends[told++] = run_watch(pid);
    }
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 7);
    run_gone(ends[0]);
    run_gone(ends[1]);
    run_check_error(&run, "exited with status 7; that ends the program (onfail abort)");
    CHECK(strstr(run.error, "on local1 exited") != NULL || strstr(run.error, "on local2 exited") != NULL);
    CHECK(strstr(run.error, "] dying\n") != NULL);
    CHECK_PTR(strstr(run.error, "is lost"), NULL);
}

TEST(under_isolate_the_others_go_on)
{
    run_folder();
    setenv("SYS_CHILD", "only 1 exit 7", 1);
    run_start(&run, run_enl(), "--onfail", "isolate", "--local", "1", run_cce(), "at", "local1", "enlist",
              run_cce(), "1", "wait");
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, "on local1 exited with status 7; the others go on (onfail isolate)");
}

TEST(under_root_those_elsewhere_go_on_until_the_root_ends)
{
    int ordinal, watch[2];
    pid_t pid[2];
    char log[300];
    run_folder();
    setenv("SYS_CHILD", "tell pause", 1);
    run_start(&run, run_enl(), "--onfail", "root", "--local", "2", run_cce(), "at", "local1", "enlist",
              run_cce(), "1", "wait", "at", "local2", "from", "2", "enlist", run_cce(), "1", "wait");
    for (int i = 0; i < 2; i++) {
        const char *line;
        while (sscanf(line = run_told_by(&run), "%d %d", &ordinal, &pid[i]) != 2)
            CHECK_STR(line, "enlist 0 0");
        watch[i] = run_watch(pid[i]);
        if (i == 0)
            run_go();
    }
    CHECK_INT(kill(pid[0], SIGKILL), 0);
    run_gone(watch[0]);
    snprintf(log, sizeof log, "bcr.%s.1.log", run_program_by(".1.log"));
    run_wait_for_text(log, "was killed by signal 9 (Killed); the others go on (onfail root)");
    run_go();
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_gone(watch[1]);
    CHECK_PTR(strstr(run.error, "is lost"), NULL);
}

TEST(what_stops_the_program_stops_those_elsewhere_and_is_no_death)
{
    int ordinal, status;
    pid_t pid = 0;
    run_folder();
    setenv("BCR_HOSTTIMEOUT", "1500", 1);
    setenv("SYS_CHILD", "tell wait tell", 1);
    const pid_t enl = fork();
    if (enl == 0) {
        setpgid(0, 0); /* as a shell does; the kernel does not stop a group that nobody looks after */
        execl(run_enl(), "enl", "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1",
              (char *)NULL);
        _exit(126);
    }
    while (sscanf(run_told(), "%d %d", &ordinal, &pid) != 2)
        ;
    kill(enl, SIGTSTP);
    run_wait_for_state(enl, 'T', true);
    run_wait_for_state(pid, 'T', true);
    poll(NULL, 0, 2500); /* more than hosttimeout: what is not heard meanwhile is no death */
    kill(enl, SIGCONT);
    run_wait_for_state(pid, 'T', false);
    run_go();
    CHECK_INT(waitpid(enl, &status, 0), enl);
    CHECK_INT(status, 0);
    unsetenv("BCR_HOSTTIMEOUT");
}

/* Its command goes on meanwhile, so what it has to say is there when the program goes on. */
TEST(a_host_that_starts_while_the_program_is_stopped_is_not_late)
{
    int status;
    run_folder();
    run_script("slow", "#!/bin/sh\nshift\n: >begun\nsleep 0.5\nexec sh -c \"$*\"\n");
    setenv("BCR_CONNECTTIMEOUT", "2000", 1);
    setenv("BCR_RSHPATH", "./slow", 1);
    setenv("SYS_CHILD", "", 1);
    const pid_t enl = fork();
    if (enl == 0) {
        setpgid(0, 0);
        execl(run_enl(), "enl", "--host", "n1", run_cce(), "at", "n1", "enlist", run_cce(), "1",
              (char *)NULL);
        _exit(126);
    }
    while (access("begun", F_OK) != 0)
        poll(NULL, 0, 1);
    kill(enl, SIGTSTP);
    run_wait_for_state(enl, 'T', true);
    poll(NULL, 0, 2500);
    kill(enl, SIGCONT);
    CHECK_STR(run_told(), "enlist 0 0");
    CHECK_INT(waitpid(enl, &status, 0), enl);
    CHECK_INT(status, 0);
    unsetenv("BCR_CONNECTTIMEOUT");
    unsetenv("BCR_RSHPATH");
}

/* The daemon elsewhere is stopped, so its reply to "stop" comes when the program goes on already. The
 * request to enlist that waits there then is the second that it gets. */
TEST(a_late_reply_to_a_stop_is_not_the_answer_to_a_request)
{
    int status;
    run_folder();
    run_script("broken", "no program\n\001");
    setenv("SYS_CHILD", "parent", 1);
    const pid_t enl = fork();
    if (enl == 0) {
        setpgid(0, 0);
        execl(run_enl(), "enl", "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1", "wait",
              "enlist", "./broken", "1", (char *)NULL);
        _exit(126);
    }
    pid_t daemon = 0;
    for (int told = 0; told < 2; told++)
        sscanf(run_told(), "parent %d", &daemon);
    CHECK(daemon != 0);
    kill(daemon, SIGSTOP);
    run_go();
    kill(enl, SIGTSTP);
    run_wait_for_state(enl, 'T', true); /* it has not waited for the daemon longer than a second */
    kill(enl, SIGCONT);
    run_wait_for_state(enl, 'T', false);
    poll(NULL, 0, 100); /* for its message to go on; a shorter time would only miss the error */
    kill(daemon, SIGCONT);
    char want[64];
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOPROG);
    CHECK_STR(run_told(), want);
    CHECK_INT(waitpid(enl, &status, 0), enl);
    CHECK_INT(status, 0);
}

/* The daemon elsewhere is stopped, so the root's still waits for its reply when SIGCONT comes. */
TEST(a_program_that_is_to_go_on_before_it_has_stopped_does_not_stop)
{
    int status;
    run_folder();
    setenv("SYS_CHILD", "parent", 1);
    const pid_t enl = fork();
    if (enl == 0) {
        setpgid(0, 0);
        execl(run_enl(), "enl", "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(), "1", "wait",
              (char *)NULL);
        _exit(126);
    }
    pid_t daemon = 0, root = 0;
    for (int told = 0; told < 2; told++)
        sscanf(run_told(), "parent %d", &daemon);
    CHECK(daemon != 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)enl, (int)enl);
    FILE *children = fopen(path, "re");
    CHECK(children != NULL && fscanf(children, "%d", &root) == 1);
    fclose(children);
    kill(daemon, SIGSTOP);
    kill(enl, SIGTSTP);
    run_wait_for_state(root, 'T', true);
    kill(enl, SIGCONT);
    run_wait_for_state(root, 'T', false);
    poll(NULL, 0, 1300); /* more than the second that it waits for replies */
    const char state = run_state_of(enl);
    kill(enl, SIGCONT);
    kill(daemon, SIGCONT);
    run_go();
    CHECK_INT(waitpid(enl, &status, 0), enl);
    CHECK_INT(status, 0);
    CHECK(state != 'T');
}

/* More than a pipe and libuv's queue for a neighbour that is slow would hold, less than execve
 * takes. */
TEST(a_large_environment_goes_along)
{
    enum { VARIABLES = 16, BYTES = 100000 };
    static char value[BYTES + 1], name[32];
    run_folder();
    memset(value, 'v', BYTES);
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "SYS_LARGE%d", i);
        setenv(name, value, 1);
    }
    setenv("SYS_CHILD", "out here", 1);
    run_start(&run, run_enl(), "--output", "--local", "1", run_cce(), "at", "local1", "enlist", run_cce(),
              "1");
    run_end(&run);
    for (int i = 0; i < VARIABLES; i++) {
        snprintf(name, sizeof name, "SYS_LARGE%d", i);
        unsetenv(name);
    }
    CHECK_STR(run.error, "");
    CHECK_STR(run.text, "[1] here\n");
}

TEST(starts_that_fail_elsewhere_are_told_as_those_at_home)
{
    char words[512], want[64];
    run_folder();
    snprintf(words, sizeof words, "only 1 at local2 from 6 enlist /bin/true 1 cell0");
    setenv("SYS_CHILD", words, 1);
    run_start(&run, run_enl(), "--local", "2", run_cce(), "at", "local1", "enlist", "/there/is/none", "1",
              "from", "4", "enlist", "/bin/true", "1", "cell0", "from", "1", "enlist", run_cce(), "1");
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOPROG);
    CHECK_STR(run_told_by(&run), want);
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    snprintf(want, sizeof want, "error %d", bcrE_ENLIST);
    const char *line = run_told_by(&run);
    CHECK(strncmp(line, want, strlen(want)) == 0 && strcmp(line + strlen(line) - 2, " 4") == 0);
    int errors = 0;
    while (errors < 1) {
        line = run_told_by(&run);
        errors += strncmp(line, want, strlen(want)) == 0 && strcmp(line + strlen(line) - 2, " 6") == 0;
    }
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, "CCE 1 (/there/is/none) on local1 was not started");
    run_check_error(&run, "CCE 4 (/bin/true) on local1 did not start");
    run_check_error(&run, "CCE 6 (/bin/true) on local2 did not start");
}

/* A CCE that the machine holds up in the midst of a line keeps the other waiting as long as that takes. */
TEST(much_output_comes_whole_and_in_order)
{
    run_folder();
    setenv("BCR_LINEHOLD", "86400000", 1);
    setenv("SYS_CHILD", "flood 20000", 1);
    run_start(&run, run_enl(), "--output", "--local", "2", run_cce(), "at", "local1", "enlist", run_cce(),
              "1", "at", "local2", "from", "2", "enlist", run_cce(), "1");
    run_end(&run);
    CHECK_INT(run.status, 0);
    int next[3] = {0}, ordinal, number;
    for (const char *at = run.text; at != NULL && *at != '\0'; at = strchr(at, '\n') + 1) {
        if (sscanf(at, "[%d] line %d", &ordinal, &number) != 2 || ordinal < 1 || ordinal > 2)
            FAIL("no line of a flood: %.60s", at);
        CHECK_INT(number, next[ordinal]++);
    }
    CHECK_INT(next[1], 20000);
    CHECK_INT(next[2], 20000);
}

TEST(a_name_of_this_machine_is_the_roots_own_daemon)
{
    run_folder();
    run_script("rsh-like",
               "#!/bin/sh\necho \"$1 $2 $3\" >args\necho 'Welcome to Unix'\nshift 3\nexec sh -c \"$1\"\n");
    hosts("n1 login=ada\nn2 local\n");
    setenv("BCR_RSHPATH", "./rsh-like", 1);
    setenv("SYS_CHILD", "parent", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
    const pid_t parent = told_parent();
    CHECK_INT(parent, run.pid);
    run_end(&run);
    CHECK_INT(run.status, 0);
    char text[256];
    run_read_file("args", text, sizeof text);
    CHECK_STR(text, "-l ada n1\n");
    CHECK_STR(run.error, "");
    unsetenv("BCR_RSHPATH");
}
