/* SPDX-License-Identifier: MIT */
/* Areas of the comm heap: how much memory an account of `nbytes` needs, where areas lie in
 * segments, how they are made and removed. Several areas share a segment: it is made larger than
 * its first area needs, and only the pages of its areas are reserved. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/private.h"
#include "bcri/segment.h"
#include "heap_private.h"

/* data_16 reaches 64 GiB into a segment. */
#define AREA_MAX_BYTES (UINT64_C(40) << 30)
#define SPARE_BYTES    (UINT64_C(64) << 10)
#define RESERVE_BYTES  (UINT64_C(64) << 10)
#define SEG_ROOM_BYTES (UINT64_C(8) << 20)
#define SEG_TWICE_MAX  (UINT64_C(256) << 20)
#define SEG_SIZES_LOG2 3u /* to a doubling */

static uint64_t pages_of(uint64_t bytes)
{
    return (bytes + BCRI_HEAP_PAGE - 1) / BCRI_HEAP_PAGE;
}

/* The smallest length of a block of this class, rounded up to 64. */
static uint64_t least_rounded(uint32_t class)
{
    return class == 0 || class == BCRI_CLASS_SMALL ? 64
                                                   : (uint64_t)bcri_heap_classes[class - 1].data_bytes + 64;
}

/* Pages for `count` page runs of `pages` each, headers included. */
static uint64_t pages_for_runs(uint64_t count, uint64_t pages)
{
    const struct bcri_heap_class *headers = &bcri_heap_classes[BCRI_CLASS_HEADERS];
    return count * pages + (count + headers->blocks - 1) / headers->blocks * headers->pages;
}

/* Pages for `blocks` blocks of one class. An empty area may still have two spans that lie anywhere,
 * the current one and a spare. Each of them may leave a hole of less than a span. */
static uint64_t pages_for_class(const struct bcri_heap_class *class, uint64_t blocks)
{
    uint64_t spans = (blocks + class->blocks - 1) / class->blocks;
    uint64_t holes = spans > 2 ? 2 : spans - 1;
    return spans * class->pages + holes * (class->pages - 1u);
}

/* The most pages that page runs of any one size can need whose rounded lengths add up to
 * `rounded`. */
static uint64_t pages_for_any_run(uint64_t rounded)
{
    const uint64_t exact = 64;
    uint64_t worst = 0;
    for (uint64_t p = BCRI_HEAP_SPAN_MAX / BCRI_HEAP_PAGE + 1; p <= exact; p++) {
        uint64_t pages = pages_for_runs(rounded / ((p - 1) * BCRI_HEAP_PAGE + 64), p);
        worst = pages > worst ? pages : worst;
    }
    /* Larger runs have p pages for a length of (p - 1) * 4096 + 64 or more. The ratio falls with p,
     * so the ratio for 65 pages bounds them all. */
    uint64_t least = exact * BCRI_HEAP_PAGE + 64;
    if (rounded >= least) {
        uint64_t count = rounded / least;
        uint64_t pages = count * (exact + 1) + rounded % least * (exact + 1) / least + 2;
        pages += pages_for_runs(count, 0);
        worst = pages > worst ? pages : worst;
    }
    return worst;
}

/* Promise: in an empty area of so many pages, blocks of any one size can be allocated until their
 * lengths, each rounded up to 64, reach `rounded`. The sizes that are least for their class need
 * most: then all of `rounded` becomes blocks of that class.
 *   - up to 64 bytes: rounded to 64, takes 32 + 64, and a page holds 42 blocks. This is 1.53 times
 *     `rounded`, the worst in a large area;
 *   - the least size of a class above: 1.28 times at 65 bytes, under 1.19 from 129 bytes up;
 *   - page runs of p pages: rounded to (p - 1) * 4096 + 64 at least, which is 1.065 times at p =
 *     17, and less for larger p.
 * In a small area the worst size is the one of which just more blocks fit than one span has, so
 * that two spans are needed. Runs of one size leave no holes, since an empty area is one free run
 * except for what pages_for_class accounts for. The result also has room for the first span of
 * every class that fits, in proportion to the area, so that a small area can serve a mix of
 * sizes. */
