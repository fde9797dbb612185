/* SPDX-License-Identifier: MIT */
/* bcr-pvm: the console of PVM. It enters the user's virtual machine, which it begins if there is none, and does what lines say. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvm3.h>

#include "console.h"
#include "machine.h"

static const char usage[] =
    "usage: bcr-pvm [HOSTFILE]\n"
    "\n"
    "Enter your virtual machine on this host, or begin one, and do what lines on stdin say; help lists "
    "commands.\n"
    "The hosts that HOSTFILE names, one a line, are added first. $HOME/.pvmrc is read before stdin.\n"
    "\n"
    "  --help      print this\n"
    "  --version   print the version of PVM\n"
    "\n"
    "PVM_VMID names one of several virtual machines. The exit status is 0 if all commands have done what "
    "they were to.\n";

bool complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fflush(stdout);
    fputs("bcr-pvm: ", stderr);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it was begun above */
    (void)vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return false;
}

static bool add_hosts(const char *path)
{
    const int code = path == NULL ? PvmOk : pvmi_add_hosts_of(path);
    if (code == PvmNoFile)
        return complain("%s cannot be read", path);
    return code == PvmOk || complain("not all hosts of %s could be added", path);
}

/* Does what the lines say. Returns whether all have been done. */
static bool read_lines(int fd, bool prompts)
{
    struct lines lines = {.fd = fd};
    bool is_well = true;
    while (!is_done) {
        if (prompts)
            fputs("pvm> ", stdout);
        (void)fflush(stdout);
        const char *line = lines_next(&lines);
        if (line == NULL)
            break;
        is_well = command_line(line) && is_well;
    }
    free(lines.text);
    return is_well;
}

static bool read_own_file(void)
{
    char path[4096];
    const char *home = getenv("HOME");
    if (home == NULL || snprintf(path, sizeof path, "%s/.pvmrc", home) >= (int)sizeof path)
        return true;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    const bool is_well = read_lines(fd, false);
    close(fd);
    return is_well;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return printf("%s\n", pvm_version()) < 0;
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        fputs(usage, stderr);
        return 2;
    }
    (void)pvm_setopt(PvmAutoErr, 0);
    const int begun = pvm_start_pvmd(0, NULL, 1);
    if (begun < 0 && begun != PvmDupHost) {
        (void)complain("there is no way into a virtual machine: %s", pvm_strerror());
        return 1;
    }
    const bool prompts = isatty(0) == 1;
    bool is_well = add_hosts(argc == 2 ? argv[1] : NULL);
    is_well = read_own_file() && is_well;
    is_well = read_lines(0, prompts) && is_well;
    if (!is_done || is_hurried) { /* else it has left, by halt */
        (void)pvm_catchout(is_hurried ? NULL : stdout);
        (void)pvm_exit();
    }
    return is_well || (prompts && is_done) ? 0 : 1;
}
