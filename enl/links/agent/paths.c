/* SPDX-License-Identifier: MIT */
/* paths.c -- the way of each link: by UDP or over the tree of daemons, to which address; and what a silent one means. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/clock.h"

#include "links/agent/thread_private.h"

#define KEEPALIVE_NS (2 * BCRI_NS_PER_S)
/* On the tree: bytes in flight of each link; how long a link stays there; how
 * long what was sent by UDP has no answer before the other host is followed there. */
#define TREE_ROOM     (128u << 10)
#define STAYS_NS      (4 * BCRI_NS_PER_S)
#define STAYS_MOST_NS (256 * BCRI_NS_PER_S)
#define UNANSWERED_NS BCRI_NS_PER_S
#define LANE_ROOM     (64u << 10)           /* bytes in flight of each link of the tree's lane */
#define RESUME_NS     (10 * BCRI_NS_PER_MS) /* streams of the tree's lane that the loop holds up */

struct path *bcri_path_find(const struct bcri_link_thread *thread, uint32_t host, uint16_t lane)
{
    struct path *path;
    LIST_FOREACH (path, &thread->paths, entry)
        if (path->host == host && path->lane == lane)
            break;
    return path;
}

/* All links share what the socket holds. */
static void share_room(struct bcri_link_thread *thread)
{
    struct bcri_link_carrier carrier;
    bcri_udp_carrier(thread->udp, thread->path_count, &carrier);
    struct path *path;
    LIST_FOREACH (path, &thread->paths, entry)
        if (!path->on_tree && path->lane == BCRI_LANE_ORDERS)
            bcri_link_set_room(path->link, carrier.room);
}

/* What the daemons say to each other takes little, and leaves the socket to the orders of CCEs. */
static struct bcri_link_carrier udp_carrier(const struct bcri_link_thread *thread, uint16_t lane,
                                            uint32_t links)
{
    struct bcri_link_carrier carrier;
    bcri_udp_carrier(thread->udp, links, &carrier);
    if (lane == BCRI_LANE_TREE) {
        carrier.packet_max =
            carrier.packet_max < BCRI_TUNNELLED_MAX ? carrier.packet_max : BCRI_TUNNELLED_MAX;
        carrier.room = carrier.room < LANE_ROOM ? carrier.room : LANE_ROOM;
    }
    return carrier;
}

/* ---- UDP or the tree ---- */

