/* SPDX-License-Identifier: MIT */
/* How a CCE gets its memory from the daemon: numbers for segments that it has made, pages of cells,
 * and descriptors of the segments of others. core calls these through its table of functions. The
 * host segment comes with welcome (join.c). */
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/client.h"

static int ask_for_number(void *up, enum bcri_control_type type, int fd, uint64_t size_bytes,
                          enum bcri_seg_kind kind, uint32_t *seg_out)
{
    struct bcri_control request = {
        .type = type, .present = BCRI_HAS(size) | BCRI_HAS(kind), .size = size_bytes, .kind = (uint32_t)kind};
    struct bcri_incoming in;
    const int code = bcri_client_ask(up, &request, fd, &in);
    if (code != 0)
        return code;
    if ((in.message.present & BCRI_HAS(seg)) == 0)
        return bcrE_NOMEM;
    *seg_out = in.message.seg;
    return 0;
}

static int segment_add(void *up, int fd, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    const int code = ask_for_number(up, BCRI_MSG_segment_add, fd, size_bytes, kind, seg_out);
    if (code == 0)
        close(fd);
    return code;
}

static int segment_again(void *up, uint64_t size_bytes, enum bcri_seg_kind kind, uint32_t *seg_out)
{
    return ask_for_number(up, BCRI_MSG_segment_again, -1, size_bytes, kind, seg_out);
}

static int pages_take(void *up, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS], struct bcri_pages *out)
{
    struct bcri_control request = {.type = BCRI_MSG_pages_take,
                                   .present = BCRI_HAS(index) | BCRI_HAS(size) | BCRI_HAS(rings),
                                   .index = owner,
                                   .size = pages[BCRI_PAGE_HEADERS],
                                   .rings = pages[BCRI_PAGE_RINGS]};
    struct bcri_incoming in;
    int code = bcri_client_call(up, &request, -1, &in);
    if (code != 0)
        return code;
    *out = (struct bcri_pages){.ref = {in.message.cell, in.message.rings}, .fd = {-1, -1}};
    unsigned came = 0;
    for (int sort = 0; sort < BCRI_PAGE_SORTS; sort++)
        if (out->ref[sort] != BCRI_REF_NONE)
            out->fd[sort] = bcri_incoming_take(&in, came++);
    bcri_incoming_close(&in);
    if (in.message.type != BCRI_MSG_reply || (in.message.present & BCRI_HAS(cell)) == 0)
        return in.message.status != 0 ? (int)in.message.status : bcrE_ENLIST;
    return 0;
}

static void pages_back(void *up, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    bcri_client_tell(up,
                     &(const struct bcri_control){.type = BCRI_MSG_pages_back,
                                                  .present = BCRI_HAS(cell) | BCRI_HAS(rings),
                                                  .cell = ref[BCRI_PAGE_HEADERS],
                                                  .rings = ref[BCRI_PAGE_RINGS]},
                     true);
}

static int segment_fd(void *up, uint32_t seg)
{
    struct bcri_control request = {.type = BCRI_MSG_segment_fd, .present = BCRI_HAS(seg), .seg = seg};
    struct bcri_incoming in;
    int code = bcri_client_call(up, &request, -1, &in);
    if (code != 0)
        return -code;
    int fd = bcri_incoming_take(&in, 0);
    bcri_incoming_close(&in);
    if (fd >= 0)
        return fd;
    return in.message.status != 0 ? -(int)in.message.status : -bcrE_NOMEM;
}

static void segment_freed(void *up, uint32_t seg)
{
    bcri_client_tell(
        up,
        &(const struct bcri_control){.type = BCRI_MSG_segment_freed, .present = BCRI_HAS(seg), .seg = seg},
        true);
}

/* Called in the middle of an operation, so it must not wait: without room in the socket there is no
 * note. */
static void send_note(void *up, const char *text)
{
    bcri_client_tell(up,
                     &(const struct bcri_control){
                         .type = BCRI_MSG_note, .present = BCRI_HAS(text), .text = bcri_view_of(text)},
                     false);
}

static bool idle_answer(void *up, uint32_t question, uint64_t period, bool found_none)
{
    const struct bcri_control message = {.type = BCRI_MSG_idle,
                                         .present = BCRI_HAS(id) | BCRI_HAS(status) | BCRI_HAS(moves),
                                         .id = question,
                                         .status = found_none,
                                         .moves = period};
    return bcri_client_tell(up, &message, false);
}

const struct bcri_upcalls bcri_client_upcalls = {.segment_add = segment_add,
                                                 .segment_again = segment_again,
                                                 .pages_take = pages_take,
                                                 .pages_back = pages_back,
                                                 .segment_fd = segment_fd,
                                                 .segment_freed = segment_freed,
                                                 .note = send_note,
                                                 .idle_answer = idle_answer};
