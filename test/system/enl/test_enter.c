/* SPDX-License-Identifier: MIT */
/* bcr_enter, enl --enter and BCR_ENTER: processes that become CCEs of a running program by themselves. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr/program.h>

#include "bcri/archtype.h"
#include "bcri/channel.h"
#include "bcri/signature.h"
#include "check.h"
#include "run.h"

enum { NOBODY = 65534 };

static struct run run, visitor, other;
static char name[64]; /* of the program, which no other test's has */

static const char *self(void)
{
    return getenv("SYS_ENTER");
}

static void named(void)
{
    snprintf(name, sizeof name, "entered-%ld", (long)getpid());
}

/* A program under that name, which ends when so many who have put something have ended. */
static void serve(const char *count, const char *onfail)
{
    int ordinal;
    pid_t root;
    named();
    run_start(&run, run_enl(), "--name", name, "--onfail", onfail, self(), "serve", count);
    run_told_pid(&ordinal, &root);
}

static void ends_with(struct run *which, int status, const char *text)
{
    run_end(which);
    if (which->status != status || strcmp(which->text, text) != 0)
        FAIL("status %d, text %s; wanted %d, %s; it says: %s", which->status, which->text, status, text,
             which->error);
}

TEST(a_process_that_enters_is_a_cce_without_enlistor)
{
    serve("3", "abort");
    run_start(&visitor, self(), "visit", name, "about", "put");
    ends_with(&visitor, 0, "entered\nanswered\n");
    run_start(&visitor, run_enl(), "--enter", name, self(), "init", "about", "put", "exit", "0");
    ends_with(&visitor, 0, "entered\nanswered\n");
    setenv("BCR_ENTER", name, 1);
    run_start(&visitor, self(), "init", "about", "environment", "put");
    unsetenv("BCR_ENTER");
    ends_with(&visitor, 0, "entered\n- -\nanswered\n");
    ends_with(&run, 0, "gone 1 0\ngone 1 0\ngone 1 0\n");
    CHECK_STR(run.error, "");
}

TEST(each_that_is_there_has_an_ordinal_of_its_own_and_gives_it_back)
{
    int ordinal;
    pid_t pid;
    serve("1", "abort");
    run_start(&visitor, self(), "visit", name, "tell", "wait");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 1);
    CHECK_INT(pid, visitor.pid);
    run_start(&other, self(), "visit", name, "tell", "put");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(ordinal, 2);
    ends_with(&other, 0, "answered\n");
    run_go();
    ends_with(&visitor, 0, "");
    ends_with(&run, 0, "gone 1 0\n");
}

TEST(the_status_of_enl_enter_is_the_commands)
{
    serve("1", "abort");
    run_start(&visitor, run_enl(), "--enter", name, "/bin/sh", "-c", "exit 7");
    ends_with(&visitor, 7, "");
    run_start(&visitor, run_enl(), "--enter", name, self(), "init", "put", "exit", "0");
    ends_with(&visitor, 0, "answered\n");
    run_start(&visitor, run_enl(), "--enter", "no-such-program", self(), "init");
    run_ends(&visitor, 1, "no program of yours has that name; enl ps lists them");
    run_start(&visitor, run_enl(), "--enter", name, "no-such-file");
    run_ends(&visitor, 127, "no-such-file");
    run_start(&visitor, run_enl(), "--enter", name);
    run_ends(&visitor, 2, "which program?");
    run_start(&visitor, run_enl(), "--enter", name, "--join", name, self());
    run_ends(&visitor, 2, "--join and --enter");
    ends_with(&run, 0, "gone 1 0\n");
}

TEST(one_that_fails_harms_no_other)
{
    serve("3", "abort");
    run_start(&visitor, self(), "visit", name, "put", "kill", "9");
    ends_with(&visitor, 128 + SIGKILL, "answered\n");
    run_start(&visitor, self(), "visit", name, "put", "kill", "6");
    ends_with(&visitor, 128 + SIGABRT, "answered\n");
    run_start(&visitor, self(), "visit", name, "put", "exit", "5");
    ends_with(&visitor, 5, "answered\n");
    run_end(&run);
    CHECK_INT(run.status, 0);
    CHECK(strstr(run.text, "gone 0 0\n") != NULL || strstr(run.text, "gone 2 9\n") != NULL);
    CHECK(strstr(run.text, "gone 2 6\n") != NULL && strstr(run.text, "gone 1 5\n") != NULL);
    run_check_error(&run, "the others go on (bcr_isolate)");
}

