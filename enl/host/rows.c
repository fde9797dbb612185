/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host/host.h"

#include "bcri/cces.h"
#include "bcri/stopped.h"

static uint32_t state_of(const struct enl_cce *cce)
{
    const uint32_t state = bcri_cce_seen_state(cce->record), pid = bcri_load(&cce->record->id.pid);
    return state == BCRI_CCE_ALIVE && pid != 0 && bcri_process_stopped(pid) ? BCRI_ROW_STOPPED : state;
}

static void send_row(const struct enl_here *here, struct enl_conn *conn, struct bcri_control *row,
                     const char *name)
{
    row->type = BCRI_MSG_row;
    row->present = BCRI_HAS(id) | BCRI_HAS(index) | BCRI_HAS(ordinal) | BCRI_HAS(pid) | BCRI_HAS(state) |
                   BCRI_HAS(ccename) | BCRI_HAS(program);
    row->ccename = bcri_view_of(name);
    if (row->ccename.length > 255) { /* the end of a long path tells more */
        row->ccename.bytes += row->ccename.length - 255;
        row->ccename.length = 255;
    }
    row->program = bcri_view_of(here->self->name);
    enl_conn_send(conn, row, NULL, 0);
}

/* Answers with the `nth` process that waits to be enlisted; its index follows those of all CCEs.
 * False: there are fewer. */
static bool send_waiting(const struct enl_here *here, struct enl_conn *conn,
                         const struct bcri_control *message, uint32_t nth)
{
    const struct enl_conn *waiting = TAILQ_FIRST(&conn->conns->waiting);
    for (uint32_t i = 0; i < nth && waiting != NULL; i++)
        waiting = TAILQ_NEXT(waiting, waits);
    const size_t index = here->cce_room + nth;
    if (waiting == NULL || index >= BCRI_CCE_MAX)
        return false;
    struct bcri_control row = {.id = message->id,
                               .index = (uint32_t)index,
                               .pid = (uint32_t)waiting->pid,
                               .state = BCRI_ROW_WAITING};
    send_row(here, conn, &row, waiting->ccename);
    return true;
}

const char *enl_rows_answer(const struct enl_here *here, struct enl_conn *conn,
                            const struct bcri_control *message)
{
    for (uint32_t index = message->index; index < here->cce_room; index++) {
        const struct enl_cce *cce = here->cces[index];
        if (cce == NULL || cce->life == ENL_OVER)
            continue;
        struct bcri_control row = {.id = message->id,
                                   .index = index,
                                   .ordinal = cce->ordinal,
                                   .pid = (uint32_t)(cce->pid != 0 ? cce->pid : cce->process),
                                   .state = state_of(cce)};
        send_row(here, conn, &row, cce->object);
        return NULL;
    }
    const size_t room = here->cce_room;
    if (send_waiting(here, conn, message, message->index > room ? (uint32_t)(message->index - room) : 0))
        return NULL;
    enl_conn_reply(conn, message->id, 0, NULL);
    return NULL;
}
