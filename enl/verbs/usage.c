/* SPDX-License-Identifier: MIT */
/* usage.c -- enl usage: the lines about jobs (job/usage.c) added up, by user and front end. A line that is none, as one that was cut off
 * when a disk was full, is counted and left out. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "bcri/config.h"
#include "verbs/verbs.h"

struct sum {
    char *who; /* user and front end, with a zero byte between */
    unsigned long long jobs, failed, members;
    double cpu_s;
};
struct sums {
    struct sum *rows;
    size_t count;
    unsigned long long no_lines;
};

/* The value of a key that our lines have, in a line: its text without quotes. False: it has none. */
static bool value_of(const char *line, const char *key, char *out, size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(line, name);
    if (at == NULL)
        return false;
    at += strlen(name);
    const bool is_text = *at == '"';
    size_t used = 0;
    for (at += is_text; *at != '\0' && used + 1 < size; at++) {
        if (is_text ? *at == '"' : *at == ',' || *at == '}')
            break;
        out[used++] = *at;
    }
    out[used] = '\0';
    return is_text ? *at == '"' : *at == ',' || *at == '}';
}

static bool number_of(const char *line, const char *key, double *number_out)
{
    char text[64], *end;
    if (!value_of(line, key, text, sizeof text) || !isdigit((unsigned char)text[0]))
        return false;
    *number_out = strtod(text, &end);
    return *end == '\0';
}

/* False: no memory. */
static bool add(struct sums *sums, const char *line)
{
    char user[256], front[64];
    double members, cpu_s, status;
    if (line[0] != '{' || !value_of(line, "user", user, sizeof user) ||
        !value_of(line, "front", front, sizeof front) || !number_of(line, "members", &members) ||
        !number_of(line, "cpu_s", &cpu_s) || !number_of(line, "status", &status)) {
        sums->no_lines++;
        return true;
    }
    struct sum *row = sums->rows;
    const struct sum *const end = sums->rows + sums->count;
    while (row != end && (strcmp(row->who, user) != 0 || strcmp(row->who + strlen(user) + 1, front) != 0))
        row++;
    if (row == end) {
        struct sum *rows = realloc(sums->rows, (sums->count + 1) * sizeof *rows);
        if (rows == NULL)
            return false;
        sums->rows = rows;
        row = &rows[sums->count];
        *row = (struct sum){.who = malloc(strlen(user) + 1 + strlen(front) + 1)};
        if (row->who == NULL)
            return false;
        memcpy(row->who, user, strlen(user) + 1);
        memcpy(row->who + strlen(user) + 1, front, strlen(front) + 1);
        sums->count++;
    }
    row->jobs++;
    row->failed += status != 0;
    row->members += (unsigned long long)members;
    row->cpu_s += cpu_s;
    return true;
}

static void show(const struct sums *sums, bool json)
{
    if (json)
        fputs("{\"usage\":[", stdout);
    else
        printf("%-16s %-6s %10s %10s %12s %14s\n", "USER", "FRONT", "JOBS", "FAILED", "MEMBERS", "CPU_S");
    for (size_t i = 0; i < sums->count; i++) {
        const struct sum *row = &sums->rows[i];
        const char *front = row->who + strlen(row->who) + 1;
        if (json) {
            fputs(i == 0 ? "{\"user\":" : ",{\"user\":", stdout);
            enl_json_text(stdout, row->who);
            fputs(",\"front\":", stdout);
            enl_json_text(stdout, front);
            printf(",\"jobs\":%llu,\"failed\":%llu,\"members\":%llu,\"cpu_s\":%.3f}", row->jobs, row->failed,
                   row->members, row->cpu_s);
        } else {
            printf("%-16s %-6s %10llu %10llu %12llu %14.3f\n", row->who, front, row->jobs, row->failed,
                   row->members, row->cpu_s);
        }
    }
    if (json)
        printf("],\"not_understood\":%llu}\n", sums->no_lines);
    else if (sums->no_lines != 0)
        printf("%llu lines are not understood\n", sums->no_lines);
}

int enl_command_usage(bool json, const char *file)
{
    struct bcri_config config;
    struct sums sums = {0};
    char *path = NULL, *line = NULL;
    size_t room = 0;
    int status = 0;
    if (!enl_options_config(NULL, &config))
        return 2;
    if (file == NULL && config.usagelog != NULL && bcri_config_resolve(&config, config.usagelog, &path) == 0)
        file = path;
    FILE *in = file != NULL ? fopen(file, "re") : NULL;
    if (file == NULL) {
        fprintf(stderr, "enl: there is no usage log (usagelog in bcrrc(5)); give a file\n");
        status = 2;
    } else if (in == NULL) {
        fprintf(stderr, "enl: %s cannot be read: %s\n", file, strerror(errno));
        status = 2;
    } else {
        while (status == 0 && getline(&line, &room, in) >= 0)
            status = add(&sums, line) ? 0 : 2;
        if (status != 0 || ferror(in))
            fprintf(stderr, "enl: %s cannot be read to its end\n", file);
        else
            show(&sums, json);
        fclose(in);
    }
    for (size_t i = 0; i < sums.count; i++)
        free(sums.rows[i].who);
    free(sums.rows);
    free(line);
    free(path);
    bcri_config_fini(&config);
    return status;
}
