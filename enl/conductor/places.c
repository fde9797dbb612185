/* SPDX-License-Identifier: MIT */
/* Where a request to enlist goes: which of the machines that the program may use a name means, and
 * whether one of them is the root's own, or one with another. */
#include "conductor/child.h"

#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bcr/error.h>

#include "bcri/refuse.h"
#include "hosts/hosts.h"
#include "job/job.h"
#include "wire/wire.h"

/* -------------------------------------------------------------------- where a request goes --- */

/* That entry, or without one the machine of that name. */
static bool one_is_here(const struct enl_program *program, const struct enl_host *host, const char *machine)
{
    struct ifaddrs *known = NULL;
    const bool here = host != NULL ? enl_entry_is_here(&program->self.config, host, &known)
                                   : enl_name_is_here(machine, &known);
    freeifaddrs(known);
    return here;
}

void enl_tree_take_own(struct enl_program *program)
{
    struct ifaddrs *known = NULL;
    for (size_t i = 0; i < program->hosts.count && program->jobs.programs == NULL; i++) {
        const struct enl_host *host = program->hosts.hosts[i];
        if (host->path != NULL && enl_entry_is_here(&program->self.config, host, &known))
            program->jobs.programs = strdup(host->path);
    }
    freeifaddrs(known);
}

/* Asks the daemon of that place, which is started if need be. */
static enum enl_way ask_daemon_of(struct enl_program *program, struct enl_conn *conn, struct enl_place *place,
                                  const char *address, const struct bcri_control *request,
                                  struct enl_attached *attached, int *code_out, char *reason,
                                  size_t reason_size)
{
    struct bcri_control there = *request;
    there.machine = bcri_view_of("");
    there.present &= ~BCRI_HAS(host);
    *code_out = bcrE_NOHOST;
    if (place->child != NULL && enl_life_is_ending(&place->child->life)) {
        *code_out = bcrE_HOSTLOST;
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE,
                                         "host %s is about to be given up: enlist there again in a while",
                                         place->child->host->name);
    }
    if (place->failed != NULL)
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE, "%s", place->failed);
    if (place->child == NULL && !enl_tree_want(program, place, address, false, reason, reason_size))
        return ENL_WAY_NONE;
    if (!enl_forward_add(&place->child->forwards, conn, &there, attached)) {
        *code_out = bcrE_NOMEM;
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE, "no memory");
    }
    enl_child_ask(place->child);
    return ENL_WAY_ELSEWHERE;
}

static enum enl_way enlist_of_root(struct enl_program *program, struct enl_conn *conn, const char *machine,
                                   const struct bcri_control *request, struct enl_attached *attached,
                                   int *code_out, char *reason, size_t reason_size)
{
    char address[600];
    const struct enl_host *host =
        enl_entry_for(&program->self.config, &program->hosts, machine, address, sizeof address);
    const bool here = one_is_here(program, host, machine);
    *code_out = bcrE_NOHOST;
    if (here)
        return ENL_WAY_HERE;
    if (host == NULL && program->hosts.count == 0)
        return (enum enl_way)bcri_refuse(
            reason, reason_size, ENL_WAY_NONE,
            "machine %s is not this one, and the program has no other: name it in a hosts file "
            "(enl --hosts, or hostsfile in bcrrc)",
            machine);
    if (host == NULL)
        return (enum enl_way)bcri_refuse(
            reason, reason_size, ENL_WAY_NONE,
            "machine %s is not this one, and not in the program's list of %zu hosts (%s)", machine,
            program->hosts.count, enl_hosts_source(&program->hosts));
    struct enl_tree *tree = enl_tree_of(program);
    if (tree == NULL) {
        *code_out = bcrE_NOMEM;
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE, "no memory");
    }
    struct enl_place *place = host->place;
    while (place->same != NULL)
        place = place->same;
    if (place->here)
        return ENL_WAY_HERE;
    return ask_daemon_of(program, conn, place, address, request, attached, code_out, reason, reason_size);
}

/* A child's CCE wants members of a team there, of which the root's daemon must know. */
static enum enl_way enlist_there(struct enl_program *program, struct enl_conn *conn,
                                 const struct bcri_control *request, struct enl_attached *attached,
                                 int *code_out, char *reason, size_t reason_size)
{
    const struct enl_child *child = enl_tree_child(program, request->host);
    *code_out = bcrE_HOSTLOST;
    if (child == NULL || child->host->place->child != child)
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE, "its host is lost");
    return ask_daemon_of(program, conn, child->host->place, "", request, attached, code_out, reason,
                         reason_size);
}

