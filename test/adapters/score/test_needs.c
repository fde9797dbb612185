/* SPDX-License-Identifier: MIT */
/* What programs of SCore say of their nodes is read by scrun before anything starts, and shown by its option resource. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run;

/* With two hosts of two nodes each. */
static const char *scrun(void)
{
    run_hosts("a local slots=2\nb local slots=2\n");
    return run_enl_as("scrun");
}

static const char *wants(const char *what)
{
    char variable[64];
    snprintf(variable, sizeof variable, "SCORE_WANTS_%s", what);
    return getenv(variable);
}

/* The program before it leaves a file where it ran: nothing starts if a need of any is not met. */
static void is_refused(const char *options, const char *what, const char *sentence)
{
    char left[512];
    snprintf(left, sizeof left, "%s", run_in_folder("ran"));
    unlink(left);
    run_start(&run, scrun(), options, "touch", left, "::", wants(what));
    run_ends(&run, 1, sentence);
    CHECK(access(left, F_OK) != 0);
    CHECK(strstr(run.error, "ready") == NULL);
}

TEST(a_need_that_is_not_met_is_told_before_anything_starts)
{
    is_refused("-nodes=1", "NODES", "runs on 2 to 3 nodes (SCORE_RSRC_NUM_NODES), not on 1");
    is_refused("-nodes=4", "NODES", "not on 4");
    is_refused("-nodes=3", "PROCS",
               "runs with 2 nodes on each host (SCORE_RSRC_NUM_PROCS), and b would have 1");
    is_refused("-nodes=1x3", "PROCS", "and a would have 3");
    is_refused("-nodes=2", "CONTRADICTION", "SCORE_RSRC_NUM_NODES stands in ");
    is_refused("-nodes=2x1,heterogeneous", "ONE",
               "does not say that it runs on machines of several architectures (SCORE_RSRC_HETERO_NODES)");
    is_refused("-nodes=2", "NOTHING_GOOD",
               "asks for 0 network sets (SCORE_RSRC_NUM_NETS); there can be 1 to 64");
}

TEST(each_program_whose_need_is_not_met_has_a_sentence)
{
    run_start(&run, scrun(), "-nodes=2x3", wants("NODES"), "==", wants("PROCS"), "::", "true");
    run_ends(&run, 1, "not on 6");
    run_check_error(&run, "a would have 3");
    CHECK_INT(run_count(run.error, "enl: "), 2);
}

TEST(programs_whose_needs_are_met_run)
{
    run_start(&run, scrun(), "-nodes=2,message=quiet,heterogeneous", wants("NODES"), "::", "true");
    run_ends(&run, 0, "");
    CHECK_STR(run.text, "runs with 3 nets\nruns with 3 nets\n");
    run_start(&run, scrun(), "-nodes=2x2,message=quiet", wants("PROCS"));
    run_ends(&run, 0, "");
    CHECK_INT(run_count(run.text, "runs with 1 nets\n"), 4);
    run_start(&run, scrun(), "-nodes=1,message=quiet", wants("PROCS"), "/nowhere"); /* an argument */
    run_ends(&run, 1, "a would have 1");
}

TEST(resource_shows_options_and_needs_and_runs_nothing)
{
    char text[4096];
    setenv("SCORE_OPTIONS", "mine=1", 1);
    run_start(&run, scrun(), "-resource,nodes=9", wants("NODES"), "a", "::", "/bin/sh", "-c", "exit 5",
              "==", wants("CONTRADICTION"));
    run_ends(&run, 0, "");
    snprintf(text, sizeof text,
             "options: resource,nodes=9,mine=1\n"
             "%s\n  SCORE_RSRC_NUM_NODES 2 3\n  SCORE_RSRC_NUM_NETS 3\n  SCORE_RSRC_ZEROCOPY\n"
             "  SCORE_RSRC_HETERO_NODES\n"
             "/bin/sh: no SCore program; use system to run it in the job's directory\n"
             "%s\n  SCORE_RSRC_NUM_NODES twice, with different numbers\n",
             wants("NODES"), wants("CONTRADICTION"));
    CHECK_STR(run.text, text);
    CHECK_STR(run.error, "");
    unsetenv("SCORE_OPTIONS");
    run_start(&run, scrun(), "-resource", "/nowhere/p", "==", "/bin/sh");
    run_ends(&run, 127, "");
    CHECK(strstr(run.text, "/nowhere/p: there is no program /nowhere/p") != NULL &&
          strstr(run.text, "/bin/sh: no SCore") != NULL);
    run_start(&run, scrun(), "-resource", "p", "==");
    run_ends(&run, 2, "which program?");
}
