/* SPDX-License-Identifier: MIT */
/*
 * pair.c -- two processes that take turns at a floor and at what is compared with it.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Turns of looking at the partner's gate before sleeping: some 50 microseconds, more than a
 * start-up takes. */
#define GATE_SPIN_MAX  100000
#define GATE_YIELD_MAX 50
/* At most so many rounds per wanted one, when rounds were disturbed. */
#define ROUND_FACTOR_MAX 3

static volatile pid_t forked_partner;

void bench_futex_wait(_Atomic uint32_t *word, uint32_t expected)
{
    syscall(SYS_futex, word, FUTEX_WAIT, expected, NULL, NULL, 0);
}

void bench_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void map_pair(struct bench_pair *pair, int fd, size_t area_bytes, size_t reset_bytes)
{
    void *base =
        mmap(NULL, BENCH_AREA_OFFSET + area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (base == MAP_FAILED)
        bench_fail("cannot map %zu shared bytes", area_bytes);
    pair->shm = base;
    pair->area = (char *)base + BENCH_AREA_OFFSET;
    pair->area_bytes = area_bytes;
    pair->reset_bytes = reset_bytes;
}

int bench_pair_create(struct bench_pair *pair, size_t area_bytes, size_t reset_bytes)
{
    int fd = memfd_create("bench", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)(BENCH_AREA_OFFSET + area_bytes)) != 0)
        bench_fail("cannot make a shared file");
    map_pair(pair, fd, area_bytes, reset_bytes);
    pair->side = 0;
    return fd;
}

void bench_pair_join(struct bench_pair *pair, pid_t pid, int fd, size_t area_bytes, size_t reset_bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    int own_fd = open(path, O_RDWR | O_CLOEXEC);
    if (own_fd < 0)
        bench_fail("cannot open %s", path);
    map_pair(pair, own_fd, area_bytes, reset_bytes);
    close(own_fd);
    pair->side = 1;
}

/* A partner that ends early would leave side 0 spinning for ever. */
static void on_child_end(int number)
{
    static const char text[] = "bench: the partner process ended early\n";
    int status;
    (void)number;
    if (forked_partner != 0 && waitpid(forked_partner, &status, WNOHANG) == forked_partner) {
        ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
        (void)ignored;
        _exit(1);
    }
}

void bench_pair_fork(struct bench_pair *pair)
{
    struct sigaction action = {.sa_handler = on_child_end, .sa_flags = SA_RESTART};
    pid_t leader = getpid();

    fflush(NULL);
    sigaction(SIGCHLD, &action, NULL);
    pid_t child = fork();
    if (child < 0)
        bench_fail("cannot fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != leader)
            _exit(1);
        pair->side = 1;
        bench_pair_serve(pair);
        _exit(0);
    }
    forked_partner = child;
    pair->side = 0;
}

void bench_pair_meet(struct bench_pair *pair)
{
    struct bench_pair_shm *shm = pair->shm;
    _Atomic uint32_t *mine = &shm->gate[pair->side].arrived, *other = &shm->gate[!pair->side].arrived;
    uint32_t turn = ++pair->gate_turn;

    atomic_store(mine, turn);
    bench_futex_wake(mine);
    for (long i = 0;; i++) {
        uint32_t seen = atomic_load_explicit(other, memory_order_acquire);
        if ((int32_t)(seen - turn) >= 0)
            return;
        if (i >= GATE_SPIN_MAX + GATE_YIELD_MAX)
            bench_futex_wait(other, seen);
        else if (i >= GATE_SPIN_MAX)
            sched_yield();
    }
}

void bench_pair_align(struct bench_pair *pair)
{
    struct bench_pair_shm *shm = pair->shm;
    uint32_t turn = ++pair->start_turn;

    atomic_store(&shm->start[pair->side].arrived, turn);
    for (long i = 1; (int32_t)(atomic_load(&shm->start[!pair->side].arrived) - turn) < 0; i++)
        if (i % 1000 == 0)
            sched_yield();
}

