/* SPDX-License-Identifier: MIT */
/* What enl ps and looks are told of this host's CCEs. */
#ifndef ENL_ROWS_H
#define ENL_ROWS_H

#include "wire/conn.h"

struct enl_here;

/* ps: answers with one CCE, the first one with at least that index; behind all CCEs come the processes that wait to be
 * enlisted. So a list of any length needs no queue. Returns NULL. */
const char *enl_rows_answer(const struct enl_here *here, struct enl_conn *conn,
                            const struct bcri_control *message);

#endif
