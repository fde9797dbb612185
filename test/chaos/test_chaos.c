/* SPDX-License-Identifier: MIT */
/* All routines at once, and one CCE after the other is killed: README.md.
 *
 * Between rounds all stand, and nothing may be missing but what the dead have held, nothing be
 * there that no CCE has, and an audit find nothing. A CCE that does not come on in a minute
 * hangs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../system/enl/run.h"
#include "board.h"
#include "check.h"
#include "hang.h"

enum {
    ROUND_KILLS = 25,
    HANG_MSEC = 60000,
    GAP_USEC = 4000,      /* between kills, at most */
    STOPPED_USEC = 30000, /* at most */
    STOPS_PERCENT = 5,
    AUDITS = 100,        /* until a repair, or an error region on its way, is done */
    REPORT_KILLS = 1000, /* a line after each so many */
    LOG_SHOWN = 1500     /* bytes of it before what is wrong */
};

static struct run run, command;
static struct chaos_board *board;
static uint64_t state;

static struct {
    unsigned kills, stops, lost, at_risk;
    int descriptors_first, descriptors_most, descriptors;
} tally;

static uint64_t below(uint64_t bound)
{
    return test_rand_below(&state, bound);
}

static void wait_usec(unsigned usec)
{
    nanosleep(&(struct timespec){.tv_sec = usec / 1000000, .tv_nsec = (long)(usec % 1000000) * 1000}, NULL);
}

static unsigned all_calls(void)
{
    unsigned calls = 0;
    for (int i = 0; i < CHAOS_CCES; i++)
        calls += atomic_load(&board->place[i].calls);
    return calls;
}

/* Ends the test if `run` has ended. */
static void must_run(int pidfd)
{
    struct pollfd look = {.fd = pidfd, .events = POLLIN};
    if (poll(&look, 1, 0) == 0)
        return;
    run_end(&run);
    FAIL("the program has ended, with status %d:\n%s", run.status, run.error);
}

static int daemon_fd; /* pidfd */

/* Nothing but deaths may stand in the log, which has all that enl has said. */
static void look_into_log(void)
{
    static const char *const bad[] = {
        "corrupt", "killed by signal 6", "is refused", "exited with status", "not understood",
        "cannot",  "no memory",          "gave up"};
    static char text[1 << 16];
    static off_t from;
    size_t length = 0;
    int fd = open(run_file("bcr.", ".log"), O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    if (lseek(fd, 0, SEEK_END) < from)
        from = 0; /* it was set aside, and begins anew */
    do {
        ssize_t got = pread(fd, text, sizeof text - 1, from);
        length = got > 0 ? (size_t)got : 0;
        while (length > 0 && text[length - 1] != '\n')
            length--;
        text[length] = '\0';
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            const char *found = strstr(text, bad[i]);
            if (found != NULL)
                FAIL("the log says, after %u kills: ...\n%s", tally.kills,
                     found - text > LOG_SHOWN ? found - LOG_SHOWN : text);
        }
        from += (off_t)length;
    } while (length > 0);
    close(fd);
}

/* Until `done` says so, as long as some CCE comes on. */
static void wait_until(bool (*done)(unsigned arg), unsigned arg)
{
    const char *factor = getenv("BCR_TEST_TIME_FACTOR");
    const unsigned most = HANG_MSEC * (factor != NULL && atoi(factor) > 0 ? (unsigned)atoi(factor) : 1);
    unsigned calls = all_calls();
    for (unsigned msec = 0; !done(arg); msec++) {
        if (all_calls() != calls) {
            calls = all_calls();
            msec = 0;
        }
        if (msec == most) {
            look_into_log(); /* one that has ended by itself is waited for in vain */
            hang_tell(board, run.pid, run_enl());
            FAIL("nobody comes on");
        }
        must_run(daemon_fd);
        wait_usec(1000);
    }
}

static bool all_there(unsigned unused)
{
    (void)unused;
    for (int i = 0; i < CHAOS_CCES; i++)
        if (atomic_load(&board->place[i].pid) == 0)
            return false;
    return true;
}

static bool all_at(unsigned phase)
{
    for (int i = 0; i < CHAOS_CCES; i++)
        if (atomic_load(&board->place[i].at_phase) != phase)
            return false;
    return all_there(0);
}

static void start(void)
{
    char program[4096];
    state = test_seed();
    board = run_board("CHAOS_BOARD", sizeof *board);
    board->seed = state;
    for (int i = 0; i < CHAOS_CCES; i++) {
        snprintf(program, sizeof program, "%s/%d.chaos", run_folder(), i);
        CHECK_INT(symlink(getenv("CHAOS_CCE"), program), 0);
        atomic_store(&board->place[i].wanted, i != 0);
    }
    snprintf(program, sizeof program, "%s/0.chaos", run_folder());
    run_start(&run, run_enl(), "--onfail", "isolate", program);
    daemon_fd = run_watch(run.pid);
    wait_until(all_there, 0);
}

