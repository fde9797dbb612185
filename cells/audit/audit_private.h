/* SPDX-License-Identifier: MIT */
/* What the parts of the audit share: counting by reference, and reporting. For audit*.c only. */
#ifndef BCR_AUDIT_PRIVATE_H
#define BCR_AUDIT_PRIVATE_H

#include "bcri/audit.h"

/* How often a reference was met, and at which holder last. Open addressing; the table grows. */
struct tally_entry {
    bcri_ref ref; /* 0: free */
    bcri_ref holder;
    uint64_t count;
};
struct tally {
    struct tally_entry *entry;
    size_t count, mask; /* mask 0: nothing allocated yet */
};

struct audit {
    struct bcri_ctx *ctx;
    struct bcri_audit *out;
    struct tally regions, nodes, requests;
    bool no_memory;
    /* what is being looked at, for the sentences */
    uint32_t cce;
    char name[BCRI_CCE_TEXT_MAX];
    uint64_t subject; /* by which a finding is known again in the next audit */
};

/* Counts one more meeting with `ref`, by `holder`. Returns how often it has been met. */
uint64_t bcri_audit_meet(struct audit *audit, struct tally *tally, bcri_ref ref, bcri_ref holder);
/* NULL: never met. */
const struct tally_entry *bcri_audit_met(const struct tally *tally, bcri_ref ref);

/* What follows is about the thing at `ref`; or only for as long as the CCE with that tag is not at
 * work: what a CCE holds while it works is another thing each time. */
void bcri_audit_look(struct audit *audit, uint64_t ref);
void bcri_audit_look_now(struct audit *audit, uint64_t ref, uint32_t tag);
/* Names the holder of a lock by its tag. Returns `out`. */
const char *bcri_audit_tag(struct audit *audit, uint32_t tag, char out[BCRI_CCE_TEXT_MAX]);
void bcri_audit_report(struct audit *audit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* audit_cell.c: one area of CCE audit->cce with its cells. */
void bcri_audit_area(struct audit *audit, bcri_ref area_ref);

#endif
