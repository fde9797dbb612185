/* SPDX-License-Identifier: MIT */
/* manual.h -- the programs of SCore's manual, chapters 2 and 3: a file that the first node reads is passed from node to node, and
 * each writes it. The slips of the printed text are mended: a missing `*`, pmMlock, quotes; a node sends the one before it its
 * handle when it has that of the one behind it, and acknowledges when all behind it have. As printed, it may take a length, which
 * the one before it sends, for the handle or the acknowledgement that it waits for. */
#ifndef PM_MANUAL_H
#define PM_MANUAL_H

#include <pm.h>

extern int score_self_node, score_num_node;

#define NEXT_NODE      (score_self_node + 1)
#define PREV_NODE      (score_self_node - 1)
#define IS_PIPE_FIRST  (score_self_node == 0)
#define IS_PIPE_LAST   (score_self_node == score_num_node - 1)
#define IS_PIPE_MIDDLE (!IS_PIPE_FIRST && !IS_PIPE_LAST)

/* Which receive the programs use: spinwait_receive (figure 2.9), naive_receive (2.4), blocking_receive (3.4). */
extern int (*manual_receive)(pmContext *pmc, caddr_t *bufp, size_t *lenp);
int naive_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp);
int spinwait_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp);
int blocking_receive(pmContext *pmc, caddr_t *bufp, size_t *lenp);

int get_send_buffer(pmContext *pmc, int dst, caddr_t *sbuf_p, size_t slen, int (*recv_func)(caddr_t, size_t));
int read_file_and_pass_next(pmContext *pmc, int fd_in, int fd_out);
int write_file_and_pass_next(pmContext *pmc, int fd_out);
int rdma_write(pmContext *pmc, int fd_in, int fd_out);
int rdma_read(pmContext *pmc, int fd_in, int fd_out);

#endif
