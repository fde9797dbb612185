/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "inspect/look/look.h"

enum { APART_MS = 100 };

int enl_explain(int count, char **words)
{
    static struct look_series series;
    struct look_why why;
    if (count != 2 || (strcmp(words[0], "all") != 0 && strcmp(words[0], "locks") != 0)) {
        fprintf(stderr, "enl: --explain is for enl itself; enl why explains\n");
        return 2;
    }
    const bool all = strcmp(words[0], "all") == 0;
    series.program = words[1];
    if (!look_again(&series, stderr))
        return 1;
    poll(NULL, 0, APART_MS);
    if (!look_again(&series, stderr))
        return 1;
    series.view.standstill = all && !series.view.partial;
    if (!look_why(&series.view, &why))
        return 1;
    if (all)
        look_why_deadlock(stdout, &why);
    else
        look_why_locks(stdout, &why);
    look_why_fini(&why);
    look_series_fini(&series);
    return 0;
}
