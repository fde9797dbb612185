/* SPDX-License-Identifier: MIT */
/* host_cubes.c -- what a host program does with cubes and what it loads; and how it begins. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host.h"

static const char *name_of(const char *name)
{
    return name == NULL || *name == '\0' ? "defaultname" : name;
}

/* ---- begin ---- */

const char *nxi_program(void)
{
    const char *name = getenv("NX_PROGRAM");
    return name != NULL && *name != '\0' ? name : "nx";
}

int nxi_lock_program(void)
{
    const char *home = getenv("HOME");
    int lock = open(home != NULL ? home : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0)
        lock = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0 || flock(lock, LOCK_EX) == 0)
        return lock;
    const int error = errno;
    close(lock);
    errno = error;
    return -1;
}

long nxi_world(void)
{
    static bool has_begun;
    if (has_begun)
        return 0;
    const int lock = nxi_lock_program();
    if (lock < 0)
        return nxi_bad(EQDRVERR, "the home directory cannot be locked: %s", strerror(errno));
    const int code = earl_exec_enter(nxi_program(), "nx");
    close(lock);
    const long result = nxi_host_result(code == EARL_E_NONE ? earl_exec_begin("nx") : code);
    has_begun = result >= 0;
    return result;
}

static long get_and_load(const char *size, const char *file, const char *const *arguments)
{
    const long result = nxi_getcube("", size, "", 0);
    return result < 0 ? result : nxi_host_result(earl_cube_load(file, arguments, EARL_ANY, 0));
}

/* "8 ./node argument" */
static long load_variable(const char *text)
{
    char *copy = strdup(text), *rest = copy;
    const char **words = calloc(strlen(text) + 2, sizeof(char *));
    size_t count = 0;
    long result = nxi_bad(EQMEM, "no memory");
    for (char *word; words != NULL && (word = strsep(&rest, " \t")) != NULL;)
        if (*word != '\0')
            words[count++] = word;
    if (words != NULL && copy != NULL && count < 2)
        result = nxi_bad(EQPARAM, "NX_LOAD is \"%s\", not a number of nodes and a program", text);
    else if (words != NULL && copy != NULL)
        result = get_and_load(words[0], words[1], words + 2);
    free(words);
    free(copy);
    return result < 0 ? result : 0;
}

void nxi_host_begin(void)
{
    const char *text = getenv("NX_LOAD");
    long result = nxi_world();
    if (result == 0 && earl_cube_own(NULL, NULL, NULL) != EARL_OK) {
        if (text == NULL)
            result = nxi_bad(
                EQCUBE, "the host has no cube: getcube, attachcube or the variable NX_LOAD gives it one");
        else
            result = load_variable(text);
    }
    (void)nxi_must("host", result);
    if (!nxi_process.has_begun)
        nxi_take_cube();
}

/* ---- cubes ---- */

int nxi_size_of(const char *type)
{
    if (type == NULL || *type == '\0') {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        return processors < 1 ? 1 : (int)processors;
    }
    const bool is_dimension = *type == 'd';
    char *end;
    const char *number = type + is_dimension;
    const long value = isdigit((unsigned char)*number) ? strtol(number, &end, 10) : -1;
    if (value < 0 || value > (is_dimension ? 20 : 1 << 20) || (*end != '\0' && !isalpha((unsigned char)*end)))
        return 0;
    return is_dimension ? 1 << value : (int)value;
}

long nxi_getcube(const char *name, const char *type, const char *srmname, long keep)
{
    (void)srmname;
    const int size = nxi_size_of(type);
    if (size == 0)
        return nxi_bad(EQPARAM, "\"%s\" is no type of a cube, as \"8\" or \"d3\" are", type);
    long result = nxi_world();
    if (result == 0)
        result = nxi_host_result(earl_cube_make(name_of(name), size, nxi_low(keep) != 0));
    if (result == -EQCUBE)
        return nxi_bad(EQCUBE, "there is a cube \"%s\" already", name_of(name));
    if (result == 0)
        nxi_take_cube();
    return result;
}

static long no_cube(long result, const char *name)
{
    return result == -EQCUBE ? nxi_bad(EQCUBE, "there is no cube \"%s\"", name) : result < 0 ? result : 0;
}

static long nxi_attachcube(const char *name)
{
    long result = nxi_world();
    if (result == 0)
        result = no_cube(nxi_host_result(earl_cube_attach(name_of(name))), name_of(name));
    if (result == 0)
        nxi_take_cube();
    return result;
}

static long nxi_relcube(const char *name)
{
    const bool is_current = name == NULL || *name == '\0';
    struct earl_cube current = {0};
    long result = nxi_world();
    if (result < 0)
        return result;
    const bool has_current = earl_cube_own(&current, NULL, NULL) == EARL_OK;
    result = nxi_host_result(earl_cube_drop(is_current && has_current ? NULL : name_of(name)));
    if (result == 0 && has_current && (is_current || strcmp(name, current.name) == 0))
        nxi_process.has_begun = false;
    return no_cube(result, name_of(name));
}

static void tell(struct cubetable *table, const struct earl_cube *cube)
{
    *table = (struct cubetable){
        .numnodes = cube->size, .host = cube->host, .hostpid = cube->host_pid, .keep = cube->is_kept};
    strcpy(table->name, cube->name);
}

