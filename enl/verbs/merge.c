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

/* Such as 2026-03-01T12:34:56.789Z. False: it is none. */
static bool read_time(const char *text, int64_t *out)
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    struct tm parts = {0};
    for (size_t i = 0; i < sizeof form - 1; i++)
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    if (strptime(text, "%Y-%m-%dT%H:%M:%S", &parts) == NULL)
        return false;
    const int64_t seconds = timegm(&parts);
    if (seconds < 0 || seconds >= ENL_CLOCK_MOST_NS / 1000000000)
        return false;
    *out = seconds * 1000000000 + strtol(text + 20, NULL, 10) * INT64_C(1000000);
    return true;
}

static bool is_level(const char *word, const char *end)
{
    static const char *const all[] = {"error", "warn", "info", "debug"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strlen(all[i]) == (size_t)(end - word) && memcmp(word, all[i], strlen(all[i])) == 0)
            return true;
    return false;
}

static bool is_number(const char *word, const char *end)
{
    return end > word && end - word <= 10 && word + strspn(word, "0123456789") == end;
}

/* TIME LEVEL HOST/PID/CCE TEXT */
void enl_log_line_read(char *bytes, struct enl_log_line *line_out)
{
    char *level = bytes + 25, *host = NULL, *pid = NULL, *cce = NULL, *text = NULL, *end = NULL;
    int64_t time_ns;
    *line_out = (struct enl_log_line){.text = bytes};
    if (read_time(bytes, &time_ns) && level[-1] == ' ' && (end = strchr(level, ' ')) != NULL) {
        host = end + strspn(end, " ");
        pid = strchr(host, '/');
        cce = pid != NULL ? strchr(pid + 1, '/') : NULL;
        text = cce != NULL ? strchr(cce + 1, ' ') : NULL;
    }
    if (text == NULL || !is_level(level, end) || pid == host || !is_number(pid + 1, cce) ||
        (!is_number(cce + 1, text) && (cce[1] != '-' || text != cce + 2)) || strtol(pid + 1, NULL, 10) == 0)
        return;
    *end = *pid = *cce = *text = '\0';
    *line_out = (struct enl_log_line){.whole = true,
                                      .time_ns = time_ns,
                                      .level = level,
                                      .host = host,
                                      .cce = cce + 1,
                                      .text = text + 1,
                                      .pid = strtol(pid + 1, NULL, 10)};
}

bool enl_log_line_clock(const struct enl_log_line *line, int64_t *ahead_out)
{
    char sign, seconds[10], nanoseconds[10];
    int end = 0;
    if (!line->whole || strcmp(line->cce, "-") != 0 ||
        sscanf(line->text, "clock %c%9[0-9].%9[0-9] s to the root's, round trip%n", &sign, seconds,
               nanoseconds, &end) != 3 ||
        end == 0 || (sign != '+' && sign != '-') || strlen(nanoseconds) != 9)
        return false;
    *ahead_out = strtoll(seconds, NULL, 10) * 1000000000 + strtoll(nanoseconds, NULL, 10);
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
    return file->line.pid == file->pid && enl_log_line_clock(&file->line, ahead_out);
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
    *file = (struct enl_log_file){.key_ns = INT64_MIN};
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

static bool advance_file(struct enl_log_file *file)
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

static void sift_down(struct enl_merge *merge, size_t at)
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
        if (advance_file(merge->heap[i]))
            i++;
        else
            merge->heap[i] = merge->heap[--merge->count];
    for (size_t i = merge->count; i-- > 0;)
        sift_down(merge, i);
    merge->fresh = true;
    return true;
}

const struct enl_log_file *enl_merge_next(struct enl_merge *merge)
{
    if (!merge->fresh && merge->count != 0) {
        if (!advance_file(merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->count];
        sift_down(merge, 0);
    }
    merge->fresh = false;
    return merge->count != 0 ? merge->heap[0] : NULL;
}

void enl_merge_end(struct enl_merge *merge)
{
    free(merge->heap);
}
