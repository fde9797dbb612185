/* SPDX-License-Identifier: MIT */
/* The free pages of one area: address-ordered best fit with merging.
 *
 * A free run is recorded at its first page (free_len) and its last (back), so that neighbours find
 * each other. It is also a node of a treap ordered by (length, address), so that the best fit is
 * the first node that is not too short. The nodes lie in the private table of pages, so nothing
 * here allocates. No run is merged beyond its area: first_page and end_page bound it.
 *
 * Source: Seidel, Aragon: Randomized search trees, 1996; Knuth, TAOCP 1, 2.5 (best fit, boundary
 * tags). */
#include "heap_private.h"

/* A node's priority in the treap. Any fixed mixing of the page number will do. */
static uint32_t rank_of(uint32_t page)
{
    uint32_t x = page * 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca77u;
    return x ^ (x >> 13);
}

static bool before(const struct run_page *run, uint32_t a, uint32_t b)
{
    return run[a].free_len != run[b].free_len ? run[a].free_len < run[b].free_len : a < b;
}

/* Splits the tree `node` into what comes before page `key` and what comes after it. */
static void split(struct run_page *run, uint32_t node, uint32_t key, uint32_t *less, uint32_t *more)
{
    while (node != 0) {
        if (before(run, node, key)) {
            *less = node;
            less = &run[node].right;
            node = *less;
        } else {
            *more = node;
            more = &run[node].left;
            node = *more;
        }
    }
    *less = 0;
    *more = 0;
}

static void tree_add(struct bcri_heap_area *area, uint32_t page)
{
    struct run_page *run = area->seg->run;
    uint32_t *link = &area->free_runs;
    while (*link != 0 && rank_of(*link) >= rank_of(page))
        link = before(run, page, *link) ? &run[*link].left : &run[*link].right;
    split(run, *link, page, &run[page].left, &run[page].right);
    *link = page;
}

static void tree_remove(struct bcri_heap_area *area, uint32_t page)
{
    struct run_page *run = area->seg->run;
    uint32_t *link = &area->free_runs;
    while (*link != page)
        link = before(run, page, *link) ? &run[*link].left : &run[*link].right;
    uint32_t less = run[page].left;
    uint32_t more = run[page].right;
    while (less != 0 && more != 0) {
        if (rank_of(less) >= rank_of(more)) {
            *link = less;
            link = &run[less].right;
            less = *link;
        } else {
            *link = more;
            link = &run[more].left;
            more = *link;
        }
    }
    *link = less != 0 ? less : more;
}

static void run_add(struct bcri_heap_area *area, uint32_t first, uint32_t count)
{
    struct run_page *run = area->seg->run;
    run[first].free_len = count;
    run[first + count - 1].back = first;
    tree_add(area, first);
}

static void run_remove(struct bcri_heap_area *area, uint32_t first)
{
    struct run_page *run = area->seg->run;
    tree_remove(area, first);
    run[first + run[first].free_len - 1].back = 0;
    run[first].free_len = 0;
}

/* Takes the first `count` pages of the free run at `first`. */
static void take_front(struct bcri_heap_area *area, uint32_t first, uint32_t count)
{
    uint32_t rest = area->seg->run[first].free_len - count;
    run_remove(area, first);
    if (rest != 0)
        run_add(area, first + count, rest);
}

uint32_t bcri_pages_take(struct bcri_heap_area *area, uint32_t count)
{
    const struct run_page *run = area->seg->run;
    uint32_t best = 0;
    for (uint32_t node = area->free_runs; node != 0;) {
        if (run[node].free_len >= count) {
            best = node;
            node = run[node].left;
        } else {
            node = run[node].right;
        }
    }
    if (best != 0)
        take_front(area, best, count);
    return best;
}

bool bcri_pages_take_at(struct bcri_heap_area *area, uint32_t first, uint32_t count)
{
    if (first >= area->end_page || area->seg->run[first].free_len < count)
        return false;
    take_front(area, first, count);
    return true;
}

void bcri_pages_give(struct bcri_heap_area *area, uint32_t first, uint32_t count)
{
    struct run_page *run = area->seg->run;
    if (first > area->first_page && run[first - 1].back != 0) {
        uint32_t lower = run[first - 1].back;
        count += run[lower].free_len;
        run_remove(area, lower);
        first = lower;
    }
    if (first + count < area->end_page && run[first + count].free_len != 0) {
        uint32_t upper = first + count;
        count += run[upper].free_len;
        run_remove(area, upper);
    }
    run_add(area, first, count);
}

static bool tree_valid(const struct bcri_heap_area *area, uint32_t node, uint64_t *pages, unsigned depth)
{
    const struct run_page *run = area->seg->run;
    if (node == 0)
        return true;
    uint32_t len = run[node].free_len;
    if (depth > 200 || len == 0 || node < area->first_page || node + len > area->end_page ||
        run[node + len - 1].back != node)
        return false;
    if (node + len < area->end_page && run[node + len].free_len != 0)
        return false; /* neighbours that were not merged */
    uint32_t left = run[node].left;
    uint32_t right = run[node].right;
    if ((left != 0 && (!before(run, left, node) || rank_of(left) > rank_of(node))) ||
        (right != 0 && (!before(run, node, right) || rank_of(right) > rank_of(node))))
        return false;
    *pages += len;
    return tree_valid(area, left, pages, depth + 1) && tree_valid(area, right, pages, depth + 1);
}

bool bcri_pages_valid(const struct bcri_heap_area *area, uint64_t *free_pages_out)
{
    uint64_t pages = 0;
    bool valid = tree_valid(area, area->free_runs, &pages, 0);
    *free_pages_out = pages;
    return valid;
}
