/* SPDX-License-Identifier: MIT */
/* serve.c -- orders of CCEs elsewhere: performed in shared memory by the code that CCEs use, in the
 * order of their streams. What cannot have a lock now parks its stream, and no other.
 * docs/states/order.md. */
#include <stdlib.h>
#include <string.h>

#include "bcr/error.h"
#include "bcri/act.h"
#include "bcri/cces.h"
#include "bcri/drop.h"
#include "bcri/region.h"
#include "bcri/result.h"

#include "private.h"

/* Messages of a stream that have come and are not performed, beyond which the link pauses it. */
enum { STREAM_COUNT_MAX = 64 };
#define RESUME_AFTER_NS (UINT64_C(1000) * 1000) /* when the pool has no room */

/* ---- streams ---- */

static struct stream **stream_at(struct peer *peer, uint32_t source, uint32_t target)
{
    struct stream **at = &peer->streams[(source * 31 + target) % STREAM_HASHES];
    while (*at != NULL && ((*at)->source != source || (*at)->target != target))
        at = &(*at)->next;
    return at;
}

static struct stream *stream_of(struct peer *peer, uint32_t source, uint32_t target)
{
    struct stream **at = stream_at(peer, source, target);
    if (*at == NULL && (*at = calloc(1, sizeof **at)) != NULL) {
        (*at)->peer = peer;
        (*at)->source = source;
        (*at)->target = target;
        (*at)->end = &(*at)->first;
    }
    return *at;
}

/* Forgets a stream of which nothing is left. Its numbers may serve other CCEs later. */
static void free_if_over(struct stream *stream)
{
    if (!stream->ended || stream->count != 0 || stream->served != 0 || stream->locks != NULL ||
        stream->paused)
        return;
    struct stream **at = stream_at(stream->peer, stream->source, stream->target);
    *at = stream->next;
    free(stream);
}

/* An answer waits for the pool to grow. False: no memory. */
static bool pause_answers(struct peer *peer, const struct bcri_link_message *message)
{
    struct paused_answers *paused = malloc(sizeof *paused);
    if (paused == NULL)
        return false;
    *paused = (struct paused_answers){
        .next = peer->paused_answers, .source = message->source, .target = message->target};
    peer->paused_answers = paused;
    return true;
}

void bcri_serve_go_on(struct peer *peer)
{
    struct paused_answers *paused = peer->paused_answers;
    peer->paused_answers = NULL;
    while (paused != NULL) {
        struct paused_answers *next = paused->next;
        if (peer->link != NULL)
            bcri_link_resume(peer->link, paused->source, paused->target, peer->agent->now);
        free(paused);
        paused = next;
    }
}

static void drop(struct bcri_agent *agent, struct bcri_slot_shm *slot)
{
    if (slot != NULL)
        bcri_slot_drop(agent->ctx, slot);
}

/* ---- messages ---- */

enum bcri_link_verdict bcri_serve_begin(struct peer *peer, struct bcri_link_message *message)
{
    struct bcri_agent *agent = peer->agent;
    struct bcri_message read;
    if (!bcri_message_read(message->header, message->header_bytes, message->body_bytes, &read)) {
        bcri_agent_note(agent, "host %u has sent a message that makes no sense", peer->host);
        return BCRI_LINK_REFUSE;
    }
    const bool is_answer = (message->source & BCRI_ANSWERS) != 0;
    struct order *order = is_answer ? bcri_ask_find(peer, read.request) : NULL;
    struct stream *stream = is_answer ? NULL : stream_of(peer, message->source, message->target);
    const bool has_region =
        read.kind == BCRI_MESSAGE_PUT || (order != NULL && bcri_order_is_get(order->op) && read.code == 0);
    if (is_answer != (read.kind == BCRI_MESSAGE_ANSWER) || (message->body_bytes != 0 && !has_region) ||
        (is_answer && order == NULL))
        return BCRI_LINK_REFUSE; /* the asker has ended, and the region goes back */
    if (!is_answer && (stream == NULL || stream->count >= STREAM_COUNT_MAX)) {
        if (stream != NULL)
            stream->paused = true;
        return stream != NULL ? BCRI_LINK_PAUSE : BCRI_LINK_REFUSE;
    }
    if (message->body_bytes > agent->pool_bytes / 2 && !is_answer)
        return BCRI_LINK_REFUSE;
    struct incoming *incoming = calloc(1, sizeof *incoming);
    if (incoming != NULL && has_region)
        incoming->region = bcri_agent_alloc(agent, message->body_bytes, read.archtype, read.error);
    if (incoming == NULL || (has_region && incoming->region == NULL)) {
        free(incoming);
        if (is_answer && agent->pool_asked && message->body_bytes <= agent->pool_bytes / 2 &&
            pause_answers(peer, message))
            return BCRI_LINK_PAUSE;
        if (is_answer) {
            bcri_ask_answer(order, bcrE_NOMEM, 0, NULL);
            return BCRI_LINK_REFUSE;
        }
        stream->paused = true;
        return BCRI_LINK_PAUSE;
    }
    incoming->peer = peer;
    incoming->message = read;
    if (stream != NULL)
        stream->count++;
    message->memory = message->body_bytes != 0 ? (void *)bcri_load(&incoming->region->data) : NULL;
    message->cookie = incoming;
    return BCRI_LINK_TAKE;
}

