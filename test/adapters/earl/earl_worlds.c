/* SPDX-License-Identifier: MIT */
/* Programs whose processes come and go: earl_worlds SCENARIO starts others of itself, with further arguments. */
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "earl_worlds.h"

int self, count, number;

enum { CONTEXT = 1, HELLO = 1, GO = 2, NOTICE = 3, FILLING = 12 };

const char *own_file;

static struct earl_wanted from(int source, int tag)
{
    return (struct earl_wanted){CONTEXT, source, tag, NULL, NULL};
}

void begin(void)
{
    MUST(earl_exec_begin("worlds") == EARL_OK && earl_exec_begin("worlds") == EARL_OK);
    self = earl_process();
    MUST(self > 0 && earl_processes() == 0);
}

void start(const char *what, int many, int *processes)
{
    const char *const arguments[] = {what, NULL}, *const environment[] = {"WORLD=a b\"c", NULL};
    const struct earl_exec_start spec = {
        .file = own_file, .arguments = arguments, .environment = environment, .count = many};
    const int started = earl_exec_start(&spec, processes);
    if (started != many)
        fprintf(stderr, "%d of %d: %d %s\n", started, many, processes[0], earl_strerror(processes[0]));
    MUST(started == many);
}

static void receive_int(int source, int tag, int value)
{
    const struct earl_wanted wanted = from(source, tag);
    int got;
    MUST(earl_receive(&wanted, &got, sizeof got, NULL) == EARL_OK && got == value);
}

static void send_int(int process, int tag, int value)
{
    MUST(earl_send(process, CONTEXT, tag, &value, sizeof value) == EARL_OK);
}

/* ---- children ---- */

/* Says hello to its parent, and to the next of those that the parent tells of. */
static void child(void)
{
    MUST(earl_begin("child") == EARL_OK);
    self = earl_process();
    const int parent = earl_exec_parent();
    MUST(parent > 0 && strcmp(getenv("WORLD"), "a b\"c") == 0);
    send_int(parent, HELLO, self);
    const struct earl_wanted wanted = from(parent, GO);
    int next;
    MUST(earl_receive(&wanted, &next, sizeof next, NULL) == EARL_OK);
    send_int(next, HELLO, self * 3);
    const struct earl_wanted hello = from(EARL_ANY, HELLO);
    struct earl_envelope envelope;
    int got;
    MUST(earl_receive(&hello, &got, sizeof got, &envelope) == EARL_OK && got == 3 * envelope.source);
    send_int(parent, GO, envelope.source);
}

static void quits(void)
{
    MUST(earl_begin("child") == EARL_OK);
    exit(7);
}

static void waits(void)
{
    MUST(earl_begin("child") == EARL_OK);
    const struct earl_wanted wanted = from(EARL_ANY, EARL_ANY);
    send_int(earl_exec_parent(), HELLO, earl_process());
    (void)earl_receive(&wanted, NULL, 0, NULL);
}

/* Joins, and leaves by ending. */
static void joins(void)
{
    MUST(earl_begin("child") == EARL_OK);
    const int parent = earl_exec_parent(), place = earl_exec_join("some");
    MUST(place >= 0);
    send_int(parent, HELLO, place);
    const struct earl_wanted go = from(parent, GO);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
    MUST(earl_exec_barrier("gate", 4) == EARL_OK);
    send_int(parent, HELLO, -1);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
}

/* Its inbox is small, and full while it is stopped at a barrier. */
static void stops(void)
{
    MUST(earl_begin("child") == EARL_OK);
    const int parent = earl_exec_parent();
    send_int(parent, HELLO, earl_process());
    MUST(earl_exec_barrier("stop", 2) == EARL_OK);
    for (int i = 0; i < FILLING; i++)
        receive_int(parent, GO, i);
}

