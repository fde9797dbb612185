/* SPDX-License-Identifier: MIT */
/* See setup.h. Both sides are here, since they must agree. */
#include "conductor/setup.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bcri/words.h"
#include "debug/debug.h"
#include "host/output.h"
#include "wire/wire.h"

extern char **environ;

/* Settings of which the program has one value; and those of its root's machine that others take
 * which have none of their own. */
static const struct {
    enum bcri_config_idx idx;
    bool own_first;
} settings[] = {
    {BCRI_CONFIG_onfail, false},     {BCRI_CONFIG_ondeadlock, false},  {BCRI_CONFIG_loglevel, false},
    {BCRI_CONFIG_logsize, false},    {BCRI_CONFIG_output, false},      {BCRI_CONFIG_killafter, false},
    {BCRI_CONFIG_logdir, false},     {BCRI_CONFIG_hosttimeout, false}, {BCRI_CONFIG_security, false},
    {BCRI_CONFIG_wrap, false},       {BCRI_CONFIG_dataport, true},     {BCRI_CONFIG_bindaddr, true},
    {BCRI_CONFIG_recvpool, true},    {BCRI_CONFIG_crashreport, true},  {BCRI_CONFIG_connecttimeout, false},
    {BCRI_CONFIG_enlistpath, false}, {BCRI_CONFIG_rshpath, true},      {BCRI_CONFIG_linehold, false},
    {BCRI_CONFIG_log, false},        {BCRI_CONFIG_logkeep, true},      {BCRI_CONFIG_awaittimeout, false}};
static_assert(BCRI_CONFIG_PROGRAM_MAX <= BCRI_CONTROL_TEXT_MAX && BCRI_WORDS_MAX <= BCRI_CONTROL_TEXT_MAX,
              "a setting has room for what may be configured");
enum { SETTINGS = sizeof settings / sizeof settings[0] };

#define ENVIRON_MAX  (4u << 20)
#define CHUNK_MAX    2048u
#define LIMITS       16u
#define LIMITS_BYTES (8u * LIMITS)

static void send_setting(struct enl_peer *peer, const char *name, const char *value)
{
    if (value == NULL)
        return;
    const struct bcri_control message = {.type = BCRI_MSG_setting,
                                         .present = BCRI_HAS(object) | BCRI_HAS(text),
                                         .object = bcri_view_of(name),
                                         .text = bcri_view_of(value)};
    enl_peer_send(peer, &message);
}

static void send_settings(const struct enl_program *program, struct enl_peer *peer)
{
    for (size_t i = 0; i < SETTINGS; i++) {
        struct bcri_config_entry entry;
        bcri_config_at(&program->self.config, settings[i].idx, &entry);
        const char *value = entry.value;
        if (settings[i].idx == BCRI_CONFIG_bindaddr && strchr(value, '/') == NULL)
            value = NULL; /* a single address is the root's machine's alone */
        if (settings[i].idx == BCRI_CONFIG_output && enl_lines_wanted(&program->here.lines))
            value = "yes";
        if (settings[i].idx == BCRI_CONFIG_logdir && program->self.config.logdir != NULL)
            value = "/"; /* where is the root's affair, and may be longer than a setting */
        send_setting(peer, entry.keyword, value);
    }
}

/* Options of a session go as settings, under the names that they have in a command. */
enum { OPTIONS = 3 };
static const char *const option_names[OPTIONS] = {"-D", "-d", "--debug-ccs"};

static void send_session(const struct enl_program *program, struct enl_peer *peer)
{
    char where[PATH_MAX + 16];
    const char *debugger;
    enl_session_options(&program->session, where, &debugger);
    const char *const values[OPTIONS] = {where, debugger, program->options.debug.ccs};
    for (int i = 0; where[0] != '\0' && i < OPTIONS; i++)
        send_setting(peer, option_names[i], values[i]);
}

static const char *take_session(struct enl_program *program, const char *name, const char *value)
{
    const char **const places[OPTIONS] = {&program->options.debug.where, &program->options.debug.debugger,
                                          &program->options.debug.ccs};
    for (int i = 0; i < OPTIONS; i++)
        if (strcmp(name, option_names[i]) == 0 && *places[i] == NULL && (*places[i] = strdup(value)) == NULL)
            return "no memory";
    return NULL;
}

/* path= of a host's entry goes as a setting, too. */
static const char path_name[] = "path";

static void send_environ(const struct enl_program *program, struct enl_peer *peer)
{
    size_t used = 0;
    char chunk[CHUNK_MAX];
    struct bcri_control message = {.type = BCRI_MSG_environ, .present = BCRI_HAS(bytes)};
    for (char *const *at = program->self.environment; *at != NULL; at++)
        for (size_t i = 0, length = strlen(*at) + 1; i < length; i++) {
            chunk[used++] = (*at)[i];
            if (used < sizeof chunk)
                continue;
            message.bytes = (struct bcri_view){chunk, (uint32_t)used};
            enl_peer_send(peer, &message);
            used = 0;
        }
    message.bytes = (struct bcri_view){chunk, (uint32_t)used};
    if (used != 0)
        enl_peer_send(peer, &message);
}

