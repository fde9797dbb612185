/* SPDX-License-Identifier: MIT */
/* See introduce.h. */
#include "introduce.h"

#include <stdlib.h>
#include <string.h>

#include "addresses.h"
#include "bcri/refuse.h"
#include "child.h"
#include "conn.h"
#include "keys.h"
#include "links.h"
#include "secret.h"

/* Of `flags` in announce: that host's processor does AES-256-GCM; in introductions: both do. */
enum { HAS_AES = 1 };

/* What a host has announced. */
struct member {
    struct member *next;
    struct enl_child *child; /* NULL: the root's own host */
    uint32_t host;
    uint64_t lease_ms; /* of one that is gone */
    bool has_aes;
    uint32_t addresses_length;
    uint8_t public[BCRI_SEAL_KEY_BYTES];
    uint8_t addresses[BCRI_ADDRESSES_BYTES_MAX];
};

/* Two hosts that are being introduced; in a child, what itself has asked for. */
struct pair {
    struct pair *next;
    uint32_t asker, other;
    uint8_t random[BCRI_SEAL_KEY_BYTES]; /* the asker's */
};

struct enl_introductions {
    struct enl_program *program;
    struct member self;
    /* The root's: its children, up or about to be; those that are gone and may still work on. */
    struct member *members, *gone;
    uv_timer_t lease; /* the next of `gone` is lost */
    struct pair *pairs;
};

/* ------------------------------------------------------------------------- what is known --- */

static struct member *find_member(struct enl_introductions *all, uint32_t host)
{
    if (host == all->self.host)
        return &all->self;
    struct member *member = all->members;
    while (member != NULL && member->host != host)
        member = member->next;
    return member;
}

static bool is_gone(const struct enl_introductions *all, uint32_t host)
{
    const struct member *member = all->gone;
    while (member != NULL && member->host != host)
        member = member->next;
    return member != NULL;
}

static struct pair **find_pair(struct enl_introductions *all, uint32_t one, uint32_t two)
{
    struct pair **at = &all->pairs;
    while (*at != NULL && !((*at)->asker == one && (*at)->other == two) &&
           !((*at)->asker == two && (*at)->other == one))
        at = &(*at)->next;
    return at;
}

static void drop_pair(struct pair **at)
{
    struct pair *pair = *at;
    *at = pair->next;
    bcri_seal_wipe(pair, sizeof *pair);
    free(pair);
}

/* Drops all pairs with that host. */
static void drop_pairs(struct enl_introductions *all, uint32_t host)
{
    for (struct pair **at = &all->pairs; *at != NULL;)
        if ((*at)->asker == host || (*at)->other == host)
            drop_pair(at);
        else
            at = &(*at)->next;
}

static bool add_pair(struct enl_introductions *all, uint32_t asker, uint32_t other, const uint8_t *random)
{
    struct pair *pair = malloc(sizeof *pair);
    if (pair == NULL)
        return false;
    *pair = (struct pair){.next = all->pairs, .asker = asker, .other = other};
    memcpy(pair->random, random, sizeof pair->random);
    all->pairs = pair;
    return true;
}

static struct bcri_view view(const uint8_t *bytes, uint32_t length)
{
    return (struct bcri_view){(const char *)bytes, length};
}

/* Whether a message's byte string is a key or random bytes. */
static bool is_key(struct bcri_view bytes)
{
    return bytes.length == BCRI_SEAL_KEY_BYTES;
}

/* ----------------------------------------------------------------- this host's own links --- */

/* Makes this host's end of a link to `member`. Returns NULL, or what is wrong with the member. */
static const char *link_up(struct enl_program *program, const struct member *member, bool both_have_aes,
                           const uint8_t *own_random, const uint8_t *peer_random)
{
    const struct enl_keys *keys = program->keys;
    const struct enl_keys_met met = {member->host, member->public, own_random, peer_random, both_have_aes};
    if (both_have_aes && !keys->has_aes)
        return "a cipher that this host has not";
    struct bcri_link_introduction *introduction = enl_secret_new(sizeof *introduction);
    if (introduction == NULL) {
        enl_report(program, BCRI_LOG_ERROR, "no memory for a link to host %u", member->host);
        enl_links_lost(program, member->host);
        return NULL;
    }
    introduction->host = member->host;
    const char *wrong = NULL;
    if (!enl_addresses_read(member->addresses, member->addresses_length, introduction->address,
                            &introduction->address_count))
        wrong = "addresses that are none";
    else if (!enl_keys_agree(keys, &met, &introduction->secret))
        wrong = "a public key that is none";
    else if (!enl_links_introduce(program, introduction))
        enl_links_lost(program, member->host);
    enl_secret_free(introduction);
    return wrong;
}