static earl_buffer *buffer_of(int first, double second, size_t bytes)
{
    earl_buffer *buffer = earl_buffer_make(0);
    unsigned char *data = allocate(bytes);
    fill(data, bytes, (unsigned)first);
    MUST(buffer != NULL && earl_pack(buffer, EARL_INT, &first, 1, 1) == EARL_OK);
    MUST(earl_pack(buffer, EARL_DOUBLE, &second, 1, 1) == EARL_OK);
    MUST(earl_pack(buffer, EARL_BYTE, data, bytes, 1) == EARL_OK);
    free(data);
    return buffer;
}

static void is_buffer_of(earl_buffer *buffer, int first, double second, size_t bytes)
{
    int one;
    double two;
    unsigned char *data = allocate(bytes);
    MUST(earl_unpack(buffer, EARL_INT, &one, 1, 1) == EARL_OK && one == first);
    MUST(earl_unpack(buffer, EARL_DOUBLE, &two, 1, 1) == EARL_OK && two == second);
    MUST(earl_unpack(buffer, EARL_BYTE, data, bytes, 1) == EARL_OK &&
         is_filled(data, bytes, (unsigned)first));
    MUST(earl_unpack(buffer, EARL_BYTE, data, 1, 1) == EARL_E_END);
    free(data);
}

enum { LONG_BOX = 300000 };

/* Posts three, of which one outlives it. */
static void posts(void)
{
    MUST(earl_begin("child") == EARL_OK);
    earl_buffer *buffer = buffer_of(5, 0.5, LONG_BOX);
    MUST(earl_exec_post("stays", -1, EARL_BOX_STAYS | EARL_BOX_ANYONE, buffer) == 0);
    MUST(earl_exec_post("mine", -1, 0, buffer) == 0);
    MUST(earl_exec_post("waited for", -1, 0, buffer) == 0);
    const struct earl_wanted go = from(earl_exec_parent(), GO);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
}

/* ---- scenarios ---- */

static void groups_by_name(void)
{
    enum { MANY = 3 };
    int children[MANY], members[8], place[MANY];
    begin();
    MUST(earl_exec_members("some", members, 8) == 0 && earl_exec_leave("some") == EARL_E_NONE);
    MUST(earl_exec_join("some") == 0 && earl_exec_join("some") == EARL_E_BUSY);
    start("joins", MANY, children);
    for (int i = 0; i < MANY; i++) {
        const struct earl_wanted wanted = from(children[i], HELLO);
        MUST(earl_receive(&wanted, &place[i], sizeof place[i], NULL) == EARL_OK);
        MUST(place[i] > 0 && place[i] <= MANY);
    }
    MUST(earl_exec_members("some", members, 8) == MANY + 1 && members[0] == self);
    for (int i = 0; i < MANY; i++)
        MUST(members[place[i]] == children[i]);
    for (int i = 0; i < MANY; i++)
        MUST(earl_send(children[i], CONTEXT, GO, NULL, 0) == EARL_OK);
    MUST(earl_exec_barrier("gate", 4) == EARL_OK);
    for (int i = 0; i < MANY; i++)
        receive_int(children[i], HELLO, -1);
    /* A place that becomes free is the next one's. */
    struct earl_exec_process told;
    MUST(earl_send(children[0], CONTEXT, GO, NULL, 0) == EARL_OK);
    MUST(earl_exec_await(1, children, &told) == EARL_OK);
    const int size = earl_exec_members("some", members, 8);
    MUST(place[0] == MANY ? size == MANY : size == MANY + 1 && members[place[0]] == EARL_ANY);
    MUST(earl_exec_leave("some") == EARL_OK && earl_exec_join("some") == 0);
    for (int i = 1; i < MANY; i++)
        MUST(earl_exec_signal(children[i], SIGKILL) == EARL_OK &&
             earl_exec_await(1, &children[i], &told) == EARL_OK);
    MUST(earl_exec_members("some", NULL, 0) == 1 && earl_exec_leave("some") == EARL_OK);
    MUST(earl_exec_members("some", NULL, 0) == 0 && earl_exec_barrier("gate", 1) == EARL_OK);
}

