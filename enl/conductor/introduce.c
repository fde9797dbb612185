/* SPDX-License-Identifier: MIT */
/* See tree.h: brings introductions.h together with the daemon's keys, links, parent or children, and its loop. */
#include "conductor/child.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/boottime.h"
#include "base/names.h"
#include "base/secret.h"
#include "bcri/refuse.h"
#include "links/links.h"
#include "wire/wire.h"

/* ---- what introductions ask of the daemon ---- */

static void send_to(void *owner, uint32_t host, const struct bcri_control *message)
{
    struct enl_program *program = owner;
    struct enl_child *child = enl_tree_child(program, host);
    /* When all end, each would learn of each; without a CCE nobody there waits for another host. */
    if (child != NULL && message->type == BCRI_MSG_lost && child->life.is_told && child->alive == 0)
        return;
    if (child != NULL)
        enl_child_send(child, message);
    else if (program->parent != NULL)
        enl_conn_send(program->parent, message, NULL, 0);
}

static bool make_link_now(void *owner, struct bcri_link_introduction *introduction)
{
    return enl_links_introduce(&((struct enl_program *)owner)->links, introduction);
}

static void absent(void *owner, uint32_t host, bool is_unknown)
{
    struct enl_program *program = owner;
    if (is_unknown) {
        bcri_link_thread_unknown(program->links.thread, host);
        enl_starts_host_lost(&program->here, host); /* so its CCEs are none, and have ended */
    } else {
        enl_links_lost(&program->links, host);
    }
}

static void give_up_link(void *owner, uint32_t host)
{
    struct enl_program *program = owner;
    if (host != program->self.host_number) {
        enl_child_cut(enl_tree_child(program, host), enl_no_memory_for_link);
        return;
    }
    enl_report(&program->self, BCRI_LOG_ERROR, "%s; the CCEs here are killed", enl_no_memory_for_link);
    enl_program_abort(program, 1);
}

static bool is_coming(void *owner, uint32_t host)
{
    const struct enl_program *program = owner;
    const struct enl_child *child = enl_tree_child(program, host);
    return program->tree == NULL || host > program->tree->last_number ||
           (child != NULL && !child->life.was_up);
}

static const struct enl_introductions_ops ops = {send_to, make_link_now, absent, give_up_link, is_coming};

/* ---- what the daemon tells ---- */

void enl_introduce_want(struct enl_program *program, uint32_t host)
{
    if (program->introductions == NULL || host == program->self.host_number)
        enl_links_lost(&program->links, host);
    else if (program->self.is_child)
        enl_introduced_want(program->introductions, host);
    else
        enl_introducer_want(program->introductions, host);
}

const char *enl_introduce_name(const struct enl_program *program, uint32_t host)
{
    struct enl_introductions *all = program->introductions;
    const struct enl_member *member = all != NULL ? enl_member_find(all, host) : NULL;
    return member != NULL ? member->name : NULL;
}

void enl_introduce_announce(struct enl_program *program)
{
    struct bcri_control message = enl_introduced_announce(program->introductions);
    if (program->control_link != NULL)
        enl_control_link_answer(program->control_link, &message);
    send_to(program, 0, &message);
}

const char *enl_introduce_of_child(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_introductions *all = child->program->introductions;
    if (message->type != BCRI_MSG_announce)
        return enl_introducer_take(all, child->life.number, message);
    const char *wrong =
        enl_introducer_announced(all, child->life.number, child->host->name, child->machine_id, message);
    if (wrong != NULL)
        return wrong;
    enl_member_find(all, child->life.number)->networks = child->host->networks;
    enl_control_link_accept(&child->control_link, message);
    enl_child_happens(child, ENL_LIFE_ANNOUNCES);
    return NULL;
}

static void on_lease(uv_timer_t *timer)
{
    struct enl_program *program = timer->data;
    const uint64_t now_ms = enl_boottime_ms();
    const uint64_t next_ms =
        program->introductions != NULL ? enl_introducer_lose(program->introductions, now_ms) : UINT64_MAX;
    if (next_ms != UINT64_MAX)
        uv_timer_start(timer, on_lease, next_ms - now_ms, 0);
}

void enl_introduce_gone(struct enl_program *program, const struct enl_child *child)
{
    if (program->introductions == NULL)
        return;
    enl_introducer_gone(program->introductions, child->life.number, enl_child_lease_ms(child));
    on_lease(&program->tree->lease);
}

/* ---- begin and end ---- */

/* What the log says of the keys. */
static void warn(struct enl_program *program)
{
    if (!program->keys->encrypts && !program->self.is_child)
        bcri_log_write(&program->self.log, BCRI_LOG_WARN,
                       "security none: what hosts say to each other is not encrypted; who can read or send "
                       "packets between them reads and changes the program's data");
    const int error = enl_secret_lock_error();
    if (error != 0)
        bcri_log_write(&program->self.log, BCRI_LOG_WARN,
                       "the keys may be written to swap space: mlock: %s%s", strerror(error),
                       error == ENOMEM || error == EAGAIN ? "; raise the limit of locked memory (ulimit -l)"
                                                          : "");
}

bool enl_introduce_begin(struct enl_program *program, const uint8_t *program_key, char *error,
                         size_t error_size)
{
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    char machine_id[200];
    if (program->introductions != NULL)
        return true;
    struct enl_introductions *all = calloc(1, sizeof *all);
    struct enl_keys *keys = enl_secret_new(sizeof *keys);
    if (all == NULL || keys == NULL || !enl_keys_make(keys, program_key)) {
        bcri_refuse(error, error_size, 0,
                    all == NULL || keys == NULL ? "no memory" : "libsodium has no keys to give");
        goto give_back;
    }
    if (!enl_links_begin(&program->links, error, error_size))
        goto give_back;
    keys->host = program->self.host_number;
    keys->encrypts = program->self.config.security == BCRI_SECURITY_ENCRYPT;
    program->keys = keys;
    all->ops = &ops;
    all->owner = program;
    enl_host_machine_id(enl_abi(), machine_id, sizeof machine_id);
    enl_introductions_init(all, keys, program->self.hostname, machine_id);
    all->self.addresses_length =
        enl_addresses_write(addresses, enl_links_addresses(&program->links, addresses), all->self.addresses);
    all->networks = program->hosts.networks;
    all->self.networks = enl_networks_of_root(program);
    program->introductions = all;
    warn(program);
    return true;

give_back:
    enl_secret_free(keys);
    free(all);
    return false;
}

void enl_introduce_end(struct enl_program *program)
{
    enl_control_link_drop(program->control_link);
    program->control_link = NULL;
    if (program->introductions == NULL)
        return;
    enl_introductions_drop(program->introductions);
    free(program->introductions);
    program->introductions = NULL;
    enl_secret_free(program->keys);
    program->keys = NULL;
}
