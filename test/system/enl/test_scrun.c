/* SPDX-License-Identifier: MIT */
/* bcr-scrun: parallel jobs in the manner of SCore's scrun: pipes, parts one after the other, files, input, signals and ends. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

static const char *scrun(void)
{
    return run_enl_as("bcr-scrun");
}

/* As a hosts file calls it. */
static const char *architecture(void)
{
    static struct utsname name;
    CHECK_INT(uname(&name), 0);
    return sizeof(void *) == 4 && strcmp(name.machine, "x86_64") == 0 ? "i386" : name.machine;
}

static void two_hosts(void)
{
    run_hosts("a local slots=2\nb local slots=2\n");
}

static void ends(int status)
{
    run_end(&run);
    if (run.status != status)
        FAIL("status %d, not %d: %s", run.status, status, run.error);
}

TEST(nodes_are_told_when_all_are_there)
{
    two_hosts();
    run_start(&run, scrun(), "-nodes=4", "true");
    ends(0);
    CHECK_STR(run.error, "SCORE: 4 nodes (2x2) ready.\n");
    run_start(&run, scrun(), "-nodes=3", "true");
    ends(0);
    CHECK_STR(run.error, "SCORE: 3 nodes (2 hosts) ready.\n");
    run_hosts("a local slots=3\nb local slots=3\n");
    run_start(&run, scrun(), "-nodes=4", "true"); /* three and one */
    ends(0);
    CHECK_STR(run.error, "SCORE: 4 nodes (2 hosts) ready.\n");
    two_hosts();
    run_start(&run, scrun(), "-nodes=2x3,message=concise", "echo", "x");
    ends(0);
    CHECK_STR(run.error, "");
    CHECK_INT(run_count(run.text, "x\n"), 6);
    run_start(&run, scrun(), "-nodes=5", "true");
    run_ends(&run, 2, "5 nodes are asked for, and there are 4");
    run_start(&run, scrun(), "-nodes=3x1", "true");
    run_ends(&run, 2, "3 hosts are asked for, and there are 2");
    run_start(&run, scrun(), "true", "==");
    run_ends(&run, 2, "scrun: which program? there is none before the end");
}

TEST(a_job_has_the_hosts_of_a_group_or_of_a_kind)
{
    run_hosts("a local slots=2 group=odd+all\nb local slots=2 group=all cpugen=p4\n"
              "c local slots=2 group=odd\nother local abi=riscv64 group=all\n");
    run_start(&run, scrun(), "-group=odd", "sh", "-c", "echo $SCORE_OPTIONS");
    ends(0);
    CHECK_STR(run.error, "SCORE: 4 nodes (2x2) ready.\n");
    CHECK_STR(run.text, "group=odd\ngroup=odd\ngroup=odd\ngroup=odd\n");
    run_start(&run, scrun(), "-nodes=x1,group=all", "true"); /* not the host of another ABI */
    ends(0);
    CHECK_STR(run.error, "SCORE: 2 nodes (2x1) ready.\n");
    run_start(&run, scrun(), "-nodes=5,group=odd", "true");
    run_ends(&run, 2, "5 nodes are asked for, and there are 4 (");
    CHECK(strstr(run.error, "hosts, group odd)") != NULL);
    run_start(&run, scrun(), "-nodes=3x1,group=all", "true");
    run_ends(&run, 2, "3 hosts are asked for, and there are 2");
    run_start(&run, scrun(), "-nodes=3.riscv64", "true");
    run_ends(&run, 2, "3 nodes are asked for, and there are 1");
    run_start(&run, scrun(), "-group=even", "true");
    run_ends(&run, 2, "group even: no host has it; there is: odd, all (");
    run_start(&run, scrun(), "-network=myrinet", "true");
    run_ends(&run, 2, "network myrinet: no host has a network (");
    run_start(&run, scrun(), "-message=quiet,heterogeneous,nodes=7", "true");
    run_end(&run); /* all four hosts, of which one is not what its line says */
    CHECK(run.status != 0 && run.status != 2);
}

TEST(what_a_node_prints_is_the_input_of_that_node_of_the_next_program)
{
    two_hosts();
    run_start(&run, scrun(), "-nodes=4,message=quiet", "sh", "-c", "seq 1 20000", "==", "sort", "-rn",
              "==", "cat", "==", "sh", "-c", "head -n 1; wc -l");
    ends(0);
    CHECK_INT(run_count(run.text, "20000\n"), 4);
    CHECK_INT(run_count(run.text, "\n"), 8);
    /* A reader that ends early ends the writer by SIGPIPE, and nothing else. */
    run_start(&run, scrun(), "-nodes=4,message=quiet", "yes", "==", "cat", "==", "cat", "==", "head", "-n",
              "1");
    ends(0);
    CHECK_STR(run.text, "y\ny\ny\ny\n");
    CHECK_STR(run.error, "");
}