static int64_t preemptions(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

/* Both sides, between the meeting that published the command and the one that publishes the
 * results. */
static int64_t run_turn(struct bench_pair *pair)
{
    struct bench_pair_shm *shm = pair->shm;
    const struct bench_case *item = &pair->cases[shm->case_idx];
    bench_step *step = shm->is_floor != 0 ? item->floor : item->subject;
    struct bench_turn turn = {
        .count = (long)shm->count, .size_bytes = item->size_bytes, .context = item->context};

    switch (item->place) {
    case BENCH_TWO_CORES: bench_pin(pair->core[pair->side], pair->core[pair->side]); break;
    case BENCH_ONE_CORE: bench_pin(pair->core[0], pair->core[0]); break;
    case BENCH_ANY_CORE: bench_pin(pair->core[0], pair->core[1]); break;
    }
    int64_t preempted_before = preemptions();
    bench_pair_align(pair);
    int64_t start_ns = bench_now_ns();
    step(pair, &turn);
    struct bench_result_shm *result = &shm->result[pair->side];
    result->timed_ns = turn.timed_ns;
    result->op_count = turn.op_count;
    result->preempted_count = preemptions() - preempted_before;
    bench_pair_meet(pair);
    return bench_now_ns() - start_ns;
}

void bench_pair_serve(struct bench_pair *pair)
{
    for (;;) {
        bench_pair_meet(pair);
        if (pair->shm->case_idx < 0)
            return;
        run_turn(pair);
    }
}

void bench_pair_end(struct bench_pair *pair)
{
    pid_t child = forked_partner;
    forked_partner = 0;
    pair->shm->case_idx = -1;
    bench_pair_meet(pair);
    if (child != 0)
        waitpid(child, NULL, 0);
}

struct measured_turn {
    double wall_ns, op_ns;
    bool disturbed;
};

static struct measured_turn lead_turn(struct bench_pair *pair, int case_idx, bool is_floor, long count)
{
    struct bench_pair_shm *shm = pair->shm;
    struct measured_turn measured;

    memset(pair->area, 0, pair->reset_bytes);
    shm->case_idx = case_idx;
    shm->is_floor = is_floor;
    shm->count = count;
    bench_pair_meet(pair);
    measured.wall_ns = (double)run_turn(pair);

    const struct bench_result_shm *result = shm->result;
    double timed_ns = result[0].timed_ns + result[1].timed_ns;
    int64_t op_count = result[0].op_count + result[1].op_count;
    if (op_count <= 0)
        bench_fail("%s did nothing", pair->cases[case_idx].name);
    measured.op_ns = (timed_ns > 0 ? timed_ns : measured.wall_ns) / (double)op_count;
    /* On one core every yield that finds another process counts as a preemption. */
    measured.disturbed = pair->cases[case_idx].place == BENCH_TWO_CORES &&
                         result[0].preempted_count + result[1].preempted_count > 0;
    return measured;
}

/* How many counts fill a turn; warms everything up on the way. */
static long calibrate(struct bench_pair *pair, int case_idx, bool is_floor,
                      const struct bench_options *options)
{
    if (options->tiny)
        return 4;
    /* What a step does once only, such as making a connection, is not part of what fills a turn. */
    (void)lead_turn(pair, case_idx, is_floor, 1);
    for (long count = 1;; count *= 4) {
        double wall_ns = lead_turn(pair, case_idx, is_floor, count).wall_ns;
        if (wall_ns < options->turn_ns / 2 && count < LONG_MAX / 8)
            continue;
        double fitting = (double)count * options->turn_ns / wall_ns;
        return fitting > 1 ? (long)fitting : 1;
    }
}

/*
 * A virtual machine's cores may be moved between measurements, and everything between two cores
 * then changes by up to five times; one cheap figure beside each other one shows it. */
static double probe(struct bench_pair *pair, const struct bench_options *options)
{
    enum { PROBE_COUNT = 20000, PROBE_ROUNDS = 5 };
    double time_ns[PROBE_ROUNDS];
    if (options->tiny || pair->core[0] == pair->core[1])
        return 0;
    for (int i = 0; i < PROBE_ROUNDS; i++)
        time_ns[i] = lead_turn(pair, pair->probe_idx, pair->probe_is_floor, PROBE_COUNT).op_ns;
    return bench_spread_of(time_ns, PROBE_ROUNDS).median;
}

static void measure_case(struct bench_pair *pair, int case_idx, const struct bench_options *options,
                         struct bench_report *report)
{
    const struct bench_case *item = &pair->cases[case_idx];
    int round_max = options->round_count * ROUND_FACTOR_MAX;
    double *value = calloc((size_t)round_max * 3, sizeof *value);
    if (value == NULL)
        bench_fail("no memory for %d rounds", round_max);
    double *floor = value + round_max, *ratio = floor + round_max;
    double probe_before_ns = probe(pair, options);
    long floor_count = item->floor != NULL ? calibrate(pair, case_idx, true, options) : 0;
    long subject_count = calibrate(pair, case_idx, false, options);

    /* Rounds in which another process was given one of our cores are run again; when that happens too
     * often, the rest is taken as it comes, and the report says so. */
    int kept = 0, disturbed_count = 0;
    for (int round = 0; round < round_max && kept < options->round_count; round++) {
        struct measured_turn below = {0};
        if (item->floor != NULL)
            below = lead_turn(pair, case_idx, true, floor_count);
        struct measured_turn own = lead_turn(pair, case_idx, false, subject_count);
        bool must_keep = round_max - round <= options->round_count - kept;
        bool disturbed = own.disturbed || below.disturbed;
        if (disturbed && !must_keep && !options->tiny)
            continue;
        disturbed_count += disturbed;
        value[kept] = bench_convert(item->unit, own.op_ns, item->size_bytes);
        floor[kept] = bench_convert(item->unit, below.op_ns, item->size_bytes);
        ratio[kept] = value[kept] / floor[kept];
        kept++;
    }
    struct bench_figure figure = {
        .name = item->name,
        .unit = item->unit,
        .floor_name = item->floor != NULL ? item->floor_name : NULL,
        .value = bench_spread_of(value, kept),
        .limit_kind = item->limit_kind,
        .limit = item->limit,
        .probe_ns = {probe_before_ns, probe(pair, options)},
        .disturbed_count = disturbed_count,
    };
    if (item->floor != NULL) {
        figure.floor = bench_spread_of(floor, kept);
        figure.ratio = bench_spread_of(ratio, kept);
    }
    bench_report_add(report, &figure);
    free(value);
}

void bench_pair_measure(struct bench_pair *pair, const struct bench_options *options,
                        struct bench_report *report)
{
    for (int i = 0; i < pair->case_count; i++) {
        const struct bench_case *item = &pair->cases[i];
        if (!bench_wanted(options, item->name))
            continue;
        if (item->left_out != NULL)
            bench_report_note("%s left out: %s", item->name, item->left_out);
        else if (item->place == BENCH_TWO_CORES && pair->core[0] == pair->core[1])
            bench_report_note("%s left out: it needs two cores", item->name);
        else
            measure_case(pair, i, options, report);
    }
}

void bench_pair_list(const struct bench_pair *pair, const struct bench_options *options)
{
    for (int i = 0; i < pair->case_count; i++)
        if (bench_wanted(options, pair->cases[i].name))
            puts(pair->cases[i].name);
}
