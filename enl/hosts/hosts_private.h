/* SPDX-License-Identifier: MIT */
/* What hosts.c and hosts_file.c share. */
#ifndef ENL_HOSTS_PRIVATE_H
#define ENL_HOSTS_PRIVATE_H

#include "hosts/hosts.h"

/* What is said of a host as key=text. */
struct enl_host_key {
    const char *key;
    size_t offset; /* of the char * in struct enl_host */
    bool (*good)(struct enl_word value);
    const char *must;
};
enum { ENL_HOST_KEYS = 5 };
extern const struct enl_host_key enl_host_keys[ENL_HOST_KEYS];

static inline char **enl_host_text(struct enl_host *host, const struct enl_host_key *key)
{
    return (char **)((char *)host + key->offset);
}

/* Adds a copy of `host` with that name and address (NULL: its own). False: no memory. */
bool enl_hosts_add(struct enl_hosts *hosts, const struct enl_host *host, const char *name,
                   const char *address);
void enl_host_free(struct enl_host *host);
/* 0, or -1 with a sentence that begins with `place` when such a host cannot be. */
int enl_host_check(const struct enl_host *host, const char *name, const char *place, char *error,
                   size_t error_size);

/* Makes by_name, and refuses a list in which two hosts have one name; with ENL_NODE_FILE makes one of them. */
int enl_hosts_sort(struct enl_hosts *hosts, enum enl_hosts_form form, const char *file, char *error,
                   size_t error_size);

#endif
