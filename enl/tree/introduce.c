/* SPDX-License-Identifier: MIT */
/* See introduce.h: a child's part, and what both sides do. */
#include "introduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/refuse.h"
#include "conn.h"
#include "introductions.h"
#include "keys.h"
#include "links.h"
#include "names.h"
#include "reserve.h"
#include "secret.h"

/* ---------------------------------------------------------------------------- a child's part --- */

static void send_up(struct enl_program *program, const struct bcri_control *message)
{
    if (program->parent != NULL)
        enl_conn_send(program->parent, message, NULL, 0);
}

static void send_random(struct enl_program *program, enum bcri_control_type type, uint32_t host,
                        const uint8_t *random)
{
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(host) | BCRI_HAS(random),
                                         .host = host,
                                         .random = enl_introduction_view(random, BCRI_SEAL_KEY_BYTES)};
    send_up(program, &message);
}

bool enl_introduce_announce(struct enl_program *program)
{
    const struct enl_member *self = &program->introductions->self;
    struct bcri_control message = {.type = BCRI_MSG_announce,
                                   .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                   .key = enl_introduction_view(self->public, sizeof self->public),
                                   .addresses =
                                       enl_introduction_view(self->addresses, self->addresses_length),
                                   .flags = self->has_aes ? ENL_HAS_AES : 0};
    const bool has_reserve = enl_reserve_answer(&message);
    send_up(program, &message);
    return has_reserve;
}

static const char *take_lost(struct enl_program *program, const struct bcri_control *message)
{
    const uint32_t host = message->host;
    if (host == 0 || host == program->host_number)
        return "it says that itself or this host is lost";
    struct enl_introductions *all = program->introductions;
    enl_pairs_drop(all, host);
    if ((message->flags & BCRI_LOST_UNKNOWN) != 0)
        enl_links_unknown(program, host);
    else
        enl_links_lost(program, host);
    for (struct enl_member **at = &all->members, *member; (member = *at) != NULL;) {
        if (member->host != host) {
            at = &member->next;
            continue;
        }
        *at = member->next;
        free(member);
    }
    return NULL;
}

/* Keeps what a host is called that this one is introduced to. */
static void keep(struct enl_introductions *all, const struct enl_member *met)
{
    struct enl_member *member = enl_member_find(all, met->host);
    if (member == NULL && (member = calloc(1, sizeof *member)) != NULL) {
        *member = *met;
        member->next = all->members;
        all->members = member;
    }
}

/* introduce and introduced. */
static const char *take_introduction(struct enl_program *program, const struct bcri_control *message)
{
    struct enl_introductions *all = program->introductions;
    struct enl_member member = {.host = message->host, .addresses_length = message->addresses.length};
    struct enl_pair **at = enl_pair_find(all, program->host_number, message->host);
    const bool is_answer = message->type == BCRI_MSG_introduced;
    if (!enl_introduction_is_key(message->key) || !enl_introduction_is_key(message->random) ||
        message->host == program->host_number)
        return "an introduction that makes no sense";
    if (is_answer && *at == NULL)
        return "an introduction that this host has not asked for";
    if (!bcri_view_copy(message->machine, member.name, sizeof member.name) || member.name[0] == '\0')
        snprintf(member.name, sizeof member.name, "%u", member.host);
    memcpy(member.public, message->key.bytes, sizeof member.public);
    if (message->addresses.length != 0)
        memcpy(member.addresses, message->addresses.bytes, message->addresses.length);
    uint8_t own[BCRI_SEAL_KEY_BYTES];
    if (is_answer)
        memcpy(own, (*at)->random, sizeof own);
    else
        enl_keys_random(own);
    if (*at != NULL)
        enl_pair_drop(at);
    const char *wrong = enl_member_link(program, &member, (message->flags & ENL_HAS_AES) != 0, own,
                                        (const uint8_t *)message->random.bytes);
    if (wrong == NULL)
        keep(all, &member);
    if (wrong == NULL && !is_answer)
        send_random(program, BCRI_MSG_agreed, message->host, own);
    bcri_seal_wipe(own, sizeof own);
    return wrong;
}

