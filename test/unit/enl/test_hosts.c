/* SPDX-License-Identifier: MIT */
/* The list of hosts: the form of its file, its options, and each sentence that refuses a line. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"
#include "base/roster.h"
#include "bcri/config.h"
#include "check.h"
#include "hosts/hosts.h"

static struct enl_hosts hosts;
static char error[512];

static int parse(const char *text)
{
    enl_hosts_free(&hosts);
    error[0] = '\0';
    return enl_hosts_parse(&hosts, ENL_HOSTS_FILE, "machines", text, strlen(text), error, sizeof error);
}

static int parse_nodes(const char *text)
{
    enl_hosts_free(&hosts);
    error[0] = '\0';
    return enl_hosts_parse(&hosts, ENL_NODE_FILE, "nodes", text, strlen(text), error, sizeof error);
}

/* Checks all hosts as NAME:SLOTS, and an address if there is one. */
static void check_all(const char *want)
{
    char got[4096] = "";
    size_t used = 0;
    for (size_t i = 0; i < hosts.count; i++) {
        const struct enl_host *host = hosts.hosts[i];
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%s:%u%s%s", i > 0 ? " " : "", host->name,
                                 host->slots, host->address != NULL ? "@" : "",
                                 host->address != NULL ? host->address : "");
        CHECK_PTR(enl_hosts_find(&hosts, host->name), host);
    }
    CHECK_STR(got, want);
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
                    "six addr=fe80::1%eth0 path=~/bin:/opt/our/bin:/ \n"
                    "last slots=65000"),
              0);
    CHECK_UINT(hosts.count, 5);
    CHECK_STR(hosts.hosts[0]->name, "n1");
    CHECK_STR(hosts.hosts[0]->address, NULL);
    CHECK_STR(hosts.hosts[0]->login, NULL);
    CHECK_STR(hosts.hosts[0]->enl, NULL);
    CHECK_STR(hosts.hosts[0]->abi, NULL);
    CHECK_UINT(hosts.hosts[0]->slots, 1);
    CHECK(!hosts.hosts[0]->local);
    CHECK_STR(hosts.hosts[1]->name, "n2");
    CHECK_STR(hosts.hosts[1]->address, "10.0.0.2");
    CHECK_STR(hosts.hosts[1]->login, "ada");
    CHECK_STR(hosts.hosts[1]->enl, "/opt/bcr/bin/enl");
    CHECK_STR(hosts.hosts[1]->abi, "x86_64");
    CHECK_UINT(hosts.hosts[1]->slots, 8);
    CHECK(hosts.hosts[2]->local);
    CHECK_STR(hosts.hosts[3]->address, "fe80::1%eth0");
    CHECK_STR(hosts.hosts[3]->path, "~/bin:/opt/our/bin:/");
    CHECK_STR(hosts.hosts[2]->path, NULL);
    CHECK_UINT(hosts.hosts[4]->slots, 65000);
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
    refused("n1 abi=vax",
            "machines:1: abi must be one of x86_64, i386, s390x, aarch64, arm, ppc64, ppc, riscv64, "
            "not \"vax\"");
    refused("n1 abi=x86", "abi must be");
    refused("n1 abi=x86_64,", "abi must be");
    refused("n1 path=", "machines:1: path must be folders that begin with / or ~/, with : between, not \"\"");
    refused("n1 path=bin", "path must be");
    refused("n1 path=~ada/bin", "path must be");
    refused("n1 path=/bin:", "path must be");
    refused("n1 path=/bin::/lib", "path must be");
    refused("n1 path=/a path=/b", "path is said twice");
    refused("n1 addr=a addr=b", "machines:1: addr is said twice in this line; leave one of the two out");
    refused("n1 slots=1 slots=2", "machines:1: slots is said twice in this line; leave one of the two out");
    refused("n1\nN1\n", "machines:2: host N1 is listed twice, first in line 1; take one of the two out");
    refused("n1 local local\n", "machines:1: local is said twice in this line");
    refused("a\nn1\n# n1\n\nb\nB\nN1\n", "machines:6: host B is listed twice"); /* the first of the two */
    refused("LocalHost\n", "machines:1: localhost is the host on which bcr_enlist is called");
    refused("n1 local addr=b", "machines:1: host n1 is local");
    refused("n1 local login=b", "machines:1: host n1 is local");
    refused("n1 \x1b[2J", "\\x1b[2J");
}