TEST(the_program_lasts_until_those_who_have_entered_have_ended)
{
    int ordinal;
    pid_t pid;
    serve("1", "abort");
    run_start(&visitor, self(), "visit", name, "tell", "wait");
    run_told_pid(&ordinal, &pid);
    run_start(&other, self(), "visit", name, "put"); /* then the root ends */
    ends_with(&other, 0, "answered\n");
    run_wait_for_text("bcr.", "CCE 0");
    run_start(&other, self(), "visit", name, "about"); /* which a third one can find still */
    run_end(&other);
    CHECK_INT(other.status, 0);
    run_go();
    ends_with(&visitor, 0, "");
    ends_with(&run, 0, "gone 1 0\n");
}

TEST(the_end_of_the_program_ends_those_who_have_entered)
{
    int ordinal;
    pid_t pid;
    serve("1", "abort");
    run_start(&visitor, self(), "visit", name, "tell", "pause");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_end(&visitor);
    CHECK(visitor.status == 128 + SIGTERM || visitor.status == 128 + SIGKILL);
    run_end(&run);
    CHECK_INT(run.status, 128 + SIGTERM);
    /* The same if its enl is killed. */
    serve("1", "abort");
    run_start(&visitor, self(), "visit", name, "tell", "pause");
    run_told_pid(&ordinal, &pid);
    CHECK_INT(kill(run.pid, SIGKILL), 0);
    run_end(&visitor);
    CHECK_INT(visitor.status, 128 + SIGKILL);
    run_end(&run);
}

