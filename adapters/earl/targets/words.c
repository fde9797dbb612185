/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "world.h"

/* As it lies in a region: 24 bytes of ints, 16 of the CCE. */
static const int description[6] = {0, bcrT_INT, 6, 0, bcrT_CCE | bcrT_END, 1};
enum { WORD_LENGTH = 40 };

bool earl_word_put(const struct earl_word *word, const char *text, bcr_cce_id to, int cell)
{
    const size_t length = strlen(text);
    bcr_region region = earl_memory_take((size_t)WORD_LENGTH + length, EARL_MUST);
    if (region == NULL)
        return false;
    memcpy((char *)*region + WORD_LENGTH, text, length);
    if (bcr_copyto(description, 1, region, 0, word, sizeof *word) >= 2 &&
        bcr_put_within(1, region, to, cell, bcr_FREE, bcr_BLOCK) == 0)
        return true;
    (void)bcr_rgfree(region);
    return false;
}

bool earl_word_read(bcr_region region, struct earl_word *word)
{
    return bcr_rgkind(region) == bcr_DATA && bcr_rglen(region, NULL) >= WORD_LENGTH &&
           bcr_copyfm(description, 1, region, 0, word, sizeof *word) >= 2 &&
           (word->kind == EARL_HELLO || word->kind == EARL_WHO || word->kind == EARL_WHEN ||
            word->kind == EARL_IS || word->kind == EARL_HERE);
}

const char *earl_word_text(bcr_region region, size_t *length)
{
    *length = (size_t)bcr_rglen(region, NULL) - WORD_LENGTH;
    return (const char *)*region + WORD_LENGTH;
}

void earl_world_host(char *name, size_t room)
{
    if (gethostname(name, room) != 0)
        name[0] = '\0';
    name[room - 1] = '\0';
}
