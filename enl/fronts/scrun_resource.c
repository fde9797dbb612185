/* SPDX-License-Identifier: MIT */
/* scrun_resource.c -- bcr-scrun -resource: what a command line asks for, and what its programs need. Nothing is run. */
#include <limits.h>
#include <string.h>

#include "base/object.h"
#include "base/score_needs.h"
#include "fronts/fronts.h"

/* A number behind the macro's name, or the two of a range. */
static void print_need(FILE *out, enum enl_score_kind kind, const struct enl_score_need *need)
{
    fprintf(out, "  %s", enl_score_macro(kind));
    if (need->is_twice)
        fputs(" twice, with different numbers", out);
    else if (kind == ENL_SCORE_NODES)
        fprintf(out, " %d %d", (int)need->low, (int)need->high);
    else if (kind == ENL_SCORE_PROCS || kind == ENL_SCORE_NETS)
        fprintf(out, " %d", (int)need->low);
    fputc('\n', out);
}

static int print_program(FILE *out, const char *program)
{
    char path[PATH_MAX], error[512];
    struct enl_score_needs needs;
    const int failed = enl_object_find(program, path, error, sizeof error);
    if (failed != 0) {
        fprintf(out, "%s: %s\n", program, error);
        return failed;
    }
    enl_score_needs_read(path, &needs);
    fprintf(out, "%s%s\n", path,
            needs.is_score ? "" : ": no SCore program; use system to run it in the job's directory");
    for (enum enl_score_kind kind = ENL_SCORE_NODES; kind < ENL_SCORE_PROGRAM; kind++)
        if (needs.of[kind].is_there)
            print_need(out, kind, &needs.of[kind]);
    return 0;
}

int enl_scrun_resource(const struct enl_scrun *scrun, const struct enl_roster *roster, FILE *out)
{
    int status = 0;
    fprintf(out, "options: %s\n", strchr(scrun->variable, '=') + 1);
    for (size_t i = 0; i < roster->count; i++) {
        const int failed = print_program(out, roster->lines[i].argv[0]);
        status = status != 0 ? status : failed;
    }
    return status;
}
