/* SPDX-License-Identifier: MIT */
/* start.c -- bcr_start, and bcr_enlist, its short form.
 *
 * The birth region is copied into the request, since it has at most 64 bytes and the daemon makes one of it for each new
 * CCE. Region IDs are looked up by the public routines, so that bad ones get the same codes as everywhere. What is
 * longer goes beside the request, in memory files of this process's own: start strings, of which the daemon makes a copy,
 * and room for the identities of the new CCEs, into which it writes. So when the request has been sent nothing can fail here
 * any more but the way to the daemon. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/enter.h"
#include "bcri/heap.h"
#include "bcri/host.h"
#include "bcri/ids.h"
#include "bcri/lookup.h"
#include "bcri/one_thread.h"
#include "bcri/segment.h"
#include "bcri/self.h"
#include "bcri/start_strings.h"

/* A later version's struct may be longer, and is still read to its end, but no longer than this. */
enum { SPEC_BYTES_MAX = 4096 };

/* A memory file that goes beside the request. */
struct file {
    int fd; /* -1: none */
    void *bytes;
    size_t length;
};

/* What the request leads to beside itself. */
struct beside {
    struct file strings, ids;
    uint8_t room[BCRI_STRINGS_INLINE_MAX]; /* of start strings that need no file */
};

/* Returns 0 or bcrE_NOMEM. */
static int open_file(struct file *file, size_t length)
{
    const size_t whole = (length + BCRI_PAGE_BYTES - 1) / BCRI_PAGE_BYTES * BCRI_PAGE_BYTES;
    const int fd = bcri_segment_create(whole);
    if (fd < 0)
        return bcrE_NOMEM;
    void *bytes = bcri_segment_reserve(fd, 0, whole) == 0
                      ? mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                      : MAP_FAILED;
    if (bytes == MAP_FAILED) {
        close(fd);
        return bcrE_NOMEM;
    }
    *file = (struct file){fd, bytes, whole};
    return 0;
}

static void close_file(struct file *file)
{
    if (file->fd < 0)
        return;
    munmap(file->bytes, file->length);
    close(file->fd);
    file->fd = -1;
}

/* ------------------------------------------------------------------------------ start strings --- */

/* Adds the strings of a list to a block's length. False: one is too long, or names no variable. */
static bool add_lengths(const char *const *list, bool are_variables, uint32_t *count_out, uint64_t *length)
{
    *count_out = 0;
    for (; list != NULL && *list != NULL; list++) {
        const size_t one = strnlen(*list, BCRI_STRING_MAX + 1);
        *length += one + 1 + BCRI_STRINGS_POINTER_BYTES;
        if (one > BCRI_STRING_MAX || *length > BCRI_STRINGS_MAX ||
            (are_variables && ((*list)[0] == '=' || memchr(*list, '=', one) == NULL)))
            return false;
        ++*count_out;
    }
    return true;
}

static uint8_t *write_strings(uint8_t *at, const char *const *list)
{
    for (; list != NULL && *list != NULL; list++) {
        const size_t size = strlen(*list) + 1;
        memcpy(at, *list, size);
        at += size;
    }
    return at;
}

/* Puts the start strings into the request, or into a file beside it. Returns 0 or a code. */
static int add_strings(const struct bcr_startspec *spec, struct bcri_control *request, struct beside *beside)
{
    struct file *file = &beside->strings;
    const char *const directory = spec->directory != NULL ? spec->directory : "", *const alone[] = {directory,
                                                                                                    NULL};
    uint64_t length = BCRI_STRINGS_HEAD_BYTES + strlen(directory) + 1;
    uint32_t arguments, variables;
    if (!add_lengths(spec->arguments, false, &arguments, &length) ||
        !add_lengths(spec->environment, true, &variables, &length))
        return bcrE_ARG;
    if (arguments + variables == 0 && directory[0] == '\0')
        return 0;
    length -= (uint64_t)(arguments + variables) * BCRI_STRINGS_POINTER_BYTES;
    const int code = length > BCRI_STRINGS_INLINE_MAX ? open_file(file, (size_t)length) : 0;
    if (code != 0)
        return code;
    uint8_t *block = file->fd >= 0 ? file->bytes : beside->room;
    bcri_strings_write_u32(block, arguments);
    bcri_strings_write_u32(block + 4, variables);
    write_strings(write_strings(write_strings(block + BCRI_STRINGS_HEAD_BYTES, alone), spec->arguments),
                  spec->environment);
    if (file->fd >= 0) {
        request->present |= BCRI_HAS(size);
        request->size = length;
    } else {
        request->present |= BCRI_HAS(bytes);
        request->bytes = (struct bcri_view){(const char *)block, (uint32_t)length};
    }
    return 0;
}

