/* SPDX-License-Identifier: MIT */
/* spawn.c -- tasks that start others, and end them.
 *
 * Where no host is named EXEC takes hosts by turns. Else the hosts that may be taken are found here, and get an equal share each. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pvm_private.h"

enum { FLAGS = 2 * PvmNoSpawnParent - 1, PATH_ROOM = 4096 };

struct spawn {
    const char *task;
    char **argv;
    int flag, count;
    char *where;           /* without its directory; NULL: none */
    const char *directory; /* NULL: none */
    int *processes;        /* of each; a code of Earl's below 0 */
    char file[PATH_ROOM];
    const char **arguments, **environment; /* end with NULL */
};

/* ---- what is started ---- */

static bool is_program(char *file, const char *folder, const char *below, const char *task)
{
    struct pvmi_card own;
    pvmi_card_own(&own);
    const int length = snprintf(file, PATH_ROOM, "%s%s/bin/%s/%s", folder, below, own.architecture, task);
    return length > 0 && length < PATH_ROOM && access(file, X_OK) == 0;
}

/* PVM's folders come before PATH, which BCR looks in. */
static int find_file(struct spawn *spawn)
{
    const char *home = getenv("HOME"), *root = getenv("PVM_ROOT");
    const char *task = spawn->task;
    if ((spawn->flag & PvmTaskDebug) != 0) {
        const int length = snprintf(spawn->file, PATH_ROOM, "%s/lib/debugger", root == NULL ? "" : root);
        return root == NULL || length >= PATH_ROOM ? PvmNoFile : PvmOk;
    }
    if (strchr(task, '/') == NULL && ((home != NULL && is_program(spawn->file, home, "/pvm3", task)) ||
                                      (root != NULL && is_program(spawn->file, root, "", task))))
        return PvmOk;
    return snprintf(spawn->file, PATH_ROOM, "%s", task) >= PATH_ROOM ? PvmBadParam : PvmOk;
}

static int list_arguments(struct spawn *spawn)
{
    size_t count = 0, at = 0;
    while (spawn->argv != NULL && spawn->argv[count] != NULL)
        count++;
    spawn->arguments = calloc(count + 2, sizeof *spawn->arguments);
    if (spawn->arguments == NULL)
        return PvmNoMem;
    if ((spawn->flag & PvmTaskDebug) != 0)
        spawn->arguments[at++] = spawn->task;
    for (size_t i = 0; i < count; i++)
        spawn->arguments[at++] = spawn->argv[i];
    return PvmOk;
}

/* Adds "NAME=value" to the environment, which has room; `length` is the name's. False: no memory. */
static bool add_variable(struct spawn *spawn, size_t *at, const char *name, size_t length, const char *value)
{
    if (value == NULL)
        return true;
    char *text = malloc(length + strlen(value) + 2);
    if (text == NULL)
        return false;
    sprintf(text, "%.*s=%s", (int)length, name, value);
    spawn->environment[(*at)++] = text;
    return true;
}

/* The value of a variable whose name is not terminated. */
static const char *value_of(const char *name, size_t length)
{
    char *copy = strndup(name, length);
    const char *value = copy == NULL ? NULL : getenv(copy);
    free(copy);
    return value;
}

static int list_environment(struct spawn *spawn)
{
    const char *names = getenv("PVM_EXPORT");
    char context[16];
    char output[16];
    size_t room = 5, at = 0;
    for (const char *name = names; name != NULL && *name != '\0'; name++)
        room += *name == ':' || name == names;
    spawn->environment = calloc(room, sizeof *spawn->environment);
    if (spawn->environment == NULL)
        return PvmNoMem;
    snprintf(context, sizeof context, "%d", pvmi_process.context);
    bool is_there = add_variable(spawn, &at, PVMI_CONTEXT_VARIABLE, strlen(PVMI_CONTEXT_VARIABLE), context) &&
                    add_variable(spawn, &at, "PVM_EXPORT", strlen("PVM_EXPORT"), names);
    snprintf(output, sizeof output, "%d", pvmi_output() == 0 ? 0 : pvmi_tid(pvmi_output()));
    is_there =
        is_there && add_variable(spawn, &at, PVMI_OUTPUT_VARIABLE, strlen(PVMI_OUTPUT_VARIABLE), output);
    if ((spawn->flag & PvmNoSpawnParent) != 0)
        is_there =
            is_there && add_variable(spawn, &at, PVMI_HIDDEN_VARIABLE, strlen(PVMI_HIDDEN_VARIABLE), "1");
    while (is_there && names != NULL && *names != '\0') {
        const size_t length = strcspn(names, ":");
        if (length > 0)
            is_there = add_variable(spawn, &at, names, length, value_of(names, length));
        names += length + (names[length] == ':');
    }
    return is_there ? PvmOk : PvmNoMem;
}