static uint64_t pages_for_rounded(uint64_t rounded)
{
    uint64_t worst = pages_for_any_run(rounded);
    uint64_t with_holes = worst;
    uint64_t first_spans = 0;
    for (uint32_t class = 0; class < BCRI_CLASS_HEADERS; class ++) {
        const struct bcri_heap_class *geometry = &bcri_heap_classes[class];
        uint64_t blocks = rounded / least_rounded(class);
        if (blocks == 0)
            continue;
        uint64_t spans = (blocks + geometry->blocks - 1) / geometry->blocks;
        uint64_t pages = pages_for_class(geometry, blocks);
        worst = spans * geometry->pages > worst ? spans * geometry->pages : worst;
        with_holes = pages > with_holes ? pages : with_holes;
        first_spans += geometry->pages;
    }
    uint64_t slack = pages_of(rounded / 4);
    uint64_t mixed = worst + (first_spans < slack ? first_spans : slack);
    return mixed > with_holes ? mixed : with_holes;
}

/* Promise: in an empty area, `nrgns` blocks of any one size, and some hundred more, can be
 * allocated while the account of `nbytes` has room for them; of 193 bytes or more, any number.
 * Rounding up takes less than 64 bytes of a block, a block of up to 32 bytes takes 64, and 1.53
 * times their length is enough for all blocks from 193 bytes up. Never less than 128 bytes for each
 * of `nrgns`, and SPARE_BYTES, are added to `nbytes`. */
uint64_t bcri_heap_pages_for(uint64_t nbytes, uint64_t nrgns)
{
    uint64_t pages = pages_for_rounded(nbytes + nrgns * 64);
    uint64_t least = pages_of(nbytes + nrgns * 128);
    return (pages > least ? pages : least) + pages_of(SPARE_BYTES);
}

