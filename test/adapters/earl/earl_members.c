/* SPDX-License-Identifier: MIT */
/* earl_members.c -- a program on Earl's own routines whose members do what they are told: earl_members SCENARIO [NUMBER]
 *
 * What goes wrong ends it with status 3 and a sentence. */
#include "earl_members.h"

int self, count, number = 20;

struct earl_wanted wants(unsigned context, int source, int tag)
{
    return (struct earl_wanted){context, source, tag, NULL, NULL};
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {
        {"all_first", all_first},
        {"buffers", buffers},
        {"stuck", stuck},
        {"chosen", chosen},
        {"long_first", long_first},
        {"flood", flood},
        {"long_isends", long_isends},
        {"many", many},
        {"requests", requests},
        {"claims", claims},
        {"awaits", awaits},
        {"splices", splices},
        {"synchronous", synchronous},
        {"handlers", handlers},
        {"ends", ends},
        {"called_in_waits", called_in_waits},
        {"raw_as_buffers", raw_as_buffers},
        {"stopped_receiver", stopped_receiver},
        {"late_answers", late_answers},
        {"parts_that_wait", parts_that_wait},
        {"memory_is_full", memory_is_full},
        {"last_isend_first", last_isend_first},
        {"last_send_first", last_send_first},
        {"isend_then_send", isend_then_send},
        {"ends_after_routine", ends_after_routine},
        {"waits_in_routine", waits_in_routine},
        {"memory_is_kept", memory_is_kept},
        {"mix", mix},
        {"any_order", any_order},
        {"deaths", deaths},
        {"groups", groups},
        {"errors", errors},
    };
    if (argc > 2)
        number = atoi(argv[2]);
    MUST(earl_begin("earl_members") == EARL_OK);
    self = earl_process();
    count = earl_processes();
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0) {
            scenarios[i].run();
            MUST(earl_end() == EARL_OK && earl_end() == EARL_E_STATE);
            return 0;
        }
    fprintf(stderr, "earl_members: no such scenario\n");
    return 2;
}
