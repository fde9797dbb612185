/* SPDX-License-Identifier: MIT */
/* crash.c -- the daemon's part: crash.h. */
#include "crash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/clock.h"
#include "child.h"
#include "conn.h"
#include "own_start.h"
#include "peer.h"
#include "report.h"
#include "waiters.h"
#include "worker.h"

/* A CCE waits 2,000 ms for its trace (enl/client/crash.c), and LOCALS_MSEC more if gdb is asked for its variables. */
enum { TRACE_MSEC = 1800, LOOK_MSEC = 50, GATHER_MSEC = 400, DEFER_MSEC = 2000, LOCALS_MSEC = 2000 };
enum { TRACERS_MAX = 4 };

/* Of a report: where at the latest the stack ends, by which reports are alike, and what is told before the
 * output. What is left is for other stacks. */
enum {
    KEY_LIMIT = ENL_CRASH_BYTES_MAX / 2,
    STATE_LIMIT = KEY_LIMIT + 8192,
    OUTPUT_LIMIT = STATE_LIMIT + 4352
};
_Static_assert(ENL_TAIL_BYTES + 256 <= OUTPUT_LIMIT - STATE_LIMIT && OUTPUT_LIMIT <= ENL_CRASH_BYTES_MAX,
               "each part of a report has its room");

struct enl_crash {
    struct enl_crash *next; /* of those that are not done, oldest first */
    struct enl_cce *cce;
    int signal, code;
    uint32_t thread;
    uint64_t address, context, coroutines;
    int release;             /* its end lets the CCE die; -1: it has been let */
    pid_t tracer;            /* 0: not started, or reaped */
    struct enl_watch *watch; /* of its output; NULL: not started, or ended */
    uint64_t until_ns;
    struct enl_crash_text text;
    struct enl_waiters *waiters; /* NULL: not known, or not yet */
    bool traced;                 /* the tracer has ended, or could not be started */
    bool asked;                  /* the worker is to say who waits */
};

struct enl_crashes {
    struct enl_program *program;
    struct enl_crash *open, **open_end;
    unsigned tracers; /* that run */
    struct enl_crash_reports reports;
    uv_timer_t look;       /* while a crash is open, or the program's end is deferred */
    uv_timer_t gather;     /* while there are reports that are not shown */
    bool defers, deferred; /* the program's end waits; has waited */
    uint64_t defers_until_ns;
    unsigned handles; /* not closed yet */
};

bool enl_crash_is(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGABRT || signal == SIGSYS;
}

static void on_look(uv_timer_t *timer);
static void on_gather(uv_timer_t *timer);

/* How long something about a crash may take that takes `msec` without local variables. */
static uint64_t patience_ns(const struct enl_program *program, unsigned msec)
{
    const bool locals = program->config.crashreport == BCRI_CRASHREPORT_LOCALS;
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
    uv_timer_init(&program->loop, &crashes->look);
    uv_timer_init(&program->loop, &crashes->gather);
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

/* ---------------------------------------------------------------------------- the tracer --- */

static void start_tracers(struct enl_crashes *crashes);

static void end_tracer(struct enl_crashes *crashes, struct enl_crash *crash)
{
    if (crash->watch != NULL) {
        enl_watch_stop(crash->watch);
        crash->watch = NULL;
        crashes->tracers--;
    }
    if (crash->tracer != 0)
        kill(crash->tracer, SIGKILL);
    crash->traced = true;
}

/* The CCE may die; what the tracer has said until now is its trace. */
static void let_die(struct enl_crashes *crashes, struct enl_crash *crash)
{
    struct enl_crash **at = &crashes->open;
    while (*at != crash)
        at = &(*at)->next;
    *at = crash->next;
    if (crashes->open_end == &crash->next)
        crashes->open_end = at;
    end_tracer(crashes, crash);
    close(crash->release);
    crash->release = -1;
}

static void let_die_when_known(struct enl_crashes *crashes, struct enl_crash *crash)
{
    if (crash->traced && !crash->asked)
        let_die(crashes, crash);
}

static void on_trace(void *data)
{
    struct enl_crash *crash = data;
    struct enl_crashes *crashes = crash->cce->program->crashes;
    char bytes[4096];
    for (;;) {
        const ssize_t got = read(crash->watch->fd, bytes, sizeof bytes);
        if (got > 0) {
            enl_crash_text_add(&crash->text, bytes, (size_t)got);
            continue;
        }
        if (got < 0 && errno == EAGAIN)
            return;
        if (got < 0 && errno == EINTR)
            continue;
        end_tracer(crashes, crash);
        let_die_when_known(crashes, crash);
        start_tracers(crashes);
        return;
    }
}

/* Returns whether a tracer runs. */
static bool start_tracer(struct enl_crashes *crashes, struct enl_crash *crash)
{
    struct enl_program *program = crashes->program;
    char numbers[4][24];
    snprintf(numbers[0], sizeof numbers[0], "%ld", (long)crash->cce->pid);
    snprintf(numbers[1], sizeof numbers[1], "%u", crash->thread);
    snprintf(numbers[2], sizeof numbers[2], "%llu", (unsigned long long)crash->context);
    snprintf(numbers[3], sizeof numbers[3], "%llu", (unsigned long long)crash->coroutines);
    const char *locals = program->config.crashreport == BCRI_CRASHREPORT_LOCALS ? "locals" : NULL;
    const char *const words[] = {"enl",      "--trace",  numbers[0], numbers[1],
                                 numbers[2], numbers[3], locals,     NULL};
    char reason[256];
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    const struct enl_own_start start = {.words = words, .in = -1, .out = pair[1], .keep = -1};
    const pid_t pid = enl_own_start(program, &start, reason, sizeof reason);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return false;
    }
    crash->tracer = pid;
    crash->watch = enl_watch_start(program, pair[0], on_trace, crash);
    crashes->tracers += crash->watch != NULL;
    return crash->watch != NULL;
}

