/* SPDX-License-Identifier: MIT */
/* directory.c -- EXEC's side of world.c: which number is which CCE.
 *
 * A process has its number from its start, by bcr_start, or from its HELLO if EXEC has not started it. EXEC is told of the end of each. Its
 * record stays: who asks later learns that it has ended, and how. */
#include "directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exec/protocol.h"
#include "hosts.h"
#include "packet.h"
#include "world.h"

struct entry {
    struct earl_resident seen;
    bcr_cce_id cce;
};

/* A CCE that waits until a process has come. */
struct waiting {
    struct waiting *next;
    int asked;
    bcr_cce_id asker;
};

static struct {
    struct waiting *waiting;
    struct entry **entries; /* they stay where they are */
    int count, room;
} directory;

int earl_directory_count(void)
{
    return directory.count;
}

const struct earl_resident *earl_directory_get(int process)
{
    return process >= 0 && process < directory.count ? &directory.entries[process]->seen : NULL;
}

/* ---- processes ---- */

static int number_of(bcr_cce_id cce)
{
    for (int i = directory.count - 1; i >= 0; i--)
        if (directory.entries[i]->cce == cce)
            return i;
    return -1;
}

/* A number for a CCE; -1: no memory. */
static int add(bcr_cce_id cce, int parent, int host, const char *program)
{
    if (directory.count == directory.room) {
        const int room = directory.room == 0 ? 64 : 2 * directory.room;
        struct entry **entries = realloc(directory.entries, (size_t)room * sizeof(struct entry *));
        if (entries == NULL)
            return -1;
        directory.entries = entries;
        directory.room = room;
    }
    struct entry *entry = malloc(sizeof *entry);
    char *copy = strdup(program);
    if (entry == NULL || copy == NULL) {
        free(entry);
        free(copy);
        return -1;
    }
    *entry =
        (struct entry){{.has_come = cce == bcr_cce, .parent = parent, .host = host, .program = copy}, cce};
    directory.entries[directory.count] = entry;
    /* The ends of those that EXEC has started are told without a watch of each. */
    if (cce != bcr_cce && (parent >= 0 || bcr_watch(cce, EARL_CELL_INBOX) == 0))
        earl_directory_came(directory.count);
    return directory.count++;
}

static struct earl_known find(int process, bool waits)
{
    (void)waits;
    if (earl_directory_get(process) == NULL || earl_directory_get(process)->is_guard)
        return (struct earl_known){-1, -1, false};
    const struct entry *entry = directory.entries[process];
    return (struct earl_known){entry->cce, entry->seen.host, entry->seen.has_come || entry->seen.has_ended};
}

static void tell(int asked, bcr_cce_id asker)
{
    const struct earl_known known = find(asked, false);
    const struct earl_word answer = {.kind = EARL_IS,
                                     .asked = asked,
                                     .number = asked,
                                     .parent = -1,
                                     .host = known.host,
                                     .has_come = known.has_come,
                                     .cce = known.cce};
    (void)earl_word_put(&answer, "", asker, EARL_CELL_ASK);
}

/* A process has come, or has ended: who waits for that is told. */
static void tell_waiting(int process)
{
    for (struct waiting **at = &directory.waiting; *at != NULL;) {
        struct waiting *waiting = *at;
        if (waiting->asked != process) {
            at = &waiting->next;
            continue;
        }
        *at = waiting->next;
        tell(process, waiting->asker);
        free(waiting);
    }
}

static void hello(const struct earl_word *word, bcr_region region)
{
    size_t length;
    const char *text = earl_word_text(region, &length);
    char *name = strndup(text, length);
    struct earl_word answer = {.kind = EARL_IS, .asked = -1, .number = -1, .parent = -1, .cce = word->cce};
    int number = number_of(word->cce);
    const int host = name == NULL ? -1
                                  : earl_hosts_place(bcr_hostof(word->cce), name,
                                                     number < 0 ? -1 : directory.entries[number]->seen.host);
    free(name);
    if (number < 0 && host >= 0)
        number = add(word->cce, -1, host, "");
    if (number >= 0 && host >= 0) {
        struct earl_resident *seen = &directory.entries[number]->seen;
        seen->has_come = true;
        seen->host = host;
        answer.number = number;
        answer.host = host;
        answer.parent = seen->parent;
    }
    (void)earl_word_put(&answer, "", word->cce, EARL_CELL_ASK);
    if (number >= 0)
        tell_waiting(number);
}

static void who(const struct earl_word *word)
{
    const struct earl_known known = find(word->asked, false);
    struct waiting *waiting =
        word->kind == EARL_WHEN && known.cce > 0 && !known.has_come ? malloc(sizeof *waiting) : NULL;
    if (waiting == NULL) { /* also without memory: it asks again */
        tell(word->asked, word->cce);
        return;
    }
    *waiting = (struct waiting){directory.waiting, word->asked, word->cce};
    directory.waiting = waiting;
}

