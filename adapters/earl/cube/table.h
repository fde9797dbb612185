/* SPDX-License-Identifier: MIT */
/* table.h -- what this process knows of its current cube, which EXEC keeps.
 *
 * Box "cube/NAME" has at index 0 size, host, host's process ID and whether it is kept; at 1 and up one list of (node, process ID, number)
 * for each load, in their order. So a process reads on from the last load that it knows. */
#ifndef EARL_CUBE_TABLE_H
#define EARL_CUBE_TABLE_H

#include <stdbool.h>

#include "earl_cube.h"

struct loaded {
    int node, pid, process;
    bool is_told; /* its end: earl_cube_await */
};

struct table {
    bool has_cube, is_team;
    struct earl_cube cube;
    int own_pid; /* as a host */
    int next;    /* the next load's index */
    struct loaded *loaded;
    int count, room;
};
extern struct table earl_table;

/* Finds out at the first call which cube the process is in. Returns EARL_OK or a code. */
int earl_table_begin(void);
/* Makes a cube the current one. */
void earl_table_set(const struct earl_cube *cube);
/* Reads what was loaded since; with wait, until there is one more load. Returns EARL_OK or a code. */
int earl_table_read(bool wait);
/* The last loaded process of that place; NULL: none. EARL_ANY: any. */
struct loaded *earl_table_at(int node, int pid);
struct loaded *earl_table_of(int process);
/* The box's name; and what index 0 has. */
void earl_table_box(const char *cube, char box[EARL_CUBE_NAME + 8]);
int earl_table_get(const char *name, struct earl_cube *cube);
int earl_table_post(const struct earl_cube *cube, int flags);

#endif