static void start_tracers(struct enl_crashes *crashes)
{
    struct enl_crash *next;
    for (struct enl_crash *crash = crashes->open; crash != NULL && crashes->tracers < TRACERS_MAX;
         crash = next) {
        next = crash->next;
        if (crash->watch != NULL || crash->traced || start_tracer(crashes, crash))
            continue;
        end_tracer(crashes, crash);
        let_die_when_known(crashes, crash);
    }
}

/* Whether a CCE has crashed and has not ended yet. */
static bool is_one_dying(const struct enl_program *program)
{
    const struct enl_cce *cce = program->first;
    while (cce != NULL && cce->crash == NULL)
        cce = cce->next;
    return cce != NULL;
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
        if (!crash->traced)
            enl_crash_text_cut(&crash->text, "... and more, but its time was up\n");
        let_die(crashes, crash);
    }
    start_tracers(crashes);
    if (crashes->open != NULL)
        return;
    if (crashes->defers && now_ns < crashes->defers_until_ns && is_one_dying(crashes->program))
        return;
    uv_timer_stop(timer);
    if (crashes->defers) {
        crashes->defers = false;
        crashes->deferred = true;
        if (crashes->program->phase != ENL_ENDED)
            enl_program_abort(crashes->program, crashes->program->status);
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
    for (const struct enl_cce *cce = crashed->program->first; cce != NULL; cce = cce->next) {
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

static void ask_for_waiters(struct enl_crash *crash)
{
    struct enl_cce *cce = crash->cce;
    const struct enl_work work = {.kind = ENL_WORK_WAITERS, .index = cce->index, .waiters = sleepers(cce)};
    crash->asked = work.waiters != NULL && enl_worker_add(cce->program->worker, &work);
    if (!crash->asked)
        free(work.waiters);
}

void enl_crash_waited_for(struct enl_program *program, const struct enl_work *work)
{
    const struct enl_cce *cce = enl_cce_at(program, work->index);
    struct enl_crash *crash = cce != NULL ? cce->crash : NULL;
    if (crash == NULL || !crash->asked || crash->release < 0)
        return;
    crash->asked = false;
    crash->waiters = malloc(sizeof *crash->waiters);
    if (crash->waiters != NULL)
        *crash->waiters = *work->waiters;
    let_die_when_known(program->crashes, crash);
}

static void add_waiters(struct enl_crash_text *text, const struct enl_crash *crash)
{
    const uint64_t now_ns = bcri_clock_ns();
    const struct enl_waiters *waiters = crash->waiters;
    for (uint32_t i = 0; waiters != NULL && i < waiters->count; i++) {
        const struct enl_waiter *waiter = &waiters->at[i];
        const struct enl_cce *cce = enl_cce_at(crash->cce->program, waiter->index);
        char who[512];
        if (waiter->others != 0)
            enl_crash_text_line(text, "%u request%s of CCEs on other hosts to %s its cell %u wait%s",
                                waiter->others, waiter->others == 1 ? "" : "s",
                                waiter->puts ? "put into" : "get from", waiter->cell,
                                waiter->others == 1 ? "s" : "");
        if (!waiter->waits || cce == NULL || waiter->others != 0)
            continue;
        enl_cce_text(cce, who, sizeof who);
        if (waiter->request == BCRI_REF_NONE)
            enl_crash_text_line(text, "%s waits for a lock that it holds inside a call", who);
        else
            enl_crash_text_line(text, "%s has waited for %.1f s to %s its cell %u", who,
                                (double)(now_ns - waiter->since_ns) / 1e9,
                                waiter->puts ? "put into" : "get from", waiter->cell);
    }
}

const char *enl_crash_begun(struct enl_cce *cce, struct bcri_incoming *in)
{
    struct enl_program *program = cce->program;
    const struct bcri_control *message = &in->message;
    if (in->fds[0] < 0)
        return "crashed without a descriptor";
    if (cce->crash != NULL)
        return "it has crashed before";
    struct enl_crashes *crashes = program->phase == ENL_RUNNING ? crashes_of(program) : NULL;
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
                                .until_ns = bcri_clock_ns() + patience_ns(program, TRACE_MSEC)};
    cce->crash = crash;
    *crashes->open_end = crash;
    crashes->open_end = &crash->next;
    ask_for_waiters(crash);
    start_tracers(crashes);
    uv_timer_start(&crashes->look, on_look, LOOK_MSEC, LOOK_MSEC);
    return NULL;
}

void enl_crash_reaped(struct enl_program *program, pid_t pid)
{
    for (struct enl_cce *cce = program->first; cce != NULL; cce = cce->next)
        if (cce->crash != NULL && cce->crash->tracer == pid)
            cce->crash->tracer = 0;
}

void enl_crash_drop(struct enl_cce *cce)
{
    struct enl_crash *crash = cce->crash;
    if (crash == NULL)
        return;
    if (crash->release >= 0)
        let_die(cce->program->crashes, crash);
    free(crash->text.bytes);
    free(crash->waiters);
    free(crash);
    cce->crash = NULL;
}

/* ------------------------------------------------------------------------- the reports --- */

static void gather(struct enl_crashes *crashes, struct enl_crash_report *report)
{
    enl_crash_reports_add(&crashes->reports, report);
    if (!uv_is_active((uv_handle_t *)&crashes->gather))
        uv_timer_start(&crashes->gather, on_gather, GATHER_MSEC, 0);
}

/* Ordinals go up as a text of numbers with a blank behind each. */
static void send_up(struct enl_program *program, const struct enl_crash_report *report)
{
    char ordinals[1024];
    size_t at = 0, used = 0;
    for (uint32_t i = 0; i < report->listed && used + 12 < sizeof ordinals; i++)
        used += (size_t)snprintf(ordinals + used, sizeof ordinals - used, "%u ", report->ordinals[i]);
    do {
        const size_t left = report->length - at, part = left < 2048 ? left : 2048;
        const struct bcri_control message = {.type = BCRI_MSG_died,
                                             .present = BCRI_HAS(ordinal) | BCRI_HAS(kind) | BCRI_HAS(count) |
                                                        BCRI_HAS(object) | BCRI_HAS(text) | BCRI_HAS(bytes) |
                                                        BCRI_HAS(size),
                                             .ordinal = report->ordinal,
                                             .kind = (uint32_t)report->signal,
                                             .count = report->count,
                                             .object = bcri_view_of(report->who),
                                             .text = {ordinals, (uint32_t)used},
                                             .bytes = {report->text + at, (uint32_t)part},
                                             .size = left - part};
        enl_peer_send(program->parent->peer, &message);
        at += part;
    } while (at < report->length);
}

void enl_crash_flush(struct enl_program *program)
{
    struct enl_crashes *crashes = program->crashes;
    struct enl_crash_report *report;
    if (crashes == NULL)
        return;
    uv_timer_stop(&crashes->gather);
    while ((report = enl_crash_reports_take(&crashes->reports)) != NULL) {
        if (program->parent != NULL)
            send_up(program, report);
        else
            enl_crash_report_show(program, report);
        enl_crash_report_free(report);
    }
    if (crashes->reports.left_out != 0)
        enl_report(program, BCRI_LOG_ERROR, "%u more CCEs crashed at that time, in other ways, on %s",
                   crashes->reports.left_out, program->hostname);
    crashes->reports.left_out = 0;
}

static void on_gather(uv_timer_t *timer)
{
    enl_crash_flush(((struct enl_crashes *)timer->data)->program);
}

static void add_cause(struct enl_crash_text *text, const struct enl_crash *crash)
{
    static const int with_address[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    if (crash->code <= 0) {
        if (crash->signal != SIGABRT)
            enl_crash_text_line(text, "a process has sent the signal");
        return;
    }
    for (size_t i = 0; i < sizeof with_address / sizeof with_address[0]; i++)
        if (crash->signal == with_address[i])
            enl_crash_text_line(text, "at address 0x%llx", (unsigned long long)crash->address);
}

static void add_why_no_stack(struct enl_crash_text *text, const struct enl_cce *cce)
{
    if (cce->crash != NULL)
        enl_crash_text_line(text,
                            "no stack: it could not be read (enl reads stacks on x86-64 only, and not of an "
                            "emulated program), or not in time");
    else if ((bcri_load(&cce->record->id.exit_status) & BCRI_CRASHED) != 0)
        enl_crash_text_line(text,
                            "no stack: the program could not tell enl (it has closed descriptors that it has "
                            "not opened, or has none left)");
    else
        enl_crash_text_line(
            text, "no stack: the program could not stop at the signal (a thread without an alternate "
                  "stack has used up its own, or the program has a handler of its own)");
}

static void add_output(struct enl_crash_text *text, const struct enl_cce *cce)
{
    char tail[ENL_TAIL_BYTES];
    const size_t length = enl_output_tail(cce, tail);
    if (length == 0)
        return;
    enl_crash_text_line(text, "the last it printed:");
    enl_crash_text_add(text, tail, length);
    if (tail[length - 1] != '\n')
        enl_crash_text_add(text, "\n", 1);
}

static void raise_limit(struct enl_crash_text *text, size_t limit)
{
    text->limit = limit;
    text->cut = false;
}

/* What is known of the end of `cce`: the trace's two parts, and between them what brought it about. */
static struct enl_crash_text text_of(const struct enl_cce *cce, bool core_file)
{
    const struct enl_crash *crash = cce->crash;
    const struct enl_crash_text none = {.bytes = NULL}, *trace = crash != NULL ? &crash->text : &none;
    const char *end = trace->length != 0 ? memchr(trace->bytes, '\0', trace->length) : NULL;
    const size_t key = end != NULL ? (size_t)(end - trace->bytes) : trace->length;
    struct enl_crash_text text = {.limit = KEY_LIMIT};
    enl_crash_text_add(&text, trace->bytes, key);
    raise_limit(&text, STATE_LIMIT);
    enl_crash_text_add(&text, "", 1);
    if (key == 0)
        add_why_no_stack(&text, cce);
    if (crash != NULL)
        add_cause(&text, crash);
    if (core_file)
        enl_crash_text_line(&text, "it has left a core file");
    enl_crash_last_operations(&text, cce);
    if (crash != NULL)
        add_waiters(&text, crash);
    raise_limit(&text, OUTPUT_LIMIT);
    add_output(&text, cce);
    raise_limit(&text, ENL_CRASH_BYTES_MAX);
    if (end != NULL)
        enl_crash_text_add(&text, end + 1, trace->length - key - 1);
    return text;
}

void enl_crash_ended(struct enl_cce *cce, int signal, bool core_file)
{
    struct enl_program *program = cce->program;
    struct enl_crashes *crashes = crashes_of(program);
    struct enl_crash_report *report = crashes != NULL ? calloc(1, sizeof *report) : NULL;
    if (report == NULL)
        return;
    const struct enl_crash_text text = text_of(cce, core_file);
    *report = (struct enl_crash_report){.host = program->hostname,
                                        .signal = signal,
                                        .count = 1,
                                        .ordinal = cce->ordinal,
                                        .text = text.bytes,
                                        .length = text.length};
    enl_cce_text(cce, report->who, sizeof report->who);
    enl_crash_report_name(report, cce->ordinal);
    gather(crashes, report);
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
    char ordinals[1024];
    if (!bcri_view_copy(message->object, report->who, sizeof report->who) ||
        !bcri_view_copy(message->text, ordinals, sizeof ordinals)) {
        enl_crash_report_free(report);
        return "a crash report with too long a name";
    }
    char *from = ordinals, *to;
    for (unsigned long ordinal; ordinal = strtoul(from, &to, 10), to != from; from = to)
        enl_crash_report_name(report, (uint32_t)ordinal);
    gather(crashes, report);
    return NULL;
}

/* ------------------------------------------------------------------------- the program --- */

bool enl_crash_defers_abort(struct enl_program *program, int status)
{
    struct enl_crashes *crashes = program->crashes;
    if (crashes == NULL || program->phase != ENL_RUNNING || crashes->deferred)
        return false;
    if (crashes->defers)
        return true;
    if (!is_one_dying(program))
        return false;
    if (!program->status_set)
        program->status = status;
    program->status_set = true;
    crashes->defers = true;
    crashes->defers_until_ns = bcri_clock_ns() + patience_ns(program, DEFER_MSEC);
    uv_timer_start(&crashes->look, on_look, LOOK_MSEC, LOOK_MSEC);
    return true;
}

void enl_crash_close(struct enl_program *program)
{
    struct enl_crashes *crashes = program->crashes;
    if (crashes == NULL)
        return;
    for (struct enl_cce *cce = program->first; cce != NULL; cce = cce->next)
        enl_crash_drop(cce);
    struct enl_crash_report *report;
    while ((report = enl_crash_reports_take(&crashes->reports)) != NULL)
        enl_crash_report_free(report);
    program->crashes = NULL;
    uv_close((uv_handle_t *)&crashes->look, on_closed);
    uv_close((uv_handle_t *)&crashes->gather, on_closed);
}
