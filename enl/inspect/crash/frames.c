/* SPDX-License-Identifier: MIT */
/* frames.c -- from registers to the lines "#0 function (file:line)".
 *
 * libdw does the work: it finds the modules of the process by /proc, their unwinding tables and debug
 * information, and walks the stack. It is loaded when it is needed: enl is started a thousand times for each time
 * that a trace is wanted, and libdw brings six more libraries (ADR 21). Its process-wide state and its
 * errors are this process's, which ends when the trace is printed. Source: elfutils, libdwfl.h.
 *
 * Without libdw the first frame of each stack is shown (process.c). */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/last_part.h"
#include "inspect/crash/crash_private.h"

enum { FRAMES_MAX = 48 };

#if BCR_LIBDW && defined(__x86_64__)

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#define LIBDW(X)                     \
    X(dwarf_attr)                    \
    X(dwarf_diename)                 \
    X(dwarf_filesrc)                 \
    X(dwarf_formudata)               \
    X(dwarf_getscopes)               \
    X(dwarf_getscopes_die)           \
    X(dwarf_getsrcfiles)             \
    X(dwarf_tag)                     \
    X(dwfl_addrmodule)               \
    X(dwfl_attach_state)             \
    X(dwfl_begin)                    \
    X(dwfl_frame_pc)                 \
    X(dwfl_getthread_frames)         \
    X(dwfl_lineinfo)                 \
    X(dwfl_linux_proc_find_elf)      \
    X(dwfl_linux_proc_report)        \
    X(dwfl_module_addrdie)           \
    X(dwfl_module_addrinfo)          \
    X(dwfl_module_getsrc)            \
    X(dwfl_module_info)              \
    X(dwfl_report_end)               \
    X(dwfl_standard_find_debuginfo)  \
    X(dwfl_thread_state_register_pc) \
    X(dwfl_thread_state_registers)

static struct {
#define FIELD(name) __typeof__(name) *name;
    LIBDW(FIELD)
#undef FIELD
} dw;

static Dwfl *dwfl; /* NULL: there is no libdw, or it does not understand the process */