/* What the daemon has open. */
static void count_descriptors(void)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)run.pid);
    DIR *entries = opendir(path);
    CHECK(entries != NULL);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    tally.descriptors = count;
    if (tally.descriptors_first == 0)
        tally.descriptors_first = count;
    if (count > tally.descriptors_most)
        tally.descriptors_most = count;
}

static void next_phase(void)
{
    const unsigned phase = atomic_fetch_add(&board->phase, 1) + 1;
    wait_until(all_at, phase);
}

/* The repair of who died last, or an error region about it, may be on its way. */
static void audit(void)
{
    unsigned long long regions = 0, queued = 0, gets = 1, puts = 1;
    for (int turn = 0; turn < AUDITS; turn++) {
        const int expected = atomic_load(&board->regions);
        run_start(&command, run_enl(), "audit", run_program());
        run_end(&command);
        if (command.status == 0 &&
            sscanf(command.text, "%llu regions, %llu of them in cells; %llu gets and %llu puts wait",
                   &regions, &queued, &gets, &puts) == 4 &&
            regions == (unsigned long long)expected && queued == regions && gets == 0 && puts == 0)
            return;
        must_run(daemon_fd);
        wait_usec(10000);
    }
    FAIL("after %u kills there should be %d regions, in cells, and no gets and puts; the audit finds:\n%s%s",
         tally.kills, atomic_load(&board->regions), command.text, command.error);
}

static void stand_and_look(void)
{
    while (atomic_load(&board->phase) % CHAOS_PHASES != CHAOS_COUNT)
        next_phase();
    const int missing = atomic_load(&board->missing);
    if (missing > (int)tally.at_risk)
        FAIL("%d tokens are missing, and the dead can have held %u", missing, tally.at_risk);
    tally.lost += (unsigned)missing;
    tally.at_risk = 0;
    audit();
    count_descriptors();
    look_into_log();
}

static int some_place(int first)
{
    return first + (int)below(CHAOS_CCES - (unsigned)first);
}

static void stop_for_a_while(void)
{
    const int pid = atomic_load(&board->place[some_place(0)].pid);
    if (pid == 0)
        return;
    kill(pid, SIGSTOP);
    wait_usec((unsigned)below(STOPPED_USEC));
    kill(pid, SIGCONT);
    tally.stops++;
}

static void kill_one(void)
{
    const int i = some_place(1);
    struct chaos_place *place = &board->place[i];
    const int pid = atomic_load(&place->pid);
    if (pid == 0)
        return;
    int fd = run_try_watch(pid);
    if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) != 0) {
        wait_usec(100000);
        look_into_log();
        FAIL("CCE at place %d (pid %d) has ended by itself", i, pid);
    }
    run_gone(fd);
    tally.at_risk += (unsigned)atomic_exchange(&place->at_risk, 0);
    tally.kills++;
    atomic_store(&place->at_phase, 0);
    atomic_store(&place->pid, 0);
    atomic_store(&place->wanted, 1);
}

static void report(void)
{
    printf("  %u kills, %u stops; %u tokens lost, %u locks; %u calls met a dead one, %u found no room where "
           "there was; descriptors of enl: %d at "
           "first, %d, %d at most\n",
           tally.kills, tally.stops, tally.lost, atomic_load(&board->owner_died),
           atomic_load(&board->dead_ends), atomic_load(&board->refused), tally.descriptors_first,
           tally.descriptors, tally.descriptors_most);
    fflush(stdout);
}

static unsigned kills_wanted(void)
{
    const char *wished = getenv("BCR_CHAOS_KILLS");
    return wished != NULL ? (unsigned)strtoul(wished, NULL, 10) : (unsigned)test_scale(2000, 100000);
}

TEST_TIMEOUT(when_CCEs_are_killed_at_any_time_the_others_go_on_and_nothing_is_lost, 24 * 3600)
{
    if (test_is_instrumented())
        SKIP("under a tool most kills would hit the tool");
    const unsigned wanted = kills_wanted();
    unsigned next_report = REPORT_KILLS;
    start();
    while (tally.kills < wanted) {
        const unsigned end = tally.kills + ROUND_KILLS < wanted ? tally.kills + ROUND_KILLS : wanted;
        atomic_fetch_add(&board->phase, CHAOS_PHASES - atomic_load(&board->phase) % CHAOS_PHASES);
        while (tally.kills < end) {
            wait_usec((unsigned)below(GAP_USEC));
            if (below(100) < STOPS_PERCENT)
                stop_for_a_while();
            else
                kill_one();
            must_run(daemon_fd);
        }
        stand_and_look();
        if (tally.kills >= next_report) {
            report();
            next_report += REPORT_KILLS;
        }
    }
    atomic_store(&board->phase, CHAOS_OVER);
    run_end(&run);
    report();
    if (run.status != 0)
        FAIL("status %d:\n%s", run.status, run.error);
}
