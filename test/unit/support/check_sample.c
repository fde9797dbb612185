/* SPDX-License-Identifier: MIT */
/* Tests that fail in every way there is; test_check.c looks at what the framework makes of them. */
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(passes)
{
    CHECK(1 + 1 == 2);
    CHECK_INT(-3, -3);
    CHECK_UINT(UINT64_MAX, UINT64_MAX);
    CHECK_STR("same", "same");
    CHECK_STR(NULL, NULL);
    CHECK_MEM("\1\2", "\1\2", 2);
}

TEST(fails_a_check)
{
    int answer = 41;
    CHECK_INT(answer, 42);
    puts("not reached");
}

TEST(fails_a_condition)
{
    CHECK(2 < 1);
}

TEST(fails_a_string)
{
    CHECK_STR("left", "right");
}

TEST(fails_in_memory)
{
    CHECK_MEM("abc", "abd", 3);
}

TEST(fails_in_a_process_that_nobody_joins)
{
    pid_t child = fork();
    if (child == 0)
        FAIL("the grandchild says %d", 7);
    siginfo_t ended;
    CHECK_INT(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
}

TEST(joins_a_process_that_ends_otherwise)
{
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    test_join(child, 0);
}

TEST(leaves_files)
{
    char path[64];
    printf("folder %s\n", test_folder());
    snprintf(path, sizeof path, "%s/folder", test_folder());
    CHECK_INT(mkdir(path, 0700), 0);
    strcat(path, "/file");
    CHECK_INT(close(creat(path, 0600)), 0);
    fflush(stdout);
    kill(getpid(), SIGKILL);
}

TEST(crashes)
{
    raise(SIGSEGV);
}

TEST(exits_with_a_status)
{
    exit(9);
}

TEST(is_skipped)
{
    SKIP("there is no moon today");
}

/* Leaves a process behind that has a session of its own, whose id it prints. */
static void leave_a_daemon(void)
{
    int ready[2];
    CHECK_INT(pipe(ready), 0);
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            printf("daemon %d\n", (int)getpid());
            fflush(stdout);
            close(ready[0]);
            close(ready[1]);
            for (;;)
                pause();
        }
        _exit(0);
    }
    close(ready[1]);
    char byte;
    CHECK_INT(read(ready[0], &byte, 1), 0);
}

TEST(leaves_a_daemon)
{
    leave_a_daemon();
}

TEST_TIMEOUT(hangs, 1)
{
    leave_a_daemon();
    for (;;)
        pause();
}

TEST(uses_the_seed)
{
    uint64_t state = test_seed();
    printf("first %llu\n", (unsigned long long)test_rand(&state));
}

TEST(says_whether_it_is_instrumented)
{
    printf("instrumented: %s\n", test_is_instrumented() ? "yes" : "no");
}
