/* SPDX-License-Identifier: MIT */
/* Any bytes as a list of hosts: a hosts file, a node file, or the words of --host or a batch system. What is taken is
 * found by its name, once, and cannot be taken for an option. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/roster.h"
#include "hosts/hosts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void check(const struct enl_hosts *hosts)
{
    if (hosts->count > ENL_HOSTS_MAX || hosts->sorted != hosts->count)
        abort();
    for (size_t i = 0; i < hosts->count; i++) {
        const struct enl_host *host = hosts->hosts[i];
        const char *address = host->address != NULL ? host->address : host->name;
        if (enl_hosts_find(hosts, host->name) != host || host->slots < 1 ||
            host->slots > ENL_HOST_SLOTS_MAX || !enl_is_host_name(address) ||
            (host->login != NULL && host->login[0] == '-') || (host->enl != NULL && host->enl[0] == '-'))
            abort();
    }
}

/* What the first host has is asked for: it is there, and what others are left are found by their names. */
static void choose(struct enl_hosts *hosts)
{
    char error[512] = "", address[ENL_HOST_NAME_MAX + 1];
    const struct enl_host *const first = hosts->count != 0 ? hosts->hosts[0] : NULL;
    if (first == NULL || first->net == NULL)
        return;
    const char *const network = strchr(first->net, '@') + 1;
    const size_t length = strcspn(network, "+");
    if (!enl_host_on_network(first, network, length, address) || !enl_is_host_name(address))
        abort();
    char *networks = strndup(network, length), *speed = first->speed != NULL ? strdup(first->speed) : NULL;
    const struct enl_roster_choice choice = {.networks = networks, .speed = speed};
    if (networks != NULL &&
        (enl_hosts_choose(hosts, &choice, true, error, sizeof error) != 0 || hosts->count == 0))
        abort();
    check(hosts);
    free(networks);
    free(speed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char error[512] = "";
    struct enl_hosts hosts = {0};
    if (length == 0)
        return 0;
    const unsigned what = bytes[0] % 4;
    char *text = strndup((const char *)bytes + 1, length - 1);
    if (text == NULL)
        return 0;
    int failed;
    if (what < 2)
        failed = enl_hosts_parse(&hosts, what == 0 ? ENL_HOSTS_FILE : ENL_NODE_FILE, "f",
                                 (const char *)bytes + 1, length - 1, error, sizeof error);
    else if (what == 2)
        failed = enl_hosts_select(&hosts, text, error, sizeof error);
    else
        failed = enl_allocation_slurm(&hosts, text, "2(x3),1", "1(x9)", error, sizeof error);
    if (failed == 0) {
        check(&hosts);
        choose(&hosts);
    } else if (error[0] == '\0')
        abort();
    enl_hosts_free(&hosts);
    free(text);
    return 0;
}
