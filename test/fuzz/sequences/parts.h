/* SPDX-License-Identifier: MIT */
/* The parts that the fuzzer's own program plays when a daemon has started it: a CCE, a daemon on another host, a helper.
 * What they say is made of FUZZ_SAYS, hexadecimal. */
#ifndef FUZZ_PARTS_H
#define FUZZ_PARTS_H

#define FUZZ_SAYS "FUZZ_SAYS"
enum { FUZZ_SAYS_MAX = 1024 }; /* bytes */

/* The address of a program that the parts tell in messages. */
#define FUZZ_PROGRAM "FUZZ_PROGRAM"

#endif
