/* SPDX-License-Identifier: MIT */
/* Settings: the files. Which are trusted, which are refused and with what sentence, where they are
 * looked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "scratch.h"
#include "settings.h"

TEST(what_is_no_plain_file_is_refused_and_not_waited_for)
{
    CHECK_INT(mkdir(scratch_path("host"), 0755), 0);
    refused(NULL, -EINVAL, "host: is not a plain file");
    CHECK_INT(rmdir(scratch_path("host")), 0);
    CHECK_INT(mkfifo(scratch_path("host"), 0644), 0);
    refused(NULL, -EINVAL, "host: is not a plain file");
    CHECK_INT(unlink(scratch_path("host")), 0);
    CHECK_INT(symlink("/dev/zero", scratch_path("host")), 0);
    refused(NULL, -EINVAL, "host: is not a plain file");
}

TEST(a_file_of_absurd_size_is_refused)
{
    scratch_write("host", "# \n", 0644);
    CHECK_INT(truncate(scratch_path("host"), 1048577), 0);
    refused(NULL, -EFBIG, "host: is larger than 1048576 bytes; is this the right file?");
    CHECK_INT(truncate(scratch_path("host"), (off_t)1 << 40), 0);
    refused(NULL, -EFBIG, "host: is larger than 1048576 bytes");
    CHECK_INT(truncate(scratch_path("host"), 1048576), 0); /* as long as it may be, and full of NULs */
    refused(NULL, -EINVAL, "host:2: the line holds a NUL byte");
}

TEST(a_file_that_is_larger_than_it_says_is_refused)
{
    struct stat st;
    char buffer[65536];
    size_t length = 0;
    FILE *file = fopen("/proc/kallsyms", "r");

    /* One of the files whose size is said to be 0. */
    if (!file || fstat(fileno(file), &st) != 0 || st.st_size > 0)
        SKIP("no /proc/kallsyms here");
    for (size_t got; length <= 1048576 && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        length += got;
    fclose(file);
    if (length <= 1048576)
        SKIP("/proc/kallsyms is small here");
    CHECK_INT(symlink("/proc/kallsyms", scratch_path("host")), 0);
    refused(NULL, -EFBIG, "host: is larger than 1048576 bytes");
}

TEST(a_file_that_cannot_be_read_is_an_error)
{
    CHECK_INT(symlink("/proc/self/mem", scratch_path("host")), 0);
    refused(NULL, -EIO, "host: cannot be read: Input/output error");
}

TEST(a_file_that_cannot_be_opened_is_an_error)
{
    CHECK_INT(symlink(scratch_path("host"), scratch_path("host")), 0);
    refused(NULL, -ELOOP,
            "host: cannot be opened: Too many levels of symbolic links; make it readable or remove it");
    CHECK_INT(unlink(scratch_path("host")), 0);

    scratch_write(".bcrrc", "", 0000);
    if (geteuid() == 0)
        CHECK_INT(chown(scratch(), 65534, 65534) | chown(scratch_path(".bcrrc"), 65534, 65534), 0);

    pid_t child = fork();

    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(9);
        refused(NULL, -EACCES, "make it readable or remove it, or set HOME to your own home directory");
        _exit(0);
    }
    test_join(child, 0);
}

TEST(a_personal_file_of_another_user_is_refused)
{
    if (geteuid() != 0)
        SKIP("only root can make a file of another user");
    scratch_write(".bcrrc", "startscript /bin/evil", 0600);
    CHECK_INT(chown(scratch_path(".bcrrc"), 65534, 65534), 0);
    refused(NULL, -EPERM, ".bcrrc: belongs to user 65534 and not to you");
}

TEST(a_personal_file_of_root_is_accepted_by_others)
{
    if (geteuid() != 0)
        SKIP("only root can make a file of root");
    scratch_write(".bcrrc", "tempdir /a", 0644);
    CHECK_INT(chmod(scratch(), 0755), 0);

    pid_t child = fork();

    if (child == 0) {
        struct bcri_config config;

        if (setuid(65534) != 0)
            _exit(9);
        loaded(&config, NULL);
        CHECK_STR(config.tempdir, "/a");
        _exit(0);
    }
    test_join(child, 0);
}

