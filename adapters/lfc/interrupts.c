/* SPDX-License-Identifier: MIT */
/* interrupts.c -- SIGIO: when it makes upcalls, and when it may not.
 *
 *   outside of LFC, enabled    the handler takes what has come, and makes the upcalls, between bcr_sigenter and bcr_sigleave
 *   in a routine of LFC        it notes that it was there (`pending`); the routine makes the upcalls when it returns, or, if it
 *                              may not, has another signal sent
 *   disabled                   the same note, for the outermost lfc_intr_enable
 *
 * The program may have a handler of SIGIO of its own, which calls lfc_poll: that leaves the note, too. */
#include <stdlib.h>

#include "lfc_private.h"

void lfc_arm(void)
{
    if (lfc_self.is_armed)
        return;
    if (bcr_fd(CELL_PACKETS) < 0)
        lfc_fail_bcr("lfc_intr_enable");
    lfc_self.is_armed = true;
}

/* Makes the upcalls for what has come; interrupts are enabled. */
static void serve(void)
{
    lfc_self.by_interrupt = true;
    do {
        lfc_self.pending = 0;
        lfc_progress(true);
    } while (lfc_self.pending != 0 && lfc_self.disabled == 0);
    lfc_self.by_interrupt = false;
}

void lfc_fail_state(const char *routine)
{
    lfc_fail(routine, lfc_self.is_over ? "lfc_exit was called before" : "lfc_start has not been called");
}

void lfc_leave_interruptible(bool upcalls_allowed)
{
    if (lfc_self.inside == 1 && lfc_self.disabled == 0 && (lfc_self.pending != 0 || lfc_has_waiting())) {
        if (upcalls_allowed)
            serve();
        else
            adapter_interrupt_kick(&lfc_self.interrupt);
    }
    lfc_self.inside--;
    /* A signal that came behind the look, and before the line above, has left its note. */
    if (lfc_self.pending != 0 && lfc_self.inside == 0 && lfc_self.disabled == 0)
        adapter_interrupt_kick(&lfc_self.interrupt);
}

static void on_sigio(int signal)
{
    (void)signal;
    lfc_self.counts[COUNT_SIGNALS]++;
    lfc_self.pending = 1;
    if (lfc_self.inside != 0 || lfc_self.disabled != 0)
        return;
    const int code = bcr_errno;
    if (bcr_sigenter() != 0) { /* the program itself is in BCR: the helper will send another one */
        bcr_errno = code;
        return;
    }
    lfc_self.inside++;
    serve();
    lfc_self.inside--;
    (void)bcr_sigleave();
}

/* The first lfc_intr_enable. */
static void begin(void)
{
    const struct sigaction action = {.sa_handler = on_sigio, .sa_flags = SA_RESTART};
    struct sigaction before;
    const int fd = bcr_fd(CELL_PACKETS);
    if (fd < 0)
        lfc_fail_bcr("lfc_intr_enable");
    if (sigaction(SIGIO, NULL, &before) == 0 &&
        (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)) /* which a starter may have left */
        sigaction(SIGIO, &action, NULL);
    lfc_self.interrupt.fd = fd;
    lfc_self.interrupt.first_us = lfc_self.options.intr_first;
    lfc_self.interrupt.next_us = lfc_self.options.intr_next;
    lfc_self.interrupt.target = pthread_self();
    const int error = adapter_interrupt_start(&lfc_self.interrupt);
    if (error != 0)
        lfc_fail("lfc_intr_enable", "no thread for interrupts: %s", strerror(error));
    lfc_self.has_helper = true;
}

void lfc_interrupts_follow(void)
{
    const bool is_enabled = lfc_self.disabled == 0;
    if (is_enabled == atomic_load_explicit(&lfc_self.interrupt.enabled, memory_order_relaxed))
        return;
    if (is_enabled && !lfc_self.has_helper && !lfc_self.options.no_intr)
        begin();
    atomic_store(&lfc_self.interrupt.enabled, is_enabled);
    if (is_enabled)
        lfc_self.pending = 1; /* for what came meanwhile */
}

void lfc_intr_enable(void)
{
    lfc_enter("lfc_intr_enable");
    if (lfc_self.disabled <= lfc_upcalls_running())
        lfc_fail("lfc_intr_enable", "%s: it undoes an lfc_intr_disable",
                 lfc_self.disabled == 0 ? "interrupts are enabled" : "an upcall is running");
    if (--lfc_self.disabled == 0)
        lfc_interrupts_follow();
    lfc_leave(true);
}

void lfc_intr_disable(void)
{
    lfc_enter("lfc_intr_disable");
    if (lfc_self.disabled++ == 0)
        lfc_interrupts_follow();
    lfc_leave(false);
}

int lfc_intr_status(void)
{
    return lfc_self.disabled == 0;
}

void lfc_interrupts_end(void)
{
    lfc_self.disabled++;
    if (lfc_self.has_helper)
        adapter_interrupt_stop(&lfc_self.interrupt);
    lfc_self.has_helper = false;
}