static void *page_array(uint64_t pages, size_t item_bytes)
{
    void *array = mmap(NULL, (size_t)pages * item_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return array == MAP_FAILED ? NULL : array;
}

static void free_seg(struct bcri_heap_seg *seg)
{
    if (seg->span_of != NULL)
        munmap(seg->span_of, seg->pages * sizeof(void *));
    if (seg->run != NULL)
        munmap(seg->run, seg->pages * sizeof *seg->run);
    bcri_private_free(seg);
}

static int room_for_seg(struct bcri_heap *heap, uint32_t seg)
{
    if (seg < heap->own_count)
        return 0;
    uint32_t count = heap->own_count * 2 > seg + 1 ? heap->own_count * 2 : seg + 1;
    struct bcri_own_seg *own = bcri_private_resize(heap->own, count * sizeof *own);
    if (own == NULL)
        return bcrE_NOMEM;
    memset(own + heap->own_count, 0, (count - heap->own_count) * sizeof *own);
    heap->own = own;
    heap->own_count = count;
    return 0;
}

/* How large to make a segment that needs `bytes` now. Address space is scarce where pointers have
 * 32 bits, since other CCEs map the whole segment. There the first segment is small, and each is
 * twice as large as the one before. */
static uint64_t seg_size(const struct bcri_heap *heap, uint64_t bytes)
{
    uint64_t room = SEG_ROOM_BYTES, size = bytes < SEG_TWICE_MAX ? bytes * 2 : bytes;
    if (sizeof(void *) != 8) {
        room = SEG_ROOM_BYTES >> 5;
        for (const struct bcri_heap_seg *seg = heap->segs; seg != NULL && room < SEG_ROOM_BYTES;
             seg = seg->next)
            room *= 2;
        size = bytes;
    }
    return bcri_size_sort(size < room ? room : size, SEG_SIZES_LOG2);
}

/* The system gives and takes pages of its own size. */
static uint64_t page_step(void)
{
    long bytes = sysconf(_SC_PAGESIZE);
    return bytes > (long)BCRI_HEAP_PAGE ? (uint64_t)bytes / BCRI_HEAP_PAGE : 1;
}

static uint64_t round_up(uint64_t value, uint64_t step)
{
    return (value + step - 1) / step * step;
}

/* The first page of a segment that an area may have: it follows the directory, the `mark` bytes and
 * the table of spans. */
static uint64_t first_page(uint64_t seg_bytes)
{
    uint64_t pages = seg_bytes / BCRI_HEAP_PAGE;
    return round_up(pages_of(bcri_heap_span_table(pages) + pages * sizeof(uint32_t)), page_step());
}

/* Makes a segment of `size` bytes and reserves the first `reserve_bytes` of it, its front or a part of
 * that at least, then `piece` unless that is NULL. */
static int make_seg(struct bcri_ctx *ctx, uint64_t size, uint64_t reserve_bytes,
                    struct bcri_heap_piece *piece, struct bcri_heap_seg **seg_out)
{
    struct bcri_heap *heap = ctx->heap;
    struct bcri_heap_seg *seg = bcri_private_zeroed(1, sizeof *seg);
    if (seg == NULL)
        return bcrE_NOMEM;
    seg->pages = (uint32_t)(size / BCRI_HEAP_PAGE);
    seg->first = (uint32_t)first_page(size);
    seg->is_pool = piece != NULL;
    seg->span_of = page_array(seg->pages, sizeof(void *));
    seg->run = page_array(seg->pages, sizeof *seg->run);
    int error = bcrE_NOMEM;
    if (seg->span_of == NULL || seg->run == NULL)
        goto fail;
    error = bcri_segment_new(ctx, BCRI_SEG_HEAP, size, reserve_bytes, &seg->seg);
    if (error != 0)
        goto fail;
    error = room_for_seg(heap, seg->seg);
    if (error == 0 && piece != NULL) {
        piece->seg = seg->seg;
        error = bcri_heap_piece_reserve(ctx, piece);
    }
    if (error != 0) {
        bcri_segment_keep(ctx, seg->seg, BCRI_SEG_HEAP, size);
        goto fail;
    }
    seg->base = bcri_segment_map(ctx, seg->seg);
    seg->dir = (struct bcri_heap_dir_shm *)(void *)seg->base;
    seg->span_word = (_Atomic uint32_t *)(void *)(seg->base + bcri_heap_span_table(seg->pages));
    seg->dir->owner = ctx->index;
    bcri_store(&seg->dir->end, piece != NULL ? piece->end : 0);
    bcri_store_release(&seg->dir->magic, heap->room_waits != 0 ? BCRI_HEAP_WANTED : BCRI_HEAP_MAGIC);
    heap->own[seg->seg] = (struct bcri_own_seg){seg->span_of, seg->pages};
    seg->next = heap->segs;
    heap->segs = seg;
    *seg_out = seg;
    return 0;

fail:
    free_seg(seg);
    return error;
}

/* Makes a segment and reserves in it the front and `pages` behind it. */
static int new_seg(struct bcri_ctx *ctx, uint64_t pages, struct bcri_heap_seg **seg_out)
{
    uint64_t bytes = pages * BCRI_HEAP_PAGE, size;
    do {
        size = seg_size(ctx->heap, bytes);
        bytes = (first_page(size) + pages) * BCRI_HEAP_PAGE;
    } while (bytes > size);
    return make_seg(ctx, size, bytes, NULL, seg_out);
}

/* The lowest `pages` pages between the areas of a segment, or 0. */
static uint64_t find_gap(const struct bcri_heap *heap, const struct bcri_heap_seg *seg, uint64_t pages)
{
    uint64_t at = seg->first;
    for (const struct bcri_heap_area *area = heap->areas; area != NULL; area = area->next)
        if (area->seg == seg && at + pages > area->first_page)
            at = round_up(area->end_page, page_step());
    return at + pages <= seg->pages ? at : 0;
}

/* Finds or makes room for an area; on success its pages are reserved and read as zero. */
static int place_area(struct bcri_ctx *ctx, uint64_t pages, struct bcri_heap_seg **seg_out,
                      uint64_t *first_out)
{
    for (struct bcri_heap_seg *seg = ctx->heap->segs; seg != NULL; seg = seg->next) {
        uint64_t first = seg->is_pool ? 0 : find_gap(ctx->heap, seg, pages);
        if (first == 0)
            continue;
        int error =
            bcri_segment_extend(ctx, seg->seg, first * BCRI_HEAP_PAGE, (uint64_t)pages * BCRI_HEAP_PAGE);
        if (error == 0) {
            *seg_out = seg;
            *first_out = first;
        }
        return error;
    }
    int error = new_seg(ctx, pages, seg_out);
    if (error == 0)
        *first_out = (*seg_out)->first;
    return error;
}

static int ready_heap(struct bcri_ctx *ctx)
{
    if (ctx->heap == NULL)
        ctx->heap = bcri_private_zeroed(1, sizeof *ctx->heap);
    return ctx->heap != NULL ? 0 : bcrE_NOMEM;
}

/* Adds an area with `pages` pages from `first` on, which are reserved. */
static void add_area(struct bcri_heap *heap, struct bcri_heap_area *area, uint64_t limit, uint64_t first,
                     uint64_t pages)
{
    for (uint32_t class = 0; class < BCRI_HEAP_CLASSES; class ++)
        area->current[class] = (struct bcri_span *)&bcri_span_none;
    area->limit = limit;
    area->handle = ++heap->last_handle;
    area->first_page = (uint32_t)first;
    area->end_page = (uint32_t)(first + pages);
    bcri_pages_give(area, area->first_page, (uint32_t)pages);
    struct bcri_heap_area **link = &heap->areas; /* ordered by first page, as find_gap needs it */
    while (*link != NULL && (*link)->first_page < area->first_page)
        link = &(*link)->next;
    area->next = *link;
    *link = area;
}

static int new_area(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t nrgns, struct bcri_heap_area **area_out)
{
    if (nbytes > AREA_MAX_BYTES || nrgns * UINT64_C(128) > AREA_MAX_BYTES - nbytes || ready_heap(ctx) != 0)
        return bcrE_NOMEM;
    uint64_t data = bcri_heap_pages_for(nbytes, nrgns);
    struct bcri_heap_area *area = bcri_private_zeroed(1, sizeof *area);
    if (area == NULL)
        return bcrE_NOMEM;
    uint64_t first;
    int error = place_area(ctx, data, &area->seg, &first);
    if (error != 0) {
        bcri_private_free(area);
        return error;
    }
    add_area(ctx->heap, area, nbytes, first, data);
    *area_out = area;
    return 0;
}

int bcri_heap_add(struct bcri_ctx *ctx, uint64_t nbytes, uint32_t nrgns, uint32_t *handle_out)
{
    if (nbytes == 0)
        return bcrE_ARG;
    struct bcri_heap_area *area;
    int error = new_area(ctx, nbytes, nrgns, &area);
    if (error != 0)
        return error;
    ctx->heap->area = area;
    *handle_out = area->handle;
    return 0;
}

int bcri_heap_add_reserve(struct bcri_ctx *ctx)
{
    struct bcri_heap_area *area;
    int error = new_area(ctx, RESERVE_BYTES, 0, &area);
    if (error == 0)
        area->reserve = true;
    return error;
}

/* ---- pools ---- */

int bcri_heap_pool_add(struct bcri_ctx *ctx, uint64_t bytes, uint64_t most_bytes, uint32_t *area_out)
{
    if (bytes == 0 || bytes > most_bytes)
        return bcrE_ARG;
    if (most_bytes > AREA_MAX_BYTES || ready_heap(ctx) != 0)
        return bcrE_NOMEM;
    struct bcri_heap_area *area = bcri_private_zeroed(1, sizeof *area);
    if (area == NULL)
        return bcrE_NOMEM;
    const uint64_t pages = pages_of(bytes), most = pages_of(most_bytes);
    uint64_t size = most * BCRI_HEAP_PAGE;
    while (size < (first_page(size) + most) * BCRI_HEAP_PAGE)
        size = (first_page(size) + most) * BCRI_HEAP_PAGE;
    const uint64_t first = first_page(size);
    struct bcri_heap_piece piece = {.seg_pages = (uint32_t)(size / BCRI_HEAP_PAGE),
                                    .first = (uint32_t)first,
                                    .end = (uint32_t)(first + pages)};
    const int error = make_seg(ctx, size, BCRI_HEAP_PAGE, &piece, &area->seg);
    if (error != 0) {
        bcri_private_free(area);
        return error;
    }
    add_area(ctx->heap, area, most * BCRI_HEAP_PAGE, first, pages);
    ctx->heap->area = area;
    *area_out = area->handle;
    return 0;
}

static struct bcri_heap_area *pool_of(const struct bcri_ctx *ctx, uint32_t handle)
{
    struct bcri_heap_area *area = ctx->heap != NULL ? ctx->heap->areas : NULL;
    while (area != NULL && (area->handle != handle || !area->seg->is_pool))
        area = area->next;
    return area;
}

bool bcri_heap_pool_next(struct bcri_ctx *ctx, uint32_t handle, uint64_t bytes,
                         struct bcri_heap_piece *piece_out)
{
    const struct bcri_heap_area *area = pool_of(ctx, handle);
    const uint64_t pages = pages_of(bytes);
    if (area == NULL || area->end_page == area->seg->pages || pages == 0)
        return false;
    const uint64_t left = area->seg->pages - area->end_page;
    *piece_out = (struct bcri_heap_piece){.seg = area->seg->seg,
                                          .seg_pages = area->seg->pages,
                                          .first = area->end_page,
                                          .end = area->end_page + (uint32_t)(pages < left ? pages : left)};
    return true;
}

/* The marks, the words and the pages themselves. */
int bcri_heap_piece_reserve(struct bcri_ctx *any, const struct bcri_heap_piece *piece)
{
    const uint64_t first = piece->first, count = piece->end - piece->first;
    int error = bcri_segment_extend(any, piece->seg, sizeof(struct bcri_heap_dir_shm) + first, count);
    if (error == 0)
        error = bcri_segment_extend(any, piece->seg,
                                    bcri_heap_span_table(piece->seg_pages) + first * sizeof(uint32_t),
                                    count * sizeof(uint32_t));
    if (error == 0)
        error = bcri_segment_extend(any, piece->seg, first * BCRI_HEAP_PAGE, count * BCRI_HEAP_PAGE);
    return error;
}

void bcri_heap_pool_grow(struct bcri_ctx *ctx, uint32_t handle, const struct bcri_heap_piece *piece)
{
    struct bcri_heap_area *area = pool_of(ctx, handle);
    if (area == NULL || area->seg->seg != piece->seg || area->end_page != piece->first)
        return;
    area->end_page = piece->end;
    bcri_store_release(&area->seg->dir->end, piece->end);
    bcri_pages_give(area, piece->first, piece->end - piece->first);
}

/* ---- removing ---- */

static struct bcri_heap_area *first_of_program(const struct bcri_heap *heap)
{
    struct bcri_heap_area *area = heap->areas;
    while (area != NULL && area->reserve)
        area = area->next;
    return area;
}

void bcri_area_trim(struct bcri_heap_area *area)
{
    bcri_runs_cool(area);
    bcri_spans_trim(area);
}

int bcri_heap_remove(struct bcri_ctx *ctx, uint32_t handle)
{
    struct bcri_heap *heap = ctx->heap;
    struct bcri_heap_area **link = heap != NULL ? &heap->areas : NULL;
    while (link != NULL && *link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    if (link == NULL || *link == NULL)
        return bcrE_ARG;
    struct bcri_heap_area *area = *link;
    bcri_area_sweep(heap, area, true);
    if (area->charged != 0)
        return bcrE_BUSY;
    bcri_area_trim(area);
    *link = area->next;
    if (heap->area == area)
        heap->area = first_of_program(heap);
    struct bcri_heap_seg *seg = area->seg;
    memset(seg->run + area->first_page, 0, (area->end_page - area->first_page) * sizeof *seg->run);
    bcri_segment_discard(ctx, seg->seg, (uint64_t)area->first_page * BCRI_HEAP_PAGE,
                         (uint64_t)(area->end_page - area->first_page) * BCRI_HEAP_PAGE);
    bcri_private_free(area);
    return 0;
}

static void free_spans(struct bcri_heap_area *area)
{
    struct bcri_span **span_of = area->seg->span_of;
    for (uint32_t page = area->first_page; page < area->end_page;) {
        struct bcri_span *span = span_of[page];
        page += span != NULL ? bcri_heap_classes[span->class].pages : 1;
        if (span != NULL)
            bcri_private_free(span->run);
        bcri_private_free(span);
    }
}

void bcri_heap_fini(struct bcri_ctx *ctx)
{
    struct bcri_heap *heap = ctx->heap;
    if (heap == NULL)
        return;
    while (heap->areas != NULL) {
        struct bcri_heap_area *area = heap->areas;
        heap->areas = area->next;
        free_spans(area);
        bcri_private_free(area);
    }
    while (heap->segs != NULL) {
        struct bcri_heap_seg *seg = heap->segs;
        heap->segs = seg->next;
        free_seg(seg);
    }
    bcri_private_free(heap->own);
    bcri_private_free(heap);
    ctx->heap = NULL;
}
