/* SPDX-License-Identifier: MIT */
/* sys_nomalloc [HOST] -- a program of three CCEs, one of them on machine HOST, in which malloc and its like end the
 * process while a routine of BCR is called. The root does all that routines can do, with its own cells, with those of
 * a CCE beside it and of one on the other host; the others serve it. Prints "done". */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr.h>
#include <bcr/program.h>

/* ---- malloc: in place of the C library's, for libbcr too */

#pragma GCC visibility push(default)

static bool forbidden; /* while a scene is on, whose own code does not allocate either */

static void allowed(const char *name)
{
    if (!forbidden)
        return;
    forbidden = false;
    (void)!write(STDERR_FILENO, name, strlen(name));
    (void)!write(STDERR_FILENO, " was called\n", 12);
    abort();
}

/* NOLINTBEGIN(bugprone-reserved-identifier): the C library's names */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t unit, size_t bytes);
void __libc_free(void *at);
/* NOLINTEND(bugprone-reserved-identifier) */

void *malloc(size_t bytes)
{
    allowed("malloc");
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    allowed("calloc");
    return __libc_calloc(count, bytes);
}

void *realloc(void *at, size_t bytes)
{
    allowed("realloc");
    return __libc_realloc(at, bytes);
}

void *aligned_alloc(size_t unit, size_t bytes)
{
    allowed("aligned_alloc");
    return __libc_memalign(unit, bytes);
}

int posix_memalign(void **at, size_t unit, size_t bytes)
{
    allowed("posix_memalign");
    *at = __libc_memalign(unit, bytes);
    return *at != NULL ? 0 : ENOMEM;
}

void free(void *at)
{
    if (at != NULL)
        allowed("free");
    __libc_free(at);
}

#pragma GCC visibility pop

/* ---- the program */

enum { TOLD = 1, OUT, SHARED }; /* each CCE's cells, the root's too: in, out, in/out */
enum { HANDLED = 10, WAITED = 11, ROUNDS = 200 };
enum { ECHO = 1, FILL, END };

static bcr_cce_id others[3]; /* the cells of which scenes use: the CCE's own, one beside it, one elsewhere */
static int other_count;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    forbidden = false;
    fprintf(stderr, "sys_nomalloc: CCE %d: %s: %s\n", bcr_cceord, what, bcr_strerror(bcr_errno));
    exit(1);
}

static bcr_region number(int value)
{
    bcr_region region = bcr_rgalloc(sizeof value, 0);
    must(region != NULL, "bcr_rgalloc");
    **(int **)region = value;
    return region;
}

static int taken(bcr_region region)
{
    must(region != NULL, "a get");
    const int value = **(int **)region;
    must(bcr_rgfree(region) == 0, "bcr_rgfree");
    return value;
}

static void tell(bcr_cce_id cce, int what)
{
    must(bcr_enq(number(what), cce, TOLD, bcr_FREE) == 0, "a command");
}

static void regions(void)
{
    for (int bytes = 1; bytes <= 100000; bytes += bytes / 3 + 1) {
        bcr_region region = bcr_rgalloc(bytes, 0), archtyped = bcr_rgalloc(bytes, bcr_archtype);
        must(region != NULL && archtyped != NULL, "bcr_rgalloc");
        must(bcr_rglen(region, NULL) == bytes && bcr_rgerror(region) == 0, "bcr_rglen");
        must(bcr_put(1, region, bcr_cce, TOLD, bcr_NOFREE) == 0 && bcr_rgmod(region) == 0, "bcr_rgmod");
        (void)bcr_rgrealloc(region, bytes - 1);
        must(bcr_zap(bcr_cce, TOLD) == 0 && bcr_rgfree(region) == 0 && bcr_rgfree(archtyped) == 0,
             "bcr_rgfree");
    }
    static bcr_region many[5000]; /* more than the first chunk of IDs */
    for (int i = 0; i < 5000; i++)
        must((many[i] = bcr_rgalloc(16, 0)) != NULL, "bcr_rgalloc");
    for (int i = 0; i < 5000; i++)
        must(bcr_rgfree(many[i]) == 0, "bcr_rgfree");
    must(bcr_rgalloc(2000000000, 0) == NULL && bcr_errno == bcrE_NBYTES, "one too large");
    const int left = (int)bcr_heapleft();
    bcr_region waited = bcr_rgalloc_within(16, 0, bcr_BLOCK);
    must(waited != NULL && bcr_rgalloc_within(left, 0, 5) == NULL && bcr_errno == bcrE_NBYTES &&
             bcr_rgfree(waited) == 0,
         "bcr_rgalloc_within");
}

