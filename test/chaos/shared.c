/* SPDX-License-Identifier: MIT */
/* The root's cells, which all share. */
#include "cce.h"

#include "tokens.h"

#include <stdio.h>
#include <unistd.h>

enum { ROOT_BYTES = 4 << 20, LOCKED_BYTES = 64 };

static void put_token(uint32_t number)
{
    bcr_region rgid = bcr_rgalloc(sizeof(struct token), 0);
    must(rgid != NULL, "rgalloc of a token");
    struct token *token = *rgid;
    *token =
        (struct token){.number = number, .generation = atomic_fetch_add(&board->generation[number], 1) + 1};
    token->check = token_sum(token);
    must(bcr_enq(rgid, bcr_cce, TOKENS + (int)(number % 4), bcr_FREE) == 0, "put a token");
}

static void grow(int first, int cells, int nrgns, int nbytes)
{
    must(bcr_cagrow(first, 0, 0, 0, cells, nrgns, nbytes) == first, "cagrow");
}

void shared_make(void)
{
    keeper = bcr_cce;
    grow(TOKENS, 4, 2 * CHAOS_TOKENS, ROOT_BYTES);
    grow(THREE, 3, 3, 0);
    grow(LOCKS, CHAOS_LOCKS, 2 * CHAOS_LOCKS, 0);
    grow(LONG, 3, 6, 0);
    grow(MANY, 4, 16, 0);
    grow(PEERS, CHAOS_CCES, 2 * CHAOS_CCES, 0);
    grow(HANDLED, 1, 16, 0);
    must(bcr_handler(HANDLED, take_one, 1, 1, 1) == 0, "handler");
    for (uint32_t number = 0; number < CHAOS_TOKENS; number++)
        put_token(number);
    for (int lock = 0; lock < CHAOS_LOCKS; lock++) {
        bcr_region rgid = region_make(LOCKED_BYTES);
        must(rgid != NULL && bcr_enq(rgid, bcr_cce, LOCKS + lock, bcr_FREE) == 0, "put what is locked");
    }
}

void cell_empty(int cell)
{
    for (bcr_region rgid; (rgid = bcr_deq(bcr_cce, cell, 0)) != NULL;)
        must(bcr_rgfree(rgid) == 0, "rgfree");
    (void)worked(false, "deq");
}

/* Takes the tokens of all cells, none twice, and puts them back. Returns how many are missing, with
 * new ones in their places. */
static int count_tokens(void)
{
    bcr_region found[CHAOS_TOKENS] = {NULL};
    int missing = 0;
    for (int cell = TOKENS; cell < LOCKS; cell++) {
        for (bcr_region rgid; (rgid = bcr_deq(bcr_cce, cell, 0)) != NULL;) {
            token_check(rgid);
            const struct token *token = *rgid;
            if (found[token->number] != NULL) {
                fprintf(stderr, "chaos: token %u is there twice\n", token->number);
                _exit(3);
            }
            found[token->number] = rgid;
        }
    }
    for (uint32_t number = 0; number < CHAOS_TOKENS; number++) {
        if (found[number] != NULL) {
            must(bcr_enq(found[number], bcr_cce, TOKENS + (int)(number % 4), bcr_FREE) == 0, "put it back");
        } else {
            missing++;
            put_token(number);
        }
    }
    return missing;
}

static int count_in(int first, int cells)
{
    int count = 0;
    for (int cell = first; cell < first + cells; cell++) {
        const int length = bcr_celllen(bcr_cce, cell);
        must(length >= 0, "celllen");
        count += length;
    }
    return count;
}

void shared_empty(void)
{
    for (int cell = MANY; cell < MANY + 4; cell++)
        cell_empty(cell);
    must(bcr_allow(0) == 0, "allow");
    cell_empty(HANDLED);
}

void shared_count(void)
{
    recover_locks();
    atomic_store(&board->missing, count_tokens());
    atomic_store(&board->regions, count_in(TOKENS, SHARED_CELLS - TOKENS));
}
