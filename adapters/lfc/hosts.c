/* SPDX-License-Identifier: MIT */
/* hosts.c -- a start without enl -n, as LFC's guide has it: HOSTS, with the rank and the number of processes as the first two
 * arguments (prun), or -lfc-hosts, or HOSTS and -lfc-use-hosts, where the rank is this host's place in the list (rsh).
 *
 * The processes find each other by BCR's own means for that: BCR_AWAIT and its kin (enl(1), "Teams without a launcher"). All
 * processes of a job compute the same key from the list and the number. Two jobs at once that have both in common set
 * BCR_AWAIT themselves. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "lfc_private.h"

enum { HOSTS_MAX = 65000 };

/* The hosts of a list that commas or blanks separate. */
struct list {
    char *text, **names;
    unsigned count;
};

static struct list read_list(const char *text)
{
    struct list list = {.text = strdup(text), .names = NULL};
    char *rest = list.text, *name;
    if (list.text == NULL || (list.names = calloc(strlen(text) + 1, sizeof(char *))) == NULL)
        lfc_fail("lfc_init", "no memory");
    while (rest != NULL && (name = strsep(&rest, ", \t\n")) != NULL)
        if (name[0] != '\0')
            list.names[list.count++] = name;
    if (list.count == 0 || list.count > HOSTS_MAX)
        lfc_fail("lfc_init", "a list of hosts has 1 to %d names, not \"%.200s\"", HOSTS_MAX, text);
    return list;
}

/* Names of one host may have a domain or not. */
static bool are_same(const char *one, const char *other)
{
    const size_t one_length = strcspn(one, "."), other_length = strcspn(other, ".");
    return strcasecmp(one, other) == 0 ||
           (one_length == other_length && strncasecmp(one, other, one_length) == 0 &&
            (one[one_length] == '\0' || other[other_length] == '\0'));
}

static char own[256]; /* this host's name */

static unsigned place_of_this_host(const struct list *list)
{
    unsigned place = list->count;
    for (unsigned i = 0; i < list->count; i++) {
        if (!are_same(list->names[i], own))
            continue;
        if (place != list->count)
            lfc_fail("lfc_init", "host %s is in the list twice, so it does not tell the rank", own);
        place = i;
    }
    if (place == list->count)
        lfc_fail("lfc_init", "this host, %s, is not in the list", own);
    return place;
}

static unsigned number_of(const char *text, const char *what, unsigned least, unsigned most)
{
    char *end = NULL;
    errno = 0;
    const unsigned long number =
        text != NULL && text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : 0;
    if (end == NULL || *end != '\0' || errno != 0 || number < least || number > most)
        lfc_fail("lfc_init", "with HOSTS the %s is a number from %u to %u, not %s", what, least, most,
                 text != NULL ? text : "missing");
    return (unsigned)number;
}

/* The first `count` hosts as BCR takes them: NAME*N for N processes in a row. */
static char *hosts_text(const struct list *list, unsigned count)
{
    size_t room = 1, used = 0;
    for (unsigned i = 0; i < count; i++)
        room += strlen(list->names[i]) + 16;
    char *text = malloc(room);
    if (text == NULL)
        lfc_fail("lfc_init", "no memory");
    for (unsigned i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && are_same(list->names[i], list->names[next]);)
            next++;
        for (unsigned later = next; later < count; later++)
            if (are_same(list->names[i], list->names[later]))
                lfc_fail("lfc_init", "host %s stands in the list in two places: name it in a row",
                         list->names[i]);
        used += (size_t)snprintf(text + used, room - used, "%s%s*%u", i == 0 ? "" : ",", list->names[i],
                                 next - i);
    }
    return text;
}

/* enl knows this host by its own name, which the list may give with another domain, or without one. */
static void use_own_name(struct list *list)
{
    for (unsigned i = 0; i < list->count; i++)
        if (are_same(list->names[i], own))
            list->names[i] = own;
}

/* FNV-1a, of 64 bits. */
static uint64_t hash(uint64_t so_far, const char *text)
{
    for (; *text != '\0'; text++)
        so_far = (so_far ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return so_far;
}

static void set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        lfc_fail("lfc_init", "no memory");
}

void lfc_hosts_use(const struct lfc_options *options, int *argc, char **argv)
{
    const char *text = options->hosts;
    unsigned rank, count;
    if (getenv("BCRI_SOCKET") != NULL) /* enl has started this process: it knows the members */
        return;
    const bool by_place = text != NULL || options->use_hosts;
    if (text == NULL)
        text = getenv("HOSTS");
    if (text == NULL || text[0] == '\0') { /* a script empties what it cannot unset */
        if (by_place)
            lfc_fail("lfc_init", "-lfc-use-hosts needs HOSTS, which is not set");
        return;
    }
    struct list list = read_list(text);
    (void)gethostname(own, sizeof own - 1);
    if (by_place) {
        count = list.count;
        rank = place_of_this_host(&list);
    } else {
        count =
            number_of(*argc > 2 ? argv[2] : NULL, "number of processes (the second argument)", 1, list.count);
        rank = number_of(*argc > 1 ? argv[1] : NULL, "rank (the first argument)", 0, count - 1);
        for (int i = 3; i <= *argc; i++) /* with the NULL behind the last */
            argv[i - 2] = argv[i];
        *argc -= 2;
    }
    if (count > 1) {
        char number[32], *hosts = hosts_text(&list, count);
        if (getenv("BCR_AWAIT") == NULL) {
            snprintf(number, sizeof number, "lfc-%016llx",
                     (unsigned long long)hash(UINT64_C(0xcbf29ce484222325), hosts));
            set("BCR_AWAIT", number);
        }
        free(hosts);
        use_own_name(&list);
        hosts = hosts_text(&list, count);
        snprintf(number, sizeof number, "%u", count);
        set("BCR_TEAM", number);
        snprintf(number, sizeof number, "%u", rank);
        set("BCR_RANK", number);
        set("BCR_HOSTS", hosts);
        free(hosts);
    }
    free(list.names);
    free(list.text);
}
