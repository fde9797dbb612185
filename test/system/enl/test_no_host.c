/* SPDX-License-Identifier: MIT */
/* Hosts that cannot be used: each is told in one sentence with the host, the command and a remedy. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bcr/error.h>

#include "check.h"
#include "run.h"

static struct run run;

static void hosts(const char *text)
{
    run_write_file("machines", text, strlen(text), 0600);
}

/* A start on host `name` of `machines` fails, and that is said. */
static void is_refused(const char *name, const char *part)
{
    char want[64];
    snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", name, "enlist", run_cce(), "1");
    CHECK_STR(run_told_by(&run), want);
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, part);
    const char *newline = strchr(run.error, '\n');
    CHECK(newline != NULL && newline[1] == '\0');
}

TEST(a_host_that_cannot_be_started_is_told_in_a_sentence)
{
    static const struct {
        const char *script, *part;
    } cases[] = {
        {"#!/bin/sh\necho 'Warning: x' >&2\necho 'Permission denied (publickey).' >&2\nexit 255\n",
         "ssh-to-nowhere ended with status 255: Permission denied (publickey); ssh must let you in without a "
         "question"},
        {"#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n", "log in there once by hand"},
        {"#!/bin/sh\necho 'ssh: Could not resolve hostname n1: Name or service not known' >&2\nexit 255\n",
         "addr= in the hosts file says where a host is"},
        {"#!/bin/sh\necho 'ssh: connect to host n1 port 22: Connection refused' >&2\nexit 255\n",
         "no sshd listens there"},
        {"#!/bin/sh\necho 'ssh: connect to host n1 port 22: No route to host' >&2\nexit 255\n",
         "the machine is down, or addr= in the hosts file is wrong"},
        {"#!/bin/sh\necho 'ssh: connect to host n1 port 22: Connection timed out' >&2\nexit 255\n",
         "the machine is down, or a firewall is between"},
        {"#!/bin/sh\necho 'sh: 1: exec: enl: not found' >&2\nexit 127\n",
         "install BCR there, or say where enl is"},
        {"#!/bin/sh\necho 'sh: 1: enl: Permission denied' >&2\nexit 126\n",
         "install BCR there, or say where enl is"},
        {"#!/bin/sh\necho 'sh: 1: enl: cannot execute binary file: Exec format error' >&2\nexit 126\n",
         "enl there is for another machine"},
        {"#!/bin/sh\necho 'enl: error while loading shared libraries: libuv.so.1' >&2\nexit 127\n",
         "install the libraries there that enl needs"},
        {"#!/bin/sh\necho '@ REMOTE HOST IDENTIFICATION HAS CHANGED! @' >&2\n"
         "echo 'Host key verification failed.' >&2\nexit 255\n",
         "ssh-keygen -R forgets the old key"},
        {"#!/bin/sh\nexit 0\n", "must name enl itself"},
        {"#!/bin/sh\necho 'Welcome'\necho 'This login is for backups only.'\nexit 1\n",
         "ssh-to-nowhere ended with status 1: it printed: This login is for backups only; "},
        {"#!/bin/sh\necho 'Warning: x' >&2\necho 'This login is for backups only.'\nexit 1\n",
         "ssh-to-nowhere ended with status 1: Warning: x; it printed: This login is for backups only; "},
        {"#!/bin/sh\nexec sleep 60\n", "nothing came from it for 700 ms (connecttimeout)"},
        {"#!/bin/sh\nprintf '"
         "\\274R-tree\\001\\000\\000\\000\\013\\202\\241v\\002\\241t\\244beat'\nexec sleep 60\n",
         "another version of the protocol"},
        {"#!/bin/sh\nexec tr '\\000' x </dev/zero\n", "no enl speaks there"},
        {"#!/bin/sh\nkill -9 $$\n", "ssh-to-nowhere was killed by signal 9"},
    };
    run_folder();
    hosts("n1\n");
    setenv("BCR_RSHPATH", "./ssh-to-nowhere", 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char want[64];
        run_script("ssh-to-nowhere", cases[i].script);
        setenv("BCR_CONNECTTIMEOUT", strstr(cases[i].part, "(connecttimeout)") != NULL ? "700" : "60000", 1);
        run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
        snprintf(want, sizeof want, "enlist -1 %d", bcrE_NOHOST);
        CHECK_STR(run_told_by(&run), want);
        run_end(&run);
        CHECK_INT(run.status, 0);
        run_check_error(&run, ") on n1 was not started: host n1 cannot be used: ");
        run_check_error(&run, "; the command was: ");
        run_check_error(&run, "ssh-to-nowhere -T -x -oBatchMode=yes -oConnectTimeout=");
        run_check_error(&run, cases[i].part);
    }
    unsetenv("BCR_CONNECTTIMEOUT");
    setenv("BCR_RSHPATH", "/there/is/no/rsh", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    run_check_error(&run, "/there/is/no/rsh n1 ");
    run_check_error(&run, "could not be executed: No such file or directory; rshpath in bcrrc names");
    unsetenv("BCR_RSHPATH");
}

TEST(plain_rsh_is_warned_about)
{
    run_folder();
    CHECK(mkdir("bin", 0700) == 0 || errno == EEXIST);
    run_script("bin/rsh", "#!/bin/sh\nshift\nexec sh -c \"$1\"\n");
    hosts("n1 slots=2\n");
    char path[300];
    snprintf(path, sizeof path, "%s/bin/rsh", run_folder());
    setenv("BCR_RSHPATH", path, 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, "rsh sends the program's key over the network in the clear");
    unsetenv("BCR_RSHPATH");
}

TEST(another_architecture_than_the_hosts_file_says_is_refused)
{
    run_folder();
    hosts("n1 local abi=riscv64\n"); /* on which this test never runs */
    setenv("SYS_CHILD", "tell", 1);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    run_check_error(
        &run,
        "hosts file says abi=riscv64; enl= in the hosts file names another one there, or take abi= out");
}

TEST(a_program_for_an_architecture_that_no_host_has_is_refused_with_what_it_takes)
{
    unsigned char head[64];
    char told[64];
    run_folder();
    hosts("n1 local\n");
    const int fd = open(run_cce(), O_RDONLY | O_CLOEXEC);
    CHECK_INT(read(fd, head, sizeof head), sizeof head);
    close(fd);
    head[4] = 2; /* 64 bits, */
    head[5] = 1;
    head[18] = 243; /* RISC-V, */
    head[19] = 0;   /* on which this test never runs */
    run_write_file("foreign", head, sizeof head, 0700);
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", "./foreign", "1");
    snprintf(told, sizeof told, "enlist -1 %d", bcrE_NOPROG);
    CHECK_STR(run_told_by(&run), told);
    run_end(&run);
    run_check_error(
        &run, "./foreign) on n1 was not started: ./foreign (./foreign) is built for riscv64, this enl for ");
    run_check_error(&run, "as a host of the program that is an entry with abi=riscv64 in the hosts file");
}

TEST(the_machine_that_a_start_was_meant_for_is_named)
{
    run_folder();
    hosts("n1 local\n");
    is_refused("n2", ") on n2 was not started: machine n2 is not this one");
}

TEST(an_enl_without_a_slash_is_looked_for_on_path)
{
    char path[600];
    const char *old = getenv("PATH");
    run_folder();
    hosts("n1 local enl=enl-by-name\nn2 local enl=enl-of-nobody\n");
    is_refused(
        "n2",
        "host n2 cannot be used: there is no enl-of-nobody on PATH, which enl= in the hosts file names");
    snprintf(path, sizeof path, "#!/bin/sh\necho taken >&2\nexec %s \"$@\"\n", run_enl());
    run_script("enl-by-name", path);
    snprintf(path, sizeof path, "%s:%s", run_folder(), old);
    setenv("PATH", path, 1);
    setenv("SYS_CHILD", "out hello exit 7", 1);
    run_start(&run, run_enl(), "--output", "--onfail", "isolate", "--hosts", "machines", run_cce(), "at",
              "n1", "enlist", run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    CHECK_STR(run.text, "[1] hello\n");
    hosts("n1 local enl=enl-by-name\n");
    run_script("enl-by-name", "#!/bin/sh\nexit 3\n");
    is_refused("n1", "enl-by-name ended with status 3; enl= in the hosts file");
    run_script("enl-by-name", "#!/bin/sh\nexit 0\n");
    is_refused("n1", "enl-by-name ended with status 0; enl= in the hosts file");
}

/* Binds a UDP port, and returns it. */
static int taken_port(void)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6};
    struct sockaddr_in four = {.sin_family = AF_INET};
    socklen_t length = sizeof at;
    int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &length) == 0)
        return ntohs(at.sin6_port);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    length = sizeof four;
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&four, sizeof four) == 0 &&
          getsockname(fd, (struct sockaddr *)&four, &length) == 0);
    return ntohs(four.sin_port);
}

