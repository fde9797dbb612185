/* SPDX-License-Identifier: MIT */
/* See look_private.h. */
#include "inspect/look/look_private.h"

#include <inttypes.h>
#include <stdarg.h>
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

const char *look_text(const char *format, ...)
{
    static char ring[LOOK_TEXTS][640];
    static unsigned next;
    char *text = ring[next++ % LOOK_TEXTS];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof ring[0], format, arguments);
    va_end(arguments);
    return text;
}

const char *look_say_name(const char *name)
{
    char text[4 * LOOK_TEXT_MAX + 1];
    bcri_escape(name, strlen(name), text, sizeof text, NULL);
    return look_text("%s", text);
}

const char *look_say_cce(const struct look_view *view, uint64_t host, uint64_t index)
{
    const struct look_cce *cce = look_view_cce(view, host, index);
    const struct look_host *at = look_view_host(view, host);
    if (index == BCRI_ENL_INDEX)
        return "enl";
    if (cce == NULL)
        return "a CCE that has ended";
    const bool named = at != NULL && at->hostname[0] != '\0';
    return look_text("CCE %" PRIu64 "%s%s", cce->ordinal,
                     is_ambiguous(view, cce) ? look_text(" (pid %" PRIu64 ")", cce->pid) : "",
                     view->host.count <= 1 ? ""
                     : named               ? look_text(" on %.100s", look_say_name(at->hostname))
                                           : look_text(" on host %" PRIu64, host));
}

const char *look_say_host(const struct look_view *view, uint64_t number)
{
    const struct look_host *host = look_view_host(view, number);
    return host != NULL ? look_text("host %" PRIu64 " (%s)", number, look_say_name(host->hostname))
                        : look_text("host %" PRIu64, number);
}

const char *look_say_cell(const struct look_view *view, const struct look_wait *wait)
{
    return look_text("cell %" PRIu64 " of %s", wait->cell, look_say_cce(view, wait->owner_host, wait->owner));
}

const char *look_say_time(uint64_t ns)
{
    return look_text("%" PRIu64 ".%" PRIu64 " s", ns / BCRI_NS_PER_S, ns / (BCRI_NS_PER_S / 10) % 10);
}

const char *look_say_age(uint64_t now_ns, uint64_t since_ns)
{
    return since_ns == 0 ? "never" : look_say_time(now_ns > since_ns ? now_ns - since_ns : 0);
}

const char *look_say_oldest(const struct look_view *view, const struct look_cell *cell)
{
    const uint64_t now_ns = look_view_now(view, cell->host);
    return cell->oldest_ns != 0 && cell->oldest_ns != now_ns ? look_say_age(now_ns, cell->oldest_ns) : "-";
}

const char *look_say_wait(const struct look_view *view, const struct look_wait *wait)
{
    static const char *const verbs[BCRI_ORDER_SYNC] = {
        [BCRI_ORDER_TAKE] = "waits for a region from",       [BCRI_ORDER_READ] = "waits to read",
        [BCRI_ORDER_LOCK] = "waits for the write lock of",   [BCRI_ORDER_PUT] = "waits for room to put into",
        [BCRI_ORDER_WRITE] = "waits for room to write into", [BCRI_ORDER_RETURN] = "gives a region back to",
        [BCRI_ORDER_ZAP] = "waits for the zap of",           [BCRI_ORDER_LENGTH] = "waits for the length of"};
    if (wait->want == BCRI_ORDER_SYNC)
        return "waits until its puts to other hosts have arrived";
    return look_text("%s %s", wait->want < BCRI_ORDER_SYNC ? verbs[wait->want] : "waits for something at",
                     look_say_cell(view, wait));
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