/* ------------------------------------------------------------------------------- the request --- */

/* Sizes of earlier versions: of that which had neither next nor flags; and of that which had no lines. */
#define SPEC_FIRST    offsetof(struct bcr_startspec, next)
#define SPEC_NO_LINES offsetof(struct bcr_startspec, lines)

/* The struct, of whichever version: 0 or bcrE_ARG. What an older version does not have is 0. */
static int read_spec(const struct bcr_startspec *from, struct bcr_startspec *spec_out)
{
    *spec_out = (struct bcr_startspec){.size = 0};
    if (from == NULL || from->size > SPEC_BYTES_MAX ||
        (from->size < sizeof *from && from->size != SPEC_FIRST && from->size != SPEC_NO_LINES))
        return bcrE_ARG;
    for (size_t i = sizeof *from; i < from->size; i++)
        if (((const char *)from)[i] != 0)
            return bcrE_ARG; /* something that this library does not know is wanted */
    memcpy(spec_out, from, from->size < sizeof *from ? from->size : sizeof *from);
    return 0;
}

/* The cell for lines: 0 or a code. */
static int check_lines(struct bcri_ctx *ctx, const struct bcr_startspec *spec)
{
    struct bcri_resolved *resolved;
    if (spec->lines == 0)
        return 0;
    const int code = bcri_resolved_find(ctx, 1, spec->lines, &resolved); /* 1 is this CCE itself */
    if (code != 0)
        return code;
    return resolved->kind == BCRI_CELL_IN || resolved->kind == BCRI_CELL_INOUT ? 0 : bcrE_ACCESS;
}

/* What no message to the daemon has room for: 0 or a code. */
static int check_lengths(const struct bcr_startspec *spec, const char *routine)
{
    if (spec->machine != NULL && strlen(spec->machine) > 255) {
        bcri_client_complain("%s: no machine has so long a name", routine);
        return bcrE_NOHOST;
    }
    if (strlen(spec->program) >= PATH_MAX) {
        bcri_client_complain("%s: no program has so long a name", routine);
        return bcrE_NOPROG;
    }
    if (spec->directory != NULL && strlen(spec->directory) >= PATH_MAX) {
        bcri_client_complain("%s: no directory has so long a name", routine);
        return bcrE_NOPROG;
    }
    if (spec->count > (int)BCRI_CCE_MAX) {
        bcri_client_complain("%s: a program has at most %u CCEs", routine, BCRI_CCE_MAX);
        return bcrE_ENLIST;
    }
    return 0;
}

/* Sends the request, and waits for the answer; in a CCE that has handlers, these run meanwhile. Returns its status, or
 * a code. */
static int ask_to_start(struct bcri_client *client, struct bcri_control *request, const struct beside *beside,
                        uint32_t *count_out)
{
    struct bcri_client_call call;
    int fds[2];
    unsigned count = 0;
    if (beside->strings.fd >= 0)
        fds[count++] = beside->strings.fd;
    if (beside->ids.fd >= 0)
        fds[count++] = beside->ids.fd;
    int code = bcri_client_begin(client, &call, request, fds, count);
    if (code != 0)
        return code;
    code = bcri_client_finish(&call);
    *count_out = call.count;
    return code;
}