static void puts_and_gets(void)
{
    for (int i = 0; i < other_count; i++) {
        for (int n = 0; n < ROUNDS; n++) {
            must(bcr_put(n % 2, number(n), others[i], SHARED, bcr_FREE) == 0, "bcr_put");
            must(taken(bcr_get(0, others[i], SHARED, bcr_BLOCK)) >= 0, "bcr_get");
        }
        must(bcr_putdone(bcr_BLOCK) == 1 && bcr_celllen(others[i], SHARED) > 0, "bcr_celllen");
        must(bcr_zap(others[i], SHARED) == 0, "bcr_zap");
        must(bcr_get(1, others[i], SHARED, 1) == NULL && bcr_errno == bcrE_TIMEOUT, "a get in vain");
        must(bcr_putwait(0) == 0 && bcr_put(0, number(1), others[i], SHARED, bcr_FREE) == 0,
             "a put with a time");
        must(bcr_putwait(bcr_BLOCK) == 0 && taken(bcr_deq(others[i], SHARED, bcr_BLOCK)) == 1, "its get");
    }
    for (int i = 1; i < other_count; i++) {
        tell(others[i], ECHO);
        must(taken(bcr_deq(bcr_cce, TOLD, bcr_BLOCK)) == ECHO, "an echo");
    }
}

static void puts_into_many_cells(void)
{
    static int cells[2 * 3000];
    for (int count = 1; count <= 3000; count = count * 5 + 1) {
        for (int i = 0; i < count; i++) {
            cells[2 * i] = others[i % other_count];
            cells[2 * i + 1] = SHARED;
        }
        must(bcr_putm(0, number(count), count, cells, bcr_FREE) == 0, "bcr_putm");
        for (int i = 0; i < other_count && i < count; i++)
            must(taken(bcr_deq(others[i], SHARED, bcr_BLOCK)) == count, "its get");
    }
}

static void pending_gets(void)
{
    static bcr_region all[ROUNDS];
    for (int i = 0; i < other_count; i++) {
        for (int n = 0; n < ROUNDS; n++)
            must((all[n] = bcr_deq(others[i], SHARED, bcr_PENDING)) != NULL, "a pending get");
        must(bcr_rgwaitm(ROUNDS, all, 1, 0) == 0 && bcr_rgwait(all[0], 1, 0) == 0, "a wait in vain");
        for (int n = 0; n < ROUNDS / 2; n++)
            must(bcr_enq(number(n), others[i], SHARED, bcr_FREE) == 0, "a put");
        for (int n = 0; n < ROUNDS / 2; n++) {
            const int ready = bcr_rgwaitm(ROUNDS, all, bcr_BLOCK, 0);
            must(ready > 0 && taken(all[ready - 1]) >= 0, "bcr_rgwaitm");
            all[ready - 1] = NULL;
        }
        must(bcr_rgfree(all[ROUNDS - 1]) == 0, "bcr_rgfree of a pending get");
        all[ROUNDS - 1] = NULL;
        must(bcr_rgwaitm(ROUNDS, all, 1, 1) == 0, "bcr_rgwaitm that cancels");
    }
}

