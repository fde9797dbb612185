/* SPDX-License-Identifier: MIT */
/* See look.h. */
#include "inspect/look/look.h"

#include <string.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "bcri/escape.h"
#include "wire/wire.h"

enum { PATIENCE_MS = 1000 };

static const char *word_of(uint32_t state)
{
    switch (state) {
    case BCRI_HOST_STARTING: return "starting";
    case BCRI_HOST_UP: return "up";
    case BCRI_HOST_ENDING: return "ending";
    case BCRI_HOST_LOST: return "lost";
    case BCRI_HOST_FAILED: return "failed";
    default: return "?";
    }
}

bool look_host_next(int daemon, uint64_t number, struct look_daemon *host_out)
{
    static struct bcri_incoming in;
    const struct bcri_control *message = &in.message;
    const struct bcri_control ask = {.type = BCRI_MSG_host_next,
                                     .present = BCRI_HAS(id) | BCRI_HAS(host),
                                     .id = 1,
                                     .host = (uint32_t)number};
    if (number > BCRI_HOST_NUMBER_MAX || bcri_channel_send(daemon, &ask, NULL, 0, true) != 0 ||
        enl_hear(daemon, &in) != 1)
        return false;
    bcri_incoming_close(&in);
    if (in.wrong != NULL || message->type != BCRI_MSG_host_state || message->host < number)
        return false;
    *host_out = (struct look_daemon){.host = message->host, .cces = message->count};
    snprintf(host_out->standing, sizeof host_out->standing, "%s", word_of(message->state));
    bcri_escape(message->machine.bytes, message->machine.length, host_out->name, sizeof host_out->name, NULL);
    bcri_escape(message->text.bytes, message->text.length, host_out->why, sizeof host_out->why, NULL);
    return true;
}

void look_hosts_add(struct look_view *view, const char *name)
{
    struct look_row row = {.kind = LOOK_KIND_DAEMON};
    const int daemon = bcri_channel_connect(name, PATIENCE_MS);
    if (daemon < 0)
        return;
    for (uint64_t number = 0; look_host_next(daemon, number, &row.daemon); number = row.daemon.host + 1)
        if (!look_view_keep(view, &row))
            break;
    close(daemon);
}