TEST(a_byte_that_is_zero_ends_no_name)
{
    static const char *const lines[] = {"n1\nn\0two\n", "n1\nn2\0\n", "n1\nn2 path=/a\0b\n", "n1\nn2 # \0\n"};
    static const size_t lengths[] = {10, 7, 16, 10};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct enl_hosts read = {0};
        CHECK_INT(
            enl_hosts_parse(&read, ENL_HOSTS_FILE, "machines", lines[i], lengths[i], error, sizeof error),
            -1);
        CHECK_STR(error,
                  "machines:2: this line has a byte that is zero; write the file as plain text (UTF-8)");
        enl_hosts_free(&read);
    }
}

TEST(a_range_is_each_of_its_names)
{
    CHECK_INT(parse("node[01-03,20]*4\n"
                    "rack[1-2]n[8-10] login=ada\n"
                    "a[9-11]-ib addr=10.0.[0-0].[1-3]\n"
                    "one*7\n"
                    "x[5]\n"),
              0);
    check_all("node01:4 node02:4 node03:4 node20:4 rack1n8:1 rack1n9:1 rack1n10:1 rack2n8:1 rack2n9:1 "
              "rack2n10:1 a9-ib:1@10.0.0.1 a10-ib:1@10.0.0.2 a11-ib:1@10.0.0.3 one:7 x5:1");
    CHECK_STR(enl_hosts_find(&hosts, "rack2N9")->login, "ada");
    CHECK_UINT(enl_hosts_find(&hosts, "rack2n9")->line, 2);
    CHECK_INT(parse("n[098-101] addr=all\n"), 0);
    check_all("n098:1@all n099:1@all n100:1@all n101:1@all");
    CHECK_INT(enl_hosts_select(&hosts, "m[1-2]*3,N[100,98-99],n101*2", error, sizeof error), 0);
    check_all("m1:3 m2:3 N100:1@all N98:1 N99:1 n101:2@all");
}

TEST(ranges_that_cannot_be_are_refused_with_what_to_do)
{
    refused("a\nnode[16-01]\n",
            "machines:2: \"node[16-01]\" has a range that goes down; write the smaller number "
            "first");
    refused("n[1-10", "machines:1: \"n[1-10\" has a [ without its ]; close the range");
    refused("n1-10]", "machines:1: \"n1-10]\" has a ] without its [; open the range");
    refused("n[]", "machines:1: \"n[]\" must have numbers in its brackets, as in node[01-16,20]");
    refused("n[a-c]", "must have numbers in its brackets");
    refused("n[1-]", "must have numbers in its brackets");
    refused("n[-1]", "must have numbers in its brackets");
    refused("n[1,]", "must have numbers in its brackets");
    refused("n[1[2]]", "must have numbers in its brackets");
    refused("n[1-4-8]", "must have numbers in its brackets");
    refused("n[1-016]", "has a range whose ends have zeros of two kinds; write both with as many digits");
    refused("n[0-99999999]",
            "machines:1: \"n[0-99999999]\" stands for more than 150000 names, which is what a list "
            "may have; make its ranges smaller");
    refused("n[0-999][0-999]", "stands for more than 150000 names");
    refused("n[0-99999][0-99999][0-99999][0-99999]", "stands for more than 150000 names");
    refused("n[0-9999999999]",
            "has a number of more than 9 digits in its brackets; put common digits before");
    refused("n[0-99999]\nm[0-99999]\n", "machines:2: a list has at most 150000 hosts; take some out");
    refused("n[1-3,2]", "machines:1: host n2 is listed twice in this line; take one of the two out");
    refused("n[1-3]\nn2\n", "machines:2: host n2 is listed twice, first in line 1");
    refused("n[1-3] addr=10.0.0.[1-2]",
            "machines:1: addr= has 2 addresses for 3 names; give it as many, or one for all");
    refused("n[1-3] addr=-x[1-3]", "machines:1: addr must be a host name or an IP address, not \"-x1\"");
    refused("n[1-3] addr=a[1-3] addr=b", "machines:1: addr is said twice in this line");
    refused("-[1-3]", "machines:1: \"-1\" is no host's name");
    refused("n[1-3]*0",
            "machines:1: the number behind * is the slots, from 1 to 65000, not as in \"n[1-3]*0\"");
    refused("n*", "the number behind * is the slots");
    refused("n*65001", "the number behind * is the slots");
    refused("n*4 slots=4", "machines:1: slots is said twice in this line");
    refused("n*4*4", "machines:1: \"n*4\" is no host's name");
    char wide[300] = "";
    memset(wide, 'n', 250);
    strcpy(wide + 250, "[000001]");
    refused(wide, "stands for names of more than 255 letters; shorten it");
    CHECK_INT(parse("n1\n"), 0);
    CHECK_INT(enl_hosts_select(&hosts, "n[3-1]", error, sizeof error), -1);
    CHECK_STR(error, "--host: \"n[3-1]\" has a range that goes down; write the smaller number first");
    CHECK_INT(enl_hosts_select(&hosts, "n1*0", error, sizeof error), -1);
    CHECK_STR(error, "--host: the number behind * is the slots, from 1 to 65000, not as in \"n1*0\"");
    check_all("n1:1");
}

