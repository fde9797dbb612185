/* SPDX-License-Identifier: MIT */
/*
 * plate.c -- see plate.h.
 */
#include "plate.h"
#include <stdlib.h>
#include <string.h>

static const double SPREAD = 0.24; /* of the difference to a neighbour, in one step; stable below 0.25 */

static double *cell_of(const struct plate *plate, double *cells, int x, int y)
{
    return cells + (y + 1) * (plate->width + 2) + x + 1;
}

/* The rim is hot along the north side; inside, two discs are, one hotter than the other. */
static double heat_at_first(int size, int x, int y)
{
    const double u = (x + 0.5) / size, v = (y + 0.5) / size;
    if (y < 0)
        return 1.0;
    if (x < 0 || x >= size || y >= size)
        return 0.0;
    if ((u - 0.30) * (u - 0.30) + (v - 0.60) * (v - 0.60) < 0.02)
        return 1.0;
    return (u - 0.70) * (u - 0.70) + (v - 0.70) * (v - 0.70) < 0.01 ? 0.6 : 0.0;
}

bool plate_make(struct plate *plate, int size, int left, int top, int width, int height)
{
    const size_t cells = (size_t)(width + 2) * (size_t)(height + 2);
    *plate = (struct plate){.left = left, .top = top, .width = width, .height = height};
    plate->heat = malloc(cells * sizeof *plate->heat);
    plate->next = malloc(cells * sizeof *plate->next);
    if (plate->heat == NULL || plate->next == NULL) {
        plate_free(plate);
        return false;
    }
    for (int y = -1; y <= height; y++)
        for (int x = -1; x <= width; x++)
            *cell_of(plate, plate->heat, x, y) = heat_at_first(size, left + x, top + y);
    memcpy(plate->next, plate->heat, cells * sizeof *plate->heat);
    return true;
}

void plate_free(struct plate *plate)
{
    free(plate->heat);
    free(plate->next);
    *plate = (struct plate){.width = 0};
}

int plate_side_cells(const struct plate *plate, enum side side)
{
    return side == NORTH || side == SOUTH ? plate->width : plate->height;
}

/* Cell i of the side's row or column: the outermost of the plate's (out 0), or the frame's (out 1). */
static double *side_cell(const struct plate *plate, enum side side, int i, int out)
{
    switch (side) {
    case NORTH: return cell_of(plate, plate->heat, i, -out);
    case SOUTH: return cell_of(plate, plate->heat, i, plate->height - 1 + out);
    case WEST: return cell_of(plate, plate->heat, -out, i);
    default: return cell_of(plate, plate->heat, plate->width - 1 + out, i);
    }
}

void plate_take_edge(const struct plate *plate, enum side side, double *edge)
{
    for (int i = 0; i < plate_side_cells(plate, side); i++)
        edge[i] = *side_cell(plate, side, i, 0);
}

void plate_set_frame(struct plate *plate, enum side side, const double *edge)
{
    for (int i = 0; i < plate_side_cells(plate, side); i++)
        *side_cell(plate, side, i, 1) = edge[i];
}

/* Cells from (x0, y0) on, up to but without column x1 and row y1. */
static void step(struct plate *plate, int x0, int y0, int x1, int y1)
{
    const int row = plate->width + 2;
    for (int y = y0; y < y1; y++) {
        const double *from = cell_of(plate, plate->heat, 0, y);
        double *to = cell_of(plate, plate->next, 0, y);
        for (int x = x0; x < x1; x++)
            to[x] =
                from[x] + SPREAD * (from[x - row] + from[x + row] + from[x - 1] + from[x + 1] - 4 * from[x]);
    }
}

void plate_step_inside(struct plate *plate)
{
    step(plate, 1, 1, plate->width - 1, plate->height - 1);
}

void plate_step_edges(struct plate *plate)
{
    step(plate, 0, 0, plate->width, 1);
    if (plate->height > 1)
        step(plate, 0, plate->height - 1, plate->width, plate->height);
    step(plate, 0, 1, 1, plate->height - 1);
    if (plate->width > 1)
        step(plate, plate->width - 1, 1, plate->width, plate->height - 1);
}

/* The frame has to be in both: the rim never changes, and a neighbour's cells are set anew before they are read. */
void plate_turn(struct plate *plate)
{
    double *old = plate->heat;
    plate->heat = plate->next;
    plate->next = old;
}