static long nxi_cubeinfo(struct cubetable *ct, long slots, long global)
{
    const int room = nxi_low(slots);
    struct earl_cube cube, *list = NULL;
    long result = nxi_world();
    if (result < 0)
        return result;
    if (room < 0 || (room > 0 && ct == NULL))
        return nxi_bad(EQPARAM, "%d slots for cubes", room);
    if (nxi_low(global) == 0) {
        const bool has_one = earl_cube_own(&cube, NULL, NULL) == EARL_OK;
        if (has_one && room > 0)
            tell(ct, &cube);
        return has_one;
    }
    if (room > 0 && (list = calloc((size_t)room, sizeof *list)) == NULL)
        return nxi_bad(EQMEM, "no memory");
    result = nxi_host_result(earl_cube_list(list, room));
    for (int i = 0; i < room && i < result; i++)
        tell(&ct[i], &list[i]);
    free(list);
    return result;
}

bool nxi_has_cube(const char *name)
{
    const int count = earl_cube_list(NULL, 0);
    struct earl_cube *list = count > 0 ? calloc((size_t)count, sizeof *list) : NULL;
    const int told = list == NULL ? 0 : earl_cube_list(list, count);
    bool has = false;
    for (int i = 0; i < count && i < told; i++)
        has = has || strcmp(list[i].name, name_of(name)) == 0;
    free(list);
    return has;
}

static long nxi_setpid(long pid)
{
    struct earl_cube cube;
    if (earl_cube_pid(nxi_low(pid)) != EARL_OK)
        return nxi_bad(EQPID, "%d is no process ID: they are 0 or more", nxi_low(pid));
    if (nxi_process.has_begun && earl_cube_own(&cube, NULL, NULL) == EARL_OK)
        return nxi_attachcube(cube.name);
    return 0;
}

/* ---- what is loaded ---- */

/* Node and process ID, -1 for any of them. */
static long place(int *place_out, long node, long pid)
{
    place_out[0] = nxi_low(node);
    place_out[1] = nxi_low(pid);
    nxi_need();
    if (place_out[0] < -1 || place_out[0] >= nxi_process.count)
        return nxi_bad(EQNODE, "there is no node %d: they are 0 to %d", place_out[0], nxi_process.count - 1);
    if (place_out[1] < -1)
        return nxi_bad(EQPID, "%d is no process ID: they are 0 or more, or -1", place_out[1]);
    return 0;
}

static long nxi_load(const char *filename, long node, long pid)
{
    int at[2];
    long result = place(at, node, pid);
    if (result < 0)
        return result;
    if (filename == NULL || *filename == '\0' || at[1] < 0)
        return nxi_bad(EQPARAM, "no program, or process ID %d", at[1]);
    result = earl_cube_load(filename, NULL, at[0], at[1]);
    if (result == EARL_E_BUSY)
        return nxi_bad(EQPID, "process %d runs already on node %d", at[1], at[0]);
    if (result == EARL_E_FILE)
        return nxi_bad(EQFILE, "%s cannot be started: there is no such program, or it is none", filename);
    const int wanted = at[0] == -1 ? nxi_process.count : 1;
    if (result >= 0 && result < wanted)
        return nxi_bad(EQFILE, "%s could be started on %ld of %d nodes only", filename, result, wanted);
    return result < 0 ? nxi_host_result((int)result) : 0;
}

static long nxi_waitone(long node, long pid, long *cnode, long *cpid, long *ccode)
{
    struct earl_exec_process told;
    int at[2];
    long result = place(at, node, pid);
    if (result < 0)
        return result;
    const int code = earl_cube_await(&at[0], &at[1], &told);
    if (code == EARL_E_PROCESS)
        return nxi_bad(EQPID, "there is no such process to wait for");
    if (code < 0)
        return nxi_host_result(code);
    if (cnode != NULL)
        *cnode = at[0];
    if (cpid != NULL)
        *cpid = at[1];
    if (ccode != NULL)
        *ccode = told.how == EARL_HOW_EXITED ? told.status : told.how == EARL_HOW_KILLED ? -told.status : -1;
    return 0;
}

static long nxi_waitall(long node, long pid)
{
    long result;
    do
        result = nxi_waitone(node, pid, NULL, NULL, NULL);
    while (result == 0);
    return result == -EQPID ? 0 : result;
}

NX_VOID_FORMS(getcube, (const char *name, const char *type, const char *srmname, long keep),
              (name, type, srmname, keep))
NX_VOID_FORMS(attachcube, (const char *name), (name))
NX_VOID_FORMS(relcube, (const char *name), (name))
NX_FORMS(cubeinfo, (struct cubetable * ct, long slots, long global), (ct, slots, global))
NX_VOID_FORMS(setpid, (long pid), (pid))
NX_VOID_FORMS(load, (const char *filename, long node, long pid), (filename, node, pid))
NX_VOID_FORMS(waitone, (long node, long pid, long *cnode, long *cpid, long *ccode),
              (node, pid, cnode, cpid, ccode))
NX_VOID_FORMS(waitall, (long node, long pid), (node, pid))
