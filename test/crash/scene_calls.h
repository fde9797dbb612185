/* SPDX-License-Identifier: MIT */
/* Calls of scenes in which others are at the same cell, so that each may find it full, empty, or as
 * it was: that is no failure. */
#ifndef BCR_TEST_SCENE_CALLS_H
#define BCR_TEST_SCENE_CALLS_H

#include "scene.h"

static inline bool enq(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static inline bool enq_nofree(struct scene *scene)
{
    return bcr_enq(scene->id[0], scene->home, scene->cell, bcr_NOFREE) == 0 || bcr_errno == bcrE_FULL;
}
static inline bool write_it(struct scene *scene)
{
    return bcr_write(scene->id[0], scene->home, scene->cell, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static inline bool enqm(struct scene *scene)
{
    const int cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_enqm(scene->id[0], 2, cells, bcr_FREE) == 0 || bcr_errno == bcrE_FULL;
}
static inline bool deq(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, 0) != NULL || bcr_errno == bcrE_TIMEOUT;
}
static inline bool deq_pending(struct scene *scene)
{
    return bcr_deq(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static inline bool read_pending(struct scene *scene)
{
    return bcr_read(scene->home, scene->cell, bcr_PENDING) != NULL;
}
static inline bool zap(struct scene *scene)
{
    return bcr_zap(scene->home, scene->cell) == 0;
}
static inline bool lock_and_release(struct scene *scene)
{
    bcr_region rgid = bcr_acqwl(scene->home, scene->cell, 0);
    return rgid == NULL || bcr_rlswl(rgid, scene->home, scene->cell) == 0;
}

#endif