/* ---- where ---- */

/* Whether the host is one that flag and `where` mean. */
static bool is_meant(const struct spawn *spawn, const struct pvmhostinfo *host, int own)
{
    bool is_so = true;
    if ((spawn->flag & PvmTaskHost) != 0)
        is_so =
            strcmp(spawn->where, ".") == 0 ? host->hi_tid == own : strcmp(spawn->where, host->hi_name) == 0;
    else if ((spawn->flag & PvmTaskArch) != 0)
        is_so = strcmp(spawn->where, host->hi_arch) == 0;
    return is_so == ((spawn->flag & PvmHostCompl) == 0);
}

/* Starts `count` of them on a host, NULL: any. Returns how many were started. */
static int start(const struct spawn *spawn, const char *host, int count, int *processes)
{
    const struct earl_exec_start wanted = {.file = spawn->file,
                                           .arguments = spawn->arguments,
                                           .environment = spawn->environment,
                                           .directory = spawn->directory,
                                           .count = count,
                                           .host = host,
                                           .output = {pvmi_output(), PVMI_OUTPUT_CONTEXT, 0}};
    const int started = earl_exec_start(&wanted, processes);
    return started < 0 ? pvmi_result(started) : started;
}

static int start_on_hosts(const struct spawn *spawn)
{
    struct pvmi_hosts list;
    int meant = 0, started = 0, at = 0, code = pvmi_hosts_find(&list);
    if (code < 0)
        return code;
    const int own = pvm_tidtohost(pvmi_tid(pvmi_process.self));
    for (int i = 0; i < list.count; i++)
        meant += is_meant(spawn, &list.hosts[i], own);
    for (int i = 0, turn = 0; meant > 0 && i < list.count && at < spawn->count && code >= 0; i++) {
        if (!is_meant(spawn, &list.hosts[i], own))
            continue;
        const int share = spawn->count / meant + (turn++ < spawn->count % meant);
        code = share == 0 ? 0 : start(spawn, list.hosts[i].hi_name, share, &spawn->processes[at]);
        at += share;
        started += code > 0 ? code : 0;
    }
    pvmi_hosts_free(&list);
    return meant == 0 ? PvmNoHost : code < 0 ? code : started;
}

/* ---- tids ---- */

static int code_of(int result)
{
    switch (result) {
    case EARL_E_HOST: return PvmNoHost;
    case EARL_E_FILE: return PvmNoFile;
    case EARL_E_MEMORY: return PvmNoMem;
    default: return PvmOutOfRes;
    }
}

/* Tells those that were started of each other. */
static int tell_siblings(int count, const int *processes)
{
    int code = EARL_OK, tid;
    earl_buffer *items = earl_buffer_make(0);
    if (items == NULL)
        return PvmNoMem;
    code = earl_pack(items, EARL_INT, &count, 1, 1);
    for (int i = 0; i < count && code == EARL_OK; i++) {
        tid = pvmi_tid(processes[i]);
        code = earl_pack(items, EARL_INT, &tid, 1, 1);
    }
    if (code == EARL_OK)
        code = earl_buffer_send(items, count, processes, PVMI_OWN_CONTEXT, PVMI_SIBLINGS);
    earl_buffer_free(items);
    return pvmi_result(code);
}

