/* SPDX-License-Identifier: MIT */
/* Names of programs: those that are given, and those that enl makes where others have made the same. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/channel.h"
#include "check.h"
#include "run.h"

static struct run run, second, asked;

/* Whether the folder has a file of that name. */
static bool has_file(const char *name)
{
    char path[512];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", run_folder(), name);
    return stat(path, &status) == 0;
}

/* A name that no program outside this test has. */
static const char *own_name(void)
{
    static char name[32];
    snprintf(name, sizeof name, "test-%ld-x", (long)getpid());
    return name;
}

TEST(a_name_that_is_given_is_the_programs_address_and_log)
{
    char log[64];
    run_folder();
    run_start(&run, run_enl(), "--name", own_name(), run_cce(), "tell", "pause");
    run_told_by(&run);
    snprintf(log, sizeof log, "bcr.%s.log", own_name());
    CHECK(has_file(log));
    run_start(&asked, run_enl(), "ps", own_name());
    run_ends(&asked, 0, "");
    CHECK(strstr(asked.text, run_cce()) != NULL);
    run_start(&asked, run_enl(), "kill", own_name());
    run_ends(&asked, 0, "");
    run_ends(&run, 128 + SIGKILL, "is ended by enl kill");
}

/* The machine is in names that enl makes, not in those that are chosen. */
TEST(a_program_of_another_machine_is_told_with_that_only_if_its_name_has_it)
{
    static const char *const ends[][2] = {{"", "machine; its daemon here is "},
                                          {".of-mine", "machine; its daemon here is "},
                                          {".17-2", "machine, test-"}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sockaddr_un address;
        char name[64], daemon[80];
        snprintf(name, sizeof name, "%s%s", own_name(), ends[i][0]);
        snprintf(daemon, sizeof daemon, "%s:1", name);
        const socklen_t length = bcri_channel_address(&address, geteuid(), daemon);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, length) == 0 && listen(fd, 8) == 0);
        run_start(&asked, run_enl(), "ps", name);
        close(accept(fd, NULL, NULL));
        run_ends(&asked, 1, "was started on another ");
        run_check_error(&asked, ends[i][1]);
        close(fd);
    }
}

TEST(a_second_program_of_that_name_is_refused_and_one_after_it_is_not)
{
    char log[64];
    run_folder();
    setenv("BCR_NAME", own_name(), 1);
    run_start(&run, run_cce(), "tell", "wait"); /* from a shell */
    run_told_by(&run);
    run_start(&second, run_enl(), run_cce());
    run_ends(&second, 1, "a program of this user that has the name test-");
    run_check_error(&second, "is running; end it (enl kill test-");
    run_start(&second, run_cce());
    run_ends(&second, 1, "is running; end it");
    run_go();
    run_ends(&run, 0, "");
    run_start(&second, run_enl(), run_cce());
    run_ends(&second, 0, "");
    snprintf(log, sizeof log, "bcr.%s.log.old", own_name());
    CHECK(has_file(log));
}

TEST(programs_that_CCEs_start_do_not_have_the_name)
{
    run_folder();
    setenv("BCR_NAME", own_name(), 1);
    run_start(&run, run_cce(), "variable", "BCR_NAME", "exit", "0");
    CHECK_STR(run_told_by(&run), "variable none");
    run_ends(&run, 0, "");
    run_start(&run, run_enl(), run_cce(), "variable", "BCR_NAME", "exit", "0");
    CHECK_STR(run_told_by(&run), "variable none");
    run_ends(&run, 0, "");
}

TEST(an_address_that_a_stranger_has_taken_is_told)
{
    struct sockaddr_un address;
    const socklen_t length = bcri_channel_address(&address, geteuid(), own_name());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fd, (struct sockaddr *)&address, length), 0);
    run_start(&run, run_enl(), "--name", own_name(), run_cce());
    run_ends(&run, 1, "is taken by a process that is no enl of this user");
}

