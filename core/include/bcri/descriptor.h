/* SPDX-License-Identifier: MIT */
/* Numbers of descriptors. 0, 1 and 2 are the program's, also while nothing is open there: what it
 * prints then must not come to a socket, or into memory, of the library. So whatever the library
 * opens to keep or to write to is moved aside. */
#ifndef BCRI_DESCRIPTOR_H
#define BCRI_DESCRIPTOR_H

/* Takes `fd`; returns it, or, in place of 0, 1 and 2, another number for the same, close-on-exec.
 * -1 with errno: there is none, and fd is closed; or fd was negative. */
int bcri_descriptor_aside(int fd);

#endif
