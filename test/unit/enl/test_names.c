/* SPDX-License-Identifier: MIT */
/* Who this host is. */
#include "base/names.h"

#include <ifaddrs.h>

#include "check.h"

static int looks;

int __real_getifaddrs(struct ifaddrs **out); /* NOLINT(bugprone-reserved-identifier): the linker's name */
int __wrap_getifaddrs(struct ifaddrs **out); /* NOLINT(bugprone-reserved-identifier) */

int __wrap_getifaddrs(struct ifaddrs **out)
{
    looks++;
    return __real_getifaddrs(out);
}

TEST(the_hosts_own_addresses_are_its_own_and_others_are_not)
{
    char own[64];
    struct ifaddrs *known = NULL;
    enl_host_address(own);
    looks = 0;
    const char *const mine[] = {own, "127.0.0.1", "127.1.2.3", "::1", "0:0:0:0:0:0:0:1"};
    for (size_t i = 0; i < sizeof mine / sizeof mine[0]; i++)
        if (!enl_host_has_address(mine[i], &known))
            FAIL("%s is not taken for an address of this host", mine[i]);
    const char *const others[] = {"",      "192.0.2.1", "2001:db8::1", "0.0.0.0",   "::",        "127.0.0.1x",
                                  "127.1", ":",         "256.0.0.1",   "localhost", " 127.0.0.1"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (enl_host_has_address(others[i], &known))
            FAIL("%s is taken for an address of this host", others[i]);
    CHECK_INT(looks, 1); /* for all of them */
    freeifaddrs(known);
}

TEST(the_hosts_name_is_cut_where_there_is_no_room)
{
    char name[256], less[2];
    enl_host_name(name, sizeof name);
    enl_host_name(less, sizeof less);
    CHECK(name[0] != '\0');
    CHECK_INT(less[0], name[0]);
    CHECK_INT(less[1], '\0');
}

TEST(this_builds_architecture_is_one_that_a_hosts_file_may_say)
{
    CHECK(enl_abi_known(enl_abi()));
    CHECK(enl_abi_known("s390x"));
    static const char *const none[] = {"", "s390", "s390x ", "x86_64, i386", ",", "vax", "arm64"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (enl_abi_known(none[i]))
            FAIL("\"%s\" is taken for an architecture", none[i]);
}
