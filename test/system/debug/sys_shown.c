/* SPDX-License-Identifier: MIT */
/* A CCE for a debugger to look at: two regions in a cell, an ID, a pending get, and a handler that waits. */
#include <string.h>

#include <bcr/program.h>

#define RETURN_IF(condition, status) \
    do {                             \
        if (condition)               \
            return status;           \
    } while (0)

bcr_region held, pending;
int base;

static volatile int came;

void handler_waits(int cell);
void handler_waits(int cell)
{
    bcr_region never = bcr_deq(bcr_cce, cell + 1, bcr_BLOCK);
    came = never !=
           NULL; /* so that the call is no jump, which would leave nothing of this function on the stack */
}

void look_here(void);
__attribute__((noinline)) void look_here(void)
{
    __asm__ volatile("" ::: "memory");
}

static bcr_region text(const char *words)
{
    bcr_region region = bcr_rgalloc((int)strlen(words), 0);
    if (region != NULL)
        memcpy(*region, words, strlen(words));
    return region;
}

int main(int argc, char **argv)
{
    (void)argc;
    RETURN_IF(bcr_init(0, argv[0]) < 0, 1);
    base = bcr_cagrow(0, 2, 0, 0, 4, 100, 100000);
    RETURN_IF(base < 0, 2);
    held = text("held");
    RETURN_IF(held == NULL || bcr_handler(base + 3, handler_waits, 1, 1, 0) != 0, 3);
    RETURN_IF(bcr_enq(text("first"), bcr_cce, base + 2, bcr_FREE) != 0, 4);
    RETURN_IF(bcr_enq(text("second one, which is longer"), bcr_cce, base + 2, bcr_FREE) != 0, 5);
    pending = bcr_deq(bcr_cce, base, bcr_PENDING);
    RETURN_IF(pending == NULL, 6);
    RETURN_IF(bcr_enq(text("request"), bcr_cce, base + 3, bcr_FREE) != 0, 7);
    bcr_region nothing = bcr_deq(bcr_cce, base + 5, 0); /* the handler runs, and waits */
    RETURN_IF(bcr_note("crecv type 5 \xe2\x82\xac\n\\", bcr_cce) != 0, 8);
    look_here();
    return nothing == NULL ? 0 : 8;
}
