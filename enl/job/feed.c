/* SPDX-License-Identifier: MIT */
/* feed.c -- the user's standard input goes to the first member of a job, wherever that runs (host/input.c there). At most WINDOW bytes
 * are under way to it.
 *
 * A thread reads: the loop could poll stdin only after making it non-blocking, for all processes that share it with this one, and
 * cannot poll a file. It passes on by a pipe, which the loop polls, and ends with stdin or when nobody reads that pipe. It owns what it
 * needs and is never waited for, since a read of a terminal can last for ever. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/watch.h"
#include "base/write_all.h"
#include "job/job.h"
#include "job/roster_plan.h"

enum { WINDOW = 65536 };

struct enl_feed {
    struct enl_jobs *jobs;
    struct enl_watch *watch; /* NULL: stdin is at its end, and that was passed on */
    uint32_t team, host;
    uint32_t under_way;
    bool is_paused;
};

/* In a background job's terminal read fails, since SIGTTIN is blocked here: such a job has no input. */
static void *read_stdin(void *argument)
{
    const int out = *(int *)argument;
    char bytes[WINDOW];
    ssize_t got;
    free(argument);
    do {
        got = read(0, bytes, sizeof bytes);
    } while ((got < 0 && errno == EINTR) || (got > 0 && enl_write_all(out, bytes, (size_t)got) == 0));
    const int failed = got < 0 ? errno : 0;
    if (failed != 0 && failed != EBADF && !isatty(0))
        dprintf(STDERR_FILENO, "enl: the job's input ends here, as it cannot be read: %s\n",
                strerror(failed));
    close(out);
    return NULL;
}

/* Returns the end of the pipe from which the thread's bytes come; -1: there is none. */
static int start_thread(void)
{
    pthread_t thread;
    int pair[2];
    int *out = malloc(sizeof *out);
    if (out == NULL || pipe2(pair, O_CLOEXEC) != 0) {
        free(out);
        return -1;
    }
    *out = pair[1];
    if (pthread_create(&thread, NULL, read_stdin, out) != 0) {
        free(out);
        close(pair[0]);
        close(pair[1]);
        return -1;
    }
    pthread_detach(thread);
    return pair[0];
}

static void pass(const struct enl_feed *feed, const char *bytes, uint32_t length)
{
    struct enl_jobs *jobs = feed->jobs;
    const struct bcri_control message = {.type = BCRI_MSG_input,
                                         .present = BCRI_HAS(team) | (length != 0 ? BCRI_HAS(block) : 0),
                                         .team = feed->team,
                                         .block = {bytes, length}};
    if (feed->host == jobs->self->host_number)
        (void)enl_input_take(jobs->here, &message);
    else
        jobs->ops->send_to_host(jobs->self->program, feed->host, &message);
}

static void on_bytes(void *data)
{
    struct enl_feed *feed = data;
    char bytes[WINDOW];
    const ssize_t got = read(feed->watch->fd, bytes, WINDOW - feed->under_way);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        enl_watch_stop(feed->watch);
        feed->watch = NULL;
        pass(feed, NULL, 0);
        return;
    }
    feed->under_way += (uint32_t)got;
    if (feed->under_way >= WINDOW) {
        enl_watch_pause(feed->watch, true);
        feed->is_paused = true;
    }
    for (uint32_t at = 0, length; at < (uint32_t)got; at += length) {
        length = (uint32_t)got - at < BCRI_BLOCK_BYTES_MAX ? (uint32_t)got - at : BCRI_BLOCK_BYTES_MAX;
        pass(feed, bytes + at, length);
    }
}

void enl_feed_begin(struct enl_jobs *jobs, uint32_t team, uint32_t host)
{
    if (jobs->summary == NULL || jobs->feed != NULL || jobs->plan->teams[0].number != team ||
        jobs->roster->teams[0].in != NULL)
        return;
    struct enl_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return;
    *feed = (struct enl_feed){.jobs = jobs, .team = team, .host = host};
    jobs->feed = feed;
    const int from = start_thread();
    if (from >= 0)
        feed->watch = enl_watch_start(jobs->self, from, on_bytes, feed);
    if (feed->watch == NULL) {
        enl_report(jobs->self, BCRI_LOG_WARN, "the job has no input: there is no thread or pipe for that");
        pass(feed, NULL, 0);
    }
}

void enl_feed_taken(struct enl_jobs *jobs, const struct bcri_control *message)
{
    struct enl_feed *feed = jobs->feed;
    if (feed == NULL || feed->team != message->team || message->size > feed->under_way)
        return;
    feed->under_way -= (uint32_t)message->size;
    if (feed->is_paused && feed->watch != NULL && feed->under_way <= WINDOW / 2) {
        feed->is_paused = false;
        enl_watch_pause(feed->watch, false);
    }
}

void enl_feed_stop(struct enl_jobs *jobs)
{
    if (jobs->feed == NULL)
        return;
    enl_watch_stop(jobs->feed->watch);
    jobs->feed->watch = NULL;
}

void enl_feed_close(struct enl_jobs *jobs)
{
    enl_feed_stop(jobs);
    free(jobs->feed);
    jobs->feed = NULL;
}
