/* SPDX-License-Identifier: MIT */
/* Starts that cannot work: each ends, with a status and a sentence that says what to do. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bcr.h>

#include "check.h"
#include "run.h"

static struct run run;

/* The test itself needs more than that. */
/* Without the descriptors that whoever runs the tests has left open. */
static void run_limited(const char *limits, const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; %s; exec %s", limits, command);
    run_start(&run, "/bin/sh", "-c", line);
}

static void refused_as_not_of_bcr_init(const char *socket_option, const char *pid_option)
{
    run_start(&run, run_enl(), socket_option, pid_option, "--", "x");
    run_ends(&run, 2, "run a program by: enl PROGRAM");
}

TEST(the_options_of_bcr_init_are_nobody_elses)
{
    char socket_option[64], pid_option[64];
    int pair[2];
    refused_as_not_of_bcr_init("--root-socket=99", "--root-pid=1"); /* not open */
    refused_as_not_of_bcr_init("--root-socket=0", "--root-pid=1");  /* no socket */

    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0); /* the right kind, and another process's */
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        for (;;)
            pause();
    snprintf(socket_option, sizeof socket_option, "--root-socket=%d", pair[0]);
    snprintf(pid_option, sizeof pid_option, "--root-pid=%d", (int)child);
    refused_as_not_of_bcr_init(socket_option, pid_option);
    CHECK_INT(kill(child, SIGKILL), 0);
}

TEST(the_root_that_bcr_init_names_must_be_a_child_of_the_daemon)
{
    char socket_option[64];
    int pair[2];
    run_folder();
    CHECK_INT(pipe2(pair, O_CLOEXEC), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) { /* its own socket, as it must be, but a stranger's pid */
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) != 0)
            _exit(99);
        snprintf(socket_option, sizeof socket_option, "--root-socket=%d", fds[0]);
        dup2(pair[1], 2);
        execl(run_enl(), "enl", socket_option, "--root-pid=1", "--", "x", (char *)NULL);
        _exit(98);
    }
    close(pair[1]);
    test_join(child, 2);
}

TEST(enlistpath_that_names_a_bcr_program_is_said)
{
    run_folder();
    setenv("BCR_ENLISTPATH", run_cce(), 1);
    run_start(&run, run_cce());
    run_ends(&run, 127, "is not an enl that this program can run under");
}

TEST(enlistpath_that_names_a_script_which_runs_a_bcr_program_is_said)
{
    char script[512];
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", run_cce());
    run_write_file("not-enl", script, strlen(script), 0700);
    setenv("BCR_ENLISTPATH", "./not-enl", 1);
    run_start(&run, run_cce());
    run_ends(&run, 127, "was started as enl, but it is (or runs) this BCR program");
}

TEST(enlistpath_that_names_another_program_is_said)
{
    run_folder();
    setenv("BCR_ENLISTPATH", "/bin/true", 1);
    run_start(&run, run_cce());
    run_end(&run);
    CHECK_STR(run.text, ""); /* the program does not go on */
    CHECK_INT(run.status, 127);
    run_check_error(&run, "/bin/true is not an enl that this program can run under");
}

/* The program with a script in enl's place, in which %s is enl. Ends it. */
static void with_script(const char *text)
{
    char script[512];
    snprintf(script, sizeof script, text, run_enl());
    run_write_file("some-enl", script, strlen(script), 0700);
    setenv("BCR_ENLISTPATH", "./some-enl", 1);
    run_start(&run, run_cce());
    run_end(&run);
}

TEST(enlistpath_may_name_a_script_that_becomes_enl)
{
    with_script("#!/bin/sh\necho loading\necho warming up >&2\nexec %s \"$@\"\n");
    CHECK_STR(run.text, "loading\n"); /* once, though it was asked before */
    CHECK_STR(run.error, "warming up\n");
    CHECK_INT(run.status, 0);
}

TEST(a_program_that_ignores_its_childrens_ends_may_have_such_a_script)
{
    char script[512];
    snprintf(script, sizeof script, "#!/bin/sh\nexec %s \"$@\"\n", run_enl());
    run_write_file("some-enl", script, strlen(script), 0700);
    setenv("BCR_ENLISTPATH", "./some-enl", 1);
    run_start(&run, "sh", "-c", "trap '' CHLD; exec \"$0\"", run_cce());
    run_ends(&run, 0, "");
}

