/* SPDX-License-Identifier: MIT */
/* Cubes: programs are loaded on nodes, with process IDs; who has loaded them is the host. */
#include <signal.h>
#include <unistd.h>

#include <earl_cube.h>

#include "earl_worlds.h"

enum { CONTEXT = 1, PLACE = 1, GO = 2, RING = 3, NOTICE = 4 };

static struct earl_wanted from(int source, int tag)
{
    return (struct earl_wanted){CONTEXT, source, tag, NULL, NULL};
}

/* Tells the host where it is, passes a number round its process ID's nodes, and ends with its node as the status. */
void node(void)
{
    struct earl_cube cube;
    int place[2], got;
    MUST(earl_begin("node") == EARL_OK);
    MUST(earl_cube_own(&cube, &place[0], &place[1]) == EARL_OK && cube.size == 3);
    MUST(earl_cube_process(place[0], place[1], 0) == earl_process());
    MUST(earl_cube_process(cube.size, EARL_ANY, 0) == cube.host);
    const int next = earl_cube_process((place[0] + 1) % cube.size, place[1], 1);
    MUST(earl_send(cube.host, CONTEXT, PLACE, place, sizeof place) == EARL_OK);
    MUST(earl_send(next, CONTEXT, RING, &place[0], sizeof place[0]) == EARL_OK);
    const struct earl_wanted ring = from(EARL_ANY, RING), go = from(cube.host, GO);
    struct earl_envelope envelope;
    int source[2];
    MUST(earl_receive(&ring, &got, sizeof got, &envelope) == EARL_OK);
    MUST(earl_cube_place(envelope.source, 1, &source[0], &source[1]) == EARL_OK);
    MUST(got == source[0] && (got + 1) % cube.size == place[0] && source[1] == place[1]);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
    exit(place[0]);
}

static void receive_places(int pid)
{
    for (int i = 0; i < 3; i++) {
        const struct earl_wanted wanted = from(EARL_ANY, PLACE);
        struct earl_envelope envelope;
        int told[2], own[2];
        MUST(earl_receive(&wanted, told, sizeof told, &envelope) == EARL_OK);
        MUST(earl_cube_place(envelope.source, 1, &own[0], &own[1]) == EARL_OK);
        MUST(own[0] == told[0] && own[1] == told[1] && own[1] == pid);
    }
}

static void await_one(int node, int pid)
{
    struct earl_exec_process told;
    int place[2] = {node, pid};
    MUST(earl_cube_await(&place[0], &place[1], &told) == EARL_OK);
    MUST(told.how == EARL_HOW_EXITED && told.status == place[0] && (node == EARL_ANY || place[0] == node));
    MUST(pid == EARL_ANY || place[1] == pid);
}