/* What is new of its way. */
static void tell_way(struct bcri_link_thread *thread, struct path *path)
{
    char host[INET6_ADDRSTRLEN] = "an unknown address", port[16] = "?";
    const uint32_t bytes = path->on_tree ? 0 : bcri_link_path_bytes(path->link);
    const enum bcri_way way = path->way == BCRI_WAY_USUAL && bytes != 0 ? BCRI_WAY_LOW : path->way;
    if (way == path->told && bytes == path->told_bytes)
        return;
    struct bcri_link_news news = {.told = BCRI_TOLD_WAY, .number = path->host, .way = way, .bytes = bytes};
    const struct bcri_link_address *at = path->found.bytes != 0 ? &path->found : &path->address[0];
    (void)getnameinfo((const struct sockaddr *)&at->at, at->bytes, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    static const char of_ipv4[] = "::ffff:"; /* in a socket of IPv6 */
    const size_t skip = strncmp(host, of_ipv4, sizeof of_ipv4 - 1) == 0 ? sizeof of_ipv4 - 1 : 0;
    snprintf(news.text, sizeof news.text, "%s, UDP port %s", host + skip, port);
    if (bcri_thread_tell(thread, &news)) {
        path->told = way;
        path->told_bytes = bytes;
    }
}

/* The tree loses packets too, where it is congested: then daemons drop them (conductor/tunnelled.c). */
static void use_tree(struct bcri_link_thread *thread, struct path *path, enum bcri_way why)
{
    const struct bcri_link_carrier tree = {.packet_max = BCRI_TUNNELLED_MAX, .room = TREE_ROOM};
    path->on_tree = true;
    path->by_udp.heard = false; /* another of its addresses may work */
    path->stays_ns = path->stays_ns == 0 ? STAYS_NS : 2 * path->stays_ns;
    if (path->stays_ns > STAYS_MOST_NS)
        path->stays_ns = STAYS_MOST_NS;
    path->changed_at = thread->now;
    path->try_at = thread->now + PATH_TRY_NS;
    path->way = why;
    bcri_link_use_carrier(path->link, &tree, thread->now);
}

/* Each direction for itself: whether what is sent by UDP arrives is known by its answers, whichever way they come. What a
 * try has told may not last: each time the link stays on the tree twice as long. */
static void use_udp(struct bcri_link_thread *thread, struct path *path)
{
    struct bcri_link_carrier carrier;
    bcri_udp_carrier(thread->udp, thread->path_count, &carrier);
    path->on_tree = path->blocked = false;
    path->way = BCRI_WAY_USUAL;
    path->changed_at = thread->now;
    bcri_link_use_carrier(path->link, &carrier, thread->now);
    bcri_link_ping(path->link); /* the other host learns by which address */
}

/* It may have heard nothing by UDP, and then what is sent there has no answer; or it hears
 * this one, and what it sends does not get through. */
void bcri_path_came_by_tree(struct bcri_link_thread *thread, struct path *path, uint64_t heard_at)
{
    const uint64_t waits = bcri_link_waits_since(path->link);
    if (path->on_tree || waits == BCRI_LINK_NEVER || thread->now < waits + UNANSWERED_NS)
        return;
    const bool hears = path->by_udp.heard && thread->now < heard_at + thread->config.silence_ns / 2;
    use_tree(thread, path, hears ? BCRI_WAY_UNHEARD : BCRI_WAY_SILENT);
}

/* ---- links ---- */

/* In the tree's lane the two hosts hear of each other by beats, and what they use up of keys lasts for the
 * program's life. */
static struct bcri_link *make_link(struct bcri_link_thread *thread, struct path *path,
                                   const struct bcri_link_introduction *introduction)
{
    const bool is_tree = introduction->lane == BCRI_LANE_TREE;
    const struct bcri_link_carrier carrier = udp_carrier(thread, introduction->lane, thread->path_count + 1);
    const struct bcri_link_config config = {.host = thread->config.ctx->host->number,
                                            .peer = introduction->host,
                                            .lane = introduction->lane,
                                            .packet_max = thread->config.packet_bytes,
                                            .keepalive_ns = is_tree ? 0 : KEEPALIVE_NS,
                                            .carrier = carrier,
                                            .secret = &introduction->secret,
                                            .forged_max = thread->config.forged_max};
    return is_tree ? bcri_link_new(&config, &bcri_lane_events, path, thread->now)
                   : bcri_agent_link(thread->agent, introduction->host, &config, thread->now);
}

bool bcri_paths_introduce(struct bcri_link_thread *thread, const struct bcri_link_introduction *introduction)
{
    struct path *path = bcri_path_find(thread, introduction->host, introduction->lane);
    if (path != NULL && path->lane == BCRI_LANE_TREE)
        return true; /* its keys are never changed, and never used for another link */
    if (path != NULL) {
        const bool done = bcri_link_renew(path->link, &introduction->secret, thread->now) == 0;
        path->wants_keys &= !done;
        return done;
    }
    if (bcri_agent_has_lost(thread->agent, introduction->host))
        return true;
    path = calloc(1, sizeof *path);
    if (path == NULL || (path->link = make_link(thread, path, introduction)) == NULL) {
        free(path);
        return false;
    }
    path->thread = thread;
    path->host = introduction->host;
    path->lane = introduction->lane;
    path->listens = introduction->listens;
    path->address_count = introduction->address_count;
    memcpy(path->address, introduction->address, sizeof path->address);
    LIST_INSERT_HEAD(&thread->paths, path, entry);
    *(path->lane == BCRI_LANE_TREE ? &thread->lane_count : &thread->path_count) += 1;
    share_room(thread);
    return true;
}

static void lose_path(struct bcri_link_thread *thread, struct path *path)
{
    if (path == NULL)
        return;
    if (path->lane == BCRI_LANE_TREE) {
        bcri_link_free(path->link);
        thread->lane_count--;
    } else {
        thread->path_count--;
    }
    LIST_REMOVE(path, entry);
    LIST_INSERT_HEAD(&thread->lost, path, entry);
    share_room(thread);
}

bool bcri_paths_lose(struct bcri_link_thread *thread, uint32_t host)
{
    lose_path(thread, bcri_path_find(thread, host, BCRI_LANE_ORDERS));
    lose_path(thread, bcri_path_find(thread, host, BCRI_LANE_TREE));
    return bcri_agent_lost(thread->agent, host);
}

void bcri_paths_free(struct paths *paths)
{
    for (struct path *path; (path = LIST_FIRST(paths)) != NULL;) {
        LIST_REMOVE(path, entry);
        free(path);
    }
}

/* ---- silence, forgery ---- */

/* Whether an answer is due, and nothing has come, for so long. */
static bool has_waited(const struct bcri_link_thread *thread, const struct path *path, uint64_t ns)
{
    return bcri_lane_way_has_waited(thread->now, bcri_link_waits_since(path->link),
                                    bcri_link_heard_at(path->link), ns);
}

void bcri_paths_try_again(struct bcri_link_thread *thread, struct path *path)
{
    if (!has_waited(thread, path, thread->config.silence_ns / BCRI_LANE_TRIES))
        return;
    const struct bcri_link_carrier carrier = udp_carrier(thread, path->lane, thread->path_count);
    path->by_udp.heard = false;
    bcri_link_use_carrier(path->link, &carrier, thread->now);
}

static void ask_for_keys(struct bcri_link_thread *thread, struct path *path)
{
    char sentence[160];
    path->wants_keys = true;
    bcri_thread_wants_link(thread, path->host);
    snprintf(sentence, sizeof sentence,
             "somebody has sent %llu forged packets in its name: it and this host change their keys",
             (unsigned long long)bcri_link_counts(path->link)->forged);
    bcri_thread_note(thread, path->host, sentence);
}

/* Nothing has come by UDP for long: another of its addresses may work, or the tree; the user may mend it. */
static void look_after_lane(struct bcri_link_thread *thread, struct path *path)
{
    const uint64_t silence_ns = thread->config.silence_ns;
    if (has_waited(thread, path, silence_ns / BCRI_LANE_SILENT))
        path->by_udp.heard = false;
    if (path->by_udp.heard || path->changed_at == 0)
        path->changed_at = thread->now;
    const bool is_silent = silence_ns != 0 && thread->now > path->changed_at + silence_ns;
    path->way = is_silent ? BCRI_WAY_SILENT : path->by_udp.heard ? BCRI_WAY_USUAL : path->way;
    if (path->way != path->told)
        tell_way(thread, path);
}

/* A firewall that stops packets, a cable, or a tunnel. Probes bring the thread here meanwhile. */
void bcri_paths_look_after(struct bcri_link_thread *thread)
{
    struct path *path;
    LIST_FOREACH (path, &thread->paths, entry) {
        if (path->lane == BCRI_LANE_TREE) {
            look_after_lane(thread, path);
            continue;
        }
        if (!path->on_tree && has_waited(thread, path, thread->config.silence_ns))
            use_tree(thread, path, BCRI_WAY_SILENT);
        else if (!path->on_tree && thread->config.silence_ns != 0 && bcri_link_is_narrow(path->link))
            use_tree(thread, path, BCRI_WAY_NARROW);
        else if (path->on_tree && thread->now >= path->changed_at + path->stays_ns &&
                 bcri_link_try_passed(path->link))
            use_udp(thread, path);
        tell_way(thread, path);
        if (!path->wants_keys && bcri_link_wears_out(path->link))
            ask_for_keys(thread, path);
    }
}

/* ---- deadlines ---- */

uint64_t bcri_paths_deadline(const struct bcri_link_thread *thread)
{
    uint64_t next = BCRI_LINK_NEVER;
    const struct path *path;
    LIST_FOREACH (path, &thread->paths, entry) {
        uint64_t at =
            path->blocked || !path_is_awake(thread, path) ? BCRI_LINK_NEVER : bcri_link_deadline(path->link);
        if (path->paused != 0 && at > thread->now + RESUME_NS)
            at = thread->now + RESUME_NS;
        next = at < next ? at : next;
    }
    return next;
}
