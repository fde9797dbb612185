/* SPDX-License-Identifier: MIT */
/* crash.c -- the daemon's part: crashes under way, their tracers, and the program's end, which waits for both: crash.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/watch.h"
#include "bcri/clock.h"
#include "host/host.h"
#include "host/worker.h"
#include "inspect/crash/crash_private.h"

/* A CCE waits 2,000 ms for its trace (enl/client/crash.c), and LOCALS_MSEC more if gdb is asked for its
 * variables. */
enum { TRACE_MSEC = 1800, DEFER_MSEC = 2000, LOCALS_MSEC = 2000, LOOK_MSEC = 50, TRACERS_MAX = 4 };

static void start_tracers(struct enl_crashes *crashes);

/* Until when something about a crash may take that takes `msec` without local variables. */
static uint64_t patience_until_ns(const struct enl_self *self, unsigned msec)
{
    const bool locals = self->config.crashreport == BCRI_CRASHREPORT_LOCALS;
    return bcri_clock_ns() + ((uint64_t)msec + (locals ? LOCALS_MSEC : 0)) * 1000000;
}

void enl_crash_init(struct enl_crashes *crashes, struct enl_self *self, struct enl_here *here)
{
    crashes->self = self;
    crashes->here = here;
    TAILQ_INIT(&crashes->open);
    STAILQ_INIT(&crashes->reports);
    STAILQ_INIT(&crashes->held);
    STAILQ_INIT(&crashes->parts);
}

void enl_crash_start(struct enl_crashes *crashes)
{
    uv_timer_init(&crashes->self->loop, &crashes->look);
    uv_timer_init(&crashes->self->loop, &crashes->gather);
    crashes->look.data = crashes->gather.data = crashes;
}

/* Whether a CCE has crashed and has not ended yet. */
static bool is_one_dying(const struct enl_crashes *crashes)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashes->here->all, entry)
        if (cce->crash != NULL)
            return true;
    return false;
}

/* ---------------------------------------------------------------------------- tracers --- */

static void end_tracer(struct enl_crash *crash)
{
    if (crash->watch != NULL) {
        enl_watch_stop(crash->watch);
        crash->watch = NULL;
        crash->crashes->tracers--;
    }
    if (crash->tracer != 0)
        kill(-crash->tracer, SIGKILL); /* its gdb, too */
    crash->traced = true;
}

/* The CCE may die; what the tracer has written until now is its trace. */
static void let_die(struct enl_crash *crash)
{
    TAILQ_REMOVE(&crash->crashes->open, crash, entry);
    end_tracer(crash);
    close(crash->release);
    crash->release = -1;
}

/* The same, once its trace and its waiters are known. */
static void let_die_when_known(struct enl_crash *crash)
{
    if (crash->traced && !crash->asked)
        let_die(crash);
}

/* Reads what its tracer has written and is not read; after the end of that it is traced. */
static void read_trace(struct enl_crash *crash)
{
    char bytes[4096];
    while (crash->watch != NULL) {
        const ssize_t got = read(crash->watch->fd, bytes, sizeof bytes);
        if (got > 0)
            enl_crash_text_add(&crash->text, ENL_CRASH_BYTES_MAX, bytes, (size_t)got);
        else if (got < 0 && errno == EAGAIN)
            return;
        else if (got == 0 || errno != EINTR)
            end_tracer(crash);
    }
}

static void on_trace(void *data)
{
    struct enl_crash *crash = data;
    struct enl_crashes *crashes = crash->crashes;
    read_trace(crash);
    if (!crash->traced)
        return;
    let_die_when_known(crash);
    start_tracers(crashes);
}

/* Returns whether a tracer runs. */
static bool start_tracer(struct enl_crash *crash)
{
    struct enl_self *self = crash->crashes->self;
    const uint64_t numbers[4] = {(uint64_t)crash->cce->pid, crash->thread, crash->context, crash->coroutines};
    char texts[4][24];
    for (unsigned i = 0; i < 4; i++)
        snprintf(texts[i], sizeof texts[i], "%llu", (unsigned long long)numbers[i]);
    const char *locals = self->config.crashreport == BCRI_CRASHREPORT_LOCALS ? "locals" : NULL;
    const char *const words[] = {"enl", "--trace", texts[0], texts[1], texts[2], texts[3], locals, NULL};
    char reason[256];
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    const struct enl_own_start start = {.words = words, .in = -1, .out = pair[1], .keep = -1};
    const pid_t pid = enl_own_start(self, &start, reason, sizeof reason);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    crash->tracer = pid;
    crash->watch = enl_watch_start(self, pair[0], on_trace, crash);
    crash->crashes->tracers += crash->watch != NULL;
    return crash->watch != NULL;
}

/* For the oldest crashes, as many as may run at a time. */
static void start_tracers(struct enl_crashes *crashes)
{
    struct enl_crash *next;
    for (struct enl_crash *crash = TAILQ_FIRST(&crashes->open);
         crash != NULL && crashes->tracers < TRACERS_MAX; crash = next) {
        next = TAILQ_NEXT(crash, entry);
        if (crash->watch != NULL || crash->traced || start_tracer(crash))
            continue;
        end_tracer(crash);
        let_die_when_known(crash);
    }
}

/* ------------------------------------------------------------------------------- time --- */

