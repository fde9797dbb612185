/* SPDX-License-Identifier: MIT */
/* Ports and networks as people write them (bcri/network.h). */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "bcri/network.h"
#include "check.h"

TEST(ports_are_one_or_a_range_that_is_not_empty)
{
    static const char *const bad[] = {"",      "-",      "-1",      "1-",       "65536", "1-65536", "2-1",
                                      "0-5",   "1-2-3",  " 1",      "1 ",       "+1",    "0x10",    "1,2",
                                      "99999", "999999", "1000000", "1-00009a", "a"};
    struct bcri_ports ports = {7, 7};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (bcri_ports_parse(bad[i], &ports) || ports.first != 7)
            FAIL("\"%s\" is taken for ports", bad[i]);
    CHECK(bcri_ports_parse("0", &ports) && ports.first == 0 && ports.last == 0);
    CHECK(bcri_ports_parse("65535", &ports) && ports.first == 65535 && ports.last == 65535);
    CHECK(bcri_ports_parse("4000-4010", &ports) && ports.first == 4000 && ports.last == 4010);
    CHECK(bcri_ports_parse("4000-4000", &ports) && ports.first == 4000 && ports.last == 4000);
}

static bool has(const struct bcri_network *network, const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return bcri_network_has(network, (struct sockaddr *)&four);
    CHECK_INT(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return bcri_network_has(network, (struct sockaddr *)&six);
}

TEST(a_network_has_the_addresses_that_begin_like_it)
{
    static const struct {
        const char *network, *in, *out;
    } cases[] = {
        {"10.1.2.3", "10.1.2.3", "10.1.2.2"},
        {"10.1.0.0/16", "10.1.255.255", "10.2.0.0"},
        {"10.1.2.3/16", "10.1.0.1", "10.0.2.3"},
        {"192.168.4.128/25", "192.168.4.255", "192.168.4.127"},
        {"172.16.0.0/12", "172.31.255.255", "172.32.0.0"},
        {"0.0.0.0/0", "255.255.255.255", "::1"},
        {"::/0", "ffff::", "1.2.3.4"},
        {"fd00:1:2::/47", "fd00:1:3:ffff::1", "fd00:1:4::"},
        {"::1", "::1", "::2"},
        {"::ffff:1.2.3.4", "::ffff:1.2.3.4", "1.2.3.4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bcri_network network;
        CHECK(bcri_network_parse(cases[i].network, &network));
        if (!has(&network, cases[i].in) || has(&network, cases[i].out))
            FAIL("%s: %s, %s", cases[i].network, cases[i].in, cases[i].out);
    }
}

TEST(what_is_no_network_is_refused)
{
    static const char *const bad[] = {"",
                                      "*",
                                      "eth0",
                                      "10.1",
                                      "10.1.0.0/",
                                      "10.0.0.0/33",
                                      "::/129",
                                      "10.0.0.0/8/8",
                                      "10.0.0.0/-1",
                                      "1.2.3.4 ",
                                      "fe80::1%1",
                                      "[::1]",
                                      "1.2.3.4:5",
                                      "10.0.0.0/ 8",
                                      "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/1"};
    struct bcri_network network;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (bcri_network_parse(bad[i], &network))
            FAIL("\"%s\" is taken for a network", bad[i]);
}
