/* SPDX-License-Identifier: MIT */
/* mailboxes.c -- messages that are kept by name and index: boxes of EXEC's, whose names begin with PREFIX. A box has the message as an
 * item, with what is known of it. */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

enum { NAME_MOST = 250, PREFIX = 'm', NUMBERS = 'n' };

static int full_name(char *full, int prefix, const char *name)
{
    if (name == NULL || *name == '\0' || strlen(name) > NAME_MOST)
        return PvmBadParam;
    full[0] = (char)prefix;
    full[1] = ':';
    strcpy(full + 2, name);
    return PvmOk;
}

/* ---- entries ---- */

static int code_of(int result)
{
    return result == EARL_E_NONE ? PvmNotFound : result == EARL_E_BUSY ? PvmDenied : pvmi_result(result);
}

static int put(const char *name, int id, int flags)
{
    char full[NAME_MOST + 3];
    struct pvmi_buffer *buffer;
    int code = pvmi_need();
    if (code == PvmOk)
        code = full_name(full, PREFIX, name);
    if (code == PvmOk)
        code = pvmi_buffer_given(id, &buffer);
    if (code == PvmOk && flags < 0)
        code = PvmBadParam;
    if (code != PvmOk)
        return code;
    const bool is_several = (flags & PvmMboxMultiInstance) != 0,
               is_anyone = (flags & PvmMboxOverWritable) != 0;
    const int direct = (int)PvmMboxDirectIndexOf((unsigned)flags);
    const int index = direct > 0 ? direct : is_several ? -1 : 0;
    const int how = (is_several ? EARL_BOX_SEVERAL : 0) | (is_anyone ? EARL_BOX_ANYONE : 0) |
                    ((flags & PvmMboxPersistent) != 0 ? EARL_BOX_STAYS : 0) |
                    (direct > 0 || !is_several ? EARL_BOX_REPLACE : 0);
    earl_buffer *items = earl_buffer_make(0);
    if (items == NULL)
        return PvmNoMem;
    code = pvmi_nest(items, buffer);
    const int result = code == PvmOk ? earl_exec_post(full, index, how, items) : 0;
    earl_buffer_free(items);
    if (code < 0)
        return code;
    return code_of(result);
}

int pvm_putinfo(const char *name, int bufid, int flags)
{
    return pvmi_told("putinfo", put(name, bufid, flags));
}

static int get(const char *name, int index, int flags)
{
    char full[NAME_MOST + 3];
    earl_buffer *items;
    int code = pvmi_need();
    if (code == PvmOk)
        code = full_name(full, PREFIX, name);
    if (code == PvmOk && (index < 0 || flags < 0))
        code = PvmBadParam;
    if (code != PvmOk)
        return code;
    const int how = ((flags & PvmMboxFirstAvail) != 0 ? 0 : EARL_BOX_EXACT) |
                    ((flags & PvmMboxReadAndDelete) != 0 ? EARL_BOX_TAKE : 0) |
                    ((flags & PvmMboxWaitForInfo) != 0 ? EARL_BOX_WAIT : 0);
    const int result = earl_exec_fetch(full, index, how, &items);
    if (result < 0)
        return code_of(result);
    code = pvmi_unnest(items);
    earl_buffer_free(items);
    return pvmi_activate(code);
}

int pvm_recvinfo(const char *name, int index, int flags)
{
    return pvmi_told("recvinfo", get(name, index, flags));
}

static int drop(int prefix, const char *name, int index)
{
    char full[NAME_MOST + 3];
    int code = pvmi_need();
    if (code == PvmOk)
        code = full_name(full, prefix, name);
    if (code == PvmOk && index < 0)
        code = PvmBadParam;
    return code != PvmOk ? code : code_of(earl_exec_drop(full, index));
}

int pvm_delinfo(const char *name, int index, int flags)
{
    (void)flags;
    return pvmi_told("delinfo", drop(PREFIX, name, index));
}

/* ---- what there is ---- */

static struct pvmmboxinfo *infos; /* of the last call */
static int info_count;

static void free_infos(void)
{
    for (int i = 0; i < info_count; i++) {
        free(infos[i].mi_name);
        free(infos[i].mi_indices);
        free(infos[i].mi_owners);
        free(infos[i].mi_flags);
    }
    free(infos);
    infos = NULL;
    info_count = 0;
}

/* A task that has ended owns nothing any more. */
static int owner_of(int process)
{
    struct earl_exec_process told;
    const bool lives = earl_exec_process(process, &told) == EARL_OK && !told.has_ended;
    return lives ? pvmi_tid(process) : 0;
}

static int flags_of(int flags)
{
    return ((flags & EARL_BOX_SEVERAL) != 0 ? PvmMboxMultiInstance : 0) |
           ((flags & EARL_BOX_ANYONE) != 0 ? PvmMboxOverWritable : 0) |
           ((flags & EARL_BOX_STAYS) != 0 ? PvmMboxPersistent : 0);
}

