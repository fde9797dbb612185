/* SPDX-License-Identifier: MIT */
/* pvm_members.c -- a PVM program whose tasks do what they are told: pvm_members SCENARIO [NUMBER]
 *
 * What goes wrong ends it with status 3 and a sentence. */
#include "pvm_members.h"

int self = -1, count, number;
int *tids;
char *me;

enum { MEETING = 900000 };

void all_meet(void)
{
    const int context = pvm_setcontext(MEETING), receive = pvm_setrbuf(0), send = pvm_setsbuf(0);
    for (int i = 0; i < count; i++)
        IS(pvm_psend(tids[i], 1, NULL, 0, PVM_INT), PvmOk);
    for (int i = 0; i < count; i++)
        IS(pvm_precv(tids[i], 1, NULL, 0, PVM_INT, NULL, NULL, NULL), PvmOk);
    IS(pvm_setcontext(context), MEETING);
    (void)pvm_setsbuf(send);
    (void)pvm_setrbuf(receive);
}

void send_int(int to, int tag, int value)
{
    MUST(pvm_initsend(PvmDataDefault) > 0);
    IS(pvm_pkint(&value, 1, 1), PvmOk);
    IS(pvm_send(tids[to], tag), PvmOk);
}

int place_of(int tid)
{
    int place = 0;
    while (place < count && tids[place] != tid)
        place++;
    MUST(place < count);
    return place;
}

int next_int(void)
{
    int value = -1;
    IS(pvm_upkint(&value, 1, 1), PvmOk);
    return value;
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"machine", machine},
    {"spawns", spawns},
    {"places", places},
    {"spawned", spawned},
    {"notices", notices},
    {"puts_number", puts_number},
    {"finds_number", finds_number},
    {"misses_number", misses_number},
    {"sees_loss", sees_loss},
    {"ignores_terms", ignores_terms},
    {"stays_on", stays_on},
    {"halts_machine", halts_machine},
    {"speaks", speaks},
    {"murmurs", murmurs},
    {"catches", catches},
    {"catches_meanwhile", catches_meanwhile},
    {"hosts", hosts},
    {"loses", loses},
    {"mailboxes", mailboxes},
    {"waits_for_mail", waits_for_mail},
    {"numbers", numbers},
    {"groups", groups},
    {"collections", collections},
    {"frozen", frozen},
    {"halts", halts},
    {"exported", exported},
    {"leaving", leaving},
    {"types", types},
    {"in_place", in_place},
    {"texts", texts},
    {"formats", formats},
    {"lengths", lengths},
    {"order", order},
    {"timed", timed},
    {"casts", casts},
    {"direct", direct},
    {"buffers", buffers},
    {"many_buffers", many_buffers},
    {"forwards", forwards},
    {"nested", nested},
    {"infos", infos},
    {"all_send_first", all_send_first},
    {"long_one_by_one", long_one_by_one},
    {"flood", flood},
    {"to_an_ended_task", to_an_ended_task},
    {"chooses", chooses},
    {"contexts", contexts},
    {"handlers", handlers},
    {"polls", polls},
    {"options", options},
    {"mistakes", mistakes},
    {"told", told},
};

int main(int argc, char **argv)
{
    number = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (argc > 1 && strcmp(argv[1], "starts_machine") == 0)
        return starts_machine();
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0)
            continue;
        const int tid = pvm_mytid();
        count = pvm_siblings(&tids);
        MUST(tid > 0 && count > 0);
        for (int k = 0; k < count; k++)
            if (tids[k] == tid)
                self = k;
        MUST(self >= 0);
        me = argv[0];
        scenarios[i].run();
        return 0;
    }
    fprintf(stderr, "usage: pvm_members SCENARIO [NUMBER]\n");
    return 2;
}
