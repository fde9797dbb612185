/* SPDX-License-Identifier: MIT */
/* SIGIO at the instructions of LFC's routines: lfc_steps.c has what is stepped through, and what must be true. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run.h"

#if defined(__x86_64__)

static struct run run;

/* `places`: 0: all. */
static void step_through(const char *count, uint64_t places, const char *handler)
{
    char number[24], seed[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)places);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)test_seed());
    run_folder();
    run_start(&run, run_enl(), "-n", count, getenv("LFC_STEPS"), number, seed, "-lfc-ring-frames=4",
              "-lfc-interval=10000000", handler);
    run_end(&run);
    if (run.status != 0 || strstr(run.text, "what the program does: ") == NULL)
        FAIL("lfc_steps ends with status %d: %s%s", run.status, run.text, run.error);
}

TEST_TIMEOUT(a_signal_at_any_instruction_loses_no_packet_and_disturbs_no_routine, 3600)
{
    step_through("1", test_scale(20, 0), NULL);
}

TEST_TIMEOUT(so_it_is_while_another_process_sends, 3600)
{
    step_through("2", test_scale(20, 200), NULL);
}

TEST_TIMEOUT(so_it_is_if_the_programs_own_handler_polls, 3600)
{
    step_through("1", test_scale(20, 0), "own");
}

#else

TEST(a_signal_at_any_instruction_loses_no_packet_and_disturbs_no_routine)
{
    SKIP("single steps are made on x86-64");
}

#endif
