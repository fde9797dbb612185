/* SPDX-License-Identifier: MIT */
/* explain.c -- what is told of a deadlock, or of CCEs that are suspected to be in one: the daemon's own sentence, and what a
 * process of its own says that has looked at the CCEs; and what is done then (ondeadlock). */
#include "inspect/deadlock/deadlock_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/spawn.h"
#include "bcri/config.h"
#include "host/host.h"

enum { TEXT_LOOKS = 30 };

/* ---- what is done when it is told ---- */

void enl_deadlock_send_hup(const struct enl_here *here)
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
        enl_deadlock_send_hup(deadlock->here);
    else if (what == BCRI_ONDEADLOCK_DEBUG)
        open_debuggers(deadlock->self, deadlock->wish);
}

/* ---- the text ---- */

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

void enl_explanation_drop(struct enl_explanation *text)
{
    enl_watch_stop(text->watch);
    memset(text, 0, sizeof *text);
}

/* Which circles a text tells of, as a number (FNV-1a of their lines); 0: none. How long the CCEs have waited is not in it. */
static uint64_t circles_of(const char *text)
{
    static const char heading[] = "deadlock suspected: ";
    uint64_t hash = 0;
    for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
        if (strncmp(text, heading, strlen(heading)) != 0)
            continue;
        if (hash == 0)
            hash = UINT64_C(0xcbf29ce484222325);
        for (const char *at = text; *at != '\0' && *at != '\n'; at++)
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* A circle that is suspected is told once, though others in it or beside it come to wait, too. */
static bool is_news(struct enl_deadlock *deadlock)
{
    const uint64_t circles = deadlock->text.whole ? 0 : circles_of(deadlock->text.bytes);
    const bool news = deadlock->text.whole || circles == 0 || circles != deadlock->told_circles;
    if (circles != 0)
        deadlock->told_circles = circles;
    return news;
}

void enl_deadlock_explained(struct enl_deadlock *deadlock)
{
    const bool whole = deadlock->text.whole;
    deadlock->suspects_told |= deadlock->text.length > deadlock->text.own;
    if (is_news(deadlock) && deadlock->self->phase == ENL_RUNNING)
        show_explanation(deadlock->self, deadlock->text.bytes);
    enl_explanation_drop(&deadlock->text);
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
    enl_deadlock_explained(deadlock);
}

void enl_deadlock_bound_text(struct enl_deadlock *deadlock)
{
    struct enl_explanation *text = &deadlock->text;
    if (text->watch == NULL || ++text->looks < TEXT_LOOKS)
        return;
    kill(text->pid, SIGKILL);
    enl_deadlock_explained(deadlock);
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

bool enl_deadlock_explain(struct enl_deadlock *deadlock, uint32_t count)
{
    struct enl_explanation *text = &deadlock->text;
    struct enl_self *self = deadlock->self;
    char reason[512], host[16];
    const char *const words[] = {"enl", "--explain", count != 0 ? "all" : "circles", self->socket_name,
                                 host,  NULL};
    int pair[2];
    snprintf(host, sizeof host, "%u", self->host_number);
    enl_explanation_drop(text);
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
