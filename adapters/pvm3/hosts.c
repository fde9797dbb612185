/* SPDX-License-Identifier: MIT */
/* hosts.c -- hosts that come and go: pvm_addhosts, pvm_delhosts. */
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

/* Options of PVM's hosts file, and what they are in a line of ours; NULL: what they say has no place here. */
static const struct {
    const char *pvm, *ours;
} options[] = {{"lo", "login"}, {"ip", "addr"}, {"ep", "path"}, {"dx", NULL}, {"so", NULL},
               {"wd", NULL},    {"sp", NULL},   {"bx", NULL},   {"id", NULL}};

/* Writes a word of PVM's line as one of ours, or as it is; `room` suffices for that. */
static void copy_word(char *to, size_t room, const char *word)
{
    size_t length = strlen(to);
    const char *space = length == 0 ? "" : " ";
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strncmp(word, options[i].pvm, 2) == 0 && word[2] == '=') {
            if (options[i].ours != NULL)
                snprintf(to + length, room - length, "%s%s%s", space, options[i].ours, word + 2);
            return;
        }
    snprintf(to + length, room - length, "%s%s", space, word);
}

/* The line in our words, which the caller frees; NULL: no memory. PVM's marks before a name, of hosts that are added later, say nothing here. */
static char *our_line(const char *line)
{
    const size_t room = 4 * strlen(line) + 8;
    char *words = strdup(line), *ours = calloc(1, room), *rest = NULL;
    if (words == NULL || ours == NULL) {
        free(words);
        free(ours);
        return NULL;
    }
    for (char *word = strtok_r(words, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest))
        copy_word(ours, room, word + (*ours == '\0' && *word == '&'));
    free(words);
    return ours;
}

/* Whether there is a machine of that name at all. */
static bool is_known(const char *line)
{
    struct addrinfo *found = NULL;
    char *name = strndup(line, strcspn(line, " "));
    const bool is_so = name == NULL || getaddrinfo(name, NULL, NULL, &found) == 0;
    if (found != NULL)
        freeaddrinfo(found);
    free(name);
    return is_so;
}

static int add(const char *line)
{
    char *ours = line == NULL ? NULL : our_line(line);
    if (ours == NULL)
        return line == NULL ? PvmBadParam : PvmNoMem;
    const int host = earl_exec_hostadd(ours);
    int code = host >= 0 ? pvmi_dtid(host) : pvmi_result(host);
    if (host == EARL_E_BUSY)
        code = PvmDupHost;
    else if (host == EARL_E_MEMORY)
        code = PvmOutOfRes;
    else if (host == EARL_E_HOST)
        code = is_known(ours) ? PvmCantStart : PvmNoHost;
    free(ours);
    return code;
}

static int del(const char *name)
{
    const int code = name == NULL ? EARL_E_ARG : earl_exec_hostdel(name);
    return code == EARL_E_HOST ? PvmNoHost : pvmi_result(code);
}

/* Does that to each. Returns how many it has succeeded with. */
static int each(int (*change)(const char *), char **hosts, int nhost, int *infos)
{
    int done = 0;
    const int code = hosts == NULL || nhost < 1 ? PvmBadParam : pvmi_need();
    if (code < 0)
        return code;
    for (int i = 0; i < nhost; i++) {
        const int info = change(hosts[i]);
        done += info >= 0;
        if (infos != NULL)
            infos[i] = info;
    }
    return done;
}

int pvm_addhosts(char **hosts, int nhost, int *infos)
{
    return pvmi_told("addhosts", each(add, hosts, nhost, infos));
}

int pvm_delhosts(char **hosts, int nhost, int *infos)
{
    return pvmi_told("delhosts", each(del, hosts, nhost, infos));
}
