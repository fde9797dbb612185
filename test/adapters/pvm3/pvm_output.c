/* SPDX-License-Identifier: MIT */
/* pvm_output.c -- scenarios of what tasks print. */
#include <signal.h>
#include <unistd.h>

#include "pvm_members.h"

enum { ROOM = 1 << 16 };

static int spawn_speaker(const char *what)
{
    char *arguments[] = {"speaks", (char *)what, NULL};
    int tid;
    IS(pvm_spawn(me, arguments, PvmTaskDefault, NULL, 1, &tid), 1);
    return tid;
}

/* 1: prints. 2: has another task print, too. 3: prints and stays. */
void speaks(void)
{
    IS(pvm_getopt(PvmSelfOutputTid), pvm_parent());
    IS(pvm_getopt(PvmOutputTid), pvm_parent());
    if (number == 2) {
        pvm_setopt(PvmAutoErr, 0);
        char *arguments[] = {"murmurs", NULL};
        int tid;
        IS(pvm_spawn(me, arguments, PvmTaskDefault, NULL, 1, &tid), 1);
        printf("it is t%x\n", (unsigned)tid);
        IS(pvm_setopt(PvmOutputTid, 0), pvm_parent());
        FAILS(pvm_setopt(PvmSelfOutputTid, tid), PvmNotImpl);
        return;
    }
    printf("one\ntwo\n");
    fflush(stdout);
    fprintf(stderr, "three\n");
    printf("rest");
    fflush(stdout);
    while (number == 3)
        pause();
}

/* Of one that a speaker has spawned. */
void murmurs(void)
{
    MUST(pvm_getopt(PvmSelfOutputTid) > 0 && pvm_getopt(PvmSelfOutputTid) != pvm_parent());
    puts("far");
}

/* The lines of a tid, one after the other, as `lines`. */
static void lines_of(FILE *file, int tid, char *lines)
{
    char head[32], line[256];
    const size_t length = (size_t)snprintf(head, sizeof head, "[t%x] ", (unsigned)tid);
    rewind(file);
    *lines = '\0';
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, head, length) == 0)
            strcat(lines, line + length);
}

/* Streams are told of each for itself, so stderr's line may be anywhere behind the beginning. */
static void must_be_spoken(FILE *file, int tid)
{
    char lines[ROOM], *three;
    lines_of(file, tid, lines);
    MUST((three = strstr(lines, "three\n")) != NULL);
    memmove(three, three + 6, strlen(three + 6) + 1);
    MUST(strcmp(lines, "BEGIN\none\ntwo\nrest\nEOF\n") == 0);
}

/* pvm_exit waits for all that print here, also for those that others have spawned. */
void catches(void)
{
    char lines[ROOM];
    unsigned far;
    FILE *file = tmpfile();
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_catchout(file), PvmOk);
    IS(pvm_getopt(PvmOutputTid), tids[self]);
    const int first = spawn_speaker("1"), second = spawn_speaker("2");
    IS(pvm_exit(), PvmOk);
    must_be_spoken(file, first);
    lines_of(file, second, lines);
    MUST(sscanf(lines, "BEGIN\nit is t%x\n", &far) == 1 && strstr(lines, "\nEOF\n") != NULL);
    lines_of(file, (int)far, lines);
    MUST(strcmp(lines, "BEGIN\nfar\nEOF\n") == 0);
}

/* What is printed comes while a task waits for something else; without tids, as it was printed; and not once that is switched off. */
void catches_meanwhile(void)
{
    char text[ROOM] = "";
    FILE *file = tmpfile(), *other = tmpfile();
    pvm_setopt(PvmAutoErr, 0);
    IS(pvm_setopt(PvmShowTids, 0), 1);
    IS(pvm_catchout(file), PvmOk);
    const int tid = spawn_speaker("3");
    IS(pvm_notify(PvmTaskExit, 9, 1, &tid), PvmOk);
    while (strlen(text) < strlen("one\ntwo\nthree\nrest")) {
        const struct timeval soon = {0, 1000};
        IS(pvm_trecv(-1, 1234, &soon), 0);
        rewind(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
    }
    char *three = strstr(text, "three\n");
    MUST(three != NULL);
    memmove(three, three + 6, strlen(three + 6) + 1);
    MUST(strcmp(text, "one\ntwo\nrest") == 0);
    IS(pvm_catchout(NULL), PvmOk);
    IS(pvm_getopt(PvmOutputTid), 0);
    IS(pvm_catchout(other), PvmOk);
    IS(pvm_sendsig(tid, SIGKILL), PvmOk);
    MUST(pvm_recv(-1, 9) > 0);
    IS(pvm_catchout(NULL), PvmOk);
    FAILS(pvm_setopt(PvmOutputTid, 17), PvmBadParam);
    FAILS(pvm_setopt(PvmOutputTid, -1), PvmBadParam);
    IS(pvm_exit(), PvmOk);
    IS((int)ftell(other), 0);
}