/* -------------------------------------------------------------------------- the root's part --- */

static void tell_lost(struct enl_program *program, const struct member *member, uint32_t host)
{
    const struct bcri_control message = {.type = BCRI_MSG_lost, .present = BCRI_HAS(host), .host = host};
    if (member->child != NULL)
        enl_child_send(member->child, &message);
    else
        enl_links_lost(program, host);
}

/* Tells `member` of `other`, whose random bytes those are. */
static void present(const struct member *member, const struct member *other, enum bcri_control_type type,
                    const uint8_t *random)
{
    const struct bcri_control message = {.type = type,
                                         .present = BCRI_HAS(host) | BCRI_HAS(key) | BCRI_HAS(addresses) |
                                                    BCRI_HAS(random) | BCRI_HAS(flags),
                                         .host = other->host,
                                         .key = view(other->public, sizeof other->public),
                                         .addresses = view(other->addresses, other->addresses_length),
                                         .random = view(random, BCRI_SEAL_KEY_BYTES),
                                         .flags = member->has_aes && other->has_aes ? HAS_AES : 0};
    enl_child_send(member->child, &message);
}

/* `asker` wants a link to host `number`. Returns NULL, or what is wrong with the asker. */
static const char *arrange(struct enl_program *program, const struct member *asker, uint32_t number,
                           const uint8_t *random)
{
    struct enl_introductions *all = program->introductions;
    const struct member *other = find_member(all, number);
    if (other == asker)
        return "it wants a link to itself";
    if (other == NULL && is_gone(all, number))
        return NULL; /* the asker is told with all others when that is lost */
    if (other == NULL) {
        tell_lost(program, asker, number);
        return NULL;
    }
    if (*find_pair(all, asker->host, number) != NULL)
        return NULL;
    if (other->child == NULL) {
        uint8_t own[BCRI_SEAL_KEY_BYTES];
        enl_keys_random(own);
        const char *wrong = link_up(program, asker, asker->has_aes && other->has_aes, own, random);
        if (wrong == NULL)
            present(asker, other, BCRI_MSG_introduced, own);
        return wrong;
    }
    if (!add_pair(all, asker->host, number, random)) {
        enl_report(program, BCRI_LOG_ERROR, "no memory for a link between hosts %u and %u", asker->host,
                   number);
        tell_lost(program, asker, number);
        return NULL;
    }
    present(other, asker, BCRI_MSG_introduce, random);
    return NULL;
}

/* `other` has made its end of a link to host `number`. */
static const char *take_agreed(struct enl_program *program, const struct member *other, uint32_t number,
                               const uint8_t *random)
{
    struct enl_introductions *all = program->introductions;
    const struct member *asker = find_member(all, number);
    struct pair **at = find_pair(all, number, other->host);
    if (asker == NULL)
        return NULL; /* it is gone, as `other` has been told */
    if (*at == NULL || (*at)->asker != number)
        return "it agrees to a link that nobody wanted";
    const char *wrong = NULL;
    if (asker->child != NULL)
        present(asker, other, BCRI_MSG_introduced, random);
    else
        wrong = link_up(program, other, asker->has_aes && other->has_aes, (*at)->random, random);
    drop_pair(at);
    return wrong;
}

static const char *take_announce(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_introductions *all = child->program->introductions;
    struct bcri_link_address addresses[BCRI_INTRODUCED_MAX];
    uint32_t count;
    if (find_member(all, child->number) != NULL)
        return "it announces itself twice";
    if (!is_key(message->key) || !enl_keys_accept(child->program->keys, (const uint8_t *)message->key.bytes))
        return "its public key is none";
    if (!enl_addresses_read((const uint8_t *)message->addresses.bytes, message->addresses.length, addresses,
                            &count))
        return "its addresses are none";
    struct member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return "no memory";
    *member = (struct member){.next = all->members,
                              .child = child,
                              .host = child->number,
                              .has_aes = (message->flags & HAS_AES) != 0,
                              .addresses_length = message->addresses.length};
    memcpy(member->public, message->key.bytes, sizeof member->public);
    if (message->addresses.length != 0)
        memcpy(member->addresses, message->addresses.bytes, message->addresses.length);
    all->members = member;
    child->announced = true;
    return NULL;
}

const char *enl_introduce_of_child(struct enl_child *child, const struct bcri_control *message)
{
    struct enl_program *program = child->program;
    if (message->type == BCRI_MSG_announce)
        return take_announce(child, message);
    if (!is_key(message->random))
        return "its random bytes are too few";
    const struct member *member = find_member(program->introductions, child->number);
    const uint8_t *random = (const uint8_t *)message->random.bytes;
    return message->type == BCRI_MSG_want ? arrange(program, member, message->host, random)
                                          : take_agreed(program, member, message->host, random);
}

