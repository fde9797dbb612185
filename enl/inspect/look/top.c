/* SPDX-License-Identifier: MIT */
/* top.c -- enl top on a terminal: looks, draws, and hears keys. */
#include "inspect/look/look.h"

#include <stdlib.h>

#include "bcri/clock.h"
#include "inspect/look/look_private.h"
#include "wire/wire.h"

struct screen {
    struct look_top top;
    struct look_series series;
    char *complaint; /* of the last look */
    unsigned page;
};

/* Looks again. False: the program cannot be looked at any more; the complaint tells why. */
static bool refresh(struct screen *screen)
{
    size_t length;
    free(screen->complaint);
    screen->complaint = NULL;
    FILE *complaints = open_memstream(&screen->complaint, &length);
    if (complaints == NULL)
        return false;
    const bool got = look_again(&screen->series, complaints);
    fclose(complaints);
    screen->top.complaint = length != 0 ? screen->complaint : NULL;
    return got;
}

static bool draw(struct screen *screen)
{
    char *bytes = NULL;
    size_t length;
    FILE *out = open_memstream(&bytes, &length);
    if (out == NULL)
        return false;
    look_terminal_size(&screen->top.columns, &screen->top.rows);
    screen->page = look_top_show(out, &screen->top, &screen->series.view);
    fclose(out);
    const bool drawn = bytes != NULL && look_terminal_draw(bytes, length);
    free(bytes);
    return drawn;
}

/* Hears keys until it is time for the next look. False: leave. */
static bool hear_keys(struct screen *screen, uint64_t until_ns)
{
    for (;;) {
        switch (look_terminal_key(until_ns)) {
        case LOOK_KEY_NONE: return true;
        case LOOK_KEY_GONE:
        case 'q':
        case 'Q': return false;
        case 's':
            screen->top.order = (screen->top.order + 1) % LOOK_TOP_ORDERS;
            screen->top.first = 0;
            break;
        case ' ': screen->top.first += screen->page; break;
        case 'b':
            screen->top.first = screen->top.first > screen->page ? screen->top.first - screen->page : 0;
            break;
        default: break;
        }
        if (!draw(screen))
            return false;
    }
}

/* Until its user leaves (true), or the program cannot be looked at (false). One look was made. */
static bool run_top(struct screen *screen)
{
    do {
        const uint64_t until_ns = bcri_clock_ns() + BCRI_NS_PER_S;
        if (!draw(screen) || !hear_keys(screen, until_ns))
            return true;
    } while (refresh(screen));
    return false;
}

static int top(struct screen *screen)
{
    bool well = refresh(screen);
    const char *wrong = well ? look_terminal_open(LOOK_TOP_COLUMNS, LOOK_TOP_ROWS) : NULL;
    if (wrong != NULL) {
        fprintf(stderr, "enl: enl top: %s\n", wrong);
        return 1;
    }
    if (well)
        well = run_top(screen);
    look_terminal_close();
    if (!well)
        fputs(screen->complaint != NULL ? screen->complaint : "enl: no memory\n", stderr);
    return well ? 0 : 1;
}

int enl_command_top(const char *name)
{
    char only[ENL_DAEMON_NAME_MAX];
    struct screen screen = {.series.names = true};
    screen.top.program = screen.series.program = enl_daemon_of(name, only);
    if (screen.top.program == NULL)
        return 1;
    const int status = top(&screen);
    free(screen.complaint);
    look_series_fini(&screen.series);
    return status;
}
