/* SPDX-License-Identifier: MIT */
/* sys_forbid CALL PROGRAM ARGUMENTS: the program and all that it starts get EPERM from that system call, as in a
 * container whose filter does not know it. CALL-full: EAGAIN, as where a limit is reached. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"memfd_create", SYS_memfd_create},
    {"fallocate", SYS_fallocate},
    {"eventfd", SYS_eventfd2},
    {"epoll", SYS_epoll_create1},
    {"thread", SYS_clone3},
    {"timerfd", SYS_timerfd_create},
    {"prlimit", SYS_prlimit64},
    {"getrandom", SYS_getrandom},
    {"pipe", SYS_pipe2},
    {"signalfd", SYS_signalfd4},
    {"socketpair", SYS_socketpair},
    {"socket", SYS_socket},
    {"bind", SYS_bind},
    {"listen", SYS_listen},
    {"getsockopt", SYS_getsockopt},
    {"setsockopt", SYS_setsockopt},
    {"sendmsg", SYS_sendmsg},
    {"recvmsg", SYS_recvmsg},
    {"pidfd_open", SYS_pidfd_open},
    {"process_vm_readv", SYS_process_vm_readv},
    {"process_vm_writev", SYS_process_vm_writev},
#ifdef SYS_vfork
    {"fork", SYS_vfork},
#else
    {"fork", SYS_clone},
#endif
};

int main(int argc, char **argv)
{
    size_t i = 0;
    char *full = argc > 2 ? strstr(argv[1], "-full") : NULL;
    const unsigned error = full != NULL ? EAGAIN : EPERM;
    if (full != NULL)
        *full = '\0';
    while (argc > 2 && i < sizeof calls / sizeof calls[0] && strcmp(argv[1], calls[i].name) != 0)
        i++;
    if (argc < 3 || i == sizeof calls / sizeof calls[0])
        return 2;
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return 77;
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 126;
}
