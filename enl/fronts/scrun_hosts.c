/* SPDX-License-Identifier: MIT */
/* scrun_hosts.c -- The options of bcr-scrun that choose hosts: how many, of which kind, of which group, and by which networks their data
 * go. */
#include <string.h>

#include "base/names.h"
#include "bcri/refuse.h"
#include "fronts/fronts.h"
#include "fronts/scrun_hosts.h"

/* SCore's names of binary types, and what enl calls such a machine; NULL: enl is for no such one. */
static const struct {
    const char *name, *abi;
} bintypes[] = {{"i386-turbo-linux", "i386"},      {"i386-suse-linux", "i386"},
                {"alpha-suse-linux", NULL},        {"i386-redhat7-linux2_4", "i386"},
                {"i386-redhat8-linux2_4", "i386"}, {"ia64-redhat7-linux2_4", NULL},
                {"alpha-redhat-linux", NULL},      {"i386-unknown-netbsd", NULL},
                {"sparc-sun-sunos4", NULL},        {"sparc-sun-sunos5", NULL}};

static int take_bintype(struct enl_scrun *scrun, const char *bintype, char *error, size_t error_size)
{
    scrun->choice.abi = bintype;
    if (enl_abi_known(bintype))
        return 0;
    for (size_t i = 0; i < sizeof bintypes / sizeof bintypes[0]; i++) {
        if (strcmp(bintype, bintypes[i].name) != 0)
            continue;
        scrun->choice.abi = bintypes[i].abi;
        return bintypes[i].abi != NULL
                   ? 0
                   : bcri_refuse(error, error_size, -1,
                                 "nodes: no host can be of binary type %s: enl is for Linux "
                                 "on " ENL_ABIS,
                                 bintype);
    }
    return bcri_refuse(error, error_size, -1,
                       "nodes: \"%.60s\" is no binary type: these are " ENL_ABIS
                       ", and SCore's names, such as %s",
                       bintype, bintypes[3].name);
}

/* BINTYPE[.CPUGEN[.SPEED]] */
static int take_kind(struct enl_scrun *scrun, char *kind, char *error, size_t error_size)
{
    const char *const bintype = strsep(&kind, ".");
    scrun->choice.cpugen = kind != NULL ? strsep(&kind, ".") : NULL;
    scrun->choice.speed = kind;
    if ((scrun->choice.cpugen != NULL && scrun->choice.cpugen[0] == '\0') ||
        (kind != NULL && (kind[0] == '\0' || strchr(kind, '.') != NULL)))
        return bcri_refuse(error, error_size, -1,
                           "nodes: behind a point comes a binary type, then .CPUGEN, and .SPEED behind that");
    return take_bintype(scrun, bintype, error, error_size);
}

int enl_scrun_take_nodes(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    const char *at = value;
    char *const kind = strchr(value, '.'); /* of the copy, which may be cut */
    uint32_t first = 0;
    bool is_good = strchr("x.", at[0]) != NULL || enl_take_count(&at, &first);
    const bool has_each = is_good && at[0] == 'x';
    if (has_each) {
        at++;
        is_good = enl_take_count(&at, &scrun->per_host);
    }
    if (!is_good || (at[0] != '\0' && at != kind))
        return bcri_refuse(error, error_size, -1,
                           "nodes=%.60s is neither a number of nodes, nor HxP: hosts, and nodes on each",
                           value);
    if (has_each)
        scrun->hosts = first;
    else
        scrun->nodes = first;
    if (kind == NULL)
        return 0;
    *kind = '\0';
    return take_kind(scrun, kind + 1, error, error_size);
}

int enl_scrun_take_network(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->choice.networks = value;
    for (const char *at = value;; at++) {
        const size_t length = strcspn(at, "+");
        if (length == 0)
            return bcri_refuse(error, error_size, -1,
                               "network=%.60s: a name of a network is missing; there is + between two",
                               value);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

int enl_scrun_take_group(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->choice.group = value;
    return value[0] != '\0' ? 0 : bcri_refuse(error, error_size, -1, "group= needs the name of a group");
}

int enl_scrun_take_heterogeneous(struct enl_scrun *scrun, const char *value, char *error, size_t error_size)
{
    scrun->is_heterogeneous = true;
    return value[0] == '\0' ? 0 : bcri_refuse(error, error_size, -1, "heterogeneous has no value");
}
