/* SPDX-License-Identifier: MIT */
/*
 * structs -- records within records: described once, sent, received whole, received in part.
 *
 *     root    -- orders, as some machine represents them -->  clerk
 *     root   <-- what they come to --------------------------  clerk
 *
 * The clerk receives each batch twice: all of it, into the same structs; and the prices alone, into an array of double,
 * with a descriptor of its own that passes over everything else.
 */
#include "args.h"
#include "must.h"

static const char USAGE[] =
    "usage: structs [orders]     (1000 orders)\n"
    "Sends nested records in three representations, and receives them whole and in part.\n";

enum { ORDERS = 1, SUMS = 2, CRY = 3 }; /* cells */
enum { LINES = 4, ORDERS_MAX = 10000 };

struct line {
    short count;
    double price;
    char article[5];
};
struct stamp {
    long long when;
    int by; /* a CCE ID: another int in each process, so the descriptor must say so */
};
struct order {
    int number;
    struct line lines[LINES];
    struct stamp made;
};

/* The list of struct order, then those that it nests: struct line directly behind it, struct stamp behind that. */
/* clang-format off */
static const int ORDER[] = {
    bcrD_STRUCT(struct order, (INT, number), (NEST, lines, struct line, 0),
                (NEST, made, struct stamp, bcrD_TRIPLES(3))),
    bcrD_STRUCT(struct line, (SHORT, count), (DOUBLE, price), (CHAR, article)),
    bcrD_STRUCT(struct stamp, (LONGLONG, when), (CCE, by))};
/* clang-format on */

/* Out of the same regions: the prices one after the other, the rest passed over in the source. */
/* clang-format off */
static const int PRICES[] = {
    0, bcrT_INT | bcrT_SKIP_FM, 1,            /* number */
    0, bcrT_NEST + 3, LINES,                  /* lines */
    0, bcrT_LONGLONG | bcrT_SKIP_FM, 1,       /* when */
    0, bcrT_CCE | bcrT_SKIP_FM | bcrT_END, 1, /* by */
    0, bcrT_SHORT | bcrT_SKIP_FM, 1,          /* a line's count, */
    0, bcrT_DOUBLE, 1,                        /* price */
    0, bcrT_CHAR | bcrT_SKIP_FM | bcrT_END, 5 /* and article */
};
/* clang-format on */

static const int archtypes[] = {0 /* this machine's */, 0x02faffa5 /* x86-64 Linux */,
                                0x03faffa5 /* s390x Linux */, 0x02babaa5 /* i386 Linux */};
enum { BATCHES = sizeof archtypes / sizeof archtypes[0] };

/* What the clerk answers. */
struct sums {
    double whole, prices;
    int wrong;
};
static const int SUMS_TYPE[] = {bcrD_STRUCT(struct sums, (DOUBLE, whole), (DOUBLE, prices), (INT, wrong))};

static struct order orders[ORDERS_MAX];

static double price_of(int order, int line)
{
    return order + line / 4.0;
}

static void make_orders(int count)
{
    memset(orders, 0, sizeof orders[0] * (size_t)count);
    for (int i = 0; i < count; i++) {
        orders[i].number = i;
        orders[i].made = (struct stamp){.when = -1000000000000LL - i, .by = bcr_cce};
        for (int k = 0; k < LINES; k++)
            orders[i].lines[k] =
                (struct line){.count = (short)(k - 1), .price = price_of(i, k), .article = {'A', 'r', 't'}};
    }
}

/* Are the orders those of make_orders, made by this CCE? */
static int count_wrong(int count, int by)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        bool right =
            orders[i].number == i && orders[i].made.when == -1000000000000LL - i && orders[i].made.by == by;
        for (int k = 0; k < LINES; k++)
            right =
                right && orders[i].lines[k].count == k - 1 && strcmp(orders[i].lines[k].article, "Art") == 0;
        wrong += !right;
    }
    return wrong;
}

static void be_clerk(void)
{
    static double prices[ORDERS_MAX * LINES];
    int task;
    must(bcr_cagrow(ORDERS, 0, 1, 0, 0, 1, 1 << 16), "grow its cells");
    must(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, bcr_enlistor, CRY, 1, 0), "tell its ID");
    must_copy(bcr_recv(&task, sizeof task, bcrT_1INT, 1, bcr_cce, 0, 1, bcr_BLOCK), "take its birth region");
    for (int batch = 0; batch < BATCHES; batch++) {
        struct sums sums = {0, 0, 0};
        /* qlike 0 leaves the region in the cell, for the second look. */
        must_copy(bcr_recv(orders, sizeof orders, ORDER, task, bcr_cce, ORDERS, 0, bcr_BLOCK),
                  "receive the orders");
        must_copy(bcr_recv(prices, sizeof prices, PRICES, task, bcr_cce, ORDERS, 1, 0), "receive the prices");
        sums.wrong = count_wrong(task, bcr_enlistor);
        for (int i = 0; i < task; i++)
            for (int k = 0; k < LINES; k++) {
                sums.whole += orders[i].lines[k].price;
                sums.prices += prices[LINES * i + k];
            }
        must_copy(bcr_send(&sums, sizeof sums, SUMS_TYPE, 1, bcr_enlistor, SUMS, 1, 0), "send the sums");
    }
}

static void show(const char *what, const int *type, int archtype)
{
    char text[4096];
    must(bcr_descshow(type, archtype, text, sizeof text), "show a descriptor");
    printf("structs: %s\n%s\n", what, text);
}

int main(int argc, char **argv)
{
    args_check(argc, argv, 1, USAGE);
    const int count = args_number(argc, argv, 1, "orders", 1000, 1, ORDERS_MAX);

    must_init(bcr_user_ca, argv[0]);
    if (bcr_enlistor >= 0) {
        be_clerk();
        return EXIT_SUCCESS;
    }
    must(bcr_cagrow(ORDERS, 0, 3, 0, 0, 4, count * 256 + (1 << 16)), "grow its cells");
    bcr_region birth = must_have(bcr_rgalloc(sizeof count, 0), "allocate a birth region");
    must_copy(bcr_copyto(bcrT_1INT, 1, birth, 0, &count, sizeof count), "write a birth region");
    must(bcr_enlist(NULL, -1, 1, argv[0], birth, bcr_FREE), "enlist the clerk");
    int clerk;
    must_copy(bcr_recv(&clerk, sizeof clerk, bcrT_1CCE, 1, bcr_cce, CRY, 1, bcr_BLOCK),
              "hear from the clerk");

    show("an order, here and on i386", ORDER, 0x02babaa5);
    make_orders(count);
    for (int batch = 0; batch < BATCHES; batch++) {
        struct sums sums;
        const int bytes = count * (int)sizeof(struct order);
        must_copy(bcr_send(orders, bytes, ORDER, count, clerk, ORDERS, 1, archtypes[batch]),
                  "send the orders");
        must_copy(bcr_recv(&sums, sizeof sums, SUMS_TYPE, 1, bcr_cce, SUMS, 1, bcr_BLOCK),
                  "receive the sums");
        double want = 0;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < LINES; k++)
                want += price_of(i, k);
        printf("structs: %d orders as archtype 0x%08x come to %.2f\n", count,
               (unsigned)(archtypes[batch] != 0 ? archtypes[batch] : bcr_archtype), sums.whole);
        must_hold(sums.wrong == 0 && sums.whole == want, "the orders arrived as they were");
        must_hold(sums.prices == want, "so did the prices alone");
    }
    return EXIT_SUCCESS;
}
