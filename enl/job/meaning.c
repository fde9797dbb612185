/* SPDX-License-Identifier: MIT */
/* meaning.c -- what signals and ends mean for a program, as tables. What starts programs of its own kind adds a row. */
#include <signal.h>

#include <bcr/program.h>

#include "bcri/config.h"
#include "job/job.h"

/* The keys of a terminal, and the children of the daemon: alike in every row. */
#define OF_EVERY_ROW                                                                    \
    [SIGTSTP] = ENL_MEANS_STOP, [SIGTTIN] = ENL_MEANS_STOP, [SIGTTOU] = ENL_MEANS_STOP, \
    [SIGCONT] = ENL_MEANS_GO_ON, [SIGCHLD] = ENL_MEANS_REAP

static const enum enl_meaning signals[ENL_SIGNALS_ROWS][NSIG] = {
    /* all others: ENL_MEANS_NOTHING */
    [ENL_SIGNALS_PLAIN] = {[SIGHUP] = ENL_MEANS_END,
                           [SIGINT] = ENL_MEANS_END,
                           [SIGQUIT] = ENL_MEANS_END,
                           [SIGTERM] = ENL_MEANS_END,
                           OF_EVERY_ROW},
    [ENL_SIGNALS_PASSED] = {[SIGHUP] = ENL_MEANS_PASS,
                            [SIGINT] = ENL_MEANS_PASS,
                            [SIGABRT] = ENL_MEANS_PASS,
                            [SIGUSR1] = ENL_MEANS_PASS,
                            [SIGUSR2] = ENL_MEANS_PASS,
                            [SIGURG] = ENL_MEANS_PASS,
                            [SIGWINCH] = ENL_MEANS_PASS,
                            [SIGQUIT] = ENL_MEANS_SAY,
                            [SIGTERM] = ENL_MEANS_END,
                            OF_EVERY_ROW},
    [ENL_SIGNALS_YOD] = {[SIGHUP] = ENL_MEANS_END,
                         [SIGINT] = ENL_MEANS_ASK,
                         [SIGQUIT] = ENL_MEANS_END,
                         [SIGTERM] = ENL_MEANS_ASK,
                         [SIGUSR1] = ENL_MEANS_PASS,
                         [SIGUSR2] = ENL_MEANS_PASS,
                         OF_EVERY_ROW},
};

enum enl_meaning enl_meaning_of_signal(enum enl_signal_row row, int signal)
{
    return signals[row][signal];
}

bool enl_meaning_has(int signal)
{
    for (int row = 0; row < ENL_SIGNALS_ROWS; row++)
        if (signals[row][signal] != ENL_MEANS_NOTHING)
            return true;
    return false;
}

/* What follows from an end: by onfail, or for a CCE whose failure harms no other. */
enum { OF_ISOLATED = BCRI_ONFAIL_ROOT + 1, OF_JOB, OF_SCORE_JOB };

static const struct {
    bool failure_ends, root_ends; /* the program */
    const char *ends, *goes_on;
} rules[] = {
    [BCRI_ONFAIL_ABORT] = {true, false, "that ends the program (onfail abort)",
                           "that ends the program (onfail abort)"},
    [BCRI_ONFAIL_ISOLATE] = {false, false, "the others go on (onfail isolate)",
                             "the others go on (onfail isolate)"},
    [BCRI_ONFAIL_ROOT] = {false, true, "that ends the program (onfail root)",
                          "the others go on (onfail root)"},
    [OF_ISOLATED] = {false, false, "the others go on (bcr_isolate)", "the others go on (bcr_isolate)"},
    [OF_JOB] = {false, false, "the others go on", "the others go on"},
    [OF_SCORE_JOB] = {true, false, "that ends the job", "the others go on"},
};

/* Which ends are normal, by what the CCE has asked for. Those of a job's members are told at its end, all together; of SCore's only a
 * signal is a failure. */
static bool is_normal(int flags, enum enl_end end)
{
    if ((flags & ENL_OF_SCORE_JOB) != 0)
        return end != ENL_END_ABNORMAL;
    return (flags & ENL_OF_JOB) != 0 || end == ENL_END_GOOD ||
           (end == ENL_END_STATUS && (flags & bcr_anystatus) != 0);
}

static struct enl_outcome outcome(int rule, bool is_root, bool normal)
{
    const bool ends = (rules[rule].failure_ends && !normal) || (rules[rule].root_ends && is_root);
    return (struct enl_outcome){normal, ends, ends ? rules[rule].ends : rules[rule].goes_on};
}

struct enl_outcome enl_meaning_of_end(int onfail, int flags, bool is_root, enum enl_end end)
{
    const bool normal = is_normal(flags, end), isolated = !normal && (flags & bcr_isolate) != 0;
    return outcome((flags & ENL_OF_SCORE_JOB) != 0 ? (int)OF_SCORE_JOB
                   : (flags & ENL_OF_JOB) != 0     ? (int)OF_JOB
                   : isolated                      ? (int)OF_ISOLATED
                                                   : onfail,
                   is_root, normal);
}

struct enl_outcome enl_meaning_of_lost_host(int onfail, uint32_t cces, uint32_t isolated)
{
    return outcome(isolated >= cces && cces != 0 ? (int)OF_ISOLATED : onfail, false, cces == 0);
}
