/* SPDX-License-Identifier: MIT */
#include "members.h"

#include "check.h"

struct run run;

const char *members(void)
{
    return run_of_environment(members_variable);
}

void ends_well(const char *what, const char *count)
{
    run_end(&run);
    if (run.status != 0)
        FAIL("%s among %s ends with status %d: %s%s", what, count, run.status, run.text, run.error);
    CHECK_STR(run.error, "");
}

void runs_here(const char *count, const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "-n", count, members(), scenario, number);
    ends_well(scenario, count);
}

void runs_on_hosts(const char *count, const char *scenario, const char *number)
{
    run_folder();
    run_start(&run, run_enl(), "--local", "2", "--per-host", count, "--map", "cyclic", "-n", count, members(),
              scenario, number);
    ends_well(scenario, count);
}

void runs(const char *count, const char *scenario, const char *number)
{
    runs_here(count, scenario, number);
    runs_on_hosts(count, scenario, number);
}

void prints(const char *count, const char *path, const char *first, const char *second, const char *wanted)
{
    run_folder();
    run_start(&run, run_enl(), "-n", count, path, first, second);
    ends_well(path, count);
    CHECK_STR(run.text, wanted);
    run_start(&run, run_enl(), "--local", "1", "--per-host", count, "--map", "cyclic", "-n", count, path,
              first, second);
    ends_well(path, count);
    CHECK_STR(run.text, wanted);
}
