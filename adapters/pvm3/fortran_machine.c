/* SPDX-License-Identifier: MIT */
/* fortran_machine.c -- spawning, mailboxes and groups, as Fortran programs call them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortran.h"

/* Calls a routine with a name that Fortran has given: `call` uses `text`, and its result comes to *result. */
#define WITH_NAME(name, length, routine, result, call) \
    do {                                               \
        char *text = pvmi_trimmed(name, length);       \
        if (text == NULL)                              \
            *(result) = pvmi_told(routine, PvmNoMem);  \
        else                                           \
            *(result) = (call);                        \
        free(text);                                    \
    } while (0)

/* ---- tasks ---- */

void pvmfspawn_(const char *task, integer *flag, const char *where, integer *ntask, int *tids, int *numt,
                size_t task_length, size_t where_length)
{
    char *place = pvmi_trimmed(where, where_length);
    if (place == NULL)
        *numt = pvmi_told("spawn", PvmNoMem);
    else
        WITH_NAME(task, task_length, "spawn", numt,
                  pvm_spawn(text, NULL, *flag, strcmp(place, "*") == 0 ? NULL : place, *ntask, tids));
    free(place);
}

void pvmfkill_(integer *tid, int *info)
{
    *info = pvm_kill(*tid);
}

void pvmfsendsig_(integer *tid, integer *signum, int *info)
{
    *info = pvm_sendsig(*tid, *signum);
}

void pvmfpstat_(integer *tid, int *status)
{
    *status = pvm_pstat(*tid);
}

void pvmfmstat_(const char *host, int *status, size_t length)
{
    WITH_NAME(host, length, "mstat", status, pvm_mstat(text));
}

void pvmfnotify_(integer *what, integer *tag, integer *count, integer *tids, int *info)
{
    *info = pvm_notify(*what, *tag, *count, tids);
}

/* One host: 1, or its code. */
static int change_one(int (*change)(char **hosts, int count, int *infos), char *host)
{
    int code = PvmOk;
    const int done = change(&host, 1, &code);
    return done == 0 ? code : done;
}

void pvmfaddhost_(const char *host, int *info, size_t length)
{
    WITH_NAME(host, length, "addhosts", info, change_one(pvm_addhosts, text));
}

void pvmfdelhost_(const char *host, int *info, size_t length)
{
    WITH_NAME(host, length, "delhosts", info, change_one(pvm_delhosts, text));
}

/* On Fortran's behalf the lines go to C's stdout. */
void pvmfcatchout_(integer *onoff, int *info)
{
    *info = pvm_catchout(*onoff != 0 ? stdout : NULL);
}

