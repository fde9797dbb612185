/* SPDX-License-Identifier: MIT */
/* What test_orphan.c and the programs that it runs tell each other. */
#ifndef SYS_ORPHAN_BOARD_H
#define SYS_ORPHAN_BOARD_H

enum { ORPHAN_HOSTS_MAX = 16 };

struct orphan_board {
    _Atomic int hosts, begun, stop;
    _Atomic int rounds; /* in which the root has had a number of each host */
    _Atomic int taken;  /* hosts of which nothing more comes */
    _Atomic int daemons[ORPHAN_HOSTS_MAX + 1];
    _Atomic int dead[ORPHAN_HOSTS_MAX + 1]; /* as the root has found */
};

#endif