void cubes(void)
{
    const char *const arguments[] = {"node", NULL};
    struct earl_cube list[4];
    struct earl_exec_process told;
    int place[2] = {EARL_ANY, EARL_ANY}, pid = -1;
    begin();
    MUST(earl_cube_own(NULL, NULL, NULL) == EARL_E_NONE && earl_cube_drop(NULL) == EARL_E_NONE);
    MUST(earl_cube_make("", 1, 0) == EARL_E_ARG && earl_cube_make("a", 0, 0) == EARL_E_ARG);
    MUST(earl_cube_attach("no") == EARL_E_NONE && earl_cube_drop("no") == EARL_E_NONE);
    MUST(earl_cube_pid(100) == EARL_OK && earl_cube_make("a", 3, 0) == EARL_OK);
    MUST(earl_cube_make("a", 3, 0) == EARL_E_BUSY && earl_cube_make("b", 2, 1) == EARL_OK);
    MUST(earl_cube_list(list, 4) == 2 && list[1].size == 2 && list[1].is_kept && list[0].host == self);
    MUST(earl_cube_attach("a") == 3 && earl_cube_own(list, &place[0], &place[1]) == EARL_OK);
    MUST(place[0] == 3 && place[1] == 100 && list[0].host_pid == 100 && strcmp(list[0].name, "a") == 0);
    MUST(earl_cube_load("/no/such", NULL, EARL_ANY, 0) == EARL_E_FILE);
    MUST(earl_cube_process(0, 0, 0) == EARL_E_PROCESS && earl_cube_process(0, 5, -1) == EARL_E_PROCESS);
    MUST(earl_cube_place(77, 0, &place[0], &place[1]) == EARL_E_PROCESS &&
         earl_cube_process(4, 0, 0) == EARL_E_ARG);
    MUST(earl_cube_load(own_file, arguments, EARL_ANY, 5) == 3 && earl_cube_pids(&pid) == 1 && pid == 5);
    MUST(earl_cube_load(own_file, arguments, EARL_ANY, 5) == EARL_E_BUSY);
    receive_places(5);
    for (int i = 2; i >= 0; i--) /* one by one; each waits for the next one to be there */
        MUST(earl_cube_load(own_file, arguments, i, 6) == 1);
    MUST(earl_cube_pids(NULL) == 2);
    receive_places(6);
    for (int i = 0; i < 3; i++)
        for (int k = 5; k < 7; k++)
            MUST(earl_send(earl_cube_process(i, k, 0), CONTEXT, GO, NULL, 0) == EARL_OK);
    await_one(1, 6);
    await_one(EARL_ANY, 6);
    await_one(2, EARL_ANY);
    for (int i = 0; i < 3; i++)
        await_one(EARL_ANY, EARL_ANY);
    place[0] = place[1] = EARL_ANY;
    MUST(earl_cube_await(&place[0], &place[1], &told) == EARL_E_PROCESS);
    /* Killed, and with the cube. */
    MUST(earl_cube_load(own_file, arguments, EARL_ANY, 5) == 3);
    receive_places(5); /* one that is killed before it has begun was never there */
    MUST(earl_cube_kill(1, EARL_ANY) == 1);
    place[0] = 1;
    MUST(earl_cube_await(&place[0], &place[1], &told) == EARL_OK && told.how == EARL_HOW_KILLED);
    MUST(earl_cube_drop("a") == EARL_OK && earl_cube_attach("a") == EARL_E_NONE);
    MUST(earl_cube_attach("b") == 2 && earl_cube_drop(NULL) == EARL_OK && earl_cube_list(NULL, 0) == 0);
}

/* Makes a cube, loads it, and ends: what it has loaded is killed. */
void loads(void)
{
    const char *const arguments[] = {"node", NULL};
    const struct earl_wanted go = from(EARL_ANY, GO);
    MUST(earl_begin("loads") == EARL_OK && earl_cube_make("c", 3, 0) == EARL_OK);
    MUST(earl_cube_load(own_file, arguments, 0, 0) == 1);
    const int loaded = earl_cube_process(0, 0, 0);
    MUST(earl_send(earl_exec_parent(), CONTEXT, PLACE, &loaded, sizeof loaded) == EARL_OK);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
    raise(SIGKILL);
}

void tied(void)
{
    int loader, loaded;
    struct earl_exec_process told;
    begin();
    start("loads", 1, &loader);
    const struct earl_wanted wanted = from(loader, PLACE);
    MUST(earl_receive(&wanted, &loaded, sizeof loaded, NULL) == EARL_OK);
    MUST(earl_send(loader, CONTEXT, GO, NULL, 0) == EARL_OK);
    MUST(earl_exec_await(1, &loaded, &told) == EARL_OK);
    MUST(told.how == EARL_HOW_KILLED || told.how == EARL_HOW_NEVER); /* it may not have begun yet */
    MUST(earl_cube_list(NULL, 0) == 0);
}

/* Attaches to a cube, and ends. */
void attaches(void)
{
    MUST(earl_begin("attaches") == EARL_OK && earl_cube_attach("d") == 3);
}

