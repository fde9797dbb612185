/* SPDX-License-Identifier: MIT */
/* nx_members.c -- an NX program whose nodes do what they are told: nx_members SCENARIO [NUMBER]
 *
 * What goes wrong ends it with status 3 and a sentence. */
#include "nx_members.h"

long me, nodes;
int number;

void fill(unsigned char *bytes, long count, long node, long type)
{
    for (long i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7 + node * 31 + type);
}

void must_be_filled(const unsigned char *bytes, long count, long node, long type)
{
    for (long i = 0; i < count; i++)
        MUST(bytes[i] == (unsigned char)(i * 7 + node * 31 + type));
}

void *memory(size_t bytes)
{
    void *block = malloc(bytes > 0 ? bytes : 1);
    MUST(block != NULL);
    return block;
}

void compute_until(const volatile int *flag, int value)
{
    while (*flag != value)
        ;
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"lengths", lengths},
    {"selectors", selectors},
    {"selected_x", selected_x},
    {"process_types", process_types},
    {"all_send_first", all_send_first},
    {"flood", flood},
    {"exchanges", exchanges},
    {"to_an_ended_node", to_an_ended_node},
    {"identifiers", identifiers},
    {"many_identifiers", many_identifiers},
    {"merges", merges},
    {"cancels", cancels},
    {"probes", probes},
    {"flushes", flushes},
    {"interrupts", interrupts},
    {"long_interrupts", long_interrupts},
    {"masks", masks},
    {"handlers_repost", handlers_repost},
    {"handlers_of_sends", handlers_of_sends},
    {"handlers_of_slow_receivers", handlers_of_slow_receivers},
    {"handlers_info", handlers_info},
    {"operations", operations},
    {"collections", collections},
    {"own_operation", own_operation},
    {"lists", lists},
    {"small_buffer", small_buffer},
    {"node_numbers", node_numbers},
    {"clocks", clocks},
    {"lamp", lamp},
    {"codes", codes},
    {"told_codes", told_codes},
    {"mistake", mistake},
};

int main(int argc, char **argv)
{
    number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        if (scenarios[i].run == process_types)
            setptype(number);
        me = mynode();
        nodes = numnodes();
        scenarios[i].run();
        return 0;
    }
    fprintf(stderr, "usage: nx_members SCENARIO [NUMBER]\n");
    return 2;
}