/* There was room for so many IDs, but handlers that ran meanwhile may have met other CCEs, too. */
static void read_ids(struct bcri_ctx *ctx, const struct file *file, uint32_t count, bcr_cce_id *ids)
{
    const uint8_t *identity = file->bytes;
    for (uint32_t i = 0; i < count; i++, identity += BCRI_IDENTITY_BYTES)
        if (bcri_cce_decode(ctx, identity, &ids[i]) != 0)
            ids[i] = -1;
}

/* The next members of a team, or CCEs that are in none: team 0. Returns how many have been started, or -1. */
static int start_with(struct bcri_ctx *ctx, const struct bcr_startspec *spec, struct bcri_control *request,
                      struct beside *beside, bcr_cce_id *ids)
{
    uint32_t count = 0;
    int code = add_strings(spec, request, beside);
    if (code == 0 && ids != NULL) {
        request->present |= BCRI_HAS(flags);
        request->flags = BCRI_ENLIST_IDS;
        code = open_file(&beside->ids, (size_t)spec->count * BCRI_IDENTITY_BYTES);
        if (code == 0)
            code = bcri_cce_reserve(ctx, request->count);
    }
    if (code == 0)
        code = ask_to_start(ctx->client, request, beside, &count);
    if (code != 0)
        return bcri_fail(code);
    if (count > request->count)
        count = request->count;
    if (ids != NULL)
        read_ids(ctx, &beside->ids, count, ids);
    return (int)count;
}

/* A birth region for the request. Returns 0 or -1. */
static int add_region(struct bcri_ctx *ctx, bcr_region region, struct bcri_control *request)
{
    int archtype;
    const int length = bcr_rglen(region, &archtype);
    BCRI_CALL_GOES_ON(ctx);
    if (length < 0)
        return -1;
    if (length > (int)BCRI_BIRTH_BYTES_MAX)
        return bcri_fail(bcrE_ARG);
    const bcri_ref ref = bcri_slot_region(bcri_load(&((struct bcri_slot_shm *)(void *)region)->word));
    request->present |= BCRI_HAS(data) | BCRI_HAS(archtype);
    request->data = (struct bcri_view){(const void *)bcri_region_data(ctx, ref), (uint32_t)length};
    request->archtype = (uint32_t)archtype;
    return 0;
}

/* Members of a team, from `rank` on; team 0: CCEs that are in none. Returns how many have been started, or -1. */
static int start_one_spec(struct bcri_ctx *ctx, const struct bcr_startspec *spec, uint32_t team,
                          uint32_t rank, bcr_cce_id *ids)
{
    struct beside beside;
    beside.strings.fd = beside.ids.fd = -1;
    struct bcri_control request = {.type = BCRI_MSG_enlist,
                                   .present = BCRI_HAS(machine) | BCRI_HAS(core) | BCRI_HAS(count) |
                                              BCRI_HAS(ordinal) | BCRI_HAS(object),
                                   .machine = bcri_view_of(spec->machine != NULL ? spec->machine : ""),
                                   .core = spec->core >= 0 ? spec->core : -1,
                                   .count = (uint32_t)spec->count,
                                   .ordinal = (uint32_t)spec->ordinal,
                                   .object = bcri_view_of(spec->program)};
    if (team != 0) {
        request.present |= BCRI_HAS(team) | BCRI_HAS(rank) | BCRI_HAS(stride);
        request.team = team;
        request.rank = rank;
        request.stride = 1;
    }
    if (spec->region != NULL && add_region(ctx, spec->region, &request) != 0)
        return -1;
    if (spec->lines != 0) {
        request.present |= BCRI_HAS(cell);
        request.cell = (uint32_t)spec->lines;
    }
    const int started = start_with(ctx, spec, &request, &beside, ids);
    close_file(&beside.strings);
    close_file(&beside.ids);
    if (started >= 0 && spec->region != NULL && spec->nofree == bcr_FREE)
        bcr_rgfree(spec->region);
    return started;
}

