/* SPDX-License-Identifier: MIT */
/* cces.c -- the private table between small ints and identities.
 *
 * An array by int and a hash index over it. Nothing is ever removed: an int must keep its meaning
 * for the life of the process. Identities are random except for their first four bytes, so eight of
 * their bytes are a good enough hash. A CCE that puts chosen identities into regions slows down
 * only the CCEs that read them. */
#include "bcri/cces.h"

#include <limits.h>

#include "bcri/private.h"

static const uint8_t no_identity[BCRI_IDENTITY_BYTES];

static uint32_t hash_of(const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    uint64_t word, rest;
    memcpy(&word, identity, sizeof word);
    memcpy(&rest, identity + 8, sizeof rest);
    word = (word ^ (rest << 29 | rest >> 35)) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(word >> 32);
}

/* The bucket that holds `identity`, or the free one where it belongs. */
static uint32_t *bucket_of(struct bcri_ids *ids, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    for (uint32_t at = hash_of(identity);; at++) {
        uint32_t *bucket = &ids->bucket[at & ids->bucket_mask];
        if (*bucket == 0 || memcmp(ids->entry[*bucket].identity, identity, BCRI_IDENTITY_BYTES) == 0)
            return bucket;
    }
}

/* Makes room for that many ints, and keeps the index at most half full. A failure leaves the table as
 * it was. */
static int set_capacity(struct bcri_ids *ids, uint32_t capacity)
{
    if (capacity > INT_MAX / 2)
        return bcrE_NOMEM;
    uint32_t *bucket = bcri_private_zeroed((size_t)capacity * 2, sizeof *bucket);
    if (bucket == NULL)
        return bcrE_NOMEM;
    struct bcri_cce *entry = bcri_private_resize(ids->entry, capacity * sizeof *entry);
    if (entry == NULL) {
        bcri_private_free(bucket);
        return bcrE_NOMEM;
    }
    bcri_private_free(ids->bucket);
    ids->entry = entry;
    ids->bucket = bucket;
    ids->bucket_mask = capacity * 2 - 1;
    ids->capacity = capacity;
    for (uint32_t id = 1; id < ids->count; id++)
        *bucket_of(ids, entry[id].identity) = id;
    return 0;
}

int bcri_cce_reserve(struct bcri_ctx *ctx, uint32_t count)
{
    struct bcri_ids *ids = ctx->ids;
    uint32_t capacity = ids->capacity ? ids->capacity : 32;
    while (capacity - ids->count < count && capacity <= INT_MAX / 2)
        capacity *= 2;
    return capacity == ids->capacity ? 0 : set_capacity(ids, capacity);
}

static int grow(struct bcri_ctx *ctx)
{
    return bcri_cce_reserve(ctx, 1);
}

static bool is_lost(const struct bcri_ids *ids, uint32_t host)
{
    return (ids->lost_hosts[host / 64] >> host % 64 & 1) != 0;
}

/* Finds the record that the identity names, unless the record belongs to another CCE now. */
static void find_record(struct bcri_ctx *ctx, struct bcri_cce *cce)
{
    const uint32_t host = bcri_identity_host(cce->identity);
    cce->absent = bcrE_NOCCE;
    if (host != ctx->host->number) {
        cce->elsewhere = !is_lost(ctx->ids, host);
        cce->absent = cce->elsewhere ? 0 : bcrE_DEAD;
        return;
    }
    const uint32_t index = bcri_identity_index(cce->identity);
    struct bcri_record_shm *record = bcri_record(ctx, index);
    if (record == NULL || memcmp(record->id.identity, cce->identity, BCRI_IDENTITY_BYTES) != 0)
        return;
    cce->index = index;
    cce->record = record;
}

int bcri_cce_decode(struct bcri_ctx *ctx, const uint8_t in[BCRI_IDENTITY_BYTES], int *id_out)
{
    struct bcri_ids *ids = ctx->ids;
    if (memcmp(in, no_identity, sizeof no_identity) == 0) {
        *id_out = -1;
        return 0;
    }
    /* Works on a copy: `in` may be shared memory, and the bytes compared must be the bytes
     * stored. */
    struct bcri_cce cce = {0};
    memcpy(cce.identity, in, sizeof cce.identity);
    uint32_t known = *bucket_of(ids, cce.identity);
    if (known != 0) {
        *id_out = (int)known;
        return 0;
    }
    int code = grow(ctx);
    if (code != 0)
        return code;
    find_record(ctx, &cce);
    uint32_t id = ids->count++;
    ids->entry[id] = cce;
    *bucket_of(ids, cce.identity) = id;
    *id_out = (int)id;
    return 0;
}

