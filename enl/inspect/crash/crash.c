/* SPDX-License-Identifier: MIT */
/* crash.c -- the daemon's part: crash.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "host/host.h"
#include "host/worker.h"
#include "inspect/crash/crash_private.h"

/* A CCE waits 2,000 ms for its trace (enl/client/crash.c), and LOCALS_MSEC more if gdb is asked for its
 * variables. */
enum { TRACE_MSEC = 1800, DEFER_MSEC = 2000, LOCALS_MSEC = 2000 };

static void on_look(uv_timer_t *timer);

/* How long something about a crash may take that takes `msec` without local variables. */
static uint64_t patience_ns(const struct enl_self *self, unsigned msec)
{
    const bool locals = self->config.crashreport == BCRI_CRASHREPORT_LOCALS;
    return ((uint64_t)msec + (locals ? LOCALS_MSEC : 0)) * 1000000;
}

void enl_crash_init(struct enl_crashes *crashes, struct enl_self *self, struct enl_here *here,
                    const struct enl_crash_ops *ops, void *owner)
{
    crashes->self = self;
    crashes->here = here;
    crashes->ops = ops;
    crashes->owner = owner;
    TAILQ_INIT(&crashes->open);
    STAILQ_INIT(&crashes->reports.all);
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

/* At the time when the first of what is open has had its time; that of the program's end comes later. */
static void look_in_time(struct enl_crashes *crashes)
{
    uint64_t at_ns = crashes->defers_until_ns;
    const struct enl_crash *crash;
    TAILQ_FOREACH (crash, &crashes->open, entry)
        if (crash == TAILQ_FIRST(&crashes->open) || crash->until_ns < at_ns)
            at_ns = crash->until_ns;
    const uint64_t now_ns = bcri_clock_ns();
    const uint64_t msec = at_ns > now_ns ? (at_ns - now_ns) / 1000000 + 1 : 0;
    uv_timer_start(&crashes->look, on_look, msec, 0);
}

static void on_look(uv_timer_t *timer)
{
    struct enl_crashes *crashes = timer->data;
    const uint64_t now_ns = bcri_clock_ns();
    struct enl_crash *next;
    for (struct enl_crash *crash = TAILQ_FIRST(&crashes->open); crash != NULL; crash = next) {
        next = TAILQ_NEXT(crash, entry);
        if (now_ns < crash->until_ns)
            continue;
        enl_crash_take_trace(crashes, crash); /* the daemon may have stood still */
        if (!crash->traced)
            enl_crash_text_cut(&crash->text, "... and more, but its time was up\n");
        enl_crash_let_die(crashes, crash);
    }
    enl_crash_start_tracers(crashes);
    if (!TAILQ_EMPTY(&crashes->open) ||
        (crashes->defers && now_ns < crashes->defers_until_ns && is_one_dying(crashes))) {
        look_in_time(crashes);
    } else if (crashes->defers) {
        crashes->defers = false;
        crashes->deferred = true;
        if (crashes->self->phase != ENL_ENDED)
            crashes->ops->end_is_due(crashes->owner);
    }
}

/* ---------------------------------------------------------------------------- waiters --- */

/* Of those that sleep, what they have noted. */
static struct enl_waiters *sleepers(const struct enl_cce *crashed)
{
    struct enl_waiters *waiters = calloc(1, sizeof *waiters);
    if (waiters == NULL)
        return NULL;
    waiters->owner = crashed->index;
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashed->here->all, entry) {
        const struct bcri_bell_shm *bell = &cce->record->bell;
        const struct bcri_sleep_shm *sleep = &cce->record->sleep;
        const bcri_ref request = bcri_load(&sleep->waits_for) & BCRI_REF_MASK;
        const bool locked = bcri_load(&bell->waits_on) == crashed->index + 1;
        if (cce == crashed || cce->life != ENL_ALIVE || waiters->count == ENL_WAITERS_MAX ||
            !(locked || (bcri_load(&bell->sleeping) != BCRI_AWAKE && request != BCRI_REF_NONE)))
            continue;
        waiters->at[waiters->count++] = (struct enl_waiter){.request = locked ? BCRI_REF_NONE : request,
                                                            .index = cce->index,
                                                            .since_ns = bcri_load(&sleep->since_ns)};
    }
    return waiters;
}

static void take_waiters(struct enl_here *here, struct enl_call *call, int code)
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
    enl_crash_let_die_when_known(crash->crashes, crash);
}

static void drop_waiters(struct enl_call *call)
{
    free(call);
}

