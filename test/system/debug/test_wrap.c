/* SPDX-License-Identifier: MIT */
/* enl --wrap: each program that enl starts, of this host and of others, has the command before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

/* A wrapper that writes its words into the fifo, and then runs them. */
static void make_wrapper(void)
{
    static const char script[] = "#!/bin/sh\necho \"under $1\" > \"$SYS_TELL\"\nshift\nexec \"$@\"\n";
    run_folder();
    run_write_file("own-wrapper", script, sizeof script - 1, 0700);
}

/* Of the lines told, one must be each of those given. */
static void told_in_any_order(const char *const *lines, int count)
{
    bool seen[8] = {false};
    for (int i = 0; i < count; i++) {
        const char *line = run_told_by(&run);
        int at = 0;
        while (at < count && (seen[at] || strcmp(line, lines[at]) != 0))
            at++;
        if (at == count)
            FAIL("told \"%s\", which is not expected", line);
        seen[at] = true;
    }
}

TEST(the_root_and_others_run_under_the_wrapper)
{
    make_wrapper();
    setenv("SYS_CHILD", "exit 0", 1);
    run_start(&run, run_enl(), "--wrap", "./own-wrapper 'two words'", run_cce(), "enlist", run_cce(), "2");
    told_in_any_order((const char *[]){"under two words", "under two words", "under two words", "enlist 0 0"},
                      4);
    run_ends(&run, 0, "");
}

TEST(those_of_other_hosts_do_too)
{
    make_wrapper();
    setenv("SYS_CHILD", "exit 0", 1);
    run_start(&run, run_enl(), "--local", "1", "--wrap", "./own-wrapper far", run_cce(), "at", "local1",
              "enlist", run_cce(), "1");
    told_in_any_order((const char *[]){"under far", "under far", "enlist 0 0"}, 3);
    run_ends(&run, 0, "");
}

TEST(a_wrapper_that_runs_nothing_and_ends_with_0_is_an_error)
{
    run_start(&run, run_enl(), "--wrap", "true -q", run_cce());
    run_ends(&run, 1,
             "it exited with status 0 and never called bcr_init; the command before it (true -q) must end");
    run_write_file("own-wrapper", "#!/bin/sh\ncase $2 in birth) exec \"$@\" ;; esac\n", 46, 0700);
    run_start(&run, run_enl(), "--wrap", "./own-wrapper", run_cce(), "birth", run_cce(), "1", "cell0");
    CHECK_STR(run_told_by(&run), "enlist 0 0");
    CHECK_STR(run_told_by(&run), "error 42 1 1"); /* bcrE_ENLIST */
    run_ends(&run, 0, "the command before it (./own-wrapper) must end");
}

TEST(a_wrapper_that_is_not_there_is_told)
{
    run_start(&run, run_enl(), "--wrap", "no-such-tool -q", run_cce());
    run_ends(&run, 126, "there is no program no-such-tool");
    run_check_error(&run, "--wrap");
    run_start(&run, run_enl(), "--wrap", "'open", run_cce());
    run_ends(&run, 2, "its quotes closed");
    setenv("BCR_WRAP", "no-such-tool", 1);
    run_start(&run, run_enl(), "--wrap", "*", run_cce(), "exit", "0");
    run_ends(&run, 0, "");
    unsetenv("BCR_WRAP");
}
