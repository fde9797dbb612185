/* SPDX-License-Identifier: MIT */
/* Pages of cells: host.h. Segments of kind CELLS belong to the daemon, and many CCEs have pages in
 * each.
 *
 * A page has one of two sorts for ever, that of its segment (cell.h says what lies in them). Within
 * its sort any page can serve any CCE. Pages are given out and come back in runs, which tile their
 * segment; the entry of a run's first page says how long the run is and which CCE owns it. Adjacent
 * free runs are merged when the daemon looks for room. */
#include <unistd.h>

#include "bcr/error.h"
#include "bcri/private.h"
#include "bcri/segment.h"
#include "host_private.h"

#define SEGMENT_PAGES 1024u /* address room, not memory */
#define NOBODY        UINT32_MAX

/* The entry of a page that begins a run. In a free run only `pages` and `owner` are set. */
struct run {
    struct run *next, *before; /* of the same owner; `before` NULL: the first */
    struct page_segment *segment;
    uint32_t pages, owner;
};

struct page_segment {
    struct page_segment *next;
    enum bcri_page_sort sort;
    uint32_t seg, pages;
    uint32_t first_free; /* a page that begins a run; no run before it is free */
    struct run run[];    /* one for each page */
};

struct pages {
    struct page_segment *segments;
    struct run **of; /* by index of the CCE that has them */
    size_t of_count;
};

struct pages *bcri_pages_init(void)
{
    return bcri_private_zeroed(1, sizeof(struct pages));
}

void bcri_pages_fini(struct pages *pages)
{
    while (pages != NULL && pages->segments != NULL) {
        struct page_segment *segment = pages->segments;
        pages->segments = segment->next;
        bcri_private_free(segment);
    }
    if (pages != NULL)
        bcri_private_free(pages->of);
    bcri_private_free(pages);
}

static struct run *first_of(const struct pages *pages, uint32_t owner)
{
    return owner < pages->of_count ? pages->of[owner] : NULL;
}

static bool room_for_owner(struct pages *pages, uint32_t owner)
{
    if (owner < pages->of_count)
        return true;
    size_t count = pages->of_count != 0 ? pages->of_count : 64;
    while (count <= owner)
        count *= 2;
    struct run **of = bcri_private_resize(pages->of, count * sizeof(struct run *));
    if (of == NULL)
        return false;
    for (size_t i = pages->of_count; i < count; i++)
        of[i] = NULL;
    pages->of = of;
    pages->of_count = count;
    return true;
}

/* Segments have SEGMENT_PAGES, or, for a run that needs more, the next power of two. So there are
 * few sizes, and a CCE that needs a small run does not have to map a large segment. NULL: no
 * memory. */
static struct page_segment *new_segment(struct bcri_host *host, enum bcri_page_sort sort, uint32_t pages)
{
    const uint64_t bytes = (uint64_t)pages * BCRI_PAGE_BYTES;
    struct page_segment *segment = bcri_private_zeroed(1, sizeof *segment + pages * sizeof segment->run[0]);
    if (segment == NULL)
        return NULL;
    int fd = bcri_segment_create(bytes);
    if (fd < 0 || bcri_host_add_locked(host, fd, bytes, BCRI_SEG_CELLS, BCRI_ENL_INDEX, &segment->seg) != 0) {
        if (fd >= 0)
            close(fd);
        bcri_private_free(segment);
        return NULL;
    }
    segment->sort = sort;
    segment->pages = pages;
    segment->run[0] = (struct run){.pages = pages, .owner = NOBODY};
    struct page_segment **last = &host->pages->segments;
    while (*last != NULL)
        last = &(*last)->next;
    *last = segment;
    return segment;
}

/* The lowest free run that is long enough, cut to `pages`; or NULL. */
static struct run *find_in(struct page_segment *segment, uint32_t pages)
{
    struct run *run;
    for (uint32_t i = segment->first_free; i < segment->pages; i += run->pages) {
        run = &segment->run[i];
        if (run->owner != NOBODY)
            continue;
        uint32_t end;
        while ((end = i + run->pages) < segment->pages && segment->run[end].owner == NOBODY)
            run->pages += segment->run[end].pages;
        if (run->pages < pages)
            continue;
        if (run->pages > pages)
            segment->run[i + pages] = (struct run){.pages = run->pages - pages, .owner = NOBODY};
        run->pages = pages;
        if (i == segment->first_free)
            segment->first_free = i + pages;
        return run;
    }
    return NULL;
}

