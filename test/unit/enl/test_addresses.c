/* SPDX-License-Identifier: MIT */
/* Where a host can be reached, as bytes and back. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "check.h"
#include "tree/introductions.h"

static struct bcri_link_address v4(const char *text, uint16_t port)
{
    struct bcri_link_address address = {.bytes = sizeof(struct sockaddr_in)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    CHECK_INT(inet_pton(AF_INET, text, &four.sin_addr), 1);
    memcpy(&address.at, &four, sizeof four);
    return address;
}

static struct bcri_link_address v6(const char *text, uint16_t port)
{
    struct bcri_link_address address = {.bytes = sizeof(struct sockaddr_in6)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    CHECK_INT(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    memcpy(&address.at, &six, sizeof six);
    return address;
}

TEST(addresses_are_the_same_bytes_on_every_machine_and_are_read_back)
{
    static const uint8_t golden[] = {4, 0x0f, 0xa0, 192, 0, 2, 7, 6, 0x0f, 0xa1, 0xfd, 0, 0,  0, 0, 0, 0,
                                     0, 0,    0,    0,   0, 0, 0, 0, 8,    4,    1,    2, 10, 1, 2, 3};
    const struct bcri_link_address in[3] = {v4("192.0.2.7", 4000), v6("fd00::8", 4001),
                                            v6("::ffff:10.1.2.3", 258)};
    struct bcri_link_address out[BCRI_INTRODUCED_MAX], mapped = v4("10.1.2.3", 258);
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t count = 0;
    CHECK_UINT(enl_addresses_write(in, 3, bytes), sizeof golden);
    CHECK_MEM(bytes, golden, sizeof golden);
    CHECK(enl_addresses_read(bytes, sizeof golden, out, &count));
    CHECK_UINT(count, 3);
    for (int i = 0; i < 2; i++) {
        CHECK_UINT(out[i].bytes, in[i].bytes);
        CHECK_MEM(&out[i].at, &in[i].at, sizeof in[i].at);
    }
    CHECK_MEM(&out[2].at, &mapped.at, sizeof mapped.at); /* IPv4 is written as such */
}

TEST(eight_addresses_are_read_and_nine_are_not)
{
    struct bcri_link_address in[9], out[BCRI_INTRODUCED_MAX];
    uint8_t bytes[9 * 19];
    uint32_t count = 99;
    for (int i = 0; i < 9; i++)
        in[i] = v6("fd00::8", (uint16_t)(1 + i));
    CHECK_UINT(enl_addresses_write(in, 9, bytes), 8 * 19);
    CHECK(enl_addresses_read(bytes, 8 * 19, out, &count));
    CHECK_UINT(count, 8);
    memcpy(bytes + 8 * 19, bytes, 19);
    CHECK(!enl_addresses_read(bytes, 9 * 19, out, &count));
    for (uint32_t i = 0; i < 9; i++)
        in[i] = v4("10.0.0.1", 1);
    for (int i = 0; i < 9; i++)
        CHECK_UINT(enl_addresses_write(&in[i], 1, bytes + (size_t)i * 7), 7);
    CHECK(enl_addresses_read(bytes, 8 * 7, out, &count));
    CHECK(!enl_addresses_read(bytes, 9 * 7, out, &count)); /* fits the message, and is too many */
    CHECK(enl_addresses_read(bytes, 0, out, &count));
    CHECK_UINT(count, 0);
}

TEST(what_is_cut_off_or_of_no_family_is_refused)
{
    const struct bcri_link_address in[2] = {v4("192.0.2.7", 4000), v6("fd00::8", 4001)};
    struct bcri_link_address out[BCRI_INTRODUCED_MAX];
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t count;
    const size_t length = enl_addresses_write(in, 2, bytes);
    for (size_t cut = 1; cut < length; cut++)
        if (enl_addresses_read(bytes, cut, out, &count) != (cut == 7))
            FAIL("cut at %zu", cut);
    for (int family = 0; family < 256; family++) {
        bytes[0] = (uint8_t)family;
        if (family != 4 && enl_addresses_read(bytes, 7, out, &count))
            FAIL("family %d", family);
    }
}

