/* SPDX-License-Identifier: MIT */
/* Which child is begun when, and by whom, as the plan says (plan.h); and what daemons say of those below them. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/report.h"
#include "bcri/refuse.h"
#include "conductor/child.h"
#include "wire/wire.h"

/* ---- beginning ---- */

static const char *address_of(const struct enl_host *host)
{
    return host->address != NULL ? host->address : host->name;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct enl_host *one = *(const struct enl_host *const *)a,
                          *two = *(const struct enl_host *const *)b;
    return strcasecmp(address_of(one), address_of(two));
}

/* Numbers the sshds by which places are reached. Returns how many there are; 0: no memory. */
static uint32_t number_sshds(const struct enl_hosts *hosts)
{
    struct enl_host **sorted = calloc(hosts->count + 1, sizeof(struct enl_host *));
    uint32_t sshd = 0;
    if (sorted == NULL)
        return 0;
    if (hosts->count != 0)
        memcpy(sorted, hosts->hosts, hosts->count * sizeof(struct enl_host *));
    qsort(sorted, hosts->count, sizeof(struct enl_host *), compare_addresses);
    for (size_t i = 0; i < hosts->count; i++) {
        sshd += i > 0 && compare_addresses(&sorted[i - 1], &sorted[i]) != 0;
        sorted[i]->place->sshd = sshd;
    }
    free(sorted);
    return sshd + 1;
}

void enl_tree_number_sshd(const struct enl_program *program, struct enl_place *place)
{
    const struct enl_hosts *hosts = &program->hosts;
    for (size_t i = 0; i < hosts->count; i++) {
        const struct enl_host *other = hosts->hosts[i];
        if (other != place->host && other->place != NULL &&
            strcasecmp(address_of(other), address_of(place->host)) == 0) {
            place->sshd = other->place->sshd;
            return;
        }
    }
    place->sshd = program->tree->sshds++;
}

/* Begins all that may be begun now. */
static void on_begins(uv_timer_t *timer)
{
    const struct enl_program *program = timer->data;
    struct enl_tree *tree = program->tree;
    uint32_t number, by;
    char error[2048];
    while (program->self.phase == ENL_RUNNING && enl_plan_next(&tree->plan, &number, &by)) {
        struct enl_child *child = enl_tree_child(program, number);
        if (!enl_child_begin(child, enl_tree_child(program, by), error, sizeof error))
            enl_child_not_begun(child, error);
    }
}

static void begin_soon(struct enl_tree *tree)
{
    uv_timer_start(&tree->begins, on_begins, 0, 0);
}

/* What is pushed goes over a daemon's network once for each host that it starts: there a narrow tree is faster,
 * though it takes more rounds of logins (docs/adr/0031). */
enum { FANOUT = 16, FANOUT_PUSHING = 4 };

static uint32_t fanout_of(const struct enl_program *program)
{
    if (program->self.config.fanout != 0)
        return (uint32_t)program->self.config.fanout;
    return program->self.config.push != 0 ? FANOUT_PUSHING : FANOUT;
}

bool enl_tree_plan(struct enl_program *program, struct enl_tree *tree)
{
    tree->sshds = number_sshds(&program->hosts);
    if (tree->sshds == 0 || !enl_plan_init(&tree->plan, fanout_of(program)))
        return false;
    uv_timer_init(&program->self.loop, &tree->begins);
    tree->begins.data = program;
    uv_timer_init(&program->self.loop, &tree->batch.timer);
    tree->batch.timer.data = program;
    return true;
}

/* ---- who waits is told on a terminal how many hosts are up ---- */

static void tell_progress(struct enl_program *program)
{
    const struct enl_batch *batch = &program->tree->batch;
    enl_report_progress(&program->self, batch->hosts - batch->pending,
                        batch->pending != 0 ? batch->hosts : 0);
}

static void on_quiet(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    program->tree->batch.told = true;
    tell_progress(program);
}

static void one_more(struct enl_program *program)
{
    struct enl_batch *batch = &program->tree->batch;
    if (batch->pending++ == 0)
        batch->hosts = 0;
    if (++batch->hosts == 2 && isatty(2))
        uv_timer_start(&batch->timer, on_quiet, ENL_PROGRESS_QUIET_MSEC, 0);
}

/* A host is up, or is not waited for any more. */
static void one_less(struct enl_program *program)
{
    struct enl_batch *batch = &program->tree->batch;
    if (--batch->pending == 0)
        uv_timer_stop(&batch->timer);
    if (batch->told)
        tell_progress(program);
    batch->told = batch->told && batch->pending != 0;
}