/* What a process has printed becomes a message of it, in a packet. */
static bcr_region packet_of_line(bcr_region region)
{
    int told[3];
    if (bcr_copyfm(bcrT_1LINE, 1, region, 0, told, sizeof told) < 2)
        return NULL;
    const size_t head = sizeof told, length = (size_t)bcr_rglen(region, NULL) - head;
    bcr_region packet = earl_target_bcr.allocate(NULL, EARL_HEAD + 1 + length, EARL_MUST);
    if (packet == NULL) {
        fputs("earl-exec: no memory for what a process has printed\n", stderr);
        exit(1);
    }
    unsigned char *bytes = *packet;
    earl_head_write(bytes, EARL_WHOLE, EARL_EXEC_ASK, (uint32_t)told[0], EARL_ASK_PRINTED);
    bytes[EARL_HEAD] = (unsigned char)told[1];
    memcpy(bytes + EARL_HEAD + 1, (unsigned char *)*region + head, length);
    return packet;
}

static bool takes(bcr_region *packet)
{
    struct earl_word word;
    bcr_region region = *packet;
    if (bcr_rgkind(region) == bcr_LINE) {
        *packet = packet_of_line(region);
        (void)bcr_rgfree(region);
        return *packet == NULL;
    }
    if (!earl_word_read(region, &word) || word.cce < 0)
        return false;
    if (word.kind == EARL_HELLO)
        hello(&word, region);
    else if (word.kind == EARL_WHO || word.kind == EARL_WHEN)
        who(&word);
    (void)bcr_rgfree(region);
    return true;
}

static int ended(bcr_cce_id cce, int how, int status)
{
    static const int hows[] = {[bcr_UNKNOWN] = EARL_HOW_UNKNOWN,
                               [bcr_EXITED] = EARL_HOW_EXITED,
                               [bcr_KILLED] = EARL_HOW_KILLED,
                               [bcr_HOSTLOST] = EARL_HOW_LOST,
                               [bcr_NEVERUP] = EARL_HOW_NEVER};
    const int number = number_of(cce);
    if (number < 0)
        return -1;
    struct earl_resident *seen = &directory.entries[number]->seen;
    seen->has_ended = true;
    seen->how = how >= 0 && how < (int)(sizeof hows / sizeof *hows) ? hows[how] : EARL_HOW_UNKNOWN;
    seen->status = status;
    tell_waiting(number);
    return number;
}

/* Two may have been started; the name is one's. */
static int begin(int *process, int *count)
{
    if (bcr_publish(EARL_EXEC_NAME, EARL_CELL_INBOX) != 0)
        exit(bcr_errno == bcrE_BUSY ? 0 : 1);
    (void)bcr_idle(bcr_IDLE_SERVER);
    /* Before they are started: how one has ended that ends at once is not known any more when it is watched later. */
    if (bcr_watch(bcr_STARTED, EARL_CELL_INBOX) != 0)
        return EARL_E_SYSTEM;
    *process = 0;
    *count = 0;
    char name[256];
    if (bcr_cagrow(EARL_CELL_ASK, 0, 1, 0, 0, 8, 0) != EARL_CELL_ASK)
        return EARL_E_SYSTEM;
    earl_world_host(name, sizeof name);
    (void)earl_hosts_read();
    if (add(bcr_cce, -1, earl_hosts_place(bcr_hostof(bcr_cce), name, -1), "") != 0)
        return EARL_E_MEMORY;
    /* Who has started EXEC is known, lest EXEC stay if that one ends before it says so. */
    if (bcr_enlistor < 0)
        return EARL_OK;
    const struct earl_word here = {
        .kind = EARL_HERE, .asked = -1, .number = -1, .parent = -1, .cce = bcr_cce};
    if (add(bcr_enlistor, -1, earl_hosts_place(bcr_hostof(bcr_enlistor), name, -1), "") != 1)
        return EARL_E_MEMORY;
    /* If it has ended, that is told as any end; others may have found EXEC by now. */
    return earl_word_put(&here, "", bcr_enlistor, EARL_CELL_ASK) || bcr_errno == bcrE_DEAD ||
                   bcr_errno == bcrE_NOCCE || bcr_errno == bcrE_NOCELL
               ? EARL_OK
               : EARL_E_SYSTEM;
}

const struct earl_who earl_who_directory = {
    .flags = bcr_anystatus, .begin = begin, .find = find, .takes = takes, .ended = ended};

/* ---- what EXEC does with them ---- */

static int code_of_start(void)
{
    switch (bcr_errno) {
    case bcrE_NOPROG: return EARL_E_FILE;
    case bcrE_NOHOST:
    case bcrE_DEAD: return EARL_E_HOST;
    case bcrE_NOMEM: return EARL_E_MEMORY;
    case bcrE_ARG: return EARL_E_ARG;
    default: return EARL_E_SYSTEM;
    }
}

