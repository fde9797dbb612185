/* SPDX-License-Identifier: MIT */
/* The program: a root with the shared cells, and others that come and are killed. */
#include "cce.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bcr/program.h>

enum { OWN_BYTES = 1 << 20, OWN_REGIONS = 8, BIRTH_BYTES = 40, EMPTY_USEC = 10000 };

struct chaos_board *board;
struct chaos_place *mine;
bcr_cce_id keeper;
bool far;
static uint64_t state;

void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "chaos: CCE %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    _exit(3);
}

bool worked(bool holds, const char *what)
{
    switch (holds ? 0 : bcr_errno) {
    case 0: return true;
    case bcrE_DEAD: atomic_fetch_add(&board->dead_ends, 1); return false;
    case bcrE_NOCCE: /* it has ended, and its record is another's */
    case bcrE_NOCELL:
    case bcrE_FULL:
    case bcrE_TIMEOUT:
    case bcrE_NOMEM:
    case bcrE_NBYTES:
    case bcrE_OWNERDEAD: return false;
    default: must(false, what); return false;
    }
}

bool put_where_room_is(bool holds, const char *what)
{
    must(holds || bcr_errno == bcrE_FULL, what);
    atomic_fetch_add(&board->refused, !holds);
    return holds;
}

unsigned any(unsigned below) /* xorshift64 (Marsaglia, 2003) */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % below;
}

int any_time(void)
{
    return any(2) == 0 ? 0 : 1 + (int)any(20);
}

