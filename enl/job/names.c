/* SPDX-License-Identifier: MIT */
/* names.c -- names of cells within the program (bcr_publish, bcr_find). The root's daemon has them all, and who waits for
 * one; other daemons pass requests on (conductor/forward.c), and say when a CCE that has used names has ended. */
#include "job/job.h"

#include <stdlib.h>
#include <string.h>

#include <bcr/error.h>

#include "wire/wire.h"

/* A published name. */
struct enl_name {
    LIST_ENTRY(enl_name) entry;
    uint8_t identity[BCRI_IDENTITY_BYTES]; /* of its CCE */
    uint64_t cell;
    char text[BCRI_NAME_MAX + 1];
};

/* One that waits for a name. */
struct enl_seeker {
    LIST_ENTRY(enl_seeker) entry;
    struct enl_conn *conn; /* gets the answer, to request `id` */
    uint32_t id;
    uint8_t identity[BCRI_IDENTITY_BYTES];
    uint64_t until_ms; /* of the loop's clock; UINT64_MAX: it waits for ever */
    char text[BCRI_NAME_MAX + 1];
};

/* The length of the UTF-8 character there; 0: none is (RFC 3629), or it is a control character. */
static size_t character_at(const unsigned char *at, size_t left)
{
    static const unsigned least[] = {0, 0x20, 0x80, 0x800, 0x10000};
    const size_t length = at[0] < 0x80   ? 1
                          : at[0] < 0xc0 ? 0
                          : at[0] < 0xe0 ? 2
                          : at[0] < 0xf0 ? 3
                          : at[0] < 0xf8 ? 4
                                         : 0;
    if (length == 0 || length > left)
        return 0;
    unsigned code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    const bool is_surrogate = code >= 0xd800 && code < 0xe000;
    const bool is_control = code >= 0x7f && code < 0xa0; /* the others are below least[1] */
    return code < least[length] || is_control || code > 0x10ffff || is_surrogate ? 0 : length;
}

static bool is_name(struct bcri_view text)
{
    size_t at = 0, length = 1;
    while (at < text.length && length != 0)
        at += length = character_at((const unsigned char *)text.bytes + at, text.length - at);
    return text.length > 0 && text.length <= BCRI_NAME_MAX && length != 0;
}

static struct enl_name *find(const struct enl_names *names, const char *text)
{
    struct enl_name *name;
    LIST_FOREACH (name, &names->all, entry)
        if (strcmp(name->text, text) == 0)
            break;
    return name;
}

static void answer(struct enl_conn *conn, uint32_t id, int code, const struct enl_name *name)
{
    struct bcri_control reply = {.type = BCRI_MSG_reply,
                                 .present = BCRI_HAS(id) | BCRI_HAS(status),
                                 .id = id,
                                 .status = (uint32_t)code};
    if (name != NULL) {
        reply.present |= BCRI_HAS(enlistor) | BCRI_HAS(cell);
        reply.enlistor = (struct bcri_view){(const char *)name->identity, BCRI_IDENTITY_BYTES};
        reply.cell = name->cell;
    }
    enl_cce_answer(conn, &reply);
}

static void drop_name(struct enl_name *name)
{
    LIST_REMOVE(name, entry);
    free(name);
}

static void drop_seeker(struct enl_seeker *seeker)
{
    LIST_REMOVE(seeker, entry);
    free(seeker);
}

/* ---- publishing ---- */

static void serve_seekers(struct enl_names *names, const struct enl_name *name)
{
    struct enl_seeker *seeker = LIST_FIRST(&names->seekers), *next;
    for (; seeker != NULL; seeker = next) {
        next = LIST_NEXT(seeker, entry);
        if (strcmp(seeker->text, name->text) != 0)
            continue;
        answer(seeker->conn, seeker->id, 0, name);
        drop_seeker(seeker);
    }
}

/* Returns a bcrE_ code. */
static int publish(struct enl_names *names, const struct bcri_control *request)
{
    char text[BCRI_NAME_MAX + 1];
    if (!is_name(request->text))
        return bcrE_ARG;
    bcri_view_copy(request->text, text, sizeof text);
    struct enl_name *name = find(names, text);
    const bool is_own =
        name != NULL && memcmp(name->identity, request->enlistor.bytes, sizeof name->identity) == 0;
    if (name != NULL && !is_own)
        return bcrE_BUSY;
    if (request->cell == 0) { /* it is taken back */
        if (name != NULL)
            drop_name(name);
        return 0;
    }
    if (name == NULL) {
        if ((name = malloc(sizeof *name)) == NULL)
            return bcrE_NOMEM;
        memcpy(name->identity, request->enlistor.bytes, sizeof name->identity);
        memcpy(name->text, text, sizeof text);
        LIST_INSERT_HEAD(&names->all, name, entry);
    }
    name->cell = request->cell;
    serve_seekers(names, name);
    return 0;
}