static void boxes(void)
{
    int child;
    struct earl_exec_boxed list[8];
    struct earl_exec_process told;
    earl_buffer *buffer = NULL;
    begin();
    MUST(earl_exec_fetch("waited for", 0, 0, &buffer) == EARL_E_NONE);
    start("posts", 1, &child);
    MUST(earl_exec_fetch("waited for", 0, EARL_BOX_WAIT, &buffer) == 0);
    is_buffer_of(buffer, 5, 0.5, LONG_BOX);
    /* What came may be sent on, and kept. */
    MUST(earl_exec_post("several", -1, EARL_BOX_SEVERAL, buffer) == 0);
    earl_buffer_free(buffer);
    buffer = buffer_of(7, -1e300, 0);
    MUST(earl_exec_post("several", -1, EARL_BOX_SEVERAL, buffer) == 1);
    MUST(earl_exec_post("several", 5, EARL_BOX_SEVERAL, buffer) == 5);
    MUST(earl_exec_post("several", 5, EARL_BOX_SEVERAL, buffer) == EARL_E_BUSY);
    MUST(earl_exec_post("several", 5, EARL_BOX_SEVERAL | EARL_BOX_REPLACE, buffer) == 5);
    MUST(earl_exec_post("mine", 0, EARL_BOX_REPLACE, buffer) == EARL_E_BUSY);
    MUST(earl_exec_post("mine", -1, EARL_BOX_SEVERAL, buffer) == EARL_E_BUSY);
    MUST(earl_exec_drop("mine", 0) == EARL_E_BUSY && earl_exec_drop("none", 0) == EARL_E_NONE);
    MUST(earl_exec_boxes(NULL, list, 8) == 6 && strcmp(list[0].name, "mine") == 0 && list[0].owner == child);
    MUST(strcmp(list[3].name, "several") == 0 && list[3].index == 5 && list[3].owner == self);
    MUST(earl_exec_boxes("several", list, 1) == 3 && list[0].index == 0);
    earl_buffer_free(buffer);
    MUST(earl_exec_fetch("mine", 0, EARL_BOX_TAKE, &buffer) == EARL_E_BUSY);
    MUST(earl_exec_fetch("several", 0, 0, &buffer) == 0);
    is_buffer_of(buffer, 5, 0.5, LONG_BOX);
    earl_buffer_free(buffer);
    MUST(earl_exec_fetch("several", 2, EARL_BOX_EXACT, &buffer) == EARL_E_NONE);
    MUST(earl_exec_fetch("several", 2, EARL_BOX_TAKE, &buffer) == 5);
    is_buffer_of(buffer, 7, -1e300, 0);
    earl_buffer_free(buffer);
    MUST(earl_send(child, CONTEXT, GO, NULL, 0) == EARL_OK);
    MUST(earl_exec_await(1, &child, &told) == EARL_OK);
    MUST(earl_exec_boxes("mine", NULL, 0) == 0 && earl_exec_boxes(NULL, NULL, 0) == 3);
    MUST(earl_exec_fetch("stays", 0, EARL_BOX_TAKE, &buffer) == 0);
    is_buffer_of(buffer, 5, 0.5, LONG_BOX);
    MUST(earl_exec_drop("stays", 0) == EARL_E_NONE);
}

/* All of a team; EXEC is one. */
static void team(void)
{
    int members[64];
    begin();
    const char *wanted = getenv("WORLD_SIZE");
    count = atoi(wanted == NULL ? "1" : wanted);
    int rank = -1;
    MUST(earl_exec_team(&rank) == (wanted == NULL ? 0 : count) && rank >= 0 && rank < count);
    MUST(earl_exec_team(NULL) == EARL_E_ARG);
    /* Each rank is one member's. */
    earl_buffer *none = earl_buffer_make(1);
    MUST(none != NULL && earl_exec_post("ranks", rank, EARL_BOX_SEVERAL, none) == rank);
    earl_buffer_free(none);
    MUST(earl_exec_join("all") >= 0 && earl_exec_barrier("all", count) == EARL_OK);
    MUST(earl_exec_boxes("ranks", NULL, 0) == count);
    MUST(earl_exec_members("all", members, 64) == count && earl_exec_list(NULL, 0) == count);
    const struct earl_group group = {count, members, 1};
    int *all = calloc((size_t)count, sizeof *all);
    size_t *lengths = calloc((size_t)count, sizeof *lengths);
    for (int i = 0; i < count; i++)
        lengths[i] = sizeof *all;
    MUST(earl_collect(&group, &self, lengths, all) == EARL_OK);
    for (int i = 0; i < count; i++)
        MUST(all[i] == members[i]);
    MUST(earl_barrier(NULL) == EARL_E_ARG && earl_barrier(&group) == EARL_OK);
}

