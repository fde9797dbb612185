/* SPDX-License-Identifier: MIT */
/* await.c -- a member of a team that nobody starts: BCR_AWAIT, BCR_TEAM, BCR_RANK and BCR_HOSTS say which. Member 0 becomes
 * the root, as any process that a shell has started, and its daemon asks for the others; these wait here until
 * the daemon of their host has connected (bcri/rendezvous.h), and then say hello on that connection. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/client.h"
#include "bcri/clock.h"
#include "bcri/config.h"
#include "bcri/environment.h"
#include "bcri/record.h"
#include "bcri/rendezvous.h"

static const char *const variables[] = {BCRI_AWAIT_ENV, BCRI_AWAIT_TEAM_ENV, BCRI_AWAIT_RANK_ENV,
                                        BCRI_AWAIT_HOSTS_ENV};

/* The value of that variable as a number. False: it has none, or one out of range. */
static bool take_number(const char *name, uint32_t least, uint32_t most, uint32_t *number_out)
{
    const char *text = secure_getenv(name);
    char *end = NULL;
    errno = 0;
    const unsigned long number =
        text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || errno != 0 || number < least || number > most) {
        bcri_client_complain("%s=%s is no number from %u to %u, which " BCRI_AWAIT_ENV " needs", name,
                             text != NULL ? text : "", least, most);
        return false;
    }
    *number_out = (uint32_t)number;
    return true;
}

static int take(struct bcri_client_await *await)
{
    const char *key = secure_getenv(BCRI_AWAIT_ENV), *hosts = secure_getenv(BCRI_AWAIT_HOSTS_ENV);
    if (!bcri_rendezvous_is_key(key)) {
        bcri_client_complain(BCRI_AWAIT_ENV
                             "=%s is no key: that is 1 to %u letters, digits, dots, underscores and hyphens",
                             key, BCRI_AWAIT_KEY_MAX);
        return bcrE_ARG;
    }
    if (!take_number(BCRI_AWAIT_TEAM_ENV, 1, BCRI_CCE_MAX, &await->members) ||
        !take_number(BCRI_AWAIT_RANK_ENV, 0, await->members - 1, &await->rank))
        return bcrE_ARG;
    snprintf(await->key, sizeof await->key, "%s", key);
    if (hosts != NULL && hosts[0] == '\0') {
        bcri_client_complain(BCRI_AWAIT_HOSTS_ENV
                             " names no host; leave it out if there is no list, or it is hostsfile");
        return bcrE_ARG;
    }
    if (hosts != NULL && await->rank == 0 && (await->hosts = strdup(hosts)) == NULL)
        return bcrE_NOMEM;
    return 0;
}

int bcri_client_await_take(struct bcri_client_await *await_out)
{
    *await_out = (struct bcri_client_await){.members = 0};
    const int code = secure_getenv(BCRI_AWAIT_ENV) != NULL ? take(await_out) : 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    return code;
}

/* How long to wait, in milliseconds; -1: the settings are bad, which was said. */
static int patience(void)
{
    struct bcri_config config;
    char reason[512];
    if (bcri_config_load(&config, NULL, reason, sizeof reason) != 0) {
        bcri_client_complain("%s", reason);
        return -1;
    }
    const int msec = config.awaittimeout;
    bcri_config_fini(&config);
    return msec;
}

/* The daemon, if it is there already, learns that this member is. */
static void be_noticed(const struct bcri_client_await *await)
{
    const int fd = bcri_rendezvous_connect(BCRI_RENDEZVOUS_DAEMON, await->key, await->rank);
    if (fd >= 0)
        close(fd);
}

/* The connection of the daemon, or a negative bcrE_ code. */
static int take_daemon(const struct bcri_client_await *await, int listening, uint64_t until_ns)
{
    for (bool said = false;;) {
        struct pollfd look = {.fd = listening, .events = POLLIN};
        const uint64_t now_ns = bcri_clock_ns();
        const uint64_t left_ms = now_ns < until_ns ? (until_ns - now_ns) / BCRI_NS_PER_MS + 1 : 0;
        const int ready = poll(&look, 1, (int)left_ms);
        if (ready == 0) {
            bcri_client_complain(
                "no enl has asked for member %u of %s in time (awaittimeout): is member 0 started, and is "
                "this its host in " BCRI_AWAIT_HOSTS_ENV "?",
                await->rank, await->key);
            return -bcrE_TIMEOUT;
        }
        if (ready < 0 && errno != EINTR)
            return -bcrE_NOMEM;
        const int fd = ready > 0 ? bcri_rendezvous_accept(listening) : -EAGAIN;
        if (fd >= 0)
            return fd;
        if (fd == -EPERM) {
            if (!said) /* such a process may come as often as it likes */
                bcri_client_complain("a process of another user asked for member %u of %s, and was refused",
                                     await->rank, await->key);
            said = true;
            be_noticed(await); /* the daemon may have found no room among such */
        }
    }
}

/* Listens at that address of the member. Returns the socket, or a negative bcrE_ code with a sentence on stderr. */
static int make_address(const struct bcri_client_await *await, enum bcri_rendezvous_side side)
{
    const int fd = bcri_rendezvous_listen(side, await->key, await->rank);
    if (fd >= 0)
        return fd;
    if (fd == -EADDRINUSE)
        bcri_client_complain(
            "another process waits as member %u of %s here, or is it already; programs that run at once "
            "need keys of their own",
            await->rank, await->key);
    else
        bcri_client_complain("cannot wait to be member %u of %s: %s", await->rank, await->key, strerror(-fd));
    return fd == -EADDRINUSE ? -bcrE_BUSY : -bcrE_NOMEM;
}

int bcri_client_await(struct bcri_client *client, const struct bcri_client_await *await)
{
    const int msec = patience();
    if (msec < 0)
        return -bcrE_ARG;
    const uint64_t until_ns = bcri_clock_ns() + (uint64_t)msec * BCRI_NS_PER_MS;
    const int taken = make_address(await, BCRI_RENDEZVOUS_TAKEN);
    if (taken < 0)
        return taken;
    client->taken = taken;
    const int listening = make_address(await, BCRI_RENDEZVOUS_MEMBER);
    if (listening < 0)
        return listening;
    be_noticed(await);
    const int fd = take_daemon(await, listening, until_ns);
    close(listening);
    return fd;
}
