/* SPDX-License-Identifier: MIT */
/* hold.c -- a virtual machine that stays without tasks: tasks from the shell enter it, and pvm_halt ends it.
 *
 * It is a program of a name that follows from PVM_VMID. enl lets processes of its own user into a program, and has one of a name at a time: so
 * no other user's is met. Of two that begin one at a time the second waits (lock.c), and enters the first one's. Nobody is in it at first but EXEC, as
 * the process that begins it ends at once. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pvm_private.h"

int pvmi_machine_name(char *name, size_t room)
{
    const char *id = getenv("PVM_VMID");
    const bool has_one = id != NULL && *id != '\0';
    const int length = snprintf(name, room, "pvm-machine%s%s", has_one ? "-" : "", has_one ? id : "");
    return length > 0 && (size_t)length < room ? PvmOk : PvmBadParam;
}

int pvmi_enter(void)
{
    char name[80];
    const char *other = getenv("BCR_ENTER"); /* of enl --enter: another program is wanted */
    if (other != NULL && *other != '\0')
        return EARL_E_NONE;
    return pvmi_machine_name(name, sizeof name) < 0 ? EARL_E_ARG : earl_exec_enter(name, "pvm");
}

/* ---- beginning one ---- */

/* The process that begins it; the CCE that enl makes of it says by the pipe that EXEC stays. */
_Noreturn static void begin(const char *name, int ready, int errors)
{
    const char *home = getenv("HOME");
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    if (home == NULL || chdir(home) != 0)
        (void)!chdir("/");
    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(errors, 2) < 0 ||
        setenv("BCR_NAME", name, 1) != 0 || setenv("BCR_OUTPUT", "none", 1) != 0)
        _exit(1);
    if (earl_exec_begin("pvm") < 0 || earl_exec_hold(1) < 0 || write(ready, "", 1) != 1)
        _exit(1);
    (void)earl_end();
    _exit(0);
}

/* Reads what the process says before it is ready, or has ended. Returns whether it is. */
static bool await(int ready, int errors)
{
    char byte, text[512];
    ssize_t length;
    if (read(ready, &byte, 1) == 1)
        return true;
    while ((length = read(errors, text, sizeof text)) > 0)
        (void)!write(2, text, (size_t)length);
    return false;
}

int pvmi_hold(void)
{
    int ready[2], errors[2];
    char name[80];
    const int code = pvmi_machine_name(name, sizeof name);
    if (code < 0)
        return code;
    if (pipe2(ready, O_CLOEXEC) != 0)
        return PvmSysErr;
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(ready[0]);
        close(ready[1]);
        return PvmSysErr;
    }
    /* Its parent ends at once, so that nobody has to wait for it. */
    const pid_t child = fork();
    if (child == 0) {
        close(ready[0]);
        close(errors[0]);
        if (fork() == 0)
            begin(name, ready[1], errors[1]);
        _exit(0);
    }
    close(ready[1]);
    close(errors[1]);
    const bool is_held = child > 0 && waitpid(child, NULL, 0) == child && await(ready[0], errors[0]);
    close(ready[0]);
    close(errors[0]);
    return is_held ? PvmOk : PvmCantStart;
}

/* Enters the virtual machine, or begins it. PvmDupHost: it was there. */
static int enter_or_hold(void)
{
    int code = pvmi_enter();
    if (code == EARL_E_NONE) {
        const int lock = pvmi_lock();
        code = pvmi_enter();
        const int held = code == EARL_E_NONE ? pvmi_hold() : PvmOk;
        pvmi_unlock(lock);
        if (code == EARL_E_NONE)
            return held;
    }
    return code == EARL_OK ? PvmDupHost : PvmSysErr;
}

/* ---- hosts of a file ---- */

/* Adds the host of each line, but for comments, defaults (*), hosts for later (&), and those that are there already. Returns the first
 * error of any. */
static int add_hosts_of(FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    int first = PvmOk;
    while (getline(&line, &room, file) >= 0) {
        char *host = line + strspn(line, " \t\n");
        host[strcspn(host, "#\n")] = '\0';
        int info = PvmOk;
        if (*host != '\0' && *host != '*' && *host != '&' && pvm_addhosts(&host, 1, &info) < 0)
            info = PvmSysErr;
        if (info < 0 && info != PvmDupHost && first == PvmOk)
            first = info;
    }
    free(line);
    return first;
}

int pvmi_add_hosts_of(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return PvmNoFile;
    const int code = add_hosts_of(file);
    (void)fclose(file);
    return code;
}

static int start_pvmd(int argc, char **argv)
{
    int rank;
    if (argc < 0 || (argc > 0 && argv == NULL))
        return PvmBadParam;
    if (pvmi_process.has_begun)
        return PvmDupHost;
    const int held = enter_or_hold();
    if (held < 0 && held != PvmDupHost)
        return held;
    int code = pvmi_begin();
    if (code == PvmOk && held == PvmDupHost && earl_exec_team(&rank) == 0)
        return held;
    for (int i = 0; i < argc && code == PvmOk; i++)
        if (argv[i][0] != '-')
            code = pvmi_add_hosts_of(argv[i]);
    return code;
}

int pvm_start_pvmd(int argc, char **argv, int block)
{
    (void)block; /* all hosts are there when it returns */
    return pvmi_told("start_pvmd", start_pvmd(argc, argv));
}
