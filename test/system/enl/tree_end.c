/* SPDX-License-Identifier: MIT */
/* See tree_end.h. */
#include "tree_end.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

const uint8_t tree_program_key[32] = "the key of this program, 32 long";

const char *tree_program(void)
{
    static char name[32];
    snprintf(name, sizeof name, "far.%d", (int)getpid());
    return name;
}

void tree_write(struct tree_end *end, const void *bytes, size_t length)
{
    CHECK_INT(write(end->to, bytes, length), (ssize_t)length);
}

void tree_say(struct tree_end *end, const struct bcri_control *message)
{
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
    const size_t length = bcri_frame_encode(message, bytes, sizeof bytes);
    CHECK(length != 0);
    tree_write(end, bytes, length);
}

const struct bcri_control *tree_hear_any(struct tree_end *end)
{
    static struct bcri_control message;
    const char *wrong = "";
    int came;
    while ((came = bcri_frames_next(&end->frames, &message, &wrong)) == 0) {
        uint8_t *at;
        const size_t room = bcri_frames_room(&end->frames, &at);
        const ssize_t got = read(end->from, at, room);
        if (got <= 0)
            return NULL;
        bcri_frames_came(&end->frames, (size_t)got);
    }
    if (came < 0)
        FAIL("malformed: %s", wrong);
    if (message.type == BCRI_MSG_report && strlen(end->reports) + message.bytes.length < sizeof end->reports)
        strncat(end->reports, message.bytes.bytes, message.bytes.length);
    return &message;
}

static bool is_aside(enum bcri_control_type type)
{
    return type == BCRI_MSG_present || type == BCRI_MSG_alive || type == BCRI_MSG_beat ||
           type == BCRI_MSG_announce || type == BCRI_MSG_report || type == BCRI_MSG_failed ||
           type == BCRI_MSG_setting || type == BCRI_MSG_environ;
}

const struct bcri_control *tree_hear(struct tree_end *end, enum bcri_control_type type)
{
    const struct bcri_control *message;
    do {
        message = tree_hear_any(end);
        CHECK(message != NULL);
    } while (message->type != type && is_aside(message->type));
    if (message->type != type)
        FAIL("wanted %s, got %s: %.*s", bcri_control_name(type), bcri_control_name(message->type),
             (int)message->text.length, message->text.bytes);
    return message;
}

void tree_hear_end(struct tree_end *end)
{
    const struct bcri_control *message;
    while ((message = tree_hear_any(end)) != NULL)
        if (!is_aside(message->type))
            FAIL("wanted the end, got %s", bcri_control_name(message->type));
}

void tree_spawn(struct tree_child *child)
{
    int to[2], from[2], err[2];
    run_folder();
    CHECK(pipe(to) == 0 && pipe(from) == 0 && pipe(err) == 0);
    memset(child, 0, sizeof *child);
    child->pid = fork();
    CHECK(child->pid >= 0);
    if (child->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        dup2(err[1], 2);
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        execl(run_enl(), "enl", "--child", (char *)NULL);
        _exit(126);
    }
    close(to[0]);
    close(from[1]);
    close(err[1]);
    child->end.to = to[1];
    child->end.from = from[0];
    child->err = err[0];
}

void tree_greet(struct tree_child *child)
{
    tree_write(&child->end, "hello, said the shell\n" BCRI_FRAMES_MAGIC, 22 + BCRI_FRAMES_MAGIC_BYTES);
    child->greeted = true;
}

void tree_say_start(struct tree_child *child, const char *program, uint32_t host, uint32_t daemon)
{
    const struct bcri_control start = {.type = BCRI_MSG_start,
                                       .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(daemon) |
                                                  BCRI_HAS(program) | BCRI_HAS(key),
                                       .id = 7,
                                       .host = host,
                                       .daemon = daemon,
                                       .program = bcri_view_of(program),
                                       .key = {(const char *)tree_program_key, sizeof tree_program_key}};
    if (!child->greeted)
        tree_greet(child);
    tree_say(&child->end, &start);
}

void tree_start(struct tree_child *child, const char *program, uint32_t host, uint32_t daemon)
{
    tree_spawn(child);
    tree_say_start(child, program, host, daemon);
    const struct bcri_control *reply = tree_hear(&child->end, BCRI_MSG_reply);
    CHECK_UINT(reply->id, 7);
    CHECK_UINT(reply->status, 0);
}

int tree_status(const struct tree_child *child)
{
    int status;
    CHECK_INT(waitpid(child->pid, &status, 0), child->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *tree_errors(const struct tree_child *child)
{
    static char text[8192];
    size_t length = 0;
    ssize_t got;
    while ((got = read(child->err, text + length, sizeof text - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    return text;
}
