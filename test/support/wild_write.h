/* SPDX-License-Identifier: MIT */
/* Wild writes: each word of a structure in shared memory is overwritten, one at a time, with each of
 * several values, and then the code runs that meets it. Each case has a process of its own, which
 * must end: the daemon by itself, a CCE as bcri/corrupt.h says, or by a crash. */
#ifndef BCR_TEST_WILD_WRITE_H
#define BCR_TEST_WILD_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

struct bcri_ctx;
struct bcri_reclaim;

/* What may be overwritten: where it begins, in some mapping, once the scene is set, and how long it
 * is. */
struct wild_target {
    const char *name;
    void *(*where)(void);
    size_t bytes;
};

/* What meets the wild write. It ends its process by _exit with one of these. */
enum { WILD_QUIET = 0, WILD_FOUND = 4 };
struct wild_body {
    const char *name;
    void (*run)(void);
    bool is_cce; /* not the daemon: it may end itself */
};

struct wild_suite {
    void (*set_scene)(void);
    /* Whether what is written might be true, so that a CCE may wait for it for good. */
    bool (*might_be)(const struct wild_target *target, size_t word, uint64_t is);
    const struct wild_target *targets;
    const struct wild_body *bodies; /* the last has no name */
};

/* Every case of the target of that name, or, at the reduced size, some of them. */
void wild_writes(const struct wild_suite *suite, const char *name);

/* Runs the audit with the daemon's context; its process ends with WILD_FOUND or WILD_QUIET. */
_Noreturn void wild_audit(void);

/* Calls of CCEs in a process of their own. False: it has ended itself, and with it all whose calls
 * it makes. What they leave in shared memory is there when it returns. */
bool wild_calls(void (*calls)(void));

/* A call of a CCE by which its process must end with the sentence that shared memory is corrupt,
 * and with `what` in it. */
#define ENDS_ITSELF(call, what)      \
    do {                             \
        if (wild_is_call()) {        \
            (void)(call);            \
            _exit(WILD_QUIET);       \
        }                            \
        wild_has_ended(#call, what); \
    } while (0)
bool wild_is_call(void);
void wild_has_ended(const char *call, const char *what);

/* The CCE dies; the daemon repairs it and reclaims what it left, as far as that can be, and gives its
 * record back. */
void wild_end_cce(struct bcri_reclaim *reclaim, const struct bcri_ctx *ctx);
/* What a daemon meets when one CCE dies, another makes calls, and then dies too. Ends its process
 * with WILD_QUIET. */
_Noreturn void wild_end_both(const struct bcri_ctx *first, void (*calls_of_the_other)(void),
                             const struct bcri_ctx *other);

#endif