const char *enl_names_publish(struct enl_names *names, struct enl_conn *conn,
                              const struct bcri_control *request)
{
    if (request->enlistor.length != BCRI_IDENTITY_BYTES)
        return "a name of no CCE";
    answer(conn, request->id, publish(names, request), NULL);
    return NULL;
}

/* ---- finding ---- */

static void on_time(uv_timer_t *timer);

/* The timer goes off at `next_ms`, the first time that is up. */
static void set_timer(struct enl_names *names, uint64_t next_ms)
{
    const uint64_t now_ms = uv_now(names->timer.loop);
    if (next_ms == UINT64_MAX)
        uv_timer_stop(&names->timer);
    else
        uv_timer_start(&names->timer, on_time, next_ms > now_ms ? next_ms - now_ms : 0, 0);
}

static void on_time(uv_timer_t *timer)
{
    struct enl_names *names = timer->data;
    const uint64_t now_ms = uv_now(timer->loop);
    uint64_t next_ms = UINT64_MAX;
    struct enl_seeker *seeker = LIST_FIRST(&names->seekers), *next;
    for (; seeker != NULL; seeker = next) {
        next = LIST_NEXT(seeker, entry);
        if (seeker->until_ms > now_ms) {
            next_ms = seeker->until_ms < next_ms ? seeker->until_ms : next_ms;
            continue;
        }
        answer(seeker->conn, seeker->id, bcrE_TIMEOUT, NULL);
        drop_seeker(seeker);
    }
    set_timer(names, next_ms);
}

/* When the time of the first of them is up. */
static uint64_t first_time(const struct enl_names *names)
{
    const struct enl_seeker *seeker;
    uint64_t next_ms = UINT64_MAX;
    LIST_FOREACH (seeker, &names->seekers, entry)
        next_ms = seeker->until_ms < next_ms ? seeker->until_ms : next_ms;
    return next_ms;
}

const char *enl_names_find(struct enl_names *names, struct enl_conn *conn, const struct bcri_control *request)
{
    if (request->enlistor.length != BCRI_IDENTITY_BYTES)
        return "a name is looked for by no CCE";
    struct enl_seeker *seeker = is_name(request->text) ? malloc(sizeof *seeker) : NULL;
    if (seeker == NULL) {
        answer(conn, request->id, is_name(request->text) ? bcrE_NOMEM : bcrE_ARG, NULL);
        return NULL;
    }
    const uint64_t now_ms = uv_now(names->timer.loop);
    *seeker = (struct enl_seeker){.conn = conn, .id = request->id, .until_ms = UINT64_MAX};
    if (request->size < UINT64_MAX - now_ms) /* a millisecond more: the loop's clock is late by up to one */
        seeker->until_ms = now_ms + request->size + (request->size != 0);
    memcpy(seeker->identity, request->enlistor.bytes, sizeof seeker->identity);
    bcri_view_copy(request->text, seeker->text, sizeof seeker->text);
    const struct enl_name *name = find(names, seeker->text);
    if (name != NULL || request->size == 0) {
        answer(conn, request->id, name != NULL ? 0 : bcrE_TIMEOUT, name);
        free(seeker);
        return NULL;
    }
    LIST_INSERT_HEAD(&names->seekers, seeker, entry);
    set_timer(names, first_time(names));
    return NULL;
}

/* ---- ends ---- */

void enl_names_ended(struct enl_names *names, const uint8_t identity[BCRI_IDENTITY_BYTES], bool host)
{
    const size_t bytes = host ? 2 : BCRI_IDENTITY_BYTES; /* an identity begins with its host's number */
    struct enl_name *name = LIST_FIRST(&names->all), *next_name;
    for (; name != NULL; name = next_name) {
        next_name = LIST_NEXT(name, entry);
        if (memcmp(name->identity, identity, bytes) == 0)
            drop_name(name);
    }
    struct enl_seeker *seeker = LIST_FIRST(&names->seekers), *next;
    for (; seeker != NULL; seeker = next) {
        next = LIST_NEXT(seeker, entry);
        if (memcmp(seeker->identity, identity, bytes) == 0)
            drop_seeker(seeker);
    }
}

void enl_names_forget(struct enl_names *names, const struct enl_conn *conn)
{
    struct enl_seeker *seeker = LIST_FIRST(&names->seekers), *next;
    for (; seeker != NULL; seeker = next) {
        next = LIST_NEXT(seeker, entry);
        if (seeker->conn == conn)
            drop_seeker(seeker);
    }
}

void enl_names_open(struct enl_names *names, uv_loop_t *loop)
{
    uv_timer_init(loop, &names->timer);
    names->timer.data = names;
}

void enl_names_close(struct enl_names *names)
{
    for (struct enl_name *name = LIST_FIRST(&names->all), *next; name != NULL; name = next) {
        next = LIST_NEXT(name, entry);
        drop_name(name);
    }
    for (struct enl_seeker *seeker = LIST_FIRST(&names->seekers), *next; seeker != NULL; seeker = next) {
        next = LIST_NEXT(seeker, entry);
        drop_seeker(seeker);
    }
    uv_close((uv_handle_t *)&names->timer, NULL);
}
