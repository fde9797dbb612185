/* SPDX-License-Identifier: MIT */
/* enl --explain all|locks NAME: what the daemon has said of a deadlock, in sentences. A process of its own, so that
 * the daemon looks at no more than a few words of each record. */
#ifndef ENL_EXPLAIN_H
#define ENL_EXPLAIN_H

/* `all`: the daemon has found that nothing in program `name` can go on. `locks`: circles of write locks of daemon
 * `name`'s host are told, if there are any, as suspected. Returns the exit status. */
int enl_explain(int count, char **words);

#endif
