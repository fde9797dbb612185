/* SPDX-License-Identifier: MIT */
/* See merge.h. */
#include "verbs/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* ---- lines ---- */

/* So many digits. */
static int number_at(const char *text, size_t at, size_t digits)
{
    int number = 0;
    for (size_t i = 0; i < digits; i++)
        number = 10 * number + (text[at + i] - '0');
    return number;
}

/* Such as 2026-03-01T12:34:56.789Z. False: it is none. */
static bool read_time(const char *text, int64_t *out)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    struct tm parts = {.tm_year = number_at(text, 0, 4) - 1900,
                       .tm_mon = number_at(text, 5, 2) - 1,
                       .tm_mday = number_at(text, 8, 2),
                       .tm_hour = number_at(text, 11, 2),
                       .tm_min = number_at(text, 14, 2),
                       .tm_sec = number_at(text, 17, 2)};
    const int64_t seconds = timegm(&parts);
    if (seconds < 0 || seconds >= ENL_CLOCK_MOST_NS / 1000000000)
        return false;
    *out = seconds * 1000000000 + (int64_t)number_at(text, 20, 3) * 1000000;
    return true;
}

/* A line on its way into strings: what ends a word becomes a NUL, and comes back if the line is no
 * record. */
struct cuts {
    char *at;
    char *cut[5], was[5];
    int count;
};

/* The next word, up to `end`. NULL: it is empty, or nothing follows. */
static char *take_word(struct cuts *cuts, char end)
{
    char *word = cuts->at, *stop = strchr(word, end);
    if (stop == NULL || stop == word)
        return NULL;
    cuts->cut[cuts->count] = stop;
    cuts->was[cuts->count++] = end;
    *stop = '\0';
    cuts->at = stop + 1;
    return word;
}

static bool is_level(const char *word)
{
    static const char *const all[] = {"error", "warn", "info", "debug"};
    for (size_t i = 0; word != NULL && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(word, all[i]) == 0)
            return true;
    return false;
}

static bool is_number(const char *word)
{
    return word != NULL && strlen(word) <= 10 && word[strspn(word, "0123456789")] == '\0';
}

/* TIME LEVEL HOST/PID/CCE TEXT */
static bool read_record(struct cuts *cuts, struct enl_log_line *line)
{
    const char *time = take_word(cuts, ' ');
    if (time == NULL || strlen(time) != 24 || !read_time(time, &line->time_ns))
        return false;
    line->level = take_word(cuts, ' ');
    if (!is_level(line->level))
        return false;
    cuts->at += strspn(cuts->at, " ");
    line->host = take_word(cuts, '/');
    const char *pid = line->host != NULL ? take_word(cuts, '/') : NULL;
    line->cce = is_number(pid) ? take_word(cuts, ' ') : NULL;
    line->pid = pid != NULL ? strtol(pid, NULL, 10) : 0;
    line->text = cuts->at;
    return line->cce != NULL && (is_number(line->cce) || strcmp(line->cce, "-") == 0) && line->pid > 0;
}

void enl_log_line_read(char *bytes, struct enl_log_line *line_out)
{
    struct cuts cuts = {0};
    cuts.at = bytes;
    *line_out = (struct enl_log_line){.whole = true};
    if (read_record(&cuts, line_out))
        return;
    while (cuts.count-- > 0)
        *cuts.cut[cuts.count] = cuts.was[cuts.count];
    *line_out = (struct enl_log_line){.text = bytes};
}

/* "1.000000012 s": in ns. Returns what follows, or NULL. */
static const char *read_seconds(const char *text, int64_t *out)
{
    const size_t whole = strspn(text, "0123456789");
    if (whole == 0 || whole > 9 || text[whole] != '.' || strspn(text + whole + 1, "0123456789") != 9 ||
        strncmp(text + whole + 10, " s", 2) != 0)
        return NULL;
    *out = strtoll(text, NULL, 10) * 1000000000 + strtoll(text + whole + 1, NULL, 10);
    return text + whole + 12;
}

