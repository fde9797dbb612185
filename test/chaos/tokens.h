/* SPDX-License-Identifier: MIT */
/* What is in a token: tokens.c. */
#ifndef CHAOS_TOKENS_H
#define CHAOS_TOKENS_H

#include <stdint.h>

struct token {
    uint32_t number, generation, moves, check;
};

static inline uint32_t token_sum(const struct token *token)
{
    return (token->number * 31 + token->generation) * 2654435761u ^ token->moves;
}

/* Ends this CCE unless it is one of those that are under way. */
void token_check(bcr_region rgid);

#endif
