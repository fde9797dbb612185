/* SPDX-License-Identifier: MIT */
/* world.c -- numbers where processes come and go: EXEC gives them, and is asked once for each that is not known.
 *
 * The first process that finds no EXEC starts it; of a team, member 0 does, and the others wait for its name. If two start one, the
 * name is given once, and the second EXEC ends; so who has started one waits until it says that it has the name, or has ended. Whoever asks waits for the answer there and then, also in work beside the main flow;
 * so several may wait, and the answer that one of them gets may be another's, who is woken to look. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "earl.h"
#include "pool.h"
#include "world.h"

#if !defined(EARL_EXEC_PATH) || !defined(EARL_EXEC_BESIDE)
#error "they say where earl-exec will be installed, and where from the library's folder"
#endif

/* Of EXEC, which starts processes with ordinals equal to their numbers. */
enum { EXEC_ORDINAL = 999999 };
/* So often EXEC is looked for again when it has just ended, because its last process had. */
enum { BEGINS = 32 };

struct answer {
    struct answer *next;
    struct earl_word word;
};

static struct {
    bcr_cce_id exec;
    bool has_ended; /* EXEC */
    int parent;
    struct answer *answers; /* that nobody has taken */
    struct earl_pool pool;
} world;

int earl_world_parent(void)
{
    return world.parent;
}

int earl_world_team(int *rank)
{
    const int size = bcr_teamsize();
    *rank = size > 0 ? bcr_teamrank() : 0;
    return size > 0 ? size : 0;
}

/* Beside the library, which may have been moved since it was installed. False: it is not there. */
static bool find_beside(char *path, size_t room)
{
    Dl_info library;
    void *address;
    int (*const routine)(int, const char *) = bcr_init;
    memcpy(&address, &routine, sizeof address); /* C has no conversion of a function's address */
    if (dladdr(address, &library) == 0 || library.dli_fname == NULL)
        return false;
    const char *slash = strrchr(library.dli_fname, '/');
    const int length = slash == NULL ? 0 : (int)(slash - library.dli_fname);
    const int whole = snprintf(path, room, "%.*s/" EARL_EXEC_BESIDE, length, library.dli_fname);
    return length > 0 && whole < (int)room && access(path, X_OK) == 0;
}

/* Whether the region tells of that CCE's end; how that was comes to *how. Others may be told of: a former EXEC. */
static bool is_end_of(bcr_region region, bcr_cce_id cce, int *how)
{
    int told[4];
    if (bcr_rgkind(region) != bcr_END || bcr_copyfm(bcrT_1END, 1, region, 0, told, sizeof told) < 0 ||
        told[0] != cce)
        return false;
    *how = told[2];
    return true;
}

static int start_exec(void)
{
    char beside[PATH_MAX];
    const char *path = getenv("EARL_EXEC");
    if (path == NULL || *path == '\0')
        path = find_beside(beside, sizeof beside) ? beside : EARL_EXEC_PATH;
    const struct bcr_startspec spec = {
        .size = sizeof spec, .core = -1, .count = 1, .ordinal = EXEC_ORDINAL, .program = path};
    bcr_cce_id started;
    if (bcr_start(&spec, &started) != 1 || bcr_watch(started, EARL_CELL_ASK) != 0)
        return EARL_E_SYSTEM;
    /* It says that its name is given, or has ended: it could not be executed, or another has the name. */
    bool is_over = false;
    int how = bcr_UNKNOWN;
    while (!is_over) {
        struct earl_word word;
        bcr_region region = bcr_deq(bcr_cce, EARL_CELL_ASK, bcr_BLOCK);
        if (region == NULL && bcr_errno == bcrE_WOKEN)
            continue; /* a wake-up of a wait for a former EXEC */
        if (region == NULL)
            return EARL_E_SYSTEM;
        is_over =
            is_end_of(region, started, &how) || (earl_word_read(region, &word) && word.kind == EARL_HERE);
        (void)bcr_rgfree(region);
    }
    return how == bcr_NEVERUP ? EARL_E_SYSTEM : EARL_OK;
}

static bool is_first(void)
{
    return bcr_teamsize() == 0 || bcr_teamrank() == 0;
}

