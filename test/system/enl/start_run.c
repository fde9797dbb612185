/* SPDX-License-Identifier: MIT */
/* See start_run.h. */
#include "start_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct run run;

const struct start_place places[PLACES] = {
    {"", "", false},           {"", "local1", false}, {"local1", "local2", false},
    {"local1", "ROOT", false}, {"", "local2", true},  {"local2", "local1", true}};
char lines[LINES][2048];
int count;

const char *start_program(void)
{
    return getenv("SYS_START");
}

void start_run_with(const char *onfail, const char *word, int place, const char *value, const char *more)
{
    char root[256] = "";
    gethostname(root, sizeof root - 1);
    const char *at = strcmp(places[place].at, "ROOT") == 0 ? root : places[place].at;
    run_folder();
    count = 0;
    const char *words[24] = {run_enl(),
                             "--local",
                             "2",
                             "--onfail",
                             onfail,
                             "--start-hosts",
                             places[place].deep ? "all" : "use",
                             "--fanout",
                             places[place].deep ? "1" : "2",
                             start_program()};
    int used = 10;
    if (places[place].by[0] != '\0') {
        words[used++] = "by";
        words[used++] = places[place].by;
    }
    words[used++] = word;
    words[used++] = at;
    words[used++] = value;
    words[used++] = more;
    run_start_words(&run, words);
}

void start_run(const char *word, int place, const char *value, const char *more)
{
    start_run_with("abort", word, place, value, more);
}

void hear(int more)
{
    for (; more > 0; more--, count++) {
        CHECK(count < LINES);
        snprintf(lines[count], sizeof lines[count], "%s", run_told_by(&run));
    }
}

void has(const char *line)
{
    const size_t length = strlen(line);
    for (int i = 0; i < count; i++)
        if (line[length - 1] == '*' ? strncmp(lines[i], line, length - 1) == 0 : strcmp(lines[i], line) == 0)
            return;
    for (int i = 0; i < count; i++)
        fprintf(stderr, "heard: %s\n", lines[i]);
    FAIL("nobody told: %s", line);
}

void ends_well(void)
{
    run_end(&run);
    if (run.status != 0)
        FAIL("status %d: %s", run.status, run.error);
}
