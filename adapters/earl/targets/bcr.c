/* SPDX-License-Identifier: MIT */
/* bcr.c -- the target on BCR's cells: each process has one inbox, and a packet is a region.
 *
 * Packets to other hosts are ordered at once and arrive later. After FAR_MOST of them to one process a put there waits until it has
 * arrived itself, as all before it have then. So little stands in the daemons' memory, however slow the receiver, and none waits for
 * another process's. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#include "memory.h"
#include "pool.h"
#include "targets.h"
#include "who.h"

enum { INBOX = EARL_CELL_INBOX, WORK = EARL_CELL_WORK };
enum { INBOX_REGIONS = 512 /* in an inbox (EARL_INBOX) */, FAR_MOST = 256, FAR_FULL = INT_MIN };
static const long long memory_default = 256 << 20; /* EARL_MEMORY */

struct work {
    struct work *next;
    void (*routine)(void *argument);
    void *argument;
};

struct known {
    struct earl_known process;
    unsigned ordered; /* puts to it, on another host, that may be under way */
};

static struct {
    bcr_cce_id own;
    const struct earl_who *who;
    const char *program; /* to be entered */
    struct known *known; /* by their numbers */
    int known_room, watched, host;
    int far;                    /* puts to other hosts since all had arrived */
    struct work *first, **last; /* that has not begun */
    struct earl_pool works;
} bcr;

static long long from_variable(const char *name, long long least, long long most, long long otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (text == NULL || *text == '\0')
        return otherwise;
    const long long value = strtoll(text, &end, 10);
    if (*end != '\0' || value < least || value > most)
        earl_fail("begin", "%s is \"%s\", not a number from %lld to %lld", name, text, least, most);
    return value;
}

static bool make_room(int process)
{
    int room = bcr.known_room == 0 ? 512 : bcr.known_room;
    while (room <= process)
        room *= 2;
    struct known *known = earl_pages((size_t)room * sizeof *known);
    if (known == NULL)
        return false;
    if (bcr.known != NULL)
        memcpy(known, bcr.known, (size_t)bcr.known_room * sizeof *known);
    earl_pages_free(bcr.known, (size_t)bcr.known_room * sizeof *known);
    bcr.known = known;
    bcr.known_room = room;
    return true;
}

/* Asks, which may take a while; meanwhile others may ask, too. */
static struct earl_known ask(int process, bool waits)
{
    const struct earl_known found = bcr.who->find(process, waits);
    if (found.cce > 0 && (process < bcr.known_room || make_room(process)))
        bcr.known[process].process = found;
    return found;
}

static inline struct earl_known member(int process)
{
    if (process < bcr.known_room && bcr.known[process].process.cce != 0)
        return bcr.known[process].process;
    return ask(process, false);
}

/* ---- work beside the main flow: an invocation of a handler each ---- */

static void run(int cell)
{
    (void)cell;
    struct work *work = bcr.first;
    if (work == NULL)
        return;
    bcr.first = work->next;
    if (bcr.first == NULL)
        bcr.last = &bcr.first;
    void (*routine)(void *) = work->routine;
    void *argument = work->argument;
    earl_pool_give(&bcr.works, work);
    routine(argument);
}

static bool later(void *self, void (*routine)(void *argument), void *argument)
{
    (void)self;
    struct work *work = earl_pool_take(&bcr.works);
    if (work == NULL)
        return false;
    *work = (struct work){NULL, routine, argument};
    *bcr.last = work;
    bcr.last = &work->next;
    return bcr_wake(WORK) == 0;
}

static void note(void *self, const char *text, int process)
{
    (void)self;
    const bcr_cce_id cce = process < 0 ? -1 : member(process).cce;
    (void)bcr_note(text, cce > 0 ? cce : -1);
}

static void wake(void *self)
{
    (void)self;
    (void)bcr_wake(INBOX);
}

