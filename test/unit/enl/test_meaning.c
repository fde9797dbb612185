/* SPDX-License-Identifier: MIT */
/* What signals and ends mean for a program (job/meaning.c). */
#include <signal.h>
#include <string.h>

#include "bcri/config.h"
#include "check.h"
#include "job/job.h"

static bool ends(int onfail, bool is_root, bool is_normal)
{
    return enl_meaning_of_end(onfail, is_root, is_normal).ends;
}

TEST(under_abort_the_failure_of_any_cce_ends_the_program_and_a_normal_end_of_none)
{
    CHECK(ends(BCRI_ONFAIL_ABORT, false, false));
    CHECK(ends(BCRI_ONFAIL_ABORT, true, false));
    CHECK(!ends(BCRI_ONFAIL_ABORT, false, true));
    CHECK(!ends(BCRI_ONFAIL_ABORT, true, true));
}

TEST(under_isolate_no_end_ends_the_program)
{
    for (int i = 0; i < 4; i++)
        CHECK(!ends(BCRI_ONFAIL_ISOLATE, (i & 1) != 0, (i & 2) != 0));
}

TEST(under_root_every_end_of_the_root_ends_the_program_and_no_other)
{
    CHECK(ends(BCRI_ONFAIL_ROOT, true, true));
    CHECK(ends(BCRI_ONFAIL_ROOT, true, false));
    CHECK(!ends(BCRI_ONFAIL_ROOT, false, false));
    CHECK(!ends(BCRI_ONFAIL_ROOT, false, true));
}

TEST(the_sentence_says_what_follows_and_which_onfail_says_so)
{
    CHECK(strcmp(enl_meaning_of_end(BCRI_ONFAIL_ABORT, false, false).says,
                 "that ends the program (onfail abort)") == 0);
    CHECK(strcmp(enl_meaning_of_end(BCRI_ONFAIL_ISOLATE, true, false).says,
                 "the others go on (onfail isolate)") == 0);
    CHECK(strcmp(enl_meaning_of_end(BCRI_ONFAIL_ROOT, true, false).says,
                 "that ends the program (onfail root)") == 0);
    CHECK(strcmp(enl_meaning_of_end(BCRI_ONFAIL_ROOT, false, false).says, "the others go on (onfail root)") ==
          0);
}

TEST(the_keys_of_a_terminal_stop_continue_and_end)
{
    CHECK(enl_meaning_of_signal(SIGTSTP) == ENL_MEANS_STOP);
    CHECK(enl_meaning_of_signal(SIGTTIN) == ENL_MEANS_STOP);
    CHECK(enl_meaning_of_signal(SIGTTOU) == ENL_MEANS_STOP);
    CHECK(enl_meaning_of_signal(SIGCONT) == ENL_MEANS_GO_ON);
    CHECK(enl_meaning_of_signal(SIGCHLD) == ENL_MEANS_REAP);
    CHECK(enl_meaning_of_signal(SIGINT) == ENL_MEANS_END);
    CHECK(enl_meaning_of_signal(SIGQUIT) == ENL_MEANS_END);
    CHECK(enl_meaning_of_signal(SIGTERM) == ENL_MEANS_END);
    CHECK(enl_meaning_of_signal(SIGHUP) == ENL_MEANS_END);
}
