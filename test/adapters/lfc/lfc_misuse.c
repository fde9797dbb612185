/* SPDX-License-Identifier: MIT */
/* Bad input: each number is one mistake. */
#include <bcr/program.h>

#include "lfc_members.h"

static void enable_twice(void)
{
    lfc_intr_enable();
    lfc_intr_enable();
}

void misuse(int which)
{
    unsigned doubled[] = {0, 0}, none[] = {99};
    unsigned size;
    int here = 0;
    if (which == 0)
        lfc_group_create(doubled, 2);
    if (which == 1)
        lfc_group_create(none, 1);
    if (which == 2)
        lfc_poll();
    lfc_start();
    void *data = packet_of(0, 0, &size);
    switch (which) {
    case 3: lfc_start(); break;
    case 4: lfc_group_create(none, 0); break;
    case 5: lfc_ucast_launch(count, data, size, 1); break;
    case 6: lfc_ucast_launch(0, data, 1025, 1); break;
    case 7: lfc_ucast_launch(0, &here, 1, 1); break;
    case 8:
        lfc_ucast_launch(0, data, size, 1);
        lfc_ucast_launch(0, data, size, 1);
        break;
    case 9: lfc_mcast_launch(0, data, size, 1); break;
    case 10: lfc_packet_free(data); break;
    case 11:
        lfc_intr_enable();
        lfc_intr_enable();
        break;
    case 19:
        received[rank][0] = 1; /* packet 1 is kept */
        data = packet_of(1, 0, &size);
        lfc_ucast_launch(rank, data, size, 1);
        while (kept_count == 0)
            lfc_poll();
        lfc_packet_free(kept[0]);
        lfc_packet_free(kept[0]);
        break;
    case 18: /* in an upcall */
        in_upcall = enable_twice;
        lfc_ucast_launch(rank, data, size, 1);
        await(1);
        break;
    case 20: /* in an upcall */
        in_upcall = lfc_exit;
        lfc_ucast_launch(rank, data, size, 1);
        await(1);
        break;
    case 21: /* after process 0 has ended well */
        lfc_exit();
        if (rank == 0)
            exit(0);
        while (bcr_celllen(bcr_teamcce(0), 1) >= 0)
            ;
        lfc_poll();
        break;
    case 12: lfc_fetch_and_add(count, 1); break;
    case 13: lfc_stats_dump(stdout, 3, NULL, NULL); break;
    case 14: lfc_free(&here); break;
    case 16: /* what the debug library sees */
        data = lfc_malloc(10);
        memset(data, 0, 11);
        lfc_free(data);
        lfc_exit();
        exit(0);
    case 17: lfc_exit(); exit(0);
    default: lfc_exit(); lfc_poll();
    }
    exit(3);
}
