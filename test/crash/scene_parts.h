/* SPDX-License-Identifier: MIT */
/* The parts of a scene: setting it, killing, looking. scene*.c only. */
#ifndef BCR_TEST_SCENE_PARTS_H
#define BCR_TEST_SCENE_PARTS_H

#include "scene.h"

#include "bcri/audit.h"

enum {
    SCENE_SLEEPERS_PUT = 99,
    SCENE_VICTIMS_PUT = 100,
    SCENE_BLOCKS = 48,     /* of the least size, in each survivor's heap */
    SCENE_BLOCK_BYTES = 64 /* what one is charged */
};

struct scene_shared {
    _Atomic uint32_t stop;
};

/* For every message: which kill it is about. */
extern char scene_position[512];

/* Scenes take milliseconds. One that has not ended after HANG_SECONDS ends the process, which says
 * at which step it was and with which position. */
enum { SCENE_HANG_SECONDS = 50 };
void scene_watch(void);
/* A scene begins, ends. */
void scene_watch_begin(void);
void scene_watch_end(void);
/* What the scene does from here on. */
void scene_step(const char *step);

/* Every how many-th of `count` places is tried on the average: so that about `reduced` are, `full`
 * at full size. All, where BCR_CRASH_EVERY is set. */
uint64_t scene_stride(uint64_t count, uint64_t reduced, uint64_t full);

/* Tracer and victim take turns on one processor: that is faster than waking each other across two,
 * and leaves the others to the contender. Once in a process. */
void scene_share_cpu(void);

/* Sets everything up; the victim stands at its first instruction. */
void scene_open(struct scene *scene);
struct scene_second {
    pid_t pid;
    uint32_t index;
};
/* A second victim, at its first instruction too. */
void scene_open_second(struct scene *scene, struct scene_second *second_out);
pid_t scene_contend(struct scene *scene, uint32_t *index_out);
void scene_close(struct scene *scene);

/* A CCE of the test's process with a small heap, whose thread the calling one becomes. */
struct bcri_ctx *scene_survivor(struct group *group);

struct line {
    char text[SCENE_LINE];
    size_t length;
};
void scene_add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *scene_code_name(int code);
/* Marks the cells of the calling CCE, and requests as often as the scenario says; in the victim, if
 * they are its own. */
void scene_mark(struct bcri_ctx *owner, struct scene *scene);
/* Takes all requests of the owner's handlers; returns how many there were. All that is counted must
 * have been told. */
int scene_take_requests(struct scene *scene);
void scene_see(struct scene *scene, struct line *line);
void scene_fall_asleep(struct scene *scene);
void scene_wake_up(struct scene *scene, struct line *line);
bool scene_allows(const struct scenario *scenario, const char *line);
/* The survivors still put and get. */
void scene_go_on(struct scene *scene);
/* Each block of the survivors' heaps is free again. */
void scene_memory_is_home(struct scene *scene);
/* Fails if there is a finding. */
struct bcri_audit scene_audit(struct scene *scene, const char *when);
/* Whatever died: the survivors go on, nothing is left over, nothing was found corrupt. Closes the
 * scene. */
void scene_end(struct scene *scene);

#endif