TEST(a_script_in_enls_place_that_runs_nothing_is_an_error_whatever_its_status)
{
    static const struct {
        const char *text, *said;
    } scripts[] = {
        {"#!/bin/sh\nexit 0\n", "./some-enl does not become enl: run with --version, it ended with status 0; "
                                "a script in its place must end by: exec enl \"$@\""},
        {"#!/bin/sh\necho no licence left. >&2\nexit 3\n", "it ended with status 3: no licence left; a"},
        {"#!/bin/sh\nkill -9 $$\n", "it was killed by signal 9; a script"},
        {"#!/bin/sh\nsleep 1000 &\nexit 0\n", "it ended with status 0; a script"}, /* and has its output */
        {"#!/bin/sh\n[ \"$1\" = --version ] && exec %s --version\nexit 0\n",
         "it ended with status 0; a script"},
        {"#!/bin/sh\nexec %s\n", "it ended with status 2: enl: which program?"},
        {"#!/there/is/none\n", "./some-enl "}, /* cannot be run; an emulator takes that for its end */
        {"exit 0\n", "./some-enl "},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        with_script(scripts[i].text);
        run_check_error(&run, scripts[i].said);
        CHECK_STR(run.text, "");
        CHECK_INT(run.status, 127);
    }
}

/* The script goes on when the sentence is there. */
TEST_TIMEOUT(a_script_in_enls_place_that_does_not_answer_is_named_meanwhile, 60)
{
    char script[512];
    snprintf(
        script, sizeof script,
        "#!/bin/sh\nuntil grep -q 'waits for .*/waiting-enl, which is to become enl' said; do sleep 0.1; "
        "done\n"
        "exec %s \"$@\"\n",
        run_enl());
    run_write_file("waiting-enl", script, strlen(script), 0700);
    setenv("BCR_ENLISTPATH", "./waiting-enl", 1);
    run_start(&run, "/bin/sh", "-c", "exec \"$0\" 2>said", run_cce());
    run_ends(&run, 0, "");
}

TEST(a_script_that_starts_enl_beside_itself_is_an_error_whatever_its_status)
{
    with_script("#!/bin/sh\n%s \"$@\"\nexit 0\n");
    run_check_error(&run, "./some-enl does not become enl, but starts it as another process; a script");
    CHECK_INT(run.status, 127);
}

TEST(too_few_open_files_are_said_with_how_many_are_needed)
{
    char command[512];
    snprintf(command, sizeof command, "%s %s", run_enl(), run_cce());
    run_limited("ulimit -n 8", command);
    run_end(&run);
    CHECK_INT(run.status, 1);
    run_check_error(&run, "enl needs 32 open files, and about 10 more for each CCE; the limit here is 8");
    run_limited("ulimit -n 8", run_cce());
    run_ends(&run, 1, "enl needs 32 open files");
}

TEST(a_limit_of_file_sizes_that_shared_memory_meets_is_named)
{
    char command[512];
    snprintf(command, sizeof command, "%s %s", run_enl(), run_cce());
    run_limited("ulimit -f 0", command);
    run_ends(&run, 1, "raise ulimit -f");
}

/* Up to where it suffices, whatever it is that finds no room. */
TEST_TIMEOUT(a_limit_of_address_space_is_not_taken_for_one_of_processes, 60)
{
    char limit[64], command[512];
    unsigned refused = 0;
    if (test_is_instrumented())
        SKIP("a sanitizer needs more address space than any limit leaves");
    snprintf(command, sizeof command, "%s %s", run_enl(), run_cce());
    for (unsigned kib = 20000; kib <= 64000; kib += 2000) {
        snprintf(limit, sizeof limit, "ulimit -c 0; ulimit -v %u", kib);
        run_limited(limit, command);
        run_end(&run);
        if (strstr(run.error, "enl: cannot start") == NULL)
            continue; /* the loader found none, or all was well */
        refused++;
        run_check_error(&run, "raise ulimit -v");
        CHECK(strstr(run.error, "ulimit -u") == NULL);
    }
    CHECK(refused != 0);
}