TEST(a_node_file_of_open_mpi_or_pbs_counts_its_names)
{
    CHECK_INT(parse_nodes("n1\nn2\nn1\nn1\nN2\nn3\n"), 0);
    check_all("n1:3 n2:2 n3:1");
    CHECK_INT(parse_nodes("# ours\nn2 slots=2 max_slots=4\nn1 slots=4\nn2 slots=3\nn9 max-slots=8\n"), 0);
    check_all("n2:5 n1:4 n9:8");
    CHECK_INT(parse("n2 slots=2 max_slots=4\n"), 0);
    check_all("n2:2");
    refused("n2 slots=5 max_slots=4\n",
            "machines:1: there are 5 slots, and at most 4; leave max_slots out, or make it "
            "larger");
    refused("n2 max_slots=5 max-slots=5\n", "machines:1: max-slots is said twice in this line");
    refused("n2 max_slots=x\n", "slots must be a number");
    CHECK_INT(parse_nodes("n1 login=ada\nn2\nn1\n"), -1);
    CHECK_STR(error, "nodes:3: host n1 is not what line 1 says; let both lines say the same of it");
    CHECK_INT(parse_nodes("n1 slots=60000\nn1 slots=5001\n"), -1);
    CHECK_STR(error, "nodes:2: host n1 has more than 65000 slots; take some of its lines out");
    CHECK_INT(parse_nodes("n[1-3]\nn[2-3]*4\n"), 0);
    check_all("n1:1 n2:5 n3:5");
}

static int slurm(const char *nodes, const char *tasks, const char *cpus)
{
    enl_hosts_free(&hosts);
    return enl_allocation_slurm(&hosts, nodes, tasks, cpus, error, sizeof error);
}