void bcri_serve_arrived(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming)
{
    struct bcri_agent *agent = peer->agent;
    agent->again = true;
    if (incoming->message.kind != BCRI_MESSAGE_ANSWER) {
        struct stream *stream = *stream_at(peer, source, target);
        *stream->end = incoming;
        stream->end = &incoming->next;
        return;
    }
    struct order *order = bcri_ask_find(peer, incoming->message.request);
    if (order != NULL)
        bcri_ask_answer(order, (int)incoming->message.code, incoming->message.value, incoming->region);
    else
        drop(agent, incoming->region); /* the asker has ended since the message began */
    free(incoming);
}

static void answer(struct stream *stream, uint64_t request, int code, uint64_t value)
{
    const struct bcri_message message = {
        .kind = BCRI_MESSAGE_ANSWER, .code = (uint32_t)code, .request = request, .value = value};
    if (!bcri_agent_send(stream->peer, stream->target | BCRI_ANSWERS, stream->source, &message, NULL,
                         (struct sent){0}) &&
        stream->peer->link != NULL)
        bcri_agent_note(stream->peer->agent, "no memory for an answer to host %u", stream->peer->host);
}

/* ---- what waits, and what is on its way ---- */

static struct served *new_served(struct stream *stream, uint64_t request, enum served_state state,
                                 struct bcri_slot_shm *slot)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct served *served = calloc(1, sizeof *served);
    if (served == NULL)
        return NULL;
    *served = (struct served){.stream = stream,
                              .state = state,
                              .request = request,
                              .slot = slot,
                              .deadline = AGENT_NEVER,
                              .next = agent->served,
                              .at = &agent->served};
    if (served->next != NULL)
        served->next->at = &served->next;
    agent->served = served;
    stream->served++;
    return served;
}

static void free_served(struct served *served)
{
    struct stream *stream = served->stream;
    *served->at = served->next;
    if (served->next != NULL)
        served->next->at = served->at;
    free(served);
    stream->served--;
    free_if_over(stream);
}

/* A time that begins now. */
static uint64_t deadline_of(const struct bcri_agent *agent, int msec)
{
    return msec < 0 ? AGENT_NEVER : agent->now + (uint64_t)msec * 1000 * 1000;
}

/* A CCE has one write lock at a cell at a time: the newest. */
static void note_lock(struct served *served)
{
    struct stream *stream = served->stream;
    const bcri_ref cell = bcri_load(&served->slot->cell);
    struct write_lock *lock = stream->locks;
    while (lock != NULL && lock->cell != cell)
        lock = lock->next;
    if (lock == NULL && (lock = calloc(1, sizeof *lock)) != NULL) {
        lock->next = stream->locks;
        stream->locks = lock;
    }
    if (lock == NULL) {
        bcri_agent_note(stream->peer->agent, "no memory to note a write lock of host %u", stream->peer->host);
        return;
    }
    lock->cell = cell;
    lock->gen_epoch = bcri_load(&served->slot->prev);
    lock->dead = served->ended;
}

/* The region in the LIVE slot of `served` goes to the asker. */
static void send_region(struct served *served)
{
    struct stream *stream = served->stream;
    const struct bcri_region_shm *header =
        bcri_at_held(stream->peer->agent->ctx, bcri_slot_region(bcri_load(&served->slot->word)));
    const struct bcri_message message = {.kind = BCRI_MESSAGE_ANSWER,
                                         .request = served->request,
                                         .archtype = header->archtype,
                                         .error = header->error};
    served->state = SERVED_SENT;
    served->number = ++stream->peer->agent->served_last;
    if (bcri_agent_send(stream->peer, stream->target | BCRI_ANSWERS, stream->source, &message, served->slot,
                        (struct sent){.served = served}))
        return;
    answer(stream, served->request, bcrE_NOMEM, 0);
    bcri_serve_completed(served, BCRI_LINK_REFUSED);
}

