/* SPDX-License-Identifier: MIT */
/* What signals and ends mean for a program (job/meaning.c). */
#include <signal.h>
#include <string.h>

#include <bcr/program.h>

#include "bcri/config.h"
#include "check.h"
#include "job/job.h"

static const int onfails[] = {BCRI_ONFAIL_ABORT, BCRI_ONFAIL_ISOLATE, BCRI_ONFAIL_ROOT};
static const enum enl_end ends_all[] = {ENL_END_GOOD, ENL_END_STATUS, ENL_END_ABNORMAL};

static bool ends(int onfail, bool is_root, enum enl_end end)
{
    return enl_meaning_of_end(onfail, 0, is_root, end).ends;
}

TEST(under_abort_the_failure_of_any_cce_ends_the_program_and_a_normal_end_of_none)
{
    CHECK(ends(BCRI_ONFAIL_ABORT, false, ENL_END_STATUS));
    CHECK(ends(BCRI_ONFAIL_ABORT, true, ENL_END_STATUS));
    CHECK(ends(BCRI_ONFAIL_ABORT, false, ENL_END_ABNORMAL));
    CHECK(ends(BCRI_ONFAIL_ABORT, true, ENL_END_ABNORMAL));
    CHECK(!ends(BCRI_ONFAIL_ABORT, false, ENL_END_GOOD));
    CHECK(!ends(BCRI_ONFAIL_ABORT, true, ENL_END_GOOD));
}

TEST(under_isolate_no_end_ends_the_program)
{
    for (int i = 0; i < 6; i++)
        CHECK(!ends(BCRI_ONFAIL_ISOLATE, i < 3, ends_all[i % 3]));
}

TEST(under_root_every_end_of_the_root_ends_the_program_and_no_other)
{
    for (int i = 0; i < 3; i++) {
        CHECK(ends(BCRI_ONFAIL_ROOT, true, ends_all[i]));
        CHECK(!ends(BCRI_ONFAIL_ROOT, false, ends_all[i]));
    }
}

TEST(without_a_flag_status_0_alone_is_a_normal_end)
{
    for (int i = 0; i < 3; i++) {
        CHECK(enl_meaning_of_end(onfails[i], 0, false, ENL_END_GOOD).is_normal);
        CHECK(!enl_meaning_of_end(onfails[i], 0, false, ENL_END_STATUS).is_normal);
        CHECK(!enl_meaning_of_end(onfails[i], 0, false, ENL_END_ABNORMAL).is_normal);
    }
}

/* Each flag with each onfail and each end: what is normal, and whether the program ends, of the root and of another. */
TEST(flags_of_a_cce_say_which_of_its_ends_are_normal_and_which_harm_no_other)
{
    static const struct {
        int flags, onfail;
        enum enl_end end;
        bool is_normal, ends, ends_of_root;
    } cases[] = {
        {bcr_anystatus, BCRI_ONFAIL_ABORT, ENL_END_GOOD, true, false, false},
        {bcr_anystatus, BCRI_ONFAIL_ABORT, ENL_END_STATUS, true, false, false},
        {bcr_anystatus, BCRI_ONFAIL_ABORT, ENL_END_ABNORMAL, false, true, true},
        {bcr_anystatus, BCRI_ONFAIL_ISOLATE, ENL_END_STATUS, true, false, false},
        {bcr_anystatus, BCRI_ONFAIL_ISOLATE, ENL_END_ABNORMAL, false, false, false},
        {bcr_anystatus, BCRI_ONFAIL_ROOT, ENL_END_STATUS, true, false, true},
        {bcr_anystatus, BCRI_ONFAIL_ROOT, ENL_END_ABNORMAL, false, false, true},
        {bcr_isolate, BCRI_ONFAIL_ABORT, ENL_END_GOOD, true, false, false},
        {bcr_isolate, BCRI_ONFAIL_ABORT, ENL_END_STATUS, false, false, false},
        {bcr_isolate, BCRI_ONFAIL_ABORT, ENL_END_ABNORMAL, false, false, false},
        {bcr_isolate, BCRI_ONFAIL_ISOLATE, ENL_END_ABNORMAL, false, false, false},
        {bcr_isolate, BCRI_ONFAIL_ROOT, ENL_END_GOOD, true, false, true},
        {bcr_isolate, BCRI_ONFAIL_ROOT, ENL_END_STATUS, false, false, false},
        {bcr_isolate, BCRI_ONFAIL_ROOT, ENL_END_ABNORMAL, false, false, false},
        {bcr_isolate | bcr_anystatus, BCRI_ONFAIL_ABORT, ENL_END_STATUS, true, false, false},
        {bcr_isolate | bcr_anystatus, BCRI_ONFAIL_ROOT, ENL_END_STATUS, true, false, true},
        {bcr_passsignals, BCRI_ONFAIL_ABORT, ENL_END_STATUS, false, true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int is_root = 0; is_root < 2; is_root++) {
            const struct enl_outcome got =
                enl_meaning_of_end(cases[i].onfail, cases[i].flags, is_root != 0, cases[i].end);
            if (got.is_normal != cases[i].is_normal ||
                got.ends != (is_root != 0 ? cases[i].ends_of_root : cases[i].ends))
                FAIL("case %zu, root %d: normal %d, ends %d", i, is_root, got.is_normal, got.ends);
        }
}

TEST(the_sentence_says_what_follows_and_which_onfail_or_flag_says_so)
{
    CHECK_STR(enl_meaning_of_end(BCRI_ONFAIL_ABORT, 0, false, ENL_END_ABNORMAL).says,
              "that ends the program (onfail abort)");
    CHECK_STR(enl_meaning_of_end(BCRI_ONFAIL_ISOLATE, 0, true, ENL_END_ABNORMAL).says,
              "the others go on (onfail isolate)");
    CHECK_STR(enl_meaning_of_end(BCRI_ONFAIL_ROOT, 0, true, ENL_END_ABNORMAL).says,
              "that ends the program (onfail root)");
    CHECK_STR(enl_meaning_of_end(BCRI_ONFAIL_ROOT, 0, false, ENL_END_ABNORMAL).says,
              "the others go on (onfail root)");
    CHECK_STR(enl_meaning_of_end(BCRI_ONFAIL_ABORT, bcr_isolate, false, ENL_END_ABNORMAL).says,
              "the others go on (bcr_isolate)");
}

TEST(a_lost_host_ends_the_program_under_abort_if_one_cce_there_was_not_isolated)
{
    CHECK(enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 2, 0).ends);
    CHECK(enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 2, 1).ends);
    CHECK(!enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 2, 2).ends);
    CHECK(!enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 0, 0).ends);
    CHECK(!enl_meaning_of_lost_host(BCRI_ONFAIL_ISOLATE, 2, 0).ends);
    CHECK(!enl_meaning_of_lost_host(BCRI_ONFAIL_ROOT, 2, 0).ends);
    CHECK_STR(enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 2, 2).says, "the others go on (bcr_isolate)");
    CHECK_STR(enl_meaning_of_lost_host(BCRI_ONFAIL_ABORT, 2, 1).says, "that ends the program (onfail abort)");
}

