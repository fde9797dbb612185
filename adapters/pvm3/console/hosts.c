/* SPDX-License-Identifier: MIT */
/* hosts.c -- commands about hosts. */
#include <string.h>

#include <pvm3.h>

#include "console.h"

extern char *pvm_errlist[];

static bool change(int (*how)(char **hosts, int count, int *infos), int count, char **words)
{
    bool is_well = true;
    for (int i = 1; i < count; i++) {
        int info = PvmOk;
        const int done = how(&words[i], 1, &info);
        if (done < 1)
            is_well = complain("%s: %s: %s", words[0], words[i],
                               done < 0 || info >= 0 ? pvm_strerror() : pvm_errlist[-info]);
    }
    return is_well;
}

bool command_add(int count, char **words)
{
    return change(pvm_addhosts, count, words);
}

bool command_delete(int count, char **words)
{
    return change(pvm_delhosts, count, words);
}

bool command_conf(int count, char **words)
{
    int hosts, formats;
    struct pvmhostinfo *host;
    (void)count, (void)words;
    if (pvm_config(&hosts, &formats, &host) < 0)
        return complain("conf: %s", pvm_strerror());
    printf("%d host%s, %d data format%s\n", hosts, hosts == 1 ? "" : "s", formats, formats == 1 ? "" : "s");
    printf("%24s %8s %10s %7s       DSIG\n", "HOST", "DTID", "ARCH", "SPEED");
    for (int i = 0; i < hosts; i++)
        printf("%24s %8x %10s %7d 0x%08x\n", host[i].hi_name, (unsigned)host[i].hi_tid, host[i].hi_arch,
               host[i].hi_speed, (unsigned)host[i].hi_dsig);
    return true;
}

bool command_mstat(int count, char **words)
{
    bool is_well = true;
    for (int i = 1; i < count; i++) {
        const int code = pvm_mstat(words[i]);
        if (code == PvmOk || code == PvmNoHost)
            printf("%24s %s\n", words[i], code == PvmOk ? "ok" : "no such host");
        is_well = is_well && code == PvmOk;
        if (code != PvmOk && code != PvmNoHost)
            (void)complain("mstat: %s: %s", words[i], pvm_strerror());
    }
    return is_well;
}

const char *host_name(int dtid)
{
    int hosts;
    struct pvmhostinfo *host;
    if (pvm_config(&hosts, NULL, &host) < 0)
        return "?";
    for (int i = 0; i < hosts; i++)
        if (host[i].hi_tid == dtid)
            return host[i].hi_name;
    return "?";
}
