/* SPDX-License-Identifier: MIT */
/* See wire.h. */
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "bcri/stopped.h"

/* A daemon that a person stops and lets go on at once need not be given up. */
enum { STOPPED_MS = 1000, TURN_MS = 250 };

/* 0: not known, as of one in another namespace. */
static pid_t process_of(int daemon)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return daemon >= 0 && getsockopt(daemon, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

static bool is_stopped(int daemon)
{
    const pid_t pid = process_of(daemon);
    return pid > 0 && bcri_process_stopped((uint32_t)pid);
}

bool enl_is_silent(int daemon, unsigned waited_ms)
{
    return waited_ms >= ENL_PATIENCE_MS || (waited_ms >= STOPPED_MS && is_stopped(daemon));
}

const char *enl_silence(int daemon, char out[ENL_SILENCE_TEXT_MAX])
{
    const pid_t pid = process_of(daemon);
    if (is_stopped(daemon))
        snprintf(
            out, ENL_SILENCE_TEXT_MAX,
            "it does not answer; its daemon, process %ld, is stopped: fg, kill -CONT or enl kill ends that",
            (long)pid);
    else if (pid > 0)
        snprintf(
            out, ENL_SILENCE_TEXT_MAX,
            "it does not answer, though its daemon, process %ld, is not stopped: the machine may have too "
            "much to do",
            (long)pid);
    else
        snprintf(out, ENL_SILENCE_TEXT_MAX,
                 "it does not answer; it is stopped, or the machine has too much to do");
    return out;
}

int enl_hear(int daemon, struct bcri_incoming *in)
{
    const struct timeval turn = {.tv_usec = TURN_MS * 1000};
    unsigned waited_ms = 0;
    int got;
    setsockopt(daemon, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof turn);
    while ((got = bcri_channel_recv(daemon, in, true)) == -EAGAIN && !enl_is_silent(daemon, waited_ms))
        waited_ms += TURN_MS;
    return got;
}
