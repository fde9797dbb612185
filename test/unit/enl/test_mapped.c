/* SPDX-License-Identifier: MIT */
/* The file that is mapped in a process, whatever its path holds by now, for root and for others. */
#include "inspect/crash/crash_private.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { BYTES = 8192 };
static char folder[] = "/tmp/bcr-mapped-XXXXXX", path[128], other[128];

static void fill(const char *name, char with)
{
    char bytes[BYTES];
    memset(bytes, with, sizeof bytes);
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(fd >= 0);
    CHECK_INT(write(fd, bytes, sizeof bytes), BYTES);
    close(fd);
}

/* Maps a file of 'a's. */
static uint64_t map_one(void)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    CHECK_INT(chmod(folder, 0755), 0);
    snprintf(path, sizeof path, "%s/mapped", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    fill(path, 'a');
    fill(other, 'b');
    const int fd = open(path, O_RDONLY);
    void *at = mmap(NULL, BYTES, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(at != MAP_FAILED);
    close(fd);
    return (uint64_t)(uintptr_t)at;
}

static void done(void)
{
    unlink(path);
    unlink(other);
    rmdir(folder);
}

/* The first byte of what is found; 0: nothing. */
static char found_at(uint64_t base)
{
    char byte = 0;
    const int fd = enl_process_open_mapped(getpid(), base);
    if (fd >= 0) {
        CHECK_INT(read(fd, &byte, 1), 1);
        close(fd);
    }
    return byte;
}

/* In a child: without root's rights, as others run BCR. */
static bool is_other_user(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

static uint64_t own_base;
static int note_first(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_offset == 0)
            own_base = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    return 1; /* the program is the first */
}

TEST(root_has_the_mapped_file_when_another_has_its_path)
{
    if (geteuid() != 0)
        SKIP("/proc/PID/map_files is for root");
    const uint64_t base = map_one();
    CHECK_INT(rename(other, path), 0);
    CHECK_INT(found_at(base), 'a');
    CHECK_INT(unlink(path), 0);
    CHECK_INT(found_at(base), 'a');
    done();
}

TEST(other_users_have_the_file_at_the_path_if_that_is_mapped_and_no_other)
{
    const uint64_t base = map_one();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(is_other_user() && found_at(base) == 'a' ? 0 : 1);
    test_join(child, 0);
    CHECK_INT(rename(other, path), 0);
    const pid_t second = fork();
    if (second == 0)
        _exit(is_other_user() && found_at(base) == 0 ? 0 : 1);
    test_join(second, 0);
    done();
}

TEST(the_program_itself_is_found_whatever_becomes_of_its_path)
{
    struct stat own, found;
    dl_iterate_phdr(note_first, NULL);
    CHECK(own_base != 0);
    CHECK_INT(stat("/proc/self/exe", &own), 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = is_other_user() ? enl_process_open_mapped(getpid(), own_base) : -1;
        _exit(fd >= 0 && fstat(fd, &found) == 0 && found.st_ino == own.st_ino ? 0 : 1);
    }
    test_join(child, 0);
}

TEST(where_no_file_is_mapped_none_is_found)
{
    int here;
    CHECK_INT(enl_process_open_mapped(getpid(), (uint64_t)(uintptr_t)&here), -1);
    CHECK_INT(enl_process_open_mapped(getpid(), 16), -1);
}
