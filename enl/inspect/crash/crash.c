/* SPDX-License-Identifier: MIT */
/* crash.c -- the daemon's part: crash.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "host/worker.h"
#include "inspect/crash/crash_private.h"
#include "inspect/crash/waiters.h"
#include "tree/child.h"
#include "wire/conn.h"

/* A CCE waits 2,000 ms for its trace (enl/client/crash.c), and LOCALS_MSEC more if gdb is asked for its
 * variables. */
enum { TRACE_MSEC = 1800, DEFER_MSEC = 2000, LOCALS_MSEC = 2000 };

static void on_look(uv_timer_t *timer);

/* How long something about a crash may take that takes `msec` without local variables. */
static uint64_t patience_ns(const struct enl_program *program, unsigned msec)
{
    const bool locals = program->self.config.crashreport == BCRI_CRASHREPORT_LOCALS;
    return ((uint64_t)msec + (locals ? LOCALS_MSEC : 0)) * 1000000;
}

/* NULL: no memory. */
static struct enl_crashes *crashes_of(struct enl_program *program)
{
    struct enl_crashes *crashes = program->crashes;
    if (crashes != NULL || (crashes = calloc(1, sizeof *crashes)) == NULL)
        return crashes;
    crashes->program = program;
    crashes->open_end = &crashes->open;
    uv_timer_init(&program->self.loop, &crashes->look);
    uv_timer_init(&program->self.loop, &crashes->gather);
    crashes->look.data = crashes->gather.data = crashes;
    crashes->handles = 2;
    program->crashes = crashes;
    return crashes;
}

static void on_closed(uv_handle_t *handle)
{
    struct enl_crashes *crashes = handle->data;
    if (--crashes->handles == 0)
        free(crashes);
}

/* Whether a CCE has crashed and has not ended yet. */
static bool is_one_dying(const struct enl_program *program)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        if (cce->crash != NULL)
            return true;
    return false;
}

