/* SPDX-License-Identifier: MIT */
/* Numbers of descriptors. 0, 1 and 2 are the program's, also while they are closed: otherwise what
 * the program prints could get into a socket or a memory file of the library. So the library moves
 * each descriptor that it opens to keep, or to write to, to a higher number. */
#ifndef BCRI_DESCRIPTOR_H
#define BCRI_DESCRIPTOR_H

/* Takes `fd`. Returns it; if it is 0, 1 or 2, returns a higher number for the same file,
 * close-on-exec. Returns -1 with errno if no number is left (`fd` is then closed), or if `fd` was
 * negative. */
int bcri_descriptor_aside(int fd);

#endif
