/* SPDX-License-Identifier: MIT */
/*
 * halo -- heat spreads in a metal plate that is shared out over a grid of CCEs, on one machine or many.
 *
 * Each CCE has a tile of the plate.  A step in time needs the tile and the nearest cells of its neighbours' tiles:
 * the halo.  So before each step a CCE puts its edges into out cells of its own, one for each side, and asks for
 * the edges of its neighbours by pending gets from theirs.  While these are under way it computes all cells that do
 * not need them; then it completes the gets and computes the rest.  What the network takes costs no time as long as it
 * is shorter than the computing.
 *
 * In the end the root has all tiles, and compares them with a plate that it has computed alone.
 */
#define _POSIX_C_SOURCE 200809L
#include "args.h"
#include "must.h"
#include "picture.h"
#include "plate.h"
#include <getopt.h>
#include <math.h>
#include <time.h>

static const char USAGE[] =
    "usage: halo [-w] [-o picture] [across [down [size [steps]]]]     (2 by 2 CCEs, 512 cells, 500 steps)\n"
    "Computes how heat spreads in a square plate, with a grid of CCEs on the machines that the program has.\n"
    "  -o, --output picture  writes the plate into that PNG file\n"
    "  -w, --wait            each CCE waits for its neighbours' edges before it computes: to see what\n"
    "                        it gains when it does not\n";

/* Cells: in cells for the place in the grid and, in the root, the tiles; out cells from EDGE on, one for each side. */
enum { PLACE = 1, TILE = 2, EDGE = 3 };
enum { GRID_MAX = 64, SIZE_MAX_CELLS = 8192, STEPS_MAX = 10000000, SMALL_BYTES = 128, MACHINE_CHARS = 256 };

struct task {
    int across, down, size, steps;
    int waits; /* before it computes */
};
static const int TASK[] = {0, bcrT_INT | bcrT_END, 5};

/* A CCE and its ordinal, which is its place in the grid, counted by rows. */
struct cry {
    bcr_cce_id cce;
    int ord;
};
static const int CRY[] = {0, bcrT_CCE, 1, 0, bcrT_INT | bcrT_END, 1};

/* A CCE's neighbours; -1 where the plate ends. */
static const int NEIGHBOURS[] = {0, bcrT_CCE | bcrT_END, SIDES};

/* A tile on its way to the root is a row of doubles: whose it is, how many seconds its steps took, how many of those
 * it waited for neighbours, and its cells. */
enum { OF_ORD, OF_SECONDS, OF_WAITED, OF_CELLS };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double *new_doubles(int count)
{
    double *doubles = malloc((size_t)count * sizeof *doubles);
    if (doubles == NULL)
        must_end("keep its cells", "out of memory");
    return doubles;
}

static bcr_region region_of(const int *descriptor, int repl, const void *data, int bytes)
{
    const int length = must(bcr_copytosz(descriptor, repl, 0, 0, data, bytes), "measure what it sends") - 2;
    bcr_region region = must_have(bcr_rgalloc(length, 0), "allocate a region");
    must_copy(bcr_copyto(descriptor, repl, region, 0, data, bytes), "write into a region");
    return region;
}

static void read_out(const int *descriptor, int repl, bcr_region region, void *data, int bytes)
{
    must_copy(bcr_copyfm(descriptor, repl, region, 0, data, bytes), "read a region");
    must(bcr_rgfree(region), "free a region");
}

/* --- the grid --- */

static struct plate make_tile(const struct task *task, int ord)
{
    const int column = ord % task->across, row = ord / task->across;
    const int left = column * task->size / task->across, top = row * task->size / task->down;
    const int right = (column + 1) * task->size / task->across, bottom = (row + 1) * task->size / task->down;
    struct plate tile;
    if (!plate_make(&tile, task->size, left, top, right - left, bottom - top))
        must_end("make its tile", "out of memory");
    return tile;
}

/* The ordinal of the CCE on that side; -1 where the plate ends. */
static int neighbour_of(const struct task *task, int ord, enum side side)
{
    const int column = ord % task->across, row = ord / task->across;
    switch (side) {
    case NORTH: return row > 0 ? ord - task->across : -1;
    case SOUTH: return row < task->down - 1 ? ord + task->across : -1;
    case WEST: return column > 0 ? ord - 1 : -1;
    default: return column < task->across - 1 ? ord + 1 : -1;
    }
}

