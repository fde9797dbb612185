/* SPDX-License-Identifier: MIT */
/*
 * bcr.h -- Cooperative Data Sharing for C: the whole public interface, and its manual.
 */
#ifndef BCR_H
#define BCR_H

#include <bcr/error.h>
#include <bcr/types.h>

#define BCR_VERSION_MAJOR 0
#define BCR_VERSION_MINOR 1
#define BCR_VERSION_PATCH 0

#ifndef BCR_API
#if defined(__GNUC__)
#define BCR_API __attribute__((visibility("default")))
#else
#define BCR_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Values of msec arguments, and of nofree arguments. */
#define bcr_BLOCK   (-1)
#define bcr_PENDING (-2)
#define bcr_FREE    0
#define bcr_NOFREE  1

/* Flags of bcr_init. */
#define bcr_inorder     0x01
#define bcr_user_ca     0x02
#define bcr_errors      0x04
#define bcr_reliable    0x08
#define bcr_timeout     0x10
#define bcr_handlers    0x20
#define bcr_gc          0x40
#define bcr_implemented (bcr_inorder | bcr_user_ca | bcr_errors | bcr_reliable | bcr_timeout | bcr_gc)

/* Second item of an error region (bcrT_1ERROR): the operation that failed. */
#define bcr_op_enlist 1
#define bcr_op_put    2
#define bcr_op_putm   3

/* The calling thread's CCE: int lvalues, 0 before bcr_init.  bcr_errno is the calling thread's own. */
#define bcr_cce      (*bcr_cce_location())
#define bcr_enlistor (*bcr_enlistor_location())
#define bcr_cceord   (*bcr_cceord_location())
#define bcr_archtype (*bcr_archtype_location())
#define bcr_errno    (*bcr_errno_location())

BCR_API int *bcr_cce_location(void);
BCR_API int *bcr_enlistor_location(void);
BCR_API int *bcr_cceord_location(void);
BCR_API int *bcr_archtype_location(void);
BCR_API int *bcr_errno_location(void);

/* CCE control and comm area */
BCR_API int bcr_init(int flags, const char *ccename);
BCR_API int bcr_enlist(const char *mach, int prcssr, int cceord1, const char *obj, void **rgid, int nofree);
BCR_API int bcr_cagrow(int qbase, int nprivqs, int ninqs, int noutqs, int nioqs, int nrgns, int nbytes);
BCR_API int bcr_cafree(int qbase);
BCR_API int bcr_arch(int cceid);

/* Regions */
BCR_API void **bcr_rgalloc(int len, int archtype);
BCR_API int bcr_rgmod(void **rgid);
BCR_API int bcr_rgfree(void **rgid);
BCR_API int bcr_rgrealloc(void **rgid, int newlen);
BCR_API int bcr_rglen(void **rgid, int *archtype);
BCR_API int bcr_rgwait(void **rgid, int msec, int failfree);
BCR_API int bcr_rgwaitm(int nids, void ***rgids, int msec, int failfree);

/* Communication */
BCR_API int bcr_put(int qlike, void **rgid, int cce, int cell, int nofree);
BCR_API void **bcr_get(int qlike, int cce, int cell, int msec);
BCR_API int bcr_zap(int cce, int cell);
BCR_API int bcr_putm(int qlike, void **rgid, int ncells, const int *cells, int nofree);

#define bcr_write(rgid, cce, cell, nofree)      bcr_put(0, rgid, cce, cell, nofree)
#define bcr_enq(rgid, cce, cell, nofree)        bcr_put(1, rgid, cce, cell, nofree)
#define bcr_writem(rgid, ncells, cells, nofree) bcr_putm(0, rgid, ncells, cells, nofree)
#define bcr_enqm(rgid, ncells, cells, nofree)   bcr_putm(1, rgid, ncells, cells, nofree)
#define bcr_read(cce, cell, msec)               bcr_get(0, cce, cell, msec)
#define bcr_deq(cce, cell, msec)                bcr_get(1, cce, cell, msec)

/* Locks */
BCR_API void **bcr_acqrl(int cce, int cell, int msec);
BCR_API int bcr_rlsrl(void **rgid);
BCR_API void **bcr_acqwl(int cce, int cell, int msec);
BCR_API int bcr_rlswl(void **rgid, int cce, int cell);
BCR_API int bcr_wl2rl(void **rgid, int cce, int cell);

/* Copying */
BCR_API int bcr_copyfm(const int *copydesc, int repl, void **rgid, int offset, void *buffer, int buflen);
BCR_API int bcr_copyto(const int *copydesc, int repl, void **rgid, int offset, const void *buffer,
                       int buflen);

/* Additions of this project */
BCR_API const char *bcr_strerror(int code);
BCR_API int bcr_rgerror(void **rgid);
BCR_API int bcr_putwait(int msec);
BCR_API int bcr_putdone(int msec);
BCR_API int bcr_celllen(int cce, int cell);
BCR_API int bcr_fd(int cell);

#ifdef __cplusplus
}
#endif

#endif
