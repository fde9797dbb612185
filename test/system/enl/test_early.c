/* SPDX-License-Identifier: MIT */
/* Processes that end, or lose their connection, between their hello and their being CCEs. Audits of
 * a large shared memory keep the daemon's worker from making a cell 0 meanwhile. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "check.h"
#include "early.h"
#include "run.h"

enum { REGIONS = 100000, AUDITS = 32, TRIES = 20 };

static struct run run, command;

static int ask_for_audit(const char *program)
{
    const struct bcri_control audit = {.type = BCRI_MSG_audit, .present = BCRI_HAS(id), .id = 1};
    int fd = bcri_channel_connect(program, 10000);
    if (fd >= 0 && bcri_channel_send(fd, &audit, NULL, 0, true) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* What is found need not be wrong while a CCE is at work. */
static void wait_for_audit(int fd)
{
    static struct bcri_incoming in;
    while (bcri_channel_recv(fd, &in, true) == 1 && in.wrong == NULL && in.message.type != BCRI_MSG_reply)
        continue;
    close(fd);
}

static void audit_until_the_end(const char *program)
{
    for (int fd; (fd = ask_for_audit(program)) >= 0;)
        wait_for_audit(fd);
    _exit(0);
}

/* One process ends before its cell 0 is there, unless the audits were done before the daemon noticed
 * its end, which a loaded machine may bring about. Returns whether it ended in time. */
static bool ended_before_cell_0(const char *how, const char *said)
{
    int audit[AUDITS];
    char regions[16];
    snprintf(regions, sizeof regions, "%d", REGIONS);
    run_folder();
    setenv("SYS_EARLY", how, 1);
    run_start(&run, run_enl(), "--onfail=isolate", getenv("SYS_EARLY_CCE"), "regions", regions);
    (void)run_told_by(&run);
    for (int i = 0; i < AUDITS; i++)
        CHECK((audit[i] = ask_for_audit(run_program())) >= 0);
    run_go();
    int early = run_try_watch(atoi(run_told_by(&run)));
    if (early >= 0)
        run_gone(early);
    for (int i = 0; i < AUDITS; i++)
        wait_for_audit(audit[i]);
    run_start(&command, run_enl(), "audit", run_program()); /* all births are done */
    run_end(&command);
    CHECK_INT(command.status, 0);
    run_go();
    run_ends(&run, 0, "was killed by signal 9 (Killed)");
    CHECK(strstr(run.error, "is refused") == NULL);
    if (strstr(run.error, "was killed by signal 9 (Killed) while it waited in bcr_init") == NULL) {
        CHECK_INT(unlink(run_file("bcr.", ".log")), 0); /* the next run is found by its own */
        return false;
    }
    run_check_error(&run, said);
    return true;
}

static void end_before_cell_0(const char *how, const char *said)
{
    for (int i = 0; i < TRIES; i++)
        if (ended_before_cell_0(how, said))
            return;
    FAIL("in %d runs the cell 0 was always there before the process had ended", TRIES);
}

TEST_TIMEOUT(a_process_that_is_killed_before_its_cell_0_is_there_harms_nobody, 120)
{
    end_before_cell_0("die", "did not start");
}

TEST_TIMEOUT(a_process_that_closes_its_connection_before_its_cell_0_is_there_is_killed_and_harms_nobody, 120)
{
    end_before_cell_0("shut", "gave up its connection to enl and runs on");
}

TEST(who_meets_corrupt_memory_says_so_and_ends_and_enl_says_what_is_left_of_him)
{
    run_folder();
    setenv("SYS_EARLY", "corrupt", 1);
    run_start(&run, run_enl(), "--onfail=isolate", getenv("SYS_EARLY_CCE"), "regions", "1");
    (void)run_told_by(&run);
    run_go();
    (void)run_told_by(&run);
    run_wait_for_text("bcr.", "could not all be put right");
    run_go();
    run_ends(&run, 0, "shared memory is corrupt: the counters of a cell, at segment ");
    run_check_error(&run, "was killed by signal 6");
    run_check_error(&run, "shared memory is corrupt: what CCE 1 (");
    run_check_error(&run, " held could not all be put right");
}

TEST_TIMEOUT(processes_may_be_killed_at_any_moment_of_bcr_init, 1200)
{
    char path[256], kills[16];
    snprintf(path, sizeof path, "%s/board", run_folder());
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && ftruncate(fd, sizeof(struct early_board)) == 0);
    struct early_board *board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(board != MAP_FAILED);
    board->seed = test_seed();
    const char *wished = getenv("SYS_EARLY_KILLS");
    snprintf(kills, sizeof kills, "%s", wished != NULL ? wished : test_scale(0, 1) != 0 ? "20000" : "2000");
    setenv("SYS_BOARD", path, 1);
    setenv("SYS_EARLY", "any", 1);
    run_start(&run, run_enl(), "--onfail=isolate", "--log-level=error", getenv("SYS_EARLY_CCE"), "kills",
              kills);
    while (atomic_load(&board->begun) == 0)
        usleep(1000);
    pid_t auditor = fork();
    CHECK(auditor >= 0);
    if (auditor == 0)
        audit_until_the_end(run_program());
    run_end(&run);
    test_join(auditor, 0);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
    printf("  %u began, %u came through bcr_init\n", atomic_load(&board->begun),
           atomic_load(&board->through));
    CHECK(atomic_load(&board->through) < atomic_load(&board->begun));
    CHECK(strstr(run.error, "corrupt") == NULL);
}