enum enl_way enl_tree_enlist(struct enl_program *program, struct enl_conn *conn,
                             const struct bcri_control *request, struct enl_attached *attached, int *code_out,
                             char *reason, size_t reason_size)
{
    char machine[256];
    struct bcri_control asked = *request;
    bcri_view_copy(request->machine, machine, sizeof machine);
    const bool own = machine[0] == '\0' || strcasecmp(machine, "localhost") == 0;
    const bool of_team = request->team != 0 && program->self.is_child;
    if ((conn != NULL && conn->kind == ENL_PARENT) ||
        (own && !of_team && !(request->present & BCRI_HAS(host))))
        return ENL_WAY_HERE;
    if (!program->self.is_child && own)
        return enlist_there(program, conn, request, attached, code_out, reason, reason_size);
    if (!program->self.is_child)
        return enlist_of_root(program, conn, machine, request, attached, code_out, reason, reason_size);
    if (own) {
        asked.present |= BCRI_HAS(host);
        asked.host = program->self.host_number;
    }
    *code_out = bcrE_ENLIST;
    if (!enl_parent_ask(conn, &asked, attached))
        return (enum enl_way)bcri_refuse(reason, reason_size, ENL_WAY_NONE, "the program is ending");
    return ENL_WAY_ELSEWHERE;
}

int enl_tree_ask(struct enl_conn *conn, uint32_t host, const struct bcri_control *request)
{
    struct enl_program *program = enl_program_of(conn);
    if (program->self.is_child)
        return enl_parent_ask(conn, request, NULL) ? 0 : bcrE_ENLIST;
    struct enl_child *child = enl_tree_child(program, host);
    if (program->tree == NULL || host > program->tree->last_number)
        return bcrE_NOCCE;
    if (child == NULL || !enl_life_works(&child->life))
        return bcrE_DEAD;
    if (!enl_forward_add(&child->forwards, conn, request, NULL))
        return bcrE_NOMEM;
    enl_child_ask(child);
    return 0;
}

void enl_tree_start_all(struct enl_program *program)
{
    char address[600], error[2048];
    struct ifaddrs *known = NULL;
    if (program->self.phase != ENL_RUNNING || program->self.config.starthosts != BCRI_STARTHOSTS_ALL ||
        program->hosts.count == 0 || enl_tree_of(program) == NULL)
        return;
    for (size_t i = 0; i < program->hosts.count; i++) {
        const struct enl_host *host = enl_entry_for(&program->self.config, &program->hosts,
                                                    program->hosts.hosts[i]->name, address, sizeof address);
        struct enl_place *place = host->place;
        if (enl_entry_is_here(&program->self.config, host, &known) || place->child != NULL)
            continue;
        if (!enl_tree_want(program, place, address, false, error, sizeof error))
            enl_report(&program->self, BCRI_LOG_ERROR, "%s", error);
    }
    freeifaddrs(known);
}

/* --------------------------------------------------------------------- what children bring --- */

/* What was asked of a child whose machine is the root's own, or another child's. */
static void move_forwards(struct enl_child *child, struct enl_place *place)
{
    struct bcri_control request;
    char reason[1024];
    int code;
    for (struct enl_forward *forward; (forward = enl_forward_take(&child->forwards, &request)) != NULL;) {
        if (forward->conn == NULL && request.team == 0)
            ;
        else if (place->here)
            enl_enlist_here(&child->program->jobs, forward->conn, &request, &forward->attached);
        else if (ask_daemon_of(child->program, forward->conn, place, "", &request, &forward->attached, &code,
                               reason, sizeof reason) == ENL_WAY_NONE)
            enl_enlist_refuse(&child->program->jobs, forward->conn, &request, child->host->name, code,
                              reason);
        enl_forward_free(forward);
    }
}

bool enl_places_met(struct enl_child *child)
{
    const struct enl_tree *tree = child->program->tree;
    struct enl_place *place = child->host->place;
    tree->numbered[child->life.number].archtype = child->archtype;
    enl_tree_met(child);
    if (child->host->local || child->machine_id[0] == '\0')
        return true;
    if (strcmp(child->machine_id, tree->machine_id) == 0) {
        enl_changes_met(child, NULL);
        place->here = true;
        move_forwards(child, place);
        return false;
    }
    const struct enl_child *other;
    LIST_FOREACH (other, &tree->children, entry)
        if (other != child && !other->host->local && !enl_life_is_ending(&other->life) &&
            strcmp(child->machine_id, other->machine_id) == 0) {
            enl_changes_met(child, other->host);
            place->same = other->host->place;
            move_forwards(child, place->same);
            return false;
        }
    return true;
}

