/* SPDX-License-Identifier: MIT */
/* What a machine says of itself to enl hosts, and what is found wrong with it. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "verbs/hosts/hosts_private.h"

static struct enl_facts facts_of_a_good_one(void)
{
    struct enl_facts facts;
    enl_facts_clear(&facts);
    strcpy(facts.version, "1.2.3");
    strcpy(facts.abi, "x86_64");
    strcpy(facts.hostname, "node1");
    strcpy(facts.machine_id, "b0-07 net:[4026531840] 1000 x86_64");
    facts.protocol = 1;
    facts.user = 1000;
    facts.cores = 4;
    facts.load_percent = 25;
    facts.disk_bytes = UINT64_C(5) << 30;
    facts.rmem_max = 8 << 20;
    facts.mtu = 1500;
    return facts;
}

static size_t text_of(const struct enl_facts *facts, char *text, size_t size)
{
    FILE *out = fmemopen(text, size, "w");
    CHECK(out != NULL);
    enl_facts_write(facts, out);
    const long length = ftell(out);
    fclose(out);
    return (size_t)length;
}

TEST(facts_come_back_as_they_were_told)
{
    char text[2048], again[2048], junk[4096];
    struct enl_facts facts = facts_of_a_good_one(), read;
    const char *why = "";
    const size_t length = text_of(&facts, text, sizeof text);
    CHECK_INT(enl_facts_read(&read, text, length, &why), length);
    CHECK_STR(read.machine_id, facts.machine_id);
    CHECK_UINT(read.disk_bytes, facts.disk_bytes);
    CHECK_UINT(text_of(&read, again, sizeof again), length);
    CHECK_STR(again, text);
    for (size_t part = 0; part < length; part++)
        CHECK_INT(enl_facts_read(&read, text, part, &why), 0);
    const int before =
        snprintf(junk, sizeof junk, "Welcome to node1\nbcr host facts 2\nno newline at its end");
    memcpy(junk + before, text, length);
    CHECK_INT(enl_facts_read(&read, junk, (size_t)before + length, &why), before + (int)length);
    CHECK_STR(read.abi, "x86_64");
    facts.mtu = ENL_FACT_UNKNOWN;
    CHECK(text_of(&facts, text, sizeof text) < length);
    CHECK(strstr(text, "mtu") == NULL);
}

static long read_with(const char *lines, const char **why)
{
    char text[1024];
    struct enl_facts facts;
    const int length = snprintf(text, sizeof text,
                                "bcr host facts 1\nversion 1\nabi i386\nprotocol 1\ncores 2\n%send\n", lines);
    return enl_facts_read(&facts, text, (size_t)length, why);
}

TEST(facts_that_cannot_be_are_refused)
{
    static const char *const wrong[] = {"cores x\n",
                                        "cores\n",
                                        "cores \n",
                                        "cores -1\n",
                                        "cores 1000001\n",
                                        "mtu 4294967296\n",
                                        "rmem_max 18446744073709551616\n",
                                        "rmem_max 9999999999999999999\n",
                                        "version \x1b[2J\n",
                                        "hostname a\"b\n",
                                        "hostname a\\b\n",
                                        "version 12345678901234567890123456789012\n",
                                        "\n"};
    const char *why = "";
    CHECK(read_with("", &why) > 0);
    CHECK(read_with("color \x1b[31mred\n", &why) > 0); /* of a later version */
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (read_with(wrong[i], &why) != -1)
            FAIL("taken: %s", wrong[i]);
        CHECK_STR(why, "what it says of its machine makes no sense; install the same version of BCR there");
    }
    struct enl_facts facts;
    static const char little[] = "bcr host facts 1\nversion 1\nend\n";
    CHECK_INT(enl_facts_read(&facts, little, sizeof little - 1, &why), -1);
    CHECK_STR(why, "what it says of its machine is not all; install the same version of BCR there");
}

static struct enl_host hosts[2] = {{.name = (char[]){"n1"}, .slots = 4},
                                   {.name = (char[]){"n2"}, .slots = 1}};
static struct enl_asked all[2];

static void reset(void)
{
    for (int i = 0; i < 2; i++) {
        all[i] =
            (struct enl_asked){.host = &hosts[i], .facts = facts_of_a_good_one(), .round_trip_ns = 1000000};
        all[i].facts.machine_id[0] = (char)('b' + i);
    }
}

