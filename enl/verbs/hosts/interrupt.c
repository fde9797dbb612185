/* SPDX-License-Identifier: MIT */
/* See hosts_private.h. What has come is never read, so it stays pending until the signals have their effect again. */
#include "verbs/hosts/hosts_private.h"

#include <sys/signalfd.h>
#include <unistd.h>

void enl_interrupt_begin(struct enl_interrupt *interrupt_out)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    sigset_t wanted;
    sigemptyset(&wanted);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction now; /* a blocked signal is kept although it is ignored */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaddset(&wanted, numbers[i]);
    }
    interrupt_out->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (interrupt_out->fd >= 0)
        sigprocmask(SIG_BLOCK, &wanted, &interrupt_out->before);
}

void enl_interrupt_end(struct enl_interrupt *interrupt)
{
    if (interrupt->fd < 0)
        return;
    close(interrupt->fd);
    sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