TEST(a_log_of_somebody_else_in_tempdir_is_avoided)
{
    char log[64], path[512];
    snprintf(log, sizeof log, "bcr.%s.log", own_name());
    run_write_file(log, "x\n", 2, 0600);
    snprintf(path, sizeof path, "%s/%s", run_folder(), log);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_INT(flock(fd, LOCK_EX), 0); /* as a daemon in another container does */
    run_start(&run, run_enl(), "--name", own_name(), run_cce());
    run_ends(&run, 0, "");
    snprintf(log, sizeof log, "bcr.%s-2.log", own_name());
    CHECK(has_file(log));
}

/* ---- process 1 of containers ---- */

static char host[32];

/* As a container runs it: its process 1, and its own host name. `network`: "--net", or a namespace that it has anyway. */
static void start_in_container(struct run *it, const char *network)
{
    static const char script[] =
        "echo \"$HOST_THERE\" >/proc/sys/kernel/hostname && exec \"$BCR_ENL\" \"$SYS_CCE\" tell pause";
    if (geteuid() != 0 || system("unshare --pid --fork --mount-proc --uts true >/dev/null 2>&1") != 0)
        SKIP("namespaces need root and unshare(1)");
    setenv("HOST_THERE", host, 1);
    run_start(it, "unshare", network, "--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "sh", "-c",
              script);
    run_told_by(it);
}

static void end_container(struct run *it)
{
    CHECK_INT(kill(it->pid, SIGKILL), 0);
    run_end(it);
}

static bool has_log(const char *of)
{
    char log[64];
    snprintf(log, sizeof log, "bcr.%s%s.log", host, of);
    return has_file(log);
}

TEST(process_1_of_two_containers_that_share_host_name_and_network_have_two_names)
{
    char name[64];
    run_apart();
    snprintf(host, sizeof host, "box-%ld", (long)getpid());
    start_in_container(&run, "--uts");
    start_in_container(&second, "--uts");
    CHECK(has_log(".1") && has_log(".1-2"));
    run_start(&asked, run_enl(), "ps");
    run_end(&asked); /* 1 if another test's program is seen, and stopped just now */
    snprintf(name, sizeof name, "%s.1-2", host);
    const char *line = strstr(asked.text, name); /* its row, and then what is said of it */
    CHECK(line != NULL && strstr(line, "its process IDs are those of another pid namespace") != NULL);
    run_start(&asked, run_enl(), "kill", name);
    run_ends(&asked, 0, "");
    run_ends(&second, 128 + SIGKILL, "is ended by enl kill, in another pid namespace");
    end_container(&run);
}

TEST(process_1_of_two_containers_that_share_tempdir_and_no_network_have_two_logs)
{
    snprintf(host, sizeof host, "box-%ld", (long)getpid());
    start_in_container(&run, "--net");
    start_in_container(&second, "--net");
    CHECK(has_log(".1") && has_log(".1-2"));
    end_container(&run);
    end_container(&second);
}

TEST(no_name_begins_with_a_hyphen)
{
    snprintf(host, sizeof host, "-box-%ld", (long)getpid());
    start_in_container(&run, "--net");
    end_container(&run);
    host[0] = '_';
    CHECK(has_log(".1"));
}

TEST(a_number_at_the_end_of_the_hosts_name_is_not_taken_for_a_process)
{
    char log[64];
    snprintf(host, sizeof host, "box-%ld.7", (long)getpid());
    start_in_container(&run, "--net");
    end_container(&run);
    snprintf(log, sizeof log, "bcr.box-%ld_7.1.log", (long)getpid());
    CHECK(has_file(log));
}

TEST(programs_of_the_own_pid_namespace_are_not_marked)
{
    run_apart();
    run_start(&run, run_enl(), "--name", own_name(), run_cce(), "tell", "wait");
    run_told_by(&run);
    run_start(&asked, run_enl(), "ps");
    run_end(&asked); /* 1 if another test's program is seen, and stopped just now */
    const char *line = strstr(asked.text, own_name());
    while (line != NULL) {
        CHECK(strncmp(line + strcspn(line, "\n") - 9, "this one\n", 9) != 0);
        line = strstr(line + 1, own_name());
    }
    run_go();
    run_ends(&run, 0, "");
}
