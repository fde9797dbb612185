/* SPDX-License-Identifier: MIT */
/* See setup.h. */
#include "conductor/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "base/secret.h"
#include "base/write_all.h"
#include "bcri/archtype.h"
#include "bcri/frames.h"
#include "bcri/refuse.h"
#include "bcri/seal.h"
#include "hosts/hosts.h"

/* Prints to stdout would get among the frames. So stdout becomes what stderr is, and stdin
 * empty. */
static bool move_standard_files(struct enl_greeting *greeting)
{
    greeting->in = fcntl(0, F_DUPFD_CLOEXEC, 3);
    greeting->out = fcntl(1, F_DUPFD_CLOEXEC, 3);
    const int empty = open("/dev/null", O_RDONLY | O_CLOEXEC);
    const bool moved =
        greeting->in >= 0 && greeting->out >= 0 && empty >= 0 && dup2(empty, 0) == 0 && dup2(2, 1) == 1;
    if (empty >= 0)
        close(empty);
    return moved;
}

/* The magic word, and what machine this is. */
static bool present_self(const struct enl_greeting *greeting, const struct enl_program *program)
{
    char machine_id[200];
    uint8_t bytes[BCRI_FRAME_BYTES_MAX];
    enl_host_machine_id(enl_abi(), machine_id, sizeof machine_id);
    const struct bcri_control present = {.type = BCRI_MSG_present,
                                         .present = BCRI_HAS(machine) | BCRI_HAS(text) | BCRI_HAS(object) |
                                                    BCRI_HAS(archtype),
                                         .machine = bcri_view_of(program->self.hostname),
                                         .text = bcri_view_of(machine_id),
                                         .object = bcri_view_of(enl_abi()),
                                         .archtype = (uint32_t)bcri_archtype_native()};
    const size_t length = bcri_frame_encode(&present, bytes, sizeof bytes);
    return enl_write_all(greeting->out, BCRI_FRAMES_MAGIC, BCRI_FRAMES_MAGIC_BYTES) == 0 &&
           enl_write_all(greeting->out, (const char *)bytes, length) == 0;
}

static int take_start(struct enl_greeting *greeting, struct enl_program *program,
                      const struct bcri_control *start, char *error, size_t error_size)
{
    greeting->start_id = start->id;
    program->control_link = enl_control_link_take(start);
    program->self.host_number = start->host;
    program->self.daemon_number = start->daemon;
    if (!bcri_view_copy(start->program, program->self.name, sizeof program->self.name) ||
        program->self.name[0] == '\0' || start->host == 0)
        return bcri_refuse(error, error_size, -1,
                           "the daemon that started this one names no program, or gives its own number");
    if (start->key.length != BCRI_SEAL_KEY_BYTES ||
        (greeting->program_key = enl_secret_new(BCRI_SEAL_KEY_BYTES)) == NULL)
        return bcri_refuse(error, error_size, -1,
                           "the daemon that started this one gives no key, or there is no memory for it");
    memcpy(greeting->program_key, start->key.bytes, BCRI_SEAL_KEY_BYTES);
    return 0;
}

int enl_greeting_await(struct enl_greeting *greeting, struct enl_program *program, char *error,
                       size_t error_size)
{
    struct bcri_control message = {.type = BCRI_MSG_setting};
    const char *wrong =
        "it ended without a word; enl --child is for enl itself, run a program by: enl PROGRAM";
    int came = 0;
    greeting->frames = enl_secret_new(sizeof *greeting->frames);
    if (greeting->frames == NULL)
        return bcri_refuse(error, error_size, -1, "no memory");
    if (!move_standard_files(greeting) || !present_self(greeting, program))
        return bcri_refuse(error, error_size, -1, "the daemon that started this one cannot be reached: %s",
                           strerror(errno));
    while (came >= 0 && (came == 0 || message.type != BCRI_MSG_start)) {
        came = bcri_frames_next(greeting->frames, &message, &wrong);
        struct pollfd in = {.fd = greeting->in,
                            .events = POLLIN}; /* the starter may have made it non-blocking */
        if (came == 0 && ((poll(&in, 1, -1) < 0 && errno != EINTR) ||
                          enl_peer_read(greeting->frames, greeting->in, &wrong) <= 0))
            came = -1;
        if (came == 1 && message.type != BCRI_MSG_setting && message.type != BCRI_MSG_environ &&
            message.type != BCRI_MSG_start)
            return bcri_refuse(error, error_size, -1,
                               "the daemon that started this one begins with %s, not start",
                               bcri_control_name(message.type));
        const char *refused = came == 1 ? enl_setup_take(&greeting->setup, program, &message) : NULL;
        if (came == 1)
            wrong = "it has ended"; /* if nothing else comes */
        if (refused != NULL) {
            wrong = refused;
            came = -1;
        }
    }
    if (came != 1)
        return bcri_refuse(error, error_size, -1,
                           "nothing to be understood from the daemon that started this one: %s", wrong);
    return take_start(greeting, program, &message, error, error_size);
}

void enl_greeting_wipe(struct enl_greeting *greeting)
{
    enl_secret_free(greeting->frames);
    enl_secret_free(greeting->program_key);
    greeting->frames = NULL;
    greeting->program_key = NULL;
}