TEST(programs_run_one_after_the_other_and_share_files_of_the_jobs_directory)
{
    two_hosts();
    run_script("first", "#!/bin/sh\necho $BCR_JOB_DIR >\"$SYS_TELL\"\ndd bs=1 count=1 <\"$SYS_GO\" "
                        ">/dev/null 2>&1\necho made\n");
    run_start(&run, scrun(), "-nodes=2x1,message=quiet", run_in_folder("first"), "=:", "f", "::", "sh", "-c",
              "echo more", ":=:", "f", "::", "cat", ":=", "f", "::", "sh", "-c", "exit 3");
    char folders[2][512];
    for (int i = 0; i < 2; i++)
        snprintf(folders[i], sizeof folders[i], "%s", run_told_by(&run));
    CHECK(strcmp(folders[0], folders[1]) != 0);
    CHECK(access(folders[0], W_OK) == 0 && access(folders[1], W_OK) == 0);
    run_go();
    run_go();
    ends(3);
    CHECK_STR(run.text, "made\nmore\nmade\nmore\n");
    CHECK(access(folders[0], F_OK) != 0 && access(folders[1], F_OK) != 0);
}

TEST(a_link_to_wrapper_is_the_program_of_the_hosts_architecture)
{
    char folder[512], own[1024];
    two_hosts();
    snprintf(folder, sizeof folder, "%s", run_in_folder(architecture()));
    CHECK_INT(mkdir(folder, 0755), 0);
    run_script(".wrapper", "#!/bin/sh\necho wrapper $1\n");
    snprintf(own, sizeof own, "%s/one", architecture());
    run_script(own, "#!/bin/sh\necho own $1\n");
    CHECK_INT(symlink(".wrapper", run_in_folder("one")), 0);
    CHECK_INT(symlink(run_in_folder(".wrapper"), run_in_folder("other")), 0);
    run_start(&run, scrun(), "-nodes=2x1,message=quiet", run_in_folder("one"), "1", "::", "one", "2",
              "::", run_in_folder("other"), "3");
    ends(0);
    CHECK_STR(run.text, "own 1\nown 1\nown 2\nown 2\nwrapper 3\nwrapper 3\n");
}

/* Of two nodes on a host the first has the file. */
TEST(a_whole_path_is_a_file_of_each_host)
{
    two_hosts();
    char file[512], text[64];
    snprintf(file, sizeof file, "%s", run_in_folder("out"));
    run_start(&run, scrun(), "-nodes=1x2,message=quiet", "echo", "one", "=:", file);
    ends(0);
    run_start(&run, scrun(), "-nodes=1x2,message=quiet", "echo", "two", "=::", file);
    ends(0);
    text[run_read_file(file, text, sizeof text - 1)] = '\0';
    CHECK_STR(text, "one\ntwo\n");
    CHECK_STR(run.text, "");
    run_start(&run, scrun(), "-nodes=1x2,message=quiet", "cat", ":=", "/nowhere/f");
    run_ends(&run, 126, "could not open /nowhere/f: No such file or directory");
}

/* A program that has no file there runs all the same. */
TEST(without_a_directory_of_the_job_its_files_are_refused_with_the_reason)
{
    two_hosts();
    const char *const kept = run_folder(), *const none = run_in_folder("none");
    setenv("BCR_TEMPDIR", none, 1);
    run_start(&run, scrun(), "-nodes=2x1,message=quiet", "echo", "x", "=:", "f");
    run_end(&run);
    CHECK(run.status != 0);
    run_check_error(&run, "f is a file of the job's directory, which cannot be made in ");
    run_check_error(&run, "/none: No such file or directory");
    run_start(&run, scrun(), "-nodes=2x1,message=quiet", "sh", "-c", "echo \"${BCR_JOB_DIR-none}\"");
    ends(0);
    CHECK_STR(run.text, "none\nnone\n");
    setenv("BCR_TEMPDIR", kept, 1);
}

/* The daemon opens it, and would wait for its other end. */
TEST(a_named_pipe_holds_up_no_daemon)
{
    two_hosts();
    const char *const path = run_in_folder("pipe");
    CHECK_INT(mkfifo(path, 0600), 0);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "cat", ":=", path);
    ends(0);
    CHECK_STR(run.text, "");
    run_start(&run, scrun(), "-nodes=1,message=quiet", "echo", "x", "=:", path);
    run_ends(&run, 126, "/pipe: No such device or address");
    const int other = open(path, O_RDWR | O_CLOEXEC);
    CHECK(other >= 0);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "sh", "-c", "read line; echo got $line", ":=", path,
              "::", "echo", "more", "=:", path);
    CHECK_INT(write(other, "line\n", 5), 5);
    ends(0);
    CHECK_STR(run.text, "got line\n");
    char text[16] = "";
    CHECK_INT(read(other, text, sizeof text - 1), 5);
    CHECK_STR(text, "more\n");
    close(other);
}

