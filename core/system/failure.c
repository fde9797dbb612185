/* SPDX-License-Identifier: MIT */
/* See failure.h. */
#include "bcri/failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct {
    const char *call; /* NULL: none */
    int error;
} failure;

void bcri_failure_note(const char *call)
{
    failure.call = call;
    failure.error = errno;
}

void bcri_failure_forget(void)
{
    failure.call = NULL;
}

/* strerror would translate the text, for which it may call malloc (private.h). */
static const char *text_of(int error)
{
    const char *text = strerrordesc_np(error);
    return text != NULL ? text : "unknown error";
}

const char *bcri_failure_text(const char *otherwise, char out[BCRI_FAILURE_TEXT_MAX])
{
    if (failure.call != NULL)
        snprintf(out, BCRI_FAILURE_TEXT_MAX, "%s: %s", failure.call, text_of(failure.error));
    else
        snprintf(out, BCRI_FAILURE_TEXT_MAX, "%s", otherwise);
    return out;
}

const char *bcri_fork_remedy(int error)
{
    return error == EAGAIN
               ? "; there may be no more processes here: raise ulimit -u, or pids.max of the control group"
               : "";
}

int bcri_failure_errno(void)
{
    return failure.call != NULL ? failure.error : 0;
}