static void finds(size_t which, bool usable, const char *want)
{
    const struct enl_facts here = facts_of_a_good_one();
    static struct enl_findings findings;
    char found[8192] = "";
    size_t used = 0;
    enl_findings_compare(all, 2);
    enl_findings(all, which, &here, &findings);
    CHECK_INT(findings.usable, usable);
    for (size_t i = 0; i < findings.count; i++)
        used += (size_t)snprintf(found + used, sizeof found - used, "%s%s\n",
                                 findings.all[i].bad ? "bad: " : "", findings.all[i].text);
    CHECK_STR(found, want);
    reset();
}

TEST(each_finding_says_what_to_do)
{
    reset();
    finds(0, true, "");
    finds(1, true, "");
    strcpy(all[0].failed, "host n1 cannot be used: no");
    finds(0, false, "bad: host n1 cannot be used: no\n");
    all[0].facts.protocol = 2;
    finds(0, false,
          "bad: enl there speaks version 2 of the protocol, and here 1; install the same version of BCR "
          "there\n");
    strcpy(all[0].facts.version, "1.3.0");
    finds(0, true, "enl there is version 1.3.0, and here 1.2.3; install the same version of BCR there\n");
    hosts[0].abi = (char[]){"s390x"};
    finds(0, false,
          "bad: the hosts file says abi=s390x, and enl there is for x86_64; let enl= name another one there, "
          "or "
          "take abi= out\n");
    hosts[0].abi = NULL;
    all[0].clock_ns = INT64_C(3600500) * 1000000;
    finds(0, true,
          "its clock is 3600.5 s ahead of this machine's, so the times in logs do not fit; let chrony or "
          "ntpd set it\n");
    all[0].clock_ns = INT64_C(-1200) * 1000000;
    finds(0, true,
          "its clock is 1.2 s behind this machine's, so the times in logs do not fit; let chrony or ntpd set "
          "it\n");
    all[0].clock_ns = INT64_C(-1200) * 1000000;
    all[0].round_trip_ns = UINT64_C(1500) * 1000000; /* nobody can know then */
    finds(0, true, "");
    all[0].facts.disk_bytes = 4096;
    finds(0, true,
          "its tempdir cannot be written, or its disk is full, so there will be no log; free some, let "
          "tempdir in bcrrc there name another directory, or say log stderr or log none\n");
    all[0].facts.disk_bytes = 30 << 20;
    finds(0, true,
          "its disk has only 30 MiB free for logs; free some, or let tempdir in bcrrc there name another "
          "directory\n");
    all[0].facts.rmem_max = 212992;
    finds(
        0, true,
        "it keeps at most 208 KiB of packets that come (rmem_max), and loses more than that; as root there: "
        "sysctl -w net.core.rmem_max=4194304\n");
    all[0].facts.rmem_max = 212992;
    all[0].facts.user = 0;
    finds(0, true, "");
    all[0].facts.load_percent = 730;
    finds(0, true, "it is busy: 7 processes want its 4 cores; wait, or take it out of the list\n");
    all[0].facts.cores = 2;
    finds(0, true, "it has 4 slots for 2 cores; CCEs that wait by polling hinder each other: lower slots=\n");
    all[0].facts.mtu = 576;
    finds(0, true, "its MTU of 576 makes many small packets of a region; raise it to 1500\n");
    all[0].facts.mtu = 284;
    finds(0, true, "its MTU of 284 makes many small packets of a region; raise it to 1500\n");
    all[0].facts.mtu = 283;
    finds(0, true,
          "its MTU of 283 is too small for links, so what it says to other hosts goes over the connections "
          "between daemons, which "
          "is slow; raise it to 1500\n");
    all[0].facts.mtu = 9000;
    finds(
        1, true,
        "its MTU is 1500, and that of n1 9000: large packets may be lost between them; give all machines the "
        "same\n");
    strcpy(all[0].facts.machine_id, all[1].facts.machine_id);
    finds(1, true, "it is the same machine as n1, and shares its daemon; list it once, with slots=\n");
    strcpy(all[0].facts.machine_id, all[1].facts.machine_id);
    hosts[1].local = true;
    finds(1, true, "");
    hosts[1].local = false;
}
