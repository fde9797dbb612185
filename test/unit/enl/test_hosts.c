/* SPDX-License-Identifier: MIT */
/* The list of hosts: the form of its file, its options, and each sentence that refuses a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/config.h"
#include "check.h"
#include "hosts.h"

static struct enl_hosts hosts;
static char error[512];

static int parse(const char *text)
{
    enl_hosts_free(&hosts);
    error[0] = '\0';
    return enl_hosts_parse(&hosts, "machines", text, strlen(text), error, sizeof error);
}

static void refused(const char *text, const char *part)
{
    CHECK_INT(parse(text), -1);
    if (strstr(error, part) == NULL)
        FAIL("wanted: %s\ngot: %s", part, error);
}

TEST(a_line_is_a_name_and_what_is_said_of_it)
{
    CHECK_INT(parse("# ours\n"
                    "\n"
                    "n1\n"
                    "  n2 addr=10.0.0.2 login=ada enl=/opt/bcr/bin/enl slots=8 abi=x86_64 # big\r\n"
                    "try local\n"
                    "six addr=fe80::1%eth0\n"
                    "last slots=65000"),
              0);
    CHECK_UINT(hosts.count, 5);
    CHECK_STR(hosts.hosts[0].name, "n1");
    CHECK_STR(hosts.hosts[0].address, NULL);
    CHECK_STR(hosts.hosts[0].login, NULL);
    CHECK_STR(hosts.hosts[0].enl, NULL);
    CHECK_STR(hosts.hosts[0].abi, NULL);
    CHECK_UINT(hosts.hosts[0].slots, 1);
    CHECK(!hosts.hosts[0].local);
    CHECK_STR(hosts.hosts[1].name, "n2");
    CHECK_STR(hosts.hosts[1].address, "10.0.0.2");
    CHECK_STR(hosts.hosts[1].login, "ada");
    CHECK_STR(hosts.hosts[1].enl, "/opt/bcr/bin/enl");
    CHECK_STR(hosts.hosts[1].abi, "x86_64");
    CHECK_UINT(hosts.hosts[1].slots, 8);
    CHECK(hosts.hosts[2].local);
    CHECK_STR(hosts.hosts[3].address, "fe80::1%eth0");
    CHECK_UINT(hosts.hosts[4].slots, 65000);
    CHECK_STR(enl_hosts_find(&hosts, "N2")->name, "n2");
    CHECK_PTR(enl_hosts_find(&hosts, "n"), NULL);
    CHECK_INT(parse(""), 0);
    CHECK_UINT(hosts.count, 0);
}

TEST(what_cannot_be_is_refused_with_its_line)
{
    refused("n1\nn2 adr=1\n", "machines:2: \"adr=1\" is not known; a line is NAME [local]");
    refused("n1 # a\n-oProxyCommand=x\n", "machines:2: \"-oProxyCommand=x\" is no host's name");
    refused("n1#two", "machines:1: \"n1#two\" is no host's name");
    refused("n1;reboot", "machines:1: \"n1;reboot\" is no host's name");
    refused("n1 addr=-l", "machines:1: addr must be a host name or an IP address, not \"-l\"");
    refused("n1 addr=", "addr must be");
    refused("n1 login=-x", "login must be a user's name, not \"-x\"");
    refused("n1 login=a$b", "login must be");
    refused("n1 enl=bin/enl", "enl must be an absolute path");
    refused("n1 enl=-x", "enl must be");
    refused("n1 slots=0", "slots must be a number from 1 to 65000, not \"0\"");
    refused("n1 slots=65001", "slots must be");
    refused("n1 slots=99999999999999999999", "slots must be");
    refused("n1 slots=", "slots must be");
    refused("n1 abi=x/y", "abi must be");
    refused("n1 addr=a addr=b", "machines:1: addr is said twice in this line; leave one of the two out");
    refused("n1 slots=1 slots=2", "machines:1: slots is said twice in this line; leave one of the two out");
    refused("n1\nN1\n", "machines:2: host N1 is listed twice");
    refused("n1 local local\n", "machines:1: local is said twice in this line");
    refused("a\nn1\n# n1\n\nb\nB\nN1\n", "machines:6: host B is listed twice"); /* the first of the two */
    refused("LocalHost\n", "machines:1: localhost is the host on which bcr_enlist is called");
    refused("n1 local addr=b", "machines:1: host n1 is local");
    refused("n1 local login=b", "machines:1: host n1 is local");
    refused("n1 \x1b[2J", "\\x1b[2J");
}