TEST(addresses_that_are_not_of_one_host_are_neither_written_nor_read)
{
    const struct bcri_link_address bad[] = {
        v4("0.0.0.0", 1),   v4("0.1.2.3", 1),
        v4("224.0.0.1", 1), v4("255.255.255.255", 1),
        v4("10.0.0.1", 0),  v6("::", 1),
        v6("ff02::1", 1),   v6("fe80::1", 1),
        v6("fd00::1", 0),   {.at = {.ss_family = AF_UNIX}},
    };
    struct bcri_link_address out[BCRI_INTRODUCED_MAX];
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t count;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_UINT(enl_addresses_write(&bad[i], 1, bytes), 0);
        if (bad[i].at.ss_family == AF_INET) {
            bytes[0] = 4;
            memcpy(bytes + 1, &((const struct sockaddr_in *)&bad[i].at)->sin_port, 2);
            memcpy(bytes + 3, &((const struct sockaddr_in *)&bad[i].at)->sin_addr, 4);
            CHECK(!enl_addresses_read(bytes, 7, out, &count));
        } else if (bad[i].at.ss_family == AF_INET6) {
            bytes[0] = 6;
            memcpy(bytes + 1, &((const struct sockaddr_in6 *)&bad[i].at)->sin6_port, 2);
            memcpy(bytes + 3, &((const struct sockaddr_in6 *)&bad[i].at)->sin6_addr, 16);
            CHECK(!enl_addresses_read(bytes, 19, out, &count));
        }
    }
    static const uint8_t mapped[19] = {6, 0, 1, [13] = 0xff, 0xff, 10, 0, 0, 1};
    CHECK(!enl_addresses_read(mapped, sizeof mapped, out, &count));
}

TEST(those_of_the_loopback_can_be_taken_out)
{
    const struct bcri_link_address in[] = {v4("127.0.0.1", 1), v4("10.0.0.1", 2), v6("::1", 3),
                                           v6("fd00::1", 4), v4("127.1.2.3", 5)};
    struct bcri_link_address out[BCRI_INTRODUCED_MAX];
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    uint32_t count, length = enl_addresses_write(in, 5, bytes);
    length = enl_addresses_drop_loopback(bytes, length);
    CHECK_UINT(length, 7 + 19);
    CHECK(enl_addresses_read(bytes, length, out, &count));
    CHECK_UINT(count, 2);
    CHECK_MEM(&out[0].at, &in[1].at, sizeof(struct sockaddr_in));
    CHECK_MEM(&out[1].at, &in[3].at, sizeof(struct sockaddr_in6));
    CHECK_UINT(enl_addresses_drop_loopback(bytes, 0), 0);
}

/* An address of a network, with a port that nobody uses; "": the host has none there. */
static void on_network(uint8_t *networks, int i, const char *text)
{
    uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
    const struct bcri_link_address address = strchr(text, ':') != NULL ? v6(text, 1)
                                             : text[0] != '\0'         ? v4(text, 1)
                                                                       : (struct bcri_link_address){0};
    const uint32_t length = enl_addresses_write(&address, 1, bytes);
    memset(networks + i * ENL_ONE_ADDRESS_BYTES, 0, ENL_ONE_ADDRESS_BYTES);
    memcpy(networks + i * ENL_ONE_ADDRESS_BYTES, bytes, length);
}

TEST(data_go_by_the_first_network_that_both_hosts_have)
{
    static const struct {
        const char *mine[2], *theirs[2];
        bool is_one_machine;
        const char *taken; /* NULL: the usual ones stay */
    } cases[] = {
        {{"10.0.0.1", "10.1.0.1"}, {"10.0.0.2", "10.1.0.2"}, false, "10.0.0.2"},
        {{"", "10.1.0.1"}, {"10.0.0.2", "10.1.0.2"}, false, "10.1.0.2"},
        {{"10.0.0.1", "10.1.0.1"}, {"", "fd00::2"}, false, "fd00::2"},
        {{"10.0.0.1", ""}, {"", "10.1.0.2"}, false, NULL},
        {{"", ""}, {"10.0.0.2", "10.1.0.2"}, true, NULL},
        {{"127.0.0.2", "10.1.0.1"}, {"127.0.0.3", "10.1.0.2"}, true, "127.0.0.3"},
        {{"127.0.0.2", "10.1.0.1"}, {"127.0.0.3", "10.1.0.2"}, false, "10.1.0.2"},
    };
    const struct bcri_link_address usual[2] = {v4("192.0.2.7", 4000), v6("fd00::7", 4000)};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t mine[2 * ENL_ONE_ADDRESS_BYTES], theirs[2 * ENL_ONE_ADDRESS_BYTES];
        uint8_t bytes[BCRI_ADDRESSES_BYTES_MAX];
        struct bcri_link_address out[BCRI_INTRODUCED_MAX];
        uint32_t count = 0;
        for (int k = 0; k < 2; k++) {
            on_network(mine, k, cases[i].mine[k]);
            on_network(theirs, k, cases[i].theirs[k]);
        }
        uint32_t length = enl_addresses_write(usual, 2, bytes);
        length = enl_addresses_on_network(mine, theirs, 2, cases[i].is_one_machine, bytes, length);
        CHECK(enl_addresses_read(bytes, length, out, &count));
        CHECK_UINT(count, cases[i].taken != NULL ? 1 : 2);
        if (cases[i].taken == NULL)
            continue;
        const struct bcri_link_address wanted =
            strchr(cases[i].taken, ':') != NULL ? v6(cases[i].taken, 4000) : v4(cases[i].taken, 4000);
        CHECK_MEM(&out[0].at, &wanted.at, sizeof wanted.at);
        CHECK_UINT(enl_addresses_on_network(mine, theirs, 2, true, bytes, 0), 0); /* without a port */
    }
}
