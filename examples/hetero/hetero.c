/* SPDX-License-Identifier: MIT */
/*
 * hetero -- one pointer, whatever machine the data come from.
 *
 *     root:    makes a table as some machine would, and sends it off
 *     worker:  gets it, rgmod, xptr, works on the table through a pointer, xupdt, puts it back
 *
 * Where the region is in this machine's own representation, the pointer is the region itself and nothing is copied.
 * Where it is not, the pointer is a translated copy, and xupdt translates it back.  The code in between does not know.
 *
 * The pattern is that of the BCR guide, "Heterogeneous Platforms".
 */
#include "args.h"
#include "must.h"

static const char USAGE[] = "usage: hetero [rounds]     (3 rounds)\n"
                            "Passes a table to and fro as three kinds of machines would represent it.\n";

enum { TABLE = 1, CRY = 2 }; /* cells */
enum { BODIES = 100 };

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

static void be_worker(void)
{
    must(bcr_cagrow(TABLE, 0, 1, 0, 0, 1, 1 << 16), "grow its cells");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRY, 1, 0), "tell its ID");
    for (;;) {
        struct table copy;
        bcr_region region = must_have(bcr_deq(bcr_cce, TABLE, bcr_BLOCK), "get a table");
        if (must(bcr_rglen(region, NULL), "look at a region") == 0)
            return;
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

static void pass_table(const struct machine *machine, int worker, int rounds)
{
    struct table copy;
    bcr_region region = new_table(machine->archtype);
    for (int i = 0; i < rounds; i++) {
        must(bcr_enq(region, worker, TABLE, bcr_FREE), "put the table");
        region = must_have(bcr_deq(bcr_cce, TABLE, bcr_BLOCK), "get the table");
    }
    const struct table *table = xptr(region, TABLE_TYPE, &copy, sizeof copy);
    printf("hetero: as %-12s %5d bytes, %s\n", machine->name,
           must(bcr_rglen(region, NULL), "look at a region"),
           (const void *)table == *region ? "used in place" : "translated");
    must_hold(right_after(table, rounds), "every body went all its steps");
    must(bcr_rgfree(region), "free the table");
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int rounds = args_number(argc, argv, 1, "rounds", 3, 1, 100000);

    must_init(bcr_user_ca, argv[0]);
    if (bcr_enlistor >= 0) {
        be_worker();
        return EXIT_SUCCESS;
    }
    int worker;
    must(bcr_cagrow(TABLE, 0, 2, 0, 0, 2, 1 << 16), "grow its cells");
    must(bcr_enlist(NULL, -1, 1, argv[0], NULL, bcr_FREE), "enlist the worker");
    must_copy(bcr_recv(&worker, sizeof worker, bcrT_1CCE, 1, bcr_cce, CRY, 1, bcr_BLOCK),
              "hear from the worker");
    for (int i = 0; i < MACHINES; i++)
        pass_table(&machines[i], worker, rounds);
    must_copy(bcr_send(NULL, 0, bcrT_1CHAR, 0, worker, TABLE, 1, 0), "end the worker");
    return EXIT_SUCCESS;
}