/* The asker's host has the region, or will never have it. */
void bcri_serve_completed(struct served *served, enum bcri_link_outcome outcome)
{
    struct bcri_agent *agent = served->stream->peer->agent;
    if (outcome != BCRI_LINK_ARRIVED && served->want != BCRI_WANT_READ) {
        served->state = SERVED_GOES_BACK;
        agent->again = true;
        return;
    }
    if (served->want == BCRI_WANT_LOCK)
        note_lock(served);
    drop(agent, served->slot);
    free_served(served);
}

/* A get that waits: failed, cancelled, or its time is up; or it has its region, then true is returned. */
static bool look_at_get(struct bcri_agent *agent, struct served *served)
{
    const bool over = served->cancelled || served->ended || served->deadline <= agent->now;
    const int error = bcri_act_collect(agent->ctx, served->slot, over);
    if (error == 0)
        return true;
    if (error == BCRI_ACT_WAITS || error == BCRI_PARKED) {
        agent->parked = agent->parked || error == BCRI_PARKED;
        return false;
    }
    answer(served->stream, served->request, error, 0);
    free_served(served);
    return false;
}

static bool waits_beside(const struct served *served, const struct served *taken)
{
    return served != taken && served->stream->target == taken->stream->target && served->cell == taken->cell;
}

/* Looks at all gets that wait, or, if `taken` has just taken a region, at those of its cell. A cell serves
 * the oldest first. So they are looked at youngest first: one that is found served has none before
 * it that is found waiting. They are sent oldest first, in the order in which the cell gave. */
static void look_at_gets(struct bcri_agent *agent, const struct served *taken)
{
    struct served *ready = NULL;
    for (struct served *served = agent->served, *next; served != NULL; served = next) {
        next = served->next;
        if (served->state != SERVED_GET_WAITS || (taken != NULL && !waits_beside(served, taken)))
            continue;
        if (look_at_get(agent, served)) {
            served->next_ready = ready;
            ready = served;
        }
    }
    for (struct served *next; ready != NULL; ready = next) {
        next = ready->next_ready;
        send_region(ready);
    }
}

/* ---- performing ---- */

/* The agent's name for the owner: identities have no secret for those who are not of the program. */
static uint64_t key_of(struct bcri_agent *agent, const struct stream *stream,
                       const struct bcri_message *message)
{
    uint8_t identity[BCRI_IDENTITY_BYTES];
    int cce = 0;
    bcri_identity_name(identity, agent->ctx->host->number, stream->target);
    memcpy(identity + BCRI_IDENTITY_BYTES - BCRI_SECRET_BYTES, message->owner, BCRI_SECRET_BYTES);
    (void)bcri_cce_decode(agent->ctx, identity, &cce); /* no memory: it is nobody */
    return bcri_resolved_key(cce, message->cell);
}

/* These return false if the context parks: then nothing has happened. */

static bool perform_put(struct stream *stream, struct incoming *incoming)
{
    struct bcri_agent *agent = stream->peer->agent;
    struct bcri_ctx *ctx = agent->ctx;
    const struct bcri_message *message = &incoming->message;
    const uint64_t key = key_of(agent, stream, message);
    const bool write = message->flags == BCRI_MESSAGE_WRITE;
    struct bcri_slot_shm *waits = NULL;
    int error = message->flags == BCRI_MESSAGE_RETURN ? bcri_act_return(ctx, key, incoming->region)
                                                      : bcri_act_put(ctx, key, write, incoming->region);
    if (error == bcrE_FULL && message->msec != 0 && message->flags != BCRI_MESSAGE_RETURN)
        error = bcri_act_put_waiting(ctx, key, write, incoming->region, &waits);
    if (error == BCRI_PARKED)
        return false;
    if (error == BCRI_ACT_WAITS) {
        struct served *served = new_served(stream, message->request, SERVED_PUT_WAITS, waits);
        if (served != NULL)
            served->deadline = deadline_of(agent, message->msec);
        /* Without memory it waits unknown: it will be put, and nobody is told. */
        return true;
    }
    if (error != 0)
        drop(agent, incoming->region);
    answer(stream, message->request, error, 0);
    return true;
}

/* Whether a region is to go back into that cell and waits for younger ones. Until then nothing more is taken
 * from there for other hosts, or it might wait for ever. */