TEST(a_program_of_another_name_is_none_and_the_process_stays_as_it_was)
{
    static char text[256];
    serve("2", "abort");
    static const char long_name[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                    "xxxxxxxxxxxxxxxxxxxxxxxx";
    snprintf(text, sizeof text,
             "try -1 %d\ntry -1 %d\ntry -1 %d\ntry -1 %d\ntry -1 %d\ntry -1 %d\nentered\nanswered\n",
             bcrE_NOPROG, bcrE_NOPROG, bcrE_ARG, bcrE_ARG, bcrE_ARG, bcrE_ARG);
    run_start(&visitor, self(), "visit", name, "try", "no-such-program", "try", "no-such-program:1", "try",
              "", "try", "a/b", "try", "a:b", "try", long_name, "about", "put");
    ends_with(&visitor, 0, text);
    CHECK_STR(visitor.error, ""); /* the code says it all */
    /* By the variable it is said, since the program did not ask for it. */
    setenv("BCR_ENTER", "no-such-program", 1);
    run_start(&visitor, self(), "init");
    unsetenv("BCR_ENTER");
    run_end(&visitor);
    CHECK_INT(visitor.status, 3);
    run_check_error(&visitor, "no program no-such-program of this user runs on this machine");
    setenv("BCR_ENTER", "a b", 1);
    run_start(&visitor, self(), "init");
    unsetenv("BCR_ENTER");
    run_end(&visitor);
    CHECK_INT(visitor.status, 3);
    run_check_error(&visitor, "BCR_ENTER=a b is no program's name");
    /* It may become a root after all. */
    snprintf(text, sizeof text, "try -1 %d\nroot\n", bcrE_NOPROG);
    run_start(&visitor, self(), "init", "try", "no-such-program", "about");
    ends_with(&visitor, 0, text);
    run_start(&visitor, self(), "visit", name, "thread", "put"); /* threads are no hindrance */
    ends_with(&visitor, 0, "answered\n");
    ends_with(&run, 0, "gone 1 0\ngone 1 0\n");
    snprintf(text, sizeof text, "refused %d\n", bcrE_NOPROG);
    run_start(&visitor, self(), "visit", name, "about"); /* it has ended */
    ends_with(&visitor, 3, text);
}

TEST(what_was_started_as_a_cce_does_not_enter_another_program)
{
    char text[64];
    serve("1", "abort");
    snprintf(text, sizeof text, "refused %d\n", bcrE_BUSY);
    run_start(&other, run_enl(), self(), "visit", name);
    run_end(&other);
    CHECK_STR(other.text, text);
    setenv("BCR_ENTER", name, 1); /* nor by a variable that it has from enl's starter */
    run_start(&other, run_enl(), self(), "init", "about", "environment");
    unsetenv("BCR_ENTER");
    ends_with(&other, 0, "root\n- -\n");
    run_start(&visitor, self(), "visit", name, "put");
    ends_with(&visitor, 0, "answered\n");
    run_end(&run);
}

TEST(a_program_that_has_not_begun_or_is_stopped_takes_no_process)
{
    static const char script[] = "#!/bin/bash\necho 7 7 7 >$SYS_TELL\nread -n 1 byte <$SYS_GO\n";
    char text[64], go[256];
    int ordinal, status;
    pid_t root;
    named();
    snprintf(text, sizeof text, "refused %d\n", bcrE_ENLIST);
    snprintf(go, sizeof go, "%s/script", run_folder());
    run_write_file("script", script, sizeof script - 1, 0700);
    setenv("BCR_STARTSCRIPT", go, 1);
    run_start(&run, run_enl(), "--name", name, self(), "serve", "1");
    unsetenv("BCR_STARTSCRIPT");
    run_told_pid(&ordinal, &root);
    CHECK_INT(ordinal, 7);
    run_start(&visitor, self(), "visit", name);
    ends_with(&visitor, 3, text);
    run_check_error(&visitor, "has not begun yet");
    run_go();
    run_told_pid(&ordinal, &root);
    CHECK_INT(kill(run.pid, SIGSTOP), 0);
    CHECK_INT(waitpid(run.pid, &status, WUNTRACED), run.pid);
    run_start(&visitor, self(), "visit", name);
    ends_with(&visitor, 3, text);
    run_check_error(&visitor, " is stopped: ");
    CHECK_INT(kill(run.pid, SIGCONT), 0);
    run_start(&visitor, self(), "visit", name, "put");
    ends_with(&visitor, 0, "answered\n");
    ends_with(&run, 0, "gone 1 0\n");
}

/* Its root has blocked the signal that ends it. */
TEST(a_program_that_is_ending_takes_no_process)
{
    static const char script[] = "#!/bin/sh\ntrap '' TERM\nexec \"$@\"\n";
    char text[64];
    int ordinal;
    pid_t root;
    named();
    snprintf(text, sizeof text, "refused %d\n", bcrE_ENLIST);
    run_folder();
    run_write_file("stubborn", script, sizeof script - 1, 0700);
    setenv("BCR_KILLAFTER", "1000000", 1);
    run_start(&run, run_enl(), "--name", name, "./stubborn", self(), "lonely");
    run_told_pid(&ordinal, &root);
    CHECK_INT(kill(run.pid, SIGTERM), 0);
    run_wait_for_text("bcr.", "is ended by signal 15");
    run_start(&visitor, self(), "visit", name);
    ends_with(&visitor, 3, text);
    run_check_error(&visitor, "the program is ending");
    run_start(&other, run_enl(), "kill", name);
    run_end(&other);
    CHECK_INT(other.status, 0);
    run_end(&run);
}

TEST(another_user_finds_no_such_program_and_no_other_users_process_stands_for_one)
{
    char line[1024], text[64];
    struct sockaddr_un address;
    if (geteuid() != 0)
        SKIP("only root can be another user");
    serve("1", "abort");
    snprintf(line, sizeof line, "exec %s visit %s", self(), name);
    run_start(&visitor, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", line);
    run_end(&visitor);
    if (visitor.status == 126)
        SKIP("other users cannot reach this build");
    snprintf(text, sizeof text, "refused %d\n", bcrE_NOPROG);
    CHECK_STR(visitor.text, text);
    CHECK_INT(visitor.status, 3);
    /* One that has bound the address of a program of this user gets no byte. */
    const pid_t squatter = fork();
    CHECK(squatter >= 0);
    if (squatter == 0) {
        char told[] = "1 1 1\n", byte;
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), tell = open(getenv("SYS_TELL"), O_WRONLY);
        const socklen_t length = bcri_channel_address(&address, 0, "squatted");
        if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0 ||
            bind(fd, (struct sockaddr *)&address, length) != 0 || listen(fd, 1) != 0 ||
            write(tell, told, 6) != 6)
            _exit(2);
        const int client = accept(fd, NULL, NULL);
        _exit(client >= 0 && read(client, &byte, 1) == 0 ? 0 : 1);
    }
    int ordinal, status;
    pid_t pid;
    run_told_pid(&ordinal, &pid);
    run_start(&visitor, self(), "visit", "squatted");
    ends_with(&visitor, 3, text);
    run_check_error(&visitor, "a process of another user has taken that name");
    CHECK_INT(waitpid(squatter, &status, 0), squatter);
    CHECK_INT(status, 0);
    run_start(&visitor, self(), "visit", name, "put");
    ends_with(&visitor, 0, "answered\n");
    run_end(&run);
}

/* The daemon of host local1 is one of the program's on this machine, too. The server has had a CCE there before it tells. */
TEST(a_process_enters_at_another_host_of_the_program_and_is_counted_there)
{
    char there[80], want[80];
    int ordinal;
    pid_t pid;
    named();
    snprintf(there, sizeof there, "%s:1", name);
    run_start(&run, run_enl(), "--name", name, "--local", "1", self(), "serve", "1", "local1");
    run_told_pid(&ordinal, &pid);
    run_start(&visitor, self(), "visit", there, "tell", "wait");
    run_told_pid(&ordinal, &pid);
    run_start(&other, run_enl(), "--enter", there, self(), "init", "about", "put");
    ends_with(&other, 0, "entered\nanswered\n"); /* the root ends, and its host has no CCE */
    snprintf(want, sizeof want, "bcr.%s.log", name);
    run_wait_for_text(want, "exited with status 0");
    run_start(&other, self(), "visit", there, "about");
    run_end(&other);
    CHECK_INT(other.status, 0);
    run_go();
    ends_with(&visitor, 0, "");
    ends_with(&run, 0, "gone 1 0\n");
    CHECK_STR(run.error, "");
}

