/* SPDX-License-Identifier: MIT */
/* stats.c -- what each process counts, gathered at process 0. */
#include <stdlib.h>

#include "lfc_private.h"

static const char *const names[LFC_COUNTS] = {
    [COUNT_UCAST_SENT] = "unicasts sent",
    [COUNT_MCAST_SENT] = "multicasts sent",
    [COUNT_BCAST_SENT] = "broadcasts sent",
    [COUNT_UCAST_RECEIVED] = "unicasts received",
    [COUNT_MCAST_RECEIVED] = "multicasts received",
    [COUNT_BY_POLL] = "upcalls by polling",
    [COUNT_BY_INTERRUPT] = "upcalls by interrupt",
    [COUNT_EMPTY_POLLS] = "polls that found nothing",
    [COUNT_SIGNALS] = "signals",
    [COUNT_RETRIES] = "launches without room",
    [COUNT_FETCH_AND_ADDS] = "fetch-and-adds",
};

/* Process 0's: the counts of all, one process after the other. */
static long long **buffers;
static int buffer_count;

void lfc_stats_reset(void)
{
    lfc_enter("lfc_stats_reset");
    lfc_sync("lfc_stats_reset");
    memset(lfc_self.counts, 0, sizeof lfc_self.counts);
    lfc_leave(false);
}

int lfc_stats_create(void)
{
    lfc_enter("lfc_stats_create");
    if (lfc_self.rank == 0) {
        long long **more = realloc(buffers, ((size_t)buffer_count + 1) * sizeof(long long *));
        if (more == NULL ||
            (more[buffer_count] = calloc((size_t)lfc_self.count * LFC_COUNTS, sizeof(long long))) == NULL)
            lfc_fail("lfc_stats_create", "no memory");
        buffers = more;
    }
    lfc_leave(false);
    return buffer_count++;
}

static void check(const char *routine, int statbuf)
{
    if (statbuf < 0 || statbuf >= buffer_count)
        lfc_fail(routine, "there is no buffer %d: lfc_stats_create has made %d", statbuf, buffer_count);
}

/* A region of the rank and the counts. */
static bcr_region report(void)
{
    long long row[1 + LFC_COUNTS] = {lfc_self.rank};
    const int desc[] = {0, bcrT_LONGLONG | bcrT_END, 1 + LFC_COUNTS};
    for (int i = 0; i < LFC_COUNTS; i++)
        row[1 + i] = (long long)lfc_self.counts[i];
    bcr_region rgid = bcr_rgalloc(sizeof row, 0);
    if (rgid == NULL || bcr_copyto(desc, 1, rgid, 0, row, sizeof row) < 0)
        lfc_fail_bcr("lfc_stats_gather");
    return rgid;
}

static void take_report(int statbuf, bcr_region rgid)
{
    long long row[1 + LFC_COUNTS];
    const int desc[] = {0, bcrT_LONGLONG | bcrT_END, 1 + LFC_COUNTS};
    if (rgid == NULL || bcr_copyfm(desc, 1, rgid, 0, row, sizeof row) < 0 || row[0] < 0 ||
        row[0] >= (long long)lfc_self.count)
        lfc_fail("lfc_stats_gather", "what a process tells is no statistics");
    bcr_rgfree(rgid);
    memcpy(buffers[statbuf] + row[0] * LFC_COUNTS, row + 1, LFC_COUNTS * sizeof row[0]);
}

void lfc_stats_gather(int statbuf)
{
    lfc_enter("lfc_stats_gather");
    check("lfc_stats_gather", statbuf);
    lfc_sync("lfc_stats_gather");
    if (lfc_self.rank != 0) {
        if (bcr_enq(report(), lfc_self.members[0], CELL_STATS, bcr_FREE) != 0)
            lfc_fail_bcr("lfc_stats_gather");
    } else {
        take_report(statbuf, report());
        for (unsigned i = 1; i < lfc_self.count; i++) {
            bcr_region rgid;
            while ((rgid = bcr_deq(bcr_cce, CELL_STATS, 1)) == NULL) {
                if (bcr_errno != bcrE_TIMEOUT)
                    lfc_fail_bcr("lfc_stats_gather");
                lfc_progress(false);
            }
            take_report(statbuf, rgid);
        }
    }
    lfc_sync("lfc_stats_gather");
    lfc_leave(false);
}

void lfc_stats_dump(FILE *fp, int statbuf, char *hdr, char *ftr)
{
    lfc_enter("lfc_stats_dump");
    check("lfc_stats_dump", statbuf);
    if (lfc_self.rank != 0)
        lfc_fail("lfc_stats_dump", "process 0 alone has the buffers");
    if (hdr != NULL)
        fprintf(fp, "%s\n", hdr);
    for (int i = 0; i < LFC_COUNTS; i++) {
        fprintf(fp, "%-26s", names[i]);
        for (unsigned rank = 0; rank < lfc_self.count; rank++)
            fprintf(fp, " %12lld", buffers[statbuf][rank * LFC_COUNTS + (unsigned)i]);
        fputc('\n', fp);
    }
    if (ftr != NULL)
        fprintf(fp, "%s\n", ftr);
    lfc_leave(false);
}
