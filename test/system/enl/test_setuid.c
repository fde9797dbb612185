/* SPDX-License-Identifier: MIT */
/* A set-user-ID program in the hands of another user: nothing that he chooses (his environment, his
 * argv[0], his enl) decides what runs, or whose memory is worked on, with its rights. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

enum { NOBODY = 65534 };

static struct run run;
static char program[512], fooled[512];

static void copy(const char *from, const char *name)
{
    static char bytes[64 << 20];
    size_t length = 0;
    ssize_t got;
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    while (length < sizeof bytes && (got = read(fd, bytes + length, sizeof bytes - length)) > 0)
        length += (size_t)got;
    CHECK(length < sizeof bytes);
    close(fd);
    run_write_file(name, bytes, length, 0755);
}

/* `from` as a set-user-ID program of root in the test's folder, beside an "enl" of the other user's
 * that tells of itself. */
static void prepare(const char *from)
{
    if (geteuid() != 0)
        SKIP("only root can make a set-user-ID program of root");
    CHECK(from != NULL);
    struct statvfs system;
    const char *folder = run_folder();
    if (statvfs(folder, &system) != 0 || (system.f_flag & ST_NOSUID) != 0)
        SKIP("set-user-ID has no effect in the folder for temporary files");
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0)
        _exit(setgid(NOBODY) == 0 && setuid(NOBODY) == 0 && access(run_enl(), X_OK) == 0 &&
                      access(from, X_OK) == 0
                  ? 0
                  : 1);
    int status = -1;
    CHECK_INT(waitpid(other, &status, 0), other);
    if (status != 0)
        SKIP("other users cannot reach this build");
    CHECK_INT(chmod(folder, 0777), 0);
    copy(from, "program");
    snprintf(program, sizeof program, "%s/program", folder);
    CHECK_INT(chmod(program, 04755), 0);
    snprintf(fooled, sizeof fooled, "%s/fooled", folder);
    char script[1024];
    int length = snprintf(script, sizeof script, "#!/bin/sh\n: >%s\n", fooled);
    run_write_file("enl", script, (size_t)length, 0755);
}

static void run_as_nobody(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "cd /; HOME=/; export HOME; %s", command);
    run_start(&run, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "bash", "-c", line);
    run_end(&run);
}

TEST(a_set_user_id_program_finds_enl_neither_by_its_starters_path_nor_by_his_settings)
{
    char command[1600];
    prepare(run_cce());
    snprintf(command, sizeof command, "PATH=%s:$PATH BCR_ENLISTPATH=%s/enl exec %s exit 0", run_folder(),
             run_folder(), program);
    run_as_nobody(command);
    CHECK(access(fooled, F_OK) != 0);
}

TEST(a_set_user_id_program_with_the_static_library_finds_enl_not_by_its_argv0)
{
    char command[1600];
    prepare(getenv("SYS_SEGMENTS"));
    snprintf(command, sizeof command, "exec -a %s/program %s", run_folder(), program);
    run_as_nobody(command);
    CHECK(access(fooled, F_OK) != 0);
}

TEST(a_set_user_id_program_does_not_work_on_the_memory_of_its_starters_enl)
{
    char command[1600];
    prepare(run_cce());
    snprintf(command, sizeof command, "BCR_TEMPDIR=%s exec %s %s exit 0", run_folder(), run_enl(), program);
    run_as_nobody(command);
    run_check_error(&run, "the enl that started this program is not of user 0, as whom it runs, nor of root");
    CHECK(strstr(run.text, "init failed 42") != NULL);
    CHECK(run.status != 0);
}

TEST(a_set_user_id_program_enters_no_program_that_its_starter_has_chosen)
{
    char command[1600];
    prepare(run_cce());
    snprintf(command, sizeof command, "BCR_ENTER=nowhere exec %s out alone", program);
    run_as_nobody(command);
    CHECK(strstr(run.error, "nowhere") == NULL &&
          strstr(run.text, "init failed") == NULL); /* it seeks an enl for itself */
}

TEST(roots_enl_starts_programs_of_other_users)
{
    if (test_is_instrumented())
        SKIP("a sanitizer looks for leaks by tracing, which such a program forbids");
    prepare(run_cce());
    CHECK_INT(chown(program, NOBODY, NOBODY), 0);
    CHECK_INT(chmod(program, 04755), 0);
    run_start(&run, run_enl(), program, "out", "hello");
    run_end(&run);
    CHECK_STR(run.text, "hello\n");
    CHECK_INT(run.status, 0);
}
