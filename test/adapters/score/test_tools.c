/* SPDX-License-Identifier: MIT */
/* scatter, gather and system in jobs of scrun, on two hosts of this machine. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

enum { BYTES = 3000001 };

static struct run run;
static char bytes[BYTES];

/* Two hosts with two nodes each; the tools are on PATH, and `in` is the standard input of what is started. */
static const char *scrun(void)
{
    char path[8192];
    run_hosts("a local slots=2\nb local slots=2\n");
    snprintf(path, sizeof path, "%s:%s", getenv("SCORE_TOOLS"), getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("SCORE_OPTIONS", "message=quiet", 1);
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (char)('a' + i % 23);
    run_write_file("in", bytes, BYTES, 0600);
    const int in = open("in", O_RDONLY | O_CLOEXEC);
    CHECK(in >= 0 && dup2(in, 0) == 0);
    close(in);
    return run_enl_as("scrun");
}

static void ends(int status)
{
    run_end(&run);
    if (run.status != status)
        FAIL("status %d, not %d: %s", run.status, status, run.error);
}

TEST(scatter_gives_each_node_all_that_comes_in)
{
    run_start(&run, scrun(), "-nodes=4", "scatter", "==", "wc", "-c");
    ends(0);
    CHECK_STR(run.text, "3000001\n3000001\n3000001\n3000001\n");
    run_start(&run, scrun(), "-nodes=4", "scatter", "-node", "2", "==", "sh", "-c", "wc -c; exit 0");
    ends(0);
    CHECK_INT(run_count_lines(run.text, "3000001\n"), 1);
    CHECK_INT(run_count_lines(run.text, "0\n"), 3);
    run_start(&run, scrun(), "-nodes=1", "scatter", "==", "wc", "-c");
    ends(0);
    CHECK_STR(run.text, "3000001\n");
}

TEST(who_reads_its_copy_may_end_early_and_the_others_read_on)
{
    run_start(&run, scrun(), "-nodes=4", "scatter", "==", "head", "-c", "5", "==", "wc", "-c");
    ends(0);
    CHECK_STR(run.text, "5\n5\n5\n5\n");
}

TEST(a_file_comes_to_each_host_and_back)
{
    run_start(
        &run, scrun(), "-nodes=2x2", "scatter", "-file", "f", "::", "system", "-host", "sh", "-c",
        "wc -c <f; echo $SCORE_SELF_HOST/$SCORE_NUM_HOST $SCORE_SELF_PROC/$SCORE_NUM_PROC $SCORE_NUM_NODE",
        "::", "gather", "-file", "f");
    ends(0);
    CHECK_INT(run_count(run.text, "3000001\n"), 2);
    CHECK_INT(run_count(run.text, "0/2 0/2 4\n"), 1);
    CHECK_INT(run_count(run.text, "1/2 0/2 4\n"), 1);
}

TEST(gather_writes_one_node_after_the_other)
{
    char wanted[64] = "";
    run_start(&run, scrun(), "-nodes=4", "system", "sh", "-c",
              "echo $SCORE_SELF_NODE a; echo $SCORE_SELF_NODE b", "==", "gather");
    ends(0);
    for (int node = 0; node < 4; node++)
        snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%d a\n%d b\n", node, node);
    CHECK_STR(run.text, wanted);
    run_start(&run, scrun(), "-nodes=4", "system", "sh", "-c", "echo $SCORE_SELF_NODE", "==", "gather",
              "-node", "3");
    ends(0);
    CHECK_STR(run.text, "3\n");
}

TEST(the_end_of_what_system_runs_is_the_nodes)
{
    run_start(&run, scrun(), "-nodes=2", "system", "sh", "-c", "exit 7");
    ends(7);
    run_start(&run, scrun(), "-nodes=2", "system", "no-such-program");
    run_ends(&run, 127, "system: no-such-program cannot be run");
    run_start(&run, scrun(), "-nodes=2", "system", "-host");
    run_ends(&run, 1, "system: which program?");
}

TEST(what_the_tools_are_told_wrong_ends_all_nodes_with_a_sentence)
{
    run_start(&run, scrun(), "-nodes=2", "scatter", "-node", "2");
    run_ends(&run, 1, "scatter: -node takes a node from 0 to 1, not 2");
    run_start(&run, scrun(), "-nodes=2", "gather", "-file");
    run_ends(&run, 1, "gather: -file takes the name of a file");
    run_start(&run, scrun(), "-nodes=2", "gather", "-file", "none");
    run_ends(&run, 1, "cannot be read: No such file or directory");
    run_start(&run, scrun(), "-nodes=2", "scatter", "-file", "a/b");
    run_ends(&run, 1, "a whole path, or a name alone");
    run_start(&run, scrun(), "-nodes=2", "scatter", "-x");
    run_ends(&run, 1, "scatter: it takes -node N and -file FILE, not -x");
}
