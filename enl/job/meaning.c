/* SPDX-License-Identifier: MIT */
/* meaning.c -- what signals and ends mean for a program, as tables. */
#include <signal.h>

#include "bcri/config.h"
#include "job/job.h"

static const enum enl_meaning signals[NSIG] = {
    /* all others: ENL_MEANS_END */
    [SIGTSTP] = ENL_MEANS_STOP,  [SIGTTIN] = ENL_MEANS_STOP, [SIGTTOU] = ENL_MEANS_STOP,
    [SIGCONT] = ENL_MEANS_GO_ON, [SIGCHLD] = ENL_MEANS_REAP,
};

enum enl_meaning enl_meaning_of_signal(int signal)
{
    return signals[signal];
}

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
};

const char *enl_meaning_says(int onfail, bool ends)
{
    return ends ? rules[onfail].ends : rules[onfail].goes_on;
}

struct enl_outcome enl_meaning_of_end(int onfail, bool is_root, bool is_normal)
{
    const bool ends = (rules[onfail].failure_ends && !is_normal) || (rules[onfail].root_ends && is_root);
    return (struct enl_outcome){ends, enl_meaning_says(onfail, ends)};
}
