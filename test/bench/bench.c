/* SPDX-License-Identifier: MIT */
/*
 * bench.c -- options, statistics and the report of the benchmark programs.
 */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static const char *const unit_names[] = {"ns", "us", "ms", "M/s", "GB/s", "instructions"};

void bench_fail(const char *format, ...)
{
    int error = errno;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "bench: ");
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    if (error != 0)
        fprintf(stderr, ": %s", strerror(error));
    fprintf(stderr, "\n");
    exit(1);
}

int64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void bench_busy_ns(int64_t duration_ns)
{
    int64_t end_ns = bench_now_ns() + duration_ns;
    while (bench_now_ns() < end_ns)
        continue;
}

void bench_pin(int core, int other_core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)core, &set);
    CPU_SET((size_t)other_core, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        bench_fail("cannot pin to cores %d and %d", core, other_core);
}

/* The first two cores that this process may use, or the only one twice. */
static void pick_cores(int core_out[2])
{
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        bench_fail("cannot read the affinity");
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++)
        if (CPU_ISSET((size_t)core, &set))
            core_out[found++] = core;
    if (found == 1)
        core_out[1] = core_out[0];
}

static _Noreturn void usage(const char *program, int status)
{
    fprintf(status == 0 ? stdout : stderr,
            "usage: %s [options]\n"
            "  --rounds N      undisturbed rounds per figure (default 21)\n"
            "  --turn-ms X     length of one turn of floor or subject (default 20)\n"
            "  --only TEXT     only figures whose name contains TEXT\n"
            "  --cores A,B     cores of the two processes (default: the first two allowed)\n"
            "  --lines FILE    also write \"name value unit floor ratio limit verdict\" lines; - is stdout\n"
            "  --list          print the names of the figures and leave\n"
            "  --tiny          smallest sizes and counts: runs everything, measures nothing\n",
            program);
    exit(status);
}

void bench_options_parse(struct bench_options *options_out, int argc, char **argv)
{
    struct bench_options options = {.round_count = 21, .turn_ns = 20e6};
    pick_cores(options.core);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--help") == 0) {
            usage(argv[0], 0);
        } else if (strcmp(argv[i], "--tiny") == 0) {
            options.tiny = true;
            continue;
        } else if (strcmp(argv[i], "--list") == 0) {
            options.list = true;
            continue;
        } else if (value == NULL) {
            usage(argv[0], 2);
        } else if (strcmp(argv[i], "--rounds") == 0 && atoi(value) > 0) {
            options.round_count = atoi(value);
        } else if (strcmp(argv[i], "--turn-ms") == 0 && atof(value) > 0) {
            options.turn_ns = atof(value) * 1e6;
        } else if (strcmp(argv[i], "--only") == 0) {
            options.only = value;
        } else if (strcmp(argv[i], "--lines") == 0) {
            options.lines_path = value;
        } else if (strcmp(argv[i], "--cores") != 0 ||
                   sscanf(value, "%d,%d", &options.core[0], &options.core[1]) != 2) {
            usage(argv[0], 2);
        }
        i++;
    }
    if (options.tiny)
        options.round_count = 1;
    *options_out = options;
}

bool bench_wanted(const struct bench_options *options, const char *name)
{
    return options->only == NULL || strstr(name, options->only) != NULL;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

struct bench_spread bench_spread_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare_doubles);
    struct bench_spread spread = {
        .median = count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2,
        .low = values[count / 4],
        .high = values[count - 1 - count / 4],
    };
    return spread;
}

double bench_convert(enum bench_unit unit, double time_ns, size_t size_bytes)
{
    switch (unit) {
    case BENCH_US: return time_ns / 1e3;
    case BENCH_MS: return time_ns / 1e6;
    case BENCH_M_PER_S: return 1e3 / time_ns;
    case BENCH_GB_PER_S: return (double)size_bytes / time_ns;
    case BENCH_NS:
    case BENCH_INSTRUCTIONS: break;
    }
    return time_ns;
}

/* The rest of the first line of a file that begins with key, or "unknown". */
static void read_fact(const char *path, const char *key, char *text_out, size_t size)
{
    char line[512];
    snprintf(text_out, size, "unknown");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        const char *fact = line + strlen(key);
        snprintf(text_out, size, "%s", fact + strspn(fact, " \t:"));
        break;
    }
    fclose(file);
}

