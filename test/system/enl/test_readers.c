/* SPDX-License-Identifier: MIT */
/* Readers of enl's stdout and stderr that take their time, or for ever: a pager, a stopped
 * terminal, a full disk's pipe. Nothing else may wait for them. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

/* Each makes one message of about 140 bytes: three times what a pipe and a sink hold. */
enum { MESSAGES = 9000 };

static struct run run, command;
static char text[8 << 20];

/* Everything that comes from `fd`, to the end. */
static void read_all(int fd)
{
    size_t length = 0;
    ssize_t got;
    while ((got = read(fd, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(fd);
}

static int wait_for(pid_t pid)
{
    int status;
    CHECK_INT(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The program is there, and has said more than anybody has room for. */
static void report_too_much(const char *then)
{
    char number[16];
    int ordinal;
    pid_t root;
    snprintf(number, sizeof number, "%d", MESSAGES);
    run_start(&run, run_enl(), run_cce(), "hopeless", number, "tell", then);
    run_told_pid(&ordinal, &root); /* each of its requests was answered */
}

TEST(a_signal_ends_a_program_whose_stderr_nobody_reads)
{
    report_too_much("pause");
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    CHECK_INT(wait_for(run.pid), 128 + SIGTERM);
}

TEST(enl_kill_ends_a_program_whose_stderr_nobody_reads)
{
    report_too_much("pause");
    run_start(&command, run_enl(), "kill", run_program());
    run_end(&command);
    CHECK_INT(command.status, 0);
    CHECK_INT(wait_for(run.pid), 128 + SIGKILL);
}

TEST(a_program_ends_by_itself_though_nobody_reads_its_stderr)
{
    report_too_much("out");
    CHECK_INT(wait_for(run.pid), 0);
}

TEST(a_death_is_noticed_though_nobody_reads_stderr)
{
    int ordinal;
    pid_t other;
    char number[16];
    snprintf(number, sizeof number, "%d", MESSAGES);
    run_folder();
    setenv("SYS_CHILD", "tell wait kill 9", 1);
    run_start(&run, run_enl(), run_cce(), "hopeless", number, "enlist", run_cce(), "1", "pause");
    for (ordinal = 0; ordinal != 1;)
        if (sscanf(run_told(), "%d %d", &ordinal, &other) != 2)
            ordinal = 0;
    run_go();
    CHECK_INT(wait_for(run.pid), 128 + SIGKILL); /* onfail abort */
}

TEST(messages_that_nobody_read_in_time_are_counted_and_in_the_log)
{
    int dropped = 0;
    report_too_much("wait");
    run_go(); /* it ends, and its enl has a second for what is still to be read */
    read_all(run.err);
    CHECK_INT(wait_for(run.pid), 0);
    int shown = run_count(text, "was not started: there is no program");
    const char *note = strstr(text, " messages are not shown here");
    CHECK(note != NULL && strstr(note, "; they are in the log\n") != NULL);
    while (note[-1] != ' ')
        note--;
    CHECK_INT(sscanf(note, "%d messages", &dropped), 1);
    CHECK(dropped > 0 && shown > 0);
    CHECK_INT(shown + dropped, MESSAGES);
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK_INT(run_count(text, "was not started: there is no program"), MESSAGES);
}

TEST(messages_that_the_log_does_not_take_are_not_said_to_be_in_it)
{
    setenv("BCR_LOGLEVEL", "error", 1);
    report_too_much("wait");
    run_go();
    read_all(run.err);
    CHECK_INT(wait_for(run.pid), 0);
    CHECK(strstr(text, " messages are not shown here") != NULL);
    CHECK(strstr(text, "in the log") == NULL);
}

TEST(what_cces_print_waits_for_its_reader_after_the_programs_end)
{
    int ordinal;
    pid_t root;
    run_folder();
    setenv("SYS_CHILD", "flood 50000", 1);
    run_start(&run, run_enl(), "--output", run_cce(), "enlist", run_cce(), "1", "tell", "wait");
    while (sscanf(run_told(), "%d %d", &ordinal, &root) != 2)
        ;
    int watch = run_watch(root);
    run_go();
    run_gone(watch);
    read_all(run.out);
    CHECK_INT(wait_for(run.pid), 0);
    CHECK_INT(run_count(text, "[1] line "), 50000);
}

TEST(lines_of_cces_that_cannot_be_written_are_said_and_a_status)
{
    char line[1024];
    run_folder();
    setenv("SYS_CHILD", "out hello", 1);
    snprintf(line, sizeof line, "exec %s --output %s enlist %s 1 >/dev/full", run_enl(), run_cce(),
             run_cce());
    run_start(&run, "/bin/sh", "-c", line);
    run_ends(&run, 1, "what CCEs print can no longer be shown (No space left on device)");
    run_check_error(&run, "(No space left on device); the log has it\n");
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(strstr(text, "/1 [1] hello\n") != NULL);
    setenv("BCR_LOGLEVEL", "error", 1);
    run_start(&run, "/bin/sh", "-c", line);
    run_ends(&run, 1, "what CCEs print can no longer be shown (No space left on device)\n");
}

TEST(what_cces_print_when_the_reader_has_gone_is_in_the_log)
{
    int pair[2];
    run_folder();
    setenv("SYS_CHILD", "out hello part there", 1);
    CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
    close(pair[0]);
    pid_t enl = fork();
    CHECK(enl >= 0);
    if (enl == 0) {
        dup2(pair[1], 1);
        execl(run_enl(), "enl", run_cce(), "enlist", run_cce(), "1", (char *)NULL);
        _exit(126);
    }
    close(pair[1]);
    CHECK_INT(wait_for(enl), 0);
    run_read_file(run_file("bcr.", ".log"), text, sizeof text);
    CHECK(strstr(text, "/1 hello\n") != NULL && strstr(text, "/1 there\n") != NULL);
}

TEST(a_signal_ends_the_wait_for_a_reader_of_what_cces_print)
{
    static const char script[] = "#!/bin/sh\necho ended > $SYS_TELL\n";
    run_write_file("script", script, sizeof script - 1, 0700);
    setenv("BCR_ENDSCRIPT", "./script", 1);
    setenv("SYS_CHILD", "flood 20000", 1); /* more than a pipe holds, less than pipe and sink */
    run_start(&run, run_enl(), "--output", run_cce(), "enlist", run_cce(), "1");
    while (strcmp(run_told(), "ended") != 0)
        ;
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    CHECK_INT(wait_for(run.pid), 0);
}

TEST(a_stdout_that_nobody_reads_holds_up_no_message_on_stderr)
{
    char head[256];
    run_folder();
    setenv("SYS_CHILD", "flood 200000", 1);
    run_start(&run, run_enl(), "--output", run_cce(), "enlist", run_cce(), "1", "hopeless", "1", "pause");
    for (bool seen = false; !seen;) { /* the only one who writes there */
        ssize_t got = read(run.err, head, sizeof head - 1);
        CHECK(got > 0);
        head[got] = '\0';
        seen = strstr(head, "there is no program") != NULL;
    }
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    CHECK_INT(wait_for(run.pid), 128 + SIGTERM);
}

TEST(a_stdout_that_was_made_nonblocking_loses_nothing)
{
    int pair[2];
    run_folder();
    setenv("SYS_CHILD", "flood 50000", 1);
    CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
    CHECK_INT(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    pid_t enl = fork();
    CHECK(enl >= 0);
    if (enl == 0) {
        dup2(pair[1], 1);
        execl(run_enl(), "enl", "--output", run_cce(), "enlist", run_cce(), "1", (char *)NULL);
        _exit(126);
    }
    close(pair[1]);
    read_all(pair[0]);
    CHECK_INT(wait_for(enl), 0);
    CHECK_INT(run_count(text, "[1] line "), 50000);
}