/* A mailbox of `count` entries that stand one behind the other. */
static bool add_info(const struct earl_exec_boxed *entries, int count)
{
    const size_t room = (size_t)count * sizeof(int);
    struct pvmmboxinfo *grown = realloc(infos, ((size_t)info_count + 1) * sizeof *infos);
    if (grown == NULL)
        return false;
    infos = grown;
    struct pvmmboxinfo *info = &infos[info_count++];
    *info = (struct pvmmboxinfo){strdup(entries->name + 2), count, malloc(room), malloc(room), malloc(room)};
    if (info->mi_name == NULL || info->mi_indices == NULL || info->mi_owners == NULL ||
        info->mi_flags == NULL)
        return false;
    for (int i = 0; i < count; i++) {
        info->mi_indices[i] = entries[i].index;
        info->mi_owners[i] = owner_of(entries[i].owner);
        info->mi_flags[i] = flags_of(entries[i].flags);
    }
    return true;
}

static int list_boxes(struct earl_exec_boxed **list_out)
{
    struct earl_exec_boxed *list = NULL;
    int room = 0, count = earl_exec_boxes(NULL, NULL, 0);
    while (count > room) {
        room = count + 8;
        free(list);
        list = malloc((size_t)room * sizeof *list);
        if (list == NULL)
            return PvmNoMem;
        count = earl_exec_boxes(NULL, list, room);
    }
    *list_out = list;
    return pvmi_result(count);
}

static int find_infos(const char *pattern)
{
    struct earl_exec_boxed *list = NULL;
    regex_t compiled;
    const bool is_all = strcmp(pattern, "*") == 0;
    if (!is_all && regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return PvmBadParam;
    const int count = list_boxes(&list);
    bool has_memory = true;
    for (int i = 0, many; list != NULL && i < count && has_memory; i += many) {
        for (many = 1; i + many < count && strcmp(list[i].name, list[i + many].name) == 0;)
            many++;
        const bool is_ours = list[i].name[0] == PREFIX && list[i].name[1] == ':';
        if (is_ours && (is_all || regexec(&compiled, list[i].name + 2, 0, NULL, 0) == 0))
            has_memory = add_info(&list[i], many);
    }
    if (!is_all)
        regfree(&compiled);
    free(list);
    return count < 0 ? count : has_memory ? PvmOk : PvmNoMem;
}

static int tell_infos(const char *pattern, int *nclasses, struct pvmmboxinfo **classes)
{
    int code = pvmi_need();
    if (code < 0)
        return code;
    if (pattern == NULL)
        return PvmBadParam;
    free_infos();
    code = find_infos(pattern);
    if (code < 0)
        return code;
    if (nclasses != NULL)
        *nclasses = info_count;
    if (classes != NULL)
        *classes = infos;
    return PvmOk;
}

int pvm_getmboxinfo(const char *pattern, int *nclasses, struct pvmmboxinfo **classes)
{
    return pvmi_told("getmboxinfo", tell_infos(pattern, nclasses, classes));
}

/* ---- PVM 3.3's: numbers ---- */

static int insert(const char *name, int index, int data)
{
    char full[NAME_MOST + 3];
    int code = pvmi_need();
    if (code == PvmOk)
        code = full_name(full, NUMBERS, name);
    if (code == PvmOk && index < -1)
        code = PvmBadParam;
    if (code != PvmOk)
        return code;
    earl_buffer *items = earl_buffer_make(0);
    if (items == NULL)
        return PvmNoMem;
    int result = earl_pack(items, EARL_INT, &data, 1, 1);
    if (result == EARL_OK)
        result = earl_exec_post(full, index, EARL_BOX_SEVERAL | EARL_BOX_ANYONE | EARL_BOX_STAYS, items);
    earl_buffer_free(items);
    return result == EARL_E_BUSY ? PvmDupEntry : pvmi_result(result);
}

int pvm_insert(const char *name, int index, int data)
{
    return pvmi_told("insert", insert(name, index, data));
}

static int look_up(const char *name, int index, int *data)
{
    char full[NAME_MOST + 3];
    earl_buffer *items;
    int code = pvmi_need(), value;
    if (code == PvmOk)
        code = full_name(full, NUMBERS, name);
    if (code == PvmOk && index < -1)
        code = PvmBadParam;
    if (code != PvmOk)
        return code;
    const int found = earl_exec_fetch(full, index < 0 ? 0 : index, index < 0 ? 0 : EARL_BOX_EXACT, &items);
    if (found < 0)
        return code_of(found);
    code = earl_unpack(items, EARL_INT, &value, 1, 1);
    earl_buffer_free(items);
    if (code < 0)
        return pvmi_result(code);
    if (data != NULL)
        *data = value;
    return found;
}

int pvm_lookup(const char *name, int index, int *data)
{
    return pvmi_told("lookup", look_up(name, index, data));
}

int pvm_delete(const char *name, int index)
{
    return pvmi_told("delete", drop(NUMBERS, name, index));
}