/* ------------------------------------------------------------------------------------- a team --- */

/* The number of a new team. Returns 0 or a code. */
static int make_team(struct bcri_client *client, uint32_t size, uint32_t *team_out)
{
    struct bcri_client_call call;
    struct bcri_control request = {.type = BCRI_MSG_team_new, .present = BCRI_HAS(count), .count = size};
    int code = bcri_client_begin(client, &call, &request, NULL, 0);
    if (code == 0)
        code = bcri_client_finish(&call);
    *team_out = call.team;
    return code;
}

/* Members that no request has asked for will never be there. */
static void cut_team(struct bcri_client *client, uint32_t team)
{
    bcri_client_tell(
        client,
        &(const struct bcri_control){.type = BCRI_MSG_team_cut, .present = BCRI_HAS(team), .team = team},
        true);
}

static int start_team(struct bcri_ctx *ctx, const struct bcr_startspec *first, uint32_t size, bcr_cce_id *ids)
{
    struct bcr_startspec spec;
    uint32_t team, rank = 0;
    int started = -1;
    const int code = make_team(ctx->client, size, &team);
    if (code != 0)
        return bcri_fail(code);
    for (const struct bcr_startspec *from = first; from != NULL && read_spec(from, &spec) == 0;
         from = spec.next) {
        const int more =
            start_one_spec(ctx, &spec, team, rank, ids != NULL && started > 0 ? ids + started : ids);
        rank += (uint32_t)spec.count;
        if (more >= 0)
            started = (started > 0 ? started : 0) + more;
    }
    cut_team(ctx->client, team); /* those of requests that could not be sent, if there are any */
    return started;
}

/* ----------------------------------------------------------------------------------------- all --- */

/* Returns 0 or a code, and how many CCEs all command lines from `from` on want. */
static int check_all(struct bcri_ctx *ctx, const struct bcr_startspec *from, const char *routine,
                     uint32_t *count_out)
{
    const struct bcr_startspec *first = from;
    struct bcr_startspec spec;
    int code = read_spec(from, &spec);
    const bool of_team = code == 0 && spec.flags == bcr_start_team;
    *count_out = 0;
    if (code == 0 && !of_team && (spec.flags != 0 || spec.next != NULL))
        return bcrE_ARG;
    while (code == 0) {
        if (spec.program == NULL || spec.program[0] == '\0' || spec.core < -1 || spec.ordinal < 0 ||
            spec.count < 1 || spec.count - 1 > INT_MAX - spec.ordinal || (from != first && spec.flags != 0) ||
            (of_team && (uint32_t)spec.count > BCRI_CCE_MAX - *count_out))
            return bcrE_ARG;
        code = check_lengths(&spec, routine);
        if (code == 0)
            code = check_lines(ctx, &spec);
        *count_out += (uint32_t)spec.count;
        if ((from = spec.next) == NULL)
            break;
        code = code != 0 ? code : read_spec(from, &spec);
    }
    return code;
}

int bcri_client_start(const struct bcr_startspec *from, bcr_cce_id *ids, const char *routine)
{
    struct bcri_ctx *ctx = bcri_enter();
    struct bcr_startspec spec;
    uint32_t count;
    if (ctx == NULL)
        return -1;
    const int code = check_all(ctx, from, routine, &count);
    if (code != 0)
        return bcri_fail(code);
    /* Takes back the blocks of this CCE's heap that others, such as CCEs that have ended, have
     * freed. */
    bcri_heap_collect(ctx);
    (void)read_spec(from, &spec);
    return spec.flags == bcr_start_team ? start_team(ctx, from, count, ids)
                                        : start_one_spec(ctx, &spec, 0, 0, ids);
}

int bcr_start(const struct bcr_startspec *spec, bcr_cce_id *ids)
{
    BCRI_CALL_COMPOSED;
    return bcri_client_start(spec, ids, __func__);
}
