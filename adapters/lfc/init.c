/* SPDX-License-Identifier: MIT */
/* init.c -- from lfc_init to lfc_exit: who takes part, the groups, and how the program ends. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lfc_private.h"
#include "sentence.h"

struct lfc lfc_self;

/* ---- ends ---- */

void lfc_fail(const char *routine, const char *format, ...)
{
    char head[80];
    va_list arguments;
    if (lfc_self.is_begun)
        snprintf(head, sizeof head, "lfc: process %u: %s", lfc_self.rank, routine);
    else
        snprintf(head, sizeof head, "lfc: %s", routine);
    va_start(arguments, format);
    adapter_say(head, format, arguments);
    va_end(arguments);
    if (lfc_self.is_begun)
        bcr_end(1, bcr_ALL); /* so the status is 1 also when process 0 has ended before */
    _exit(1);
}

void lfc_fail_bcr(const char *routine)
{
    if (bcr_errno == bcrE_DEAD || bcr_errno == bcrE_ENLIST) {
        /* If that has failed, enl is about to end the program, and tells why. One that has ended
         * normally is told of here: by the one of lowest rank that waits for it, mostly, since the
         * others wait longer. The helper's signals do not end the wait. */
        const unsigned tenths = 10 + (lfc_self.rank < 20 ? lfc_self.rank : 20);
        const struct timespec wait = {tenths / 10, (long)(tenths % 10) * 100000000};
        sigset_t all;
        sigfillset(&all);
        ppoll(NULL, 0, &wait, &all);
        lfc_fail(routine, "another process of the program has ended");
    }
    lfc_fail(routine, "%s", bcr_strerror(bcr_errno));
}

/* ---- the beginning ---- */

/* Room in the account for packets that were sent and are not taken yet, or are kept. */
enum { ACCOUNT_BYTES = 16 << 20 };

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    if (memory == NULL)
        lfc_fail("lfc_init", "no memory");
    return memory;
}

static void know_members(void)
{
    lfc_self.has_team = bcr_teamsize() > 0;
    lfc_self.rank = lfc_self.has_team ? (unsigned)bcr_teamrank() : 0;
    lfc_self.count = lfc_self.has_team ? (unsigned)bcr_teamsize() : 1;
    lfc_self.own = bcr_cce;
    lfc_self.members = allocate(lfc_self.count, sizeof *lfc_self.members);
    lfc_self.is_near = allocate(lfc_self.count, sizeof *lfc_self.is_near);
    for (unsigned i = 0; i < lfc_self.count; i++) {
        lfc_self.members[i] = lfc_self.has_team ? bcr_teamcce((int)i) : bcr_cce;
        lfc_self.is_near[i] = !lfc_self.has_team || bcr_teamhost((int)i) == bcr_teamhost((int)lfc_self.rank);
        if (lfc_self.members[i] <= 0)
            lfc_fail_bcr("lfc_init");
    }
}

static void grow_cells(void)
{
    if (bcr_cagrow(CELL_PACKETS, 0, 1, 0, 0, (int)lfc_self.options.ring_frames, ACCOUNT_BYTES) !=
            CELL_PACKETS ||
        bcr_cagrow(CELL_COUNTER, 0, 0, 0, 1, 2, 4096) != CELL_COUNTER ||
        bcr_cagrow(CELL_STATS, 0, 1, 0, 0, (int)lfc_self.count, 65536) != CELL_STATS)
        lfc_fail_bcr("lfc_init");
}

void lfc_init(int *argc, char **argv)
{
    if (lfc_self.is_begun)
        lfc_fail("lfc_init", "it was called before");
    lfc_options_take(&lfc_self.options, argc, argv);
    lfc_hosts_use(&lfc_self.options, argc, argv);
    if (bcr_init(bcr_errors, argv[0]) < 0)
        lfc_fail("lfc_init", "%s", bcr_strerror(bcr_errno));
    lfc_self.is_begun = true;
    lfc_self.disabled = 1;
    know_members();
    grow_cells();
    lfc_counter_begin();
    unsigned *others = allocate(lfc_self.count, sizeof *others);
    for (unsigned i = 0; i < lfc_self.count; i++)
        others[i] = i;
    lfc_group_fill(&lfc_self.all, others, lfc_self.count);
    free(others);
    if (lfc_self.options.verbose && lfc_self.rank == 0)
        lfc_print_config();
}

