/* SPDX-License-Identifier: MIT */
/* Rooms for cells: host.h. Segments of kind CELLS are the daemon's, and many CCEs have rooms in each.
 *
 * A room has a shape for ever: what has once been a cell's lock there is never anything else, whoever has the room. That is what
 * lets a process that has looked a cell up long ago lock what it takes for that one, and find another generation there
 * (docs/layout/area.md). So rooms are given out again by shape, and a segment that has been carved stays carved. */
#include <stdlib.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/segment.h"
#include "host_private.h"

#define SEGMENT_BYTES (UINT64_C(4) << 20)   /* address room, not memory */
#define RESERVE_MOST  (UINT64_C(256) << 10) /* with the registry locked */
#define SHAPES_LOG2   8u

struct room {
    struct room *next;
    uint64_t shape;
    uint64_t bytes;
    bcri_ref ref;
};

struct rooms {
    struct room *free[1u << SHAPES_LOG2]; /* by shape */
    struct room **of;                     /* by index of the CCE that has them */
    size_t of_count;
    uint32_t seg; /* where the next one is carved; 0: none yet */
    uint64_t seg_bytes, seg_used;
};

struct rooms *bcri_rooms_init(void)
{
    return calloc(1, sizeof(struct rooms));
}

static void free_list(struct room *room)
{
    while (room != NULL) {
        struct room *next = room->next;
        free(room);
        room = next;
    }
}

void bcri_rooms_fini(struct rooms *rooms)
{
    if (rooms == NULL)
        return;
    for (size_t i = 0; i < 1u << SHAPES_LOG2; i++)
        free_list(rooms->free[i]);
    for (size_t i = 0; i < rooms->of_count; i++)
        free_list(rooms->of[i]);
    free(rooms->of);
    free(rooms);
}

static struct room **free_of_shape(struct rooms *rooms, uint64_t shape)
{
    return &rooms->free[shape * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SHAPES_LOG2)];
}

static bool room_for_owner(struct rooms *rooms, uint32_t owner)
{
    if (owner < rooms->of_count)
        return true;
    size_t count = rooms->of_count != 0 ? rooms->of_count : 64;
    while (count <= owner)
        count *= 2;
    struct room **of = realloc(rooms->of, count * sizeof(struct room *));
    if (of == NULL)
        return false;
    for (size_t i = rooms->of_count; i < count; i++)
        of[i] = NULL;
    rooms->of = of;
    rooms->of_count = count;
    return true;
}

static int new_segment(struct bcri_host *host, uint64_t bytes, uint32_t *seg_out)
{
    int fd = bcri_segment_create(bytes);
    if (fd < 0)
        return bcrE_NOMEM;
    int error = bcri_host_add_locked(host, fd, bytes, BCRI_SEG_CELLS, BCRI_ENL_INDEX, seg_out);
    if (error != 0)
        close(fd);
    return error;
}

/* The next addresses of the segment, or of a new one. Of two that have room left the one with more is gone on with. */
static int carve(struct bcri_host *host, uint64_t bytes, bcri_ref *ref_out)
{
    struct rooms *rooms = host->rooms;
    if (rooms->seg != 0 && bytes <= rooms->seg_bytes - rooms->seg_used) {
        *ref_out = bcri_ref_make(rooms->seg, rooms->seg_used);
        rooms->seg_used += bytes;
        return 0;
    }
    uint64_t all = bytes > SEGMENT_BYTES / 2 ? bytes : SEGMENT_BYTES;
    uint32_t seg;
    int error = new_segment(host, all, &seg);
    if (error != 0)
        return error;
    *ref_out = bcri_ref_make(seg, 0);
    if (rooms->seg == 0 || all - bytes > rooms->seg_bytes - rooms->seg_used) {
        rooms->seg = seg;
        rooms->seg_bytes = all;
        rooms->seg_used = bytes;
    }
    return 0;
}

/* Takes a free one of the shape off its list, or carves one. */
static int find(struct bcri_host *host, uint64_t bytes, uint64_t shape, struct room **room_out)
{
    struct rooms *rooms = host->rooms;
    struct room **at = free_of_shape(rooms, shape);
    while (*at != NULL && ((*at)->shape != shape || (*at)->bytes != bytes))
        at = &(*at)->next;
    struct room *room = *at;
    if (room != NULL) {
        *at = room->next;
    } else {
        room = malloc(sizeof *room);
        if (room == NULL)
            return bcrE_NOMEM;
        *room = (struct room){.shape = shape, .bytes = bytes};
        int error = carve(host, bytes, &room->ref);
        if (error != 0) {
            free(room);
            return error;
        }
    }
    *room_out = room;
    return 0;
}

static void push(struct room **list, struct room *room)
{
    room->next = *list;
    *list = room;
}

static int take(struct bcri_host *host, uint32_t owner, uint64_t bytes, uint64_t shape, bool reserve,
                bcri_ref *ref_out)
{
    struct rooms *rooms = host->rooms;
    struct room *room;
    if (!room_for_owner(rooms, owner))
        return bcrE_NOMEM;
    int error = find(host, bytes, shape, &room);
    if (error != 0)
        return error;
    if (reserve)
        error = bcri_segment_reserve(host->segments[bcri_ref_seg(room->ref)].fd, bcri_ref_offset(room->ref),
                                     bytes);
    push(error == 0 ? &rooms->of[owner] : free_of_shape(rooms, shape), room);
    if (error == 0)
        *ref_out = room->ref;
    return error;
}

int bcri_host_room_take(struct bcri_host *host, uint32_t owner, uint64_t bytes, uint64_t shape, bool reserve,
                        bcri_ref *ref_out)
{
    if (owner >= BCRI_CCE_MAX || bytes == 0 || bytes % BCRI_HOST_PAGE != 0 ||
        (reserve && bytes > RESERVE_MOST))
        return bcrE_ARG;
    pthread_mutex_lock(&host->mutex);
    int error = take(host, owner, bytes, shape, reserve, ref_out);
    pthread_mutex_unlock(&host->mutex);
    return error;
}

static bool discard(const struct bcri_host *host, const struct room *room)
{
    return bcri_host_punch(host, bcri_ref_seg(room->ref), bcri_ref_offset(room->ref), room->bytes);
}

static struct room *first_of(const struct bcri_host *host, uint32_t owner)
{
    return owner < host->rooms->of_count ? host->rooms->of[owner] : NULL;
}

bool bcri_host_has_rooms(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    const bool has = first_of(host, owner) != NULL;
    pthread_mutex_unlock(&host->mutex);
    return has;
}

void bcri_host_rooms_discard(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    for (const struct room *room = first_of(host, owner); room != NULL; room = room->next)
        (void)discard(host, room);
    pthread_mutex_unlock(&host->mutex);
}

void bcri_host_rooms_reuse(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    struct rooms *rooms = host->rooms;
    struct room *room = first_of(host, owner);
    if (room != NULL)
        rooms->of[owner] = NULL;
    while (room != NULL) {
        struct room *next = room->next;
        if (discard(host, room))
            push(free_of_shape(rooms, room->shape), room);
        else
            free(room); /* its addresses are lost to this program */
        room = next;
    }
    pthread_mutex_unlock(&host->mutex);
}