/* The cube is its maker's, whoever has attached to it. */
void attached(void)
{
    struct earl_cube cube;
    struct earl_exec_process told;
    int guest;
    begin();
    MUST(earl_cube_make("d", 3, 0) == EARL_OK);
    start("attaches", 1, &guest);
    MUST(earl_exec_await(1, &guest, &told) == EARL_OK && told.how == EARL_HOW_EXITED && told.status == 0);
    MUST(earl_cube_list(&cube, 1) == 1 && cube.host == guest && cube.size == 3);
    MUST(earl_cube_drop("d") == EARL_OK && earl_cube_list(NULL, 0) == 0);
}

/* Attaches to a cube, loads a node of it, and ends when it is told to. */
void loads_one(void)
{
    const char *const arguments[] = {"waits", NULL};
    int node;
    MUST(earl_begin("loads_one") == EARL_OK && earl_cube_attach("f") == 3);
    const struct earl_wanted go = from(earl_exec_parent(), GO);
    MUST(earl_receive(&go, &node, sizeof node, NULL) == EARL_OK);
    MUST(earl_cube_load(own_file, arguments, node, 0) == 1);
    const int loaded = earl_cube_process(node, 0, 0);
    MUST(earl_send(earl_exec_parent(), CONTEXT, PLACE, &loaded, sizeof loaded) == EARL_OK);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
}

/* What guests have loaded is known to all, also after guests before have ended. */
void guests(void)
{
    begin();
    MUST(earl_cube_make("f", 3, 0) == EARL_OK);
    for (int node = 0; node < 3; node++) {
        struct earl_exec_process told;
        int guest, loaded;
        start("loads_one", 1, &guest);
        const struct earl_wanted place = from(guest, PLACE);
        MUST(earl_send(guest, CONTEXT, GO, &node, sizeof node) == EARL_OK);
        MUST(earl_receive(&place, &loaded, sizeof loaded, NULL) == EARL_OK);
        MUST(earl_cube_process(node, 0, 0) == loaded);
        MUST(earl_send(guest, CONTEXT, GO, NULL, 0) == EARL_OK);
        MUST(earl_exec_await(1, &guest, &told) == EARL_OK && told.how == EARL_HOW_EXITED && told.status == 0);
    }
    MUST(earl_cube_drop(NULL) == EARL_OK && earl_exec_boxes(NULL, NULL, 0) == 0);
}

/* Gives a cube back that another has as its current one. */
void drops(void)
{
    MUST(earl_begin("drops") == EARL_OK && earl_cube_drop("e") == EARL_OK);
}

/* What is loaded ends with its cube, also if the loader was killed before it could tell of it, or loads a cube that is given back. */
void dropped(void)
{
    const char *const arguments[] = {"waits", NULL}, *const environment[] = {"EARL_CUBE=e", NULL};
    const struct earl_exec_start untold = {
        .file = own_file, .arguments = arguments, .environment = environment, .group = "cube/e", .count = 1};
    struct earl_exec_process told, list[4];
    int lost, dropper;
    begin();
    MUST(earl_cube_make("e", 3, 1) == EARL_OK && earl_exec_start(&untold, &lost) == 1);
    start("drops", 1, &dropper);
    MUST(earl_exec_await(1, &lost, &told) == EARL_OK && told.how != EARL_HOW_EXITED);
    MUST(earl_exec_await(1, &dropper, &told) == EARL_OK && told.how == EARL_HOW_EXITED && told.status == 0);
    MUST(earl_cube_load(own_file, arguments, EARL_ANY, 0) == EARL_E_NONE);
    while (earl_exec_list(list, 4) > 1)
        MUST(earl_exec_await(1, &list[1].process, &told) == EARL_OK && told.how != EARL_HOW_EXITED);
    MUST(earl_exec_boxes(NULL, NULL, 0) == 0);
}