TEST(a_port_that_another_program_has_is_told)
{
    char port[16], want[400], host[128] = "";
    run_folder();
    hosts("n1 local\n");
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(port, sizeof port, "%d", taken_port());
    snprintf(want, sizeof want,
             "on n1 was not started: host n1 cannot be used: %s has no links to other hosts: UDP port %s "
             "there is in use; "
             "give dataport in bcrrc a range",
             host, port);
    setenv("BCR_DATAPORT", port, 1);
    is_refused("n1", want);
    unsetenv("BCR_DATAPORT");
    setenv("BCR_BINDADDR", "2001:db8:77::/48", 1); /* of documents alone */
    is_refused("n1", "no interface there that is up has an address of bindaddr 2001:db8:77::/48 in bcrrc");
    unsetenv("BCR_BINDADDR");
}

/* Of which the receive pool would be more than is left. */
TEST(limited_address_space_makes_the_receive_pool_smaller)
{
    if (test_is_instrumented())
        SKIP("a sanitizer needs more address space than any limit leaves");
    const struct rlimit limit = {UINT64_C(1) << 30, RLIM_INFINITY};
    run_folder();
    hosts("n1 local\n");
    setenv("BCR_RECVPOOL", "4000", 1);
    setenv("SYS_CHILD", "out hello", 1);
    CHECK_INT(setrlimit(RLIMIT_AS, &limit), 0);
    run_start(&run, run_enl(), "--output", "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(),
              "1");
    run_told_by(&run);
    run_end(&run);
    CHECK_STR(run.error, "");
    CHECK_STR(run.text, "[1] hello\n");
    char host[128] = "", log[200];
    CHECK_INT(gethostname(host, sizeof host - 1), 0);
    snprintf(log, sizeof log, "bcr.%s.%d.log", host, (int)run.pid);
    run_wait_for_text(log, "MiB here, a quarter of what address space or files may have (ulimit -v, -f)");
    unsetenv("BCR_RECVPOOL");
}