/* The arguments stand in one string, with blanks between them. */
void pvmfstartpvmd_(const char *args, integer *block, int *info, size_t length)
{
    char *text = pvmi_trimmed(args, length), *rest = NULL;
    char **words = text == NULL ? NULL : calloc(length / 2 + 2, sizeof *words);
    int count = 0;
    for (char *word = words == NULL ? NULL : strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    *info = words == NULL ? pvmi_told("start_pvmd", PvmNoMem) : pvm_start_pvmd(count, words, *block);
    free(words);
    free(text);
}

void pvmfhalt_(int *info)
{
    *info = pvm_halt();
}

/* ---- mailboxes ---- */

void pvmfputinfo_(const char *name, integer *bufid, integer *flags, int *index, size_t length)
{
    WITH_NAME(name, length, "putinfo", index, pvm_putinfo(text, *bufid, *flags));
}

void pvmfrecvinfo_(const char *name, integer *index, integer *flags, int *bufid, size_t length)
{
    WITH_NAME(name, length, "recvinfo", bufid, pvm_recvinfo(text, *index, *flags));
}

void pvmfdelinfo_(const char *name, integer *index, integer *flags, int *info, size_t length)
{
    WITH_NAME(name, length, "delinfo", info, pvm_delinfo(text, *index, *flags));
}

/* The next entry at each call, and PvmNotFound behind the last; an info of -1 begins anew. */
void pvmfgetmboxinfo_(const char *pattern, char *name, int *nclasses, int *nentries, int *index, int *owner,
                      int *flags, int *info, size_t length, size_t room)
{
    static int next;
    struct pvmmboxinfo *boxes = NULL;
    if (*info == -1)
        next = 0;
    WITH_NAME(pattern, length, "getmboxinfo", info, pvm_getmboxinfo(text, nclasses, &boxes));
    if (*info < 0)
        return;
    const int many = boxes == NULL ? 0 : *nclasses;
    int box = 0, entry = next++;
    while (box < many && entry >= boxes[box].mi_nentries)
        entry -= boxes[box++].mi_nentries;
    if (box == many || boxes == NULL) {
        next = 0;
        *info = PvmNotFound;
        return;
    }
    pvmi_blank_padded(name, room, boxes[box].mi_name, strlen(boxes[box].mi_name));
    *nentries = boxes[box].mi_nentries;
    *index = boxes[box].mi_indices[entry];
    *owner = boxes[box].mi_owners[entry];
    *flags = boxes[box].mi_flags[entry];
}

/* ---- groups ---- */

void pvmfjoingroup_(const char *group, int *inum, size_t length)
{
    WITH_NAME(group, length, "joingroup", inum, pvm_joingroup(text));
}

void pvmflvgroup_(const char *group, int *info, size_t length)
{
    WITH_NAME(group, length, "lvgroup", info, pvm_lvgroup(text));
}

void pvmfgettid_(const char *group, integer *inum, int *tid, size_t length)
{
    WITH_NAME(group, length, "gettid", tid, pvm_gettid(text, *inum));
}

void pvmfgetinst_(const char *group, integer *tid, int *inum, size_t length)
{
    WITH_NAME(group, length, "getinst", inum, pvm_getinst(text, *tid));
}

void pvmfgsize_(const char *group, int *size, size_t length)
{
    WITH_NAME(group, length, "gsize", size, pvm_gsize(text));
}

void pvmfbarrier_(const char *group, integer *count, int *info, size_t length)
{
    WITH_NAME(group, length, "barrier", info, pvm_barrier(text, *count));
}

void pvmffreezegroup_(const char *group, integer *size, int *info, size_t length)
{
    WITH_NAME(group, length, "freezegroup", info, pvm_freezegroup(text, *size));
}

void pvmfbcast_(const char *group, integer *tag, int *info, size_t length)
{
    WITH_NAME(group, length, "bcast", info, pvm_bcast(text, *tag));
}

void pvmfreduce_(void (*func)(int *datatype, void *x, void *y, int *num, int *info), void *data,
                 integer *count, integer *type, integer *tag, const char *group, integer *root, int *info,
                 size_t length)
{
    WITH_NAME(group, length, "reduce", info, pvm_reduce(func, data, *count, *type, *tag, text, *root));
}

void pvmfgather_(void *result, const void *data, integer *count, integer *type, integer *tag,
                 const char *group, integer *root, int *info, size_t length)
{
    WITH_NAME(group, length, "gather", info, pvm_gather(result, data, *count, *type, *tag, text, *root));
}

void pvmfscatter_(void *result, const void *data, integer *count, integer *type, integer *tag,
                  const char *group, integer *root, int *info, size_t length)
{
    WITH_NAME(group, length, "scatter", info, pvm_scatter(result, data, *count, *type, *tag, text, *root));
}

void pvmmax_(int *datatype, void *x, void *y, int *num, int *info)
{
    PvmMax(datatype, x, y, num, info);
}

void pvmmin_(int *datatype, void *x, void *y, int *num, int *info)
{
    PvmMin(datatype, x, y, num, info);
}

void pvmsum_(int *datatype, void *x, void *y, int *num, int *info)
{
    PvmSum(datatype, x, y, num, info);
}

void pvmproduct_(int *datatype, void *x, void *y, int *num, int *info)
{
    PvmProduct(datatype, x, y, num, info);
}
