/* SPDX-License-Identifier: MIT */
/* output.c -- pvm_catchout: what tasks print is told to another task, which prints it.
 *
 * The destination of a task's output is chosen when it is spawned, and goes on to the tasks that it spawns by a variable. The messages that
 * EXEC sends are looked for as notices are (notices.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm_private.h"

/* The part of a line of a task, until the rest has come. */
struct part {
    struct part *next;
    int process, stream;
    size_t length, room;
    char *text;
};

/* A task that prints here, and where that goes. */
struct printer {
    struct printer *next;
    int process;
    FILE *file;
};

static FILE *file; /* that tasks print to whose beginning is told from now on */
static struct printer *printers;
static bool is_catching, is_known; /* the destination */
static int destination; /* the process that gets what spawned tasks print; 0: it goes on with the program's */
static int inherited;   /* of this task's own output */
static struct part *parts;

/* A variable that EXEC has not set could be anything. */
static int from_variable(void)
{
    const char *text = pvmi_process.parent == EARL_ANY ? NULL : getenv(PVMI_OUTPUT_VARIABLE);
    const long tid = text == NULL ? 0 : strtol(text, NULL, 10);
    return tid > PVMI_TASKS && tid < PVMI_TASKS + PVMI_TASKS_MOST ? (int)tid - PVMI_TASKS : 0;
}

static void know(void)
{
    if (is_known || !pvmi_process.has_begun)
        return;
    is_known = true;
    inherited = destination = from_variable();
}

static int tid_of(int process)
{
    return process == 0 ? 0 : pvmi_tid(process);
}

int pvmi_output(void)
{
    know();
    return destination;
}

int pvmi_output_option(int what)
{
    know();
    return tid_of(what == PvmOutputTid ? destination : inherited);
}

int pvmi_output_set(int tid)
{
    const int process = pvmi_process_of(tid), code = tid == 0 ? PvmOk : pvmi_need();
    if (code < 0)
        return code;
    if (tid != 0 && process < 0)
        return PvmBadParam;
    know();
    is_known = true;
    destination = tid == 0 ? 0 : process;
    return PvmOk;
}

/* ---- printing ---- */

bool pvmi_output_comes(void)
{
    return file != NULL;
}

static const struct earl_wanted a_line = {PVMI_OUTPUT_CONTEXT, 0, EARL_ANY, NULL, NULL};

struct earl_wanted *pvmi_output_wanted(struct earl_wanted *wanted)
{
    if (file != NULL)
        *wanted++ = a_line;
    return wanted;
}

static struct printer **find(int process)
{
    struct printer **at = &printers;
    while (*at != NULL && (*at)->process != process)
        at = &(*at)->next;
    return at;
}

static FILE *file_of(int process)
{
    const struct printer *printer = *find(process);
    return printer == NULL ? file : printer->file;
}

static void print_line(int process, const char *text, size_t length)
{
    FILE *const to = file_of(process);
    fprintf(to, "[t%x] ", (unsigned)pvmi_tid(process));
    (void)fwrite(text, 1, length, to);
    (void)fputc('\n', to);
}

/* The part of that process and stream, which may be new; NULL: no memory. */
static struct part *part_of(int process, int stream)
{
    struct part *part = parts;
    while (part != NULL && (part->process != process || part->stream != stream))
        part = part->next;
    if (part == NULL && (part = calloc(1, sizeof *part)) != NULL) {
        *part = (struct part){.next = parts, .process = process, .stream = stream};
        parts = part;
    }
    return part;
}

/* Keeps text until its line ends. */
static bool keep(struct part *part, const char *text, size_t length)
{
    if (part->length + length > part->room) {
        const size_t room = 2 * (part->length + length) + 64;
        char *grown = realloc(part->text, room);
        if (grown == NULL)
            return false;
        part->text = grown;
        part->room = room;
    }
    if (length > 0)
        memcpy(part->text + part->length, text, length);
    part->length += length;
    return true;
}

