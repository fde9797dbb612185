/* SPDX-License-Identifier: MIT */
/* What a CCE asks of its host's memory: segments, pages of cells, eventfds of cells. `conn` is its private socket. Each
 * answers, and returns NULL or why the connection must end. */
#ifndef ENL_MEMORY_H
#define ENL_MEMORY_H

#include "wire/conn.h"

const char *enl_memory_segment_add(struct enl_conn *conn, struct bcri_incoming *in);
const char *enl_memory_segment_again(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_segment_fd(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_pages_take(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_pages_back(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_memory_fd_set(struct enl_conn *conn, struct bcri_incoming *in);
const char *enl_memory_fd_ring(struct enl_conn *conn, const struct bcri_control *message);

#endif