/* Again and again while a crash is open or the program's end is deferred. */
static void on_look(uv_timer_t *timer)
{
    struct enl_crashes *crashes = timer->data;
    const uint64_t now_ns = bcri_clock_ns();
    struct enl_crash *next;
    for (struct enl_crash *crash = TAILQ_FIRST(&crashes->open); crash != NULL; crash = next) {
        next = TAILQ_NEXT(crash, entry);
        if (now_ns < crash->until_ns)
            continue;
        read_trace(crash); /* the daemon may have stood still */
        if (!crash->traced)
            enl_crash_text_cut(&crash->text, "... and more, but its time was up\n");
        let_die(crash);
    }
    start_tracers(crashes);
    if (!TAILQ_EMPTY(&crashes->open) ||
        (crashes->defers && now_ns < crashes->defers_until_ns && is_one_dying(crashes)))
        return;
    uv_timer_stop(timer);
    if (!crashes->defers)
        return;
    crashes->defers = false;
    crashes->deferred = true;
    if (crashes->self->phase != ENL_ENDED)
        crashes->self->ops->end_is_due(crashes->self->program);
}

static void look_again(struct enl_crashes *crashes)
{
    if (!uv_is_active((uv_handle_t *)&crashes->look))
        uv_timer_start(&crashes->look, on_look, LOOK_MSEC, LOOK_MSEC);
}

bool enl_crash_defers_end(struct enl_crashes *crashes)
{
    if (crashes->self->phase != ENL_RUNNING || crashes->deferred)
        return false;
    if (!crashes->defers && is_one_dying(crashes)) {
        crashes->defers = true;
        crashes->defers_until_ns = patience_until_ns(crashes->self, DEFER_MSEC);
        look_again(crashes);
    }
    return crashes->defers;
}

/* ------------------------------------------------------------------- from begin to end --- */

static void on_waiters(struct enl_here *here, struct enl_call *call, int code)
{
    struct enl_waiters *waiters = (struct enl_waiters *)call;
    const struct enl_cce *cce = enl_cce_at(here, waiters->owner);
    struct enl_crash *crash = cce != NULL ? cce->crash : NULL;
    (void)code;
    if (crash == NULL || !crash->asked || crash->release < 0) {
        free(waiters);
        return;
    }
    crash->asked = false;
    crash->waiters = waiters;
    let_die_when_known(crash);
}

static void drop_waiters(struct enl_call *call)
{
    free(call);
}

static void ask_for_waiters(struct enl_crash *crash)
{
    struct enl_waiters *waiters = calloc(1, sizeof *waiters);
    if (waiters == NULL)
        return;
    waiters->call = (struct enl_call){enl_waiters_find, on_waiters, drop_waiters};
    waiters->owner = crash->cce->index;
    const struct enl_work work = {.kind = ENL_WORK_CALL, .call = &waiters->call};
    crash->asked = enl_worker_add(crash->cce->here->worker, &work);
    if (!crash->asked)
        free(waiters);
}

const char *enl_crash_begun(struct enl_crashes *crashes, struct enl_cce *cce, struct bcri_incoming *in)
{
    const struct bcri_control *message = &in->message;
    if (in->fds[0] < 0)
        return "crashed without a descriptor";
    if (cce->crash != NULL)
        return "it has crashed before";
    struct enl_crash *crash = crashes->self->phase == ENL_RUNNING ? calloc(1, sizeof *crash) : NULL;
    if (crash == NULL)
        return NULL; /* the descriptor is closed, and the CCE dies */
    *crash = (struct enl_crash){.crashes = crashes,
                                .cce = cce,
                                .signal = (int)message->kind,
                                .code = message->code,
                                .thread = message->pid,
                                .address = message->address,
                                .context = message->context,
                                .coroutines = message->coroutines,
                                .release = bcri_incoming_take(in, 0),
                                .traced = cce->has_ended, /* its number may be another process's by now */
                                .until_ns = patience_until_ns(crashes->self, TRACE_MSEC)};
    cce->crash = crash;
    TAILQ_INSERT_TAIL(&crashes->open, crash, entry);
    if (!cce->has_ended)
        ask_for_waiters(crash);
    start_tracers(crashes);
    look_again(crashes);
    return NULL;
}

void enl_crash_reaped(struct enl_crashes *crashes, pid_t pid)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashes->here->all, entry)
        if (cce->crash != NULL && cce->crash->tracer == pid)
            cce->crash->tracer = 0;
}

void enl_crash_ended(struct enl_crashes *crashes, struct enl_cce *cce, int signal, bool core_file)
{
    struct enl_crash_report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return;
    if (cce->crash != NULL)
        read_trace(cce->crash);
    const struct enl_crash_text text = enl_crash_account(cce, core_file);
    *report = (struct enl_crash_report){.host = crashes->self->host_number,
                                        .signal = signal,
                                        .count = 1,
                                        .ordinal = cce->ordinal,
                                        .text = text.bytes,
                                        .length = text.length};
    snprintf(report->who, sizeof report->who, "%s", enl_cce_text(cce));
    enl_ordinals_add(&report->ordinals, cce->ordinal, cce->ordinal);
    enl_crash_gather(crashes, report);
}

void enl_crash_drop(struct enl_cce *cce)
{
    struct enl_crash *crash = cce->crash;
    if (crash == NULL)
        return;
    struct enl_crashes *crashes = crash->crashes;
    if (crash->release >= 0)
        let_die(crash);
    free(crash->text.bytes);
    free(crash->waiters);
    free(crash);
    cce->crash = NULL;
    if (crashes->defers && TAILQ_EMPTY(&crashes->open)) /* this may be the last that was waited for */
        uv_timer_start(&crashes->look, on_look, 0, LOOK_MSEC);
}

void enl_crash_close(struct enl_crashes *crashes)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashes->here->all, entry)
        enl_crash_drop(cce);
    enl_crash_reports_fini(crashes);
    uv_close((uv_handle_t *)&crashes->look, NULL);
    uv_close((uv_handle_t *)&crashes->gather, NULL);
}
