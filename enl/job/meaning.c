/* SPDX-License-Identifier: MIT */
/* See job.h. */
#include "job/job.h"

#include <signal.h>

#include "bcri/config.h"

enum enl_meaning enl_meaning_of_signal(int signal)
{
    switch (signal) {
    case SIGCHLD: return ENL_MEANS_REAP;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return ENL_MEANS_STOP;
    case SIGCONT: return ENL_MEANS_GO_ON;
    default: return ENL_MEANS_END; /* Ctrl-C, Ctrl-\, SIGTERM, SIGHUP and the like */
    }
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