TEST(an_address_in_numbers_gets_no_suffix)
{
    char text[256];
    run_folder();
    run_script("rsh-like", "#!/bin/sh\necho \"$1\" >>args\nexit 1\n");
    hosts("n1 addr=192.0.2.1\nn2 addr=far\nn3-fast addr=near\n");
    setenv("BCR_RSHPATH", "./rsh-like", 1);
    setenv("BCR_IFACESUFFIX", "-fast", 1);
    is_refused("n1", "host n1 cannot be used");
    is_refused("n2", "host n2 cannot be used");
    is_refused("n3", "host n3-fast cannot be used");
    run_read_file("args", text, sizeof text);
    CHECK_STR(text, "192.0.2.1\nfar-fast\nnear\n");
    unsetenv("BCR_IFACESUFFIX");
    unsetenv("BCR_RSHPATH");
}

/* What a daemon elsewhere has to say names its host. */
TEST(a_message_of_another_host_says_whose_it_is)
{
    run_folder();
    hosts("n1 local\n");
    run_write_file(".bcrrc", "endscript ./failing\n", 20, 0600);
    run_script("failing", "#!/bin/sh\nexit $(($4 + 4))\n");
    run_start(&run, run_enl(), "--hosts", "machines", run_cce(), "at", "n1", "enlist", run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    run_check_error(&run, "enl: host n1: endscript ");
    run_check_error(&run, "ended with status 4");
    run_check_error(&run, "enl: endscript ");
    run_check_error(&run, "ended with status 5");
    run_write_file(".bcrrc", "", 0, 0600);
}

/* The program goes on, and is told how much of the log there is missing. */
TEST(a_disk_that_is_full_elsewhere_is_told)
{
    char text[600];
    run_folder();
    snprintf(text, sizeof text, "n1 local enl=%s/limited\n", run_folder());
    hosts(text);
    snprintf(text, sizeof text, "#!/bin/sh\nulimit -f 10240\nexec %s \"$@\"\n", run_enl());
    run_script("limited", text);
    setenv("SYS_CHILD", "flood 120000", 1);
    run_start(&run, run_enl(), "--output=none", "--hosts", "machines", run_cce(), "at", "n1", "enlist",
              run_cce(), "1");
    run_told_by(&run);
    run_end(&run);
    CHECK_INT(run.status, 0);
    run_check_error(&run, " lines could not be written into the log on n1: File too large");
}
