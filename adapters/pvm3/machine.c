/* SPDX-License-Identifier: MIT */
/* machine.c -- hosts and tasks, as EXEC knows them now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

/* Tasks that have not ended, which the caller frees; how many, or an error. */
static int list_tasks(struct earl_exec_process **list_out)
{
    struct earl_exec_process *list = NULL;
    int room = 0, count = earl_exec_list(NULL, 0);
    *list_out = NULL;
    while (count > room || (count == 0 && list == NULL)) {
        room = count + 8;
        free(list);
        list = malloc((size_t)room * sizeof *list);
        if (list == NULL)
            return PvmNoMem;
        count = earl_exec_list(list, room);
    }
    if (count < 0) {
        free(list);
        return pvmi_result(count);
    }
    *list_out = list;
    return count;
}

/* ---- hosts ---- */

enum { ARCHITECTURE_ROOM = sizeof((struct pvmi_card *)0)->architecture };

static bool add_host(struct pvmi_hosts *list, const struct earl_exec_machine *told)
{
    struct pvmhostinfo *hosts = realloc(list->hosts, ((size_t)list->count + 1) * sizeof *hosts);
    if (hosts == NULL)
        return false;
    list->hosts = hosts;
    struct pvmhostinfo *host = &hosts[list->count++];
    *host = (struct pvmhostinfo){.hi_tid = pvmi_dtid(told->host),
                                 .hi_name = strdup(told->name),
                                 .hi_arch = calloc(1, ARCHITECTURE_ROOM),
                                 .hi_speed = 1000,
                                 .hi_dsig = pvmi_signature_of(told->machine)};
    if (host->hi_name == NULL || host->hi_arch == NULL)
        return false;
    pvmi_name_architecture(told->machine, host->hi_arch, ARCHITECTURE_ROOM);
    return true;
}

void pvmi_hosts_free(struct pvmi_hosts *list)
{
    while (list->count > 0) {
        list->count--;
        free(list->hosts[list->count].hi_name);
        free(list->hosts[list->count].hi_arch);
    }
    free(list->hosts);
    *list = (struct pvmi_hosts){0};
}

int pvmi_hosts_find(struct pvmi_hosts *list)
{
    struct earl_exec_machine told;
    *list = (struct pvmi_hosts){0};
    int code = pvmi_need();
    if (code < 0)
        return code;
    for (int k = 0; (code = earl_exec_machine(k, &told)) == EARL_OK; k++)
        if (told.is_there && !add_host(list, &told)) {
            pvmi_hosts_free(list);
            return PvmNoMem;
        }
    if (code == EARL_E_NONE)
        return PvmOk;
    pvmi_hosts_free(list);
    return pvmi_result(code);
}

/* Whether the host is in the virtual machine. */
static bool is_host(int k)
{
    struct earl_exec_machine told;
    return k >= 0 && earl_exec_machine(k, &told) == EARL_OK && told.is_there;
}

static int config(int *nhost, int *narch, struct pvmhostinfo **hostp)
{
    static struct pvmi_hosts told; /* which the program has until it is given others */
    struct pvmi_hosts list;
    int kinds = 0;
    const int code = pvmi_hosts_find(&list);
    if (code < 0)
        return code;
    for (int i = 0; i < list.count; i++) {
        int before = 0;
        while (strcmp(list.hosts[before].hi_arch, list.hosts[i].hi_arch) != 0)
            before++;
        kinds += before == i;
    }
    if (nhost != NULL)
        *nhost = list.count;
    if (narch != NULL)
        *narch = kinds;
    if (hostp != NULL) {
        pvmi_hosts_free(&told);
        told = list;
        *hostp = told.hosts;
    } else {
        pvmi_hosts_free(&list);
    }
    return PvmOk;
}

int pvm_config(int *nhost, int *narch, struct pvmhostinfo **hostp)
{
    return pvmi_told("config", config(nhost, narch, hostp));
}

static int mstat(const char *host)
{
    struct pvmi_hosts list;
    const int code = host == NULL ? PvmBadParam : pvmi_hosts_find(&list);
    if (code < 0)
        return code;
    int status = PvmNoHost;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.hosts[i].hi_name, host) == 0)
            status = PvmOk;
    pvmi_hosts_free(&list);
    return status;
}

int pvm_mstat(const char *host)
{
    return pvmi_told("mstat", mstat(host));
}

