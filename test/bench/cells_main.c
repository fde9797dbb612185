/* SPDX-License-Identifier: MIT */
/*
 * cells_main.c -- a benchmark that is two CCEs and nothing else: the root measures, its partner
 * serves. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "bench_cells.h"

static void be_partner(struct bench_pair *pair, const struct cells_program *program)
{
    static struct cells_user user;
    cells_be_partner(pair, &user);
    program->prepare(pair);
    cells_birthcry(bcr_enlistor, CELL_CRY);
    bench_pair_serve(pair);
}

static void be_root(struct bench_pair *pair, const struct bench_options *options,
                    const struct cells_program *program)
{
    static char own[PATH_MAX], partner[PATH_MAX + 64];
    static struct cells_user user = {.executable = partner};
    struct bench_report report;

    if (readlink("/proc/self/exe", own, sizeof own - 1) <= 0)
        bench_fail("cannot read /proc/self/exe");
    if (snprintf(partner, sizeof partner, "%s%s", own, program->partner_suffix) >= (int)sizeof partner)
        bench_fail("the partner's path is too long");
    pair->side = 0;
    program->prepare(pair);
    cells_grow(CELL_CRY, 1, 0);
    cells_enlist_partner(pair, options, &user);
    bench_report_begin(&report, options, program->title);
    bench_pair_measure(pair, options, &report);
    bench_pair_end(pair);
    bench_report_end(&report);
}

int cells_main(int argc, char **argv, struct bench_pair *pair, const struct cells_program *program)
{
    struct bench_options options;

    bench_options_parse(&options, argc, argv);
    if (options.list) {
        bench_pair_list(pair, &options);
        return 0;
    }
    cells_check(bcr_init(program->flags, argv[0]) == 0, "bcr_init");
    if (bcr_cceord == 0)
        be_root(pair, &options, program);
    else
        be_partner(pair, program);
    return 0;
}
