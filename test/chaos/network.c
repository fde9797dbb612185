/* SPDX-License-Identifier: MIT */
#include "network.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static FILE *cable, *answers;
static uint64_t *state;

static void rest_msec(unsigned msec)
{
    nanosleep(&(struct timespec){.tv_sec = msec / 1000, .tv_nsec = (long)(msec % 1000) * 1000000}, NULL);
}

__attribute__((format(printf, 1, 2))) static void tell_cable(const char *format, ...)
{
    char answer[64];
    va_list arguments;
    va_start(arguments, format);
    vfprintf(cable, format, arguments);
    va_end(arguments);
    CHECK_INT(fflush(cable), 0);
    CHECK(fgets(answer, sizeof answer, answers) != NULL);
    CHECK_STR(answer, "ok\n");
}

bool network_begin(uint64_t *random)
{
    const char *line = getenv("HOSTS_CABLE"), *answer = getenv("HOSTS_ANSWER");
    state = random;
    if (line == NULL || answer == NULL)
        return false;
    cable = fopen(line, "re+");
    answers = fopen(answer, "re+");
    CHECK(cable != NULL && answers != NULL);
    return true;
}

void network_weather(bool bad)
{
    if (cable == NULL)
        return;
    tell_cable("weather %d udp=1\n", bad ? 50 : 0);
    if (!bad)
        tell_cable("* *\n");
}

/* Host 1 of the cable is the root's. */
static void cut(int host, bool from, bool to)
{
    if (from)
        tell_cable("%d * lost=1000\n", host + 1);
    if (to)
        tell_cable("* %d lost=1000\n", host + 1);
}

void network_mend(void)
{
    if (cable == NULL)
        return;
    tell_cable("* *\n");
    network_weather(true);
}

void network_interrupt(int host, pid_t daemon)
{
    const unsigned msec = (unsigned)test_rand_below(state, NETWORK_TIMEOUT_MSEC / 4);
    if (test_rand_below(state, 2) == 0) {
        CHECK_INT(kill(daemon, SIGSTOP), 0);
        rest_msec(msec);
        CHECK_INT(kill(daemon, SIGCONT), 0);
    } else if (cable != NULL) {
        tell_cable("weather 0\n");
        const uint64_t way = test_rand_below(state, 3);
        cut(host, way != 0, way != 1);
        rest_msec(msec);
        network_mend();
    }
}

/* The process by which the root's daemon reaches it. */
static pid_t way_to(int host, pid_t root)
{
    char path[64], name[16], text[4096];
    pid_t pid, found = 0;
    snprintf(name, sizeof name, "local%d", host);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)root, (int)root);
    FILE *children = fopen(path, "re");
    CHECK(children != NULL);
    while (fscanf(children, "%d", &pid) == 1) {
        snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
        FILE *command = fopen(path, "re");
        const size_t length = command != NULL ? fread(text, 1, sizeof text, command) : 0;
        if (memmem(text, length, name, strlen(name) + 1) != NULL && memmem(text, length, "ssh", 4) != NULL)
            found = pid;
        if (command != NULL)
            fclose(command);
    }
    fclose(children);
    return found;
}

const char *network_lose(int host, pid_t daemon, pid_t root)
{
    static const char *const ways[] = {"it was killed",        "its daemon stood",  "what it sent was lost",
                                       "nothing came through", "its cable was cut", "its ssh was killed"};
    const pid_t ssh = cable != NULL ? way_to(host, root) : 0;
    const uint64_t way = cable != NULL ? test_rand_below(state, ssh != 0 ? 6 : 2) : 0;
    switch (way) {
    case 0: CHECK_INT(kill(daemon, SIGKILL), 0); break;
    case 1:
        CHECK_INT(kill(daemon, SIGSTOP), 0);
        rest_msec(NETWORK_TIMEOUT_MSEC * 5 / 4);
        CHECK_INT(kill(daemon, SIGCONT), 0);
        break;
    case 5: CHECK_INT(kill(ssh, SIGKILL), 0); break;
    default: tell_cable("weather 0\n"); cut(host, way != 3, way != 2);
    }
    return ways[way];
}