static void bad_input(void)
{
    struct earl_exec_process told;
    char name[300];
    int process = 0;
    MUST(earl_exec_parent() == EARL_E_STATE && earl_exec_join("x") == EARL_E_STATE);
    begin();
    MUST(earl_exec_parent() == EARL_ANY);
    struct earl_exec_start spec = {.file = "/no/such/program", .count = 1};
    MUST(earl_exec_start(&spec, &process) == 0 && process == EARL_E_FILE);
    spec = (struct earl_exec_start){.file = own_file, .count = 1, .host = "no.such.host"};
    MUST(earl_exec_start(&spec, &process) == 0 && process == EARL_E_HOST);
    spec = (struct earl_exec_start){.file = own_file, .count = 1, .directory = "/no/such/directory"};
    MUST(earl_exec_start(&spec, &process) == 0 && process == EARL_E_FILE);
    spec.count = 0;
    MUST(earl_exec_start(&spec, &process) == EARL_E_ARG && earl_exec_start(NULL, NULL) == EARL_E_ARG);
    MUST(earl_exec_process(77, &told) == EARL_E_PROCESS && earl_exec_process(-1, &told) == EARL_E_PROCESS);
    process = 77;
    MUST(earl_exec_await(1, &process, &told) == EARL_E_PROCESS &&
         earl_exec_await(0, &process, &told) == EARL_E_ARG);
    MUST(earl_send(77, CONTEXT, GO, NULL, 0) == EARL_E_ENDED);
    MUST(earl_send(-1, CONTEXT, GO, NULL, 0) == EARL_E_PROCESS &&
         earl_send(1 << 30, 1, 1, NULL, 0) == EARL_E_PROCESS);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    MUST(earl_exec_join(name) == EARL_E_ARG && earl_exec_join("") == EARL_E_ARG &&
         earl_exec_join(NULL) == EARL_E_ARG);
    MUST(earl_exec_barrier("x", 0) == EARL_E_ARG && earl_exec_members(NULL, NULL, 0) == EARL_E_ARG);
    MUST(earl_exec_post("x", -1, 0, NULL) == EARL_E_ARG && earl_exec_fetch("x", 0, 0, NULL) == EARL_E_ARG);
    MUST(earl_exec_host(0, name, sizeof name) > 0 && earl_exec_host(999, name, sizeof name) == 0 &&
         name[0] == '\0');
    MUST(earl_exec_host(-1, name, 1) == EARL_E_ARG);
}

/* Who asks EXEC when it has been killed is told; who computes is not disturbed. */
static void exec_dies(void)
{
    int children[1];
    begin();
    start("waits", 1, children);
    receive_int(children[0], HELLO, children[0]);
    MUST(earl_host(children[0]) >= 0); /* who is known needs no EXEC */
    char command[64];
    snprintf(command, sizeof command, "pkill -KILL -P %d earl-exec", getppid());
    MUST(system(command) == 0);
    int code = EARL_OK;
    while (code == EARL_OK)
        code = earl_exec_list(NULL, 0) > 0 ? EARL_OK : EARL_E_ENDED;
    MUST(earl_exec_list(NULL, 0) == EARL_E_ENDED && earl_exec_barrier("x", 2) == EARL_E_ENDED);
    MUST(earl_send(children[0], CONTEXT, GO, NULL, 0) == EARL_OK);
}

