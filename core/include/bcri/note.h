/* SPDX-License-Identifier: MIT */
/* The note of a CCE: what it waits for, in the words of the interface that it uses (bcr_note), and which CCE alone can
 * end that wait.
 *
 * It lies in the CCE's record, and the CCE alone writes it, one thread at a time; the daemon and helpers read it at any
 * moment, also after a death. One word tells whether what has been read belongs together:
 *
 *   state    63..32 changes, odd while one is under way    31..0 bytes of text, 0: there is no note
 *
 *   setting    changes odd  -> fence (release) -> cce, text -> changes even, length (release)
 *   clearing   changes + 2, length 0, in one store: what else is there means nothing then
 *   reading    state (acquire) -> cce, text -> fence (acquire) -> state: the same, and even, or it is read again
 *
 * A reader that has read a word of a later note has synchronised, by the two fences, with the store that made the state
 * odd before it, so its second look at the state finds another one (Boehm, "Can seqlocks get along with programming
 * language memory models?", 2012). Setting and clearing are wait-free. A reader tries a few times: a CCE whose note
 * changes again and again does not wait.
 *
 * Death of the CCE while it sets one: the state stays odd, and there is no note; it did not wait then. Nothing is to be
 * repaired.
 *
 * The bytes are the program's: who shows them escapes them (escape.h), and believes neither length nor identity. */
#ifndef BCRI_NOTE_H
#define BCRI_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bcri/atomics.h"
#include "bcri/record.h"

/* A copy. */
struct bcri_note {
    uint8_t cce[BCRI_IDENTITY_BYTES]; /* none (bcri_identity_is_none): not known, or several could */
    char text[BCRI_NOTE_BYTES + 1];   /* ends with a NUL, and may have another before */
};

/* `length` is 1 to BCRI_NOTE_BYTES. */
static inline void bcri_note_set(struct bcri_note_shm *note, const char *text, size_t length,
                                 const uint8_t cce[BCRI_IDENTITY_BYTES])
{
    enum { WORD = sizeof note->text[0] };
    const uint32_t changes = (uint32_t)(bcri_load(&note->state) >> 32) | 1;
    uint64_t words[BCRI_NOTE_BYTES / WORD];
    words[(length - 1) / WORD] = 0; /* the last one has bytes behind the text */
    memcpy(words, text, length);
    bcri_store(&note->state, (uint64_t)changes << 32);
    atomic_thread_fence(memory_order_release);
    for (size_t i = 0; i < (length + WORD - 1) / WORD; i++)
        bcri_store(&note->text[i], words[i]);
    memcpy(words, cce, BCRI_IDENTITY_BYTES);
    bcri_store(&note->cce[0], words[0]);
    bcri_store(&note->cce[1], words[1]);
    bcri_store_release(&note->state, (uint64_t)(uint32_t)(changes + 1) << 32 | length);
}

static inline void bcri_note_clear(struct bcri_note_shm *note)
{
    const uint64_t state = bcri_load(&note->state);
    if ((uint32_t)state != 0)
        bcri_store_release(&note->state, (uint64_t)(uint32_t)((state >> 32) + 2) << 32);
}

/* Whether there is one that names a CCE: a hint, for who reads it whole later. */
static inline bool bcri_note_names(const struct bcri_note_shm *note)
{
    return (uint32_t)bcri_load(&note->state) != 0 &&
           (bcri_load(&note->cce[0]) | bcri_load(&note->cce[1])) != 0;
}

/* False: there is none, or it is being changed. */
static inline bool bcri_note_read(const struct bcri_note_shm *note, struct bcri_note *out)
{
    enum { TRIES = 8 };
    for (int i = 0; i < TRIES; i++) {
        const uint64_t state = bcri_load_acquire(&note->state);
        const uint32_t length = (uint32_t)state;
        uint64_t words[sizeof note->text / sizeof note->text[0]];
        const uint64_t cce[2] = {bcri_load(&note->cce[0]), bcri_load(&note->cce[1])};
        for (size_t word = 0; word < sizeof words / sizeof words[0]; word++)
            words[word] = bcri_load(&note->text[word]);
        atomic_thread_fence(memory_order_acquire);
        if (bcri_load(&note->state) != state || (state >> 32) % 2 != 0)
            continue;
        if (length == 0 || length > BCRI_NOTE_BYTES)
            return false;
        memcpy(out->cce, cce, sizeof out->cce);
        memcpy(out->text, words, length);
        out->text[length] = '\0';
        return true;
    }
    return false;
}

#endif
