/* SPDX-License-Identifier: MIT */
/* enl's main(), as it is called here: enl/enl.c is compiled with this in front. */
#ifndef FUZZ_DAEMON_H
#define FUZZ_DAEMON_H

int enl_main(int argc, char **argv);

#endif
