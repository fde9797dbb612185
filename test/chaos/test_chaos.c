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
#include "network.h"

enum {
    ROUND_KILLS = 25,
    HANG_MSEC = 60000,
    GAP_USEC = 4000,      /* between kills, at most */
    STOPPED_USEC = 30000, /* at most */
    STOPS_PERCENT = 5,
    CRASHES_PERCENT = 1, /* of the kills */
    FAR_USEC = 200000,   /* for what a dead CCE has ordered of another host */
    HOSTS_PERCENT = 2,
    INTERRUPTS_PERCENT = 1, /* of a host's network, or its daemon */
    STILL_TURNS = 6000,     /* of 10 ms at least, until nothing is on its way */
    AUDITS = 100,           /* until a repair is done */
    REPORT_KILLS = 1000,    /* a line after each so many */
    LOG_SHOWN = 1500        /* bytes of it before what is wrong */
};

static struct run run, command;
static struct chaos_board *board;
static uint64_t state;

static bool has_cable;
static struct {
    unsigned kills, crashes, hosts, stops, interrupts, lost, at_risk;
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

/* What CCEs have said, which is of mistakes. */
static const char *said(void)
{
    static char text[4096];
    text[run_read_file(getenv("CHAOS_SAID"), text, sizeof text - 1)] = '\0';
    return text;
}

/* Ends the test if `run` has ended. */
static void must_run(int pidfd)
{
    struct pollfd look = {.fd = pidfd, .events = POLLIN};
    if (poll(&look, 1, 0) == 0)
        return;
    run_end(&run);
    FAIL("the program has ended, with status %d:\n%s%s", run.status, run.error, said());
}

static int daemon_fd; /* pidfd */

/* The log of the root's daemon, whose name ends with that one's process ID: those of other hosts end with
 * their numbers. */
static const char *log_path(void)
{
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%d.log", (int)run.pid);
    return run_file("bcr.", suffix);
}

/* Nothing but deaths may stand in the log of the root's daemon, which has all that enl has said. */
static void look_into_log(void)
{
    static const char *const bad[] = {
        "corrupt", "killed by signal 6", "is refused", "exited with status", "not understood",
        "cannot",  "no memory",          "gave up"};
    static char text[1 << 16];
    static off_t from;
    size_t length = 0;
    int fd = open(log_path(), O_RDONLY | O_CLOEXEC);
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
                FAIL("the log says, after %u kills: ...\n%s%s", tally.kills,
                     found - text > LOG_SHOWN ? found - LOG_SHOWN : text, said());
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
    const char *hosts = getenv("CHAOS_HOSTS");
    char program[4096], number[16];
    state = test_seed();
    board = run_board("CHAOS_BOARD", sizeof *board);
    run_write_file("said", "", 0, 0600);
    setenv("CHAOS_SAID", run_in_folder("said"), 1);
    board->seed = state;
    board->hosts = hosts != NULL ? atoi(hosts) : 0;
    has_cable = network_begin(&state);
    if (has_cable) {
        snprintf(number, sizeof number, "%d", NETWORK_TIMEOUT_MSEC);
        setenv("BCR_HOSTTIMEOUT", number, 1);
        setenv("BCR_CONNECTTIMEOUT", "60000", 1);
    }
    snprintf(number, sizeof number, "%d", board->hosts);
    for (int i = 0; i < CHAOS_CCES; i++) {
        snprintf(program, sizeof program, "%s/%d.chaos", run_folder(), i);
        CHECK_INT(symlink(getenv("CHAOS_CCE"), program), 0);
        atomic_store(&board->place[i].wanted, i != 0);
    }
    snprintf(program, sizeof program, "%s/0.chaos", run_folder());
    if (board->hosts != 0 && !has_cable)
        run_start(&run, run_enl(), "--onfail", "isolate", "--local", number, program);
    else
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

/* Of host K, the one that has that place now: whether its audit finds nothing wrong, all regions in cells, and nothing that waits. */
static bool is_still(int host, unsigned long long *regions)
{
    unsigned long long queued = 0, gets = 1, puts = 1;
    char name[256], number[16] = "", within[256];
    const char *program = strrchr(log_path(), '/') + 1 + strlen("bcr.");
    if (host != 0)
        snprintf(number, sizeof number, ":%d", atomic_load(&board->place[host].host));
    snprintf(name, sizeof name, "%.*s%s", (int)(strlen(program) - strlen(".log")), program, number);
    if (has_cable && host != 0) { /* it hears only who asks in its network */
        snprintf(number, sizeof number, "local%d", host);
        snprintf(within, sizeof within, "%s/%s", getenv("HOSTS_IN"), number);
        run_start(&command, within, run_enl(), "audit", name);
    } else {
        run_start(&command, run_enl(), "audit", name);
    }
    run_end(&command);
    return command.status == 0 &&
           sscanf(command.text, "%llu regions, %llu of them in cells; %llu gets and %llu puts wait", regions,
                  &queued, &gets, &puts) == 4 &&
           queued == *regions && gets == 0 && puts == 0;
}

/* `counted`: as many regions as the root has counted, too, which are all there are. */
static bool all_are_still(bool counted)
{
    unsigned long long regions;
    for (int host = 0; host <= board->hosts; host++)
        if (!is_still(host, &regions) ||
            (counted && regions != (host == 0 ? (unsigned long long)atomic_load(&board->regions) : 0)))
            return false;
    return true;
}

static bool become_still(bool counted, int turns)
{
    for (; turns != 0; turns--) {
        if (all_are_still(counted))
            return true;
        must_run(daemon_fd);
        wait_usec(10000);
    }
    return false;
}

/* What a dead CCE has ordered of another host is carried out soon, but nobody can wait for it. What is on its way to a host
 * that is lost goes back when its lease must be over: if its ssh was killed, others may have been started on the same machine
 * long before. So what is counted is what stands still. */
static void stand_and_look(void)
{
    network_weather(false);
    while (atomic_load(&board->phase) % CHAOS_PHASES != CHAOS_COUNT) {
        if (board->hosts != 0)
            wait_usec(FAR_USEC);
        if (atomic_load(&board->phase) % CHAOS_PHASES == CHAOS_EMPTY && !become_still(false, STILL_TURNS))
            FAIL("after %u kills something is on its way and does not come; the audit finds:\n%s%s",
                 tally.kills, command.text, command.error);
        next_phase();
    }
    const int missing = atomic_load(&board->missing);
    if (missing > (int)tally.at_risk)
        FAIL("%d tokens are missing, and the dead can have held %u", missing, tally.at_risk);
    tally.lost += (unsigned)missing;
    tally.at_risk = 0;
    if (!become_still(true, AUDITS))
        FAIL("after %u kills there should be %d regions, in cells, and no gets and puts; the audit "
             "finds:\n%s%s",
             tally.kills, atomic_load(&board->regions), command.text, command.error);
    count_descriptors();
    look_into_log();
    network_weather(true);
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

/* The CCE that had that place has ended: wants another. */
static void bury(struct chaos_place *place)
{
    tally.at_risk += (unsigned)atomic_exchange(&place->at_risk, 0);
    tally.kills++;
    atomic_store(&place->at_phase, 0);
    atomic_fetch_add(&place->deaths, 1); /* before nobody is there */
    atomic_store(&place->pid, 0);
    atomic_store(&place->wanted, 1);
}

/* At least once in each run. */
static bool is_due(unsigned times, unsigned percent)
{
    return times == 0 || below(100) < percent;
}

/* By SIGKILL; or by a signal that is a crash, so that the CCE stands still for its trace and then dies,
 * wherever it is. */
static void kill_one(void)
{
    const int i = some_place(1);
    struct chaos_place *place = &board->place[i];
    const int pid = atomic_load(&place->pid);
    if (pid == 0)
        return;
    int fd = run_try_watch(pid);
    const bool crashes = is_due(tally.crashes, CRASHES_PERCENT);
    if (fd < 0 || syscall(SYS_pidfd_send_signal, fd, crashes ? SIGBUS : SIGKILL, NULL, 0) != 0) {
        wait_usec(100000);
        look_into_log();
        FAIL("CCE at place %d (pid %d) has ended by itself", i, pid);
    }
    tally.crashes += crashes;
    run_gone(fd);
    bury(place);
}

static pid_t parent_of(int pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (file != NULL && fgets(text, sizeof text, file) != NULL)
        (void)sscanf(strrchr(text, ')') + 1, " %*c %d", &parent);
    if (file != NULL)
        fclose(file);
    return parent;
}

static pid_t daemon_of(int host)
{
    const int pid = atomic_load(&board->place[host].pid);
    return pid != 0 ? parent_of(pid) : 0;
}

/* Of the CCEs that had that place, all of which have ended. */
static void remove_marks(int place)
{
    for (int lock = 0; lock < CHAOS_LOCKS; lock++) {
        int mark = atomic_load(&board->holder[lock]);
        if (mark != 0 && (mark - 1) % CHAOS_CCES == place)
            (void)atomic_compare_exchange_strong(&board->holder[lock], &mark, 0);
    }
}

/* Its CCEs end with it. */
static void lose_host(void)
{
    const int host = 1 + (int)below((uint64_t)board->hosts);
    int fd[CHAOS_CCES];
    wait_until(all_there, 0);
    for (int i = host; i < CHAOS_CCES; i += board->hosts + 1) {
        fd[i] = run_try_watch(atomic_load(&board->place[i].pid));
        CHECK(fd[i] >= 0);
    }
    const pid_t daemon = daemon_of(host);
    CHECK(daemon > 1);
    atomic_store(&board->ending, host);
    const char *how = network_lose(host, daemon, run.pid);
    for (int i = host; i < CHAOS_CCES; i += board->hosts + 1) {
        run_gone(fd[i]);
        remove_marks(i);
    }
    atomic_store(&board->ending, 0);
    for (int i = host; i < CHAOS_CCES; i += board->hosts + 1)
        bury(&board->place[i]);
    network_mend();
    if (has_cable)
        printf("  host %d is lost: %s\n", host, how);
    tally.hosts++;
}

static void interrupt_host(void)
{
    const int host = 1 + (int)below((uint64_t)board->hosts);
    const pid_t daemon = daemon_of(host);
    if (daemon <= 1)
        return;
    network_interrupt(host, daemon);
    tally.interrupts++;
}

static void report(void)
{
    printf("  %u kills, of them %u crashes, %u hosts, %u stops, %u interruptions; %u tokens lost, %u locks; "
           "%u calls met a dead "
           "one, %u found no "
           "room where "
           "there was; descriptors of enl: %d at "
           "first, %d, %d at most\n",
           tally.kills, tally.crashes, tally.hosts, tally.stops, tally.interrupts, tally.lost,
           atomic_load(&board->owner_died), atomic_load(&board->dead_ends), atomic_load(&board->refused),
           tally.descriptors_first, tally.descriptors, tally.descriptors_most);
    fflush(stdout);
}

static unsigned kills_wanted(void)
{
    const char *wished = getenv("BCR_CHAOS_KILLS");
    if (wished != NULL)
        return (unsigned)strtoul(wished, NULL, 10);
    if (has_cable)
        return (unsigned)test_scale(75, 3000);
    return board->hosts != 0 ? (unsigned)test_scale(200, 10000) : (unsigned)test_scale(1000, 100000);
}

TEST_TIMEOUT(when_CCEs_are_killed_at_any_time_the_others_go_on_and_nothing_is_lost, 24 * 3600)
{
    if (test_is_instrumented())
        SKIP("under a tool most kills would hit the tool");
    unsigned next_report = REPORT_KILLS;
    start();
    const unsigned wanted = kills_wanted();
    network_weather(true);
    while (tally.kills < wanted) {
        const unsigned end = tally.kills + ROUND_KILLS < wanted ? tally.kills + ROUND_KILLS : wanted;
        atomic_fetch_add(&board->phase, CHAOS_PHASES - atomic_load(&board->phase) % CHAOS_PHASES);
        while (tally.kills < end) {
            wait_usec((unsigned)below(GAP_USEC));
            if (board->hosts != 0 && tally.kills > wanted / 2 && is_due(tally.hosts, HOSTS_PERCENT))
                lose_host();
            else if (board->hosts != 0 && is_due(tally.interrupts, INTERRUPTS_PERCENT))
                interrupt_host();
            else if (below(100) < STOPS_PERCENT)
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
        FAIL("status %d:\n%s%s", run.status, run.error, said());
}