TEST(a_file_that_others_may_write_is_refused)
{
    static const char *const names[] = {"system", "host", ".bcrrc"};

    for (size_t i = 0; i < 3; i++) {
        char want[300];

        snprintf(want, sizeof want,
                 "may be written by others than its owner, so it is not trusted to name programs; "
                 "run chmod go-w %s",
                 scratch_path(names[i]));
        scratch_write(names[i], "", 0602);
        refused(NULL, -EPERM, want);
        scratch_write(names[i], "", 0620);
        refused(NULL, -EPERM, want);
        scratch_write(names[i], "", 0644);
    }
    struct bcri_config config;

    loaded(&config, NULL);
    bcri_config_fini(&config);
}

TEST(files_that_are_not_there_are_passed_over)
{
    struct bcri_config config;
    char *const environment[] = {"HOME=/dev/null", NULL};
    struct bcri_config_paths paths = {.environment = environment};
    char error[512] = "";

    CHECK_INT(symlink("nothing", scratch_path("system")), 0);
    scratch_write("file", "", 0644);
    paths.system_file = scratch_path("system");
    paths.host_file = scratch_path("file/host");
    CHECK_INT(bcri_config_load(&config, &paths, error, sizeof error), 0);
    CHECK_STR(config.home, "/dev/null");
    bcri_config_fini(&config);
}

TEST(home_comes_from_the_environment_or_else_from_the_password_file)
{
    static char *const homes[] = {NULL, "HOME=", "HOME=relative"};
    struct bcri_config config;
    char variable[300], error[512] = "";
    char *environment[] = {variable, NULL};
    struct bcri_config_paths paths = {
        .system_file = scratch_path("system"), .host_file = scratch_path("host"), .environment = environment};

    snprintf(variable, sizeof variable, "HOME=%s", scratch());
    scratch_write(".bcrrc", "tempdir /mine", 0644);
    CHECK_INT(bcri_config_load(&config, &paths, error, sizeof error), 0);
    CHECK_STR(config.tempdir, "/mine");
    bcri_config_fini(&config);
    for (size_t i = 0; i < 3; i++) {
        environment[0] = homes[i];
        /* The file there is this user's own business, so only where it was looked for is
         * checked. */
        if (bcri_config_load(&config, &paths, error, sizeof error) == 0 && config.home)
            CHECK_INT(config.home[0], '/');
        bcri_config_fini(&config);
    }
}

TEST(a_user_without_a_home_has_settings_all_the_same)
{
    if (geteuid() != 0)
        SKIP("only root can become a user that is in no password file");
    CHECK_INT(chmod(scratch(), 0755), 0);

    pid_t child = fork();

    if (child == 0) {
        struct bcri_config_paths paths = {.system_file = scratch_path("system"),
                                          .host_file = scratch_path("host"),
                                          .environment = (char *const[]){NULL}};
        struct bcri_config config;
        char error[512], *path;

        if (setuid(3141592) != 0)
            _exit(9);
        CHECK_INT(bcri_config_load(&config, &paths, error, sizeof error), 0);
        CHECK_PTR(config.home, NULL);
        CHECK_INT(bcri_config_resolve(&config, "a/b", &path), -ENOENT);
        CHECK_INT(bcri_config_resolve(&config, "~/b", &path), -ENOENT);
        _exit(0);
    }
    test_join(child, 0);
}

TEST(the_usual_places_are_those_of_the_guide)
{
    /* Whatever this machine holds there, it is either taken or refused with its name. */
    struct bcri_config config;
    char error[512] = "";
    int status = bcri_config_load(&config, NULL, error, sizeof error);

    CHECK(status == 0 || strstr(error, "bcrrc") || strstr(error, "BCR_"));
    bcri_config_fini(&config);
}
