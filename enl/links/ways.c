/* SPDX-License-Identifier: MIT */
/* See links.h. */
#include "links/links.h"

#include <stdlib.h>

#include "bcri/link.h"
#include "bcri/link_thread.h"
#include "wire/wire.h"

struct enl_known_way {
    LIST_ENTRY(enl_known_way) entry;
    uint32_t host, bytes;
    enum bcri_way way;
    unsigned said; /* a bit for each kind */
};

static struct enl_known_way *way_to(struct enl_links *links, uint32_t host)
{
    struct enl_known_way *way;
    LIST_FOREACH (way, &links->ways, entry)
        if (way->host == host)
            return way;
    if ((way = calloc(1, sizeof *way)) != NULL) {
        way->host = host;
        LIST_INSERT_HEAD(&links->ways, way, entry);
    }
    return way;
}

/* What both hosts may learn, the one with the lower number tells the user. */
static void say_way(struct enl_links *links, const struct bcri_link_news *news, const char *name)
{
    static const char unheard[] =
        "nothing of what %s says to host %s (%s) by UDP arrives, though that host's packets "
        "come: it goes over the connections between daemons, which is slow";
    struct enl_self *self = links->self;
    const bool tells_user = news->number > self->host_number;
    switch (news->way) {
    case BCRI_WAY_SILENT:
        if (tells_user)
            enl_report(
                self, BCRI_LOG_WARN,
                "nothing comes from host %s (%s) to %s by UDP: what they say to each other goes over the "
                "connections between daemons, which is slow; do both machines, and what is between "
                "them, let UDP through? dataport in bcrrc says by which ports",
                name, news->text, self->hostname);
        else
            bcri_log_write(&self->log, BCRI_LOG_WARN, "nothing comes from host %s (%s) by UDP", name,
                           news->text);
        break;
    case BCRI_WAY_NARROW:
        enl_report(
            self, BCRI_LOG_WARN,
            "packets of %u bytes from %s do not arrive at host %s (%s) by UDP, though smaller ones do: "
            "what it says there goes over the connections between daemons, which is slow; raise the MTU "
            "of what is between them",
            BCRI_LINK_PACKET_MIN, self->hostname, name, news->text);
        break;
    case BCRI_WAY_UNHEARD:
        if (tells_user)
            enl_report(self, BCRI_LOG_WARN, unheard, self->hostname, name, news->text);
        else
            bcri_log_write(&self->log, BCRI_LOG_WARN, unheard, self->hostname, name, news->text);
        break;
    case BCRI_WAY_LOW:
        bcri_log_write(&self->log, BCRI_LOG_INFO,
                       "packets to host %s (%s) have at most %u bytes: no larger ones arrive", name,
                       news->text, news->bytes);
        break;
    case BCRI_WAY_USUAL:
        bcri_log_write(&self->log, BCRI_LOG_INFO, "packets to host %s (%s) go by UDP, and large ones arrive",
                       name, news->text);
        break;
    }
}

void enl_ways_changed(struct enl_links *links, const struct bcri_link_news *news)
{
    const char *name = links->ops->host_name(links->self->program, news->number);
    struct enl_known_way *way = way_to(links, news->number);
    if (way != NULL) {
        way->way = news->way;
        way->bytes = news->bytes;
    }
    if (name == NULL ||
        (way != NULL && (way->said & 1u << news->way) != 0)) /* that it is gone has been said */
        return;
    say_way(links, news, name);
    if (way != NULL)
        way->said |= 1u << news->way;
}

const char *enl_ways_ask(struct enl_links *links, struct enl_conn *conn, const struct bcri_control *message)
{
    const struct enl_known_way *way, *found = NULL;
    LIST_FOREACH (way, &links->ways, entry)
        if (way->host >= message->host && way->way != BCRI_WAY_USUAL &&
            (found == NULL || way->host < found->host) &&
            links->ops->host_name(links->self->program, way->host) != NULL)
            found = way;
    struct bcri_control answer = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    if (found != NULL)
        answer =
            (struct bcri_control){.type = BCRI_MSG_way_state,
                                  .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(kind) | BCRI_HAS(size),
                                  .id = message->id,
                                  .host = found->host,
                                  .kind = found->way,
                                  .size = found->bytes};
    enl_conn_send(conn, &answer, NULL, 0);
    return NULL;
}
