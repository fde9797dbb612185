/* SPDX-License-Identifier: MIT */
/* Killed while it sends or receives data of its own: each is an allocation, a copy and a put, or a
 * get, a copy and a free, in one call; the region is in the cell or there is none, and none is
 * lost. */
#include "scene.h"

static bool send_one(struct scene *scene)
{
    const int value = 100;
    return bcr_send(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 1, 0) == 2;
}
static bool send_over(struct scene *scene)
{
    const int value = 100;
    return bcr_send(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 0, 0) == 2;
}
static bool send_ids(struct scene *scene)
{
    static const int desc[] = {0, bcrT_INT, 1, 0, bcrT_CCE | bcrT_END, 1};
    const int values[] = {100, bcr_cce};
    return bcr_send(values, sizeof values, desc, 1, scene->home, scene->cell, 1, 0) == 2;
}
static bool send_full(struct scene *scene)
{
    const int value = 100;
    return bcr_send(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 1, 0) == -2 &&
           bcr_errno == bcrE_FULL;
}
static bool sendm_two(struct scene *scene)
{
    const int value = 100, cells[] = {scene->home, scene->cell, scene->home, scene->cell2};
    return bcr_sendm(&value, sizeof value, bcrT_1INT, 1, 2, cells, 1, 0) == 2;
}
static bool recv_one(struct scene *scene)
{
    int value = 0;
    return bcr_recv(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 1, 0) == 2 && value == 1;
}
static bool recv_shared(struct scene *scene)
{
    int value = 0;
    return bcr_recv(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 0, 0) == 2 && value == 1;
}
static bool recv_what_comes(struct scene *scene)
{
    int value = 0;
    return bcr_recv(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 1, bcr_BLOCK) == 2 &&
           value == 7;
}
static bool recv_nothing(struct scene *scene)
{
    int value = 0;
    return bcr_recv(&value, sizeof value, bcrT_1INT, 1, scene->home, scene->cell, 1, 0) == -1 &&
           bcr_errno == bcrE_TIMEOUT;
}
static bool copy_on(struct scene *scene)
{
    return bcr_copytofm(bcrT_1INT, 1, scene->id[0], 0, scene->id[1], 0) >= 2;
}

static void will_not_wait(struct scene *scene)
{
    (void)scene;
    CHECK_INT(bcr_putwait(0), 0);
}
static void owner_puts(struct scene *scene)
{
    as_owner(scene);
    CHECK_INT(bcr_enq(number(7), scene->home, scene->cell, bcr_FREE), 0);
}
static void shares_the_first_and_has_another(struct scene *scene)
{
    scene->id[0] = bcr_read(scene->home, scene->cell, 0);
    scene->id[1] = number(100);
    CHECK(scene->id[0] != NULL);
}

SCENARIO(send_behind_another, .queued = 1, .run = send_one, .before = ": 1", .after = ": 1 100")
SCENARIO(send_into_a_cell_never_used_before, .cold = true, .run = send_one, .before = ":", .after = ": 100")
SCENARIO(send_to_a_waiting_taker, .waiters = "TT", .run = send_one,
         .before = "T=- T=- :", .after = "T=100 T=- :")
SCENARIO(send_over_two, .queued = 2, .run = send_over, .before = ": 1 2", .after = ": 100")
SCENARIO(send_of_an_id, .run = send_ids, .before = ":", .after = ": 100")
SCENARIO(send_that_finds_no_room, .nrgns = 1, .queued = 1, .prepare = will_not_wait, .run = send_full,
         .before = ": 1", .after = ": 1")
SCENARIO(sendm_into_two_cells, .queued = 1, .run = sendm_two, .before = ": 1", .after = ": 1 100 ; 100",
         .also = ": 1 100")

SCENARIO(recv_of_the_first, .queued = 2, .run = recv_one, .before = ": 1 2", .after = ": 2")
SCENARIO(recv_that_leaves_it, .queued = 2, .run = recv_shared, .before = ": 1 2", .after = ": 1 2")
SCENARIO(recv_that_finds_nothing, .run = recv_nothing, .before = ":", .after = ":")
SCENARIO(recv_that_waits, .run = recv_what_comes, .help = owner_puts, .help_at = TRACE_AT_SLEEP,
         .before = ":", .after = ":", .also = ": 7")

SCENARIO(copytofm_into_anothers_shared_one, .queued = 1, .prepare = shares_the_first_and_has_another,
         .run = copy_on, .before = ": 1", .after = ": 1")