static int print_lines(int process, int stream, const char *text, size_t length)
{
    struct part *part = part_of(process, stream);
    while (part != NULL && length > 0) {
        const char *end = memchr(text, '\n', length);
        const size_t many = end == NULL ? length : (size_t)(end - text);
        if (!keep(part, text, many))
            return PvmNoMem;
        if (end != NULL) {
            print_line(process, part->text, part->length);
            part->length = 0;
        }
        text += many + (end != NULL);
        length -= many + (end != NULL);
    }
    return part == NULL ? PvmNoMem : PvmOk;
}

/* A task has ended: so have its lines. */
static void print_rest(int process)
{
    for (struct part **at = &parts; *at != NULL;) {
        struct part *part = *at;
        if (part->process != process) {
            at = &part->next;
            continue;
        }
        *at = part->next;
        if (part->length > 0)
            print_line(process, part->text, part->length);
        free(part->text);
        free(part);
    }
}

static int print_begin(int process, bool shows)
{
    struct printer *printer = malloc(sizeof *printer);
    if (printer == NULL)
        return PvmNoMem;
    *printer = (struct printer){printers, process, file};
    printers = printer;
    if (shows)
        fprintf(file, "[t%x] BEGIN\n", (unsigned)pvmi_tid(process));
    return PvmOk;
}

static void print_end(int process, bool shows)
{
    struct printer **at = find(process), *printer = *at;
    print_rest(process);
    if (shows)
        fprintf(file_of(process), "[t%x] EOF\n", (unsigned)pvmi_tid(process));
    (void)fflush(file_of(process));
    if (printer != NULL)
        *at = printer->next;
    free(printer);
}

static int print(int process, int what, const char *text, size_t length)
{
    const bool shows = pvm_getopt(PvmShowTids) != 0;
    int code = PvmOk;
    if (what == EARL_PRINTED_BEGIN)
        code = print_begin(process, shows);
    else if (what == EARL_PRINTED_END)
        print_end(process, shows);
    else if (shows)
        code = print_lines(process, what, text, length);
    else
        (void)fwrite(text, 1, length, file_of(process));
    (void)fflush(file_of(process));
    return code;
}

static int read_and_print(earl_buffer *items)
{
    int head[3];
    if (earl_unpack(items, EARL_INT, head, 3, 1) != EARL_OK || head[2] < 0)
        return PvmSysErr;
    const size_t length = (size_t)head[2];
    char *text = malloc(length + 1);
    int code = text == NULL ? EARL_E_MEMORY : EARL_OK;
    if (code == EARL_OK && length > 0)
        code = earl_unpack(items, EARL_BYTE, text, length, 1);
    code = code == EARL_OK ? print(head[0], head[1], text, length) : pvmi_result(code);
    free(text);
    return code;
}

/* Prints what has come, or, if it waits, the next that comes. Returns 1; 0: nothing has come; or an error. */
static int serve_one(bool waits)
{
    earl_buffer *items;
    int code = file == NULL ? 0 : pvmi_result(earl_buffer_receive(&a_line, waits, &items, NULL));
    if (code <= 0)
        return code;
    code = read_and_print(items);
    earl_buffer_free(items);
    return code < 0 ? code : 1;
}

int pvmi_output_serve(void)
{
    int code;
    while ((code = serve_one(false)) > 0)
        ;
    return code;
}

void pvmi_output_finish(void)
{
    int code = pvmi_output_serve();
    while (code >= 0 && is_catching && printers != NULL) {
        code = serve_one(true);
        if (code == 0)
            break; /* EXEC has ended */
    }
}

int pvm_catchout(FILE *ff)
{
    const int code = pvmi_need();
    if (code < 0)
        return pvmi_told("catchout", code);
    know();
    is_catching = ff != NULL;
    destination = is_catching ? pvmi_process.self : 0;
    if (is_catching)
        file = ff;
    return PvmOk;
}