static int archcode(const char *arch)
{
    struct pvmi_hosts list;
    const int code = arch == NULL || *arch == '\0' ? PvmBadParam : pvmi_hosts_find(&list);
    if (code < 0)
        return code;
    int signature = PvmNotFound;
    for (int i = 0; i < list.count; i++)
        if (strcmp(list.hosts[i].hi_arch, arch) == 0)
            signature = list.hosts[i].hi_dsig;
    pvmi_hosts_free(&list);
    return signature;
}

int pvm_archcode(const char *arch)
{
    return pvmi_told("archcode", archcode(arch));
}

/* ---- tasks ---- */

/* Of one that runs, or has ended: PvmBadParam: there was none. */
static int look_up(int tid, struct earl_exec_process *told)
{
    const int code = pvmi_need(), process = pvmi_process_of(tid);
    if (code < 0)
        return code;
    return process < 0 ? PvmBadParam : pvmi_result(earl_exec_process(process, told));
}

int pvm_tidtohost(int tid)
{
    struct earl_exec_process told;
    const int code = look_up(tid, &told);
    return pvmi_told("tidtohost", code < 0 ? code : pvmi_dtid(told.host));
}

int pvm_pstat(int tid)
{
    struct earl_exec_process told;
    int code = look_up(tid, &told);
    if ((code == PvmOk && told.has_ended) || (code == PvmBadParam && pvmi_process_of(tid) >= 0))
        code = PvmNoTask;
    return pvmi_told("pstat", code);
}

static int hostsync(int host, struct timeval *clk, struct timeval *delta)
{
    struct earl_exec_process own;
    int code = pvmi_need();
    if (code == PvmOk)
        code = pvmi_result(earl_exec_process(pvmi_process.self, &own));
    if (code != PvmOk)
        return code;
    const int place = pvmi_host_of(host);
    if (!is_host(place))
        return PvmNoHost;
    if (place != own.host)
        return PvmNotImpl;
    if (clk != NULL)
        gettimeofday(clk, NULL);
    if (delta != NULL)
        *delta = (struct timeval){0, 0};
    return PvmOk;
}

int pvm_hostsync(int host, struct timeval *clk, struct timeval *delta)
{
    return pvmi_told("hostsync", hostsync(host, clk, delta));
}

/* A task's info, and the name that it points to. */
struct told {
    struct pvmi_card card;
    char file[64];
};

static struct pvmtaskinfo task_info(const struct earl_exec_process *task, struct told *told)
{
    const char *base = strrchr(task->file, '/');
    snprintf(told->file, sizeof told->file, "%s", base == NULL ? task->file : base + 1);
    if (!pvmi_card_of(task->process, &told->card))
        told->card.pid = 0;
    else if (told->file[0] == '\0')
        memcpy(told->file, told->card.program, sizeof told->file);
    return (struct pvmtaskinfo){
        .ti_tid = pvmi_tid(task->process),
        .ti_ptid = task->parent == EARL_ANY ? 0 : pvmi_tid(task->parent),
        .ti_host = pvmi_dtid(task->host),
        .ti_flag = 4,
        .ti_a_out = told->file,
        .ti_pid = told->card.pid,
    };
}

/* Whether `where` means tasks: PvmBadParam, PvmNoHost. */
static int check_where(int where)
{
    const int process = pvmi_process_of(where), host = pvmi_host_of(where);
    if (where <= 0)
        return where < 0 ? PvmBadParam : PvmOk;
    return process >= 0 || is_host(host) ? PvmOk : PvmNoHost;
}

static int tasks(int where, int *ntask, struct pvmtaskinfo **taskp)
{
    static struct pvmtaskinfo *infos;
    static struct told *tolds;
    struct earl_exec_process *list;
    int count = 0, code = pvmi_need();
    if (code < 0)
        return code;
    const int all = list_tasks(&list);
    if (all < 0)
        return all;
    code = check_where(where);
    if (code == PvmOk) {
        free(infos);
        free(tolds);
        infos = malloc(((size_t)all + 1) * sizeof *infos);
        tolds = malloc(((size_t)all + 1) * sizeof *tolds);
        code = infos == NULL || tolds == NULL ? PvmNoMem : PvmOk;
    }
    for (int i = 0; list != NULL && i < all && code == PvmOk; i++)
        if (where == 0 || list[i].process == pvmi_process_of(where) || list[i].host == pvmi_host_of(where)) {
            infos[count] = task_info(&list[i], &tolds[count]);
            count++;
        }
    free(list);
    if (code < 0)
        return code;
    if (ntask != NULL)
        *ntask = count;
    if (taskp != NULL)
        *taskp = infos;
    return PvmOk;
}

int pvm_tasks(int where, int *ntask, struct pvmtaskinfo **taskp)
{
    return pvmi_told("tasks", tasks(where, ntask, taskp));
}
