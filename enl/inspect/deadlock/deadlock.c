/* SPDX-License-Identifier: MIT */
/* See deadlock.h. */
#include "inspect/deadlock/deadlock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "base/status.h"
#include "host/host.h"
#include "host/worker.h"
#include "links/links.h"

/* A circle of write locks is looked for when it has lasted for some looks, which is longer than the root needs to
 * tell that all wait; and after a vain search less often. */
enum { LOOK_MSEC = 1000, SUSPECT_LOOKS = 3, SEARCH_LOOKS_MAX = 64, TEXT_LOOKS = 30 };

/* ---- looking at this host ---- */

/* Whether the process does not merely sleep, or look, whatever its record says: a person holds it, who has stopped it or
 * has a debugger; or it runs, in a signal handler; or it is dead, of which the daemon will hear. */
static bool is_held(const struct enl_cce *cce)
{
    struct enl_process_status status;
    const bool runs = bcri_load(&cce->record->idle.period) % 2 != 0;
    return !enl_process_status(cce->pid, &status) || status.tracer != 0 ||
           strchr(runs ? "SRD" : "S", status.state) == NULL;
}

static bool is_one_held(const struct enl_here *here)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->life == ENL_ALIVE && is_held(cce))
            return true;
    return false;
}

static bool daemon_is_quiet(const struct enl_deadlock *deadlock)
{
    const struct enl_here *here = deadlock->here;
    return deadlock->self->phase == ENL_RUNNING && deadlock->ops->is_quiet(deadlock->self->program) &&
           TAILQ_EMPTY(&here->conns->waiting) && here->forgetting == 0 && enl_worker_is_idle(here->worker);
}

/* What the records of the CCEs say. In a whole look, notes which CCEs are to be asked. */
static struct enl_stillness look_at_records(const struct enl_deadlock *deadlock, bool whole,
                                            unsigned *lookers_out, uint64_t *lockers_out)
{
    struct enl_stillness seen = {.still = daemon_is_quiet(deadlock)};
    unsigned may_lock = 0;
    *lockers_out = *lookers_out = 0;
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &deadlock->here->all, entry) {
        if (cce->life == ENL_OVER && !cce->repairing)
            continue;
        const bool lives =
            cce->life == ENL_ALIVE && !cce->repairing && !cce->disconnected && cce->crash == NULL;
        const struct enl_rest rest = lives ? enl_rest_of(cce->record) : (struct enl_rest){0};
        if (!rest.rests) {
            seen.still = false;
            continue;
        }
        enl_stillness_add(&seen, &rest);
        if (whole)
            cce->idle.period = rest.looks ? rest.moves : 0;
        *lookers_out += rest.looks;
        may_lock += rest.may_lock;
        *lockers_out += rest.may_lock ? rest.who ^ rest.since : 0;
    }
    if (may_lock < 2)
        *lockers_out = 0;
    return seen;
}

/* ---- telling ---- */

static void send_hup(const struct enl_here *here)
{
    const struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->life == ENL_ALIVE)
            kill(cce->pid, SIGHUP);
}

/* Debuggers for all CCEs, as enl attach opens them. */
static void open_debuggers(struct enl_self *self, const struct enl_debug_wish *wish)
{
    const char *display = getenv("DISPLAY"), *where = wish->where;
    char reason[512];
    if (where == NULL || strncmp(where, "batch:", 6) == 0)
        where = display != NULL && display[0] != '\0' ? display : "server";
    const char *const words[] = {"enl", "attach", "-D", where, self->name, NULL};
    const struct enl_own_start start = {.words = words, .in = -1, .out = 2, .keep = -1, .outlives = true};
    if (enl_own_start(self, &start, reason, sizeof reason) < 0)
        enl_report(self, BCRI_LOG_ERROR, "%s", reason);
}

/* A program whose signals are passed on takes SIGHUP for the news, unless somebody has chosen otherwise. */
static int what_follows(const struct enl_deadlock *deadlock)
{
    struct bcri_config_entry entry;
    bcri_config_at(&deadlock->self->config, BCRI_CONFIG_ondeadlock, &entry);
    return strcmp(entry.origin, "default") == 0 && deadlock->ops->passes_signals(deadlock->self->program)
               ? BCRI_ONDEADLOCK_HUP
               : deadlock->self->config.ondeadlock;
}

