/* SPDX-License-Identifier: MIT */
/* When interrupts make upcalls: while upcalls enable and disable them, and while the program calls
 * BCR itself. */
#include <bcr/program.h>

#include "lfc_members.h"

static void switch_in_upcall(void)
{
    if (total == 1)
        lfc_intr_enable();
    if (total == 3)
        lfc_intr_disable();
}

static void send_own(uint32_t number)
{
    unsigned size;
    void *data = packet_of(number, 0, &size);
    lfc_ucast_launch(rank, data, size, 0);
}

/* Once they are disabled, no further upcall is made for an interrupt, and there are no more signals. */
void switches(void)
{
    allowed = 0;
    in_upcall = switch_in_upcall;
    lfc_start();
    const int counts = lfc_stats_create();
    send_own(0);
    lfc_poll();
    MUST(total == 1 && lfc_intr_status() != 0);
    send_own(1);
    while (total < 2)
        ;
    lfc_intr_disable();
    send_own(2);
    send_own(3);
    lfc_intr_enable();
    MUST(total == 3 && lfc_intr_status() == 0);
    lfc_timer_delta(200000);
    MUST(total == 3);
    lfc_stats_gather(counts);
    lfc_stats_dump(stdout, counts, NULL, NULL);
    lfc_intr_enable();
    MUST(total == 4);
    lfc_intr_disable();
}

/* A signal that comes while the program itself is in BCR serves nothing: another one is sent. */
void calls_bcr(void)
{
    lfc_start();
    lfc_intr_enable();
    for (uint32_t i = 0; i < numbers; i++) {
        send_own(i);
        while (total == i)
            MUST(bcr_celllen(bcr_cce, 1) >= 0);
    }
    lfc_intr_disable();
}
