/* SPDX-License-Identifier: MIT */
/* Programs that unload the plugin by which they know BCR: with libbcr.so, or with libbcr.a in the plugin. What bcr_init has
 * registered is called later all the same. Each is started from a shell, and by enl. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

static struct run run;

/* Ends with that status, and with that part on stderr, in each of the four cases. */
static void all_end(const char *how, int status, const char *part)
{
    static const char *const plugins[] = {"SYS_PLUGIN_SHARED", "SYS_PLUGIN_STATIC"};
    const char *unload = getenv("SYS_UNLOAD");
    for (int i = 0; i < 4; i++) {
        const char *plugin = getenv(plugins[i % 2]);
        CHECK(unload != NULL && plugin != NULL);
        if (i < 2)
            run_start(&run, unload, plugin, how);
        else
            run_start(&run, run_enl(), unload, plugin, how);
        run_ends(&run, status, part);
        CHECK(strstr(run.error, "no stack: the program could not stop") == NULL);
    }
}

TEST(a_program_that_has_unloaded_the_library_ends_with_its_own_status)
{
    all_end("exit", 3, "exited with status 3");
}

TEST(a_process_that_it_forks_ends_with_its_own_status)
{
    all_end("fork", 0, "");
}

TEST(a_thread_of_it_that_has_called_BCR_ends)
{
    all_end("thread", 0, "");
}

TEST(its_crash_is_reported)
{
    all_end("abort", 128 + SIGABRT, "enl: crash: CCE 0");
}

#ifndef __SANITIZE_ADDRESS__ /* which looks at faults itself */
TEST(its_crash_for_want_of_stack_is_reported)
{
    all_end("overflow", 128 + SIGSEGV, "enl: crash: CCE 0");
}
#endif

TEST(it_may_load_the_plugin_again_and_is_the_same_CCE_still)
{
    all_end("again", 0, "");
}
