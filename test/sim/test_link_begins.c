/* SPDX-License-Identifier: MIT */
/* How a link begins: it is wanted and the hosts are introduced, also when memory is missing, or one of them is not; and
 * begins anew when forged packets have worn out its keys. */
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bcri/self.h"
#include "check.h"
#include "link_pair.h"
#include "regions.h"
#include "wire.h"

TEST(an_order_wants_a_link_and_goes_when_it_is_there)
{
    pair_begin();
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    const struct bcri_link_news news = pair_news(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_WANTS_LINK);
    CHECK_UINT(news.number, 2);
    CHECK_INT(bcr_putdone(0), 0);
    pair_introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), 7);
    pair_end();
}

TEST(an_outbox_for_which_there_was_no_memory_is_read_later)
{
    pair_begin();
    pair_own_memory();
    atomic_store(&pair.callocs_to_fail, 3);
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    while (atomic_load(&pair.callocs_to_fail) != 0)
        sched_yield();
    pair_introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    pair_end();
}

TEST(an_outbox_for_which_there_was_no_memory_is_read_before_its_cce_is_forgotten)
{
    pair_begin();
    pair_own_memory();
    atomic_store(&pair.callocs_to_fail, 50); /* about as many milliseconds */
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    bcri_self_set(NULL);
    pair_leave(&hosts[0]);
    CHECK_INT(atomic_load(&pair.callocs_to_fail), 0);
    pair_introduce();
    bcri_self_set(hosts[1].cce);
    CHECK_INT(value_of(bcr_get(1, bcr_cce, pair.cell, bcr_BLOCK)), 7);
    hosts[0].cce = pair_join(&hosts[0], hosts[0].agent->bell_fd);
    pair_end();
}

TEST(a_link_for_which_there_was_no_memory_is_made_later)
{
    pair_begin();
    pair_own_memory();
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    CHECK_INT(pair_news(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&pair.callocs_to_fail, 5);
    pair_introduce();
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(atomic_load(&pair.callocs_to_fail), 0);
    CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), 7);
    pair_end();
}

TEST(a_host_that_is_lost_before_there_is_memory_for_its_link_gets_none)
{
    pair_begin();
    pair_own_memory();
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    CHECK_INT(pair_news(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    atomic_store(&pair.callocs_to_fail, 50); /* about as many milliseconds */
    CHECK(bcri_link_thread_introduce(hosts[0].thread, &hosts[0].introduction));
    bcri_link_thread_lost(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_DEAD);
    while (atomic_load(&pair.callocs_to_fail) > 49)
        sched_yield();
    atomic_store(&pair.callocs_to_fail, 0);
    FAILS(bcr_celllen(pair.there, pair.cell), bcrE_DEAD);
    pair_end();
}

TEST(a_host_that_never_was_is_no_cces_host_until_it_is_introduced)
{
    pair_begin();
    bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
    CHECK_INT(pair_news(&hosts[0]).told, BCRI_TOLD_WANTS_LINK);
    bcri_link_thread_unknown(hosts[0].thread, 2);
    FAILS(bcr_rgwait(waits, bcr_BLOCK, 0), bcrE_NOCCE);
    CHECK_INT(bcr_put(1, number(7), pair.there, pair.cell, bcr_FREE), 0);
    const struct bcri_link_news news = pair_news(&hosts[0]);
    CHECK_INT(news.told, BCRI_TOLD_WANTS_LINK);
    CHECK_UINT(news.number, 2);
    pair_introduce();
    bcri_link_thread_unknown(hosts[0].thread, 2); /* late */
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    CHECK_INT(value_of(bcr_get(1, pair.there, pair.cell, bcr_BLOCK)), 7);
    pair_end();
}

/* In the name of host 2. */
static void send_forged(unsigned count)
{
    const struct bcri_link_address to = bcri_link_thread_address(hosts[0].thread);
    uint8_t packet[100] = {BCRI_WIRE_VERSION};
    const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    packet[7] = 2;
    packet[14] = 0x70; /* a number that is not expected yet */
    for (unsigned i = 0; i < count; i++)
        CHECK_INT(__real_sendto(fd, packet, sizeof packet, 0, (const struct sockaddr *)&to.at, to.bytes),
                  sizeof packet);
    close(fd);
}

/* The second half comes before the hosts are introduced anew: meanwhile sockets.nothing opens. */
TEST(a_link_that_forged_packets_wear_out_gets_new_keys)
{
    pair.most_forged = 40;
    pair_begin();
    pair_introduce();
    CHECK_INT(bcr_celllen(pair.there, pair.cell), 0);
    for (int round = 1; round <= 3; round++) {
        send_forged(20);
        const struct bcri_link_news wants = pair_news(&hosts[0]);
        CHECK_INT(wants.told, BCRI_TOLD_WANTS_LINK);
        CHECK_UINT(wants.number, 2);
        const struct bcri_link_news note = pair_news(&hosts[0]);
        CHECK_INT(note.told, BCRI_TOLD_NOTE);
        CHECK_UINT(note.number, 2);
        CHECK(strstr(note.text, "forged packets in its name") != NULL);
        send_forged(40);
        bcr_region waits = bcr_get(1, pair.there, pair.cell, bcr_PENDING);
        CHECK_INT(bcr_put(1, number(round), pair.there, pair.cell, bcr_FREE), 0);
        CHECK_INT(bcr_rgwait(waits, 20, 0), 0);
        for (int i = 0; i < 2; i++)
            memset(hosts[i].introduction.secret.bytes, 0x42 + round,
                   sizeof hosts[i].introduction.secret.bytes);
        pair_introduce();
        CHECK_INT(bcr_rgwait(waits, bcr_BLOCK, 0), 1);
        CHECK_INT(value_of(waits), round);
    }
    pair_end();
}