/* Those that were started first, codes behind them. Returns how many were. */
static int sort_tids(const struct spawn *spawn, int *tids)
{
    int *started = spawn->processes, many = 0;
    for (int i = 0; i < spawn->count; i++)
        if (started[i] < 0 && tids != NULL)
            tids[spawn->count - 1 - (i - many)] = code_of(started[i]);
        else if (started[i] >= 0)
            started[many++] = started[i];
    for (int i = 0; i < many && tids != NULL; i++)
        tids[i] = pvmi_tid(started[i]);
    return many;
}

static int run_spawn(struct spawn *spawn, int *tids)
{
    int code = find_file(spawn);
    if (code == PvmOk)
        code = list_arguments(spawn);
    if (code == PvmOk)
        code = list_environment(spawn);
    if (code < 0)
        return code;
    for (int i = 0; i < spawn->count; i++)
        spawn->processes[i] = EARL_E_MEMORY;
    if ((spawn->flag & (PvmTaskHost | PvmTaskArch)) != 0)
        code = start_on_hosts(spawn);
    else
        code = start(spawn, NULL, spawn->count, spawn->processes);
    if (code < 0)
        return code;
    const int many = sort_tids(spawn, tids);
    code = many == 0 ? PvmOk : tell_siblings(many, spawn->processes);
    return code < 0 ? code : many;
}

/* Takes the directory off `where`. */
static int split_where(struct spawn *spawn, const char *where)
{
    spawn->where = strdup(where == NULL ? "" : where);
    if (spawn->where == NULL)
        return PvmNoMem;
    char *colon = strchr(spawn->where, ':');
    if (colon != NULL) {
        *colon = '\0';
        spawn->directory = colon[1] == '\0' ? NULL : colon + 1;
    }
    return PvmOk;
}

static int spawn_tasks(struct spawn *spawn, const char *where, int *tids)
{
    int code = pvmi_need();
    if (code < 0)
        return code;
    if (spawn->task == NULL || *spawn->task == '\0' || spawn->count < 1 || spawn->flag < 0 ||
        spawn->flag > FLAGS)
        return PvmBadParam;
    code = split_where(spawn, where);
    if (code == PvmOk && (spawn->flag & (PvmTaskHost | PvmTaskArch)) != 0 && *spawn->where == '\0')
        code = PvmBadParam;
    spawn->processes = calloc((size_t)spawn->count, sizeof *spawn->processes);
    if (code == PvmOk)
        code = spawn->processes == NULL ? PvmNoMem : run_spawn(spawn, tids);
    for (size_t i = 0; spawn->environment != NULL && spawn->environment[i] != NULL; i++)
        free((char *)(uintptr_t)spawn->environment[i]);
    free(spawn->environment);
    free(spawn->arguments);
    free(spawn->processes);
    free(spawn->where);
    return code;
}

int pvm_spawn(const char *task, char **argv, int flag, const char *where, int ntask, int *tids)
{
    struct spawn *spawn = calloc(1, sizeof *spawn);
    if (spawn == NULL)
        return pvmi_told("spawn", PvmNoMem);
    spawn->task = task;
    spawn->argv = argv;
    spawn->flag = flag;
    spawn->count = ntask;
    const int code = spawn_tasks(spawn, where, tids);
    free(spawn);
    return pvmi_told("spawn", code);
}

/* ---- signals ---- */

static int send_signal(int tid, int signal)
{
    const int code = pvmi_need(), process = pvmi_process_of(tid);
    if (code < 0)
        return code;
    const int result = process < 0 || signal < 0 ? EARL_E_ARG : earl_exec_signal(process, signal);
    return result == EARL_E_ENDED ? PvmNoTask : pvmi_result(result);
}

int pvm_sendsig(int tid, int signum)
{
    return pvmi_told("sendsig", send_signal(tid, signum));
}

int pvm_kill(int tid)
{
    const int code = pvmi_need();
    if (code == PvmOk && tid == pvmi_tid(pvmi_process.self))
        return pvmi_told("kill", PvmBadParam);
    return pvmi_told("kill", code < 0 ? code : send_signal(tid, SIGTERM));
}