/* --- the steps --- */

static void send_edges(const struct plate *tile, const int neighbours[SIDES], double *edge)
{
    for (enum side side = 0; side < SIDES; side++) {
        const int cells = plate_side_cells(tile, side);
        if (neighbours[side] < 0)
            continue;
        plate_take_edge(tile, side, edge);
        bcr_region region = region_of(bcrT_1DOUBLE, cells, edge, cells * (int)sizeof *edge);
        must(bcr_enq(region, bcr_cce, EDGE + (int)side, bcr_FREE), "offer an edge");
    }
}

static void ask_for_halo(const int neighbours[SIDES], bcr_region asked[SIDES])
{
    for (enum side side = 0; side < SIDES; side++)
        if (neighbours[side] >= 0)
            asked[side] = must_have(bcr_deq(neighbours[side], EDGE + (int)(side ^ 1u), bcr_PENDING),
                                    "ask for a neighbour's edge");
}

static void take_halo(struct plate *tile, const int neighbours[SIDES], const bcr_region asked[SIDES],
                      double *edge)
{
    for (enum side side = 0; side < SIDES; side++) {
        const int cells = plate_side_cells(tile, side);
        if (neighbours[side] < 0)
            continue;
        must(bcr_rgwait(asked[side], bcr_BLOCK, 0), "wait for a neighbour's edge");
        read_out(bcrT_1DOUBLE, cells, asked[side], edge, cells * (int)sizeof *edge);
        plate_set_frame(tile, side, edge);
    }
}

/* Returns the seconds for which it has waited. */
static double run(const struct task *task, struct plate *tile, const int neighbours[SIDES])
{
    bcr_region asked[SIDES];
    double *edge = new_doubles(tile->width > tile->height ? tile->width : tile->height);
    double waited_s = 0;
    for (int i = 0; i < task->steps; i++) {
        send_edges(tile, neighbours, edge);
        ask_for_halo(neighbours, asked);
        if (!task->waits)
            plate_step_inside(tile);
        const double begun_s = now_s();
        take_halo(tile, neighbours, asked, edge);
        waited_s += now_s() - begun_s;
        if (task->waits)
            plate_step_inside(tile);
        plate_step_edges(tile);
        plate_turn(tile);
    }
    free(edge);
    return waited_s;
}

/* --- CCEs that the root has enlisted --- */

static void send_tile(const struct plate *tile, double seconds, double waited_s)
{
    const int cells = tile->width * tile->height, count = OF_CELLS + cells;
    double *row = new_doubles(count);
    row[OF_ORD] = bcr_cceord;
    row[OF_SECONDS] = seconds;
    row[OF_WAITED] = waited_s;
    for (int i = 0; i < cells; i++)
        row[OF_CELLS + i] = plate_at(tile, i % tile->width, i / tile->width);
    bcr_region region = region_of(bcrT_1DOUBLE, count, row, count * (int)sizeof *row);
    must(bcr_enq(region, bcr_enlistor, TILE, bcr_FREE), "send its tile");
    free(row);
}

/* Two steps' edges, since a neighbour may be one step behind; the tile; what starts the program. */
static void grow(const struct task *task)
{
    const int cces = task->across * task->down;
    const int width = task->size / task->across + 1, height = task->size / task->down + 1;
    const int edges = 8 * (width + height), tile = OF_CELLS + width * height;
    must(bcr_cagrow(PLACE, 0, 2, SIDES, 0, 2 * cces + 4 * SIDES,
                    2 * (edges + tile) * (int)sizeof(double) + (cces + 16) * SMALL_BYTES),
         "grow its cells");
}

static void be_enlisted(void)
{
    struct task task;
    int neighbours[SIDES];
    read_out(TASK, 1, must_have(bcr_deq(bcr_cce, 0, bcr_BLOCK), "take its task"), &task, sizeof task);
    grow(&task);
    const struct cry cry = {.cce = bcr_cce, .ord = bcr_cceord};
    must(bcr_enq(region_of(CRY, 1, &cry, sizeof cry), bcr_enlistor, PLACE, bcr_FREE), "send its birthcry");
    read_out(NEIGHBOURS, 1, must_have(bcr_deq(bcr_cce, PLACE, bcr_BLOCK), "learn its neighbours"), neighbours,
             sizeof neighbours);

    struct plate tile = make_tile(&task, bcr_cceord);
    const double begun_s = now_s();
    const double waited_s = run(&task, &tile, neighbours);
    send_tile(&tile, now_s() - begun_s, waited_s);
    plate_free(&tile);
    /* Neighbours may yet take its last edges, and an ended CCE has no cells. */
    must(bcr_rgfree(must_have(bcr_deq(bcr_cce, PLACE, bcr_BLOCK), "hear that all is done")), "free a region");
}