/* Finds EXEC, or starts it. EARL_E_ENDED: it has ended, or the former one has and kept the name from this one. */
static int find_exec(void)
{
    if (bcr_find(EARL_EXEC_NAME, &world.exec, NULL, is_first() ? 0 : bcr_BLOCK) == 0)
        return EARL_OK;
    if (!is_first() || bcr_errno != bcrE_TIMEOUT)
        return EARL_E_SYSTEM;
    const int code = start_exec();
    if (code != EARL_OK)
        return code;
    if (bcr_find(EARL_EXEC_NAME, &world.exec, NULL, 0) == 0)
        return EARL_OK;
    return bcr_errno == bcrE_TIMEOUT ? EARL_E_ENDED : EARL_E_SYSTEM;
}

/* Takes an answer out of those that came for others. */
static bool take_answer(int asked, struct earl_word *word)
{
    for (struct answer **at = &world.answers; *at != NULL; at = &(*at)->next)
        if ((*at)->word.asked == asked) {
            struct answer *answer = *at;
            *word = answer->word;
            *at = answer->next;
            earl_pool_give(&world.pool, answer);
            return true;
        }
    return false;
}

static void keep_answer(const struct earl_word *word)
{
    struct answer *answer = earl_pool_take(&world.pool);
    if (answer == NULL) {
        world.has_ended = true; /* who waits for it would wait for ever */
        return;
    }
    *answer = (struct answer){world.answers, *word};
    world.answers = answer;
}

/* Waits for the next answer. */
static void receive_answer(int asked)
{
    struct earl_word word;
    int how;
    bcr_region region = bcr_deq(bcr_cce, EARL_CELL_ASK, bcr_BLOCK);
    if (region == NULL) {
        world.has_ended = world.has_ended || bcr_errno != bcrE_WOKEN;
        return;
    }
    if (is_end_of(region, world.exec, &how))
        world.has_ended = true;
    else if (earl_word_read(region, &word) && word.kind == EARL_IS)
        keep_answer(&word);
    (void)bcr_rgfree(region);
    if (world.has_ended || world.answers == NULL || world.answers->word.asked != asked)
        (void)bcr_wake(
            EARL_CELL_ASK); /* of another who waits; if there is none, the next one looks once more */
}

static bool ask(int kind, int asked, const char *text, struct earl_word *answer)
{
    const struct earl_word question = {
        .kind = kind, .asked = asked, .number = -1, .parent = -1, .cce = bcr_cce};
    if (world.has_ended || !earl_word_put(&question, text, world.exec, EARL_CELL_INBOX))
        return false;
    while (!take_answer(asked, answer)) {
        if (world.has_ended)
            return false;
        receive_answer(asked);
    }
    return true;
}

/* After a call that has failed. NOCCE: it had ended, and enl forgotten it, before this process was told who has its name. */
static bool exec_has_ended(void)
{
    return world.has_ended || bcr_errno == bcrE_DEAD || bcr_errno == bcrE_NOCELL || bcr_errno == bcrE_NOCCE;
}

/* EARL_E_ENDED: EXEC has ended meanwhile. */
static int hello(const char *host, struct earl_word *own)
{
    const int code = find_exec();
    if (code != EARL_OK)
        return code;
    world.has_ended = false;
    if (bcr_watch(world.exec, EARL_CELL_ASK) != 0 || !ask(EARL_HELLO, -1, host, own))
        return exec_has_ended() ? EARL_E_ENDED : EARL_E_SYSTEM;
    return own->number < 0 ? EARL_E_SYSTEM : EARL_OK;
}

static int begin(int *process, int *count)
{
    char host[256];
    struct earl_word own;
    int code = EARL_E_ENDED;
    earl_pool_begin(&world.pool, sizeof(struct answer));
    if (bcr_cagrow(EARL_CELL_ASK, 0, 1, 0, 0, 8, 0) != EARL_CELL_ASK)
        return EARL_E_SYSTEM;
    earl_world_host(host, sizeof host);
    for (int i = 0; i < BEGINS && code == EARL_E_ENDED; i++) {
        code = hello(host, &own);
        if (code == EARL_E_ENDED && !is_first())
            break; /* who would start another is the first, which may have ended */
    }
    if (code != EARL_OK)
        return EARL_E_SYSTEM;
    *process = own.number;
    *count = 0;
    world.parent = own.parent;
    return EARL_OK;
}

static struct earl_known find(int process, bool waits)
{
    struct earl_word answer;
    if (!ask(waits ? EARL_WHEN : EARL_WHO, process, "", &answer))
        return (struct earl_known){-1, -1, false};
    return (struct earl_known){answer.cce, answer.host, answer.has_come != 0};
}

/* What becomes of a process here harms no other: they come and go. */
const struct earl_who earl_who_world = {.flags = bcr_isolate | bcr_anystatus, .begin = begin, .find = find};
