/* SPDX-License-Identifier: MIT */
/* Hosts that come and go: scenarios of earl_worlds. */
#include <signal.h>
#include <unistd.h>

#include "earl_worlds.h"

enum { CONTEXT = 5, TAG = 8, DAEMON = 9, END = 10 };

/* The next message that a host has come or gone. */
static void must_tell(int host, int has_come)
{
    const struct earl_wanted wanted = {CONTEXT, 0, TAG, NULL, NULL};
    struct earl_envelope envelope;
    earl_buffer *buffer;
    int told[2];
    MUST(earl_buffer_receive(&wanted, 1, &buffer, &envelope) == 1);
    MUST(earl_unpack(buffer, EARL_INT, told, 2, 1) == EARL_OK);
    earl_buffer_free(buffer);
    MUST(told[0] == host && told[1] == has_come);
}

static void must_be(int host, const char *name, int is_there)
{
    struct earl_exec_machine told;
    char text[256];
    MUST(earl_exec_machine(host, &told) == EARL_OK && told.host == host);
    MUST(strcmp(told.name, name) == 0 && told.is_there == is_there && told.is_up == is_there);
    MUST(told.layout != 0 && told.machine[0] != '\0');
    MUST(earl_exec_host(host, text, sizeof text) == (int)strlen(name) && strcmp(text, name) == 0);
}

static int start_on(const char *host, const char *what)
{
    const char *const arguments[] = {what, NULL};
    const struct earl_exec_start spec = {.file = own_file, .arguments = arguments, .count = 1, .host = host};
    int process;
    return earl_exec_start(&spec, &process) == 1 ? process : EARL_E_NONE;
}

static int host_of(int process)
{
    struct earl_exec_process told;
    MUST(earl_exec_process(process, &told) == EARL_OK);
    return told.host;
}

/* Tells its parent which process its daemon is, and ends. */
void daemon_of(void)
{
    MUST(earl_begin("daemon") == EARL_OK);
    const int daemon = (int)getppid();
    MUST(earl_send(earl_exec_parent(), CONTEXT, DAEMON, &daemon, sizeof daemon) == EARL_OK);
}

static void must_refuse(void)
{
    static const char *const lines[] = {"", " a", "a b", "a[1-2] local", "a[1-1] local", "a slots=0"};
    struct earl_exec_machine told;
    char own[256];
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        MUST(earl_exec_hostadd(lines[i]) == EARL_E_ARG);
    MUST(earl_exec_hostadd(NULL) == EARL_E_ARG && earl_exec_hostdel(NULL) == EARL_E_ARG);
    MUST(earl_exec_hostdel("") == EARL_E_ARG && earl_exec_hostdel("no.such.host") == EARL_E_HOST);
    MUST(gethostname(own, sizeof own) == 0 && earl_exec_hostdel(own) == EARL_E_ARG);
    MUST(earl_exec_machine(-1, &told) == EARL_E_ARG && earl_exec_machine(0, NULL) == EARL_E_ARG);
    MUST(earl_exec_machine(999, &told) == EARL_E_NONE);
    MUST(earl_exec_hostwatch(CONTEXT, -2) == EARL_E_ARG &&
         earl_exec_hostwatch(EARL_CONTEXTS, 1) == EARL_E_ARG);
}

/* Its end is told to one who asks when it and its host have gone. */
static void must_be_told_of(int process)
{
    const struct earl_wanted end = {CONTEXT, process, END, NULL, NULL};
    MUST(earl_watch(process, CONTEXT, END) == EARL_OK);
    MUST(earl_receive(&end, NULL, 0, NULL) == EARL_OK);
}

/* Its loss is told though nothing runs there but what EXEC has for that. */
static void lose(const char *name, int host)
{
    const int child = start_on(name, "daemon_of");
    const struct earl_wanted wanted = {CONTEXT, child, DAEMON, NULL, NULL};
    struct earl_exec_process told;
    int daemon;
    MUST(child > 0 && earl_receive(&wanted, &daemon, sizeof daemon, NULL) == EARL_OK);
    MUST(earl_exec_await(1, &child, &told) == EARL_OK && told.how == EARL_HOW_EXITED);
    MUST(kill(daemon, SIGKILL) == 0);
    must_tell(host, 0);
    must_be(host, name, 0);
    must_be_told_of(child);
}

void hosts_change(void)
{
    struct earl_exec_process told;
    MUST(earl_exec_hostadd("one local") == EARL_E_STATE && earl_exec_hostwatch(1, 1) == EARL_E_STATE);
    begin();
    MUST(earl_exec_hostwatch(CONTEXT, TAG) == EARL_OK);
    must_refuse();
    const int one = earl_exec_hostadd("one local slots=2");
    MUST(one > 0 && earl_exec_hostadd("ONE local") == EARL_E_BUSY);
    must_tell(one, 1);
    must_be(one, "one", 1);
    int child = start_on("one", "stays");
    MUST(host_of(child) == one && host_of(self) != one && earl_host(child) != earl_host(self));
    const int other = start_on("one", "stays"); /* who that is EXEC is not asked before it is gone */
    MUST(other > 0 && earl_exec_list(NULL, 0) == 3);

    /* With what runs there. */
    MUST(earl_exec_hostdel("one") == EARL_OK);
    must_tell(one, 0);
    must_be(one, "one", 0);
    MUST(earl_exec_await(1, &child, &told) == EARL_OK &&
         (told.how == EARL_HOW_KILLED || told.how == EARL_HOW_LOST));
    MUST(earl_exec_await(1, &other, &told) == EARL_OK);
    must_be_told_of(child);
    must_be_told_of(other);
    MUST(earl_exec_hostdel("one") == EARL_E_HOST && start_on("one", "stays") == EARL_E_NONE);
    MUST(earl_exec_list(NULL, 0) == 1);

    /* The same name is another host. */
    const int again = earl_exec_hostadd("one local");
    MUST(again > one);
    must_tell(again, 1);
    lose("one", again);
    const int third = earl_exec_hostadd("one local");
    MUST(third > again);
    must_tell(third, 1);
    child = start_on("one", "stays");
    MUST(host_of(child) == third);

    MUST(earl_exec_hostwatch(0, EARL_ANY) == EARL_OK && earl_exec_hostadd("two local") > third);
    const struct earl_wanted wanted = {CONTEXT, EARL_ANY, EARL_ANY, NULL, NULL};
    struct earl_envelope envelope;
    MUST(earl_probe(&wanted, 0, &envelope) == 0);
    MUST(earl_exec_signal(child, SIGKILL) == EARL_OK);
}

void stays(void)
{
    MUST(earl_begin("stays") == EARL_OK);
    for (;;)
        pause();
}

/* Members of a team are on the hosts that were given, under their names, but for member 0, which is the root; there are no other hosts. */
void placed(void)
{
    struct earl_exec_machine told;
    char name[256];
    int rank, hosts = 0;
    begin();
    MUST(earl_exec_team(&rank) == 4 && earl_exec_barrier("all", 4) == EARL_OK);
    MUST(earl_exec_machine(host_of(self), &told) == EARL_OK);
    MUST(rank != 0 || gethostname(name, sizeof name) == 0);
    if (rank != 0)
        snprintf(name, sizeof name, "local%d", 2 - rank % 2);
    MUST(strcmp(told.name, name) == 0 && told.is_up);
    while (earl_exec_machine(hosts, &told) == EARL_OK)
        hosts++;
    MUST(hosts == 3 && earl_exec_barrier("all", 4) == EARL_OK);
}
