/* SPDX-License-Identifier: MIT */
/* The longest message there is: 2 GiB - 1 byte. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bcri/link.h"
#include "check.h"

/* Both bodies repeat a window of memory: a byte's value depends on its place in the window, so what
 * is written more than once must be the same each time. The window's length is odd times a page, so
 * no power of 2 that an offset may lose is a multiple of it. */
enum { WINDOWS = 512 };
#define BODY_BYTES ((size_t)BCRI_LINK_BODY_MAX)

static struct bcri_link *links[2];
static uint8_t *sent, *received;
static unsigned arrived_count, completed_count;

static bool accept(void *owner, uint32_t source, uint32_t target)
{
    (void)owner;
    return source == 1 && target == 2;
}

static enum bcri_link_verdict begin(void *owner, struct bcri_link_message *message)
{
    (void)owner;
    CHECK_UINT(message->body_bytes, BCRI_LINK_BODY_MAX);
    CHECK_UINT(message->header_bytes, 5);
    message->memory = received;
    return BCRI_LINK_TAKE;
}

static void arrived(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    arrived_count++;
}

static void dropped(void *owner, uint32_t source, uint32_t target, void *cookie)
{
    (void)owner;
    (void)cookie;
    FAIL("a message from %u to %u was dropped", source, target);
}

static void completed(void *owner, uint32_t source, uint32_t target, void *cookie,
                      enum bcri_link_outcome outcome)
{
    (void)owner;
    (void)source;
    (void)target;
    (void)cookie;
    CHECK_INT(outcome, BCRI_LINK_ARRIVED);
    completed_count++;
}

/* BODY_BYTES and more of addresses behind which there is one window, again and again. */
static uint8_t *repeated(size_t window)
{
    const int fd = memfd_create("window", MFD_CLOEXEC);
    CHECK(fd >= 0 && ftruncate(fd, (off_t)window) == 0);
    uint8_t *all =
        mmap(NULL, WINDOWS * window, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        SKIP("there are no addresses for two bodies of 2 GiB");
    for (unsigned i = 0; i < WINDOWS; i++)
        CHECK(mmap(all + i * window, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) !=
              MAP_FAILED);
    close(fd);
    return all;
}

static void pump(uint64_t now)
{
    static uint8_t packet[BCRI_LINK_PACKET_MAX];
    for (unsigned from = 0; from < 2; from++)
        for (size_t length; (length = bcri_link_fill(links[from], packet, now)) != 0;)
            (void)bcri_link_receive(links[1 - from], packet, length, now);
}

TEST_TIMEOUT(the_longest_message_arrives_byte_for_byte_and_a_longer_one_is_refused, 300)
{
    static const struct bcri_link_events events = {accept, begin, arrived, dropped, completed};
    const struct bcri_seal_secret secret = {.cipher = BCRI_CIPHER_NONE, .token = 42};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t window = (BODY_BYTES / WINDOWS / page + 1) * page | page;
    if (sizeof(void *) == 4)
        SKIP("two bodies of 2 GiB do not fit into 32 bits of addresses");
    sent = repeated(window);
    received = repeated(window);
    for (size_t i = 0; i < window; i++)
        sent[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
    uint64_t now = 1000000000;
    for (uint32_t i = 0; i < 2; i++) {
        const struct bcri_link_config config = {
            .host = 1 + i,
            .peer = 2 - i,
            .packet_max = BCRI_LINK_PACKET_MAX,
            .carrier = {.packet_max = BCRI_LINK_PACKET_MAX, .room = 64 << 20},
            .secret = &secret};
        CHECK((links[i] = bcri_link_new(&config, &events, NULL, now)) != NULL);
    }
    CHECK_INT(bcri_link_send(links[0], 1, 2, "about", 5, sent, BCRI_LINK_BODY_MAX + 1, NULL), -EMSGSIZE);
    CHECK_INT(bcri_link_send(links[0], 1, 2, "about", 5, sent, BCRI_LINK_BODY_MAX, NULL), 0);
    while (completed_count == 0) {
        pump(now);
        now += 100000;
    }
    CHECK_UINT(completed_count, 1);
    CHECK_UINT(arrived_count, 1);
    /* Each byte of the window was written some 500 times, by what was due at its place. */
    CHECK(memcmp(sent, received, window) == 0);
    CHECK(bcri_link_counts(links[0])->bytes_sent > BODY_BYTES);
    bcri_link_free(links[0]);
    bcri_link_free(links[1]);
}
