/* SPDX-License-Identifier: MIT */
/* What processes print, told to another: scenarios of earl_worlds. */
#include <signal.h>
#include <unistd.h>

#include "earl_worlds.h"

enum { CONTEXT = 6, TAG = 4, LINES = 5000, ROOM = 1 << 20 };

/* What has come of a process, each stream for itself. */
struct heard {
    int begins, ends;
    size_t lengths[2];
    char *texts[2];
};

static int start_printer(const char *what, const char *host)
{
    const char *const arguments[] = {what, NULL};
    const struct earl_exec_start spec = {
        .file = own_file, .arguments = arguments, .count = 1, .host = host, .output = {self, CONTEXT, TAG}};
    int process;
    MUST(earl_exec_start(&spec, &process) == 1);
    return process;
}

/* Takes in one message. */
static void hear(int process, struct heard *heard)
{
    const struct earl_wanted wanted = {CONTEXT, 0, TAG, NULL, NULL};
    earl_buffer *buffer;
    int head[3];
    MUST(earl_buffer_receive(&wanted, 1, &buffer, NULL) == 1);
    MUST(earl_unpack(buffer, EARL_INT, head, 3, 1) == EARL_OK && head[0] == process && head[2] >= 0);
    MUST(heard->ends == 0 && (head[1] == EARL_PRINTED_BEGIN) == (heard->begins == 0));
    heard->begins += head[1] == EARL_PRINTED_BEGIN;
    heard->ends += head[1] == EARL_PRINTED_END;
    if (head[1] == EARL_PRINTED_OUT || head[1] == EARL_PRINTED_ERROR) {
        const int stream = head[1] == EARL_PRINTED_ERROR;
        const size_t length = (size_t)head[2];
        MUST(length > 0 && heard->lengths[stream] + length <= ROOM);
        MUST(earl_unpack(buffer, EARL_BYTE, heard->texts[stream] + heard->lengths[stream], length, 1) ==
             EARL_OK);
        heard->lengths[stream] += length;
    } else {
        MUST(head[2] == 0);
    }
    earl_buffer_free(buffer);
}

/* On both streams, and without a newline at the end. */
void prints(void)
{
    MUST(earl_begin("prints") == EARL_OK);
    for (int i = 0; i < LINES; i++)
        printf("line %d\n", i);
    fputs("err", stderr);
    fputs("or\n", stderr);
    (void)fwrite("a\0b", 1, 3, stdout);
}

void prints_and_stays(void)
{
    MUST(earl_begin("prints") == EARL_OK);
    puts("here");
    fflush(stdout);
    for (;;)
        pause();
}

static struct heard new_heard(void)
{
    return (struct heard){.texts = {calloc(1, ROOM + 1), calloc(1, ROOM + 1)}};
}

void output(void)
{
    static char wanted[ROOM];
    begin();
    struct heard heard = new_heard();
    size_t length = 0;
    int process = start_printer("prints", NULL);
    while (heard.ends == 0)
        hear(process, &heard);
    for (int i = 0; i < LINES; i++)
        length += (size_t)sprintf(wanted + length, "line %d\n", i);
    memcpy(wanted + length, "a\0b", 3);
    MUST(heard.lengths[0] == length + 3 && memcmp(heard.texts[0], wanted, length + 3) == 0);
    MUST(heard.lengths[1] == 6 && strcmp(heard.texts[1], "error\n") == 0);

    /* Killed. */
    heard = new_heard();
    process = start_printer("prints_and_stays", NULL);
    while (heard.lengths[0] < 5)
        hear(process, &heard);
    MUST(earl_exec_signal(process, SIGKILL) == EARL_OK);
    while (heard.ends == 0)
        hear(process, &heard);
    MUST(heard.lengths[0] == 5 && strcmp(heard.texts[0], "here\n") == 0 && heard.lengths[1] == 0);

    /* With its host. */
    heard = new_heard();
    MUST(earl_exec_hostadd("one local") > 0);
    process = start_printer("prints_and_stays", "one");
    while (heard.lengths[0] < 5)
        hear(process, &heard);
    MUST(earl_exec_hostdel("one") == EARL_OK);
    while (heard.ends == 0)
        hear(process, &heard);
    const struct earl_exec_start spec = {.file = own_file, .count = 1, .output = {1, EARL_CONTEXTS, 1}};
    MUST(earl_exec_start(&spec, &process) == EARL_E_ARG);
}
