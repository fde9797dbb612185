/* SPDX-License-Identifier: MIT */
/* output.c -- what processes print, where another process wants it: each line that comes (targets/directory.c) is sent on to that one.
 *
 * EXEC does not wait for who takes too little (main.c). So lines are dropped when EXEC's memory is full of them, and stderr says it, once for
 * each process that prints. */
#include <stdio.h>
#include <stdlib.h>

#include "exec.h"
#include "targets/directory.h"

/* A process that prints for another. */
struct printer {
    struct printer *next;
    struct earl_exec_sink to;
    int process;
    unsigned open; /* a bit for each stream that is */
    bool has_lost;
};

static struct printer *printers;

static void tell(struct printer *printer, int what, const void *text, size_t length)
{
    struct earl_fields fields = earl_fields_new(&exec);
    earl_put_int(&fields, printer->process);
    earl_put_int(&fields, what);
    earl_put_bytes(&fields, text, length);
    const struct earl_exec_sink *to = &printer->to;
    int code = fields.code;
    if (code == EARL_OK)
        code = earl_do_buffer_post(&exec, fields.buffer, 1, &to->process, to->context, to->tag);
    earl_fields_free(&fields);
    if (code != EARL_E_MEMORY)
        return;
    if (what != EARL_PRINTED_OUT && what != EARL_PRINTED_ERROR) { /* who waits for it would wait for ever */
        fprintf(stderr, "earl-exec: no memory to tell process %d of an end\n", to->process);
        exit(1);
    }
    if (!printer->has_lost)
        fprintf(stderr, "earl-exec: process %d prints faster than process %d takes it: lines are dropped\n",
                printer->process, to->process);
    printer->has_lost = true;
}

void output_begins(int process, const struct earl_exec_sink *to)
{
    struct printer *printer = malloc(sizeof *printer);
    if (printer == NULL) {
        fputs("earl-exec: no memory for what a process prints\n", stderr);
        exit(1);
    }
    *printer =
        (struct printer){printers, *to, process, 1u << EARL_PRINTED_OUT | 1u << EARL_PRINTED_ERROR, false};
    printers = printer;
    tell(printer, EARL_PRINTED_BEGIN, NULL, 0);
}

static struct printer **find(int process)
{
    struct printer **at = &printers;
    while (*at != NULL && (*at)->process != process)
        at = &(*at)->next;
    return at;
}

static void close_printer(struct printer **at)
{
    struct printer *printer = *at;
    tell(printer, EARL_PRINTED_END, NULL, 0);
    *at = printer->next;
    free(printer);
}

void output_printed(int process, earl_buffer *buffer)
{
    struct printer **at = find(process);
    unsigned char head;
    const long long length = earl_buffer_length(buffer) - 1;
    if (*at == NULL || length < 0 || earl_do_unpack(buffer, EARL_BYTE, &head, 1, 1) != EARL_OK)
        return;
    if (length == 0) {
        (*at)->open &= ~(1u << (head & 3u));
        if ((*at)->open == 0)
            close_printer(at);
        return;
    }
    unsigned char *text = malloc((size_t)length);
    if (text != NULL && earl_do_unpack(buffer, EARL_BYTE, text, (size_t)length, 1) == EARL_OK)
        tell(*at, head == EARL_PRINTED_ERROR ? EARL_PRINTED_ERROR : EARL_PRINTED_OUT, text, (size_t)length);
    free(text);
}

/* The streams of one that has ended are told of by themselves, later; but not if its host was lost. */
void output_ended(int process)
{
    const struct earl_resident *seen = earl_directory_get(process);
    struct printer **at = find(process);
    if (*at != NULL && (seen->how == EARL_HOW_LOST || seen->how == EARL_HOW_NEVER))
        close_printer(at);
}

void output_host_gone(int host)
{
    for (struct printer **at = &printers; *at != NULL;)
        if (earl_directory_get((*at)->process)->host == host)
            close_printer(at);
        else
            at = &(*at)->next;
}