bool enl_log_line_clock(const struct enl_log_line *line, int64_t *ahead_out, int64_t *round_trip_out)
{
    static const char begin[] = "clock ", between[] = " to the root's, round trip ";
    if (!line->whole || strcmp(line->cce, "-") != 0 || strncmp(line->text, begin, sizeof begin - 1) != 0)
        return false;
    const char *at = line->text + sizeof begin - 1, sign = *at;
    if ((sign != '+' && sign != '-') || (at = read_seconds(at + 1, ahead_out)) == NULL ||
        strncmp(at, between, sizeof between - 1) != 0 ||
        read_seconds(at + sizeof between - 1, round_trip_out) == NULL)
        return false;
    if (sign == '-')
        *ahead_out = -*ahead_out;
    return true;
}

/* ---- files ---- */

/* The next line, or a part of one that is too long. False: there is none. */
static bool read_line(struct enl_log_file *file)
{
    if (fgets(file->bytes, sizeof file->bytes, file->in) == NULL)
        return false;
    file->bytes[strcspn(file->bytes, "\r\n")] = '\0';
    enl_log_line_read(file->bytes, &file->line);
    return true;
}

static bool is_measurement(const struct enl_log_file *file, int64_t *ahead_out)
{
    int64_t round_trip;
    return file->line.pid == file->pid && enl_log_line_clock(&file->line, ahead_out, &round_trip);
}

static void look_at_line(struct enl_log_file *file)
{
    int64_t ahead;
    if (file->pid == 0 && file->line.whole) { /* the daemon's own, which begins the log */
        file->pid = file->line.pid;
        snprintf(file->host, sizeof file->host, "%s", file->line.host);
        file->is_root = strstr(file->line.text, ": host ") == NULL;
    }
    if (file->pid == 0 || !is_measurement(file, &ahead))
        return;
    if (file->clocks++ == 0)
        file->ahead_ns = file->most_ns = ahead;
    if (llabs(ahead) > llabs(file->most_ns))
        file->most_ns = ahead;
}

bool enl_log_file_open(struct enl_log_file *file, const char *path)
{
    struct stat status;
    *file = (struct enl_log_file){.path = path, .key_ns = INT64_MIN};
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    file->in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (file->in == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        while (read_line(file))
            look_at_line(file);
    rewind(file->in); /* which a pipe cannot do */
    errno = 0;
    if (file->pid != 0)
        return true;
    fclose(file->in);
    file->in = NULL;
    return false;
}

/* ---- all together ---- */

static bool advance(struct enl_log_file *file)
{
    int64_t ahead;
    if (!read_line(file))
        return false;
    if (is_measurement(file, &ahead))
        file->ahead_ns = ahead;
    if (file->line.whole) {
        file->line.time_ns += file->ahead_ns;
        if (file->line.time_ns < file->key_ns) /* its clock was set back, or is known better now */
            file->line.time_ns = file->key_ns;
        file->key_ns = file->line.time_ns;
    }
    return true;
}

static void sink(struct enl_merge *merge, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t below = 2 * at + 1; below <= 2 * at + 2 && below < merge->count; below++)
            if (merge->heap[below]->key_ns < merge->heap[least]->key_ns)
                least = below;
        if (least == at)
            return;
        struct enl_log_file *file = merge->heap[at];
        merge->heap[at] = merge->heap[least];
        merge->heap[least] = file;
        at = least;
    }
}

bool enl_merge_begin(struct enl_merge *merge, struct enl_log_file *files, size_t count)
{
    *merge = (struct enl_merge){.heap = calloc(count + 1, sizeof(struct enl_log_file *))};
    if (merge->heap == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        merge->heap[merge->count++] = &files[i];
    for (size_t i = 0; i < merge->count;)
        if (advance(merge->heap[i]))
            i++;
        else
            merge->heap[i] = merge->heap[--merge->count];
    for (size_t i = merge->count; i-- > 0;)
        sink(merge, i);
    merge->fresh = true;
    return true;
}

const struct enl_log_file *enl_merge_next(struct enl_merge *merge)
{
    if (!merge->fresh && merge->count != 0) {
        if (!advance(merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->count];
        sink(merge, 0);
    }
    merge->fresh = false;
    return merge->count != 0 ? merge->heap[0] : NULL;
}

void enl_merge_end(struct enl_merge *merge)
{
    free(merge->heap);
}