/* Nobody is told to raise a limit, or that memory is short, where a filter forbids a call. */
TEST(a_system_call_that_is_forbidden_is_named_with_what_the_system_says)
{
    static const struct {
        const char *call, *part;
    } cases[] = {
        {"memfd_create", "the program's host segment cannot be made: memfd_create: Operation not permitted"},
        {"fallocate", "the program's host segment cannot be made: fallocate: Operation not permitted"},
        {"epoll", "no event loop (epoll_create1, eventfd, pipe2): Operation not permitted"},
        {"eventfd", "Operation not permitted"},
        {"thread", "cannot start: pthread_create: Operation not permitted"},
        {"prlimit", "the limit of open files is not known: getrlimit: Operation not permitted"},
        {"getrandom", "the program's host segment cannot be made: getrandom: Operation not permitted"},
        {"pipe", "no event loop (epoll_create1, eventfd, pipe2): Operation not permitted"},
        {"signalfd", "cannot start: signalfd: Operation not permitted"},
#ifndef SYS_socketcall /* where there is one call for all that, the C library may use it */
        {"socket", ": socket: Operation not permitted"},
        {"bind", ": bind: Operation not permitted"},
        {"listen", "cannot start: listen: Operation not permitted"},
#endif
    };
    if (test_is_instrumented())
        SKIP("a sanitizer makes such calls itself");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_folder();
        run_start(&run, getenv("SYS_FORBID"), cases[i].call, run_enl(), run_cce());
        run_end(&run);
        if (run.status == 77)
            SKIP("system calls cannot be filtered here");
        CHECK_INT(run.status, 1);
        run_check_error(&run, cases[i].part);
        CHECK_PTR(strstr(run.error, "ulimit"), NULL);
        CHECK_PTR(strstr(run.error, "no memory"), NULL);
    }
}

static void with_forbidden(const char *call, const char *program, const char *object)
{
    run_folder();
    run_start(&run, getenv("SYS_FORBID"), call, program, object);
    run_end(&run);
    if (run.status == 77 && strstr(run.error, "bcr") == NULL && strstr(run.error, "enl") == NULL)
        SKIP("system calls cannot be filtered here");
}

TEST(what_the_root_needs_is_named_with_what_the_system_says)
{
    if (test_is_instrumented())
        SKIP("a sanitizer makes such calls itself");
    with_forbidden("fork", run_enl(), run_cce());
    run_check_error(&run, "could not be forked: Operation not permitted\n");
    with_forbidden("fork-full", run_enl(), run_cce());
    run_check_error(&run,
                    "could not be forked: Resource temporarily unavailable; there may be no more processes "
                    "here: raise ulimit -u, or pids.max of the control group\n");
#ifndef SYS_socketcall
    with_forbidden("socketpair", run_enl(), run_cce());
    run_check_error(&run, "no socket for it: socketpair: Operation not permitted\n");
    with_forbidden("socketpair", run_cce(), NULL);
    run_check_error(&run, "socketpair: Operation not permitted\n");
    with_forbidden("getsockopt", run_enl(), run_cce());
    run_check_error(&run, "cannot ask of which user enl is: getsockopt: Operation not permitted\n");
    CHECK_PTR(strstr(run.error, "is not of user"), NULL);
    with_forbidden("getsockopt", run_cce(), NULL);
    run_check_error(&run, "cannot see who has started it: getsockopt: Operation not permitted\n");
    with_forbidden("setsockopt", run_enl(), run_cce());
    run_check_error(&run, ": setsockopt: Operation not permitted\n");
    with_forbidden("setsockopt", run_cce(), NULL);
    run_check_error(&run, "no socket for enl: setsockopt: Operation not permitted\n");
    with_forbidden("recvmsg", run_enl(), run_cce());
    run_check_error(&run, "cannot hear enl: recvmsg: Operation not permitted\n");
    with_forbidden("sendmsg", run_enl(), run_cce());
    run_check_error(&run, "cannot tell enl: sendmsg: Operation not permitted\n");
#endif
}

/* Before the process that becomes enl is one, which then is not told of that end any more. */
TEST(a_root_that_ends_at_once_ends_the_program)
{
    if (test_is_instrumented())
        SKIP("a sanitizer makes such calls itself");
#ifndef SYS_socketcall
    with_forbidden("sendmsg", run_cce(), NULL);
    CHECK_INT(run.status, 127);
    run_check_error(&run, "cannot tell enl: sendmsg: Operation not permitted\n");
    with_forbidden("recvmsg", run_cce(), NULL);
    CHECK_INT(run.status, 127);
    run_check_error(&run, "cannot hear enl: recvmsg: Operation not permitted\n");
#endif
}