/* 3 MB, to a program that reads at once and to one on another host that never does. */
TEST(standard_input_goes_to_node_0_of_the_first_program)
{
    enum { BYTES = 3000000 };
    two_hosts();
    static char bytes[BYTES];
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)('a' + i % 23);
    run_write_file("in", bytes, BYTES, 0600);
    const int stdin_was = dup(0);
    for (int i = 0; i < 3; i++) {
        const int in = open("in", O_RDONLY | O_CLOEXEC);
        CHECK(in >= 0 && stdin_was >= 0 && dup2(in, 0) == 0);
        if (i == 0)
            run_start(&run, scrun(), "-nodes=2x1,message=quiet", "wc", "-c", "==", "cat");
        else if (i == 1)
            run_start(&run, scrun(), "-message=quiet,nodes=2x1", "true", "::", "wc", "-c");
        else
            run_start(&run, scrun(), "-message=quiet,nodes=1x1", "head", "-c", "3");
        ends(0);
        if (i == 0) /* in whatever order */
            CHECK(run_count_lines(run.text, "3000000\n") == 1 && run_count_lines(run.text, "0\n") == 1);
        else
            CHECK_STR(run.text, i == 1 ? "0\n0\n" : "abc");
        close(in);
    }
    const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(folder >= 0 && dup2(folder, 0) == 0);
    run_start(&run, scrun(), "-message=quiet,nodes=1x1", "wc", "-c");
    run_ends(&run, 0, "enl: the job's input ends here, as it cannot be read: Is a directory\n");
    close(folder);
    dup2(stdin_was, 0);
}

TEST(the_status_is_that_of_node_0_of_the_last_program)
{
    two_hosts();
    run_start(&run, scrun(), "-nodes=2x1", "sh", "-c", "exit 3", "==", "sh", "-c", "exit 5");
    ends(5);
    run_start(&run, scrun(), "-nodes=2x1", "sh", "-c", "exit 3", "::", "true");
    ends(0);
    run_start(&run, scrun(), "-nodes=2x1", "sh", "-c", "kill -SEGV $$", "::", "true");
    run_ends(&run, 128 + SIGSEGV, "(Segmentation fault); that ends the job");
}

TEST(signals_are_passed_and_who_dies_of_one_ends_the_job)
{
    two_hosts();
    run_script("member", "#!/bin/sh\ntrap 'echo winch >\"$SYS_TELL\"' WINCH\necho here $$ >\"$SYS_TELL\"\n"
                         "while :; do sleep 100 & wait $!; kill $! 2>/dev/null; done\n");
    for (int i = 0; i < 2; i++) {
        int gone[4];
        run_start(&run, scrun(), "-nodes=2x2", run_in_folder("member"));
        for (int k = 0; k < 4; k++) {
            const char *line = run_told_by(&run);
            CHECK_INT(strncmp(line, "here ", 5), 0);
            gone[k] = run_watch((pid_t)strtol(line + 5, NULL, 10));
        }
        kill(run.pid, SIGWINCH);
        for (int k = 0; k < 4; k++)
            CHECK_STR(run_told_by(&run), "winch");
        const int last = i == 0 ? SIGINT : SIGTERM;
        kill(run.pid, last);
        ends(128 + last);
        for (int k = 0; k < 4; k++)
            run_gone(gone[k]);
    }
}

TEST(programs_of_bcr_are_teams_with_ranks_from_0)
{
    two_hosts();
    run_start(&run, scrun(), "-nodes=2x2,message=quiet", getenv("SYS_TEAM"), "whole", "==", "sort",
              "::", getenv("SYS_TEAM"), "whole");
    ends(0);
    for (int rank = 0; rank < 4; rank++) {
        char line[64];
        snprintf(line, sizeof line, "%d of 4 on host", rank);
        CHECK_INT(run_count(run.text, line), 2);
    }
}

