/* SPDX-License-Identifier: MIT */
/* waits.c -- what waits here for CCEs elsewhere, and regions on their way to them.
 *
 * A cell serves the gets that wait there in the order in which they came, and so it does puts. So of a cell
 * only the first of each needs to be looked at: as long as that waits, all others do. Why no event is lost:
 * whoever serves a request stores that first and rings the agent then. The agent reads its bell before it
 * looks. A ring that has come before names the cell, or none, and then the agent looks at all cells; one that
 * comes later brings the agent here again. A ring may name a cell before the agent has noted that anything
 * waits there only if the agent's own call has registered the request: and the agent looks when that call
 * has returned.
 *
 * Regions are sent in the order in which their cell gave them. What does not reach its requester goes back to
 * the head of its cell, the youngest first, so that the cell's order is the old one: an older one waits for
 * those that are still on their way. Until nothing goes back any more, nothing is taken there for other hosts,
 * or it might wait for ever. */
#include "bcri/act.h"
#include "bcri/drop.h"
#include "bcri/region.h"

#include "links/agent/serve.h"

/* ---- cells ---- */

struct wanted_cell *bcri_cell_find(const struct bcri_agent *agent, bcri_ref ref)
{
    struct wanted_cell *cell;
    EACH_WITH (cell, &agent->cells, (uint32_t)ref, struct wanted_cell, at)
        if (cell->ref == ref)
            return cell;
    return NULL;
}

/* There is one, or a spare one. */
static struct wanted_cell *cell_of(struct bcri_agent *agent, bcri_ref ref)
{
    struct wanted_cell *cell = bcri_cell_find(agent, ref);
    if (cell != NULL)
        return cell;
    cell = agent->spare_cell;
    agent->spare_cell = NULL;
    *cell = (struct wanted_cell){.ref = ref};
    bcri_table_add(&agent->cells, &cell->at, (uint32_t)ref);
    list_append(&agent->all_cells, &cell->of_agent);
    return cell;
}

static void release_cell(struct bcri_agent *agent, struct wanted_cell *cell)
{
    if (--cell->users != 0)
        return;
    list_remove(&cell->in_queue);
    list_remove(&cell->of_agent);
    bcri_table_remove(&agent->cells, &cell->at);
    record_free(cell);
}

/* ---- records ---- */

/* What one costs, its cell and its ID included. */
#define SERVED_BYTES (sizeof(struct served) + sizeof(struct wanted_cell) + sizeof(struct bcri_slot_shm))

static struct bcri_agent *agent_of_served(const struct served *served)
{
    return served->stream->peer->agent;
}

static uint64_t served_key_of(const struct stream_in *stream, uint64_t request)
{
    return request ^ (uintptr_t)stream;
}

struct served *bcri_served_new(struct stream_in *stream, uint64_t request, enum bcri_want want)
{
    struct peer *peer = stream->peer;
    struct bcri_agent *agent = peer->agent;
    if (!bcri_peer_remember(peer, SERVED_BYTES))
        return NULL;
    struct write_lock *lock = want == BCRI_WANT_LOCK ? bcri_lock_new(stream) : NULL;
    struct served *served = record_take(&agent->serveds, sizeof *served);
    if (agent->spare_cell == NULL)
        agent->spare_cell = malloc(sizeof *agent->spare_cell);
    if (served == NULL || agent->spare_cell == NULL || (want == BCRI_WANT_LOCK && lock == NULL) ||
        !deadlines_reserve(&agent->deadlines)) {
        if (lock != NULL)
            bcri_lock_free(lock);
        if (served != NULL)
            record_give(&agent->serveds, served);
        peer->bytes -= SERVED_BYTES;
        return NULL;
    }
    *served = (struct served){.stream = stream, .request = request, .want = want, .lock = lock};
    list_append(&stream->served, &served->of_stream);
    return served;
}

/* It does not wait any more. */
static void leave_cell(struct served *served)
{
    struct bcri_agent *agent = agent_of_served(served);
    if (served->state == SERVED_GET_WAITS)
        bcri_table_remove(&agent->served, &served->at);
    deadlines_remove(&agent->deadlines, &served->deadline);
    list_remove(&served->in_queue);
    list_remove(&served->in_cell);
    served->state = SERVED_NEW;
}

void bcri_served_free(struct served *served)
{
    struct bcri_agent *agent = agent_of_served(served);
    struct stream_in *stream = served->stream;
    struct wanted_cell *cell = served->cell;
    leave_cell(served);
    if (served->lock != NULL)
        bcri_lock_free(served->lock);
    list_remove(&served->of_stream);
    stream->peer->bytes -= SERVED_BYTES;
    record_give(&agent->serveds, served);
    if (cell != NULL)
        release_cell(agent, cell);
    bcri_serve_stream_over(stream);
}

struct served *bcri_served_find(const struct stream_in *stream, uint64_t request)
{
    const uint64_t key = served_key_of(stream, request);
    struct served *served;
    EACH_WITH (served, &stream->peer->agent->served, key, struct served, at)
        if (served->stream == stream && served->request == request)
            return served;
    return NULL;
}

