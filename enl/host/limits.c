/* SPDX-License-Identifier: MIT */
/* limits.c -- what a job's processes here use, looked at each second while it has limits.
 *
 *             in a control group (group.h)                       without
 *   cpu       of all that were ever in it                        the CCEs here, and what they have waited for
 *   memory    the kernel's limit if there is one, else the Pss   the Pss of the CCEs here
 *             of all that are in it
 *   disk      the job's directory, in both cases
 *
 * The root's daemon sums processor time up, and ends the job (job/limits.c). A look that takes long is followed by a longer pause, so
 * that none of many processes or files keeps the loop from its work. */
#include "host/limits.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "host/host.h"

enum { PAUSE_MSEC = 1000, PAUSES = 9 /* as long as a look */, FILES_MAX = 50000, FTW_FOLDERS = 16 };

void enl_limits_open(struct enl_here *here)
{
    uv_timer_init(&here->self->loop, &here->limits.look);
    here->limits.look.data = here;
}

void enl_limits_close(struct enl_here *here)
{
    uv_close((uv_handle_t *)&here->limits.look, NULL);
}

static void tell(struct enl_here *here, enum bcri_used_kind kind, uint64_t used)
{
    const struct bcri_control message = {.type = BCRI_MSG_used,
                                         .present = BCRI_HAS(kind) | BCRI_HAS(size),
                                         .kind = (uint32_t)kind,
                                         .size = used};
    here->ops->tell_used(here->self->program, &message);
}

static void walk(const struct enl_here *here, void (*each)(pid_t pid, void *data), void *data)
{
    const struct enl_cce *cce;
    if (here->group.procs != NULL) {
        enl_group_walk(here, each, data);
        return;
    }
    TAILQ_FOREACH (cce, &here->all, entry) {
        if (cce->process != 0)
            each(cce->process, data);
        if (cce->pid != 0 && cce->pid != cce->process)
            each(cce->pid, data);
    }
}

/* ---- processors ---- */

static void add_ticks(pid_t pid, void *data)
{
    enum {
        FIRST = 14,
        LAST = 17
    }; /* its own, and of those that it has waited for, in the program and in the kernel */
    uint64_t *ticks = data;
    for (int field = FIRST; field <= LAST; field++)
        *ticks += enl_process_stat(pid, field);
}

static uint64_t cpu_us(const struct enl_here *here)
{
    uint64_t ticks = 0;
    if (here->group.procs != NULL)
        return enl_group_cpu_us(here);
    walk(here, add_ticks, &ticks);
    return here->limits.ended_cpu_us + ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* ---- memory ---- */

static uint64_t rss_of(pid_t pid)
{
    enum { RSS = 24 };
    return enl_process_stat(pid, RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void add_rss(pid_t pid, void *data)
{
    *(uint64_t *)data += rss_of(pid);
}

/* Its own memory, and its part of what it shares. Of a process that may not be read its Rss counts. */
static void add_pss(pid_t pid, void *data)
{
    char path[64], line[256];
    static const char key[] = "Pss:";
    uint64_t bytes = 0;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && bytes == 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, sizeof key - 1) == 0)
            bytes = strtoull(line + sizeof key - 1, NULL, 10) << 10;
    *(uint64_t *)data += file != NULL ? bytes : rss_of(pid);
    if (file != NULL)
        fclose(file);
}

/* Rss is at least as much, and takes less time: the kernel has counted it already. */
static uint64_t memory(const struct enl_here *here, uint64_t limit)
{
    uint64_t bytes = 0;
    walk(here, add_rss, &bytes);
    if (bytes < limit)
        return bytes;
    bytes = 0;
    walk(here, add_pss, &bytes);
    return bytes;
}

void enl_limits_look_at_memory(struct enl_here *here)
{
    if (enl_limits_memory(&here->limits) != 0 && enl_group_lacked_memory(here))
        tell(here, BCRI_USED_MEMORY, enl_limits_memory(&here->limits));
}

/* ---- disk ---- */

/* Of the walk that is under way: nftw passes nothing on. The loop's thread alone walks. */
static struct {
    uint64_t bytes;
    unsigned files;
} disk;

static int add_file(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)path;
    (void)at;
    if (kind != FTW_NS)
        disk.bytes += (uint64_t)status->st_blocks * 512;
    return ++disk.files >= FILES_MAX;
}

/* Of the job's directory; of more than FILES_MAX files those that come first. */
static uint64_t disk_bytes(const struct enl_tempdir *folder)
{
    disk.bytes = disk.files = 0;
    if (folder->is_made)
        (void)nftw(folder->path, add_file, FTW_FOLDERS, FTW_PHYS | FTW_MOUNT);
    return disk.bytes;
}

/* ---- all of them ---- */

static void tell_if_above(struct enl_here *here, enum bcri_used_kind kind, uint64_t used, uint64_t limit)
{
    if (used >= limit)
        tell(here, kind, used);
}

static void on_look(uv_timer_t *timer)
{
    struct enl_here *here = timer->data;
    const struct enl_roster_limits *wanted = &here->limits.wanted;
    const uint64_t since = uv_hrtime(), memory_limit = enl_limits_memory(&here->limits);
    if (here->self->phase != ENL_RUNNING)
        return;
    if (wanted->cpu_s != 0)
        tell(here, BCRI_USED_CPU, cpu_us(here));
    enl_limits_look_at_memory(here);
    if (memory_limit != 0 && !enl_group_limits_memory(here))
        tell_if_above(here, BCRI_USED_MEMORY, memory(here, memory_limit), memory_limit);
    if (wanted->disk_mb != 0)
        tell_if_above(here, BCRI_USED_DISK, disk_bytes(&here->tempdir), wanted->disk_mb * ENL_LIMITS_MB);
    const uint64_t took_ms = (uv_hrtime() - since) / 1000000;
    uv_timer_start(timer, on_look, PAUSE_MSEC + PAUSES * took_ms, 0);
}

void enl_limits_set(struct enl_here *here, const char *text)
{
    uint32_t numbers[3];
    char *at = (char *)(uintptr_t)text;
    for (int i = 0; i < 3; i++)
        numbers[i] = (uint32_t)strtoul(at, &at, 10);
    if (here->limits.are_set || *at != '\0')
        return;
    here->limits.wanted = (struct enl_roster_limits){numbers[0], numbers[1], numbers[2]};
    here->limits.are_set = true;
    uv_timer_start(&here->limits.look, on_look, PAUSE_MSEC, 0);
}
