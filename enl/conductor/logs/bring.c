/* SPDX-License-Identifier: MIT */
/* See carry.h. The descriptor of the log is opened anew for reading: an endscript may have taken the
 * file away by now. */
#include "carry/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/boottime.h"
#include "conductor/child.h"

enum { FRAME_BYTES = 2048, BRING_MSEC = 60000 };

static struct {
    void (*done)(struct enl_program *program); /* NULL: nothing is under way */
    int fds[2];                                /* what is still to be read: the old log, the log */
    uint32_t may_send;
    uint64_t sent, until_ms;
} bring = {.fds = {-1, -1}, .may_send = ENL_WINDOW_BYTES};

static void send_up(const struct enl_carry *carry, const struct bcri_control *message)
{
    if (carry->self->upward != NULL) /* else the parent is gone, and nothing reads the log */
        carry->self->upward->send(carry->self->program, message);
}

void enl_bring_give_up(struct enl_carry *carry)
{
    void (*done)(struct enl_program * program) = bring.done;
    for (int i = 0; i < 2; i++) {
        if (bring.fds[i] >= 0)
            close(bring.fds[i]);
        bring.fds[i] = -1;
    }
    bring.done = NULL;
    if (done != NULL)
        done(carry->self->program);
}

static void end_bringing(struct enl_carry *carry, uint32_t status, const char *text)
{
    const struct bcri_control message = {.type = BCRI_MSG_relay_end,
                                         .present = BCRI_HAS(id) | BCRI_HAS(status) |
                                                    (text[0] != '\0' ? BCRI_HAS(text) : 0),
                                         .status = status,
                                         .text = bcri_view_of(text)};
    send_up(carry, &message);
    enl_bring_give_up(carry);
}

/* Reads what fits into a frame. 0: the end of both files. */
static ssize_t read_log(char bytes[FRAME_BYTES], size_t most)
{
    for (int i = 0; i < 2; i++)
        while (bring.fds[i] >= 0) {
            const ssize_t got = read(bring.fds[i], bytes, most);
            if (got > 0 || (got < 0 && errno != EINTR))
                return got;
            if (got == 0) {
                close(bring.fds[i]);
                bring.fds[i] = -1;
            }
        }
    return 0;
}

/* As much as the root takes now. */
static void send_more(struct enl_carry *carry)
{
    char bytes[FRAME_BYTES], text[256];
    while (bring.done != NULL && bring.may_send != 0) {
        const ssize_t got = read_log(bytes, bring.may_send < sizeof bytes ? bring.may_send : sizeof bytes);
        if (got == 0) {
            end_bringing(carry, 0, "");
        } else if (got < 0) {
            snprintf(text, sizeof text, "it cannot be read there (%s)", strerror(errno));
            end_bringing(carry, 1, text);
        } else {
            const struct bcri_control message = {.type = BCRI_MSG_relay_bytes,
                                                 .present = BCRI_HAS(id) | BCRI_HAS(bytes),
                                                 .bytes = {bytes, (uint32_t)got}};
            bring.may_send -= (uint32_t)got;
            bring.sent += (uint64_t)got;
            send_up(carry, &message);
        }
    }
    if (bring.done != NULL && enl_boottime_ms() > bring.until_ms) {
        snprintf(text, sizeof text, "%llu bytes of it took %d s, and no more were waited for",
                 (unsigned long long)bring.sent, BRING_MSEC / 1000);
        end_bringing(carry, 1, text);
    }
}

void enl_bring_log(struct enl_carry *carry, void (*done)(struct enl_program *program))
{
    char path[PATH_MAX + 8];
    if (carry->self->config.logdir == NULL || !carry->self->is_child || bring.done != NULL) {
        done(carry->self->program);
        return;
    }
    bcri_log_write(&carry->self->log, BCRI_LOG_INFO,
                   "program %s: host %u ends, and sends this log to the root", carry->self->name,
                   carry->self->host_number);
    if (carry->self->log.turns != 0) {
        snprintf(path, sizeof path, "%s.old", carry->self->log.path);
        bring.fds[0] = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", carry->self->log.fd);
    bring.fds[1] = open(path, O_RDONLY | O_CLOEXEC);
    bring.done = done;
    bring.until_ms = enl_boottime_ms() + BRING_MSEC;
    if (carry->self->log.fd < 0)
        end_bringing(carry, ENL_BRING_NO_LOG, "there is none");
    else if (bring.fds[1] < 0)
        end_bringing(carry, 1, "it cannot be opened there");
    else
        send_more(carry);
}

const char *enl_bring_heard(struct enl_carry *carry, const struct bcri_control *message)
{
    if (bring.done == NULL)
        return NULL; /* late */
    if (message->type == BCRI_MSG_relay_end) {
        enl_bring_give_up(carry);
        return NULL;
    }
    if (message->type != BCRI_MSG_relay_window || message->size > ENL_WINDOW_BYTES - bring.may_send)
        return "a window that is none";
    bring.may_send += (uint32_t)message->size;
    send_more(carry);
    return NULL;
}