/* The deadlock was explained, or could not be. */
static void act_on_deadlock(struct enl_deadlock *deadlock)
{
    const int what = what_follows(deadlock);
    const struct bcri_control message = {
        .type = BCRI_MSG_deadlock, .present = BCRI_HAS(kind), .kind = (uint32_t)what};
    deadlock->ops->send_down(deadlock->self->program, &message, true);
    if (what == BCRI_ONDEADLOCK_HUP)
        send_hup(deadlock->here);
    else if (what == BCRI_ONDEADLOCK_DEBUG)
        open_debuggers(deadlock->self, deadlock->wish);
}

static void show_explanation(struct enl_self *self, const char *text)
{
    if (*text != '\0')
        enl_report_shown(self, "%s", text);
    while (*text != '\0') {
        const size_t line = strcspn(text, "\n");
        bcri_log_write(enl_report_log(self), BCRI_LOG_WARN, "%.*s", (int)line, text);
        text += line + (text[line] == '\n');
    }
}

static void drop_text(struct enl_explanation *text)
{
    enl_watch_stop(text->watch);
    memset(text, 0, sizeof *text);
}

static void explained(struct enl_deadlock *deadlock)
{
    const bool whole = deadlock->text.whole;
    deadlock->lockers_told |= deadlock->text.length > deadlock->text.own;
    if (deadlock->self->phase == ENL_RUNNING)
        show_explanation(deadlock->self, deadlock->text.bytes);
    drop_text(&deadlock->text);
    if (whole && deadlock->self->phase == ENL_RUNNING)
        act_on_deadlock(deadlock);
}

static void on_text(void *data)
{
    struct enl_deadlock *deadlock = data;
    struct enl_explanation *text = &deadlock->text;
    char bytes[4096];
    for (;;) {
        const ssize_t got = read(text->watch->fd, bytes, sizeof bytes);
        const size_t room = sizeof text->bytes - 1 - text->length;
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0)
            break;
        memcpy(text->bytes + text->length, bytes, (size_t)got < room ? (size_t)got : room);
        text->length += (size_t)got < room ? (size_t)got : room;
    }
    explained(deadlock);
}

/* What a process has said that is stopped, or stuck, is told without the rest. */
static void bound_text(struct enl_deadlock *deadlock)
{
    struct enl_explanation *text = &deadlock->text;
    if (text->watch == NULL || ++text->looks < TEXT_LOOKS)
        return;
    kill(text->pid, SIGKILL);
    explained(deadlock);
}

/* The sentence with which the report of a deadlock begins. */
static void begin_text(struct enl_explanation *text, uint32_t count, bool servers)
{
    char all[48] = "the program's only CCE";
    if (count != 1)
        snprintf(all, sizeof all, "all %u CCEs of the program", count);
    snprintf(text->bytes, sizeof text->bytes,
             "deadlock: %s%s wait%s without a time limit, and nothing is on its way.\n", all,
             !servers     ? ""
             : count == 1 ? " that is no server"
                          : " that are no servers",
             count == 1 ? "s" : "");
}

/* Starts a process that looks, and says why the CCEs wait: `count` of them in a deadlock, or 0 in a circle of locks. Returns
 * whether it runs. */
static bool explain(struct enl_deadlock *deadlock, uint32_t count)
{
    struct enl_explanation *text = &deadlock->text;
    struct enl_self *self = deadlock->self;
    const char *const words[] = {"enl", "--explain", count != 0 ? "all" : "locks", self->socket_name, NULL};
    char reason[512];
    int pair[2];
    drop_text(text);
    text->whole = count != 0;
    if (count != 0)
        begin_text(text, count, enl_root_detector_servers(&deadlock->root_detector));
    text->length = text->own = strlen(text->bytes);
    if (pipe2(pair, O_CLOEXEC) != 0)
        return false;
    const struct enl_own_start start = {.words = words, .in = -1, .out = pair[1], .keep = -1};
    text->pid = enl_own_start(self, &start, reason, sizeof reason);
    close(pair[1]);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    if (text->pid > 0)
        text->watch = enl_watch_start(self, pair[0], on_text, deadlock);
    else
        close(pair[0]);
    return text->watch != NULL;
}