/* Starts `count` on one host; returns a code, or EARL_OK: all are started. */
static int start_there(const struct earl_exec_start *start, const char *const *environment, int parent,
                       int host, int count, int *processes)
{
    bcr_cce_id *cces = malloc((size_t)count * sizeof *cces);
    if (cces == NULL)
        return EARL_E_MEMORY;
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = earl_hosts_get(host)->name,
                                       .core = -1,
                                       .count = count,
                                       .ordinal = directory.count, /* equal to their numbers */
                                       .program = start->file,
                                       .arguments = start->arguments,
                                       .environment = environment,
                                       .directory = start->directory,
                                       .lines = start->output.process != 0 ? EARL_CELL_INBOX : 0};
    const int started = bcr_start(&spec, cces);
    int code = started < count ? code_of_start() : EARL_OK;
    for (int i = 0; i < count; i++) {
        processes[i] = i < started && cces[i] > 0 ? add(cces[i], parent, host, start->file) : code;
        if (processes[i] >= 0)
            directory.entries[processes[i]]->seen.is_tied = start->is_tied != 0;
    }
    free(cces);
    return code;
}

/* The strings, and the variable by which a process knows that EXEC has started it. */
static const char **with_variable(const char *const *strings)
{
    size_t count = 0;
    while (strings != NULL && strings[count] != NULL)
        count++;
    const char **all = malloc((count + 2) * sizeof(char *));
    if (all == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        all[i] = strings[i];
    all[count] = EARL_WORLD_VARIABLE;
    all[count + 1] = NULL;
    return all;
}

static void fail(int *processes, int count, int code)
{
    for (int i = 0; i < count; i++)
        processes[i] = code;
}

int earl_directory_start(const struct earl_exec_start *start, int parent, int *processes)
{
    const int given = earl_hosts_read();
    const char **environment = with_variable(start->environment);
    const int host = start->host == NULL ? -1 : earl_hosts_named(start->host);
    int started = 0;
    fail(processes, start->count, environment == NULL ? EARL_E_MEMORY : EARL_E_HOST);
    if (environment == NULL || given == 0 || (start->host != NULL && host < 0)) {
        free(environment);
        return 0;
    }
    /* By turns: each host gets an equal share, and the first ones one more. */
    const int hosts = host >= 0 ? 1 : given < start->count ? given : start->count;
    for (int i = 0, at = 0; i < hosts; i++) {
        const int count = start->count / hosts + (i < start->count % hosts);
        (void)start_there(start, environment, parent, host >= 0 ? host : earl_hosts_next(), count,
                          &processes[at]);
        at += count;
    }
    for (int i = 0; i < start->count; i++)
        started += processes[i] >= 0;
    free(environment);
    return started;
}

/* Until then its failure would be one of the program. */
static void await_guard(bcr_cce_id guard)
{
    bool is_over = bcr_watch(guard, EARL_CELL_ASK) != 0;
    while (!is_over) {
        struct earl_word word;
        int told[4];
        bcr_region region = bcr_deq(bcr_cce, EARL_CELL_ASK, bcr_BLOCK);
        if (region == NULL)
            return;
        is_over = bcr_rgkind(region) == bcr_END
                      ? bcr_copyfm(bcrT_1END, 1, region, 0, told, sizeof told) >= 2 && told[0] == guard
                      : earl_word_read(region, &word) && word.kind == EARL_HERE && word.cce == guard;
        (void)bcr_rgfree(region);
    }
    (void)bcr_unwatch(guard, EARL_CELL_ASK);
}

int earl_directory_guard(int host, const char *program)
{
    static const char *const arguments[] = {EARL_GUARD, NULL};
    const struct earl_exec_start start = {.file = program, .arguments = arguments, .count = 1};
    int guard = EARL_E_SYSTEM;
    const int code = start_there(&start, NULL, 0, host, 1, &guard);
    if (guard < 0)
        return code;
    directory.entries[guard]->seen.is_guard = true;
    await_guard(directory.entries[guard]->cce);
    return guard;
}

int earl_directory_signal(int process, int signal)
{
    if (earl_directory_get(process) == NULL || process == 0 || earl_directory_get(process)->is_guard)
        return EARL_E_PROCESS;
    if (bcr_signal(directory.entries[process]->cce, signal) == 0)
        return EARL_OK;
    /* NOCCE: it had ended, and another had its place, before EXEC was told which CCE it is. */
    return bcr_errno == bcrE_DEAD || bcr_errno == bcrE_NOCCE ? EARL_E_ENDED
           : bcr_errno == bcrE_ARG                           ? EARL_E_ARG
                                                             : EARL_E_SYSTEM;
}
