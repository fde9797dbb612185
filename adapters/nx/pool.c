/* SPDX-License-Identifier: MIT */
/* pool.c -- memory for requests, found by their numbers. It comes from the system in pieces, each twice as large as the one before, that
 * never move: a handler may have interrupted malloc.
 *
 * What a handler frees goes into a list of its own, so that it may interrupt the process in the midst of the other list. The process
 * uses the handlers' list only while they are masked. The longest free are taken first: numbers that a program has given back stay
 * invalid for as long as can be. */
#include <sys/mman.h>

#include "nx_private.h"

enum { PIECES = 24, FIRST_PIECE = 64 };

static struct nxi_request *pieces[PIECES];
static int piece_count;

static struct free_list {
    struct nxi_request *first, **end;
} process_free = {.end = &process_free.first}, handler_free = {.end = &handler_free.first};

static void append(struct free_list *list, struct nxi_request *request)
{
    request->next = NULL;
    *list->end = request;
    list->end = &request->next;
}

static struct nxi_request *take(struct free_list *list)
{
    struct nxi_request *request = list->first;
    if (request == NULL)
        return NULL;
    list->first = request->next;
    if (list->first == NULL)
        list->end = &list->first;
    return request;
}

/* Handlers are masked, or this is one. */
static bool grow(struct free_list *list)
{
    if (piece_count == PIECES)
        return false;
    const size_t count = (size_t)FIRST_PIECE << piece_count;
    struct nxi_request *piece =
        mmap(NULL, count * sizeof *piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED)
        return false;
    const size_t before = (size_t)FIRST_PIECE * ((1U << piece_count) - 1);
    for (size_t i = 0; i < count; i++) {
        piece[i].id = (int)(before + i + 1);
        append(list, &piece[i]);
    }
    pieces[piece_count++] = piece;
    return true;
}

static struct nxi_request *take_masked(void)
{
    const int before = earl_mask(1);
    struct nxi_request *request = take(&handler_free);
    if (request == NULL && grow(&process_free))
        request = take(&process_free);
    (void)earl_mask(before);
    return request;
}

struct nxi_request *nxi_request_new(void)
{
    struct nxi_request *request = take(nxi_in_handler ? &handler_free : &process_free);
    if (request == NULL && nxi_in_handler && grow(&handler_free))
        request = take(&handler_free);
    if (request == NULL && !nxi_in_handler)
        request = take_masked();
    if (request == NULL) {
        (void)nxi_bad(EQMEM, "no memory for another message ID");
        return NULL;
    }
    const int id = request->id;
    *request = (struct nxi_request){.id = id, .is_handlers = nxi_in_handler};
    request->last = request;
    request->first = request;
    return request;
}

static void give_back(struct nxi_request *request)
{
    request->is_id = false;
    if (nxi_in_handler) {
        append(&handler_free, request);
    } else if (!request->is_handlers) {
        append(&process_free, request);
    } else {
        const int before = earl_mask(1);
        append(&handler_free, request);
        (void)earl_mask(before);
    }
}

void nxi_request_free(struct nxi_request *first)
{
    for (struct nxi_request *next; first != NULL; first = next) {
        next = first->next;
        give_back(first);
    }
}

struct nxi_request *nxi_request_of(int id)
{
    if (id < 1)
        return NULL;
    int piece = 0;
    size_t index = (size_t)id - 1;
    for (; piece < piece_count && index >= (size_t)FIRST_PIECE << piece; piece++)
        index -= (size_t)FIRST_PIECE << piece;
    if (piece == piece_count || !pieces[piece][index].is_id)
        return NULL;
    return &pieces[piece][index];
}
