/* SPDX-License-Identifier: MIT */
/* Tools are told of each operation and match, and choose among messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

static int times(const char *text, const char *what)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

TEST(a_tool_chooses_which_message_a_receive_from_any_source_gets)
{
    run_folder();
    run_start(&run, run_enl(), "--tool", getenv("EARL_TOOL_HIGHEST"), "-n", "6", getenv("EARL_MEMBERS"),
              "chosen");
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
    CHECK_INT(times(run.error, "is well"), 6);
}

TEST(two_tools_see_the_same_on_several_hosts)
{
    char tools[2000];
    run_folder();
    snprintf(tools, sizeof tools, "%s:%s", getenv("EARL_TOOL_COUNT"), getenv("EARL_TOOL_HIGHEST"));
    setenv("EARL_TOOLS", tools, 1);
    run_start(&run, run_enl(), "--local", "2", "--per-host", "2", "-n", "4", getenv("EARL_MEMBERS"), "many");
    run_end(&run);
    unsetenv("EARL_TOOLS");
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
    CHECK_INT(times(run.error, "is well"), 4);
    CHECK_INT(times(run.error, "send 16 ("), 4);
    CHECK_INT(times(run.error, "receive 16 ("), 4);
    CHECK_INT(times(run.error, "barrier 1 ("), 4);
}

static void is_refused(const char *tool, const char *sentence)
{
    setenv("EARL_TOOLS", tool, 1);
    run_start(&run, run_enl(), "-n", "1", getenv("EARL_MEMBERS"), "errors");
    run_end(&run);
    unsetenv("EARL_TOOLS");
    CHECK_INT(run.status, 1);
    if (strstr(run.error, sentence) == NULL)
        FAIL("not \"%s\": %s", sentence, run.error);
}

TEST(what_is_no_tool_ends_the_program_with_a_sentence)
{
    run_folder();
    is_refused("/nowhere/tool.so", "earl: begin: a tool of EARL_TOOLS cannot be loaded: /nowhere/tool.so: ");
    is_refused("libm.so.6", "earl: begin: libm.so.6, a tool of EARL_TOOLS, does not define earl_tool");
}