static void let_work_go_on(void *self)
{
    (void)self;
    (void)bcr_allow(0);
}

/* ---- begin and end ---- */

void earl_target_bcr_enter(const char *program)
{
    bcr.program = program;
}

static int join(int flags)
{
    const char *program = bcr.program;
    bcr.program = NULL;
    if (program != NULL && bcr_enter(program, flags, NULL) >= 0)
        return EARL_OK;
    if (program == NULL || bcr_errno == bcrE_BUSY)
        return bcr_init(flags, NULL) < 0 ? EARL_E_SYSTEM : EARL_OK;
    return bcr_errno == bcrE_NOPROG ? EARL_E_NONE : bcr_errno == bcrE_ARG ? EARL_E_ARG : EARL_E_SYSTEM;
}

static int begin(void *self, int *process, int *count)
{
    bcr.who = self;
    const int code = join(bcr_handlers | bcr.who->flags);
    if (code != EARL_OK)
        return code;
    bcr.own = bcr_cce;
    bcr.last = &bcr.first;
    earl_pool_begin(&bcr.works, sizeof(struct work));
    const int regions = (int)from_variable("EARL_INBOX", 1, 1 << 20, INBOX_REGIONS);
    const size_t account =
        earl_memory_begin((size_t)from_variable("EARL_MEMORY", 0, (long long)1 << 40, memory_default));
    if (bcr_cagrow(WORK, 1, 1, 0, 0, regions, (int)account) != WORK || bcr_handler(WORK, run, 1, 0, 0) != 0)
        return EARL_E_SYSTEM;
    const int begun = bcr.who->begin(process, count);
    bcr.host = begun == EARL_OK ? member(*process).host : 0;
    return begun;
}

static void end(void *self)
{
    (void)self;
    (void)bcr_putdone(bcr_BLOCK);
    earl_memory_end();
}

void earl_target_bcr_finish(int status)
{
    if (bcr.own != 0)
        bcr_end(status, bcr_ALL);
    _exit(status);
}

static int host(void *self, int process)
{
    (void)self;
    const struct earl_known known = member(process);
    return known.cce > 0 ? known.host : EARL_E_PROCESS;
}

static int watch(void *self, int process)
{
    (void)self;
    const bcr_cce_id cce = member(process).cce;
    if (cce <= 0)
        return EARL_E_PROCESS;
    if (bcr_watch(cce, INBOX) != 0) /* that it has ended is no failure */
        return bcr_errno == bcrE_NOMEM ? EARL_E_MEMORY : EARL_E_SYSTEM;
    bcr.watched++;
    return EARL_OK;
}

/* ---- packets ---- */

static earl_packet allocate(void *self, size_t length, enum earl_patience patience)
{
    (void)self;
    return earl_memory_take(length, patience);
}

static void release(void *self, earl_packet packet)
{
    (void)self;
    (void)bcr_rgfree(packet);
}

static size_t length_of(void *self, earl_packet packet)
{
    (void)self;
    const int length = bcr_rglen(packet, NULL);
    return length < 0 ? 0 : (size_t)length;
}

static void shorten(void *self, earl_packet packet, size_t length)
{
    (void)self;
    (void)bcr_rgrealloc(packet, (int)length);
}

static bool is_shared(void *self, earl_packet packet)
{
    (void)self;
    return bcr_rgshared(packet) != 0;
}

/* How long a put to another host is to wait: with bcr_BLOCK it is ordered, and returns; with other times it returns when it has
 * arrived. */
static int far_wait(int process, enum earl_patience patience)
{
    unsigned *ordered = process < bcr.known_room ? &bcr.known[process].ordered : NULL;
    if (ordered == NULL) /* there was no memory to count them */
        return patience == EARL_WAIT ? INT_MAX : FAR_FULL;
    if (*ordered < FAR_MOST || (patience != EARL_WAIT && bcr_putdone(0) == 1)) {
        *ordered = *ordered < FAR_MOST ? *ordered + 1 : 1;
        return bcr_BLOCK;
    }
    if (patience != EARL_WAIT)
        return FAR_FULL;
    *ordered = 0;
    return INT_MAX;
}