void bcri_served_waits(struct served *served, enum served_state state, struct bcri_slot_shm *slot,
                       uint64_t until_ns)
{
    struct bcri_agent *agent = agent_of_served(served);
    served->state = state;
    served->slot = slot;
    served->is_waited_for = state == SERVED_GET_WAITS || until_ns != AGENT_NEVER;
    served->cell = cell_of(agent, bcri_load(&slot->cell));
    served->cell->users++;
    list_append(state == SERVED_PUT_WAITS ? &served->cell->puts : &served->cell->gets, &served->in_cell);
    if (state == SERVED_GET_WAITS)
        bcri_table_add(&agent->served, &served->at, served_key_of(served->stream, served->request));
    if (until_ns != AGENT_NEVER)
        deadlines_add(&agent->deadlines, &served->deadline, until_ns);
}

void bcri_served_over(struct served *served)
{
    if (!is_listed(&served->in_queue))
        list_append(&agent_of_served(served)->over, &served->in_queue);
}

/* ---- regions on their way ---- */

/* It waits no longer, and is answered; without memory for that, later. */
static void answer_served(struct bcri_agent *agent, struct served *served, int code)
{
    leave_cell(served);
    if (answer_code(served->stream, served->request, code)) {
        bcri_served_free(served);
        return;
    }
    served->state = SERVED_FAILED;
    served->code = code;
    list_append(&agent->parked_waits, &served->in_queue);
    bcri_agent_parks(agent);
}

/* Its region is gone, or back. */
static void end_served(struct served *served)
{
    if (served->code != 0)
        answer_served(agent_of_served(served), served, served->code);
    else
        bcri_served_free(served);
}

/* The requester's host has the region, or will never have it. Its CCE is told that there was no memory when the region is
 * back: until then it would find the cell without it. */
void bcri_served_completed(struct served *served, enum bcri_link_outcome outcome)
{
    struct bcri_agent *agent = agent_of_served(served);
    struct wanted_cell *cell = served->cell;
    if (outcome == BCRI_LINK_REFUSED)
        served->code = bcrE_NOMEM;
    if (outcome != BCRI_LINK_ARRIVED && served->want != BCRI_WANT_READ) {
        served->state = SERVED_GOES_BACK;
        cell->going_back++;
        if (!is_listed(&cell->in_queue))
            list_append(&agent->giving_back, &cell->in_queue);
        return;
    }
    if (outcome == BCRI_LINK_ARRIVED && served->want == BCRI_WANT_LOCK)
        bcri_lock_taken(served);
    bcri_slot_drop(agent->ctx, served->slot);
    if (cell->going_back != 0 && !is_listed(&cell->in_queue)) /* an older one may have waited for this one */
        list_append(&agent->giving_back, &cell->in_queue);
    end_served(served);
}

/* The region in the LIVE slot goes to the requester. */
static void send_region(struct served *served)
{
    struct stream_in *stream = served->stream;
    const struct bcri_region_shm *header =
        bcri_at_held(agent_of_served(served)->ctx, bcri_slot_region(bcri_load(&served->slot->word)));
    const struct bcri_message message = {.kind = BCRI_MESSAGE_ANSWER,
                                         .request = served->request,
                                         .archtype = header->archtype,
                                         .region_kind = header->kind};
    served->state = SERVED_SENT;
    if (served->want != BCRI_WANT_READ)
        list_append(&served->cell->taken, &served->in_cell);
    if (bcri_agent_send(stream->peer, stream->target | BCRI_ANSWERS, stream->source, &message, served->slot,
                        bcri_served_cookie(served)))
        return;
    bcri_served_completed(served, BCRI_LINK_REFUSED);
}

/* What goes back, linked from the youngest to the oldest. NULL: a younger region is still on its way. Before
 * that comes back none does, or a get that waits here would have one of them before an older one. */
static struct bcri_slot_shm *all_going_back(struct bcri_agent *agent, const struct wanted_cell *cell)
{
    const struct item *at = cell->taken.head.before;
    struct bcri_slot_shm *youngest = NULL, *last = NULL;
    for (uint32_t left = cell->going_back; left != 0; left--, at = at->before) {
        const struct served *served = RECORD_OF(at, struct served, in_cell);
        if (served->state != SERVED_GOES_BACK)
            return NULL;
        if (last != NULL)
            bcri_store(&last->next, bcri_slot_ref(agent->ctx, served->slot));
        else
            youngest = served->slot;
        last = served->slot;
        bcri_store(&last->next, BCRI_REF_NONE);
    }
    return youngest;
}

/* Puts back what did not reach its requester. */
static void give_back_to_cell(struct bcri_agent *agent, struct wanted_cell *cell)
{
    struct bcri_slot_shm *const youngest = all_going_back(agent, cell);
    cell->users++;
    if (youngest != NULL && bcri_act_give_back(agent->ctx, youngest).outcome == BCRI_ACT_PARKED) {
        list_append(&agent->parked_cells, &cell->in_queue);
        bcri_agent_parks(agent);
    } else if (youngest != NULL) {
        struct served *served;
        while (cell->going_back != 0 && (served = LAST_OF(&cell->taken, struct served, in_cell)) != NULL) {
            cell->going_back--;
            end_served(served);
        }
    }
    if (cell->going_back == 0)
        list_move(&cell->blocked, &agent->ready);
    release_cell(agent, cell);
}

