/* SPDX-License-Identifier: MIT */
/* The command by which a daemon starts another, or asks what machine that is: itself for a host that is
 * `local`, else rshpath with what shall be run there. */
#ifndef ENL_REMOTE_H
#define ENL_REMOTE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "hosts/hosts.h"

struct bcri_config;

enum { ENL_REMOTE_WORDS = 24 };

struct enl_remote {
    char path[PATH_MAX];
    char *argv[ENL_REMOTE_WORDS];
    char *words; /* what argv points into */
};

/* The path of this enl. False: /proc does not say it. */
bool enl_remote_own_path(char *out, size_t size);

/* The command that runs `enl mode` there. `address` NULL: the host's own. False: a sentence says why there is no
 * command. */
bool enl_remote_command(struct enl_remote *remote_out, const struct bcri_config *config,
                        const struct enl_host *host, const char *address, const char *mode, char *error,
                        size_t error_size);
/* Has the login shell there run `command` instead; not for a host that is `local`. */
void enl_remote_run(struct enl_remote *remote, const char *command);
/* The command as a person may type it. */
void enl_remote_text(const struct enl_remote *remote, char *out, size_t size);
void enl_remote_free(struct enl_remote *remote);

/* Whether its program is ssh, by its name. */
bool enl_remote_is_ssh(const struct enl_remote *remote);
/* Whether its program is rsh, which sends all that the pipes carry in the clear, the program's key too. */
bool enl_remote_is_open(const struct enl_remote *remote);
/* The name of its program. */
const char *enl_remote_name(const struct enl_remote *remote);

/* What to do, as the end of a sentence ("; ..."), when no daemon came of the command: it was given up for
 * the reason `why`, or, if that is "", has ended with that status (wait(2)); `said` is what it said on
 * stderr. */
const char *enl_remote_remedy(const struct enl_host *host, const char *why, const char *said, int status);

#endif