TEST(a_slurm_job_says_its_nodes_and_slots)
{
    CHECK_INT(slurm("n[1-3],big,m[07,09-10]", "2(x3),1,4(x3)", NULL), 0);
    check_all("n1:2 n2:2 n3:2 big:1 m07:4 m09:4 m10:4");
    CHECK_INT(slurm("n1", "16", NULL), 0);
    check_all("n1:16");
    CHECK_INT(slurm("n[1-2]", "1", "8(x2)"), 0); /* of a step on one node */
    check_all("n1:8 n2:8");
    CHECK_INT(slurm("n[1-2]", NULL, "8,4"), 0);
    check_all("n1:8 n2:4");
    CHECK_INT(slurm("n[1-2]", "1(x3)", "8"), -1);
    CHECK_STR(error,
              "neither SLURM_TASKS_PER_NODE (1(x3)) nor SLURM_JOB_CPUS_PER_NODE (8) is for the 2 nodes of "
              "SLURM_JOB_NODELIST; name the nodes and their slots in a hosts file");
    static const char *const wrong[] = {"", "0(x2)", "2(x0)", "2(x)", "2(x2", "x", "2(2)", "2,", "99999(x2)"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (slurm("n[1-2]", wrong[i], NULL) != -1)
            FAIL("%s is taken for two nodes", wrong[i]);
    CHECK_INT(slurm("n[2-1]", "1", NULL), -1);
    CHECK_STR(error,
              "SLURM_JOB_NODELIST: \"n[2-1]\" has a range that goes down; write the smaller number first");
    CHECK_INT(slurm("n1,-x", "1(x2)", NULL), -1);
    CHECK_STR(error, "SLURM_JOB_NODELIST: \"-x\" is no node's name, or there is no memory; name the nodes in "
                     "a hosts file");
    CHECK_INT(slurm("n1,n1", "1(x2)", NULL), -1);
    CHECK_STR(error, "SLURM_JOB_NODELIST: host n1 is listed twice; take one of the two out");
}

static void load(const char *rshpath, const char *hostfile, const char *names)
{
    static struct bcri_config config;
    static char *environment[] = {NULL};
    const struct bcri_config_paths paths = {"/there/is/none", "/there/is/none", "/there/is/none",
                                            environment};
    const struct enl_hosts_options options = {.hostfile = hostfile, .names = names};
    CHECK_INT(bcri_config_load(&config, &paths, error, sizeof error), 0);
    if (strcmp(rshpath, "srun") != 0)
        CHECK_INT(bcri_config_set(&config, "rshpath", rshpath, "BCR_RSHPATH", error, sizeof error), 0);
    enl_hosts_free(&hosts);
    error[0] = '\0';
    const int failed = enl_hosts_load(&hosts, &config, &options, error, sizeof error);
    CHECK_INT(failed, error[0] != '\0' ? -1 : 0);
    CHECK_STR(config.rshpath, rshpath);
    bcri_config_fini(&config);
}

TEST(the_job_of_a_batch_system_is_the_list_if_nothing_else_is_said)
{
    char path[64];
    snprintf(path, sizeof path, "%s/nodes", test_folder());
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, "p1\np2\np1\n", 9) == 9);
    close(fd);
    setenv("SLURM_JOB_ID", "77", 1);
    setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
    setenv("SLURM_JOB_CPUS_PER_NODE", "4(x2)", 1);
    unsetenv("SLURM_TASKS_PER_NODE");
    load("srun", NULL, NULL);
    check_all("n1:4 n2:4");
    CHECK_STR(hosts.source, "job 77 of Slurm");
    load("/opt/ours", NULL, "n2");
    check_all("n2:4");
    load("/usr/bin/ssh", path, NULL);
    check_all("p1:2 p2:1");
    unsetenv("SLURM_JOB_ID");
    load("/usr/bin/ssh", NULL, NULL);
    CHECK_UINT(hosts.count, 0);
    setenv("PBS_NODEFILE", path, 1);
    load("/usr/bin/ssh", NULL, NULL);
    check_all("p1:2 p2:1");
    unlink(path);
    load("/usr/bin/ssh", NULL, NULL);
    CHECK(strstr(error, ": there is no such file") != NULL);
    unsetenv("PBS_NODEFILE");
}

TEST(options_choose_among_the_hosts_and_add_some)
{
    CHECK_INT(parse("n1 slots=4\nn2 addr=10.0.0.2\nn3 local\n"), 0);
    CHECK_INT(enl_hosts_select(&hosts, "n2,other,N1,n3", error, sizeof error), 0);
    CHECK_UINT(hosts.count, 4);
    CHECK_STR(hosts.hosts[0]->address, "10.0.0.2");
    CHECK_STR(hosts.hosts[1]->name, "other");
    CHECK_UINT(hosts.hosts[2]->slots, 4);
    CHECK(hosts.hosts[3]->local);
    CHECK_INT(enl_hosts_select(&hosts, "n2,,n1", error, sizeof error), -1);
    CHECK_STR(error, "--host: \"\" is no host's name; names are separated by commas");
    CHECK_INT(enl_hosts_select(&hosts, "n2,n2", error, sizeof error), -1);
    CHECK_STR(error, "--host: host n2 is listed twice; take one of the two out");
    CHECK_UINT(hosts.count, 4);
    CHECK_INT(enl_hosts_add_local(&hosts, 2, error, sizeof error), 0);
    CHECK_STR(hosts.hosts[4]->name, "local1");
    CHECK(hosts.hosts[5]->local);
    CHECK_INT(enl_hosts_add_local(&hosts, 1, error, sizeof error), -1);
    CHECK_STR(error, "--local: host local1 is listed twice; take one of the two out");
}