/* The reason is `sentence`; "": the child was told to end. */
static void fail_forwards(struct enl_child *child, const char *sentence)
{
    char taken[400];
    struct bcri_control request;
    if (child->host->place->is_taken) {
        snprintf(taken, sizeof taken, "host %s was taken out of the program", child->host->name);
        sentence = taken;
    }
    for (struct enl_forward *forward; (forward = enl_forward_take(&child->forwards, &request)) != NULL;) {
        const bool is_wanted = forward->conn != NULL || request.team != 0;
        if (forward->conn != NULL && request.type != BCRI_MSG_enlist)
            enl_cce_reply(forward->conn, request.id, bcrE_DEAD, NULL);
        else if (is_wanted && sentence[0] != '\0')
            enl_enlist_refuse(&child->program->jobs, forward->conn, &request, child->host->name,
                              child->life.was_up ? bcrE_HOSTLOST : bcrE_NOHOST, sentence);
        else if (is_wanted)
            enl_enlist_refuse(&child->program->jobs, forward->conn, &request, child->host->name, bcrE_ENLIST,
                              "the program is ending");
        enl_forward_free(forward);
    }
}

static bool begin_again(struct enl_child *child, const char *sentence)
{
    struct enl_program *program = child->program;
    struct enl_plan *plan = &program->tree->plan;
    struct enl_place *place = child->host->place;
    char error[512];
    const enum enl_life_again again = enl_life_again(&child->life, child->machine_id[0] != '\0');
    if (program->self.phase != ENL_RUNNING || place->child != child)
        return false;
    if (again == ENL_LIFE_NOT_AGAIN && child->blamed != 0 && !child->life.was_up &&
        !child->life.is_told) /* nor has this daemon got there */
        enl_plan_distrust(plan, child->blamed, false);
    if (again == ENL_LIFE_NOT_AGAIN ||
        !enl_tree_want(program, place, child->address, again == ENL_LIFE_AGAIN_BY_ROOT, error, sizeof error))
        return false;
    struct enl_child *next = place->child;
    program->tree->batch.hosts--; /* it is the same host */
    STAILQ_CONCAT(&next->forwards.all, &child->forwards.all);
    bcri_log_write(&program->self.log, BCRI_LOG_WARN, "%s; it is started by another daemon", sentence);
    if (again == ENL_LIFE_AGAIN_BY_ROOT) {
        next->blamed = child->life.starter;
        enl_plan_distrust(plan, child->life.starter, true);
    }
    return true;
}

/* Where all hosts are started at once, nobody tries this one again; if nobody has asked for it, nobody else tells. */
static void remember_failure(const struct enl_child *child, const char *sentence)
{
    struct enl_program *program = child->program;
    struct enl_place *place = child->host->place;
    if (sentence[0] == '\0' || program->self.phase != ENL_RUNNING || place->failed != NULL)
        return;
    place->failed = strdup(sentence);
    if (STAILQ_EMPTY(&child->forwards.all))
        enl_report(&program->self, BCRI_LOG_ERROR, "%s", sentence);
}

void enl_places_gone(struct enl_child *child, const char *sentence)
{
    struct enl_program *program = child->program;
    const bool blamed = child->life.was_up && sentence[0] != '\0' && program->self.phase == ENL_RUNNING;
    const uint32_t alive = child->alive;
    const struct enl_outcome verdict =
        enl_meaning_of_lost_host(program->self.config.onfail, alive, child->isolated);
    const bool ends = blamed && verdict.ends;
    const uint32_t below = enl_tree_below(child);
    enl_tree_gone(child);
    const bool again = begin_again(child, sentence);
    if (child->host->place->child == child)
        child->host->place->child = NULL;
    const bool is_new = child->host->place->is_new;
    if (!again && !child->life.was_up && !is_new && program->self.config.starthosts == BCRI_STARTHOSTS_ALL)
        remember_failure(child, sentence);
    if (blamed)
        enl_report(&program->self, BCRI_LOG_ERROR, "%s; %u CCE%s there%s%s", sentence, alive,
                   alive == 1 ? " was" : "s were", alive == 0 ? "" : "; ", alive == 0 ? "" : verdict.says);
    enl_collect_gone(child);
    if (!again && !is_new)
        enl_states_gone(child, sentence);
    if (!again)
        enl_changes_gone(child, sentence);
    if (blamed && below != 0 && !ends)
        enl_report(&program->self, BCRI_LOG_WARN,
                   "%u host%s that %s started through host %s go%s on by %s to this one", below,
                   below == 1 ? "" : "s", below == 1 ? "was" : "were", child->host->name,
                   below == 1 ? "es" : "", below == 1 ? "its own link" : "their own links");
    uint8_t host[BCRI_IDENTITY_BYTES] = {0};
    bcri_identity_name(host, child->life.number, 0);
    enl_names_ended(&program->jobs.names, host, true);
    enl_introduce_gone(program, child);
    fail_forwards(child, sentence);
    enl_teams_host_lost(&program->jobs, child->life.number);
    if (child->stops)
        enl_tree_stopped(child);
    enl_child_free(child);
    enl_outdone_look(&program->jobs);
    if (ends)
        enl_program_abort(program, 1);
    enl_program_check_end(program);
}
