/* SPDX-License-Identifier: MIT */
/* input.c -- the standard input of a job's first member, which comes from the user's, by the root's daemon (job/feed.c): a pipe, whose
 * writing end is this daemon's. What was written is told, and only then more comes, so no more than the root's window lies here. */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So much that was taken is told before the rest is written. */
enum { TOLD_AT = 16384 };

struct enl_input {
    uv_pipe_t pipe;
    struct enl_here *here;
    struct enl_cce
        *cce; /* whose stdin it is; NULL: it is being closed, as that one is over, or reads no more */
    uint32_t team;
    uint32_t taken; /* that was written, or dropped, and not told */
    bool is_last;   /* no more comes */
};

struct piece {
    uv_write_t request;
    struct enl_input *input;
    uint32_t length;
    char bytes[];
};

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

int enl_input_open(struct enl_cce *cce, uint32_t team, int *in_out)
{
    struct enl_here *here = cce->here;
    struct enl_input *input = calloc(1, sizeof *input);
    int pair[2];
    if (input == NULL)
        return -ENOMEM;
    if (pipe2(pair, O_CLOEXEC) != 0) {
        free(input);
        return -errno;
    }
    input->here = here;
    input->team = team;
    uv_pipe_init(&here->self->loop, &input->pipe, 0);
    input->pipe.data = input;
    const int failed = uv_pipe_open(&input->pipe, pair[1]);
    if (failed != 0) {
        close(pair[0]);
        close(pair[1]);
        uv_close((uv_handle_t *)&input->pipe, on_closed);
        return failed;
    }
    input->cce = cce;
    cce->input = input;
    *in_out = pair[0];
    return 0;
}

void enl_input_close(struct enl_cce *cce)
{
    struct enl_input *input = cce->input;
    if (input == NULL)
        return;
    cce->input = NULL;
    input->cce = NULL;
    uv_close((uv_handle_t *)&input->pipe, on_closed);
}

static void tell_taken(struct enl_input *input)
{
    const struct bcri_control message = {.type = BCRI_MSG_input_taken,
                                         .present = BCRI_HAS(team) | BCRI_HAS(size),
                                         .team = input->team,
                                         .size = input->taken};
    input->taken = 0;
    input->here->ops->tell_teams(input->here->self->program, &message);
}

/* With an error the member has closed its input, or ended: the rest is dropped, and taken all the same. */
static void on_written(uv_write_t *request, int status)
{
    struct piece *piece = request->data;
    struct enl_input *input = piece->input;
    (void)status;
    const bool is_all = uv_stream_get_write_queue_size((uv_stream_t *)&input->pipe) == 0;
    input->taken += piece->length;
    if (input->here->self->phase == ENL_RUNNING && (is_all || input->taken >= TOLD_AT))
        tell_taken(input);
    if (input->is_last && input->cce != NULL && is_all)
        enl_input_close(input->cce);
    free(piece);
}

const char *enl_input_take(struct enl_here *here, const struct bcri_control *message)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->input != NULL && cce->input->team == message->team)
            break;
    if (cce == NULL)
        return NULL; /* it has ended */
    struct enl_input *input = cce->input;
    if (input->is_last)
        return "input behind its end";
    if (message->block.length == 0) {
        input->is_last = true;
        if (uv_stream_get_write_queue_size((uv_stream_t *)&input->pipe) == 0)
            enl_input_close(cce);
        return NULL;
    }
    struct piece *piece = malloc(sizeof *piece + message->block.length);
    if (piece == NULL) { /* nothing of it may be missing in the middle */
        enl_input_close(cce);
        return NULL;
    }
    piece->request.data = piece;
    piece->input = input;
    piece->length = message->block.length;
    memcpy(piece->bytes, message->block.bytes, piece->length);
    const uv_buf_t buffer = uv_buf_init(piece->bytes, piece->length);
    if (uv_write(&piece->request, (uv_stream_t *)&input->pipe, &buffer, 1, on_written) != 0) {
        free(piece);
        enl_input_close(cce);
    }
    return NULL;
}
