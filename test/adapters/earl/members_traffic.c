/* SPDX-License-Identifier: MIT */
/* Messages of all lengths, whoever sends first. */
#include <unistd.h>

#include "earl_members.h"

static const size_t lengths[] = {0, 8, 100, 961, 8176, 8177, 70000, 300000, 1200000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static unsigned seed_of(int from, int to, int k)
{
    return (unsigned)(from * 31 + to * 17 + k);
}

static size_t length_of(int k, size_t most)
{
    return lengths[k % LENGTHS] < most ? lengths[k % LENGTHS] : most;
}

/* Sends `number` messages to each, then receives theirs, the last sender's first: those of one context with any tag, of the other
 * from any source. What comes from one source in a context with one tag comes in order. */
static void exchange(size_t most)
{
    unsigned char *data = allocate(most);
    int *taken = calloc((size_t)count * 6, sizeof *taken);
    MUST(taken != NULL);
    for (int to = 0; to < count; to++)
        for (int k = 0; k < number; k++) {
            fill(data, length_of(k, most), seed_of(self, to, k));
            MUST(earl_send(to, 5 + (unsigned)k % 2, k % 6, data, length_of(k, most)) == EARL_OK);
        }
    for (int from = count - 1; from >= 0; from--)
        for (int k = 0; k < number; k++) {
            struct earl_envelope envelope;
            const struct earl_wanted wanted =
                k % 2 == 0 ? wants(5, from, EARL_ANY) : wants(6, EARL_ANY, k % 6);
            MUST(earl_receive(&wanted, data, most, &envelope) == EARL_OK);
            MUST(envelope.context == wanted.context && envelope.source >= 0 && envelope.source < count);
            MUST((wanted.source == EARL_ANY || envelope.source == from) &&
                 (wanted.tag == EARL_ANY || envelope.tag == wanted.tag));
            const int which = envelope.tag + 6 * taken[envelope.source * 6 + envelope.tag]++;
            MUST(envelope.length == (long long)length_of(which, most));
            MUST(is_filled(data, length_of(which, most), seed_of(envelope.source, self, which)));
        }
    free(taken);
    free(data);
}

void all_first(void)
{
    number -= number % 6;
    exchange(8176);
}

/* What is sent and not received is more than a process's first memory. */
void long_first(void)
{
    number -= number % 6;
    exchange(1200000);
}

/* All send to 0, which computes; then it receives, from the last one on. */
void flood(void)
{
    unsigned char data[100];
    const int each = number;
    if (self != 0) {
        for (int k = 0; k < each; k++) {
            fill(data, sizeof data, (unsigned)(self + k));
            MUST(earl_send(0, 1, self, data, sizeof data) == EARL_OK);
        }
        return;
    }
    usleep(100000);
    for (int from = count - 1; from > 0; from--)
        for (int k = 0; k < each; k++) {
            const struct earl_wanted wanted = wants(1, from, from);
            MUST(earl_receive(&wanted, data, sizeof data, NULL) == EARL_OK);
            MUST(is_filled(data, sizeof data, (unsigned)(from + k)));
        }
}

/* Sends that wait for their receive do not hold up what is sent after them, and may be many. */
void long_isends(void)
{
    enum { EACH = 6 };
    const size_t length = (size_t)2 << 20;
    const int next = (self + 1) % count, before = (self + count - 1) % count;
    unsigned char *data[EACH], *room = allocate(length);
    earl_request sends[EACH];
    for (int k = 0; k < EACH; k++) {
        data[k] = allocate(length);
        fill(data[k], length, (unsigned)(self + k));
        sends[k] = earl_isend(next, 2, k, data[k], length);
        MUST(sends[k] > 0);
    }
    int word = self;
    MUST(earl_send(next, 2, EACH, &word, sizeof word) == EARL_OK);
    const struct earl_wanted small = wants(2, before, EACH);
    MUST(earl_receive(&small, &word, sizeof word, NULL) == EARL_OK && word == before);
    for (int k = EACH - 1; k >= 0; k--) {
        const struct earl_wanted wanted = wants(2, EARL_ANY, k);
        struct earl_envelope envelope;
        memset(room, 0, length);
        MUST(earl_receive(&wanted, room, length, &envelope) == EARL_OK &&
             envelope.length == (long long)length);
        MUST(is_filled(room, length, (unsigned)(before + k)));
    }
    for (int k = 0; k < EACH; k++) {
        struct earl_envelope envelope;
        MUST(earl_wait(sends[k], &envelope) == 0 && envelope.source == next &&
             envelope.length == (long long)length);
        free(data[k]);
    }
    free(room);
}

/* Each talks to 16 others. */
void many(void)
{
    for (int k = 1; k <= 16; k++) {
        const int to = (self + k * k) % count;
        MUST(earl_send(to, 3, k, &self, sizeof self) == EARL_OK);
    }
    for (int k = 16; k >= 1; k--) {
        int from = -1;
        const struct earl_wanted wanted = wants(3, EARL_ANY, k);
        struct earl_envelope envelope;
        MUST(earl_receive(&wanted, &from, sizeof from, &envelope) == EARL_OK);
        MUST(from == envelope.source && (from + k * k) % count == self);
    }
    MUST(earl_barrier(NULL) == EARL_OK);
}

/* Under the tool that chooses the highest source: from that one downwards. */
void chosen(void)
{
    if (self != 0)
        MUST(earl_send(0, 8, 1, &self, sizeof self) == EARL_OK);
    for (int from = count - 1; from > 0 && self == 0; from--) {
        int word = -1;
        const struct earl_wanted wanted = wants(8, EARL_ANY, EARL_ANY);
        MUST(earl_receive(&wanted, &word, sizeof word, NULL) == EARL_OK && word == from);
    }
}