TEST(a_file_that_others_can_write_is_not_read)
{
    char path[64], keep[128];
    snprintf(path, sizeof path, "%s/hosts", test_folder());
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    struct bcri_config config = {.hostsfile = path};
    CHECK(fd >= 0 && write(fd, "n1\n", 3) == 3);
    CHECK_INT(parse(""), 0);
    const struct enl_hosts_options options = {.local = 1};
    CHECK_INT(enl_hosts_load(&hosts, &config, &options, error, sizeof error), 0);
    CHECK_UINT(hosts.count, 2);
    CHECK_INT(fchmod(fd, 0620), 0);
    CHECK_INT(enl_hosts_read(&hosts, ENL_HOSTS_FILE, path, error, sizeof error), -1);
    CHECK(strstr(error, "may be written by others than its owner") != NULL);
    close(fd);
    unlink(path);
    CHECK_INT(enl_hosts_read(&hosts, ENL_HOSTS_FILE, path, error, sizeof error), -1);
    snprintf(keep, sizeof keep, "%s: there is no such file", path);
    CHECK_STR(error, keep);
    enl_hosts_free(&hosts);
}

/* As Slurm writes them: one word of 10,000 names. */
TEST(a_list_of_ten_thousand_nodes_is_read_in_no_time)
{
    const unsigned MANY = 10000;
    char *text = malloc(MANY * 6 + 64), slots[32];
    size_t used = (size_t)sprintf(text, "n[0");
    CHECK(text != NULL);
    for (unsigned i = 1; i < MANY; i++)
        used += (size_t)sprintf(text + used, ",%u", 2 * i);
    sprintf(text + used, "]");
    snprintf(slots, sizeof slots, "3(x%u)", MANY);
    CHECK_INT(slurm(text, slots, NULL), 0);
    CHECK_UINT(hosts.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "N%u", 2 * i);
        CHECK_PTR(enl_hosts_find(&hosts, name), hosts.hosts[i]);
    }
    CHECK_PTR(enl_hosts_find(&hosts, "n3"), NULL);
    CHECK_UINT(hosts.hosts[MANY - 1]->slots, 3);
    free(text);
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
    CHECK_INT(enl_hosts_parse(&hosts, ENL_HOSTS_FILE, "machines", text, used, error, sizeof error), 0);
    CHECK_UINT(hosts.count, MANY);
    CHECK_STR(enl_hosts_find(&hosts, "H249EF")->name, "h249ef");
    free(text);
}

TEST(lines_of_other_systems_and_long_ones)
{
    static char text[70000];
    CHECK_INT(parse("n1\r\nn2 slots=2\r\n\r\n"), 0);
    CHECK_UINT(hosts.count, 2);
    CHECK_UINT(hosts.hosts[1]->slots, 2);
    memset(text, 'n', sizeof text - 1);
    CHECK_INT(parse(text), -1);
    CHECK(strstr(error, "nnn...\" stands for names of more than 255 letters") != NULL);
    memset(text, ' ', sizeof text - 2);
    text[sizeof text - 2] = 'x';
    CHECK_INT(parse(text), 0);
    CHECK_STR(hosts.hosts[0]->name, "x");
    CHECK_INT(parse("\xef\xbb\xbfn1\n"), -1);
    CHECK(strstr(error, "machines:1: \"\\xef\\xbb\\xbfn1\" is no host's name") != NULL);
}

/* ---- a list that is in use changes ---- */

static struct enl_host *line_of(const char *line)
{
    return enl_host_of_line(line, "bcr_hostadd", error, sizeof error);
}

