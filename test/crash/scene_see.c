/* SPDX-License-Identifier: MIT */
/* What is left after the burial, as the survivors see it. */
#include "scene_parts.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bcri/audit.h"
#include "bcri/put_waiters.h"
#include "bcri/self.h"

enum { FD_MSEC = 20000 }; /* until a descriptor that is owed counts as forgotten */

static int peek(bcr_region rgid)
{
    int value;
    memcpy(&value, *rgid, sizeof value);
    return value;
}

int value_of(bcr_region rgid)
{
    int value = peek(rgid);
    CHECK_INT(bcr_rgfree(rgid), 0);
    return value;
}

void scene_add(struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line->text + line->length, sizeof line->text - line->length, format, args);
    va_end(args);
    line->length += (size_t)n;
    CHECK(line->length < sizeof line->text);
}

const char *scene_code_name(int code)
{
    switch (code) {
    case bcrE_DEAD: return "DEAD";
    case bcrE_OWNERDEAD: return "OWNERDEAD";
    case bcrE_NOCELL: return "NOCELL";
    case bcrE_FULL: return "FULL";
    case bcrE_TIMEOUT: return "TIMEOUT";
    default: return bcr_strerror(code);
    }
}

static void see_waiters(struct scene *scene, struct line *line)
{
    const char *letters = scene->scenario->late != NULL ? scene->scenario->late : scene->scenario->waiters;
    as_peer(scene);
    for (int i = 0; i < scene->waiters; i++) {
        int ready = bcr_rgwait(scene->waiter[i], 0, 1);
        scene_add(line, "%c=", letters[i]);
        if (ready == 1)
            scene_add(line, "%d ", value_of(scene->waiter[i]));
        else
            scene_add(line, "%s ", ready == 0 ? "-" : scene_code_name(bcr_errno));
    }
}

static void see_puts(struct scene *scene, struct line *line)
{
    for (int i = 0; i < scene->puts; i++) {
        enum bcri_slot_state state = bcri_slot_state(bcri_load_acquire(&scene->put[i]->word));
        if (state == BCRI_SLOT_FAILED)
            scene_add(line, "P=%s ", scene_code_name((int)bcri_load(&scene->put[i]->given)));
        else
            scene_add(line, "P=%s ", state == BCRI_SLOT_PUTDONE ? "in" : "-");
    }
}

static void see_cell(struct scene *scene, struct line *line, int cell)
{
    bcr_region rgid;
    as_owner(scene);
    while ((rgid = bcr_deq(scene->home, cell, 0)) != NULL)
        scene_add(line, " %d", value_of(rgid));
    if (bcr_errno != bcrE_TIMEOUT)
        scene_add(line, " %s", scene_code_name(bcr_errno));
}

static void end_puts(struct scene *scene)
{
    as_peer(scene);
    for (int i = 0; i < scene->puts; i++)
        (void)bcri_putwait_end(scene->peer, scene->put[i], 0);
}

/* What a CCE has told the daemon is on its way: this waits for it as long as it is owed. */
static void see_fd(struct scene *scene, struct line *line)
{
    struct pollfd fd = {.fd = scene->fd, .events = POLLIN};
    as_owner(scene);
    bool owed = bcr_celllen(scene->home, scene->cell) > 0;
    if (poll(&fd, 1, owed ? FD_MSEC : 0) == 1)
        scene_add(line, "fd ");
}

int scene_take_requests(struct scene *scene)
{
    int count = 0;
    as_owner(scene);
    while (requests_next(&scene->requests) >= 0)
        count++;
    CHECK_INT(requests_untold(&scene->requests), 0);
    return count;
}

void scene_see(struct scene *scene, struct line *line)
{
    if (scene->scenario->marked && !scene->scenario->own)
        scene_add(line, "s=%d ", scene_take_requests(scene) - scene->scenario->requests);
    see_waiters(scene, line);
    see_puts(scene, line);
    if (scene->scenario->armed || scene->scenario->polls)
        see_fd(scene, line);
    scene_add(line, ":");
    see_cell(scene, line, scene->cell);
    struct line second = {.length = 0};
    see_cell(scene, &second, scene->cell2);
    if (second.length != 0 && !scene->scenario->own)
        scene_add(line, " ;%s", second.text);
    end_puts(scene);
    if (scene->kept != NULL)
        CHECK_INT(bcr_rgfree(scene->kept), 0);
}