static void locks(void)
{
    for (int i = 0; i < other_count; i++) {
        must(bcr_write(number(5), others[i], SHARED, bcr_FREE) == 0, "bcr_write");
        bcr_region lock = bcr_acqrl(others[i], SHARED, bcr_BLOCK);
        must(lock != NULL && bcr_rlsrl(lock) == 0, "a read lock");
        for (int msec = bcr_PENDING; msec <= bcr_BLOCK; msec++) {
            lock = bcr_acqwl(others[i], SHARED, msec);
            must(lock != NULL && (msec != bcr_PENDING || bcr_rgwait(lock, bcr_BLOCK, 0) == 1),
                 "a write lock");
            must(msec == bcr_BLOCK ? bcr_rlswl(lock, others[i], SHARED) == 0
                                   : bcr_wl2rl(lock, others[i], SHARED) == 0 && bcr_rgfree(lock) == 0,
                 "its end");
        }
        must(taken(bcr_deq(others[i], SHARED, bcr_BLOCK)) == 5, "what it protected");
    }
}

static int runs, went_on;

static void wait_in_the_midst(int cell)
{
    must(taken(bcr_deq(bcr_cce, cell, 0)) >= 0, "what has requested it");
    runs++;
    must(taken(bcr_deq(bcr_cce, WAITED, bcr_BLOCK)) >= 0, "what it waits for");
    went_on++;
}

static void handlers(void)
{
    must(bcr_cagrow(HANDLED, 2, 0, 0, 0, 2 * ROUNDS, 0) == HANDLED, "bcr_cagrow");
    must(bcr_handler(HANDLED, wait_in_the_midst, 1, 3, 0) == 0, "bcr_handler");
    for (int n = 0; n < ROUNDS; n++)
        must(bcr_enq(number(n), bcr_cce, HANDLED, bcr_FREE) == 0, "a put");
    must(bcr_allow(0) == 0 && runs == ROUNDS && went_on == 0, "bcr_allow");
    for (int n = 0; n < ROUNDS; n++)
        must(bcr_enq(number(n), bcr_cce, WAITED, bcr_FREE) == 0, "a put");
    must(bcr_allow(0) == 0 && went_on == ROUNDS, "bcr_allow");
    must(bcr_handler(HANDLED, wait_in_the_midst, 1, 7, 7) == 0 && bcr_priority(2, 1) == 0 &&
             bcr_priority(0, 0) == 0,
         "bcr_priority");
    puts_and_gets(); /* as it waits now that there is a scheduler */
    pending_gets();
    must(bcr_handler(HANDLED, NULL, 0, 0, 0) == 0 && bcr_cafree(HANDLED) == 0, "the end of a handler");
}

static void copies(void)
{
    static char text[4000], large[200000];
    bcr_region region = bcr_rgalloc(sizeof large, 0), other = bcr_rgalloc(sizeof large, 0);
    must(region != NULL && other != NULL, "bcr_rgalloc");
    for (int n = 1; n < 300; n++) { /* more than are kept compiled */
        const int copydesc[] = {0, bcrT_CHAR, n, 1, (bcrT_NEST + 1) | bcrT_END, n,
                                0, bcrT_INT,  1, 0, bcrT_CHAR | bcrT_END,       3};
        int sizes = bcr_copyto(copydesc, 1, region, 0, large, sizeof large);
        must(sizes >= 0, "bcr_copyto");
        must(bcr_copyfm(copydesc, 1, region, 0, large, sizeof large) >= 0, "bcr_copyfm");
        must(bcr_copytofm(copydesc, 1, other, 0, region, 0) >= 0, "bcr_copytofm");
        must(bcr_copytofm(copydesc, 1, region, 8, region, 0) >= 0, "one onto itself");
        must(bcr_descshow(copydesc, 0, text, sizeof text) > 0, "bcr_descshow");
    }
    must(bcr_copyto(bcrT_1CHAR, (int)sizeof large, region, 0, large, sizeof large) >= 0, "a large copy");
    must(bcr_copytofm(bcrT_1CHAR, (int)sizeof large - 1, region, 1, region, 0) >= 0,
         "a large one onto itself");
    must(bcr_rgfree(region) == 0 && bcr_rgfree(other) == 0, "bcr_rgfree");
    for (int i = 0; i < other_count; i++) {
        int value = i, cells[] = {others[i], SHARED, others[0], SHARED};
        must(bcr_send(&value, sizeof value, bcrT_1INT, 1, others[i], SHARED, 0, 0) >= 0, "bcr_send");
        must(bcr_recv(&value, sizeof value, bcrT_1INT, 1, others[i], SHARED, 1, bcr_BLOCK) >= 0, "bcr_recv");
        must(bcr_sendm(&value, sizeof value, bcrT_1INT, 1, 2, cells, 0, 0) >= 0, "bcr_sendm");
        must(taken(bcr_deq(others[i], SHARED, bcr_BLOCK)) == i, "what was sent");
        (void)bcr_zap(bcr_cce, SHARED);
        must(bcr_arch(others[i]) > 0, "bcr_arch");
    }
}

