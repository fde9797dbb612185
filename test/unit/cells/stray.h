/* SPDX-License-Identifier: MIT */
/* Wild writes: each word of a structure in shared memory overwritten, one at a time, with what
 * strays write, and then what meets it, each case in a process of its own, which must end: the
 * daemon by itself, a CCE as bcri/corrupt.h says, or by a crash. */
#ifndef BCR_TEST_CELLS_STRAY_H
#define BCR_TEST_CELLS_STRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcri_ctx;
struct bcri_reclaim;

/* What may be damaged: where it begins, in some mapping, once the scene is set, and how long it
 * is. */
struct stray_target {
    const char *name;
    void *(*where)(void);
    size_t bytes;
};

/* What meets the damage. It ends its process by _exit with one of these. */
enum { STRAY_QUIET = 0, STRAY_FOUND = 4 };
struct stray_body {
    const char *name;
    void (*run)(void);
    bool is_cce; /* not the daemon: it may end itself */
};

struct stray_suite {
    void (*set_scene)(void);
    /* Whether what is written might be true, so that somebody may wait for it for good. */
    bool (*might_be)(const struct stray_target *target, size_t word, uint64_t is);
    const struct stray_target *targets;
    const struct stray_body *bodies; /* the last has no name */
};

/* Every case of the target of that name, or, at the reduced size, some of them. */
void stray_damage(const struct stray_suite *suite, const char *name);

/* bcri_audit by the daemon's context ends its process with what it says. */
_Noreturn void stray_audit(void);

/* Calls of CCEs in a process of their own. False: it has ended itself, and with it all whose calls
 * it makes. What they leave in shared memory is there when it returns. */
bool stray_calls(void (*calls)(void));

/* A call of a CCE by which its process must end with the sentence that shared memory is corrupt,
 * and with `what` in it. */
#define ENDS_ITSELF(call, what)       \
    do {                              \
        if (stray_is_call()) {        \
            (void)(call);             \
            _exit(STRAY_QUIET);       \
        }                             \
        stray_has_ended(#call, what); \
    } while (0)
bool stray_is_call(void);
void stray_has_ended(const char *call, const char *what);

/* The CCE dies, is repaired, and what it left goes, as far as it can; records that are free are
 * given back. */
void stray_ends(struct bcri_reclaim *reclaim, const struct bcri_ctx *ctx);

#endif