/* --- the root --- */

/* Each machine gets as many CCEs as it is meant for, then the next; after the last one the first again. */
static void enlist_all(const char *program, const struct task *task)
{
    const int cces = task->across * task->down;
    bcr_region birth = region_of(TASK, 1, task, sizeof *task);
    for (int ord = 1, k = 0, machines = 0; ord < cces; k++) {
        char machine[MACHINE_CHARS];
        int count = must(bcr_host(k, machine, sizeof machine), "look for a machine");
        if (count == 0) {
            must_hold(machines > 0, "the program has a machine");
            k = -1;
            continue;
        }
        machines++;
        count = count < cces - ord ? count : cces - ord;
        must(bcr_enlist(machine, -count, ord, program, birth, bcr_NOFREE), "enlist CCEs");
        ord += count;
    }
    must(bcr_rgfree(birth), "free the task");
}

/* The IDs of all, by ordinal. */
static int *await_all(int cces)
{
    int *ids = calloc((size_t)cces, sizeof *ids);
    if (ids == NULL)
        must_end("collect the birthcries", "out of memory");
    ids[0] = bcr_cce;
    for (int missing = cces - 1; missing > 0; missing--) {
        struct cry cry;
        read_out(CRY, 1, must_have(bcr_deq(bcr_cce, PLACE, bcr_BLOCK), "take a birthcry"), &cry, sizeof cry);
        must_hold(cry.ord > 0 && cry.ord < cces && ids[cry.ord] == 0, "each CCE cries once");
        ids[cry.ord] = cry.cce;
    }
    return ids;
}

static void find_neighbours(const struct task *task, const int *ids, int ord, int neighbours[SIDES])
{
    for (enum side side = 0; side < SIDES; side++) {
        const int other = neighbour_of(task, ord, side);
        neighbours[side] = other >= 0 ? ids[other] : -1;
    }
}

static void put_tile(struct plate *plate, const struct plate *tile, const double *cells)
{
    for (int i = 0; i < tile->width * tile->height; i++) {
        const int x = tile->left + i % tile->width, y = tile->top + i / tile->width;
        plate->heat[(y + 1) * (plate->width + 2) + x + 1] = cells[i];
    }
}

/* Into `plate`; adds the seconds for which the CCEs have waited, and for which they have run, to what is there. */
static void gather(const struct task *task, struct plate *plate, double *waited_s, double *seconds)
{
    for (int missing = task->across * task->down - 1; missing > 0; missing--) {
        double head[OF_CELLS];
        bcr_region region = must_have(bcr_deq(bcr_cce, TILE, bcr_BLOCK), "take a tile");
        must_copy(bcr_copyfm(bcrT_1DOUBLE, OF_CELLS, region, 0, head, sizeof head), "read whose tile it is");
        struct plate tile = make_tile(task, (int)head[OF_ORD]);
        const int count = OF_CELLS + tile.width * tile.height;
        double *row = new_doubles(count);
        read_out(bcrT_1DOUBLE, count, region, row, count * (int)sizeof *row);
        put_tile(plate, &tile, row + OF_CELLS);
        *waited_s += head[OF_WAITED];
        *seconds += head[OF_SECONDS];
        plate_free(&tile);
        free(row);
    }
}

static struct plate compute_alone(const struct task *task, double *seconds_out)
{
    const struct task alone = {.across = 1, .down = 1, .size = task->size, .steps = task->steps};
    const int nobody[SIDES] = {-1, -1, -1, -1};
    struct plate plate = make_tile(&alone, 0);
    const double begun_s = now_s();
    (void)run(&alone, &plate, nobody);
    *seconds_out = now_s() - begun_s;
    return plate;
}