static void on_lease(uv_timer_t *timer);

/* All others learn that those are lost whose daemons have ended by now. */
static void lose(struct enl_introductions *all)
{
    const uint64_t now_ms = enl_boottime_ms();
    uint64_t next_ms = UINT64_MAX;
    for (struct member **at = &all->gone, *member; (member = *at) != NULL;) {
        if (member->lease_ms > now_ms) {
            next_ms = member->lease_ms < next_ms ? member->lease_ms : next_ms;
            at = &member->next;
            continue;
        }
        *at = member->next;
        tell_lost(all->program, &all->self, member->host);
        for (const struct member *other = all->members; other != NULL; other = other->next)
            tell_lost(all->program, other, member->host);
        free(member);
    }
    if (next_ms != UINT64_MAX)
        uv_timer_start(&all->lease, on_lease, next_ms - now_ms, 0);
}

static void on_lease(uv_timer_t *timer)
{
    lose(timer->data);
}

/* Nobody may act on the death of a host whose daemon may still work: what that has taken would be
 * taken twice. */
void enl_introduce_gone(struct enl_program *program, const struct enl_child *child)
{
    struct enl_introductions *all = program->introductions;
    if (all == NULL)
        return;
    struct member **at = &all->members;
    while (*at != NULL && (*at)->child != child)
        at = &(*at)->next;
    struct member *member = *at;
    if (member == NULL)
        return;
    *at = member->next;
    drop_pairs(all, member->host);
    member->child = NULL;
    member->lease_ms = enl_child_lease_ms(child);
    member->next = all->gone;
    all->gone = member;
    lose(all);
}

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
                                         .random = view(random, BCRI_SEAL_KEY_BYTES)};
    send_up(program, &message);
}

void enl_introduce_announce(struct enl_program *program)
{
    const struct member *self = &program->introductions->self;
    const struct bcri_control message = {.type = BCRI_MSG_announce,
                                         .present = BCRI_HAS(key) | BCRI_HAS(addresses) | BCRI_HAS(flags),
                                         .key = view(self->public, sizeof self->public),
                                         .addresses = view(self->addresses, self->addresses_length),
                                         .flags = self->has_aes ? HAS_AES : 0};
    send_up(program, &message);
}

static const char *take_lost(struct enl_program *program, uint32_t host)
{
    if (host == 0 || host == program->host_number)
        return "it says that itself or this host is lost";
    drop_pairs(program->introductions, host);
    enl_links_lost(program, host);
    return NULL;
}

/* introduce and introduced. */
static const char *take_introduction(struct enl_program *program, const struct bcri_control *message)
{
    struct enl_introductions *all = program->introductions;
    struct member member = {.host = message->host, .addresses_length = message->addresses.length};
    struct pair **at = find_pair(all, program->host_number, message->host);
    const bool is_answer = message->type == BCRI_MSG_introduced;
    if (!is_key(message->key) || !is_key(message->random) || message->host == program->host_number)
        return "an introduction that makes no sense";
    if (is_answer && *at == NULL)
        return "an introduction that this host has not asked for";
    memcpy(member.public, message->key.bytes, sizeof member.public);
    if (message->addresses.length != 0)
        memcpy(member.addresses, message->addresses.bytes, message->addresses.length);
    uint8_t own[BCRI_SEAL_KEY_BYTES];
    if (is_answer)
        memcpy(own, (*at)->random, sizeof own);
    else
        enl_keys_random(own);
    if (*at != NULL)
        drop_pair(at);
    const char *wrong = link_up(program, &member, (message->flags & HAS_AES) != 0, own,
                                (const uint8_t *)message->random.bytes);
    if (wrong == NULL && !is_answer)
        send_random(program, BCRI_MSG_agreed, message->host, own);
    bcri_seal_wipe(own, sizeof own);
    return wrong;
}

const char *enl_introduce_of_parent(struct enl_program *program, const struct bcri_control *message)
{
    return message->type == BCRI_MSG_lost ? take_lost(program, message->host)
                                          : take_introduction(program, message);
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
    if (!program->options.child)
        (void)arrange(program, &all->self, host, random);
    else if (*find_pair(all, program->host_number, host) != NULL)
        ;
    else if (add_pair(all, program->host_number, host, random))
        send_random(program, BCRI_MSG_want, host, random);
    else
        enl_links_lost(program, host);
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

static void drop_members(struct member **members)
{
    for (struct member *member; (member = *members) != NULL;) {
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
        drop_pair(&all->pairs);
    drop_members(&all->members);
    drop_members(&all->gone);
    uv_close((uv_handle_t *)&all->lease, on_closed);
    enl_secret_free(program->keys);
    program->keys = NULL;
}
