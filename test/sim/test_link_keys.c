/* SPDX-License-Identifier: MIT */
/* Keys that change, and packets that the engine must not open or send. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "link_private.h"
#include "link_scene.h"

TEST(keys_change_under_way_and_late_packets_of_the_last_key_are_opened)
{
    prepare();
    config.packets_per_key = 20;
    one.end.path.held = 300;
    start();
    for (unsigned i = 0; i < 1000; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 1000);
    run_until_completed(100 * SIM_S);
    CHECK(counts_of(&one)->rekeyed > 5);
    CHECK_UINT(counts_of(&two)->malformed, 0);
    finish();
}

TEST(a_fork_can_send_nothing_in_its_parents_name)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare();
    start();
    warm_up();
    traffic_send(&one, 1, 100);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(bcri_link_fill(one.end.link, packet, sim_now(network)) != 0 ? 1 : 0);
    int status;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    run_until_completed(SIM_S);
    finish();
}

TEST(the_key_before_is_wiped_soon_after_a_key_has_changed)
{
    prepare();
    config.packets_per_key = 20;
    start();
    for (unsigned i = 0; i < 200; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 1000);
    run_until_completed(SIM_S);
    CHECK(counts_of(&one)->rekeyed > 1);
    CHECK(bcri_sealing_has_previous(two.end.link->sealing));
    (void)sim_run(network, sim_now(network) + SIM_S, never, NULL);
    CHECK(!bcri_sealing_has_previous(two.end.link->sealing));
    finish();
}

TEST(a_packet_that_is_larger_than_was_allowed_is_not_taken)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    prepare();
    traffic_start_with(network, &one, &two, &config, 1300);
    warm_up();
    struct bcri_sealing *ours = bcri_sealing_new(config.secret, one.end.link->host, two.end.link->host, 0);
    CHECK(ours != NULL);
    for (unsigned i = 0; i < 2; i++) {
        const size_t bytes = 1301 - i;
        packet[0] = BCRI_WIRE_VERSION;
        bcri_put_u32(packet + 4, one.end.link->host);
        bcri_put_u64(packet + 8, 1000 + i);
        memset(packet + BCRI_WIRE_HEAD_BYTES, BCRI_FRAME_PAD, bytes - BCRI_WIRE_HEAD_BYTES);
        bcri_seal(ours, 1000 + i, packet, BCRI_WIRE_HEAD_BYTES, packet + BCRI_WIRE_HEAD_BYTES,
                  bytes - BCRI_WIRE_HEAD_BYTES - BCRI_SEAL_TAG_BYTES);
        CHECK(bcri_link_receive(two.end.link, packet, bytes, sim_now(network)) == (i == 1));
    }
    CHECK_UINT(counts_of(&two)->refused, 1);
    CHECK_UINT(counts_of(&two)->forged, 0);
    bcri_sealing_free(ours);
    finish();
}

TEST(after_too_many_forged_packets_nothing_is_opened_any_more)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    CHECK_UINT(bcri_seal_forged_max(BCRI_CIPHER_AES256GCM), UINT64_C(1) << 52);
    CHECK_UINT(bcri_seal_forged_max(BCRI_CIPHER_CHACHA20POLY1305), UINT64_C(1) << 36);
    prepare();
    config.forged_max = 10;
    start();
    warm_up();
    for (unsigned i = 0; i < 10; i++) {
        CHECK(!bcri_link_is_worn_out(two.end.link));
        packet[0] = BCRI_WIRE_VERSION;
        bcri_put_u32(packet + 4, one.end.link->host);
        bcri_put_u64(packet + 8, 1000 + i);
        CHECK(!bcri_link_receive(two.end.link, packet, 100, sim_now(network)));
    }
    CHECK(bcri_link_is_worn_out(two.end.link));
    bcri_link_ping(one.end.link);
    const size_t bytes = bcri_link_fill(one.end.link, packet, sim_now(network));
    CHECK(!bcri_link_receive(two.end.link, packet, bytes, sim_now(network)));
    CHECK_UINT(counts_of(&two)->forged, 10);
    finish();
}

/* What is under way with keys that the receiver has not, or not any more, is sent again; what a stranger has
 * kept of it opens nowhere. */
TEST(a_worn_out_link_goes_on_with_the_keys_of_another_secret)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX], kept[BCRI_LINK_PACKET_MAX];
    prepare();
    struct bcri_seal_secret other = *config.secret;
    config.forged_max = 1000;
    start();
    warm_up();
    for (unsigned i = 0; i < 2000; i++) {
        CHECK(bcri_link_wears_out(two.end.link) == (i >= 500));
        packet[0] = BCRI_WIRE_VERSION;
        bcri_put_u32(packet + 4, one.end.link->host);
        bcri_put_u64(packet + 8, 100000 + i);
        CHECK(!bcri_link_receive(two.end.link, packet, 100, sim_now(network)));
    }
    for (unsigned i = 0; i < 100; i++)
        traffic_send(&one, i % TRAFFIC_STREAMS, 1000);
    const size_t bytes = bcri_link_fill(one.end.link, kept, sim_now(network)); /* the path loses it */
    CHECK(bytes != 0);
    sim_flush(&one.end);
    other.bytes[3] ^= 1;
    CHECK_INT(bcri_link_renew(two.end.link, &other, sim_now(network)), 0);
    CHECK(!bcri_link_is_worn_out(two.end.link) && !bcri_link_wears_out(two.end.link));
    (void)sim_run(network, sim_now(network) + 10 * SIM_MS, never, NULL); /* one knows nothing of it yet */
    CHECK_INT(bcri_link_renew(one.end.link, &other, sim_now(network)), 0);
    sim_flush(&one.end);
    run_until_completed(10 * SIM_S);
    CHECK_UINT(counts_of(&two)->malformed, 0);
    CHECK_UINT(counts_of(&two)->renewed, 1);
    CHECK(!bcri_link_receive(two.end.link, kept, bytes, sim_now(network)));
    finish();
}
