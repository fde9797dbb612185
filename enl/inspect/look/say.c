/* SPDX-License-Identifier: MIT */
/* See look_private.h. */
#include "inspect/look/look_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bcri/cell.h"
#include "bcri/clock.h"
#include "bcri/escape.h"
#include "bcri/order.h"
#include "bcri/record.h"

static bool is_ambiguous(const struct look_view *view, const struct look_cce *one)
{
    for (size_t i = 0; i < view->cce.count; i++) {
        const struct look_cce *other = &view->cce.at[i];
        if (other != one && other->ordinal == one->ordinal && other->state != BCRI_CCE_DEAD)
            return true;
    }
    return false;
}

/* " on alpha"; of another machine's daemon, so it is escaped. */
static void say_host(const struct look_view *view, uint64_t host, char out[LOOK_NAME_MAX])
{
    const struct look_host *at = look_view_host(view, host);
    char name[LOOK_TEXT_MAX];
    if (at == NULL || at->hostname[0] == '\0')
        snprintf(out, LOOK_NAME_MAX, " on host %" PRIu64, host);
    else {
        bcri_escape(at->hostname, strlen(at->hostname), name, sizeof name, NULL);
        snprintf(out, LOOK_NAME_MAX, " on %.100s", name);
    }
}

const char *look_say_cce(const struct look_view *view, uint64_t host, uint64_t index, char *out)
{
    const struct look_cce *cce = look_view_cce(view, host, index);
    if (index == BCRI_ENL_INDEX)
        snprintf(out, LOOK_NAME_MAX, "enl");
    else if (cce == NULL)
        snprintf(out, LOOK_NAME_MAX, "a CCE that has ended");
    else {
        char process[40] = "", on[LOOK_NAME_MAX] = "";
        if (is_ambiguous(view, cce))
            snprintf(process, sizeof process, " (pid %" PRIu64 ")", cce->pid);
        if (view->host.count > 1)
            say_host(view, host, on);
        snprintf(out, LOOK_NAME_MAX, "CCE %" PRIu64 "%s%.120s", cce->ordinal, process, on);
    }
    return out;
}

const char *look_say_host(const struct look_view *view, uint64_t number, char *out)
{
    const struct look_host *host = look_view_host(view, number);
    char name[LOOK_NAME_MAX - 32];
    if (host == NULL) {
        snprintf(out, LOOK_NAME_MAX, "host %" PRIu64, number);
        return out;
    }
    bcri_escape(host->hostname, strlen(host->hostname), name, sizeof name, NULL);
    snprintf(out, LOOK_NAME_MAX, "host %" PRIu64 " (%s)", number, name);
    return out;
}

const char *look_say_cell(const struct look_view *view, uint64_t host, uint64_t owner, uint64_t cell,
                          char *out)
{
    char name[LOOK_NAME_MAX];
    snprintf(out, LOOK_NAME_MAX, "cell %" PRIu64 " of %.150s", cell, look_say_cce(view, host, owner, name));
    return out;
}

const char *look_say_age(uint64_t now_ns, uint64_t since_ns, char *out)
{
    const uint64_t age_ns = now_ns > since_ns ? now_ns - since_ns : 0;
    if (since_ns == 0)
        snprintf(out, LOOK_NAME_MAX, "never");
    else
        snprintf(out, LOOK_NAME_MAX, "%" PRIu64 ".%" PRIu64 " s", age_ns / BCRI_NS_PER_S,
                 age_ns / (BCRI_NS_PER_S / 10) % 10);
    return out;
}

const char *look_say_wait(const struct look_view *view, const struct look_wait *wait, char *out, size_t size)
{
    static const char *const verbs[BCRI_ORDER_OPS] = {[BCRI_ORDER_TAKE] = "waits for a region from ",
                                                      [BCRI_ORDER_READ] = "waits to read ",
                                                      [BCRI_ORDER_LOCK] = "waits for the write lock of ",
                                                      [BCRI_ORDER_PUT] = "waits for room to put into ",
                                                      [BCRI_ORDER_WRITE] = "waits for room to write into ",
                                                      [BCRI_ORDER_RETURN] = "gives a region back to ",
                                                      [BCRI_ORDER_ZAP] = "waits for the zap of ",
                                                      [BCRI_ORDER_LENGTH] = "waits for the length of "};
    char cell[LOOK_NAME_MAX];
    if (wait->want == BCRI_ORDER_SYNC)
        snprintf(out, size, "waits until its puts to other hosts have arrived");
    else
        snprintf(out, size, "%s%s",
                 wait->want < BCRI_ORDER_OPS ? verbs[wait->want] : "waits for something at ",
                 look_say_cell(view, wait->owner_host, wait->owner, wait->cell, cell));
    return out;
}

const char *look_say_state(const struct look_cce *cce)
{
    if (cce->state == BCRI_CCE_STARTING)
        return "starting";
    if (cce->state != BCRI_CCE_ALIVE)
        return cce->state == BCRI_CCE_DYING ? "dying" : "ended";
    if (cce->process == 'T')
        return "stopped";
    if (cce->process == 't')
        return "traced";
    if (cce->holder != 0)
        return "locked";
    if (look_is_asleep(cce))
        return "waits";
    return cce->outside == LOOK_OUTSIDE_POLLS    ? "polls"
           : cce->outside == LOOK_OUTSIDE_SLEEPS ? "sleeps"
                                                 : "runs";
}

const char *look_say_kind(uint64_t kind)
{
    static const char *const names[] = {"private", "in", "out", "in/out"};
    return kind <= BCRI_CELL_INOUT ? names[kind] : "?";
}