static void means(int signal, enum enl_meaning plain, enum enl_meaning passed)
{
    CHECK_INT(enl_meaning_of_signal(ENL_SIGNALS_PLAIN, signal), plain);
    CHECK_INT(enl_meaning_of_signal(ENL_SIGNALS_PASSED, signal), passed);
    CHECK_INT(enl_meaning_has(signal), plain != ENL_MEANS_NOTHING || passed != ENL_MEANS_NOTHING);
}

TEST(the_keys_of_a_terminal_stop_continue_and_end)
{
    means(SIGTSTP, ENL_MEANS_STOP, ENL_MEANS_STOP);
    means(SIGTTIN, ENL_MEANS_STOP, ENL_MEANS_STOP);
    means(SIGTTOU, ENL_MEANS_STOP, ENL_MEANS_STOP);
    means(SIGCONT, ENL_MEANS_GO_ON, ENL_MEANS_GO_ON);
    means(SIGCHLD, ENL_MEANS_REAP, ENL_MEANS_REAP);
    means(SIGINT, ENL_MEANS_END, ENL_MEANS_PASS);
    means(SIGQUIT, ENL_MEANS_END, ENL_MEANS_SAY);
    means(SIGTERM, ENL_MEANS_END, ENL_MEANS_END);
    means(SIGHUP, ENL_MEANS_END, ENL_MEANS_PASS);
}

TEST(signals_that_mean_nothing_otherwise_are_passed_where_signals_are)
{
    means(SIGABRT, ENL_MEANS_NOTHING, ENL_MEANS_PASS);
    means(SIGUSR1, ENL_MEANS_NOTHING, ENL_MEANS_PASS);
    means(SIGUSR2, ENL_MEANS_NOTHING, ENL_MEANS_PASS);
    means(SIGURG, ENL_MEANS_NOTHING, ENL_MEANS_PASS);
    means(SIGWINCH, ENL_MEANS_NOTHING, ENL_MEANS_PASS);
    means(SIGALRM, ENL_MEANS_NOTHING, ENL_MEANS_NOTHING);
    means(SIGPIPE, ENL_MEANS_NOTHING, ENL_MEANS_NOTHING);
    means(SIGRTMIN, ENL_MEANS_NOTHING, ENL_MEANS_NOTHING);
}

TEST(a_job_of_yod_is_asked_to_end_and_gets_the_users_signals)
{
    static const struct {
        int signal;
        enum enl_meaning means;
    } rows[] = {{SIGINT, ENL_MEANS_ASK},     {SIGTERM, ENL_MEANS_ASK},     {SIGHUP, ENL_MEANS_END},
                {SIGQUIT, ENL_MEANS_END},    {SIGUSR1, ENL_MEANS_PASS},    {SIGUSR2, ENL_MEANS_PASS},
                {SIGURG, ENL_MEANS_NOTHING}, {SIGABRT, ENL_MEANS_NOTHING}, {SIGTSTP, ENL_MEANS_STOP},
                {SIGCONT, ENL_MEANS_GO_ON},  {SIGCHLD, ENL_MEANS_REAP}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_INT(enl_meaning_of_signal(ENL_SIGNALS_YOD, rows[i].signal), rows[i].means);
}

TEST(the_end_of_a_jobs_member_is_normal_and_ends_nothing)
{
    for (int onfail = 0; onfail < 3; onfail++)
        for (int end = 0; end < 3; end++) {
            const struct enl_outcome verdict =
                enl_meaning_of_end(onfails[onfail], ENL_OF_JOB, false, ends_all[end]);
            CHECK(verdict.is_normal && !verdict.ends);
        }
}
