/* SPDX-License-Identifier: MIT */
/*
 * floor_spawn.c -- what starting processes takes: all forked, all executing /bin/true, all waited
 * for. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floors.h"

int floor_spawn_count = FLOOR_SPAWN_COUNT;

void floor_spawn(struct bench_pair *pair, struct bench_turn *turn)
{
    pid_t *child = calloc((size_t)floor_spawn_count, sizeof *child);
    if (child == NULL)
        bench_fail("no memory for %d process numbers", floor_spawn_count);
    for (long i = 0; pair->side == 0 && i < turn->count; i++) {
        for (int k = 0; k < floor_spawn_count; k++) {
            child[k] = fork();
            if (child[k] < 0)
                bench_fail("cannot fork");
            if (child[k] == 0) {
                execl("/bin/true", "true", (char *)NULL);
                _exit(127);
            }
        }
        for (int k = 0; k < floor_spawn_count; k++) {
            int status;
            if (waitpid(child[k], &status, 0) != child[k] || status != 0)
                bench_fail("/bin/true did not run");
        }
        turn->op_count++;
    }
    free(child);
}