TEST(options_choose_among_the_hosts_and_add_some)
{
    CHECK_INT(parse("n1 slots=4\nn2 addr=10.0.0.2\nn3 local\n"), 0);
    CHECK_INT(enl_hosts_select(&hosts, "n2,other,N1,n3", error, sizeof error), 0);
    CHECK_UINT(hosts.count, 4);
    CHECK_STR(hosts.hosts[0].address, "10.0.0.2");
    CHECK_STR(hosts.hosts[1].name, "other");
    CHECK_UINT(hosts.hosts[2].slots, 4);
    CHECK(hosts.hosts[3].local);
    CHECK_INT(enl_hosts_select(&hosts, "n2,,n1", error, sizeof error), -1);
    CHECK_STR(error, "--host: \"\" is no host's name; names are separated by commas");
    CHECK_INT(enl_hosts_select(&hosts, "n2,n2", error, sizeof error), -1);
    CHECK_STR(error, "--host: host n2 is listed twice; take one of the two out");
    CHECK_UINT(hosts.count, 4);
    CHECK_INT(enl_hosts_add_local(&hosts, 2, error, sizeof error), 0);
    CHECK_STR(hosts.hosts[4].name, "local1");
    CHECK(hosts.hosts[5].local);
    CHECK_INT(enl_hosts_add_local(&hosts, 1, error, sizeof error), -1);
    CHECK_STR(error, "--local: host local1 is listed twice; take one of the two out");
}

TEST(a_file_that_others_can_write_is_not_read)
{
    char path[] = "/tmp/bcr-hosts-XXXXXX", keep[64];
    const int fd = mkstemp(path);
    struct bcri_config config = {.hostsfile = path};
    CHECK(fd >= 0 && write(fd, "n1\n", 3) == 3);
    CHECK_INT(parse(""), 0);
    CHECK_INT(enl_hosts_load(&hosts, &config, NULL, 1, error, sizeof error), 0);
    CHECK_UINT(hosts.count, 2);
    CHECK_INT(fchmod(fd, 0620), 0);
    CHECK_INT(enl_hosts_read(&hosts, path, error, sizeof error), -1);
    CHECK(strstr(error, "may be written by others than its owner") != NULL);
    close(fd);
    unlink(path);
    CHECK_INT(enl_hosts_read(&hosts, path, error, sizeof error), -1);
    snprintf(keep, sizeof keep, "%s: there is no such file", path);
    CHECK_STR(error, keep);
    enl_hosts_free(&hosts);
}

/* As large as a hosts file may be. */
TEST(many_hosts_are_read_in_no_time)
{
    enum { MANY = 150000 };
    char *text = malloc(MANY * 8 + 1);
    size_t used = 0;
    CHECK(text != NULL);
    for (unsigned i = 0; i < MANY; i++)
        used += (size_t)sprintf(text + used, "h%x\n", i);
    enl_hosts_free(&hosts);
    CHECK_INT(enl_hosts_parse(&hosts, "machines", text, used, error, sizeof error), 0);
    CHECK_UINT(hosts.count, MANY);
    CHECK_STR(enl_hosts_find(&hosts, "H249EF")->name, "h249ef");
    free(text);
}

TEST(lines_of_other_systems_and_long_ones)
{
    static char text[70000];
    CHECK_INT(parse("n1\r\nn2 slots=2\r\n\r\n"), 0);
    CHECK_UINT(hosts.count, 2);
    CHECK_UINT(hosts.hosts[1].slots, 2);
    memset(text, 'n', sizeof text - 1);
    CHECK_INT(parse(text), -1);
    CHECK(strstr(error, "nnn...\" is no host's name") != NULL);
    memset(text, ' ', sizeof text - 2);
    text[sizeof text - 2] = 'x';
    CHECK_INT(parse(text), 0);
    CHECK_STR(hosts.hosts[0].name, "x");
    CHECK_INT(parse("\xef\xbb\xbfn1\n"), -1);
    CHECK(strstr(error, "machines:1: \"\\xef\\xbb\\xbfn1\" is no host's name") != NULL);
}
