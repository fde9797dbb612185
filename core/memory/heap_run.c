/* SPDX-License-Identifier: MIT */
/* Blocks above BCRI_HEAP_SPAN_MAX: a run of pages, and a header from a span of bare headers.
 *
 * The last few runs that were freed stay as they are, header and pages, and serve the next request
 * for as many pages: their memory is warm in the cache, and a loop over a few buffers does not
 * touch the tree. They are cooled, that is merged with their neighbours, before pages are taken.
 * They are also cooled when the area is empty, unless there is only one and it lies where the first
 * run of an empty area would lie. */
#include "heap_private.h"

static void set_block(struct bcri_span *span, uint32_t i, uint32_t first, uint32_t pages)
{
    struct bcri_region_shm *region = bcri_span_header(span, i);
    uint64_t bytes = (uint64_t)pages * BCRI_HEAP_PAGE;
    region->capacity = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    region->data_16 = (uint32_t)((uint64_t)first * BCRI_HEAP_PAGE / 16);
    span->run[i].first = first;
    span->run[i].pages = pages;
}

static bool lies_first(const struct bcri_heap_area *area, struct bcri_warm_run warm)
{
    return warm.span->first_unit == area->first_page * BCRI_PAGE_UNITS &&
           warm.span->run[warm.i].first == area->first_page + 1;
}

bool bcri_run_is_warm(const struct bcri_heap_area *area, uint32_t pages)
{
    for (uint32_t k = 0; k < area->warm_count; k++)
        if (area->warm[k].span->run[area->warm[k].i].pages == pages)
            return true;
    return false;
}

static bool take_warm(struct bcri_heap_area *area, uint32_t pages, struct bcri_span **span_out,
                      uint32_t *i_out)
{
    if (area->charged == 0 && area->warm_count != 0 &&
        !(area->warm_count == 1 && lies_first(area, area->warm[0])))
        bcri_runs_cool(area);
    for (uint32_t k = area->warm_count; k-- > 0;) {
        struct bcri_warm_run warm = area->warm[k];
        if (warm.span->run[warm.i].pages != pages)
            continue;
        area->warm_count--;
        for (uint32_t j = k; j < area->warm_count; j++)
            area->warm[j] = area->warm[j + 1];
        *span_out = warm.span;
        *i_out = warm.i;
        return true;
    }
    return false;
}

bool bcri_run_alloc(struct bcri_ctx *ctx, struct bcri_heap_area *area, uint32_t pages,
                    struct bcri_span **span_out, uint32_t *i_out)
{
    if (take_warm(area, pages, span_out, i_out))
        return true;
    bcri_area_trim(area);
    struct bcri_span *span = bcri_span_get(ctx, area, BCRI_CLASS_HEADERS);
    uint32_t first = span != NULL ? bcri_pages_take(area, pages) : 0;
    if (first == 0)
        return false;
    uint32_t i = span->stack[--span->top];
    span->charge[i] = BCRI_RUN_CHARGE;
    set_block(span, i, first, pages);
    *span_out = span;
    *i_out = i;
    return true;
}

/* Merges the oldest warm run with its neighbours and frees its header. */
static void cool_oldest(struct bcri_heap_area *area)
{
    struct bcri_warm_run warm = area->warm[0];
    area->warm_count--;
    for (uint32_t j = 0; j < area->warm_count; j++)
        area->warm[j] = area->warm[j + 1];
    struct bcri_run *run = &warm.span->run[warm.i];
    bcri_pages_give(area, run->first, run->pages);
    run->pages = 0;
    (void)bcri_span_push(warm.span, warm.i);
}

void bcri_runs_cool(struct bcri_heap_area *area)
{
    while (area->warm_count != 0)
        cool_oldest(area);
}

bool bcri_run_free(struct bcri_span *span, uint32_t i)
{
    struct bcri_heap_area *area = span->area;
    struct bcri_run *run = &span->run[i];
    if (run->charge == 0)
        return false;
    area->charged -= run->charge;
    run->charge = 0;
    if (area->warm_count == BCRI_WARM_RUNS)
        cool_oldest(area);
    area->warm[area->warm_count++] = (struct bcri_warm_run){span, i};
    return true;
}

bool bcri_run_resize(struct bcri_span *span, uint32_t i, uint32_t pages)
{
    struct bcri_heap_area *area = span->area;
    struct bcri_run *run = &span->run[i];
    if (pages < run->pages) {
        bcri_pages_give(area, run->first + pages, run->pages - pages);
    } else if (pages > run->pages) {
        uint32_t behind = run->first + run->pages;
        if (!bcri_pages_take_at(area, behind, pages - run->pages)) {
            bcri_area_trim(area);
            if (!bcri_pages_take_at(area, behind, pages - run->pages))
                return false;
        }
    }
    set_block(span, i, run->first, pages);
    return true;
}
