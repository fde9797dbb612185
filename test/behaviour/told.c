/* SPDX-License-Identifier: MIT */
/* What other CCEs are told to do, and shorthands: behave.h. behave.c or behave_sim.c starts them. */
#include <bcr/program.h>

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "behave.h"

#include "cce.h"
#include "verbs.h"

const struct place *place;
struct cce *me, *owner;
bcr_cce_id there;

bcr_cce_id name_of(struct cce *cce)
{
    return cce->name;
}

static void vtell(struct cce *who, const char *format, va_list arguments)
{
    CHECK(!who->gone);
    vfprintf(who->out, format, arguments);
    fputc('\n', who->out);
    CHECK_INT(fflush(who->out), 0);
}

void begin(struct cce *who, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vtell(who, format, arguments);
    va_end(arguments);
}

int result_of(struct cce *who)
{
    char line[64];
    int result, code;
    if (fgets(line, sizeof line, who->in) == NULL || sscanf(line, "%d %d", &result, &code) != 2)
        FAIL("CCE %d has ended instead of an answer", who->name);
    bcr_errno = code;
    return result;
}

int by(struct cce *who, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    if (who == me)
        vsnprintf(line, sizeof line, format, arguments);
    else
        vtell(who, format, arguments);
    va_end(arguments);
    return who == me ? verb_do(line, &there) : result_of(who);
}

void leave(struct cce *who)
{
    char line[64];
    begin(who, "exit 0");
    CHECK_PTR(fgets(line, sizeof line, who->in), NULL);
    who->gone = true;
    while (bcr_celllen(who->name, MEETING_CELL) >= 0) /* until the daemon has seen it */
        continue;
    CHECK_INT(bcr_errno, bcrE_DEAD);
}

void turn_round(struct cce *who)
{
    CHECK_INT(bcr_send(&bcr_cce, sizeof bcr_cce, bcrT_1CCE, 1, who->name, MEETING_CELL, 1, 0), 2);
    CHECK(by(who, "meet") > 0);
}

/* ---- shorthands ---- */

int grow(int cells, int nrgns, int nbytes)
{
    if (nbytes > 0)
        CHECK(bcr_cagrow(MY_MEMORY, 0, 0, 0, 0, nrgns, nbytes) > 0);
    const int base = by(owner, "grow 0 0 0 0 %d %d 0", cells, nrgns);
    CHECK(base >= 1);
    return base;
}

static bool is_timed; /* the putwait of this CCE */

void putwait(int msec)
{
    CHECK_INT(bcr_putwait(msec), 0);
    is_timed = msec >= 0;
}

int put(int cell, int value)
{
    const int returned = bcr_enq(number(value), there, cell, bcr_FREE);
    CHECK_INT(bcr_putdone(bcr_BLOCK), 1);
    return returned;
}

void arrive(void)
{
    if (place->far)
        (void)bcr_celllen(there, MEETING_CELL);
}

int take(int cell)
{
    return value_of(bcr_deq(there, cell, 0));
}

void error_is(int code, int operation, bcr_cce_id cce, int cell)
{
    int error[4];
    bcr_region rgid = bcr_deq(bcr_cce, 0, place->far ? bcr_BLOCK : 0);
    CHECK(rgid != NULL);
    CHECK_INT(bcr_rgerror(rgid), code);
    CHECK_INT(bcr_rgkind(rgid), bcr_ERROR);
    CHECK(bcr_copyfm(bcrT_1ERROR, 1, rgid, 0, error, sizeof error) >= 2);
    CHECK_INT(error[0], code);
    CHECK_INT(error[1], operation);
    CHECK_INT(error[2], cce);
    CHECK_INT(error[3], cell);
    CHECK_INT(bcr_rgfree(rgid), 0);
}

void refused(const char *file, int line, int returned, bcr_region rgid, int cell, int code)
{
    const int error = bcr_errno;
    if (returned == 0 && place->far && !is_timed) {
        error_is(code, bcr_op_put, there, cell);
        (void)bcr_rgfree(rgid); /* a put with nofree */
        return;
    }
    check_int(file, line, "what the put returned", returned, -1);
    check_int(file, line, "bcr_errno of the put", error, code);
    void *data = *rgid;
    CHECK_INT(bcr_rgmod(rgid), 0);
    CHECK_PTR(*rgid, data); /* no other CCE got a share */
    CHECK_INT(bcr_rgfree(rgid), 0);
}

void get_fails(const char *file, int line, bcr_region returned, int code)
{
    if (returned != NULL && place->far)
        check_int(file, line, "what rgwait returned", bcr_rgwait(returned, bcr_BLOCK, 0), -1);
    else
        check_int(file, line, "whether the get returned NULL", returned == NULL, 1);
    check_int(file, line, "bcr_errno of the get", bcr_errno, code);
}

int64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
