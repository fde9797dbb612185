/* SPDX-License-Identifier: MIT */
/* Upcalls that broadcast in turn, also those that are made while a broadcast waits for room. */
#include "lfc_members.h"

static uint32_t sent;
static unsigned char *seen; /* of each member each packet */

static void broadcast(uint32_t is_answer)
{
    unsigned size;
    void *data = packet_of(sent++, is_answer, &size);
    lfc_bcast_launch(data, size, 1);
}

/* Each packet comes once. One that was sent in an upcall may overtake the one that waited. */
void take_question(unsigned src, const void *data)
{
    struct packet packet;
    memcpy(&packet, data, sizeof packet);
    const uint32_t number = ntohl(packet.number);
    MUST(number < numbers * count && !seen[src * numbers * count + number]);
    seen[src * numbers * count + number] = 1;
    total++;
    if (packet.kind == 0)
        broadcast(1);
}

/* All get all questions of the others, and of each the answers of all but their own. */
void ask(void)
{
    seen = calloc(count * count, numbers);
    MUST(seen != NULL);
    asks = 1;
    lfc_start();
    for (unsigned i = 0; i < numbers; i++)
        broadcast(0);
    await(numbers * (count - 1) * count);
    free(seen);
}
