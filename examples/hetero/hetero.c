/* SPDX-License-Identifier: MIT */
/*
 * hetero -- data that is right whatever machines the CCEs are on.
 *
 *     tables:  one pointer to data of any machine.  The root makes a table as some machine would, and sends it off; a
 *              worker gets it, rgmod, xptr, works on the table through a pointer, xupdt, puts it back
 *     rounds:  sheets of every type go round among all CCEs, which besides lock, handle and err (rounds.c)
 *
 * Where a table is in this machine's own representation, the pointer is the region itself and nothing is copied.
 * Where it is not, the pointer is a translated copy, and xupdt translates it back.  The code in between does not know.
 * That pattern is that of the BCR guide, "Heterogeneous Platforms".
 *
 * CCEs are enlisted on all machines that the program has: see enl --hosts.
 */
#include "args.h"
#include "must.h"
#include "rounds.h"

static const char USAGE[] =
    "usage: hetero [rounds]     (3 rounds)\n"
    "Passes tables to and fro as three kinds of machines would represent them; then sheets of\n"
    "every type round among CCEs on all machines of the program, so many times.\n";

enum { BODIES = 100, TABLE_ROUNDS_MAX = 10 };

/* The member with the strictest alignment comes first: then bodies in a region, which follow each other as alignment
 * alone has it, lie as they do in a C array, and a region of this machine's own archtype can be used in place. */
struct body {
    double at[3];
    long mass;
    int steps;
    short charge;
    char name[6];
};
struct table {
    struct body body[BODIES];
};
static const int TABLE_TYPE[] = {
    bcrD_STRUCT(struct table, (NEST, body, struct body, 0)),
    bcrD_STRUCT(struct body, (DOUBLE, at), (LONG, mass), (INT, steps), (SHORT, charge), (CHAR, name))};

static const struct machine {
    const char *name;
    int archtype; /* 0: this one */
} machines[] = {{"this machine", 0},
                {"x86-64 Linux", 0x02faffa5},
                {"s390x Linux", 0x03faffa5},
                {"i386 Linux", 0x02babaa5}};
enum { MACHINES = sizeof machines / sizeof machines[0] };

/* The data of a region, as this machine represents them: the region itself, or a copy of it in `copy`. */
static void *xptr(bcr_region region, const int *type, void *copy, int copy_bytes)
{
    int archtype;
    must(bcr_rglen(region, &archtype), "look at a region");
    if (archtype == bcr_archtype)
        return *region;
    must_copy(bcr_copyfm(type, 1, region, 0, copy, copy_bytes), "translate a region");
    return copy;
}

/* After writing through what xptr gave: brings the region up to date. */
static void xupdt(bcr_region region, const int *type, const void *copy, int copy_bytes)
{
    int archtype;
    must(bcr_rglen(region, &archtype), "look at a region");
    if (archtype != bcr_archtype)
        must_copy(bcr_copyto(type, 1, region, 0, copy, copy_bytes), "translate a region back");
}

/* A CCE that was enlisted says who it is, and is told who they all are. */
struct cry {
    int ord;
    struct member self;
};
static const int CRY_TYPE[] = {bcrD_STRUCT(struct cry, (INT, ord), (NEST, self, struct member, 0)),
                               bcrD_STRUCT(struct member, (INT, archtype), (CCE, cce))};

static void work_on_tables(void)
{
    for (;;) {
        struct table copy;
        bcr_region region = must_have(bcr_deq(bcr_cce, TABLE, bcr_BLOCK), "get a table");
        if (must(bcr_rglen(region, NULL), "look at a region") == 0) {
            must(bcr_rgfree(region), "free what ends the tables");
            return;
        }
        must(bcr_rgmod(region), "make the region its own");
        struct table *table = xptr(region, TABLE_TYPE, &copy, sizeof copy);
        for (int i = 0; i < BODIES; i++) {
            struct body *body = &table->body[i];
            for (int k = 0; k < 3; k++)
                body->at[k] += (double)body->charge;
            body->mass -= 1;
            body->steps++;
        }
        xupdt(region, TABLE_TYPE, &copy, sizeof copy);
        must(bcr_enq(region, bcr_enlistor, TABLE, bcr_FREE), "put the table back");
    }
}

static void be_worker(void)
{
    struct member members[MEMBERS_MAX];
    int count = 0;
    const struct cry cry = {bcr_cceord, {bcr_archtype, bcr_cce}};
    must_copy(bcr_send(&cry, sizeof cry, CRY_TYPE, 1, bcr_enlistor, NEWS, 1, 0), "tell who it is");
    work_on_tables();
    must_copy(bcr_recv(members, sizeof members, MEMBER_TYPE, MEMBERS_MAX, bcr_cce, NEWS, 1, bcr_BLOCK),
              "hear who takes part");
    while (count < MEMBERS_MAX && members[count].cce != -1)
        count++;
    rounds_follow(members, count);
}