/* None of them ever calls bcr_init; before the gate opens they are starting. */
TEST(ps_shows_members_that_are_no_cces_as_running_with_their_processes)
{
    static struct run asked;
    char part[96], name[64];
    run_apart();
    two_hosts();
    snprintf(name, sizeof name, "test-%ld-ps", (long)getpid());
    setenv("BCR_NAME", name, 1);
    run_script("member", "#!/bin/sh\necho here $$ >\"$SYS_TELL\"\nexec dd bs=1 count=1 <\"$SYS_GO\" "
                         ">/dev/null 2>&1\n");
    run_start(&run, scrun(), "-nodes=2x1,message=quiet", run_in_folder("member"));
    unsetenv("BCR_NAME");
    pid_t pids[2];
    for (int i = 0; i < 2; i++)
        pids[i] = (pid_t)strtol(run_told_by(&run) + strlen("here "), NULL, 10);
    run_start(&asked, run_enl(), "ps");
    run_end(&asked); /* its status is of all programs of the user */
    snprintf(part, sizeof part, "%-28s has no CCE now", name);
    CHECK(strstr(asked.text, part) == NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(part, sizeof part, " %ld  alive ", (long)pids[i]);
        CHECK_INT(run_count(asked.text, part), 1);
    }
    run_start(&asked, run_enl(), "ps", name);
    run_ends(&asked, 0, "");
    CHECK(strstr(asked.text, "starting") == NULL);
    for (int i = 0; i < 2; i++) {
        snprintf(part, sizeof part, " %ld  ", (long)pids[i]);
        CHECK_INT(run_count(asked.text, part), 1);
    }
    run_start(&asked, run_enl(), "ps", "--json", name);
    run_ends(&asked, 0, "");
    CHECK_INT(run_count(asked.text, "\"state_name\":\"alive\""), 2);
    CHECK(strstr(asked.text, "starting") == NULL);
    run_go();
    run_go();
    ends(0);
}

/* Two processors' seconds of one process, its members, its status; a second job fails; a third one writes nowhere. */
TEST(a_job_is_a_line_in_the_usage_log_and_enl_usage_adds_them_up)
{
    char text[4096];
    two_hosts();
    run_start(&run, scrun(), "-nodes=2x1,stat=all,message=quiet", "sh", "-c",
              "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 3", "::", "true");
    ends(0);
    CHECK_INT(run_count_lines(run.error, "SCORE: process 3 on b: "), 1);
    CHECK_INT(run_count_lines(run.error, "SCORE: 4 processes in "), 1);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "false");
    ends(1);
    setenv("BCR_USAGELOG", "*", 1);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "false");
    ends(1);
    unsetenv("BCR_USAGELOG");
    text[run_read_file(run_in_folder(".local/state/bcr/usage.log"), text, sizeof text - 1)] = '\0';
    CHECK_INT(run_count_lines(text, "{\"job\":\""), 2);
    CHECK_INT(run_count(text, "\"front\":\"scrun\""), 2);
    CHECK_INT(run_count(text, "\"hosts\":2,\"members\":4,\"program\":\"sh\",\"cpu_s\":"), 1);
    CHECK_INT(run_count(text, "\"status\":1}\n"), 1);
    run_start(&run, run_enl(), "usage", "--json");
    ends(0);
    CHECK_INT(run_count(run.text, "\"front\":\"scrun\",\"jobs\":2,\"failed\":1,\"members\":5,\"cpu_s\":"), 1);
    CHECK(strstr(run.text, "\"cpu_s\":0.000") == NULL && strstr(run.text, "\"not_understood\":0}") != NULL);
    run_write_file("other", "{\"user\":\"x\"}\nno line\n", 21, 0600);
    run_start(&run, run_enl(), "usage", "other");
    ends(0);
    CHECK(strstr(run.text, "2 lines are not understood\n") != NULL);
    run_start(&run, run_enl(), "usage", "nowhere");
    run_ends(&run, 2, "enl: nowhere cannot be read: No such file");
    setenv("BCR_USAGELOG", "/dev/full", 1);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "true");
    run_ends(&run, 0, "/dev/full takes no line about this job");
    unsetenv("BCR_USAGELOG");
}

/* One that nobody reads, one that is full, and one from which the line is read afterwards. */
TEST(a_usage_log_that_is_a_named_pipe_holds_up_no_job)
{
    char text[4096] = "";
    two_hosts();
    const char *const path = run_in_folder("usage-pipe");
    CHECK_INT(mkfifo(path, 0600), 0);
    setenv("BCR_USAGELOG", path, 1);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "true");
    run_ends(&run, 0, "/usage-pipe takes no line about this job");
    const int reader = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    CHECK(reader >= 0);
    run_start(&run, scrun(), "-nodes=1,message=quiet", "true");
    run_ends(&run, 0, "");
    CHECK(read(reader, text, sizeof text - 1) > 0 && run_count_lines(text, "{\"job\":\"") == 1);
    while (write(reader, text, sizeof text) > 0)
        ;
    run_start(&run, scrun(), "-nodes=1,message=quiet", "true");
    run_ends(&run, 0, "/usage-pipe takes no line about this job");
    unsetenv("BCR_USAGELOG");
    close(reader);
}
