/* SPDX-License-Identifier: MIT */
/*
 * plate.h -- a rectangle of a square metal plate, and how heat spreads in it.
 *
 * The rectangle has a frame, one cell wide, of what lies around it: a neighbour's cells, which change, or the rim of
 * the plate, which keeps its heat.
 */
#ifndef PLATE_H
#define PLATE_H

#include <stdbool.h>

/* Sides, and what lies opposite each: side ^ 1. */
enum side { NORTH, SOUTH, WEST, EAST, SIDES };

struct plate {
    int left, top, width, height; /* which part of the whole plate */
    double *heat, *next;          /* height + 2 rows of width + 2 cells; the part begins at row 1, column 1 */
};

/* The part of a plate of size x size cells. False: no memory. */
bool plate_make(struct plate *plate, int size, int left, int top, int width, int height);
void plate_free(struct plate *plate);

/* How many cells a side has. */
int plate_side_cells(const struct plate *plate, enum side side);
/* Copies the outermost cells of that side, and puts what the neighbour sends of its own into the frame. */
void plate_take_edge(const struct plate *plate, enum side side, double *edge);
void plate_set_frame(struct plate *plate, enum side side, const double *edge);

/* One step in time: first the cells that do not touch the frame, then those that do, then all become what they have
 * been given. */
void plate_step_inside(struct plate *plate);
void plate_step_edges(struct plate *plate);
void plate_turn(struct plate *plate);

static inline double plate_at(const struct plate *plate, int x, int y)
{
    return plate->heat[(y + 1) * (plate->width + 2) + x + 1];
}

#endif
