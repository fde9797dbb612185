/* SPDX-License-Identifier: MIT */
/* tracer.c -- the daemon's side of tracers: starting them, reading what they say, ending them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/own_start.h"
#include "base/watch.h"
#include "host/host.h"
#include "inspect/crash/crash_private.h"

enum { TRACERS_MAX = 4 };

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

void enl_crash_let_die(struct enl_crashes *crashes, struct enl_crash *crash)
{
    TAILQ_REMOVE(&crashes->open, crash, entry);
    end_tracer(crashes, crash);
    close(crash->release);
    crash->release = -1;
}

void enl_crash_let_die_when_known(struct enl_crashes *crashes, struct enl_crash *crash)
{
    if (crash->traced && !crash->asked)
        enl_crash_let_die(crashes, crash);
}

void enl_crash_take_trace(struct enl_crashes *crashes, struct enl_crash *crash)
{
    char bytes[4096];
    while (crash->watch != NULL) {
        const ssize_t got = read(crash->watch->fd, bytes, sizeof bytes);
        if (got > 0)
            enl_crash_text_add(&crash->text, bytes, (size_t)got);
        else if (got < 0 && errno == EAGAIN)
            return;
        else if (got == 0 || errno != EINTR)
            end_tracer(crashes, crash);
    }
}

static void on_trace(void *data)
{
    struct enl_crash *crash = data;
    struct enl_crashes *crashes = crash->crashes;
    enl_crash_take_trace(crashes, crash);
    if (!crash->traced)
        return;
    enl_crash_let_die_when_known(crashes, crash);
    enl_crash_start_tracers(crashes);
}

/* Returns whether a tracer runs. */
static bool start_tracer(struct enl_crashes *crashes, struct enl_crash *crash)
{
    struct enl_self *self = crashes->self;
    char numbers[4][24];
    snprintf(numbers[0], sizeof numbers[0], "%ld", (long)crash->cce->pid);
    snprintf(numbers[1], sizeof numbers[1], "%u", crash->thread);
    snprintf(numbers[2], sizeof numbers[2], "%llu", (unsigned long long)crash->context);
    snprintf(numbers[3], sizeof numbers[3], "%llu", (unsigned long long)crash->coroutines);
    const char *locals = self->config.crashreport == BCRI_CRASHREPORT_LOCALS ? "locals" : NULL;
    const char *const words[] = {"enl",      "--trace",  numbers[0], numbers[1],
                                 numbers[2], numbers[3], locals,     NULL};
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
    crashes->tracers += crash->watch != NULL;
    return crash->watch != NULL;
}

void enl_crash_start_tracers(struct enl_crashes *crashes)
{
    struct enl_crash *next;
    for (struct enl_crash *crash = TAILQ_FIRST(&crashes->open);
         crash != NULL && crashes->tracers < TRACERS_MAX; crash = next) {
        next = TAILQ_NEXT(crash, entry);
        if (crash->watch != NULL || crash->traced || start_tracer(crashes, crash))
            continue;
        end_tracer(crashes, crash);
        enl_crash_let_die_when_known(crashes, crash);
    }
}