bool enl_tree_want(struct enl_program *program, struct enl_place *place, const char *address, bool direct,
                   char *error, size_t error_size)
{
    char why[512];
    struct enl_tree *tree = program->tree;
    const struct enl_host *host = place->host;
    const uint32_t number = tree->last_number + 1;
    if (!enl_introduce_begin(program, NULL, why, sizeof why))
        return bcri_refuse(error, error_size, false, "host %s cannot be used: %s", host->name, why);
    if (tree->last_number == BCRI_HOST_NUMBER_MAX)
        return bcri_refuse(
            error, error_size, false,
            "host %s cannot be used: a program starts hosts %u times at most, and has tried that often; mend "
            "what the failed starts before this one told (enl hosts tells, too), and start the program again",
            host->name, BCRI_HOST_NUMBER_MAX);
    const struct enl_plan_host wanted = {
        .number = number, .sshd = place->sshd, .near = host->local, .direct = direct};
    struct enl_child *child =
        enl_grow(&tree->numbered, &tree->numbered_room, number + 1ul, sizeof(struct enl_numbered)) &&
                enl_grow(&tree->lives.by_number, &tree->lives.room, number + 1ul, sizeof(struct enl_life *))
            ? enl_child_new(program, host, address, number)
            : NULL;
    if (child == NULL || !enl_plan_want(&tree->plan, &wanted)) {
        if (child != NULL)
            enl_child_free(child);
        return bcri_refuse(error, error_size, false, "host %s cannot be used: no memory", host->name);
    }
    tree->last_number = number;
    tree->numbered[number].first = number;
    tree->lives.by_number[number] = &child->life;
    place->child = child;
    LIST_INSERT_HEAD(&tree->children, child, entry);
    one_more(program);
    begin_soon(tree);
    return true;
}

void enl_tree_met(struct enl_child *child)
{
    enl_plan_met(&child->program->tree->plan, child->life.number);
    begin_soon(child->program->tree);
}

void enl_tree_up(struct enl_child *child)
{
    enl_plan_up(&child->program->tree->plan, child->life.number);
    one_less(child->program);
    begin_soon(child->program->tree);
}

void enl_tree_gone(struct enl_child *child)
{
    struct enl_tree *tree = child->program->tree;
    LIST_REMOVE(child, entry);
    enl_lives_gone(&tree->lives, &child->life);
    enl_plan_gone(&tree->plan, child->life.number);
    if (!child->life.was_up)
        one_less(child->program);
    begin_soon(tree);
}

void enl_tree_cut_child(const struct enl_child *child)
{
    struct enl_child *starter = enl_tree_child(child->program, child->life.starter);
    const struct bcri_control cut = {
        .type = BCRI_MSG_cut, .present = BCRI_HAS(host), .host = child->life.number};
    if (starter != NULL)
        enl_child_send(starter, &cut);
}

/* ---- those below others ---- */

uint32_t enl_tree_below(const struct enl_child *child)
{
    const struct enl_lives *lives = &child->program->tree->lives;
    uint32_t count = 0;
    const struct enl_child *other;
    LIST_FOREACH (other, &child->program->tree->children, entry) {
        const struct enl_life *top = enl_lives_highest(lives, &other->life, child->life.number);
        count += other != child && other->life.was_up && other->life.state != ENL_LIFE_GONE && top != NULL &&
                 top->starter == child->life.number;
    }
    return count;
}

const char *enl_tree_passes(struct enl_child *child, const struct bcri_control *message)
{
    const struct enl_program *program = child->program;
    struct enl_child *other = enl_tree_child(program, message->from);
    if (message->from == 0 || message->from > program->tree->last_number)
        return "it speaks for a host that there is not";
    if (other == NULL || other->conn == NULL)
        return NULL; /* it has been given up */
    if (enl_tree_pipes(program, message->from) !=
        child->conn->peer) /* of present another daemon below may have made it believe so */
        return message->type == BCRI_MSG_present ? NULL : "it speaks for a host that is not below it";
    if (message->type == BCRI_MSG_carry)
        return enl_tunnelled_of_child(other, message);
    if (other->life.state > ENL_LIFE_MET)
        return NULL; /* by its control link it is heard, and by nothing else */
    const char *wrong = enl_child_take(other, message);
    if (wrong != NULL)
        enl_child_pipe_ended(other, wrong);
    return NULL;
}

const char *enl_tree_tells(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_child *other = enl_tree_child(child->program, message->host);
    if (message->host > child->program->tree->last_number ||
        (other != NULL && other->life.starter != child->life.number))
        return "it tells of a host that it has not begun";
    if (other != NULL && message->type == BCRI_MSG_closed && (message->flags & BCRI_CLOSED_WRITE_FAILED) != 0)
        enl_child_happens(other, ENL_LIFE_WAY_LOST); /* that it is heard is no sign that it hears */
    else if (other != NULL)
        enl_child_told(other, message);
    return NULL;
}