/* Between daemons, perhaps of different architectures, limits and signals have the numbers that most have. Where
 * these do not hold, a table is needed here, for `signal` and for `died`. */
static_assert(RLIMIT_CPU == 0 && RLIMIT_FSIZE == 1 && RLIMIT_DATA == 2 && RLIMIT_STACK == 3 &&
                  RLIMIT_CORE == 4 && RLIMIT_RSS == 5 && RLIMIT_NPROC == 6 && RLIMIT_NOFILE == 7 &&
                  RLIMIT_MEMLOCK == 8 && RLIMIT_AS == 9 && RLIMIT_LOCKS == 10 && RLIMIT_RTTIME == 15,
              "limits go between daemons by number");
static_assert(SIGHUP == 1 && SIGINT == 2 && SIGQUIT == 3 && SIGILL == 4 && SIGTRAP == 5 && SIGABRT == 6 &&
                  SIGBUS == 7 && SIGFPE == 8 && SIGKILL == 9 && SIGUSR1 == 10 && SIGSEGV == 11 &&
                  SIGUSR2 == 12 && SIGPIPE == 13 && SIGALRM == 14 && SIGTERM == 15 && SIGXCPU == 24 &&
                  SIGXFSZ == 25 && SIGSYS == 31,
              "signals go between daemons by number");

/* Soft limits by their numbers. */
static void write_limits(const struct enl_program *program, uint8_t bytes[LIMITS_BYTES])
{
    for (unsigned i = 0; i < LIMITS; i++) {
        struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
        if (i == RLIMIT_NOFILE)
            limit = program->self.inherited.files;
        else
            (void)getrlimit((__rlimit_resource_t)i, &limit);
        const uint64_t value = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
        for (unsigned byte = 0; byte < 8; byte++)
            bytes[8 * i + byte] = (uint8_t)(value >> (56 - 8 * byte));
    }
}

/* A soft limit is lowered to the starter's, or raised to it as far as the hard limit here lets it. */
static void take_limits(struct enl_program *program, const uint8_t bytes[LIMITS_BYTES])
{
    for (unsigned i = 0; i < LIMITS; i++) {
        struct rlimit limit;
        uint64_t value = 0;
        for (unsigned byte = 0; byte < 8; byte++)
            value = value << 8 | bytes[8 * i + byte];
        rlim_t wanted = value == UINT64_MAX ? RLIM_INFINITY : (rlim_t)value;
        if (getrlimit((__rlimit_resource_t)i, &limit) != 0)
            continue;
        if (limit.rlim_max != RLIM_INFINITY && (wanted == RLIM_INFINITY || wanted > limit.rlim_max))
            wanted = limit.rlim_max;
        limit.rlim_cur = wanted;
        if (i == RLIMIT_NOFILE) /* the daemon has as many as it can get; CCEs have this */
            program->self.inherited.files.rlim_cur = wanted;
        else
            (void)setrlimit((__rlimit_resource_t)i, &limit);
    }
}