/* A CCE that may not use a call itself: the code is one for many causes, the log has this one. */
TEST(what_a_cce_is_refused_is_in_the_log)
{
    if (test_is_instrumented())
        SKIP("a sanitizer makes such calls itself");
    run_folder();
    run_start(&run, run_enl(), getenv("SYS_FORBID"), "fallocate", run_cce(), "grow", "1000000");
    run_end(&run);
    if (run.status == 77)
        SKIP("system calls cannot be filtered here");
    CHECK_INT(run.status, 0);
    run_wait_for_text("bcr.", "bcr_cagrow got no memory: fallocate: Operation not permitted");
}

TEST(a_missing_dev_null_is_named)
{
    char line[1024];
    if (geteuid() != 0)
        SKIP("another /dev is for root");
    run_folder();
    snprintf(line, sizeof line, "mount -t tmpfs none /dev && exec %s %s", run_enl(), run_cce());
    run_start(&run, "/usr/bin/unshare", "-m", "/bin/sh", "-c", line);
    run_end(&run);
    if (strstr(run.error, "unshare:") != NULL || strstr(run.error, "mount:") != NULL)
        SKIP("no mount namespace can be made here");
    CHECK_INT(run.status, 1);
    run_check_error(
        &run, "enl: /dev/null, which stands for what a CCE does not have, cannot be opened: No such file");
    snprintf(line, sizeof line, "mount -t tmpfs none /dev && BCR_ENLISTPATH=%s exec %s", run_enl(),
             run_cce());
    run_start(&run, "/usr/bin/unshare", "-m", "/bin/sh", "-c", line);
    run_end(&run);
    run_check_error(&run, "dev/null");
    CHECK_PTR(strstr(run.error, "is not there"), NULL);
}

TEST(the_least_number_of_open_files_suffices_for_a_root)
{
    char command[512];
    snprintf(command, sizeof command, "%s %s", run_enl(), run_cce());
    run_limited("ulimit -Hn 32; ulimit -Sn 8", command); /* the soft limit is what the root has */
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_limited("ulimit -Hn 32; ulimit -Sn 8", run_cce());
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(cces_for_whom_enl_has_no_descriptors_are_said_and_the_others_live)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s enlist %s 20 exit 3", run_enl(), run_cce(), run_cce());
    run_folder();
    setenv("SYS_CHILD", "pause", 1);
    run_limited("ulimit -n 64", command);
    CHECK_STR(run_told(), "enlist 0 0");
    run_ends(&run, 3, "raise the limit of open files (ulimit -n)");
}

TEST(hundreds_of_cces_for_whom_there_is_no_room_harm_nobody)
{
    char command[1024];
    snprintf(command, sizeof command, "%s %s enlist %s 1000 exit 3", run_enl(), run_cce(), run_cce());
    run_folder();
    setenv("SYS_CHILD", "pause", 1);
    run_limited("ulimit -n 64", command);
    CHECK_STR(run_told(), "enlist 0 0");
    run_end(&run);
    CHECK_INT(run.status, 3);
}

TEST(a_library_that_is_missing_is_not_taken_for_a_program_that_is_no_cce)
{
    static char bytes[4 << 20];
    size_t length = run_read_file(run_plain(), bytes, sizeof bytes);
    char *name = memmem(bytes, length, "libc.so.6", 9);
    CHECK(name != NULL);
    memcpy(name, "libX.so.6", 9);
    run_write_file("unloadable", bytes, length, 0700);
    run_start(&run, run_enl(), "./unloadable");
    run_ends(&run, 127, "libX.so.6");
    run_check_error(&run, "something was not found");
    run_check_error(&run, "ldd");
    /* Of one that is enlisted, what the loader said is shown. */
    run_start(&run, run_enl(), run_cce(), "enlist", "./unloadable", "1", "cell0");
    run_end(&run);
    run_check_error(&run, "something was not found");
    run_check_error(&run, "[1] ./unloadable: error while loading shared libraries: libX.so.6");
}

TEST(a_socket_lost_on_the_way_is_told_from_a_program_that_is_no_cce)
{
    char command[512];
    snprintf(command, sizeof command, "unset BCRI_SOCKET; exec %s out alone", run_cce());
    run_start(&run, run_enl(), "/bin/sh", "-c", command);
    run_end(&run);
    CHECK_STR(run.text, "alone\n"); /* it was a program of its own */
    CHECK_INT(run.status, 1);
    run_check_error(&run, "it became an enl of its own");
    run_check_error(&run, "BCRI_SOCKET");
}