static void areas(void)
{
    static int base[100];
    for (int i = 0; i < 100; i++)
        must((base[i] = bcr_cagrow(0, 10, 10, 0, 10, 10, i * 10000)) > 0, "bcr_cagrow");
    for (int i = 0; i < 100; i++) {
        must(bcr_fd(base[i]) >= 0 && bcr_enq(number(i), bcr_cce, base[i], bcr_FREE) == 0, "bcr_fd");
        must(taken(bcr_deq(bcr_cce, base[i], 0)) == i && bcr_fd(base[i]) >= 0, "bcr_fd");
    }
    for (int i = 0; i < 100; i++)
        must(bcr_cafree(base[i]) == 0, "bcr_cafree");
    must((base[0] = bcr_cagrow(0, 0, 0, 0, 0, 0, 32 << 20)) > 0 && bcr_cafree(base[0]) == 0, "a large area");
    must(bcr_cagrow(0, 2000000000, 0, 0, 0, 2000000000, 0) < 0, "one too large");
}

static void failures(void)
{
    char name[256];
    must(bcr_enlist("no such machine", -1, 1, "no such program", NULL, 0) < 0, "a machine that is none");
    must(bcr_enlist(NULL, -1, 1, "no such program", NULL, 0) < 0, "a program that is none");
    must(bcr_enlist(NULL, -1000000, 1, "no such program", NULL, 0) < 0, "too many");
    bcr_cce_id found = 0;
    int cell = 0;
    must(bcr_publish("name", SHARED) == 0 && bcr_find("name", &found, &cell, 0) == 0, "bcr_find");
    must(found == bcr_cce && cell == SHARED && bcr_find("no name", &found, &cell, 1) < 0, "bcr_find in vain");
    must(bcr_teamsize() == 0 && bcr_teamrank() < 0 && bcr_teamcce(0) < 0 && bcr_teamhost(0) < 0,
         "bcr_teamsize");
    must(bcr_teamsync(0) < 0, "bcr_teamsync in vain");
    must(bcr_threadcores() == 0, "bcr_threadcores");
    must(bcr_outdone(bcr_BLOCK) == 0, "bcr_outdone");
    struct bcr_hostentry entry = {.size = sizeof entry};
    must(bcr_hostinfo(0, &entry) == 1 && bcr_hostadd("no host's name") < 0, "bcr_hostadd in vain");
    must(bcr_hostdel("no host's name") < 0, "bcr_hostdel in vain");
    must(bcr_tempdir(name, sizeof name) == 0 && bcr_tempdir(name, 1) < 0, "bcr_tempdir");
    must(bcr_idle(bcr_IDLE_WAITING) == 0 && bcr_idle(0) == 0, "bcr_idle");
    must(bcr_note("what is to come", others[1]) == 0 && bcr_note(NULL, -1) == 0, "bcr_note");
    must(bcr_wakeon(OUT, 1) == 0 && bcr_wakefd() >= 0 && bcr_wakefd() >= 0 && bcr_wakeon(OUT, 0) == 0,
         "bcr_wakefd");
    must(bcr_wake(OUT) == 0 && bcr_deq(bcr_cce, OUT, bcr_BLOCK) == NULL && bcr_errno == bcrE_WOKEN,
         "bcr_wake");
    must(bcr_watch(others[1], OUT) == 0 && bcr_unwatch(others[1], OUT) == 0, "bcr_watch");
    must(bcr_watch(bcr_STARTED, OUT) == 0 && bcr_unwatch(bcr_STARTED, OUT) == 0, "bcr_watch of bcr_STARTED");
    must(bcr_watch(bcr_cce, OUT) < 0 && bcr_watch(others[1], 99) < 0, "bcr_watch in vain");
    must(bcr_signal(others[1], 0) == 0 && bcr_signal(others[other_count - 1], 0) == 0, "bcr_signal");
    must(bcr_signal(bcr_ALL, 0) == 0 && bcr_signal(others[1], 12345) < 0, "bcr_signal");
    must(bcr_end(-1, bcr_ALL) < 0, "bcr_end in vain");
    must(bcr_host(0, name, sizeof name) > 0 && bcr_host(99, name, sizeof name) == 0, "bcr_host");
    must(bcr_put(1, NULL, bcr_cce, TOLD, 0) < 0 && bcr_get(1, 99, TOLD, 0) == NULL, "a wrong call");
    must(bcr_get(1, others[other_count - 1], 99, 0) == NULL && bcr_errno == bcrE_NOCELL, "no cell");
}

