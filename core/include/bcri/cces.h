/* SPDX-License-Identifier: MIT */
/* The small ints by which this CCE names others.
 *
 * A CCE's identity is 16 bytes that travel in regions:
 *
 *     0        2        4                                   16
 *     | host   | index  | random bytes that nobody can guess |      host and index big-endian
 *
 * `host` is the number of the CCE's host in its program (host.h), `index` that of the CCE's record
 * there.
 * All zeros mean "no CCE" (the int -1). Each CCE keeps a private table from its own ints, counted
 * from 1, to the identities it has met. Equal identities give the same int, and an int never gets a
 * second meaning. The table grows as long as there is memory. An identity that fits no CCE is kept
 * like any other and can be passed on.
 *
 * `record` is where the CCE's record lies, also after the CCE has ended. The daemon gives a record
 * out again later, so its user compares identities first: bcri_cce_check(). */
#ifndef BCRI_CCES_H
#define BCRI_CCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bcr/error.h>

#include "bcri/atomics.h"
#include "bcri/ctx.h"
#include "bcri/record.h"

/* A put to a cell of a CCE on another host has failed after its call had returned. */
struct bcri_cce_failure {
    struct bcri_cce_failure *next;
    int cell, code;
};

struct bcri_cce {
    struct bcri_record_shm *record; /* NULL: the identity belongs to no CCE known here */
    uint32_t index;                 /* of the record */
    int archtype;                   /* of one of another host, once it was asked for (bcr_arch); else 0 */
    bool elsewhere;                 /* one of another host, of which nothing says that it has ended */
    /* Else, why there is no record. bcrE_DEAD: one of another host that has ended; bcrE_NOCCE: this host never had
     * such a CCE. */
    int absent;
    struct bcri_cce_failure *failures; /* of puts to cells of one of another host, not told yet */
    uint8_t identity[BCRI_IDENTITY_BYTES];
};

struct bcri_ids {
    struct bcri_cce *entry; /* by int; entry[0] is none */
    uint32_t count;         /* ints given out + 1 */
    uint32_t capacity;
    uint32_t *bucket; /* identity -> int, open addressing; 0: free */
    uint32_t bucket_mask;
    /* The values of bcr_cce, bcr_enlistor, bcr_cceord and bcr_archtype. The program may store
     * there; the library never reads them back. */
    int globals[4];
    uint64_t lost_hosts[(BCRI_HOST_NUMBER_MAX + 1) /
                        64]; /* other hosts of which it is known that they have ended */
};

/* bcri_ctx_init and bcri_ctx_fini call these. The first int, 1, is this CCE itself. Returns 0 or
 * bcrE_NOMEM. */
int bcri_ids_init(struct bcri_ctx *ctx);
void bcri_ids_fini(struct bcri_ctx *ctx);

/* Sets the globals: bcr_cce to 1, bcr_enlistor to the int of `enlistor` (-1 for zeros: this is the
 * root), bcr_cceord and bcr_archtype as the record has them. Returns 0 or bcrE_NOMEM. */
int bcri_ids_set_globals(struct bcri_ctx *ctx, const uint8_t enlistor[BCRI_IDENTITY_BYTES]);

/* The entry of int `id`, or NULL if it was never given out. Borrowed until the next routine here
 * that gives one out. */
static inline struct bcri_cce *bcri_cce_lookup(struct bcri_ctx *ctx, int id)
{
    struct bcri_ids *ids = ctx->ids;
    if (bcri_unlikely((uint32_t)id - 1 >= ids->count - 1))
        return NULL;
    return &ids->entry[id];
}

/* 0 while operations can name the CCE; bcrE_DEAD once it has ended, also when its record belongs to
 * another CCE by now; bcrE_NOCCE if this host never had such a CCE. Of one of another host: 0, and
 * bcrE_DEAD once it is known that it has ended. */
static inline int bcri_cce_check(const struct bcri_cce *cce)
{
    if (bcri_unlikely(cce->record == NULL))
        return cce->absent;
    uint32_t state = bcri_load_acquire(&cce->record->id.state);
    if (bcri_unlikely(state != BCRI_CCE_ALIVE && state != BCRI_CCE_STARTING))
        return bcrE_DEAD;
    return bcri_likely(memcmp(cce->record->id.identity, cce->identity, BCRI_IDENTITY_BYTES) == 0) ? 0
                                                                                                  : bcrE_DEAD;
}

/* Its state, for those who look at a program: a member of a job that never becomes a CCE has a process from its gate on,
 * and is alive. */
static inline uint32_t bcri_cce_seen_state(const struct bcri_record_shm *record)
{
    const uint32_t state = bcri_load_acquire(&record->id.state);
    return state == BCRI_CCE_STARTING && bcri_load(&record->id.pid) != 0 ? BCRI_CCE_ALIVE : state;
}

/* A put to `cell` of a CCE on another host has failed with `code`. That the CCE has ended holds for ever; any other
 * code is remembered, the first of each cell, until it is told. False: no memory. */
bool bcri_cce_failed(struct bcri_cce *cce, int cell, int code);
/* Another host has ended, and so have all its CCEs, also those that this CCE is still to meet. */
void bcri_cces_host_lost(struct bcri_ctx *ctx, uint32_t host);
/* Why a put to that cell fails without being tried: the CCE has ended, or an earlier put has failed and that was not
 * told: it is told with this. 0: it is to be tried. */
int bcri_cce_tell_failure(struct bcri_cce *cce, int cell);

/* The int of the CCE whose record is `index` now. Returns 0; bcrE_NOCCE: no CCE has that record;
 * bcrE_NOMEM. */
int bcri_cce_id_of_index(struct bcri_ctx *ctx, uint32_t index, int *id_out);

/* The identity behind an int; -1 gives zeros. Returns 0, or bcrE_NOCCE: never given out. */
int bcri_cce_encode(struct bcri_ctx *ctx, int id, uint8_t out[BCRI_IDENTITY_BYTES]);

/* The int of an identity: a fresh one if this CCE has not met it before. Zeros give -1. Returns 0
 * or bcrE_NOMEM. */
int bcri_cce_decode(struct bcri_ctx *ctx, const uint8_t in[BCRI_IDENTITY_BYTES], int *id_out);
/* Makes room for so many fresh ints. Returns 0 or bcrE_NOMEM. */
int bcri_cce_reserve(struct bcri_ctx *ctx, uint32_t count);
/* The same for a CCE of this host, of which somebody says that this is its identity. 0: there is none, of
 * which nothing is kept; or no memory. */
int bcri_cce_find(struct bcri_ctx *ctx, const uint8_t identity[BCRI_IDENTITY_BYTES]);

#endif