static bool goes_back(const struct bcri_agent *agent, uint32_t target, int cell)
{
    for (const struct served *served = agent->served; served != NULL; served = served->next)
        if (served->state == SERVED_GOES_BACK && served->stream->target == target && served->cell == cell)
            return true;
    return false;
}

static bool perform_get(struct stream *stream, const struct bcri_message *message)
{
    struct bcri_agent *agent = stream->peer->agent;
    const enum bcri_want want = (enum bcri_want)(message->flags & BCRI_MESSAGE_WANT);
    struct bcri_slot_shm *slot = NULL;
    if (stream->peer->lost)
        return true;
    if (goes_back(agent, stream->target, message->cell))
        return false;
    struct served *served = new_served(stream, message->request, SERVED_GET_WAITS, NULL);
    if (served == NULL) {
        answer(stream, message->request, bcrE_NOMEM, 0);
        return true;
    }
    served->cell = message->cell;
    const int error = bcri_act_get(agent->ctx, key_of(agent, stream, message), want,
                                   (message->flags & BCRI_MESSAGE_LOCKS) != 0, message->msec != 0, &slot);
    served->want = want;
    served->slot = slot;
    if (error == 0) {
        look_at_gets(agent, served);
        send_region(served);
    } else if (error == BCRI_ACT_WAITS) {
        served->deadline = deadline_of(agent, message->msec);
    } else {
        if (error != BCRI_PARKED)
            answer(stream, message->request, error, 0);
        free_served(served);
    }
    return error != BCRI_PARKED;
}

static struct served *find_get(const struct stream *stream, uint64_t request)
{
    for (struct served *served = stream->peer->agent->served; served != NULL; served = served->next)
        if (served->stream == stream && served->request == request && served->state == SERVED_GET_WAITS)
            return served;
    return NULL;
}

static void end_stream(struct stream *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    stream->ended = true;
    for (struct served *served = agent->served; served != NULL; served = served->next)
        if (served->stream == stream)
            served->ended = true;
    for (struct write_lock *lock = stream->locks; lock != NULL; lock = lock->next)
        lock->dead = true;
    agent->again = true;
}

static bool perform(struct stream *stream, struct incoming *incoming)
{
    struct bcri_agent *agent = stream->peer->agent;
    const struct bcri_message *message = &incoming->message;
    uint64_t length = 0;
    int error;
    struct served *served;
    stream->ended = stream->peer->lost; /* after an end the next CCE with this number speaks */
    switch (message->kind) {
    case BCRI_MESSAGE_PUT: return perform_put(stream, incoming);
    case BCRI_MESSAGE_GET: return perform_get(stream, message);
    case BCRI_MESSAGE_CANCEL:
        served = find_get(stream, message->request);
        if (served != NULL) {
            served->cancelled = true;
            agent->again = true;
        }
        return true;
    case BCRI_MESSAGE_ENDED: end_stream(stream); return true;
    case BCRI_MESSAGE_ZAP: error = bcri_act_zap(agent->ctx, key_of(agent, stream, message)); break;
    default: error = bcri_act_length(agent->ctx, key_of(agent, stream, message), &length); break;
    }
    if (error != BCRI_PARKED)
        answer(stream, message->request, error, error == 0 ? length : 0);
    return error != BCRI_PARKED;
}

static void resume(struct stream *stream)
{
    struct bcri_agent *agent = stream->peer->agent;
    if (!stream->paused || stream->count >= STREAM_COUNT_MAX || stream->peer->link == NULL)
        return;
    stream->paused = false; /* unless the pool still has no room */
    (void)bcri_link_resume(stream->peer->link, stream->source, stream->target, agent->now);
    if (stream->paused && agent->deadline > agent->now + RESUME_AFTER_NS)
        agent->deadline = agent->now + RESUME_AFTER_NS;
}

static void perform_all(struct stream *stream)
{
    struct incoming *incoming;
    while ((incoming = stream->first) != NULL) {
        if (!perform(stream, incoming)) {
            stream->peer->agent->parked = true;
            break;
        }
        stream->first = incoming->next;
        if (stream->first == NULL)
            stream->end = &stream->first;
        stream->count--;
        free(incoming);
    }
    resume(stream);
}

/* ---- looking at what waits ---- */

static void look_at_put(struct bcri_agent *agent, struct served *served)
{
    struct stream *stream = served->stream;
    const uint64_t request = served->request;
    const int error = bcri_act_put_over(agent->ctx, served->slot, served->deadline <= agent->now);
    if (error == BCRI_ACT_WAITS || error == BCRI_PARKED) {
        agent->parked = agent->parked || error == BCRI_PARKED;
        return;
    }
    answer(stream, request, error, 0);
    free_served(served);
}