static enum earl_put put(void *self, int process, earl_packet packet, bool keep, enum earl_patience patience)
{
    (void)self;
    struct earl_known to = member(process);
    int msec = patience == EARL_WAIT ? bcr_BLOCK : 0;
    if (!to.has_come && to.cce > 0) {
        const struct earl_known now = ask(process, patience == EARL_WAIT);
        if (now.cce > 0)
            to = now;
        else
            to.has_come = true; /* EXEC has ended: what the put says counts */
    }
    if (to.cce <= 0)
        return EARL_PUT_ENDED;
    if (!to.has_come)
        return EARL_PUT_FULL;
    if (to.host != bcr.host)
        msec = far_wait(process, patience);
    if (msec == FAR_FULL)
        return EARL_PUT_FULL;
    if (bcr_put_within(1, packet, to.cce, INBOX, keep ? bcr_NOFREE : bcr_FREE, msec) == 0)
        return EARL_PUT_DONE;
    if (bcr_errno == bcrE_FULL)
        return EARL_PUT_FULL;
    /* NOCCE: it had ended before this process was told who that is. */
    return bcr_errno == bcrE_DEAD || bcr_errno == bcrE_NOCELL || bcr_errno == bcrE_NOCCE ? EARL_PUT_ENDED
                                                                                         : EARL_PUT_FAILED;
}

static earl_packet take(void *self, int msec, int *code)
{
    (void)self;
    *code = EARL_OK;
    bcr_region region;
    do
        region = bcr_deq(bcr.own, INBOX, msec == EARL_TAKE_WAITS ? bcr_BLOCK : msec);
    while (region != NULL && bcr.who->takes != NULL && bcr.who->takes(&region));
    if (region == NULL && bcr_errno == bcrE_TIMEOUT)
        *code = msec != 0 ? EARL_TAKE_LATE : EARL_OK;
    else if (region == NULL && bcr_errno != bcrE_WOKEN)
        *code = EARL_E_SYSTEM;
    return region;
}

static int ended(void *self, earl_packet packet)
{
    (void)self;
    if ((bcr.watched == 0 && bcr.who->ended == NULL) || bcr_rgkind(packet) != bcr_END)
        return -1;
    int told[4];
    if (bcr_copyfm(bcrT_1END, 1, packet, 0, told, sizeof told) < 0)
        return -1;
    if (bcr.who->ended != NULL)
        return bcr.who->ended(told[0], told[2], told[3]);
    for (int i = 0; i < bcr.known_room; i++)
        if (bcr.known[i].process.cce == told[0])
            return i;
    return -1;
}

static const char *sentence(void *self)
{
    (void)self;
    return bcr_errno != 0 ? bcr_strerror(bcr_errno) : "";
}

static int descriptor(void *self)
{
    (void)self;
    return bcr_fd(INBOX);
}

static bool signal_enter(void *self)
{
    (void)self;
    const int code = bcr_errno;
    if (bcr_sigenter() == 0)
        return true;
    bcr_errno = code;
    return false;
}

static void signal_leave(void *self)
{
    (void)self;
    (void)bcr_sigleave();
}

const struct earl_target earl_target_bcr = {
    .name = "bcr",
    .begin = begin,
    .end = end,
    .host = host,
    .watch = watch,
    .allocate = allocate,
    .release = release,
    .length = length_of,
    .shorten = shorten,
    .is_shared = is_shared,
    .put = put,
    .take = take,
    .ended = ended,
    .later = later,
    .note = note,
    .wake = wake,
    .pause = let_work_go_on,
    .signal_enter = signal_enter,
    .signal_leave = signal_leave,
    .sentence = sentence,
    .descriptor = descriptor,
};