/* At the time when the first of what is open has had its time; that of the program's end comes later. */
static void look_in_time(struct enl_crashes *crashes)
{
    uint64_t at_ns = crashes->defers_until_ns;
    for (const struct enl_crash *crash = crashes->open; crash != NULL; crash = crash->next)
        if (crash == crashes->open || crash->until_ns < at_ns)
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
    for (struct enl_crash *crash = crashes->open; crash != NULL; crash = next) {
        next = crash->next;
        if (now_ns < crash->until_ns)
            continue;
        enl_crash_take_trace(crashes, crash); /* the daemon may have stood still */
        if (!crash->traced)
            enl_crash_text_cut(&crash->text, "... and more, but its time was up\n");
        enl_crash_let_die(crashes, crash);
    }
    enl_crash_start_tracers(crashes);
    if (crashes->open != NULL ||
        (crashes->defers && now_ns < crashes->defers_until_ns && is_one_dying(crashes->program))) {
        look_in_time(crashes);
    } else if (crashes->defers) {
        crashes->defers = false;
        crashes->deferred = true;
        if (crashes->program->self.phase != ENL_ENDED)
            enl_program_abort(crashes->program, crashes->program->jobs.status);
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
    enl_crash_let_die_when_known(enl_program_of_cce(cce)->crashes, crash);
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

const char *enl_crash_begun(struct enl_cce *cce, struct bcri_incoming *in)
{
    struct enl_program *program = enl_program_of_cce(cce);
    const struct bcri_control *message = &in->message;
    if (in->fds[0] < 0)
        return "crashed without a descriptor";
    if (cce->crash != NULL)
        return "it has crashed before";
    struct enl_crashes *crashes = program->self.phase == ENL_RUNNING ? crashes_of(program) : NULL;
    struct enl_crash *crash = crashes != NULL ? calloc(1, sizeof *crash) : NULL;
    if (crash == NULL)
        return NULL; /* the descriptor is closed, and the CCE dies */
    *crash = (struct enl_crash){.cce = cce,
                                .signal = (int)message->kind,
                                .code = message->code,
                                .thread = message->pid,
                                .address = message->address,
                                .context = message->context,
                                .coroutines = message->coroutines,
                                .release = bcri_incoming_take(in, 0),
                                .text = {.limit = ENL_CRASH_BYTES_MAX},
                                .traced = cce->has_ended, /* its number may be another process's by now */
                                .until_ns = bcri_clock_ns() + patience_ns(program, TRACE_MSEC)};
    cce->crash = crash;
    *crashes->open_end = crash;
    crashes->open_end = &crash->next;
    if (!cce->has_ended)
        ask_for_waiters(crash);
    enl_crash_start_tracers(crashes);
    look_in_time(crashes);
    return NULL;
}

void enl_crash_reaped(struct enl_program *program, pid_t pid)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        if (cce->crash != NULL && cce->crash->tracer == pid)
            cce->crash->tracer = 0;
}

void enl_crash_drop(struct enl_cce *cce)
{
    struct enl_crash *crash = cce->crash;
    if (crash == NULL)
        return;
    if (crash->release >= 0)
        enl_crash_let_die(enl_program_of_cce(cce)->crashes, crash);
    free(crash->text.bytes);
    free(crash->waiters);
    free(crash);
    cce->crash = NULL;
    struct enl_crashes *crashes = enl_program_of_cce(cce)->crashes;
    if (crashes != NULL && crashes->defers &&
        crashes->open == NULL) /* this may be the last that was waited for */
        uv_timer_start(&crashes->look, on_look, 0, 0);
}

/* ------------------------------------------------------------------------- the reports --- */

void enl_crash_ended(struct enl_cce *cce, int signal, bool core_file)
{
    struct enl_program *program = enl_program_of_cce(cce);
    struct enl_crashes *crashes = crashes_of(program);
    struct enl_crash_report *report = crashes != NULL ? calloc(1, sizeof *report) : NULL;
    if (report == NULL)
        return;
    if (cce->crash != NULL)
        enl_crash_take_trace(crashes, cce->crash);
    const struct enl_crash_text text = enl_crash_account(cce, core_file);
    *report = (struct enl_crash_report){.host = program->self.hostname,
                                        .signal = signal,
                                        .count = 1,
                                        .ordinal = cce->ordinal,
                                        .text = text.bytes,
                                        .length = text.length};
    enl_cce_text(cce, report->who, sizeof report->who);
    enl_ordinals_add(&report->ordinals, cce->ordinal, cce->ordinal);
    enl_crash_gather(crashes, report);
}

const char *enl_crash_of_child(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_crashes *crashes = crashes_of(child->program);
    struct enl_crash_report *report = child->crash;
    if (crashes == NULL)
        return NULL;
    if (report == NULL) {
        if ((report = calloc(1, sizeof *report)) == NULL)
            return NULL;
        report->text = malloc(ENL_CRASH_BYTES_MAX);
        child->crash = report;
    }
    if (report->text != NULL && message->bytes.length <= ENL_CRASH_BYTES_MAX - report->length) {
        if (message->bytes.length != 0)
            memcpy(report->text + report->length, message->bytes.bytes, message->bytes.length);
        report->length += message->bytes.length;
    }
    if (message->size != 0) /* more of it follows */
        return NULL;
    child->crash = NULL;
    report->host = child->host->name;
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

bool enl_crash_defers_abort(struct enl_program *program, int status)
{
    struct enl_crashes *crashes = program->crashes;
    if (crashes == NULL || program->self.phase != ENL_RUNNING || crashes->deferred)
        return false;
    if (crashes->defers)
        return true;
    if (!is_one_dying(program))
        return false;
    enl_jobs_decide(&program->jobs, status, true);
    crashes->defers = true;
    crashes->defers_until_ns = bcri_clock_ns() + patience_ns(program, DEFER_MSEC);
    look_in_time(crashes);
    return true;
}

void enl_crash_close(struct enl_program *program)
{
    struct enl_crashes *crashes = program->crashes;
    if (crashes == NULL)
        return;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &program->here.all, entry)
        enl_crash_drop(cce);
    struct enl_crash_report *report;
    while ((report = enl_crash_reports_take(&crashes->reports)) != NULL)
        enl_crash_report_free(report);
    program->crashes = NULL;
    uv_close((uv_handle_t *)&crashes->look, on_closed);
    uv_close((uv_handle_t *)&crashes->gather, on_closed);
}