int lfc_group_create(unsigned *members, unsigned nr_members)
{
    if (!lfc_self.is_begun || lfc_self.is_started)
        lfc_fail("lfc_group_create", "it must be called between lfc_init and lfc_start");
    for (unsigned i = 0; i < nr_members; i++) {
        if (members[i] >= lfc_self.count)
            lfc_fail("lfc_group_create", "there is no process %u", members[i]);
        for (unsigned before = 0; before < i; before++)
            if (members[before] == members[i])
                lfc_fail("lfc_group_create", "process %u is named twice", members[i]);
    }
    struct lfc_group *groups = realloc(lfc_self.groups, ((size_t)lfc_self.group_count + 1) * sizeof *groups);
    if (groups == NULL)
        lfc_fail("lfc_group_create", "no memory");
    lfc_self.groups = groups;
    lfc_group_fill(&groups[lfc_self.group_count], members, nr_members);
    return lfc_self.group_count++;
}

/* ---- together ---- */

/* A sender may wait for room here before it comes to the same point, so the cell is emptied meanwhile: seldom, since it is
 * large, and each time that is up takes a message to the root's host. */
enum { PATIENCE_MSEC = 1, PATIENCE_MOST = 32 };

void lfc_sync(const char *routine)
{
    int msec = PATIENCE_MSEC;
    lfc_progress(false);
    while (lfc_self.has_team && bcr_teamsync(msec) != 0) {
        if (bcr_errno != bcrE_TIMEOUT)
            lfc_fail_bcr(routine);
        lfc_progress(false);
        msec = msec < PATIENCE_MOST ? 2 * msec : PATIENCE_MOST;
    }
}

void lfc_start(void)
{
    if (!lfc_self.is_begun || lfc_self.is_started)
        lfc_fail("lfc_start", lfc_self.is_started ? "it was called before" : "lfc_init comes first");
    lfc_self.inside++;
    lfc_sync("lfc_start");
    lfc_self.is_started = lfc_self.is_running = true;
    lfc_self.inside--;
}

void lfc_exit(void)
{
    if (lfc_upcalls_running() != 0)
        lfc_fail("lfc_exit", "an upcall is running");
    lfc_enter("lfc_exit");
    lfc_interrupts_end();
    lfc_send_end();
    lfc_sync("lfc_exit");
    lfc_receive_end();
#ifdef LFC_DEBUG
    if (lfc_packets_left() != 0)
        fprintf(stderr, "lfc: process %u: lfc_exit: %zu packets were neither launched nor freed\n",
                lfc_self.rank, lfc_packets_left());
#endif
    lfc_self.is_over = true;
    lfc_self.is_running = false;
    lfc_self.inside--;
}

/* ---- who is who ---- */

unsigned lfc_my_proc(void)
{
    return lfc_self.rank;
}

unsigned lfc_nr_procs(void)
{
    return lfc_self.count;
}

unsigned lfc_packet_size(void)
{
    return PACKET;
}

void lfc_print_config(void)
{
    unsigned near = 0;
    for (unsigned i = 0; i < lfc_self.count; i++)
        near += lfc_self.is_near[i];
    printf("LFC 2.0 on BCR %d.%d.%d\n", BCR_VERSION_MAJOR, BCR_VERSION_MINOR, BCR_VERSION_PATCH);
    printf("  process %u of %u, %u of them on this host\n", lfc_self.rank, lfc_self.count, near);
    printf("  packets of %d bytes, %u in the receive queue\n", PACKET, lfc_self.options.ring_frames);
    if (lfc_self.options.no_intr)
        printf("  no interrupts\n");
    else
        printf("  interrupts after %u us, then every %u us\n", lfc_self.options.intr_first,
               lfc_self.options.intr_next);
    if (lfc_self.options.lcp != NULL || lfc_self.options.routes != NULL || lfc_self.options.tree != NULL)
        printf("  lcp, routes and tree have no effect: there is no network interface with a program of its "
               "own,\n"
               "  and a multicast is one operation, whose packet all receivers of a host share\n");
    fflush(stdout);
}