static bool ignores_hangup(void)
{
    struct sigaction action;
    return sigaction(SIGHUP, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void enl_setup_send(struct enl_child *child, uint32_t id)
{
    uint8_t limits[LIMITS_BYTES], addresses[BCRI_ADDRESSES_BYTES_MAX];
    struct enl_program *program = child->program;
    struct enl_peer *peer = child->conn->peer;
    const bool deep = child->life.starter != 0;
    const mode_t mask = umask(0);
    umask(mask);
    write_limits(program, limits);
    send_settings(program, peer);
    send_session(program, peer);
    send_setting(peer, path_name, child->host->path);
    send_environ(program, peer);
    struct bcri_control start = {
        .type = BCRI_MSG_start,
        .present = BCRI_HAS(id) | BCRI_HAS(host) | BCRI_HAS(daemon) | BCRI_HAS(program) | BCRI_HAS(machine) |
                   BCRI_HAS(mask) | BCRI_HAS(bytes) | BCRI_HAS(text) | BCRI_HAS(key) | BCRI_HAS(flags),
        .flags = (deep ? BCRI_START_DEEP : 0u) | (ignores_hangup() ? BCRI_START_NO_HANGUP : 0u),
        .key = {(const char *)program->keys->program, sizeof program->keys->program},
        .id = id,
        .host = child->life.number,
        .daemon = child->life.number, /* no two of a machine have the same */
        .program = bcri_view_of(program->self.name),
        .machine = bcri_view_of(child->host->name),
        .mask = (uint32_t)mask & 0777,
        .bytes = {(const char *)limits, sizeof limits},
        .text = bcri_view_of(program->self.address)};
    if (program->here.folder != NULL && strlen(program->here.folder) < 4096) {
        start.present |= BCRI_HAS(folder);
        start.folder = bcri_view_of(program->here.folder);
    }
    if (deep) {
        struct enl_member there = {.host = child->life.number};
        enl_member_call(&there, child->host->name, child->machine_id);
        enl_control_link_offer(&child->control_link, program->introductions, &there, &start, addresses);
    }
    enl_peer_send(peer, &start);
}

static const char *take_setting(struct enl_program *program, const struct bcri_control *message)
{
    char keyword[32], value[1024], error[256];
    const bool whole = bcri_view_copy(message->object, keyword, sizeof keyword) &&
                       bcri_view_copy(message->text, value, sizeof value);
    if (whole)
        for (size_t i = 0; i < SETTINGS; i++) {
            struct bcri_config_entry entry;
            bcri_config_at(&program->self.config, settings[i].idx, &entry);
            if (strcmp(entry.keyword, keyword) != 0)
                continue;
            if (settings[i].own_first && strcmp(entry.origin, "default") != 0)
                return NULL;
            return bcri_config_set(&program->self.config, keyword, value, "the program's root", error,
                                   sizeof error) == 0
                       ? NULL
                       : "a setting has no good value";
        }
    if (whole && strcmp(keyword, path_name) == 0) {
        free(program->jobs.programs);
        program->jobs.programs = strdup(value);
        return program->jobs.programs != NULL ? NULL : "no memory";
    }
    return whole ? take_session(program, keyword, value) : NULL; /* or it is a later version's */
}

static const char *take_environ(struct enl_setup *setup, const struct bcri_control *message)
{
    const size_t more = message->bytes.length;
    char *bytes =
        more <= ENVIRON_MAX - setup->length ? realloc(setup->bytes, setup->length + more + 1) : NULL;
    if (bytes == NULL)
        return "its environment is too large";
    if (more != 0)
        memcpy(bytes + setup->length, message->bytes.bytes, more);
    setup->bytes = bytes;
    setup->length += more;
    bytes[setup->length] = '\0';
    return NULL;
}

/* The environment becomes this process's; `setup` is kept, since it points there. */
static void use_environ(struct enl_setup *setup)
{
    size_t count = 0;
    if (setup->bytes == NULL)
        return;
    for (size_t at = 0; at < setup->length; at += strlen(setup->bytes + at) + 1)
        count++;
    char **variables = calloc(count + 1, sizeof *variables);
    if (variables == NULL)
        return;
    count = 0;
    for (size_t at = 0; at < setup->length; at += strlen(setup->bytes + at) + 1)
        if (strchr(setup->bytes + at, '=') != NULL)
            variables[count++] = setup->bytes + at;
    environ = variables;
}

/* The root's directory, or the home directory if there is none here. */
static void enter_folder(struct enl_program *program, const char *folder)
{
    if (chdir(folder) == 0)
        return;
    fprintf(stderr, "enl: directory %s: %s; CCEs here start in %s\n", folder, strerror(errno),
            program->self.config.home != NULL ? program->self.config.home : "/");
    if (program->self.config.home == NULL || chdir(program->self.config.home) != 0)
        (void)!chdir("/");
}

/* sshd says from which address the daemon that has started this one has reached this machine; if that is the
 * root's, that is the root's address. But the variable may be that of the login under which the root runs. */
static void take_way(struct enl_program *program, const char *way)
{
    const char *roots = getenv("SSH_CONNECTION");
    const size_t length = strcspn(way, " ");
    if ((roots == NULL || strcmp(roots, way) != 0) && length < sizeof program->self.address)
        snprintf(program->self.address, length + 1, "%s", way);
}

const char *enl_setup_take(struct enl_setup *setup, struct enl_program *program,
                           const struct bcri_control *message)
{
    char folder[4096];
    if (message->type == BCRI_MSG_setting)
        return take_setting(program, message);
    if (message->type == BCRI_MSG_environ)
        return take_environ(setup, message);
    const char *by = getenv("SSH_CONNECTION"), *agent = getenv("SSH_AUTH_SOCK");
    use_environ(setup); /* where those two point stays */
    if (agent != NULL) /* the root's is a path of its machine; from here others may have to be reached, too */
        setenv("SSH_AUTH_SOCK", agent, 1);
    if ((message->flags & BCRI_START_NO_HANGUP) != 0)
        signal(SIGHUP, SIG_IGN);
    if ((message->present & BCRI_HAS(mask)) != 0)
        umask((mode_t)message->mask);
    if (message->bytes.length == LIMITS_BYTES)
        take_limits(program, (const uint8_t *)message->bytes.bytes);
    if (message->machine.length != 0 && message->machine.length < sizeof program->self.hostname)
        bcri_view_copy(message->machine, program->self.hostname, sizeof program->self.hostname);
    if (message->text.length != 0)
        bcri_view_copy(message->text, program->self.address, sizeof program->self.address);
    if (by != NULL && (message->flags & BCRI_START_DEEP) == 0)
        take_way(program, by);
    if (message->folder.length != 0 && bcri_view_copy(message->folder, folder, sizeof folder))
        enter_folder(program, folder);
    return NULL;
}