/* ---- looking at what waits ---- */

static bool still_waits(struct bcri_acted acted)
{
    return acted.outcome == BCRI_ACT_WAITS || acted.outcome == BCRI_ACT_PARKED;
}

/* Those that wait no longer are sent, or answered, in the order in which the cell has served them. */
static void look_at_cell(struct bcri_agent *agent, struct wanted_cell *cell)
{
    struct served *served;
    struct bcri_acted acted;
    cell->users++;
    while ((served = FIRST_OF(&cell->gets, struct served, in_cell)) != NULL &&
           !still_waits(acted = bcri_act_collect(agent->ctx, served->slot, false))) {
        if (acted.outcome == BCRI_ACT_FAILED) {
            answer_served(agent, served, acted.error);
            continue;
        }
        leave_cell(served);
        send_region(served);
    }
    while ((served = FIRST_OF(&cell->puts, struct served, in_cell)) != NULL) {
        acted = bcri_act_put_over(agent->ctx, served->slot, false);
        if (acted.outcome == BCRI_ACT_PARKED)
            bcri_served_over(served); /* it is over, but for the lock */
        if (still_waits(acted))
            break;
        answer_served(agent, served, acted.error);
    }
    release_cell(agent, cell);
}

void bcri_served_has(struct served *served, struct bcri_slot_shm *slot)
{
    struct bcri_agent *agent = agent_of_served(served);
    served->slot = slot;
    served->cell = cell_of(agent, bcri_load(&slot->cell));
    served->cell->users++;
    look_at_cell(agent, served->cell); /* the cell has served these before */
    send_region(served);
}

void bcri_cells_look_at(struct bcri_agent *agent, uint32_t low)
{
    struct wanted_cell *cell;
    EACH_WITH (cell, &agent->cells, low, struct wanted_cell, at)
        look_at_cell(agent, cell);
}

void bcri_cells_look_at_all(struct bcri_agent *agent)
{
    struct wanted_cell *cell;
    EACH_OF (cell, &agent->all_cells, struct wanted_cell, of_agent)
        look_at_cell(agent, cell);
}

/* ---- the end of waiting ---- */

/* It is withdrawn, unless it was served before: then it is sent in its turn. False: not now. */
static bool withdraw_served(struct bcri_agent *agent, struct served *served)
{
    if (served->state == SERVED_FAILED) {
        answer_served(agent, served, served->code);
        return true;
    }
    const bool is_get = served->state == SERVED_GET_WAITS;
    const struct bcri_acted acted = is_get ? bcri_act_collect(agent->ctx, served->slot, true)
                                           : bcri_act_put_over(agent->ctx, served->slot, true);
    if (still_waits(acted))
        return false;
    if (is_get && acted.outcome == BCRI_ACT_DONE) {
        look_at_cell(agent, served->cell);
        return true;
    }
    answer_served(agent, served, acted.error);
    return true;
}

void bcri_serve_stream_end(struct stream_in *stream)
{
    struct served *served;
    EACH_OF (served, &stream->served, struct served, of_stream) {
        served->ended = true;
        if (served->is_waited_for && (served->state == SERVED_GET_WAITS || served->state == SERVED_PUT_WAITS))
            bcri_served_over(served);
    }
    bcri_locks_end(stream);
}

bool bcri_waits_run(struct bcri_agent *agent)
{
    struct served *served;
    struct wanted_cell *cell;
    struct deadline *next;
    while ((next = deadlines_next(&agent->deadlines)) != NULL && next->at_ns <= agent->now) {
        deadlines_remove(&agent->deadlines, next);
        bcri_served_over(RECORD_OF(next, struct served, deadline));
    }
    const bool any = !list_is_empty(&agent->over) || !list_is_empty(&agent->giving_back);
    while ((served = TAKE_FIRST(&agent->over, struct served, in_queue)) != NULL) {
        /* At a cell whose locks are held, one attempt is as good as a thousand. */
        if (served->cell->is_parked || !withdraw_served(agent, served)) {
            served->cell->is_parked = true;
            list_append(&agent->parked_waits, &served->in_queue);
            bcri_agent_parks(agent);
        }
    }
    while ((cell = TAKE_FIRST(&agent->giving_back, struct wanted_cell, in_queue)) != NULL)
        give_back_to_cell(agent, cell);
    return any;
}

void bcri_waits_again(struct bcri_agent *agent)
{
    struct served *served;
    EACH_OF (served, &agent->parked_waits, struct served, in_queue)
        served->cell->is_parked = false;
    list_move(&agent->parked_waits, &agent->over);
    list_move(&agent->parked_cells, &agent->giving_back);
}