/* ---- who does what */

static void in_scene(void (*scene)(void))
{
    forbidden = true;
    scene();
    forbidden = false;
}

static void hear_birth(void)
{
    bcr_region region = bcr_deq(bcr_cce, TOLD, bcr_BLOCK);
    must(region != NULL && bcr_copyfm(bcrT_1CCE, 1, region, 0, &others[other_count], sizeof others[0]) >= 0,
         "a birth");
    must(bcr_rgfree(region) == 0, "bcr_rgfree");
    other_count++;
}

static const char *own_path, *other_host;

static void enlist(void)
{
    others[other_count++] = bcr_cce;
    must(bcr_enlist(NULL, -1, 1, own_path, NULL, 0) == 0, "bcr_enlist");
    hear_birth();
    static char word[5000];
    memset(word, 'x', sizeof word - 1);
    const char *const words[] = {word, NULL};
    bcr_cce_id ids[1];
    const struct bcr_startspec spec = {.size = sizeof spec,
                                       .machine = other_host,
                                       .core = -1,
                                       .count = 1,
                                       .ordinal = 2,
                                       .program = own_path,
                                       .arguments = words,
                                       .region = number(7),
                                       .nofree = bcr_FREE};
    must(bcr_start(&spec, ids) == 1 && ids[0] > 1, "bcr_start elsewhere");
    hear_birth();
}

static void serve(void)
{
    bcr_cce_id own = bcr_cce;
    must(bcr_send(&own, sizeof own, bcrT_1CCE, 1, bcr_enlistor, TOLD, 1, 0) >= 0, "the birthcry");
    for (int what; (what = taken(bcr_deq(bcr_cce, TOLD, bcr_BLOCK))) != END;)
        must(bcr_enq(number(what), bcr_enlistor, TOLD, bcr_FREE) == 0, "an echo");
}

int main(int argc, char **argv)
{
    static void (*const scenes[])(void) = {enlist,       regions, puts_and_gets, puts_into_many_cells,
                                           pending_gets, locks,   copies,        areas,
                                           failures,     handlers};
    must(bcr_init(bcr_user_ca | bcr_errors, NULL) == 0, "bcr_init");
    forbidden = true;
    must(bcr_cagrow(TOLD, 0, 1, 1, 1, 2 * ROUNDS, 4 << 20) == TOLD, "bcr_cagrow");
    forbidden = false;
    if (bcr_enlistor != -1) {
        in_scene(serve);
        return 0;
    }
    own_path = argv[0];
    other_host = argc > 1 ? argv[1] : NULL;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        in_scene(scenes[i]);
    for (int i = 1; i < other_count; i++)
        tell(others[i], END);
    puts("done");
    return 0;
}