static void act_on_verdict(struct enl_deadlock *deadlock, enum enl_verdict verdict)
{
    if (verdict == ENL_DEADLOCK && !explain(deadlock, enl_root_detector_count(&deadlock->root_detector)))
        explained(deadlock);
}

/* ---- a look ---- */

static void tell_root(struct enl_deadlock *deadlock)
{
    const struct enl_stillness *told = &deadlock->host_detector.last;
    const struct bcri_control message = {.type = BCRI_MSG_still,
                                         .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count) |
                                                    BCRI_HAS(who) | BCRI_HAS(moves) | BCRI_HAS(since) |
                                                    BCRI_HAS(flags),
                                         .id = deadlock->host_detector.round,
                                         .status = told->still,
                                         .count = told->count,
                                         .who = told->who,
                                         .moves = told->moves,
                                         .since = told->since,
                                         .flags = told->servers};
    if (deadlock->self->upward != NULL)
        deadlock->self->upward->send(deadlock->self->program, &message);
    else
        act_on_verdict(deadlock, enl_root_detector_hear(&deadlock->root_detector, deadlock->self->host_number,
                                                        message.id, told));
}

/* All that are to answer. A CCE of which this look does not count that it looks has no question left. */
static void ask_here(const struct enl_deadlock *deadlock, uint32_t question)
{
    struct enl_cce *cce;
    if (deadlock->self->links->thread != NULL)
        bcri_link_thread_quiet(deadlock->self->links->thread, question);
    TAILQ_FOREACH (cce, &deadlock->here->all, entry) {
        cce->idle.question = cce->life == ENL_ALIVE && cce->idle.period != 0 ? question : 0;
        if (cce->idle.question != 0)
            bcri_store_release(&cce->record->idle.asked, question);
    }
}

static void look_at_cces(struct enl_deadlock *deadlock, uint32_t round)
{
    struct enl_host_detector *host_detector = &deadlock->host_detector;
    unsigned lookers;
    uint64_t lockers;
    struct enl_stillness seen = look_at_records(deadlock, true, &lookers, &lockers);
    seen.still = seen.still && !is_one_held(deadlock->here);
    const unsigned answers = (deadlock->self->links->thread != NULL) + lookers;
    const enum enl_host_detector_wants wants = enl_host_detector_look(host_detector, round, &seen, answers);
    if (wants == ENL_HOST_DETECTOR_ASK)
        ask_here(deadlock, host_detector->question);
    else if (wants == ENL_HOST_DETECTOR_TELL)
        tell_root(deadlock);
}

void enl_deadlock_idle(struct enl_deadlock *deadlock, struct enl_cce *cce, const struct bcri_control *message)
{
    const bool quiet = message->status != 0 && message->moves == cce->idle.period;
    if (cce->idle.question == 0 || message->id != cce->idle.question)
        return;
    cce->idle.question = 0;
    enl_deadlock_quiet(deadlock, message->id, quiet, 0);
}

void enl_deadlock_quiet(struct enl_deadlock *deadlock, uint32_t question, bool quiet, uint64_t messages)
{
    if (deadlock->looks && enl_host_detector_answer(&deadlock->host_detector, question, quiet, messages) ==
                               ENL_HOST_DETECTOR_TELL)
        tell_root(deadlock);
}

/* ---- circles of write locks here, while others may run ---- */

static void suspect_circle(struct enl_deadlock *deadlock, uint64_t lockers)
{
    if (lockers != deadlock->lockers) {
        deadlock->lockers = lockers;
        deadlock->lockers_for = 0;
        deadlock->lockers_told = false;
    }
    deadlock->pause -= deadlock->pause != 0;
    deadlock->lockers_for++;
    if (lockers == 0 || deadlock->lockers_told || deadlock->lockers_for < SUSPECT_LOOKS ||
        deadlock->pause != 0 || deadlock->text.watch != NULL)
        return;
    deadlock->next_pause =
        deadlock->next_pause < SEARCH_LOOKS_MAX ? 2 * deadlock->next_pause + 1 : SEARCH_LOOKS_MAX;
    deadlock->pause = deadlock->next_pause;
    (void)explain(deadlock, 0);
}

