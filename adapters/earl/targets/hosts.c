/* SPDX-License-Identifier: MIT */
/* hosts.c -- EXEC's hosts: those that the program was given, in their order, and behind them others on which processes have come up.
 *
 * The program's list is read anew whenever it matters: who changes it is any process. A host is up under a number, which is never another's; so
 * one that had a number and has another now, or none, was lost meanwhile. It is taken off the list then, so that nothing waits for a login
 * there, and it may be added again. */
#include "hosts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bcr.h>
#include <bcr/program.h>

static struct earl_machine *hosts;
static int count, room;
static int next = -1; /* by turns */
static bool was_read; /* the list */

/* The program's list, as it was read. */
struct list {
    struct bcr_hostentry *entries;
    int count;
};

static int add_host(const char *name, int number)
{
    if (count == room) {
        const int larger = room == 0 ? 8 : 2 * room;
        struct earl_machine *moved = realloc(hosts, (size_t)larger * sizeof *moved);
        if (moved == NULL)
            return -1;
        hosts = moved;
        room = larger;
    }
    char *copy = strdup(name);
    if (copy == NULL)
        return -1;
    hosts[count] = (struct earl_machine){.name = copy, .number = number};
    return count++;
}

const struct earl_machine *earl_hosts_get(int k)
{
    return k >= 0 && k < count ? &hosts[k] : NULL;
}

int earl_hosts_named(const char *name)
{
    for (int i = 0; i < count; i++)
        if (!hosts[i].has_gone && strcasecmp(hosts[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- the program's list ---- */

/* False: no memory, or the program ends. */
static bool read_list(struct list *list)
{
    int given = 0;
    list->count = 0;
    for (;;) {
        if (list->count == given) {
            given = given == 0 ? 16 : 2 * given;
            struct bcr_hostentry *grown = realloc(list->entries, (size_t)given * sizeof *grown);
            if (grown == NULL)
                return false;
            list->entries = grown;
        }
        struct bcr_hostentry *entry = &list->entries[list->count];
        *entry = (struct bcr_hostentry){.size = sizeof *entry};
        const int code = bcr_hostinfo(list->count, entry);
        if (code <= 0)
            return code == 0;
        list->count++;
    }
}

static bool is_same(const struct bcr_hostentry *one, const struct bcr_hostentry *other)
{
    return one->number == other->number && strcasecmp(one->name, other->name) == 0;
}

static bool are_equal(const struct list *one, const struct list *other)
{
    bool is_so = one->count == other->count;
    for (int i = 0; is_so && i < one->count; i++)
        is_so = is_same(&one->entries[i], &other->entries[i]);
    return is_so;
}

/* While the list changes a host may be missed or told of twice, so two readings in a row must be equal. */
static bool read_whole(struct list *list)
{
    struct list before = {0};
    bool is_read = read_list(list);
    do {
        struct list last = before;
        before = *list;
        *list = last;
        is_read = is_read && read_list(list);
    } while (is_read && !are_equal(list, &before));
    free(before.entries);
    return is_read;
}

/* Whether that entry is the host, which has not gone. */
static bool is_of(const struct bcr_hostentry *entry, const struct earl_machine *host)
{
    return strcasecmp(entry->name, host->name) == 0 && (host->number < 0 || entry->number == host->number);
}

static void see_gone(const struct list *list, int k)
{
    struct earl_machine *host = &hosts[k];
    bool is_lost = false;
    for (int i = 0; i < list->count; i++) {
        if (is_of(&list->entries[i], host))
            return;
        is_lost =
            is_lost || (list->entries[i].number < 0 && strcasecmp(list->entries[i].name, host->name) == 0);
    }
    host->has_gone = true;
    host->is_given = false;
    earl_hosts_changed(k, false);
    if (is_lost)
        (void)bcr_hostdel(host->name);
}

/* One that is new and has no daemon yet is only being added, or was lost. */
static void see_there(const struct bcr_hostentry *entry)
{
    int k = earl_hosts_named(entry->name);
    if (k < 0 && (!was_read || entry->number >= 0))
        k = add_host(entry->name, entry->number);
    if (k < 0)
        return;
    hosts[k].number = entry->number;
    hosts[k].archtype = entry->archtype;
    memcpy(hosts[k].architecture, entry->arch, sizeof hosts[k].architecture);
    hosts[k].architecture[sizeof hosts[k].architecture - 1] = '\0';
    if (was_read && !hosts[k].is_given)
        earl_hosts_changed(k, true);
    hosts[k].is_given = true;
}

int earl_hosts_read(void)
{
    struct list list = {0};
    int given = 0;
    if (read_whole(&list)) {
        for (int k = 0; k < count; k++)
            if (hosts[k].is_given)
                see_gone(&list, k);
        for (int i = 0; i < list.count; i++)
            see_there(&list.entries[i]);
        was_read = true;
    }
    free(list.entries);
    for (int k = 0; k < count; k++)
        given += hosts[k].is_given;
    return given;
}

int earl_hosts_next(void)
{
    do
        next = (next + 1) % count;
    while (!hosts[next].is_given);
    return next;
}

bool earl_hosts_may_go(int k)
{
    return hosts[k].is_given && hosts[k].number != 0 && hosts[k].number != bcr_hostof(bcr_cce);
}

/* ---- where processes are ---- */

/* The name that the list has for the number, at *entry. */
static bool find_listed(int number, struct bcr_hostentry *entry)
{
    *entry = (struct bcr_hostentry){.size = sizeof *entry};
    for (int k = 0; bcr_hostinfo(k, entry) == 1; k++)
        if (entry->number == number)
            return true;
    return false;
}

int earl_hosts_place(int number, const char *name, int expected)
{
    struct bcr_hostentry entry;
    for (int i = 0; i < count; i++)
        if (hosts[i].number == number)
            return i;
    int k = expected >= 0 && hosts[expected].number < 0 ? expected : -1;
    if (k < 0 && find_listed(number, &entry)) {
        name = entry.name;
        k = earl_hosts_named(name);
    }
    if (k < 0 || hosts[k].number >= 0)
        k = add_host(name, number);
    if (k < 0)
        return k;
    hosts[k].number = number;
    if (number == bcr_hostof(bcr_cce))
        hosts[k].archtype = bcr_archtype;
    return k;
}