void bench_report_begin(struct bench_report *report_out, const struct bench_options *options,
                        const char *title)
{
    struct bench_report report = {.silent = options->tiny};
    struct utsname system;
    char processor[128], flags[512], clock_source[64], load[64];

    if (options->lines_path != NULL) {
        report.lines = strcmp(options->lines_path, "-") == 0 ? stdout : fopen(options->lines_path, "w");
        if (report.lines == NULL)
            bench_fail("cannot write %s", options->lines_path);
    }
    uname(&system);
    read_fact("/proc/cpuinfo", "model name", processor, sizeof processor);
    read_fact("/proc/cpuinfo", "hypervisor", flags, sizeof flags);
    read_fact("/sys/devices/system/clocksource/clocksource0/current_clocksource", "", clock_source,
              sizeof clock_source);
    read_fact("/proc/loadavg", "", load, sizeof load);
    printf("# %s\n# %s, Linux %s, %s; clock %s; load %s\n", title, processor, system.release, system.machine,
           clock_source, load);
    printf("# processes on cores %d and %d; medians of %d rounds, [quartiles]; ratios of neighbouring "
           "rounds%s\n",
           options->core[0], options->core[1], options->round_count,
           options->tiny ? "; TINY RUN, FIGURES MEAN NOTHING" : "");
    printf("# F2: nanoseconds from one core to the other, before and after the figure's rounds\n"
           "%-24s %10s %-19s %-12s %-20s %9s %-20s %-8s %-8s %s\n",
           "figure", "value", "[quartiles]", "unit", "floor", "", "ratio [quartiles]", "limit", "verdict",
           "F2");
    fflush(stdout);
    *report_out = report;
}

/* NULL: no limit to speak of. */
static const char *verdict_on(const struct bench_figure *figure)
{
    bool good = true;
    switch (figure->limit_kind) {
    case BENCH_NO_LIMIT: return NULL;
    case BENCH_RATIO_AT_MOST: good = figure->ratio.median <= figure->limit; break;
    case BENCH_RATIO_AT_LEAST: good = figure->ratio.median >= figure->limit; break;
    case BENCH_VALUE_AT_LEAST: good = figure->value.median >= figure->limit; break;
    case BENCH_VALUE_AT_MOST: good = figure->value.median <= figure->limit; break;
    case BENCH_MORE_AT_MOST: good = figure->value.median - figure->floor.median <= figure->limit; break;
    }
    return good ? "within" : "beyond";
}

static const char *const limit_formats[] = {
    [BENCH_NO_LIMIT] = "-",          [BENCH_RATIO_AT_MOST] = "<=%gx", [BENCH_RATIO_AT_LEAST] = ">=%gx",
    [BENCH_VALUE_AT_LEAST] = ">=%g", [BENCH_VALUE_AT_MOST] = "<=%g",  [BENCH_MORE_AT_MOST] = "<=+%g"};

void bench_report_add(struct bench_report *report, const struct bench_figure *figure)
{
    char limit[32] = "-", floor[32] = "-", ratio[32] = "-", spread[48], ratio_spread[64] = "-",
         probe[32] = "-";
    const char *verdict = report->silent ? NULL : verdict_on(figure);

    if (verdict != NULL)
        snprintf(limit, sizeof limit, limit_formats[figure->limit_kind], figure->limit);
    else
        verdict = "-";
    snprintf(spread, sizeof spread, "[%.4g-%.4g]", figure->value.low, figure->value.high);
    if (figure->floor_name != NULL) {
        snprintf(floor, sizeof floor, "%.4g", figure->floor.median);
        snprintf(ratio, sizeof ratio, "%.3f", figure->ratio.median);
        snprintf(ratio_spread, sizeof ratio_spread, "%s [%.2f-%.2f]", ratio, figure->ratio.low,
                 figure->ratio.high);
    }
    if (figure->probe_ns[0] > 0)
        snprintf(probe, sizeof probe, "%.0f %.0f", figure->probe_ns[0], figure->probe_ns[1]);
    printf("%-24s %10.4g %-19s %-12s %-20s %9s %-20s %-8s %-8s %-8s%s\n", figure->name, figure->value.median,
           spread, unit_names[figure->unit], figure->floor_name != NULL ? figure->floor_name : "-", floor,
           ratio_spread, limit, verdict, probe, figure->disturbed_count > 0 ? "*" : "");
    fflush(stdout);
    if (report->lines != NULL) {
        fprintf(report->lines, "%s %.6g %s %s %s %s %s\n", figure->name, figure->value.median,
                unit_names[figure->unit], floor, ratio, limit, verdict);
        fflush(report->lines);
    }
    report->figure_count++;
    report->beyond_count += strcmp(verdict, "beyond") == 0;
    report->disturbed_count += figure->disturbed_count > 0;
}

void bench_report_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("# ", stdout);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

void bench_report_end(struct bench_report *report)
{
    bench_report_note("%ld figures, %ld beyond their limit", report->figure_count, report->beyond_count);
    if (report->disturbed_count > 0)
        bench_report_note("* %ld of them with rounds in which another process was given one of the two cores",
                          report->disturbed_count);
    if (report->lines != NULL && report->lines != stdout)
        fclose(report->lines);
    report->lines = NULL;
}
