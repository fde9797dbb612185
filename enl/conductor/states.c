/* SPDX-License-Identifier: MIT */
/* See tree.h. */
#include "conductor/child.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/names.h"
#include "bcri/archtype.h"
#include "bcri/machine.h"
#include "wire/wire.h"

/* A host that is not there any more. */
struct gone {
    SLIST_ENTRY(gone) entry;
    const struct enl_host *host;
    uint32_t number;
    bool was_up;
    char why[256];
};
static SLIST_HEAD(, gone) all_gone = SLIST_HEAD_INITIALIZER(all_gone);

void enl_states_gone(const struct enl_child *child, const char *sentence)
{
    struct gone *gone;
    if (sentence[0] == '\0')
        return;
    SLIST_FOREACH (gone, &all_gone, entry)
        if (gone->host == child->host)
            break;
    if (gone == NULL) {
        if ((gone = calloc(1, sizeof *gone)) == NULL)
            return;
        gone->host = child->host;
        SLIST_INSERT_HEAD(&all_gone, gone, entry);
    }
    const char *why = strstr(sentence, ": "); /* host X is lost: WHY */
    gone->number = child->life.number;
    gone->was_up = child->life.was_up;
    snprintf(gone->why, sizeof gone->why, "%s", why != NULL ? why + 2 : sentence);
}

void enl_states_forget(const struct enl_host *host)
{
    struct gone *gone;
    SLIST_FOREACH (gone, &all_gone, entry)
        if (gone->host == host)
            break;
    if (gone == NULL)
        return;
    SLIST_REMOVE(&all_gone, gone, gone, entry);
    free(gone);
}

static uint32_t state_of(const struct enl_child *child)
{
    if (enl_life_works(&child->life))
        return BCRI_HOST_UP;
    return enl_life_is_ending(&child->life) ? BCRI_HOST_ENDING : BCRI_HOST_STARTING;
}

/* If `number` is the least so far of those that were asked for: the answer is about that one. */
static bool is_next(const struct bcri_control *asked, const struct bcri_control *answer, uint32_t number)
{
    return number >= asked->host && (answer->type != BCRI_MSG_host_state || number < answer->host);
}

static void put_state(struct bcri_control *answer, uint32_t number, uint32_t state, uint32_t cces,
                      const char *name)
{
    *answer = (struct bcri_control){.type = BCRI_MSG_host_state,
                                    .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(state) |
                                               BCRI_HAS(count) | BCRI_HAS(machine),
                                    .id = answer->id,
                                    .host = number,
                                    .state = state,
                                    .count = cces,
                                    .machine = bcri_view_of(name)};
}

const char *enl_states_ask(struct enl_conn *conn, const struct bcri_control *message)
{
    const struct enl_program *program = enl_program_of(conn);
    struct bcri_control answer = {
        .type = BCRI_MSG_reply, .present = BCRI_HAS(id) | BCRI_HAS(status), .id = message->id};
    const struct enl_tree *tree = program->self.is_child ? NULL : program->tree;
    if (is_next(message, &answer, program->self.host_number))
        put_state(&answer, program->self.host_number,
                  program->self.phase <= ENL_RUNNING ? BCRI_HOST_UP : BCRI_HOST_ENDING, program->here.alive,
                  program->self.hostname);
    for (const struct enl_child *child = tree != NULL ? LIST_FIRST(&tree->children) : NULL; child != NULL;
         child = LIST_NEXT(child, entry))
        if (is_next(message, &answer, child->life.number))
            put_state(&answer, child->life.number, state_of(child), child->alive, child->host->name);
    const struct gone *gone;
    SLIST_FOREACH (gone, &all_gone, entry)
        if (is_next(message, &answer, gone->number)) {
            put_state(&answer, gone->number, gone->was_up ? BCRI_HOST_LOST : BCRI_HOST_FAILED, 0,
                      gone->host->name);
            answer.present |= BCRI_HAS(text);
            answer.text = bcri_view_of(gone->why);
        }
    enl_conn_send(conn, &answer, NULL, 0);
    return NULL;
}

/* ---- what a CCE is told of the list ---- */

static bool is_here(const struct enl_program *program, const struct enl_host *host,
                    const struct enl_place *place)
{
    struct ifaddrs *known = NULL;
    const bool here =
        (place != NULL && place->here) || enl_entry_is_here(&program->self.config, host, &known);
    freeifaddrs(known);
    return here;
}

static void tell_up(struct bcri_control *reply, uint32_t number, uint32_t archtype, const char *abi)
{
    reply->present |= BCRI_HAS(host) | BCRI_HAS(archtype) | BCRI_HAS(machine);
    reply->host = number;
    reply->archtype = archtype;
    reply->machine = bcri_view_of(abi);
}

static void tell_listed(const struct enl_program *program, const struct enl_host *host,
                        struct bcri_control *reply)
{
    const struct enl_place *place = host->place;
    while (place != NULL && place->same != NULL)
        place = place->same;
    const struct enl_child *child = place != NULL ? place->child : NULL;
    const char *abi = place != NULL && place->abi[0] != '\0' ? place->abi : host->abi;
    reply->text = bcri_view_of(host->name);
    reply->count = host->slots;
    if (is_here(program, host, place)) {
        tell_up(reply, program->self.host_number, (uint32_t)bcri_archtype_native(), enl_abi());
    } else if (child != NULL && enl_life_works(&child->life)) {
        tell_up(reply, child->life.number, child->archtype, place->abi);
    } else if (abi != NULL) {
        reply->present |= BCRI_HAS(machine);
        reply->machine = bcri_view_of(abi);
    }
}

const char *enl_states_of_listed(struct enl_conn *conn, const struct bcri_control *message)
{
    const struct enl_program *program = enl_program_of(conn);
    const struct enl_hosts *hosts = &program->hosts;
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(count),
                                 .id = message->id};
    if (message->index < hosts->count) {
        reply.present |= BCRI_HAS(text);
        tell_listed(program, hosts->hosts[message->index], &reply);
    } else if (hosts->count == 0 && message->index == 0) {
        reply.present |= BCRI_HAS(text);
        reply.text = bcri_view_of(program->self.hostname);
        reply.count = bcri_machine_cpus();
        tell_up(&reply, program->self.host_number, (uint32_t)bcri_archtype_native(), enl_abi());
    }
    enl_conn_send(conn, &reply, NULL, 0);
    return NULL;
}