int bcri_cce_find(struct bcri_ctx *ctx, const uint8_t identity[BCRI_IDENTITY_BYTES])
{
    struct bcri_cce cce = {0};
    int id = (int)*bucket_of(ctx->ids, identity);
    if (id != 0)
        return id;
    memcpy(cce.identity, identity, sizeof cce.identity);
    find_record(ctx, &cce);
    return cce.record != NULL && bcri_cce_decode(ctx, cce.identity, &id) == 0 ? id : 0;
}

/* ---- puts to CCEs of other hosts that have failed ---- */

static void forget_failures(struct bcri_cce *cce)
{
    for (struct bcri_cce_failure *failure = cce->failures, *next; failure != NULL; failure = next) {
        next = failure->next;
        bcri_private_free(failure);
    }
    cce->failures = NULL;
}

/* Where the failure of that cell stands, or would. */
static struct bcri_cce_failure **failure_of(struct bcri_cce *cce, int cell)
{
    struct bcri_cce_failure **at = &cce->failures;
    while (*at != NULL && (*at)->cell != cell)
        at = &(*at)->next;
    return at;
}

bool bcri_cce_failed(struct bcri_cce *cce, int cell, int code)
{
    if (!cce->elsewhere)
        return true; /* a dead one stays so; none of another host has orders */
    if (code == bcrE_DEAD) {
        cce->elsewhere = false;
        cce->absent = bcrE_DEAD;
        forget_failures(cce);
        return true;
    }
    struct bcri_cce_failure **const at = failure_of(cce, cell);
    if (*at != NULL)
        return true;
    if ((*at = bcri_private_alloc(sizeof **at)) == NULL)
        return false;
    **at = (struct bcri_cce_failure){.cell = cell, .code = code};
    return true;
}

void bcri_cces_host_lost(struct bcri_ctx *ctx, uint32_t host)
{
    struct bcri_ids *const ids = ctx->ids;
    if (is_lost(ids, host))
        return;
    ids->lost_hosts[host / 64] |= UINT64_C(1) << host % 64;
    for (uint32_t id = 1; id < ids->count; id++)
        if (bcri_identity_host(ids->entry[id].identity) == host)
            (void)bcri_cce_failed(&ids->entry[id], 0, bcrE_DEAD);
}

int bcri_cce_tell_failure(struct bcri_cce *cce, int cell)
{
    if (!cce->elsewhere)
        return cce->absent;
    struct bcri_cce_failure **const at = failure_of(cce, cell), *const failure = *at;
    if (failure == NULL)
        return 0;
    const int code = failure->code;
    *at = failure->next;
    bcri_private_free(failure);
    return code;
}

int bcri_cce_encode(struct bcri_ctx *ctx, int id, uint8_t out[BCRI_IDENTITY_BYTES])
{
    const uint8_t *identity = no_identity;
    if (id != -1) {
        struct bcri_cce *cce = bcri_cce_lookup(ctx, id);
        if (cce == NULL)
            return bcrE_NOCCE;
        identity = cce->identity;
    }
    memcpy(out, identity, BCRI_IDENTITY_BYTES);
    return 0;
}

int bcri_cce_id_of_index(struct bcri_ctx *ctx, uint32_t index, int *id_out)
{
    struct bcri_record_shm *record = bcri_record(ctx, index);
    if (record == NULL || bcri_load_acquire(&record->id.state) == BCRI_CCE_FREE)
        return bcrE_NOCCE;
    int id;
    int code = bcri_cce_decode(ctx, record->id.identity, &id);
    if (code != 0)
        return code;
    if (id < 0)
        return bcrE_NOCCE;
    *id_out = id;
    return 0;
}

int bcri_ids_init(struct bcri_ctx *ctx)
{
    struct bcri_ids *ids = bcri_private_zeroed(1, sizeof *ids);
    if (ids == NULL)
        return bcrE_NOMEM;
    ids->count = 1;
    int self;
    ctx->ids = ids;
    if (grow(ctx) != 0 || bcri_cce_decode(ctx, ctx->record->id.identity, &self) != 0) {
        bcri_ids_fini(ctx);
        return bcrE_NOMEM;
    }
    return 0;
}

int bcri_ids_set_globals(struct bcri_ctx *ctx, const uint8_t enlistor[BCRI_IDENTITY_BYTES])
{
    int *globals = ctx->ids->globals;
    int code = bcri_cce_decode(ctx, enlistor, &globals[1]);
    if (code != 0)
        return code;
    globals[0] = 1;
    globals[2] = (int)ctx->record->id.ordinal;
    globals[3] = (int)ctx->record->id.archtype;
    return 0;
}

void bcri_ids_fini(struct bcri_ctx *ctx)
{
    if (ctx->ids == NULL)
        return;
    for (uint32_t id = 1; id < ctx->ids->count; id++)
        forget_failures(&ctx->ids->entry[id]);
    bcri_private_free(ctx->ids->entry);
    bcri_private_free(ctx->ids->bucket);
    bcri_private_free(ctx->ids);
    ctx->ids = NULL;
}
