/* SPDX-License-Identifier: MIT */
/* lfc_members.c -- an LFC program whose members do what they are told: lfc_members SCENARIO [NUMBER [NUMBER]]
 *
 * What goes wrong ends it with status 3 and a sentence. */
#include <signal.h>
#include <unistd.h>

#include "lfc_members.h"

unsigned rank, count, numbers = 100;
int allowed = 1;
volatile unsigned received[MEMBERS_MAX][KINDS], total;
void *kept[KEPT_MAX];
unsigned kept_count;
int adds, merges, asks;
void (*in_upcall)(void);

/* In their order, so that LFC has to find those that it has put behind others. */
static void free_kept(void)
{
    for (unsigned i = 0; i < kept_count; i++)
        lfc_packet_free(kept[i]);
    kept_count = 0;
}

/* From each member packets of each kind come in their order, once, and whole. */
int lfc_upcall(unsigned src, void *data, unsigned size, lfc_upcall_flags_t flags)
{
    struct packet packet;
    MUST(lfc_intr_status() == 0);
    MUST(src < count && size >= sizeof packet && size <= lfc_packet_size());
    if (merges) {
        merge(data, size);
        total++;
        return 0;
    }
    if (asks) {
        take_question(src, data);
        return 0;
    }
    memcpy(&packet, data, sizeof packet);
    packet = (struct packet){ntohl(packet.number), ntohl(packet.kind)};
    MUST(packet.kind < KINDS && (packet.kind == 1) == ((flags & LFC_UPCALL_MCAST) != 0));
    MUST(packet.number == received[src][packet.kind]);
    for (unsigned i = sizeof packet; i < size; i++)
        MUST(((unsigned char *)data)[i] == (unsigned char)packet.number);
    received[src][packet.kind]++;
    total++;
    if (in_upcall != NULL)
        in_upcall();
    if (adds)
        tell(lfc_fetch_and_add(0, packet.number % 2));
    if (packet.number % 5 == 0) { /* freed within, as the guide's program does */
        lfc_packet_free(data);
        return 1;
    }
    if (packet.number % 5 != 1)
        return 0;
    if (kept_count == KEPT_MAX)
        free_kept();
    kept[kept_count++] = data;
    return 1;
}

void *packet_of(uint32_t number, uint32_t kind, unsigned *size_out)
{
    const struct packet packet = {htonl(number), htonl(kind)};
    unsigned char *data = lfc_send_alloc(allowed);
    *size_out = (unsigned)(sizeof packet + number * 37 % (lfc_packet_size() - sizeof packet + 1));
    memset(data, (int)number, *size_out);
    lfc_memcpy(data, &packet, sizeof packet);
    return data;
}

void await(unsigned wanted)
{
    while (total < wanted)
        lfc_poll();
    MUST(total == wanted);
}

/* Each sends to each, itself too, and to all. */
static void all_to_all(void)
{
    unsigned size;
    lfc_start();
    for (uint32_t i = 0; i < numbers; i++) {
        for (unsigned dest = 0; dest < count; dest++) {
            void *data = packet_of(i, 0, &size);
            lfc_ucast_launch(dest, data, size, allowed);
        }
        void *data = packet_of(i, 1, &size);
        lfc_bcast_launch(data, size, allowed);
    }
    await(numbers * count + numbers * (count - 1));
}

/* Of groups each member gets what others of it send, and nobody else. */
static void groups(void)
{
    unsigned even[MEMBERS_MAX], evens = 0, size;
    for (unsigned i = 0; i < count; i += 2)
        even[evens++] = i;
    const int gid = lfc_group_create(even, evens), none = lfc_group_create(even, 0);
    MUST(gid == 0 && none == 1);
    lfc_start();
    for (uint32_t i = 0; i < numbers; i++) { /* those that are not in it may send there, too */
        void *data = packet_of(i, 1, &size);
        lfc_mcast_launch(gid, data, size, allowed);
        data = packet_of(i, 1, &size);
        lfc_mcast_launch(none, data, size, allowed);
    }
    await(rank % 2 == 0 ? numbers * (count - 1) : 0);
}

/* One is killed while all send to all, or leaves. */
static _Noreturn void one_ends(int is_killed)
{
    lfc_start();
    for (uint32_t i = 0;; i++) {
        for (unsigned dest = 0; dest < count; dest++) {
            unsigned size;
            void *data = packet_of(i, 0, &size);
            lfc_ucast_launch(dest, data, size, allowed);
        }
        if (rank == 1 && i == numbers && is_killed)
            raise(SIGKILL);
        if (rank == 1 && i == numbers)
            exit(0);
        lfc_poll();
    }
}

/* Who computes, allocates and prints, and never polls, gets packets all the same. */
static void interrupts(void)
{
    unsigned size;
    lfc_start();
    MUST(lfc_intr_status() == 0);
    lfc_intr_enable();
    MUST(lfc_intr_status() != 0);
    for (uint32_t i = 0; i < numbers; i++) {
        void *data = packet_of(i, 0, &size);
        lfc_ucast_launch((rank + 1) % count, data, size, allowed);
    }
    FILE *null = fopen("/dev/null", "w");
    MUST(null != NULL);
    while (total < numbers) {
        void *some[20];
        for (int i = 0; i < 20; i++)
            some[i] = malloc(100 + (size_t)i * 1000);
        fprintf(null, "%p %u\n", some[3], total);
        for (int i = 0; i < 20; i++)
            free(some[i]);
    }
    fclose(null);
    lfc_intr_disable();
    lfc_intr_disable();
    MUST(lfc_intr_status() == 0);
    lfc_intr_enable();
    MUST(lfc_intr_status() == 0);
    MUST(total == numbers);
    const unsigned more = count == 1 ? 10 : 0; /* else a neighbour's may come at any time */
    for (uint32_t i = numbers; i < numbers + more; i++) {
        void *data = packet_of(i, 0, &size);
        lfc_ucast_launch(0, data, size, 0);
    }
    MUST(total == numbers || more == 0); /* launches that may make no upcalls, and no interrupts */
    lfc_intr_enable();
    while (total < numbers + more) /* what came meanwhile */
        ;
    lfc_intr_disable();
}

