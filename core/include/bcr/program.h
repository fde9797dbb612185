/* SPDX-License-Identifier: MIT */
/* bcr/program.h -- the program as a whole: its CCEs' starts and ends, and what CCEs are told of them.
 *
 * It stands beside <bcr.h>, which it includes: that has the routines that move data, this those that
 * say who is in the program and what becomes of it. What the top of <bcr.h> says of blocks, codes
 * and routines is true here too. */
#ifndef BCR_PROGRAM_H
#define BCR_PROGRAM_H

#include <bcr.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Further flags of bcr_init, which has more on them. They are no part of bcr_implemented, since they change nothing unless
 * a CCE asks for them. */
enum bcr_program_flag {
    bcr_anystatus = 0x100,  /* each exit of this CCE is a normal end, whatever its status */
    bcr_isolate = 0x200,    /* its abnormal end harms no other CCE, whatever onfail says */
    bcr_passsignals = 0x400 /* signals that reach enl go to all CCEs, and the program goes on */
};

/* What a region is: the result of bcr_rgkind. */
enum bcr_kind {
    bcr_DATA = 0, /* what a CCE has allocated, or the birth region of bcr_enlist */
    bcr_ERROR = 1 /* an error region: bcr_rgerror */
};

/* bcr_rgkind -- tell what a region is: data of a CCE, or news from BCR itself.
 * The kind stands beside the data, in the region's header, and goes with the region to other cells
 * and hosts. No CCE can make a region of another kind than bcr_DATA; bcr_rgmod and the copy routines
 * leave the kind as it is.
 * Returns: a value of enum bcr_kind, 0 or more.
 * Errors: bcrE_RGID, bcrE_PENDING */
BCR_API int bcr_rgkind(bcr_region rgid);

#ifdef __cplusplus
}
#endif

#endif