static struct body body_at_start(int i)
{
    struct body body = {
        .at = {i, i / 4.0, -i}, .mass = 1000 + i, .charge = (short)(i % 5 - 2), .name = "body"};
    body.name[4] = (char)('a' + i % 26);
    return body;
}

/* As a CCE on such a machine would make it. */
static bcr_region new_table(int archtype)
{
    struct table table;
    memset(&table, 0, sizeof table); /* what lies between the members, too */
    for (int i = 0; i < BODIES; i++)
        table.body[i] = body_at_start(i);
    int size =
        must(bcr_copytosz(TABLE_TYPE, 1, archtype, 0, NULL, sizeof table), "find out how large a table is");
    bcr_region region = must_have(bcr_rgalloc(size - 2, archtype), "allocate a table");
    must_copy(bcr_copyto(TABLE_TYPE, 1, region, 0, &table, sizeof table), "fill the table");
    return region;
}

static bool right_after(const struct table *table, int rounds)
{
    for (int i = 0; i < BODIES; i++) {
        const struct body *is = &table->body[i];
        struct body was = body_at_start(i);
        bool right = is->mass == was.mass - rounds && is->steps == rounds && is->charge == was.charge &&
                     strcmp(is->name, was.name) == 0;
        for (int k = 0; k < 3; k++)
            right = right && is->at[k] == was.at[k] + rounds * was.charge;
        if (!right)
            return false;
    }
    return true;
}

static void pass_table(const struct machine *machine, const struct member *worker, int rounds)
{
    struct table copy;
    bcr_region region = new_table(machine->archtype);
    for (int i = 0; i < rounds; i++) {
        must(bcr_enq(region, worker->cce, TABLE, bcr_FREE), "put the table");
        region = must_have(bcr_deq(bcr_cce, TABLE, bcr_BLOCK), "get the table");
    }
    const struct table *table = xptr(region, TABLE_TYPE, &copy, sizeof copy);
    printf("hetero: as %-12s %5d bytes, %s here and %s by a CCE of archtype 0x%08x\n", machine->name,
           must(bcr_rglen(region, NULL), "look at a region"),
           (const void *)table == *region ? "used in place" : "translated",
           (machine->archtype != 0 ? machine->archtype : bcr_archtype) == worker->archtype ? "used in place"
                                                                                           : "translated",
           (unsigned)worker->archtype);
    must_hold(right_after(table, rounds), "every body went all its steps");
    must(bcr_rgfree(region), "free the table");
}

/* As many on each machine of the program as it is meant for; two at least.  Returns how many. */
static int enlist_workers(const char *program)
{
    char machine[256];
    int count = 0;
    for (int k = 0, slots; (slots = must(bcr_host(k, machine, sizeof machine), "ask for a machine")) > 0;
         k++) {
        if (count == 0 && bcr_host(k + 1, NULL, 0) == 0 && slots < 2)
            slots = 2;
        if (slots > MEMBERS_MAX - 1 - count)
            slots = MEMBERS_MAX - 1 - count;
        if (slots > 0)
            must(bcr_enlist(machine, -slots, 1 + count, program, NULL, bcr_FREE), "enlist workers");
        count += slots;
    }
    return count;
}

static void be_root(const char *program, int rounds)
{
    struct member members[MEMBERS_MAX];
    for (int i = 0; i < MEMBERS_MAX; i++)
        members[i] = (struct member){0, -1};
    members[0] = (struct member){bcr_archtype, bcr_cce};
    const int workers = enlist_workers(program);
    for (int i = 0; i < workers; i++) {
        struct cry cry;
        must_copy(bcr_recv(&cry, sizeof cry, CRY_TYPE, 1, bcr_cce, NEWS, 1, bcr_BLOCK), "hear from a worker");
        must_hold(cry.ord >= 1 && cry.ord <= workers, "each CCE has the ordinal that it was enlisted with");
        members[cry.ord] = cry.self;
    }
    for (int k = 1; k <= workers; k++) {
        for (int i = 0; i < MACHINES; i++)
            pass_table(&machines[i], &members[k], rounds < TABLE_ROUNDS_MAX ? rounds : TABLE_ROUNDS_MAX);
        must_copy(bcr_send(NULL, 0, bcrT_1CHAR, 0, members[k].cce, TABLE, 1, 0), "end the tables");
    }
    for (int k = 1; k <= workers; k++)
        must_copy(bcr_send(members, sizeof members, MEMBER_TYPE, MEMBERS_MAX, members[k].cce, NEWS, 1, 0),
                  "tell who takes part");
    rounds_lead(members, workers + 1, rounds);
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int rounds = args_number(argc, argv, 1, "rounds", 3, 1, 1000000);

    must_init(bcr_user_ca | bcr_errors, argv[0]);
    must(bcr_cagrow(TABLE, 0, 1, 0, 0, 1, 1 << 16), "grow the cell for tables");
    rounds_begin();
    if (bcr_enlistor >= 0)
        be_worker();
    else
        be_root(argv[0], rounds);
    return EXIT_SUCCESS;
}
