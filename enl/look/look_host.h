/* SPDX-License-Identifier: MIT */
/* enl --look-host, a helper (relay.h): writes a snapshot of its host to stdout. */
#ifndef ENL_LOOK_HOST_H
#define ENL_LOOK_HOST_H

/* Returns the exit status. */
int enl_look_host(void);

#endif
