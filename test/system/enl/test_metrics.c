/* SPDX-License-Identifier: MIT */
/* enl --metrics: Prometheus's text format at a Unix socket or a port, for clients that may say anything. */
#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "run.h"

static struct run run, command;
static char program[256], text[1 << 20];
static time_t folder_made;

/* A program of two CCEs on two hosts, of which CCE 0 has two regions in its cell 1. */
static void start(const char *where)
{
    setenv("SYS_MODE", "full", 1);
    setenv("SYS_CCES", "2", 1);
    setenv("SYS_MACH", "local2", 1);
    run_folder();
    folder_made = time(NULL);
    run_start(&run, run_enl(), "--metrics", where, "--local", "2", getenv("SYS_WAITS"));
    for (int i = 0; i < 2; i++)
        run_told_by(&run);
    snprintf(program, sizeof program, "%s", run_program_by(".1.log"));
}

static void end(void)
{
    run_start(&command, run_enl(), "kill", program);
    run_ends(&command, 0, "");
    run_end(&run);
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static int connect_to_port(unsigned port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

/* Reads the answer to `request` into `text`. Returns its status, 0 if there is none. */
static int ask(int fd, const char *request, size_t bytes)
{
    size_t length = 0;
    int status = 0;
    CHECK(send(fd, request, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
    for (ssize_t got; (got = read(fd, text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = '\0';
    close(fd);
    if (length != 0 && sscanf(text, "HTTP/1.0 %d ", &status) != 1)
        FAIL("no answer of HTTP: %s", text);
    return status;
}

/* A whole request, which on a machine that is busy may come too late for the server's patience of a second. */
static int ask_at(const char *path, const char *request)
{
    int status;
    do
        status = ask(connect_to(path), request, strlen(request));
    while (status == 408);
    return status;
}

static int get(const char *path)
{
    return ask_at(path, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
}

static void has(const char *part)
{
    if (strstr(text, part) == NULL)
        FAIL("no \"%s\" in:\n%s", part, text);
}

/* ---- the format: https://prometheus.io/docs/instrumenting/exposition_formats/ ---- */

static size_t name_length(const char *at)
{
    size_t length = 0;
    while (isalpha((unsigned char)at[length]) || at[length] == '_' || at[length] == ':' ||
           (length > 0 && isdigit((unsigned char)at[length])))
        length++;
    return length;
}

/* Behind {name="value",...}; NULL: that is none. */
static const char *labels_end(const char *at)
{
    do {
        at++;
        const size_t length = name_length(at);
        if (length == 0 || at[length] != '=' || at[length + 1] != '"')
            return NULL;
        for (at += length + 2; *at != '"'; at++) {
            if (*at == '\\' && strchr("\\\"n", at[1]) == NULL)
                return NULL;
            at += *at == '\\';
            if (*at == '\n' || *at == '\0')
                return NULL;
        }
        at++;
    } while (*at == ',');
    return *at == '}' ? at + 1 : NULL;
}

/* Each metric: HELP, TYPE, then its samples, each of which is there once. Counters end in _total, others do not. */
static unsigned check_format(const char *body)
{
    char metric[128] = "", help[128] = "", *series[1024];
    unsigned count = 0, metrics = 0;
    for (const char *line = body, *line_end; *line != '\0'; line = line_end + 1) {
        char name[128], type[16], *number_end;
        line_end = strchr(line, '\n');
        if (line_end == NULL)
            FAIL("no newline behind: %s", line);
        if (sscanf(line, "# HELP %127s %*[^\n]", name) == 1) {
            snprintf(help, sizeof help, "%s", name);
        } else if (sscanf(line, "# TYPE %127s %15s", name, type) == 2) {
            const size_t length = strlen(name);
            const bool total = length > 6 && strcmp(name + length - 6, "_total") == 0;
            CHECK_STR(name, help);
            CHECK_UINT(name_length(name), length);
            CHECK(strncmp(name, "bcr_", 4) == 0);
            CHECK_STR(type, total ? "counter" : "gauge");
            snprintf(metric, sizeof metric, "%s", name);
            metrics++;
        } else {
            const size_t length = name_length(line);
            const char *at = line[length] == '{' ? labels_end(line + length) : line + length;
            if (length != strlen(metric) || strncmp(line, metric, length) != 0 || at == NULL || *at != ' ')
                FAIL("behind metric %s: %.*s", metric, (int)(line_end - line), line);
            strtod(at + 1, &number_end);
            CHECK(number_end == line_end && number_end > at + 1);
            CHECK(count < sizeof series / sizeof series[0]);
            series[count] = strndup(line, (size_t)(at - line));
            /* A label whose values have no end would make a series of each. */
            CHECK(strstr(series[count], "pid=") == NULL);
            CHECK(strcmp(metric, "bcr_cce_info") == 0 || strstr(series[count], "cce=") == NULL);
            for (unsigned i = 0; i < count; i++)
                if (strcmp(series[i], series[count]) == 0)
                    FAIL("twice: %s", series[i]);
            count++;
        }
    }
    CHECK(count >= metrics);
    while (count > 0)
        free(series[--count]);
    return metrics;
}

/* The slot of CCE 0, by which its series are named. */
static unsigned slot_of_root(void)
{
    static const char info[] = "\nbcr_cce_info{host=\"0\",slot=\"";
    unsigned slot;
    for (const char *at = text; (at = strstr(at, info)) != NULL; at++)
        if (sscanf(at + strlen(info), "%u", &slot) == 1 &&
            strncmp(at + strlen(info) + strspn(at + strlen(info), "0123456789"), "\",cce=\"0\",", 10) == 0)
            return slot;
    FAIL("no CCE 0 in:\n%s", text);
}

TEST(a_program_is_told_in_the_text_format_to_its_user_alone)
{
    struct stat there;
    char cell[128];
    start("metrics");
    CHECK_INT(stat("metrics", &there), 0);
    CHECK(S_ISSOCK(there.st_mode));
    CHECK_UINT(there.st_mode & 0777u, 0600);
    do { /* the puts may still be on their way to host 0 */
        CHECK_INT(get("metrics"), 200);
        snprintf(cell, sizeof cell, "\nbcr_cell_regions{host=\"0\",slot=\"%u\",cell=\"1\"} 2\n",
                 slot_of_root());
    } while (strstr(text, cell) == NULL);
    has("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
    CHECK(check_format(strstr(text, "\r\n\r\n") + 4) >= 20);
    has("\nbcr_hosts 2\n");
    has("\nbcr_complete 1\n");
    has("\nbcr_deadlock 0\n");
    has("\n# TYPE bcr_cell_handler_requests_total counter\n");
    has("\nbcr_cce_ends_total{host=\"0\",how=\"normal\"} 0\n");
    has("\nbcr_host_info{host=\"1\",hostname=\"local2\"} 1\n");
    double began;
    CHECK_INT(sscanf(strstr(text, "\nbcr_start_time_seconds{host=\"0\"} "),
                     "\nbcr_start_time_seconds{host=\"0\"} %lf", &began),
              1);
    CHECK(began > (double)folder_made - 1 && began < (double)time(NULL) + 1);
    end();
    while (access("metrics", F_OK) == 0) /* the server sees the daemon's end */
        sched_yield();
}

/* Four CCEs end, each in its way; two of the same ordinal stay. */
TEST(ends_are_counted_by_how_and_cces_of_one_ordinal_are_told_apart)
{
    setenv("SYS_CHILD", "exit 0", 1);
    setenv("SYS_CHILD2", "exit 3", 1);
    setenv("SYS_CHILD3", "kill 11", 1);
    setenv("SYS_CHILD4", "kill 9", 1);
    setenv("SYS_CHILD7", "pause", 1);
    run_folder();
    run_start(&run, run_enl(), "--onfail", "isolate", "--metrics", "metrics", getenv("SYS_CCE"), "enlist",
              getenv("SYS_CCE"), "4", "from", "7", "enlist", getenv("SYS_CCE"), "1", "enlist",
              getenv("SYS_CCE"), "1", "tell", "pause");
    for (int i = 0; i < 4; i++) /* three results of bcr_enlist, and the root */
        run_told_by(&run);
    snprintf(program, sizeof program, "%s", run_program_by(".log"));
    do
        CHECK_INT(get("metrics"), 200);
    while (strstr(text, "how=\"normal\"} 1\n") == NULL || strstr(text, "how=\"failed\"} 2\n") == NULL ||
           strstr(text, "how=\"crashed\"} 1\n") == NULL);
    check_format(strstr(text, "\r\n\r\n") + 4);
    const char *first = strstr(text, ",cce=\"7\",");
    CHECK(first != NULL && strstr(first + 1, ",cce=\"7\",") != NULL);
    end();
}

/* Who cannot go on was asleep at the answer before, too. */
TEST(a_deadlock_is_told)
{
    setenv("SYS_MODE", "circle", 1);
    setenv("SYS_CCES", "2", 1);
    run_folder();
    run_start(&run, run_enl(), "--metrics", "metrics", getenv("SYS_WAITS"));
    for (int i = 0; i < 2; i++)
        run_told_by(&run);
    snprintf(program, sizeof program, "%s", run_program_by(".log"));
    CHECK_INT(get("metrics"), 200);
    has("\nbcr_deadlock 0\n");
    do
        CHECK_INT(get("metrics"), 200);
    while (strstr(text, "\nbcr_deadlock 1\n") == NULL);
    has("\nbcr_stuck_cces 2\n");
    end();
}

TEST(a_program_with_a_name_of_its_users_choice_is_found_by_it)
{
    char name[64];
    snprintf(name, sizeof name, "metrics-%ld-x", (long)getpid());
    setenv("BCR_NAME", name, 1);
    start("metrics");
    CHECK_STR(program, name);
    CHECK_INT(get("metrics"), 200);
    end();
}

/* Not as the program's end. */
TEST(a_forbidden_pidfd_is_told_as_such)
{
    if (test_is_instrumented())
        SKIP("a sanitizer makes such calls itself");
    start("metrics");
    run_start(&command, getenv("SYS_FORBID"), "pidfd_open", run_enl(), "metrics", "other", program);
    run_end(&command);
    if (command.status == 77)
        SKIP("system calls cannot be filtered here");
    CHECK_INT(command.status, 1);
    run_check_error(&command, "enl: metrics at other: pidfd_open: Operation not permitted\n");
    end();
    run_start(&command, getenv("SYS_FORBID"), "pidfd_open", run_enl(), "--metrics", "other",
              getenv("SYS_CCE"));
    run_ends(&command, 1, "enl: metrics at other: pidfd_open: Operation not permitted\n");
    CHECK(access("other", F_OK) != 0);
}

TEST(requests_that_make_no_sense_are_answered_and_harm_nothing)
{
    static char large[9000];
    static const struct {
        const char *request;
        int status;
    } all[] = {{"POST /metrics HTTP/1.1\r\n\r\n", 405},
               {"GET /other HTTP/1.1\r\n\r\n", 404},
               {"GET /metricsandmore HTTP/1.1\r\n\r\n", 404},
               {"\r\n\r\n", 405},
               {"GET /metrics\n\n", 404},
               {"GET / HTTP/1.0\n\n", 200}};
    start("metrics");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_INT(ask_at("metrics", all[i].request), all[i].status);
    CHECK_INT(ask(connect_to("metrics"), "GET /metrics HTTP/1.1\r\nHost: ", 29), 408);
    int status;
    do
        status = ask(connect_to("metrics"), "\0\1\2\3\377", 5);
    while (status == 408);
    CHECK_INT(status, 400);
    memset(large, 'a', sizeof large);
    do
        status = ask(connect_to("metrics"), large, sizeof large);
    while (status == 408);
    CHECK_INT(status, 431);
    close(connect_to("metrics"));
    const int leaves = connect_to("metrics");
    CHECK_INT(send(leaves, "GET /metrics HTTP/1.1\r\n\r\n", 25, 0), 25);
    close(leaves);
    CHECK_INT(get("metrics"), 200);
    end();
}

TEST(a_program_that_does_not_answer_is_unavailable)
{
    start("metrics");
    kill(run.pid, SIGSTOP);
    CHECK_INT(get("metrics"), 503);
    has("it does not answer");
    kill(run.pid, SIGCONT);
    CHECK_INT(get("metrics"), 200);
    end();
}

TEST(a_port_is_served_with_a_warning)
{
    char warning[512] = "";
    unsigned port = 0;
    start("localhost:0");
    for (size_t length = 0; strchr(warning, '\n') == NULL;) {
        const ssize_t got = read(run.err, warning + length, sizeof warning - 1 - length);
        CHECK(got > 0);
        length += (size_t)got;
    }
    CHECK_INT(sscanf(warning, "enl: warning: every user of this machine can read http://localhost:%u/metrics",
                     &port),
              1);
    int status;
    do
        status = ask(connect_to_port(port), "GET /metrics HTTP/1.0\r\n\r\n", 25);
    while (status == 408);
    CHECK_INT(status, 200);
    CHECK(check_format(strstr(text, "\r\n\r\n") + 4) >= 20);
    end();
}

TEST(only_an_old_socket_that_nobody_answers_at_is_replaced)
{
    char longer[200];
    start("metrics");
    run_start(&command, run_enl(), "metrics", "metrics", program);
    run_ends(&command, 1, "there is a socket that is in use; give another path");
    run_start(&command, run_enl(), "--metrics", "metrics", getenv("SYS_WAITS"));
    run_ends(&command, 1, "in use");
    CHECK_INT(get("metrics"), 200);
    run_write_file("file", "", 0, 0600);
    run_start(&command, run_enl(), "metrics", "file", program);
    run_ends(&command, 1, "no socket");
    CHECK_INT(access("file", F_OK), 0);
    memset(longer, 'a', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    run_start(&command, run_enl(), "metrics", longer, program);
    run_ends(&command, 1, "give a shorter one");
    run_start(&command, run_enl(), "metrics", "nowhere/socket", program);
    run_ends(&command, 1, "No such file or directory");
    run_start(&command, run_enl(), "metrics", "localhost:99999", program);
    run_ends(&command, 2, "a port is a number");
    run_start(&command, run_enl(), "metrics");
    run_ends(&command, 2, "takes the path of a socket");
    run_start(&command, run_enl(), "metrics", "other", "nowhere.1");
    run_ends(&command, 1, "no program of yours has that name");
    CHECK(access("other", F_OK) != 0);

    const struct sockaddr_un old = {.sun_family = AF_UNIX, .sun_path = "old"};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fd, (const struct sockaddr *)&old, sizeof old), 0);
    close(fd);
    struct stat before, now;
    CHECK_INT(stat("old", &before), 0);
    run_start(&command, run_enl(), "metrics", "old", program);
    do
        sched_yield();
    while (stat("old", &now) != 0 || (now.st_mode & 0777u) != 0600u);
    int status;
    do { /* it is bound, and will listen */
        const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        status = connect(client, (const struct sockaddr *)&old, sizeof old);
        close(client);
    } while (status != 0);
    CHECK_INT(get("old"), 200);
    kill(command.pid, SIGTERM);
    run_ends(&command, 0, "");
    CHECK(access("old", F_OK) != 0);
    CHECK_INT(get("metrics"), 200);
    end();
}