/* EXEC has an answer for a process that is stopped and has no room for it; the others' come all the same. */
static void stopped(void)
{
    const char *const arguments[] = {"stops", NULL}, *const environment[] = {"EARL_INBOX=4", NULL};
    const struct earl_exec_start spec = {
        .file = own_file, .arguments = arguments, .environment = environment, .count = 1};
    struct earl_exec_process told;
    earl_request requests[FILLING];
    int child, values[FILLING];
    begin();
    MUST(earl_exec_start(&spec, &child) == 1);
    receive_int(child, HELLO, child);
    while (earl_exec_barrier("stop", 1) == EARL_OK)
        continue; /* until the child waits there, for another count */
    MUST(earl_exec_signal(child, SIGSTOP) == EARL_OK);
    for (int i = 0; i < FILLING; i++) {
        values[i] = i;
        requests[i] = earl_isend(child, CONTEXT, GO, &values[i], sizeof values[i]);
        MUST(requests[i] > 0);
    }
    MUST(earl_exec_barrier("stop", 2) == EARL_OK && earl_exec_list(NULL, 0) == 2);
    MUST(earl_exec_signal(child, SIGCONT) == EARL_OK);
    for (int i = 0; i < FILLING; i++)
        MUST(earl_wait(requests[i], NULL) == EARL_OK);
    MUST(earl_exec_await(1, &child, &told) == EARL_OK && told.how == EARL_HOW_EXITED && told.status == 0);
}

static void enters(void)
{
    MUST(earl_exec_enter(getenv("WORLD_NAME"), "enters") == EARL_OK && earl_exec_list(NULL, 0) > 0);
}

/* A program that is no process of Earl: EXEC comes and goes with those that enter, two at a time. */
static void holds(void)
{
    enum { ROUNDS = 12 };
    char *const arguments[] = {(char *)(uintptr_t)own_file, (char *)(uintptr_t) "enters", NULL};
    MUST(bcr_init(bcr_isolate | bcr_anystatus, NULL) == 0);
    pid_t last = 0;
    for (int i = 0, status; i < ROUNDS; i++) {
        pid_t child;
        MUST(posix_spawn(&child, own_file, NULL, NULL, arguments, environ) == 0);
        if (last > 0)
            MUST(waitpid(last, &status, 0) == last && status == 0);
        last = child;
        if (i == ROUNDS - 1)
            MUST(waitpid(last, &status, 0) == last && status == 0);
    }
}

/* Starts EXEC, and ends at once: EXEC has nobody to tell that it is there. */
static void leaves(void)
{
    const struct bcr_startspec spec = {
        .size = sizeof spec, .core = -1, .count = 1, .program = getenv("EARL_EXEC")};
    MUST(bcr_init(bcr_isolate, NULL) == 0 && bcr_start(&spec, NULL) == 1);
}

static void starts(void)
{
    enum { MANY = 5 };
    int children[MANY];
    begin();
    start("child", MANY, children);
    for (int i = 0; i < MANY; i++) {
        MUST(children[i] > self);
        receive_int(children[i], HELLO, children[i]);
    }
    for (int i = 0; i < MANY; i++)
        send_int(children[i], GO, children[(i + 1) % MANY]);
    for (int i = 0; i < MANY; i++)
        receive_int(children[i], GO, children[(i + MANY - 1) % MANY]);
    for (int i = 0; i < MANY; i++) {
        struct earl_exec_process told;
        MUST(earl_exec_await(1, &children[i], &told) == EARL_OK && told.process == children[i]);
        MUST(told.has_ended && told.how == EARL_HOW_EXITED && told.status == 0 && told.parent == self);
        MUST(earl_exec_process(children[i], &told) == EARL_OK && told.has_ended);
        /* On another host it may be on its way when that tells of the end. */
        int code = EARL_OK;
        while (code == EARL_OK)
            code = earl_send(children[i], CONTEXT, GO, NULL, 0);
        MUST(code == EARL_E_ENDED);
    }
    MUST(earl_exec_list(NULL, 0) == 1);
}

