/* SPDX-License-Identifier: MIT */
/* enl --look-host, a helper (relay.h): writes a snapshot of its host to stdout. */
#ifndef ENL_LOOK_HOST_H
#define ENL_LOOK_HOST_H

/* `what`: "names" if it shall ask the daemon for the names of CCEs. Returns the exit status. */
int enl_look_host(const char *what);

#endif