static void ask_for_waiters(struct enl_crash *crash)
{
    struct enl_waiters *waiters = sleepers(crash->cce);
    if (waiters == NULL)
        return;
    waiters->call = (struct enl_call){enl_waiters_resolve, take_waiters, drop_waiters};
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
                                .text = {.limit = ENL_CRASH_BYTES_MAX},
                                .traced = cce->has_ended, /* its number may be another process's by now */
                                .until_ns = bcri_clock_ns() + patience_ns(crashes->self, TRACE_MSEC)};
    cce->crash = crash;
    TAILQ_INSERT_TAIL(&crashes->open, crash, entry);
    if (!cce->has_ended)
        ask_for_waiters(crash);
    enl_crash_start_tracers(crashes);
    look_in_time(crashes);
    return NULL;
}

void enl_crash_reaped(struct enl_crashes *crashes, pid_t pid)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashes->here->all, entry)
        if (cce->crash != NULL && cce->crash->tracer == pid)
            cce->crash->tracer = 0;
}

void enl_crash_drop(struct enl_cce *cce)
{
    struct enl_crash *crash = cce->crash;
    if (crash == NULL)
        return;
    struct enl_crashes *crashes = crash->crashes;
    if (crash->release >= 0)
        enl_crash_let_die(crashes, crash);
    free(crash->text.bytes);
    free(crash->waiters);
    free(crash);
    cce->crash = NULL;
    if (crashes->defers && TAILQ_EMPTY(&crashes->open)) /* this may be the last that was waited for */
        uv_timer_start(&crashes->look, on_look, 0, 0);
}

/* ------------------------------------------------------------------------- the reports --- */

void enl_crash_ended(struct enl_crashes *crashes, struct enl_cce *cce, int signal, bool core_file)
{
    struct enl_crash_report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return;
    if (cce->crash != NULL)
        enl_crash_take_trace(crashes, cce->crash);
    const struct enl_crash_text text = enl_crash_account(cce, core_file);
    *report = (struct enl_crash_report){.host = crashes->self->host_number,
                                        .signal = signal,
                                        .count = 1,
                                        .ordinal = cce->ordinal,
                                        .text = text.bytes,
                                        .length = text.length};
    enl_cce_text(cce, report->who, sizeof report->who);
    enl_ordinals_add(&report->ordinals, cce->ordinal, cce->ordinal);
    enl_crash_gather(crashes, report);
}

/* That of which a part has come; else a new one. NULL: no memory. */
static struct enl_crash_report *report_of(struct enl_crashes *crashes, uint32_t host)
{
    struct enl_crash_report *report;
    STAILQ_FOREACH (report, &crashes->parts, entry)
        if (report->host == host)
            return report;
    if ((report = calloc(1, sizeof *report)) == NULL)
        return NULL;
    report->host = host;
    report->text = malloc(ENL_CRASH_BYTES_MAX);
    STAILQ_INSERT_TAIL(&crashes->parts, report, entry);
    return report;
}

const char *enl_crash_of_host(struct enl_crashes *crashes, uint32_t host, const struct bcri_control *message)
{
    struct enl_crash_report *report = report_of(crashes, host);
    if (report == NULL)
        return NULL;
    if (report->text != NULL && message->bytes.length <= ENL_CRASH_BYTES_MAX - report->length) {
        if (message->bytes.length != 0)
            memcpy(report->text + report->length, message->bytes.bytes, message->bytes.length);
        report->length += message->bytes.length;
    }
    if (message->size != 0) /* more of it follows */
        return NULL;
    STAILQ_REMOVE(&crashes->parts, report, enl_crash_report, entry);
    report->signal = (int)message->kind;
    report->count = message->count;
    report->ordinal = message->ordinal;
    char ordinals[ENL_ORDINALS_TEXT_MAX];
    if (!bcri_view_copy(message->object, report->who, sizeof report->who) ||
        !bcri_view_copy(message->text, ordinals, sizeof ordinals)) {
        enl_crash_report_free(report);
        return "a crash report with too long a name";
    }
    enl_ordinals_read(&report->ordinals, ordinals);
    enl_crash_gather(crashes, report);
    return NULL;
}

/* ------------------------------------------------------------------------- the program --- */

bool enl_crash_defers_end(struct enl_crashes *crashes)
{
    if (crashes->self->phase != ENL_RUNNING || crashes->deferred)
        return false;
    if (crashes->defers)
        return true;
    if (!is_one_dying(crashes))
        return false;
    crashes->defers = true;
    crashes->defers_until_ns = bcri_clock_ns() + patience_ns(crashes->self, DEFER_MSEC);
    look_in_time(crashes);
    return true;
}

void enl_crash_close(struct enl_crashes *crashes)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &crashes->here->all, entry)
        enl_crash_drop(cce);
    STAILQ_CONCAT(&crashes->reports.all, &crashes->parts);
    struct enl_crash_report *report;
    while ((report = enl_crash_reports_take(&crashes->reports)) != NULL)
        enl_crash_report_free(report);
    uv_close((uv_handle_t *)&crashes->look, NULL);
    uv_close((uv_handle_t *)&crashes->gather, NULL);
}