static double difference(const struct plate *one, const struct plate *other)
{
    double most = 0;
    for (int y = 0; y < one->height; y++)
        for (int x = 0; x < one->width; x++)
            most = fmax(most, fabs(plate_at(one, x, y) - plate_at(other, x, y)));
    return most;
}

static struct plate compute_together(const struct task *task, const char *program, double *seconds_out,
                                     double *waiting_out)
{
    const int cces = task->across * task->down;
    int neighbours[SIDES];
    grow(task);
    enlist_all(program, task);
    int *ids = await_all(cces);
    for (int ord = 1; ord < cces; ord++) {
        find_neighbours(task, ids, ord, neighbours);
        must(bcr_enq(region_of(NEIGHBOURS, 1, neighbours, sizeof neighbours), ids[ord], PLACE, bcr_FREE),
             "send its neighbours");
    }
    find_neighbours(task, ids, 0, neighbours);

    struct plate tile = make_tile(task, 0), plate;
    if (!plate_make(&plate, task->size, 0, 0, task->size, task->size))
        must_end("make the plate", "out of memory");
    const double begun_s = now_s();
    double waited_s = run(task, &tile, neighbours);
    *seconds_out = now_s() - begun_s;
    double seconds = *seconds_out;
    double *cells = new_doubles(tile.width * tile.height);
    for (int i = 0; i < tile.width * tile.height; i++)
        cells[i] = plate_at(&tile, i % tile.width, i / tile.width);
    put_tile(&plate, &tile, cells);
    gather(task, &plate, &waited_s, &seconds);
    *waiting_out = seconds > 0 ? waited_s / seconds : 0;
    for (int ord = 1; ord < cces; ord++)
        must(bcr_enq(must_have(bcr_rgalloc(0, 0), "allocate a region"), ids[ord], PLACE, bcr_FREE),
             "tell that all is done");
    free(cells);
    free(ids);
    plate_free(&tile);
    return plate;
}

static void be_root(const char *program, const struct task *task, const char *path)
{
    double together_s, waiting, alone_s;
    struct plate plate = compute_together(task, program, &together_s, &waiting);
    struct plate alone = compute_alone(task, &alone_s);
    const double most = difference(&plate, &alone);
    const double msteps = 1e3 / (task->steps > 0 ? task->steps : 1);
    printf("halo: %d by %d CCEs, a plate of %d by %d cells, %d steps\n", task->across, task->down, task->size,
           task->size, task->steps);
    printf("  together %8.3f s, %8.3f ms a step; %.1f %% of it waiting for neighbours' edges\n", together_s,
           together_s * msteps, 100 * waiting);
    printf("  alone    %8.3f s, %8.3f ms a step\n", alone_s, alone_s * msteps);
    printf("  largest difference: %g\n", most);
    const char *why = path != NULL ? picture_write(path, &plate) : NULL;
    if (why != NULL)
        must_end("write the picture", why);
    if (path != NULL)
        printf("  picture: %s\n", path);
    plate_free(&plate);
    plate_free(&alone);
    must_hold(most < 1e-9, "many CCEs compute what one does");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"wait", no_argument, NULL, 'w'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct task task = {.waits = 0};
    const char *path = NULL;
    for (int option; (option = getopt_long(argc, argv, "o:wh", options, NULL)) != -1;) {
        if (option == 'o') {
            path = optarg;
        } else if (option == 'w') {
            task.waits = 1;
        } else {
            fputs(USAGE, option == 'h' ? stdout : stderr);
            return option == 'h' ? EXIT_SUCCESS : EXIT_USAGE;
        }
    }
    args_check(argc - optind + 1, argv + optind - 1, 4, USAGE);
    task.across = args_number(argc, argv, optind, "across", 2, 1, GRID_MAX);
    task.down = args_number(argc, argv, optind + 1, "down", 2, 1, GRID_MAX);
    const int most = task.across > task.down ? task.across : task.down;
    task.size = args_number(argc, argv, optind + 2, "size", most > 512 ? most : 512, most, SIZE_MAX_CELLS);
    task.steps = args_number(argc, argv, optind + 3, "steps", 500, 0, STEPS_MAX);

    must_init(bcr_user_ca | bcr_inorder, argv[0]);
    if (bcr_enlistor < 0)
        be_root(argv[0], &task, path);
    else
        be_enlisted();
    return EXIT_SUCCESS;
}
