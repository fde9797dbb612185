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
};

/* Counts one more meeting with `ref`, by `holder`. Returns how often it has been met. */
uint64_t bcri_audit_meet(struct audit *audit, struct tally *tally, bcri_ref ref, bcri_ref holder);
/* NULL: never met. */
const struct tally_entry *bcri_audit_met(const struct tally *tally, bcri_ref ref);

void bcri_audit_report(struct audit *audit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* audit_cell.c: one area of CCE audit->cce with its cells. */
void bcri_audit_area(struct audit *audit, bcri_ref area_ref);

#endif