static void poll_in_handler(int signal)
{
    (void)signal;
    if (lfc_intr_status() != 0)
        lfc_poll();
}

/* The same with a handler of the program's own. */
static void own_handler(void)
{
    signal(SIGIO, poll_in_handler);
    interrupts();
}

/* Packets that came while no upcall might be made are given to upcalls by a signal. Then nothing is left to do, and there are no
 * more signals. */
static void quiet(void)
{
    unsigned size;
    lfc_start();
    lfc_intr_enable();
    const int counts = lfc_stats_create();
    allowed = 0;
    for (uint32_t i = 0; i < numbers; i++) {
        void *data = packet_of(i, 0, &size);
        lfc_ucast_launch(rank, data, size, allowed);
    }
    lfc_stats_reset(); /* takes all out of the cell before the first signal: that comes much later */
    while (total < numbers)
        ;
    lfc_timer_delta(200000);
    lfc_stats_gather(counts);
    if (rank == 0)
        lfc_stats_dump(stdout, counts, NULL, NULL);
    lfc_intr_disable();
}

/* The counts of all at process 0. */
static void statistics(void)
{
    unsigned size;
    lfc_start();
    const int first = lfc_stats_create(), second = lfc_stats_create();
    MUST(first == 0 && second == 1);
    for (uint32_t i = 0; i < 10; i++) {
        void *data = packet_of(i, 0, &size);
        lfc_ucast_launch((rank + 1) % count, data, size, 1);
    }
    await(10);
    lfc_stats_gather(first);
    lfc_stats_reset();
    lfc_stats_gather(second);
    if (rank == 0) {
        lfc_stats_dump(stdout, first, "first", NULL);
        lfc_stats_dump(stdout, second, NULL, "second");
    }
}

static void memory(void)
{
    enum { BLOCKS = 300 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    srand(5);
    for (int round = 0; round < 20000; round++) {
        const int i = rand() % BLOCKS;
        const size_t size = (size_t)(rand() % 50 == 0 ? rand() % 300000 : rand() % 900);
        for (size_t at = 0; at < sizes[i]; at++)
            MUST(blocks[i][at] == (unsigned char)i);
        if (rand() % 2 == 0) {
            lfc_free(blocks[i]);
            blocks[i] = rand() % 2 == 0 ? lfc_malloc(size) : lfc_calloc(size, 1);
        } else {
            blocks[i] = lfc_realloc(blocks[i], size);
        }
        MUST(blocks[i] != NULL && ((uintptr_t)blocks[i] & 15) == 0);
        memset(blocks[i], i, size);
        sizes[i] = size;
    }
    MUST(lfc_calloc(SIZE_MAX / 2, 3) == NULL && lfc_malloc(SIZE_MAX) == NULL);
    lfc_timer_start();
    lfc_timer_delta(2000);
    lfc_timer_stop();
    MUST(lfc_timer_elapsed() >= 2000);
    lfc_start();
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is told comes line by line */
    lfc_init(&argc, argv);
    rank = lfc_my_proc();
    count = lfc_nr_procs();
    MUST(rank < count && count <= MEMBERS_MAX && lfc_packet_size() == 1024 && argc >= 2);
    const char *scenario = argv[1];
    if (argc > 2)
        numbers = (unsigned)atoi(argv[2]);
    if (argc > 3)
        allowed = atoi(argv[3]);
    if (strcmp(scenario, "all_to_all") == 0)
        all_to_all();
    else if (strcmp(scenario, "groups") == 0)
        groups();
    else if (strcmp(scenario, "add") == 0)
        add();
    else if (strcmp(scenario, "add_many") == 0)
        add_many();
    else if (strcmp(scenario, "ask") == 0)
        ask();
    else if (strcmp(scenario, "leaves") == 0)
        one_ends(0);
    else if (strcmp(scenario, "killed") == 0)
        one_ends(1);
    else if (strcmp(scenario, "interrupts") == 0)
        interrupts();
    else if (strcmp(scenario, "own_handler") == 0)
        own_handler();
    else if (strcmp(scenario, "quiet") == 0)
        quiet();
    else if (strcmp(scenario, "calls_bcr") == 0)
        calls_bcr();
    else if (strcmp(scenario, "switches") == 0)
        switches();
    else if (strcmp(scenario, "statistics") == 0)
        statistics();
    else if (strcmp(scenario, "memory") == 0)
        memory();
    else if (strcmp(scenario, "misuse") == 0)
        misuse((int)numbers);
    else {
        for (int i = 0; i < argc; i++)
            printf("[%s]", argv[i]);
        printf("\n");
        lfc_start();
    }
    free_kept();
    lfc_exit();
    return 0;
}