/* ---- the second ---- */

static void ask_all(struct enl_deadlock *deadlock)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_look, .present = BCRI_HAS(id), .id = deadlock->root_detector.round};
    deadlock->ops->send_down(deadlock->self->program, &message, false);
    look_at_cces(deadlock, deadlock->root_detector.round);
}

/* Which hosts there are. False: no memory. */
static bool know_hosts(struct enl_deadlock *deadlock)
{
    size_t count;
    uint32_t *numbers = deadlock->ops->hosts(deadlock->self->program, &count);
    const bool done = numbers != NULL && enl_root_detector_hosts(&deadlock->root_detector, numbers, count);
    free(numbers);
    return done;
}

static void on_deadlock_timer(uv_timer_t *timer)
{
    struct enl_deadlock *deadlock = timer->data;
    uint64_t lockers;
    unsigned lookers;
    if (deadlock->self->phase != ENL_RUNNING)
        return;
    const struct enl_stillness seen = look_at_records(deadlock, false, &lookers, &lockers);
    bcri_log_write(&deadlock->self->log, BCRI_LOG_DEBUG, "look %u for a deadlock: %u CCEs%s rest, %s",
                   ++deadlock->count, seen.count, seen.servers ? " and servers" : "",
                   seen.still ? "and nothing else is under way" : "others do not");
    bound_text(deadlock);
    suspect_circle(deadlock, lockers);
    const bool is_root = deadlock->self->upward == NULL;
    if (is_root && !know_hosts(deadlock))
        return;
    switch (enl_host_detector_second(&deadlock->host_detector, &seen)) {
    case ENL_HOST_DETECTOR_LOOK: look_at_cces(deadlock, 0); break;
    case ENL_HOST_DETECTOR_TELL: tell_root(deadlock); break;
    default: break;
    }
    if (is_root && enl_root_detector_tick(&deadlock->root_detector) == ENL_ASK)
        ask_all(deadlock);
}

void enl_deadlock_of_host(struct enl_deadlock *deadlock, uint32_t host, const struct bcri_control *message)
{
    const struct enl_stillness told = {.still = message->status != 0,
                                       .count = message->count,
                                       .who = message->who,
                                       .moves = message->moves,
                                       .since = message->since,
                                       .servers = (message->flags & 1) != 0};
    if (deadlock->looks && know_hosts(deadlock))
        act_on_verdict(deadlock, enl_root_detector_hear(&deadlock->root_detector, host, message->id, &told));
}

void enl_deadlock_of_parent(struct enl_deadlock *deadlock, const struct bcri_control *message)
{
    if (!deadlock->looks)
        return;
    if (message->type == BCRI_MSG_look) {
        look_at_cces(deadlock, message->id);
        return;
    }
    deadlock->lockers_told = true;
    if (message->kind == BCRI_ONDEADLOCK_HUP)
        send_hup(deadlock->here);
}

void enl_deadlock_start(struct enl_deadlock *deadlock)
{
    deadlock->looks = deadlock->self->config.ondeadlock != BCRI_ONDEADLOCK_IGNORE;
    if (!deadlock->looks)
        return;
    uv_timer_init(&deadlock->self->loop, &deadlock->timer);
    deadlock->timer.data = deadlock;
    uv_timer_start(&deadlock->timer, on_deadlock_timer, LOOK_MSEC, LOOK_MSEC);
}

void enl_deadlock_stop(struct enl_deadlock *deadlock)
{
    if (!deadlock->looks)
        return;
    deadlock->looks = false;
    drop_text(&deadlock->text);
    enl_root_detector_fini(&deadlock->root_detector);
    uv_close((uv_handle_t *)&deadlock->timer, NULL);
}
