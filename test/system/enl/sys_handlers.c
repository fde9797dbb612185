/* SPDX-License-Identifier: MIT */
/* A program that lives in its handlers: each CCE greets the root, whose handler enlists further
 * ones, waits for enl in doing so, and lets others of it run meanwhile, which call enl too. The
 * root says how many have greeted, and ends. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bcr.h>

enum { GREETINGS = 1, FIRST = 3, ALL = 12 };

#define MUST(expr)                                                                 \
    do {                                                                           \
        if (!(expr)) {                                                             \
            printf("line %d: not %s, bcr_errno %d\n", __LINE__, #expr, bcr_errno); \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

static const char *self;
static int greeted, done;

static void enlist_more(int ordinal)
{
    MUST(bcr_enlist(NULL, -1, ordinal, self, NULL, bcr_FREE) == 0);
    int area = bcr_cagrow(100, 1, 0, 0, 0, 1, 64); /* enl answers this one while others wait for theirs */
    MUST(area > 0);
    MUST(bcr_enlist(NULL, -1, 0, "/there/is/no/such/program", NULL, bcr_FREE) == -1 &&
         bcr_errno == bcrE_NOPROG);
    MUST(bcr_cafree(area) == 0);
}

static void greet(int cell)
{
    int number = greeted++;
    bcr_region rgid = bcr_deq(bcr_cce, cell, 0);
    MUST(rgid != NULL && bcr_rgfree(rgid) == 0);
    if (FIRST + number < ALL)
        enlist_more(FIRST + 1 + number);
    if (++done < ALL)
        return;
    printf("%d have greeted\n", done);
    exit(0);
}

int main(int argc, char **argv)
{
    (void)argc;
    self = argv[0];
    MUST(bcr_init(bcr_handlers, self) == 0);
    if (bcr_cceord != 0) {
        MUST(bcr_cagrow(1, 0, 0, 0, 0, 0, 64) == 1);
        bcr_region rgid = bcr_rgalloc(0, 0);
        MUST(rgid != NULL);
        MUST(bcr_enq(rgid, bcr_enlistor, GREETINGS, bcr_FREE) == 0);
        return 0;
    }
    MUST(bcr_cagrow(GREETINGS, 0, 1, 0, 0, ALL, 0) == GREETINGS);
    MUST(bcr_handler(GREETINGS, greet, 1, 0, 0) == 0);
    MUST(bcr_enlist(NULL, -FIRST, 1, self, NULL, bcr_FREE) == 0);
    bcr_block();
    return 1;
}