/* A name is an invitation: without one nothing could end the wait. */
TEST(a_program_that_waits_for_those_who_enter_is_in_no_deadlock)
{
    static struct run control;
    int ordinal;
    pid_t root;
    run_folder();
    setenv("BCR_ONDEADLOCK", "hup", 1);
    serve("1", "abort");
    run_start(&control, run_enl(), self(), "lonely");
    run_told_pid(&ordinal, &root);
    run_end(&control); /* by its deadlock, which is found later than the other's would have been */
    run_check_error(&control, "deadlock");
    run_start(&visitor, self(), "visit", name, "put");
    ends_with(&visitor, 0, "answered\n");
    ends_with(&run, 0, "gone 1 0\n");
    CHECK_STR(run.error, "");
}

/* ---- processes that do not keep to it ---- */

static struct bcri_control hello(void)
{
    return (struct bcri_control){.type = BCRI_MSG_enter,
                                 .present = BCRI_HAS(id) | BCRI_HAS(layout) | BCRI_HAS(archtype) |
                                            BCRI_HAS(flags) | BCRI_HAS(ccename),
                                 .id = 7,
                                 .layout = bcri_layout_signature(),
                                 .archtype = (uint32_t)bcri_archtype_native(),
                                 .ccename = bcri_view_of("odd")};
}

/* Connects, and says that, with one end of a pair; returns the other. */
static int say(const struct bcri_control *message)
{
    int pair[2], fd = bcri_channel_connect(name, 10000);
    CHECK(fd >= 0);
    CHECK_INT(bcri_channel_pair(pair), 0);
    CHECK_INT(bcri_channel_send(fd, message, &pair[0], 1, true), 0);
    close(pair[0]);
    close(fd);
    return pair[1];
}

TEST(those_of_other_builds_and_architectures_are_told_why_they_are_not_taken)
{
    static struct bcri_incoming in;
    serve("1", "abort");
    for (int i = 0; i < 2; i++) {
        struct bcri_control message = hello();
        message.layout += i == 0;
        message.archtype += i == 1;
        const int fd = say(&message);
        CHECK_INT(bcri_channel_recv(fd, &in, true), 1);
        CHECK_INT(in.message.type, BCRI_MSG_reply);
        CHECK_UINT(in.message.id, 7);
        CHECK_UINT(in.message.status, bcrE_ENLIST);
        CHECK_INT(bcri_channel_recv(fd, &in, true), 0);
        close(fd);
    }
    run_start(&visitor, self(), "visit", name, "about", "put"); /* no ordinal was used up */
    ends_with(&visitor, 0, "entered\nanswered\n");
    ends_with(&run, 0, "gone 1 0\n");
}

/* They end when enl is stopped, and it reads that they enter when they are gone; or when they are CCEs, without having
 * heard of it. */
TEST(those_who_end_while_they_enter_leave_nothing)
{
    static struct bcri_incoming in;
    int status;
    serve("1", "abort");
    for (int round = 0; round < 8; round++) {
        CHECK_INT(kill(run.pid, SIGSTOP), 0);
        CHECK_INT(waitpid(run.pid, &status, WUNTRACED), run.pid);
        const pid_t odd = fork();
        CHECK(odd >= 0);
        if (odd == 0) {
            const struct bcri_control message = hello();
            const int fd = say(&message);
            if (round % 2 == 0)
                _exit(0);
            raise(SIGSTOP); /* until enl goes on */
            if (round % 4 == 1)
                (void)bcri_channel_recv(fd, &in, true);
            _exit(0);
        }
        if (round % 2 == 0)
            CHECK_INT(waitpid(odd, &status, 0), odd);
        else
            CHECK_INT(waitpid(odd, &status, WUNTRACED), odd);
        CHECK_INT(kill(run.pid, SIGCONT), 0);
        if (round % 2 != 0) {
            CHECK_INT(kill(odd, SIGCONT), 0);
            CHECK_INT(waitpid(odd, &status, 0), odd);
        }
    }
    run_start(&visitor, self(), "visit", name, "put");
    ends_with(&visitor, 0, "answered\n");
    run_start(&other, run_enl(), "audit", name);
    run_end(&other);
    run_end(&run);
    CHECK_INT(run.status, 0);
}
