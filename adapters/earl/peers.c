/* SPDX-License-Identifier: MIT */
/* peers.c -- what this process has of each process that it has to do with.
 *
 * Peers stand in chunks, which come when one of their processes is named first and stay where they are, since work that waits
 * points to its peer. So a process pays for those that it talks to, and their number need not be known at the start. */
#include "engine.h"

enum { FIRST_ROOM = 512 }; /* chunks that the first directory has places for: a page of them */

static bool grow_directory(struct earl *earl, size_t chunk)
{
    size_t room = earl->chunk_room == 0 ? FIRST_ROOM : earl->chunk_room;
    while (room <= chunk)
        room *= 2;
    struct earl_peer **chunks = earl_pages(room * sizeof(struct earl_peer *));
    if (chunks == NULL)
        return false;
    if (earl->chunks != NULL)
        memcpy(chunks, earl->chunks, earl->chunk_room * sizeof(struct earl_peer *));
    earl_pages_free(earl->chunks, earl->chunk_room * sizeof(struct earl_peer *));
    earl->chunks = chunks;
    earl->chunk_room = room;
    return true;
}

bool earl_peers_reach(struct earl *earl, int process)
{
    const size_t chunk = (size_t)process / EARL_CHUNK;
    if (chunk >= earl->chunk_room && !grow_directory(earl, chunk))
        return false;
    if (earl->chunks[chunk] != NULL)
        return true;
    struct earl_peer *peers = earl_pages(EARL_CHUNK * sizeof(struct earl_peer));
    if (peers == NULL)
        return false;
    for (int i = 0; i < EARL_CHUNK; i++) {
        peers[i].earl = earl;
        peers[i].process = (int)chunk * EARL_CHUNK + i;
    }
    earl->chunks[chunk] = peers;
    earl->peer_room += EARL_CHUNK;
    return true;
}

struct earl_peer *earl_peer_next(const struct earl *earl, const struct earl_peer *peer)
{
    const size_t after = peer == NULL ? 0 : (size_t)peer->process + 1;
    for (size_t chunk = after / EARL_CHUNK; chunk < earl->chunk_room; chunk++)
        if (earl->chunks[chunk] != NULL)
            return &earl->chunks[chunk][chunk == after / EARL_CHUNK ? after % EARL_CHUNK : 0];
    return NULL;
}

void earl_peers_end(struct earl *earl)
{
    for (size_t chunk = 0; chunk < earl->chunk_room; chunk++)
        earl_pages_free(earl->chunks[chunk], EARL_CHUNK * sizeof(struct earl_peer));
    earl_pages_free(earl->chunks, earl->chunk_room * sizeof(struct earl_peer *));
    earl->chunks = NULL;
    earl->chunk_room = 0;
}