static int take(struct bcri_host *host, uint32_t owner, enum bcri_page_sort sort, uint32_t pages,
                bcri_ref *ref_out, int *fd_out)
{
    uint32_t size = SEGMENT_PAGES;
    while (size < pages)
        size *= 2;
    struct page_segment *segment = host->pages->segments;
    struct run *run = NULL;
    for (; segment != NULL; segment = segment->next)
        if (segment->sort == sort && segment->pages == size && (run = find_in(segment, pages)) != NULL)
            break;
    if (run == NULL) {
        segment = new_segment(host, sort, size);
        if (segment == NULL)
            return bcrE_NOMEM;
        run = find_in(segment, pages);
    }
    run->owner = owner;
    run->segment = segment;
    run->before = NULL;
    run->next = host->pages->of[owner];
    if (run->next != NULL)
        run->next->before = run;
    host->pages->of[owner] = run;
    *ref_out = bcri_ref_make(segment->seg, (uint64_t)(run - segment->run) * BCRI_PAGE_BYTES);
    *fd_out = host->segments[segment->seg].fd;
    return 0;
}

static bool discard(const struct bcri_host *host, const struct run *run)
{
    const struct page_segment *segment = run->segment;
    return bcri_host_punch(host, segment->seg, (uint64_t)(run - segment->run) * BCRI_PAGE_BYTES,
                           (uint64_t)run->pages * BCRI_PAGE_BYTES);
}

/* Empties a run and makes it free. If the system refuses to empty it, the run stays with its owner,
 * and later with the next CCE of that index.
 * Model: stale.pml */
static void give_back(struct bcri_host *host, struct run *run)
{
    struct page_segment *segment = run->segment;
    if (!discard(host, run))
        return;
    if (run->next != NULL)
        run->next->before = run->before;
    if (run->before != NULL)
        run->before->next = run->next;
    else
        host->pages->of[run->owner] = run->next;
    run->owner = NOBODY;
    if ((uint32_t)(run - segment->run) < segment->first_free)
        segment->first_free = (uint32_t)(run - segment->run);
}

/* The run of CCE `owner` that begins at `ref`, or NULL. */
static struct run *run_at(const struct bcri_host *host, uint32_t owner, bcri_ref ref)
{
    const uint64_t page = bcri_ref_offset(ref) / BCRI_PAGE_BYTES;
    for (struct page_segment *segment = host->pages->segments; segment != NULL; segment = segment->next)
        if (segment->seg == bcri_ref_seg(ref)) {
            struct run *run = page < segment->pages ? &segment->run[page] : NULL;
            return run != NULL && run->pages != 0 && run->owner == owner ? run : NULL;
        }
    return NULL;
}

int bcri_host_pages_take(struct bcri_host *host, uint32_t owner, const uint32_t pages[BCRI_PAGE_SORTS],
                         struct bcri_pages *out)
{
    int error = 0;
    *out = (struct bcri_pages){.fd = {-1, -1}};
    if (owner >= BCRI_CCE_MAX)
        return bcrE_ARG;
    if (pages[BCRI_PAGE_HEADERS] > BCRI_PAGES_MAX || pages[BCRI_PAGE_RINGS] > BCRI_PAGES_MAX)
        return bcrE_NOMEM;
    pthread_mutex_lock(&host->mutex);
    if (!room_for_owner(host->pages, owner))
        error = bcrE_NOMEM;
    for (int sort = 0; sort < BCRI_PAGE_SORTS && error == 0; sort++)
        if (pages[sort] != 0)
            error =
                take(host, owner, (enum bcri_page_sort)sort, pages[sort], &out->ref[sort], &out->fd[sort]);
    if (error != 0 && out->ref[BCRI_PAGE_HEADERS] != BCRI_REF_NONE)
        give_back(host, run_at(host, owner, out->ref[BCRI_PAGE_HEADERS]));
    pthread_mutex_unlock(&host->mutex);
    return error;
}

void bcri_host_pages_back(struct bcri_host *host, uint32_t owner, const bcri_ref ref[BCRI_PAGE_SORTS])
{
    pthread_mutex_lock(&host->mutex);
    for (int sort = 0; sort < BCRI_PAGE_SORTS; sort++) {
        struct run *run = ref[sort] != BCRI_REF_NONE ? run_at(host, owner, ref[sort]) : NULL;
        if (run != NULL)
            give_back(host, run);
    }
    pthread_mutex_unlock(&host->mutex);
}

bool bcri_host_has_pages(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    const bool has = first_of(host->pages, owner) != NULL;
    pthread_mutex_unlock(&host->mutex);
    return has;
}

void bcri_host_pages_discard(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    for (const struct run *run = first_of(host->pages, owner); run != NULL; run = run->next)
        (void)discard(host, run);
    pthread_mutex_unlock(&host->mutex);
}

void bcri_host_pages_reuse(struct bcri_host *host, uint32_t owner)
{
    pthread_mutex_lock(&host->mutex);
    struct run *next;
    for (struct run *run = first_of(host->pages, owner); run != NULL; run = next) {
        next = run->next;
        give_back(host, run);
    }
    pthread_mutex_unlock(&host->mutex);
}
