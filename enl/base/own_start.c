/* SPDX-License-Identifier: MIT */
/* See own_start.h. */
#include "base/own_start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/self.h"
#include "bcri/environment.h"
#include "bcri/refuse.h"

pid_t enl_own_start(struct enl_self *self, const struct enl_own_start *start, char *reason,
                    size_t reason_size)
{
    char number[16];
    snprintf(number, sizeof number, "%d", start->keep);
    char **environment =
        enl_environment_with(self->environment, BCRI_CONTROL_ENV, start->keep >= 0 ? number : NULL);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const struct enl_spawn spawn = {.path = "/proc/self/exe",
                                    .argv = (char *const *)(uintptr_t)start->words,
                                    .environment = environment,
                                    .in = start->in >= 0 ? start->in : null,
                                    .out = start->out >= 0 ? start->out : null,
                                    .err = start->outlives ? -1 : null,
                                    .keep = start->keep,
                                    .core = -1,
                                    .own_group = !start->outlives,
                                    .die_with_parent = !start->outlives,
                                    .no_core_file = true,
                                    .inherited = &self->inherited};
    const char *step = null >= 0 ? "get memory" : "open /dev/null";
    pid_t pid = null >= 0 ? -ENOMEM : -errno;
    if (environment != NULL && null >= 0)
        pid = enl_spawn(&spawn, &step);
    if (null >= 0)
        close(null);
    free(environment);
    if (pid < 0)
        return bcri_refuse(reason, reason_size, -1, "enl %s could not %s: %s", start->words[1], step,
                           strerror(-pid));
    return pid;
}
