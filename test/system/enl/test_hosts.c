/* SPDX-License-Identifier: MIT */
/* Which machines a program may use, as its user says it and the program asks for it. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/machine.h"
#include "check.h"
#include "run.h"

static struct run run;

#define RUN(...)                                 \
    do {                                         \
        run_folder();                            \
        run_start(&run, run_enl(), __VA_ARGS__); \
    } while (0)

static void list(const char *text)
{
    run_write_file("machines", text, strlen(text), 0600);
}

/* Runs a program without a list, and checks how many slots its one machine has. */
static void check_slots(unsigned slots)
{
    char name[200] = "", want[256];
    CHECK_INT(gethostname(name, sizeof name - 1), 0);
    snprintf(want, sizeof want, "hosts %s:%u", name, slots);
    RUN(run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
}

TEST(a_program_without_a_list_has_this_machine_with_a_slot_for_each_processor)
{
    check_slots(bcri_machine_cpus());
}

TEST(a_program_without_a_list_that_may_use_one_processor_has_one_slot)
{
    cpu_set_t allowed, one;
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (CPU_COUNT(&allowed) < 2)
        SKIP("this machine has one processor for us");
    CPU_ZERO(&one);
    for (size_t core = 0; CPU_COUNT(&one) == 0; core++)
        if (CPU_ISSET(core, &allowed))
            CPU_SET(core, &one);
    CHECK_INT(sched_setaffinity(0, sizeof one, &one), 0);
    check_slots(1);
}

TEST(hosts_come_from_a_file_from_names_and_from_a_number)
{
    list("n1 slots=4\nn2 # two\n");
    RUN("--hosts", "machines", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n1:4 n2:1");
    run_end(&run);
    RUN("--hosts=machines", "--host", "n3,n1", "--local", "2", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n3:1 n1:4 local1:1 local2:1");
    run_end(&run);
    char path[300];
    snprintf(path, sizeof path, "%s/machines", run_folder());
    setenv("BCR_HOSTSFILE", path, 1);
    run_start(&run, run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n1:4 n2:1");
    run_end(&run);
    unsetenv("BCR_HOSTSFILE");
}

TEST(hosts_come_from_ranges_and_from_a_node_file)
{
    list("n1\nn2 slots=2\nn1\n");
    RUN("--hostfile", "machines", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n1:2 n2:2");
    run_end(&run);
    RUN("--host=n[08-10]*3,x", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n08:3 n09:3 n10:3 x:1");
    run_end(&run);
    RUN("--hosts", "machines", "--hostfile", "machines", run_cce(), "hosts");
    run_ends(&run, 2, "--hosts and --hostfile both say which machines there are");
}

static void set_job(const char *nodes, const char *tasks)
{
    setenv("SLURM_JOB_ID", "12", 1);
    setenv("SLURM_JOB_NODELIST", nodes, 1);
    setenv("SLURM_TASKS_PER_NODE", tasks, 1);
}

TEST(hosts_come_from_the_batch_system_unless_the_user_says_others)
{
    list("p1\np2\np1\n");
    set_job("n[1-2],m", "2(x2),1");
    RUN(run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts n1:2 n2:2 m:1");
    run_end(&run);
    RUN("--host", "m", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts m:1");
    run_end(&run);
    RUN("--hostfile", "machines", run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts p1:2 p2:1");
    run_end(&run);
    set_job("n[2-1]", "1(x2)");
    RUN(run_cce(), "hosts");
    run_ends(&run, 2, "SLURM_JOB_NODELIST: \"n[2-1]\" has a range that goes down");
    unsetenv("SLURM_JOB_ID");
    setenv("PBS_NODEFILE", "machines", 1);
    RUN(run_cce(), "hosts");
    CHECK_STR(run_told_by(&run), "hosts p1:2 p2:1");
    run_end(&run);
    unsetenv("PBS_NODEFILE");
}

TEST(a_bad_list_ends_the_start_with_its_line)
{
    list("n1\nn2 slot=4\n");
    RUN("--hosts", "machines", run_cce(), "hosts");
    run_end(&run);
    CHECK_INT(run.status, 2);
    run_check_error(&run, "/machines:2: \"slot=4\" is not known; a line is NAME");
    RUN("--hosts", "nowhere", run_cce(), "hosts");
    run_end(&run);
    CHECK_INT(run.status, 2);
    run_check_error(&run, "/nowhere: there is no such file");
}