static void told_of_ends(void)
{
    int children[3];
    struct earl_exec_process told, list[8];
    begin();
    start("quits", 1, &children[0]);
    start("waits", 2, &children[1]);
    MUST(earl_exec_await(3, children, &told) == EARL_OK && told.process == children[0]);
    MUST(told.how == EARL_HOW_EXITED && told.status == 7);
    receive_int(children[1], HELLO, children[1]);
    receive_int(children[2], HELLO, children[2]);
    MUST(earl_exec_list(list, 8) == 3 && list[0].process == self && list[1].process == children[1] &&
         list[2].process == children[2] && list[2].parent == self && list[0].parent == EARL_ANY);
    MUST(earl_watch(children[1], CONTEXT, NOTICE) == EARL_OK);
    MUST(earl_exec_signal(children[1], 0) == EARL_OK && earl_exec_signal(children[1], SIGKILL) == EARL_OK);
    const struct earl_wanted notice = from(children[1], NOTICE);
    MUST(earl_receive(&notice, NULL, 0, NULL) == EARL_OK);
    MUST(earl_exec_await(1, &children[1], &told) == EARL_OK && told.how == EARL_HOW_KILLED &&
         told.status == SIGKILL);
    MUST(earl_exec_signal(children[1], SIGTERM) == EARL_E_ENDED);
    MUST(earl_exec_signal(children[2], 12345) == EARL_E_ARG && earl_exec_signal(999, 0) == EARL_E_PROCESS);
    MUST(earl_exec_signal(children[2], SIGKILL) == EARL_OK);
    MUST(earl_exec_await(1, &children[2], &told) == EARL_OK && told.process == children[2]);
}

/* One that has ended before this process ever asked who it is; whose place in BCR others have had since, too. */
static void watches_ended(void)
{
    enum { LATER = 12 };
    int first, later[LATER];
    struct earl_exec_process told;
    begin();
    start("quits", 1, &first);
    MUST(earl_exec_await(1, &first, &told) == EARL_OK);
    const struct earl_wanted notice = from(first, NOTICE);
    for (int i = 0; i < LATER; i++) {
        MUST(earl_watch(first, CONTEXT, NOTICE) == EARL_OK);
        MUST(earl_receive(&notice, NULL, 0, NULL) == EARL_OK);
        start("quits", 1, &later[i]);
        MUST(earl_exec_await(1, &later[i], &told) == EARL_OK);
    }
    for (int i = 0; i < LATER; i++) {
        const struct earl_wanted end = from(later[i], NOTICE);
        MUST(earl_watch(later[i], CONTEXT, NOTICE) == EARL_OK);
        MUST(earl_receive(&end, NULL, 0, NULL) == EARL_OK);
    }
    MUST(earl_exec_signal(first, 0) == EARL_E_ENDED);
    MUST(earl_watch(999, CONTEXT, NOTICE) == EARL_E_PROCESS);
}

static const struct {
    const char *name;
    void (*routine)(void);
} scenarios[] = {{"starts", starts},
                 {"ends", told_of_ends},
                 {"watches_ended", watches_ended},
                 {"child", child},
                 {"quits", quits},
                 {"joins", joins},
                 {"posts", posts},
                 {"groups", groups_by_name},
                 {"boxes", boxes},
                 {"team", team},
                 {"bad_input", bad_input},
                 {"exec_dies", exec_dies},
                 {"node", node},
                 {"cubes", cubes},
                 {"loads", loads},
                 {"tied", tied},
                 {"attaches", attaches},
                 {"loads_one", loads_one},
                 {"guests", guests},
                 {"attached", attached},
                 {"leaves", leaves},
                 {"enters", enters},
                 {"holds", holds},
                 {"drops", drops},
                 {"dropped", dropped},
                 {"stops", stops},
                 {"stopped", stopped},
                 {"waits", waits},
                 {"hosts_change", hosts_change},
                 {"daemon_of", daemon_of},
                 {"stays", stays},
                 {"placed", placed},
                 {"prints", prints},
                 {"prints_and_stays", prints_and_stays},
                 {"output", output}};

int main(int argc, char **argv)
{
    own_file = argv[0];
    for (size_t i = 0; argc == 2 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(scenarios[i].name, argv[1]) == 0) {
            scenarios[i].routine();
            return 0;
        }
    fprintf(stderr, "earl_worlds: no such scenario\n");
    return 2;
}
