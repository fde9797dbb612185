/* SPDX-License-Identifier: MIT */
/* Tokens: regions of which each is there once, whichever CCE dies. What a CCE held when it was killed is
 * gone; so each says before how many tokens it may hold, and the killer allows for as many.
 *
 * A token is moved, written to, and put back by the CCE that has it. One that was lost is replaced by
 * the root by one of the next generation: if the old one comes up again after all, it is known. */
#include "cce.h"

#include "tokens.h"

#include <stdio.h>
#include <unistd.h>

enum { AT_ONCE = 3 };

static _Noreturn void wrong(const struct token *token, const char *what)
{
    fprintf(stderr, "chaos: CCE %d: token %u of generation %u: %s\n", bcr_cceord, token->number,
            token->generation, what);
    _exit(3);
}

void token_check(bcr_region rgid)
{
    const struct token *token = *rgid;
    must(bcr_rglen(rgid, NULL) == (int)sizeof *token, "a token's length");
    if (token->number >= CHAOS_TOKENS)
        wrong(token, "there is no such");
    if (token->generation != atomic_load(&board->generation[token->number]))
        wrong(token, "it was gone");
    if (token->check != token_sum(token))
        wrong(token, "it is corrupt");
}

/* Every other becomes one of this CCE's own heap, where that has room. */
static void use(bcr_region rgid)
{
    token_check(rgid);
    if (any(2) == 0 && worked(bcr_rgmod(rgid) == 0, "rgmod")) {
        struct token *token = *rgid;
        token->moves++;
        token->check = token_sum(token);
    }
}

/* There is room for all in TOKENS, twice. */
static void put_back(bcr_region rgid)
{
    use(rgid);
    const int cell = TOKENS + (int)any(4);
    atomic_store(&mine->cell, cell);
    while (!put_where_room_is(bcr_enq(rgid, keeper, cell, bcr_FREE) == 0, "enq of a token"))
        continue;
    if (far) /* the host may end before the token has left it */
        must(bcr_putdone(bcr_BLOCK) == 1, "putdone");
    atomic_fetch_sub(&mine->at_risk, 1);
}

static void risk(int tokens)
{
    atomic_store(&mine->at_risk, tokens);
}

void do_token(void)
{
    const int cell = TOKENS + (int)any(4);
    atomic_store(&mine->cell, cell);
    risk(1);
    bcr_region rgid = bcr_deq(keeper, cell, any_time());
    if (worked(rgid != NULL, "deq of a token"))
        put_back(rgid);
    risk(0);
}

/* The end of a pending get, in one way or another. */
static void end_pending(bcr_region rgid, int msec)
{
    const int came = bcr_rgwait(rgid, msec, 1);
    if (came == 1)
        put_back(rgid);
    else
        (void)worked(came == 0, "rgwait of a token");
}

void do_pending(void)
{
    bcr_region rgid[AT_ONCE];
    int count = 0, ready;
    risk(AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++) {
        rgid[count] = bcr_deq(keeper, TOKENS + (int)any(4), bcr_PENDING);
        count += worked(rgid[count] != NULL, "deq of a token, pending");
    }
    if (count != 0 && any(4) != 0) {
        ready = bcr_rgwaitm(count, rgid, any_time(), 0);
        must(ready >= 0, "rgwaitm of tokens");
        if (ready > 0) {
            end_pending(rgid[ready - 1], bcr_BLOCK);
            rgid[ready - 1] = rgid[--count];
        }
    }
    while (count > 0)
        end_pending(rgid[--count], any(2) == 0 ? 0 : any_time());
    risk(0);
}

/* With room for three no CCE can count on getting one in: then it goes back to where it came
 * from. */
void do_three(void)
{
    const int cell = THREE + (int)any(3);
    atomic_store(&mine->cell, cell);
    risk(1);
    bcr_region rgid =
        any(2) == 0 ? bcr_deq(keeper, cell, any_time()) : bcr_deq(keeper, TOKENS + (int)any(4), 0);
    if (worked(rgid != NULL, "deq of a token")) {
        use(rgid);
        if (!worked(bcr_enq(rgid, keeper, THREE + (int)any(3), bcr_FREE) == 0, "enq among three"))
            put_back(rgid);
    }
    risk(0);
}