/* Whether a region that was taken from the same cell later may have to go back as well. */
static bool waits_for_younger(const struct bcri_agent *agent, const struct served *served)
{
    for (const struct served *other = agent->served; other != NULL; other = other->next)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed has been taken out of the list */
        if (other->state == SERVED_SENT && other->want != BCRI_WANT_READ && other->number > served->number &&
            bcri_load(&other->slot->cell) == bcri_load(&served->slot->cell))
            return true;
    return false;
}

/* Puts back what did not reach its asker, youngest first: so a cell's regions have their old order. */
static void give_back(struct bcri_agent *agent)
{
    for (;; agent->again = true) {
        struct served *youngest = NULL;
        for (struct served *served = agent->served; served != NULL; served = served->next)
            /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed has been taken out of the list */
            if (served->state == SERVED_GOES_BACK &&
                (youngest == NULL || served->number > youngest->number) && !waits_for_younger(agent, served))
                youngest = served;
        if (youngest == NULL)
            return;
        if (bcri_act_give_back(agent->ctx, youngest->slot) == BCRI_PARKED) {
            agent->parked = true;
            return;
        }
        free_served(youngest);
    }
}

static void tell_cells(struct bcri_agent *agent, struct stream *stream)
{
    for (struct write_lock **at = &stream->locks; *at != NULL;) {
        struct write_lock *lock = *at;
        const bool parked =
            lock->dead && bcri_act_owner_died(agent->ctx, lock->cell, lock->gen_epoch) == BCRI_PARKED;
        agent->parked = agent->parked || parked;
        if (!lock->dead || parked) {
            at = &lock->next;
            continue;
        }
        *at = lock->next;
        free(lock);
    }
}

static void each_stream(struct bcri_agent *agent, void (*visit)(struct bcri_agent *, struct stream *))
{
    for (struct peer *peer = agent->peers; peer != NULL; peer = peer->next)
        for (uint32_t i = 0; i < STREAM_HASHES; i++)
            for (struct stream *stream = peer->streams[i], *next; stream != NULL; stream = next) {
                next = stream->next;
                visit(agent, stream);
            }
}

static void run_stream(struct bcri_agent *agent, struct stream *stream)
{
    perform_all(stream);
    if (stream->locks != NULL)
        tell_cells(agent, stream);
    free_if_over(stream);
}

void bcri_serve_run(struct bcri_agent *agent, bool look)
{
    each_stream(agent, run_stream);
    if (look)
        look_at_gets(agent, NULL);
    for (struct served *served = agent->served, *next; served != NULL && look; served = next) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what is freed has been taken out of the list */
        next = served->next;
        if (served->state == SERVED_PUT_WAITS)
            look_at_put(agent, served);
    }
    give_back(agent);
    for (const struct served *served = agent->served; served != NULL; served = served->next)
        if (served->deadline < agent->deadline &&
            (served->state == SERVED_GET_WAITS || served->state == SERVED_PUT_WAITS))
            agent->deadline = served->deadline;
}

/* What has come whole is carried out; what waits for a region is withdrawn. */
void bcri_serve_lost(struct peer *peer)
{
    for (uint32_t i = 0; i < STREAM_HASHES; i++)
        for (struct stream *stream = peer->streams[i]; stream != NULL; stream = stream->next) {
            stream->paused = false;
            end_stream(stream);
        }
}

void bcri_serve_dropped(struct peer *peer, uint32_t source, uint32_t target, struct incoming *incoming)
{
    struct stream *stream = (source & BCRI_ANSWERS) == 0 ? *stream_at(peer, source, target) : NULL;
    if (stream != NULL)
        stream->count--;
    drop(peer->agent, incoming->region);
    free(incoming);
}

void bcri_serve_free(struct peer *peer)
{
    bcri_serve_go_on(peer); /* there is no link any more */
    for (uint32_t i = 0; i < STREAM_HASHES; i++)
        for (struct stream *stream = peer->streams[i], *next; stream != NULL; stream = next) {
            next = stream->next;
            for (struct incoming *incoming = stream->first, *after; incoming != NULL; incoming = after) {
                after = incoming->next;
                free(incoming);
            }
            for (struct write_lock *lock = stream->locks, *after; lock != NULL; lock = after) {
                after = lock->next;
                free(lock);
            }
            free(stream);
        }
}