static bool load_libdw(void)
{
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
#define LOAD(name)                                                    \
    if ((*(void **)(void *)&dw.name = dlsym(library, #name)) == NULL) \
        return false;
    LIBDW(LOAD)
#undef LOAD
    return true;
}

/* What is being walked. */
static struct {
    pid_t pid;
    struct enl_registers registers;
    unsigned depth, printed; /* frames walked; lines */
    bool skips;              /* what BCR does inside a call that the program has made */
} walk;

static pid_t next_thread(Dwfl *of, void *arg, void **thread_arg)
{
    (void)of, (void)arg, (void)thread_arg;
    return 0;
}

static bool get_thread(Dwfl *of, pid_t thread, void *arg, void **thread_arg)
{
    (void)of, (void)thread, (void)arg;
    *thread_arg = NULL;
    return true;
}

static bool read_word(Dwfl *of, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    (void)of, (void)arg;
    return enl_process_memory(walk.pid, address, result, sizeof *result);
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    (void)arg;
    if (!dw.dwfl_thread_state_registers(thread, 0, ENL_REGISTERS, walk.registers.at))
        return false;
    dw.dwfl_thread_state_register_pc(thread, walk.registers.at[ENL_REGISTER_PC]);
    return true;
}

/* libdw would open the path, which may hold another file by now, or one of another mount namespace. What cannot be
 * had as a file is read from the process's memory, without the names that are not loaded. */
static int find_mapped(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, char **path_out,
                       Elf **elf_out)
{
    static const char deleted[] = " (deleted)";
    const int fd = name[0] == '/' ? enl_process_open_mapped(walk.pid, base) : -1;
    if (fd < 0) /* by such a name libdw reads memory */
        return dw.dwfl_linux_proc_find_elf(module, data, name[0] == '/' ? "/proc/none (deleted)" : name, base,
                                           path_out, elf_out);
    const size_t length = strlen(name), tail = sizeof deleted - 1;
    *path_out = strdup(name); /* beside which debug information is looked for */
    if (*path_out != NULL && length > tail && strcmp(name + length - tail, deleted) == 0)
        (*path_out)[length - tail] = '\0';
    return fd;
}

bool enl_frames_open(pid_t pid)
{
    static const Dwfl_Thread_Callbacks threads = {.next_thread = next_thread,
                                                  .get_thread = get_thread,
                                                  .memory_read = read_word,
                                                  .set_initial_registers = set_registers};
    static Dwfl_Callbacks callbacks;
    walk.pid = pid;
    /* libdw would ask these servers for debug information, and wait. */
    unsetenv("DEBUGINFOD_URLS");
    if (!load_libdw())
        return false;
    callbacks.find_elf = find_mapped;
    callbacks.find_debuginfo = dw.dwfl_standard_find_debuginfo;
    dwfl = dw.dwfl_begin(&callbacks);
    if (dwfl == NULL || dw.dwfl_linux_proc_report(dwfl, pid) != 0 ||
        dw.dwfl_report_end(dwfl, NULL, NULL) != 0 || !dw.dwfl_attach_state(dwfl, NULL, pid, &threads, &walk))
        dwfl = NULL;
    return dwfl != NULL;
}

/* Prints one frame; `where` is file:line or "". */
static void print_named(const char *function, const char *where)
{
    walk.skips = walk.skips && strncmp(function, "bcr_", 4) != 0;
    if (walk.skips)
        return;
    printf("#%u %s%s%s%s\n", walk.printed++, function, where[0] != '\0' ? " (" : "", where,
           where[0] != '\0' ? ")" : "");
}

/* Prints the functions that were inlined at `pc`, from the innermost on. `where` holds where the innermost
 * stands, and afterwards where the outermost of them was called. */
static void print_inlined(Dwfl_Module *module, uint64_t pc, char *where, size_t size)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dw.dwfl_module_addrdie(module, pc, &bias), *innermost = NULL, *scopes = NULL;
    int count = 0;
    if (unit != NULL && dw.dwarf_getscopes(unit, pc - bias, &innermost) > 0)
        count = dw.dwarf_getscopes_die(innermost, &scopes);
    for (int i = 0; i < count && dw.dwarf_tag(&scopes[i]) != DW_TAG_subprogram; i++) {
        Dwarf_Attribute attribute;
        Dwarf_Word line = 0, file = 0;
        Dwarf_Files *files;
        const char *name = dw.dwarf_diename(&scopes[i]);
        if (dw.dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine || name == NULL)
            continue;
        print_named(name, where);
        dw.dwarf_formudata(dw.dwarf_attr(&scopes[i], DW_AT_call_line, &attribute), &line);
        dw.dwarf_formudata(dw.dwarf_attr(&scopes[i], DW_AT_call_file, &attribute), &file);
        const char *path = dw.dwarf_getsrcfiles(unit, &files, NULL) == 0
                               ? dw.dwarf_filesrc(files, (size_t)file, NULL, NULL)
                               : NULL;
        snprintf(where, size, "%s:%" PRIu64, path != NULL ? path : "?", (uint64_t)line);
    }
    free(scopes);
    free(innermost);
}

/* Callers of these are the C library's, or a coroutine's empty end. */
static bool is_outermost(const char *function)
{
    return strcmp(function, "main") == 0 || strcmp(function, "start_thread") == 0;
}

/* Prints the frame of `pc`, and those of what was inlined there. False: it is the last one. */
static bool print_frame(uint64_t pc)
{
    GElf_Off offset = 0;
    GElf_Sym symbol;
    Dwfl_Module *module = dw.dwfl_addrmodule(dwfl, pc);
    const char *function =
        module != NULL ? dw.dwfl_module_addrinfo(module, pc, &offset, &symbol, NULL, NULL, NULL) : NULL;
    if (module == NULL && walk.depth > 1)
        return false; /* nothing has called this */
    if (function == NULL) {
        enl_process_print(walk.pid, walk.printed++, pc);
        return true;
    }
    if (strcmp(function, "make_fcontext") == 0)
        return false;
    char where[1024] = "";
    int number = 0;
    Dwfl_Line *line = dw.dwfl_module_getsrc(module, pc);
    const char *path = line != NULL ? dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (path != NULL) {
        snprintf(where, sizeof where, "%s:%d", path, number);
        print_inlined(module, pc, where, sizeof where);
    } else {
        const char *name = dw.dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        snprintf(where, sizeof where, "%s", name != NULL ? enl_last_part(name) : "?");
    }
    print_named(function, where);
    return !is_outermost(function);
}

static int on_frame(Dwfl_Frame *frame, void *arg)
{
    Dwarf_Addr pc;
    bool exact;
    (void)arg;
    if (!dw.dwfl_frame_pc(frame, &pc, &exact))
        return DWARF_CB_ABORT;
    if (++walk.depth > FRAMES_MAX) {
        puts("... and more");
        return DWARF_CB_ABORT;
    }
    /* A return address may be the first of the next function. */
    return print_frame(exact ? pc : pc - 1) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void print_stack(pid_t pid, const struct enl_registers *registers)
{
    walk.registers = *registers;
    walk.depth = walk.printed = 0;
    uint64_t *pc = &walk.registers.at[ENL_REGISTER_PC], *sp = &walk.registers.at[ENL_REGISTER_SP];
    if (dwfl == NULL) {
        enl_process_print(pid, 0, *pc);
        return;
    }
    if (dw.dwfl_addrmodule(dwfl, *pc) ==
        NULL) { /* a call through a wild pointer: its caller is on the stack */
        enl_process_print(pid, walk.printed++, *pc);
        walk.depth++;
        if (!enl_process_memory(pid, *sp, pc, sizeof *pc))
            return;
        *pc -= 1;
        *sp += sizeof *pc;
    }
    dw.dwfl_getthread_frames(dwfl, pid, on_frame, NULL);
}

void enl_frames_print(pid_t pid, const struct enl_registers *registers, bool in_call)
{
    walk.skips = in_call && dwfl != NULL;
    print_stack(pid, registers);
    if (walk.skips) { /* no name that begins with bcr_ */
        walk.skips = false;
        print_stack(pid, registers);
    }
}

#elif defined(__x86_64__)

bool enl_frames_open(pid_t pid)
{
    (void)pid;
    return false;
}

void enl_frames_print(pid_t pid, const struct enl_registers *registers, bool in_call)
{
    (void)in_call;
    enl_process_print(pid, 0, registers->at[ENL_REGISTER_PC]);
}

#endif