static void open_board(void)
{
    int fd = open(getenv("CHAOS_BOARD"), O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || board == MAP_FAILED) {
        perror("chaos: the board");
        _exit(3);
    }
    close(fd);
    /* What it says is a mistake: the test shows it, whatever becomes of the daemon. */
    fd = open(getenv("CHAOS_SAID"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, "the file for what is said");
    close(fd);
}

static void note(enum chaos_doing doing)
{
    atomic_store(&mine->doing, doing);
    atomic_fetch_add(&mine->calls, 1);
}

/* Once for each place, and again when its CCE was killed. A host whose daemon was killed is not given up
 * at once; until then nothing can be started there. */
static void enlist_wanted(const char *root)
{
    static int made[CHAOS_CCES];
    char program[4096], machine[24];
    for (int place = 1; place < CHAOS_CCES; place++) {
        if (atomic_load(&board->place[place].wanted) == 0)
            continue;
        note(DOING_ENLIST);
        atomic_store(&board->place[place].wanted, 0);
        const unsigned deaths = atomic_load(&board->place[place].deaths);
        const int ordinal = place + CHAOS_CCES * made[place]++;
        snprintf(program, sizeof program, "%.*s%d.chaos", (int)(strrchr(root, '/') + 1 - root), root, place);
        bcr_region birth = region_make(BIRTH_BYTES);
        must(birth != NULL, "no room for a birth region");
        const int host = chaos_host(board, place);
        machine[0] = '\0';
        if (host != 0)
            snprintf(machine, sizeof machine, "local%d", host);
        if (bcr_enlist(machine, -1, ordinal, program, birth, bcr_FREE) == 0)
            continue;
        must(host != 0 && (bcr_errno == bcrE_NOHOST || bcr_errno == bcrE_HOSTLOST), "enlist");
        must(bcr_rgfree(birth) == 0, "rgfree of a birth region");
        /* It may have been there before its host was lost: then it is the killer that wants another, and not twice. */
        if (atomic_load(&board->place[place].pid) == 0 && atomic_load(&board->place[place].deaths) == deaths)
            atomic_store(&board->place[place].wanted, 1);
    }
}

/* What is to be met more often stands there more often. */
static const struct {
    enum chaos_doing doing;
    void (*call)(void);
} operations[] = {
    {DOING_TOKEN, do_token},     {DOING_TOKEN, do_token},     {DOING_TOKEN, do_token},
    {DOING_PENDING, do_pending}, {DOING_PENDING, do_pending}, {DOING_THREE, do_three},
    {DOING_THREE, do_three},     {DOING_MANY, do_many},       {DOING_SHARE, do_share},
    {DOING_LOCK, do_lock},       {DOING_LOCK, do_lock},       {DOING_READ_LOCK, do_read_lock},
    {DOING_LONG, do_long},       {DOING_LONG, do_long},       {DOING_PEER, do_peer},
    {DOING_PEER, do_peer},       {DOING_HANDLED, do_handled}, {DOING_ZAP, do_zap},
    {DOING_AREA, do_area},
};

/* From another host a put that waits for ever may be on its way when its call has returned. */
static void run(bool root)
{
    const unsigned which = any(sizeof operations / sizeof operations[0]);
    const enum chaos_doing doing = operations[which].doing;
    const bool may_block = doing == DOING_TOKEN || doing == DOING_PENDING || doing == DOING_LOCK;
    must(bcr_putwait(far && may_block && any(2) == 0 ? bcr_BLOCK : any_time()) == 0, "putwait");
    note(doing);
    operations[which].call();
    if (root && any(8) == 0) {
        note(DOING_RECOVER);
        recover_locks();
    }
}

static void empty(bool root)
{
    cell_empty(0);
    for (int cell = OWN; cell <= OWN_HANDLED && !root; cell++)
        cell_empty(cell);
    areas_empty();
    if (root)
        shared_empty();
}

/* Until the killer says that it is over. */
static void live(const char *program, bool root)
{
    for (unsigned phase; (phase = atomic_load(&board->phase)) != CHAOS_OVER;) {
        const unsigned now = phase % CHAOS_PHASES;
        if (root && now != CHAOS_COUNT)
            enlist_wanted(program);
        if (now == CHAOS_RUN) {
            run(root);
        } else if (atomic_load(&mine->at_phase) == phase) {
            usleep(now == CHAOS_EMPTY ? EMPTY_USEC : 100);
            if (now == CHAOS_EMPTY)
                empty(root); /* of what has come late; nobody comes on by that */
            continue;
        } else if (now == CHAOS_STAND) {
            must(bcr_putdone(bcr_BLOCK) == 1, "putdone");
        } else if (now == CHAOS_EMPTY) {
            note(DOING_EMPTYING);
            empty(root);
        } else if (now == CHAOS_COUNT && root) {
            note(DOING_COUNTING);
            shared_count();
        }
        atomic_store(&mine->at_phase, phase);
    }
}

void take_one(int cell)
{
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    if (worked(rgid != NULL, "deq in a handler"))
        region_check_and_free(rgid, "a handler's cell");
}

static void become_peer(int place)
{
    const int me = bcr_cce;
    must(bcr_cagrow(OWN, 0, 0, 0, OWN_CELLS + 1, OWN_REGIONS, OWN_BYTES) == OWN, "cagrow");
    must(bcr_handler(OWN_HANDLED, take_one, 1, 1, 1) == 0, "handler");
    keeper = bcr_enlistor;
    region_check_and_free(bcr_deq(bcr_cce, 0, bcr_BLOCK), "the birth region");
    must(bcr_send(&me, sizeof me, bcrT_1CCE, 1, keeper, PEERS + place, 0, 0) > 0, "send its name");
}

/* The place stands in the name: PLACE.chaos. So it is known before bcr_init, which is a place to
 * die in as well. */
static int place_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const int place = atoi(slash != NULL ? slash + 1 : name);
    return place >= 0 && place < CHAOS_CCES ? place : 0;
}

int main(int argc, char **argv)
{
    const int place = place_of(argc > 0 ? argv[0] : "");
    const bool root = place == 0;
    open_board();
    mine = &board->place[place];
    far = chaos_host(board, place) != 0;
    note(DOING_INIT);
    atomic_store(&mine->pid, (int)getpid());
    must(bcr_init(bcr_errors, NULL) >= 0, "bcr_init");
    must((bcr_enlistor < 0) == root && bcr_cceord % CHAOS_CCES == place, "who this is");
    atomic_store(&mine->host, bcr_hostof(bcr_cce));
    state = (board->seed + (unsigned)bcr_cceord) * UINT64_C(0x9e3779b97f4a7c15) | 1;
    if (root)
        shared_make();
    else
        become_peer(place);
    live(argv[0], root);
    return 0;
}