/* The survivors still put and get. */
void scene_go_on(struct scene *scene)
{
    if (scene->scenario->own)
        return;
    for (int cell = scene->cell; cell <= scene->cell2; cell++) {
        as_peer(scene);
        bcr_region early = bcr_deq(scene->home, cell, bcr_PENDING);
        if (early == NULL && bcr_errno != bcrE_OWNERDEAD)
            FAIL("%s: a get afterwards: %s", scene_position, bcr_strerror(bcr_errno));
        as_owner(scene);
        CHECK_INT(bcr_enq(number(7), scene->home, cell, bcr_FREE), 0);
        as_peer(scene);
        if (early != NULL)
            CHECK_INT(bcr_rgwait(early, 0, 0), 1);
        /* Behind a lock that died others may stand; now they can be had. */
        while (value_of(early != NULL ? early : bcr_deq(scene->home, cell, 0)) != 7)
            CHECK(early == NULL);
        if (scene->scenario->nrgns < 0)
            continue;
        CHECK_INT(bcr_write(number(8), scene->home, cell, bcr_FREE), 0);
        bcr_region read = bcr_read(scene->home, cell, 0);
        CHECK(read != NULL);
        CHECK_INT(value_of(read), 8);
        as_owner(scene);
        CHECK_INT(value_of(bcr_deq(scene->home, cell, 0)), 8);
        CHECK_INT(bcr_zap(scene->home, cell), 0);
    }
    int requested = scene->scenario->marked ? scene_take_requests(scene) : 0;
    CHECK(requested > 0 || !scene->scenario->marked || scene->scenario->mark > 1);
}

/* Each block of a survivor's heap is free again. */
static void memory_is_home(struct bcri_ctx *ctx)
{
    bcr_region rgid[SCENE_BLOCKS + 1];
    int count = 0;
    bcri_self_set(ctx);
    while (count <= SCENE_BLOCKS && (rgid[count] = bcr_rgalloc(SCENE_BLOCK_BYTES, 0)) != NULL)
        count++;
    if (count != SCENE_BLOCKS)
        FAIL("%s: CCE %u can have %d of its %d blocks", scene_position, ctx->index, count, SCENE_BLOCKS);
    while (count > 0)
        CHECK_INT(bcr_rgfree(rgid[--count]), 0);
}

void scene_memory_is_home(struct scene *scene)
{
    memory_is_home(scene->owner);
    memory_is_home(scene->peer);
}

static void print_finding(void *arg, const char *sentence)
{
    (void)arg;
    printf("audit: %s\n", sentence);
}

struct bcri_audit scene_audit(struct scene *scene, const char *when)
{
    struct bcri_audit result = {.found = print_finding};
    CHECK_INT(bcri_audit(group_enl(scene->group), &result), 0);
    if (result.findings != 0)
        FAIL("%s: %llu findings %s", scene_position, (unsigned long long)result.findings, when);
    return result;
}

bool scene_allows(const struct scenario *s, const char *line)
{
    if (strcmp(line, s->before) == 0 || strcmp(line, s->after) == 0)
        return true;
    for (const char *at = s->also; at != NULL; at = strchr(at, '|') != NULL ? strchr(at, '|') + 1 : NULL)
        if (strncmp(at, line, strlen(line)) == 0 && (at[strlen(line)] == '|' || at[strlen(line)] == '\0'))
            return true;
    return false;
}

void scene_end(struct scene *scene)
{
    scene_go_on(scene);
    scene_memory_is_home(scene);
    CHECK_UINT(scene_audit(scene, "in the end").regions, 0);
    CHECK(!group_enl(scene->group)->daemon.corrupt);
    scene_close(scene);
    munmap(scene->shared, sizeof *scene->shared);
}