TEST(a_line_is_one_host)
{
    struct enl_host *host = line_of("n1*3 addr=10.0.0.2 login=ada enl=/opt/enl path=~/bin # the first");
    CHECK(host != NULL);
    CHECK_STR(host->name, "n1");
    CHECK_STR(host->address, "10.0.0.2");
    CHECK_STR(host->login, "ada");
    CHECK_STR(host->enl, "/opt/enl");
    CHECK_STR(host->path, "~/bin");
    CHECK_UINT(host->slots, 3);
    CHECK_UINT(host->line, 0);
    enl_host_free(host);
    static const struct {
        const char *line, *error;
    } wrong[] = {
        {"", "bcr_hostadd: this names 0 hosts; give one line of a hosts file, with one name"},
        {"# n1", "bcr_hostadd: this names 0 hosts"},
        {"n[1-3]", "bcr_hostadd: this names 3 hosts"},
        {"n1\nn2", "bcr_hostadd: \"n2\" is not known"},
        {"-n", "bcr_hostadd: \"-n\" is no host's name"},
        {"localhost", "bcr_hostadd: localhost is the host on which"},
        {"n1 local addr=n2", "bcr_hostadd: host n1 is local"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_PTR(line_of(wrong[i].line), NULL);
        if (strncmp(error, wrong[i].error, strlen(wrong[i].error)) != 0)
            FAIL("%s: %s", wrong[i].line, error);
    }
}

/* Adds a host of that number; gives it. */
static struct enl_host *insert(unsigned number)
{
    char name[32];
    snprintf(name, sizeof name, "%c%u", number % 2 == 0 ? 'N' : 'n', number);
    struct enl_host *host = line_of(name);
    CHECK(host != NULL && enl_hosts_find(&hosts, name) == NULL && enl_hosts_insert(&hosts, host));
    return host;
}

TEST(hosts_come_and_go_while_others_point_to_the_list)
{
    enum { MANY = 500 };
    struct enl_host *all[MANY];
    uint64_t random = test_seed();
    CHECK_INT(parse("b\na\n"), 0);
    const struct enl_host *first = hosts.hosts[0];
    for (unsigned i = 0; i < MANY; i++)
        all[i] = insert(i * 7919 % 100000);
    CHECK_UINT(hosts.count, MANY + 2);
    CHECK_PTR(hosts.hosts[0], first);
    for (unsigned i = 0; i < MANY; i++) { /* they lie in their order, and are found by any case */
        char name[32];
        snprintf(name, sizeof name, "n%u", i * 7919 % 100000);
        CHECK_PTR(hosts.hosts[i + 2], all[i]);
        CHECK_PTR(enl_hosts_find(&hosts, name), all[i]);
        CHECK(i == 0 || all[i]->rank > all[i - 1]->rank);
    }
    for (unsigned left = MANY; left > 0; left--) {
        const unsigned i = (unsigned)test_rand_below(&random, left);
        struct enl_host *host = all[i];
        enl_hosts_take_out(&hosts, host);
        all[i] = all[left - 1];
        CHECK_UINT(hosts.count, left + 1);
        CHECK_PTR(enl_hosts_find(&hosts, host->name), NULL); /* its own block is there still */
        if (left > 1)
            CHECK_PTR(enl_hosts_find(&hosts, all[0]->name), all[0]);
    }
    CHECK_PTR(enl_hosts_find(&hosts, "B"), first);
    enl_hosts_take_out(&hosts, hosts.hosts[0]);
    enl_hosts_take_out(&hosts, hosts.hosts[0]);
    CHECK_UINT(hosts.count, 0);
    CHECK_PTR(enl_hosts_find(&hosts, "a"), NULL);
    const struct enl_host *again = insert(1);
    CHECK_PTR(enl_hosts_find(&hosts, "n1"), again);
    CHECK_PTR(hosts.hosts[0], again);
    enl_hosts_free(&hosts);
}

/* ---- which of them a job has ---- */

/* Hosts of this machine's ABI, and of two others. */
static const char kinds[] = "b1 abi=%s group=all+odd speed=fast\n"
                            "a1 group=old+all cpugen=p3 speed=slow net=10.0.0.1@ether+m1@myri\n"
                            "a2 group=all cpugen=p4 speed=fast net=10.0.0.2@ether\n"
                            "a3 cpugen=p4 speed=slow net=fd00::3@myri slots=4\n"
                            "b2 abi=%s group=odd\n";

static int choose(const struct enl_roster_choice *choice, bool is_heterogeneous)
{
    char text[sizeof kinds + 32];
    const bool is_x86 = strcmp(enl_abi(), "x86_64") == 0;
    snprintf(text, sizeof text, kinds, is_x86 ? "s390x" : "x86_64", is_x86 ? "i386" : "ppc");
    CHECK_INT(parse(text), 0);
    snprintf(hosts.source, sizeof hosts.source, "machines");
    return enl_hosts_choose(&hosts, choice, is_heterogeneous, error, sizeof error);
}

#define CHOSEN(want, is_heterogeneous, ...)                                          \
    do {                                                                             \
        if (choose(&(struct enl_roster_choice){__VA_ARGS__}, is_heterogeneous) != 0) \
            FAIL("refused: %s", error);                                              \
        check_all(want);                                                             \
    } while (0)
#define NOT_CHOSEN(part, is_heterogeneous, ...)                                            \
    do {                                                                                   \
        CHECK_INT(choose(&(struct enl_roster_choice){__VA_ARGS__}, is_heterogeneous), -1); \
        if (strstr(error, part) == NULL)                                                   \
            FAIL("wanted: %s\ngot: %s", part, error);                                      \
    } while (0)

TEST(a_job_has_the_hosts_whose_lines_say_what_it_asks_for)
{
    CHOSEN("a1:1 a2:1 a3:4", false, .group = NULL); /* of this machine's ABI */
    CHOSEN("b1:1 a1:1 a2:1 a3:4 b2:1", true, .group = NULL);
    CHOSEN("a1:1 a2:1", false, .group = "all");
    if (strncmp(hosts.source, "machines, group all, abi ", 25) != 0)
        FAIL("the hosts come from %s", hosts.source);
    CHOSEN("b1:1 a1:1 a2:1", true, .group = "all");
    CHOSEN("b1:1", false, .group = "odd"); /* the first one's, where none is of this machine's */
    CHOSEN("b1:1 b2:1", true, .group = "odd");
    CHOSEN("a2:1 a3:4", false, .cpugen = "p4");
    CHOSEN("a3:4", false, .abi = enl_abi(), .cpugen = "p4", .speed = "slow");
    CHOSEN("a1:1 a2:1 a3:4", true, .abi = enl_abi());
    CHOSEN("a2:1", false, .speed = "fast");
    CHOSEN("a1:1 a2:1 a3:4", false, .networks = "myri+ether");
    CHECK(enl_hosts_find(&hosts, "b1") == NULL);
    CHOSEN("b1:1", true, .abi = strcmp(enl_abi(), "x86_64") == 0 ? "s390x" : "x86_64");
}

TEST(what_no_host_has_is_refused_with_what_there_is)
{
    NOT_CHOSEN("group new: no host has it; there is: all, odd, old (machines)", false, .group = "new");
    NOT_CHOSEN("group al: no host has it", false, .group = "al");
    NOT_CHOSEN("network atm: no host has it; there is: ether, myri (machines", false,
               .networks = "ether+atm");
    NOT_CHOSEN("network myri: no host has it; there is: ether (machines, group all", false, .group = "all",
               .networks = "myri", .speed = "fast");
    NOT_CHOSEN("network ether: no host has a network (machines, group odd", true, .group = "odd",
               .networks = "ether");
    NOT_CHOSEN("cpugen k7: no host has it; there is: p3, p4", false, .cpugen = "k7");
    NOT_CHOSEN("speed fast: no host has it; there is: slow", false, .cpugen = "p3", .speed = "fast");
    NOT_CHOSEN("abi riscv64: no host has it; there is: ", true, .abi = "riscv64");
    enl_hosts_free(&hosts);
    const struct enl_roster_choice group = {.group = "all"}, own = {.abi = enl_abi()}, none = {0};
    CHECK_INT(enl_hosts_choose(&hosts, &group, false, error, sizeof error), -1);
    CHECK_STR(error, "group all: there is no list of hosts");
    CHECK_INT(enl_hosts_choose(&hosts, &own, false, error, sizeof error), 0);
    CHECK_INT(enl_hosts_choose(&hosts, &none, false, error, sizeof error), 0);
}

TEST(a_host_has_a_name_on_each_of_its_networks)
{
    char address[ENL_HOST_NAME_MAX + 1] = "";
    CHECK_INT(parse("a net=10.0.0.1@ether+node-m@myri+fd00::1@six"), 0);
    const struct enl_host *const host = hosts.hosts[0];
    CHECK(enl_host_on_network(host, "ether", 5, address));
    CHECK_STR(address, "10.0.0.1");
    CHECK(enl_host_on_network(host, "myri+ether", 4, address));
    CHECK_STR(address, "node-m");
    CHECK(enl_host_on_network(host, "six", 3, address));
    CHECK_STR(address, "fd00::1");
    CHECK(!enl_host_on_network(host, "eth", 3, address));
    CHECK(!enl_host_on_network(host, "ethernet", 8, address));
    refused("a net=10.0.0.1", "machines:1: net must be ADDRESS@NETWORK");
    refused("a net=@n", "net must be");
    refused("a net=x@", "net must be");
    refused("a net=x@n+", "net must be");
    refused("a net=-x@n", "net must be");
    refused("a net=x@n net=y@m", "net is said twice");
    refused("a[1-2] net=x@n", "this line names 2; give each a line");
    refused("a group=", "group must be");
    refused("a group=x++y", "group must be");
    refused("a group=x,y", "group must be");
    refused("a cpugen=1.5", "cpugen must be");
    refused("a speed=-1", "speed must be");
}