const char *enl_introduce_of_parent(struct enl_program *program, const struct bcri_control *message)
{
    return message->type == BCRI_MSG_lost ? take_lost(program, message) : take_introduction(program, message);
}

/* -------------------------------------------------------------------------------- both --- */

void enl_introduce_want(struct enl_program *program, uint32_t host)
{
    struct enl_introductions *all = program->introductions;
    uint8_t random[BCRI_SEAL_KEY_BYTES];
    if (all == NULL || host == program->host_number) {
        enl_links_lost(program, host);
        return;
    }
    enl_keys_random(random);
    if (!program->options.child) {
        (void)enl_introducer_arrange(program, &all->self, host, random);
        return;
    }
    if (*enl_pair_find(all, program->host_number, host) != NULL)
        return;
    if (!enl_pair_add(all, program->host_number, host, random)) {
        enl_report(program, BCRI_LOG_ERROR, "%s; the CCEs here are killed", enl_no_memory_for_link);
        enl_program_abort(program, 1);
        return;
    }
    send_random(program, BCRI_MSG_want, host, random);
}

const char *enl_introduce_name(const struct enl_program *program, uint32_t host)
{
    struct enl_introductions *all = program->introductions;
    const struct enl_member *member = all != NULL ? enl_member_find(all, host) : NULL;
    return member != NULL ? member->name : NULL;
}

/* What the log says of the keys. */
static void warn(struct enl_program *program)
{
    if (!program->keys->encrypts && !program->options.child)
        bcri_log_write(&program->log, BCRI_LOG_WARN,
                       "security none: what hosts say to each other is not encrypted; who can read or send "
                       "packets between them reads and changes the program's data");
    if (!enl_secret_is_locked())
        bcri_log_write(&program->log, BCRI_LOG_WARN,
                       "the keys may be written to swap space: locked memory is limited; raise ulimit -l");
}

bool enl_introduce_begin(struct enl_program *program, const uint8_t *program_key, char *error,
                         size_t error_size)
{
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    char station[200];
    if (program->introductions != NULL)
        return true;
    struct enl_introductions *all = calloc(1, sizeof *all);
    struct enl_keys *keys = enl_secret_new(sizeof *keys);
    if (all == NULL || keys == NULL || !enl_keys_make(keys, program_key)) {
        bcri_refuse(error, error_size, 0,
                    all == NULL || keys == NULL ? "no memory" : "libsodium has no keys to give");
        goto give_back;
    }
    if (!enl_links_begin(program, error, error_size))
        goto give_back;
    keys->host = program->host_number;
    keys->encrypts = program->config.security == BCRI_SECURITY_ENCRYPT;
    program->keys = keys;
    all->program = program;
    uv_timer_init(&program->loop, &all->lease);
    all->lease.data = all;
    all->self.host = program->host_number;
    enl_host_station(enl_abi(), station, sizeof station);
    enl_member_call(&all->self, program->hostname, station);
    all->self.has_aes = keys->has_aes;
    memcpy(all->self.public, keys->own_public, sizeof all->self.public);
    all->self.addresses_length =
        enl_addresses_write(addresses, enl_links_addresses(program, addresses), all->self.addresses);
    program->introductions = all;
    warn(program);
    return true;

give_back:
    enl_secret_free(keys);
    free(all);
    return false;
}

static void drop_members(struct enl_member **members)
{
    for (struct enl_member *member; (member = *members) != NULL;) {
        *members = member->next;
        free(member);
    }
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

void enl_introduce_end(struct enl_program *program)
{
    struct enl_introductions *all = program->introductions;
    if (all == NULL)
        return;
    program->introductions = NULL;
    while (all->pairs != NULL)
        enl_pair_drop(&all->pairs);
    drop_members(&all->members);
    drop_members(&all->gone);
    uv_close((uv_handle_t *)&all->lease, on_closed);
    enl_secret_free(program->keys);
    program->keys = NULL;
}
