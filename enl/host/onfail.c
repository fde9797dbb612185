/* SPDX-License-Identifier: MIT */
/* onfail.c -- what ends mean under each onfail, as a table. */
#include "bcri/config.h"
#include "host/host.h"

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

const char *enl_onfail_says(int onfail, bool ends)
{
    return ends ? rules[onfail].ends : rules[onfail].goes_on;
}

struct enl_outcome enl_onfail_outcome(int onfail, bool is_root, bool is_normal)
{
    const bool ends = (rules[onfail].failure_ends && !is_normal) || (rules[onfail].root_ends && is_root);
    return (struct enl_outcome){ends, enl_onfail_says(onfail, ends)};
}
