/* SPDX-License-Identifier: MIT */
/* Fetch-and-adds of all members to the number of process 0. */
#include "lfc_members.h"

void tell(unsigned number)
{
    printf("%u\n", number);
}

/* Each tells the numbers that it got, of which none may be another's: the test compares them. */
void add(void)
{
    lfc_start();
    adds = numbers % 2;
    unsigned size;
    for (unsigned i = 0; i < numbers; i++) {
        tell(lfc_fetch_and_add(0, allowed));
        void *data = packet_of(i, 0, &size);
        lfc_ucast_launch((rank + 1) % count, data, size, allowed);
    }
    await(numbers);
}

/* Each keeps the numbers that it got, as bits, and process 0 gets those of all: all numbers there are, each once. */
enum { PIECE = 1000 };
static unsigned char bits[1 << 17];

static void set_bit(unsigned number)
{
    MUST(number < numbers * count && (bits[number / 8] & 1 << number % 8) == 0);
    bits[number / 8] |= (unsigned char)(1 << number % 8);
}

void merge(const void *data, unsigned size)
{
    struct packet packet;
    memcpy(&packet, data, sizeof packet);
    const unsigned char *more = (const unsigned char *)data + sizeof packet;
    for (unsigned i = 0; i < 8 * (size - (unsigned)sizeof packet); i++)
        if ((more[i / 8] & 1 << i % 8) != 0)
            set_bit(8 * ntohl(packet.number) + i);
}

void add_many(void)
{
    const unsigned bytes = (numbers * count + 7) / 8, pieces = (bytes + PIECE - 1) / PIECE;
    MUST(bytes <= sizeof bits);
    merges = 1;
    lfc_start();
    for (unsigned i = 0; i < numbers; i++)
        set_bit(lfc_fetch_and_add(0, allowed));
    for (unsigned at = 0; at < bytes && rank != 0; at += PIECE) {
        const unsigned size = bytes - at < PIECE ? bytes - at : PIECE;
        const struct packet packet = {htonl(at), 0};
        unsigned char *data = lfc_send_alloc(allowed);
        lfc_memcpy(data, &packet, sizeof packet);
        lfc_memcpy(data + sizeof packet, bits + at, size);
        lfc_ucast_launch(0, data, (unsigned)sizeof packet + size, allowed);
    }
    if (rank != 0)
        return;
    await(pieces * (count - 1));
    for (unsigned i = 0; i < numbers * count; i++)
        MUST((bits[i / 8] & 1 << i % 8) != 0);
}
