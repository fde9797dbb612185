/* SPDX-License-Identifier: MIT */
/* Process 1 is killed in each state of a message, and 0 has the other side of it. Nobody watches but where it is said. */
#include <signal.h>
#include <unistd.h>

#include "earl_members.h"

enum { TAG = 1, GO = 2, NOTICE = 3 };
enum { LENGTH = 2 << 20 }; /* goes in parts, and not all of it unasked */

static unsigned char *data;

_Noreturn static void die(void)
{
    raise(SIGKILL);
    abort();
}

/* ---- 1 sends ---- */

/* What has come when 1 is dead: all that goes unasked. */
static void die_sending(void)
{
    MUST(earl_isend(0, 1, TAG, data, LENGTH) > 0 && earl_send(0, 1, GO, NULL, 0) == EARL_OK);
    die();
}

static void wait_for_go(void)
{
    const struct earl_wanted go = wants(1, 1, GO);
    MUST(earl_receive(&go, NULL, 0, NULL) == EARL_OK);
}

/* A receive that is posted before, one that waits, and one after the end. */
static void receive_half(void)
{
    const struct earl_wanted wanted = wants(1, 1, TAG);
    struct earl_envelope envelope;
    const earl_request request = earl_ireceive(&wanted, data, LENGTH);
    MUST(earl_wait(request, &envelope) == EARL_E_ENDED && envelope.code == EARL_E_ENDED);
    MUST(envelope.source == 1 && envelope.length == LENGTH);
}

static void receive_half_waiting(void)
{
    const struct earl_wanted wanted = wants(1, EARL_ANY, TAG);
    MUST(earl_receive(&wanted, data, LENGTH, NULL) == EARL_E_ENDED);
}

static void claim_half(void)
{
    const struct earl_wanted wanted = wants(1, 1, TAG);
    struct earl_envelope envelope;
    wait_for_go();
    const earl_request claim = earl_claim(&wanted, 1, &envelope);
    MUST(claim > 0 && envelope.length == LENGTH);
    MUST(earl_claimed(claim, data, LENGTH) == EARL_E_ENDED);
}

static void receive_half_as_buffer(void)
{
    const struct earl_wanted wanted = wants(1, 1, TAG);
    earl_buffer *buffer;
    wait_for_go();
    MUST(earl_buffer_receive(&wanted, 1, &buffer, NULL) == EARL_E_ENDED);
}

/* Nobody gets hold of it before the notice: it is gone. */
static void never_receive_half(void)
{
    const struct earl_wanted wanted = wants(1, EARL_ANY, EARL_ANY), notice = wants(NOTICE, 1, EARL_ANY);
    struct earl_envelope envelope;
    wait_for_go();
    MUST(earl_watch(1, NOTICE, 5) == EARL_OK);
    MUST(earl_receive(&notice, NULL, 0, &envelope) == EARL_OK && envelope.tag == 5);
    MUST(earl_probe(&wanted, 0, &envelope) == 0);
    /* It is told anew to one who asks later. */
    MUST(earl_watch(1, NOTICE, 6) == EARL_OK);
    MUST(earl_receive(&notice, NULL, 0, &envelope) == EARL_OK && envelope.tag == 6);
}

/* ---- 1 receives ---- */

static void die_soon(void)
{
    usleep(100000);
    die();
}

static void die_receiving(void)
{
    const struct earl_wanted wanted = wants(1, 0, GO);
    MUST(earl_receive(&wanted, NULL, 0, NULL) == EARL_OK);
    die();
}

static void send_unmatched(void)
{
    MUST(earl_ssend(1, 1, TAG, data, 8) == EARL_E_ENDED);
    MUST(earl_send(1, 1, TAG, NULL, 0) == EARL_E_ENDED && earl_isend(1, 1, TAG, data, 8) > 0);
}

static void isend_parked(void)
{
    const earl_request request = earl_isend(1, 1, TAG, data, LENGTH), other = earl_issend(1, 1, TAG, data, 8);
    MUST(earl_send(1, 1, GO, NULL, 0) == EARL_OK);
    MUST(earl_wait(request, NULL) == EARL_E_ENDED && earl_wait(other, NULL) == EARL_E_ENDED);
}

/* The inbox of 1 is full (EARL_INBOX), or what may be on its way to another host. */
static void fill_inbox(void)
{
    int code = EARL_OK;
    for (int k = 0; k < 5000 && code == EARL_OK; k++)
        code = earl_send(1, 1, TAG, data, k % 2 == 0 ? 100 : 50000);
    MUST(code == EARL_E_ENDED);
}

static const struct {
    void (*dying)(void), (*living)(void);
} states[] = {
    {die_sending, receive_half},       {die_sending, receive_half_waiting},
    {die_sending, claim_half},         {die_sending, receive_half_as_buffer},
    {die_sending, never_receive_half}, {die_soon, send_unmatched},
    {die_receiving, isend_parked},     {die_soon, fill_inbox},
};

/* number: the state. */
void deaths(void)
{
    MUST(number >= 0 && (size_t)number < sizeof states / sizeof *states);
    data = allocate(LENGTH);
    fill(data, LENGTH, 1);
    if (self == 1)
        states[number].dying();
    else if (self == 0)
        states[number].living();
    free(data);
}
