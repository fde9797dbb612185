/* SPDX-License-Identifier: MIT */
/* See tree.h: what concerns all hosts at once. */
#include "conductor/child.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/names.h"
#include "bcri/archtype.h"
#include "tree/lease.h"
#include "wire/wire.h"

/* A daemon gives its log up after a minute. */
enum { STOP_MSEC = 1000, END_MSEC = ENL_CHILD_END_MSEC, LOG_MSEC = 60000 };

static void free_place(struct enl_host *host)
{
    struct enl_place *place = host->place;
    host->place = NULL;
    if (place != NULL)
        free(place->failed);
    free(place);
}

static void free_places(const struct enl_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        free_place(hosts->hosts[i]);
    for (struct enl_host *host = hosts->former; host != NULL; host = host->next)
        free_place(host);
}

/* Gives each host of the list its place. */
static bool make_places(const struct enl_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        struct enl_place *place = calloc(1, sizeof *place);
        if (place == NULL)
            return false;
        place->host = hosts->hosts[i];
        hosts->hosts[i]->place = place;
    }
    return true;
}

struct enl_tree *enl_tree_of(struct enl_program *program)
{
    if (program->tree != NULL)
        return program->tree;
    struct enl_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL || !make_places(&program->hosts) || !enl_tree_plan(program, tree)) {
        free_places(&program->hosts);
        free(tree);
        return NULL;
    }
    enl_host_machine_id(enl_abi(), tree->machine_id, sizeof tree->machine_id);
    uv_timer_init(&program->self.loop, &tree->patience);
    tree->patience.data = program;
    uv_timer_init(&program->self.loop, &tree->killed);
    tree->killed.data = program;
    uv_timer_init(&program->self.loop, &tree->lease);
    tree->lease.data = program;
    TAILQ_INIT(&tree->lives.pending);
    program->tree = tree;
    return tree;
}

static void have_stopped(struct enl_program *program)
{
    struct enl_tree *tree = program->tree;
    void (*done)(struct enl_program *) = tree->stopped;
    uv_timer_stop(&tree->patience);
    tree->stopped = NULL;
    if (done != NULL)
        done(program);
}

void enl_tree_stopped(struct enl_child *child)
{
    child->stops = false;
    const struct enl_child *other;
    LIST_FOREACH (other, &child->program->tree->children, entry)
        if (other->stops)
            return;
    have_stopped(child->program);
}

static struct enl_child *first_child(const struct enl_program *program)
{
    return program->tree != NULL ? LIST_FIRST(&program->tree->children) : NULL;
}

uint32_t enl_tree_arch(const struct enl_program *program, uint32_t number)
{
    const struct enl_tree *tree = program->tree;
    if (number == program->self.host_number)
        return (uint32_t)bcri_archtype_native();
    return tree != NULL && number <= tree->last_number ? tree->numbered[number].archtype : 0;
}

void enl_tree_send(struct enl_program *program, uint32_t number, const struct bcri_control *message)
{
    if (program->parent != NULL)
        enl_conn_send(program->parent, message, NULL, 0);
    struct enl_child *child = enl_tree_child(program, number);
    if (child != NULL)
        enl_child_send(child, message);
}

void enl_tree_drain(struct enl_program *program, uint32_t number)
{
    const struct bcri_control message = {.type = BCRI_MSG_drain, .present = BCRI_HAS(id), .id = number};
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry)) {
        child->drains = enl_life_works(&child->life) ? number : 0;
        if (child->drains != 0)
            enl_child_send(child, &message);
    }
}

bool enl_tree_is_drained(const struct enl_program *program)
{
    const struct enl_child *child = first_child(program);
    while (child != NULL && child->drains == 0)
        child = LIST_NEXT(child, entry);
    return child == NULL;
}

bool enl_tree_reaped(struct enl_program *program, pid_t pid, int wait_status)
{
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        if (child->process == pid) {
            enl_child_reaped(child, wait_status);
            return true;
        }
    return false;
}

void enl_tree_forget(struct enl_program *program, const struct enl_conn *conn)
{
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        enl_forwards_forget(&child->forwards, conn);
    enl_changes_forget(program, conn);
    enl_parent_forget(conn);
}

static void tell_all(struct enl_program *program, enum enl_life_event event)
{
    if (first_child(program) == NULL)
        return;
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        enl_child_tell(child, event);
    enl_children_handle(program);
}

/* Tells each child to end by `message`, also if it was told so before. One that is not UP is cut off now, another when it is silent
 * for `patience_ms`. */
static void end_all(struct enl_program *program, const struct bcri_control *message, uint64_t patience_ms)
{
    if (first_child(program) == NULL)
        return;
    program->tree->end = *message;
    program->tree->end_patience_ms = patience_ms;
    tell_all(program, ENL_LIFE_END);
}

/* Names those that are not gone, or some of them if they are many. Returns how many they are. */
static size_t name_children(const struct enl_program *program, char *out, size_t size)
{
    enum { NAMED = 8 };
    size_t count = 0, named = 0, used = 0;
    for (const struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        count += child->life.state != ENL_LIFE_GONE;
    out[0] = '\0';
    for (uint32_t number = 1; named < count && named < NAMED; number++) {
        const struct enl_child *child = enl_tree_child(program, number);
        if (child == NULL || child->life.state == ENL_LIFE_GONE)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%.40s",
                                 named == 0          ? ""
                                 : named + 1 < count ? ", "
                                                     : " and ",
                                 child->host->name);
        named++;
    }
    if (count > named)
        snprintf(out + used, size - used, " and %zu more", count - named);
    return count;
}

