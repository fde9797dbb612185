/* SPDX-License-Identifier: MIT */
/* debug.c -- bcr_debug: asks the daemon for a debugger, with one message that nobody answers, and waits for it.
 *
 * The caller may be a signal handler that has interrupted anything, malloc and the library itself too, on an alternate stack
 * of 8 KB. So this takes no lock, touches nothing that the library keeps but where the socket is, and has the message on its
 * stack. Messages are records, so one that another thread sends meanwhile stays whole. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <bcr/program.h>

#include "bcri/client.h"
#include "bcri/self.h"

/* As a program ends that nobody can debug, whatever it has made of SIGABRT. */
static _Noreturn void end_alone(const char *sentence)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t aborts;
    (void)!write(STDERR_FILENO, sentence, strlen(sentence));
    sigaction(SIGABRT, &action, NULL);
    sigemptyset(&aborts);
    sigaddset(&aborts, SIGABRT);
    raise(SIGABRT);
    pthread_sigmask(SIG_UNBLOCK, &aborts, NULL);
    _exit(134);
}

static void send_when_there_is_room(int fd, const uint8_t *bytes, size_t length)
{
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    while (bcri_channel_send_bytes(fd, bytes, length, NULL, 0, false) == -EAGAIN)
        (void)poll(&look, 1, -1);
}

void bcr_debug(const char *where, int most)
{
    const struct bcri_ctx *ctx = bcri_self();
    const struct bcri_client *client = ctx != NULL ? ctx->client : NULL;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (client == NULL || client->pid != getpid())
        end_alone("bcr: bcr_debug: there is no enl here that could open a debugger\n");
    if (!bcri_client_has_socket(client))
        end_alone("bcr: bcr_debug: this program has closed its connection to enl\n");

    uint8_t bytes[BCRI_CONTROL_TEXT_MAX + 64];
    struct bcri_control message = {
        .type = BCRI_MSG_debug,
        .present = BCRI_HAS(count),
        .count = most <= 0                  ? 0
                 : most > (int)BCRI_CCE_MAX ? BCRI_CCE_MAX
                                            : (uint32_t)most,
    };
    if (where != NULL) {
        message.present |= BCRI_HAS(text);
        message.text = (struct bcri_view){where, (uint32_t)strnlen(where, BCRI_CONTROL_TEXT_MAX)};
    }
    send_when_there_is_room(client->fd, bytes, bcri_control_encode(&message, bytes, sizeof bytes));
    for (;;) /* until the daemon kills this process, or has ended itself */
        pause();
}