static bool all_are_told(const struct enl_program *program)
{
    const struct enl_child *child = first_child(program);
    while (child != NULL && child->life.is_told)
        child = LIST_NEXT(child, entry);
    return child == NULL;
}

bool enl_tree_over(struct enl_program *program)
{
    const struct bcri_control end = {.type = BCRI_MSG_end};
    for (const struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        if (program->self.phase == ENL_RUNNING && (child->alive != 0 || !STAILQ_EMPTY(&child->forwards.all)))
            return false;
    if (program->self.phase == ENL_RUNNING && !all_are_told(program))
        end_all(program, &end, END_MSEC);
    return first_child(program) == NULL;
}

/* Hosts that have been killed, and say that they are there still. */
static void on_killed(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    char names[512];
    const size_t hosts = name_children(program, names, sizeof names);
    uv_timer_stop(timer);
    if (hosts == 0)
        return;
    enl_report(&program->self, BCRI_LOG_WARN,
               "host%s %s %s not ended %llu ms after being killed, and %s given up", hosts == 1 ? "" : "s",
               names, hosts == 1 ? "has" : "have", (unsigned long long)uv_timer_get_repeat(timer),
               hosts == 1 ? "is" : "are");
    enl_tree_cut(program);
}

/* A killed daemon stays connected until its endscript and the transfer of its log are done. A daemon that is at work has
 * killafter for that; one that is still starting has hosttimeout more, as has the host that starts it. After that the root
 * waits no longer, whatever the daemon still sends. */
uint64_t enl_tree_end_limit(const struct enl_program *program)
{
    const struct bcri_config *config = &program->self.config;
    return (uint64_t)config->killafter + END_MSEC + (uint64_t)config->hosttimeout +
           (config->logdir != NULL ? LOG_MSEC : 0);
}

static void limit_end(struct enl_program *program)
{
    const uint64_t most_ms = enl_tree_end_limit(program);
    if (first_child(program) != NULL && uv_is_active((uv_handle_t *)&program->tree->killed) == 0)
        uv_timer_start(&program->tree->killed, on_killed, most_ms, most_ms);
}

void enl_tree_kill(struct enl_program *program)
{
    limit_end(program);
    const struct bcri_control kill = {
        .type = BCRI_MSG_kill, .present = BCRI_HAS(id), .id = ENL_CHILD_KILL_ID};
    end_all(program, &kill, END_MSEC);
}

void enl_tree_finish(struct enl_program *program, int status)
{
    const struct bcri_control finish = {
        .type = BCRI_MSG_finish, .present = BCRI_HAS(status), .status = (uint32_t)status};
    end_all(program, &finish, END_MSEC);
}

void enl_tree_cut(struct enl_program *program)
{
    tell_all(program, ENL_LIFE_CUT);
}

void enl_tree_signal(struct enl_program *program, int signal)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_signal, .present = BCRI_HAS(kind), .kind = (uint32_t)signal};
    end_all(program, &message, END_MSEC + (uint64_t)program->self.config.killafter);
}

void enl_tree_pass(struct enl_program *program, int signal)
{
    const struct bcri_control message = {
        .type = BCRI_MSG_pass, .present = BCRI_HAS(kind), .kind = (uint32_t)signal};
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        if (enl_life_works(&child->life))
            enl_child_send(child, &message);
}

static void on_patience(uv_timer_t *timer)
{
    have_stopped(timer->data);
}

void enl_tree_stop(struct enl_program *program, void (*done)(struct enl_program *program))
{
    bool any = false;
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry)) {
        if (enl_life_hears_stop(&child->life))
            enl_child_stop(child);
        any |= child->stops;
    }
    if (!any) {
        done(program);
        return;
    }
    program->tree->stopped = done;
    uv_timer_start(&program->tree->patience, on_patience, STOP_MSEC, 0);
}

void enl_tree_go_on(struct enl_program *program)
{
    if (program->tree != NULL) {
        uv_timer_stop(&program->tree->patience);
        program->tree->stopped = NULL;
        if (uv_is_active((uv_handle_t *)&program->tree->killed) != 0)
            uv_timer_again(&program->tree->killed);
    }
    uv_update_time(&program->self.loop); /* timers that have run out meanwhile mean nothing */
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry)) {
        enl_child_happens(child, ENL_LIFE_GO_ON);
        enl_child_go_on(child);
    }
}

void enl_tree_resume(struct enl_program *program)
{
    for (struct enl_child *child = first_child(program); child != NULL; child = LIST_NEXT(child, entry))
        enl_child_resume(child);
}

static void on_tree_closed(uv_handle_t *handle)
{
    struct enl_program *program = handle->data;
    enl_plan_fini(&program->tree->plan);
    free(program->tree->lives.by_number);
    free_places(&program->hosts);
    free(program->tree->numbered);
    free(program->tree);
    program->tree = NULL;
}

void enl_tree_close(struct enl_program *program)
{
    struct enl_tree *tree = program->tree;
    if (tree == NULL)
        return;
    while (!LIST_EMPTY(&tree->children)) { /* none, unless the loop could not be run to its end */
        struct enl_child *child = LIST_FIRST(&tree->children);
        LIST_REMOVE(child, entry);
        enl_child_free(child);
    }
    uv_close((uv_handle_t *)&tree->begins, NULL);
    uv_close((uv_handle_t *)&tree->batch.timer, NULL);
    uv_close((uv_handle_t *)&tree->killed, NULL);
    uv_close((uv_handle_t *)&tree->lease, NULL);
    uv_close((uv_handle_t *)&tree->patience, on_tree_closed); /* the last one that is closed is told last */
}
