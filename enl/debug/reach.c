/* SPDX-License-Identifier: MIT */
/* See debug.h. */
#include "debug/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bcr/error.h>

#include "bcri/channel.h"
#include "bcri/escape.h"
#include "inspect/look/look.h"
#include "wire/wire.h"

enum { ANSWER_SECONDS = 5, FAR_SECONDS = 20 };

static void set_patience(int fd, time_t seconds)
{
    const struct timeval patience = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static bool read_number(const char **at, uint32_t *out)
{
    char *end;
    const unsigned long number = strtoul(*at, &end, 10);
    if (**at < '0' || **at > '9' || number > INT32_MAX)
        return false;
    *at = end;
    *out = (uint32_t)number;
    return true;
}

bool enl_named_read(const char *word, struct enl_named *out)
{
    const char *at = word;
    *out = (struct enl_named){.by_pid = strncmp(word, "pid:", 4) == 0};
    at += out->by_pid ? 4 : 0;
    bool good = read_number(&at, &out->number);
    if (good && *at == '@') {
        at++;
        out->has_host = true;
        good = read_number(&at, &out->host) && out->host <= BCRI_HOST_NUMBER_MAX;
    }
    if (good && *at == '\0')
        return true;
    fprintf(
        stderr,
        "enl: a CCE is named by its ordinal, or by pid: and its process, and if need be by @ and the number "
        "of its host, not by %s\n",
        word);
    return false;
}

bool enl_named_is(const struct enl_named *named, const struct look_cce *cce)
{
    return (named->by_pid ? cce->pid : cce->ordinal) == named->number &&
           (!named->has_host || cce->host == named->host);
}

static int say_to_person(const char *what, struct bcri_view text)
{
    char line[2048];
    bcri_escape(text.bytes, text.length, line, sizeof line, NULL);
    fprintf(stderr, "enl: %s: %s\n", what, line);
    return 1;
}

/* What the daemon of a CCE's host is asked for: a new debugger ("": gdbserver) at it, */
static struct bcri_control attach_request(uint32_t number, bool by_pid, const char *debugger)
{
    return (struct bcri_control){.type = BCRI_MSG_attach,
                                 .present = BCRI_HAS(id) | BCRI_HAS(ordinal) | BCRI_HAS(object) |
                                            (by_pid ? BCRI_HAS(pid) : 0),
                                 .id = 1,
                                 .ordinal = by_pid ? 0 : number,
                                 .pid = number,
                                 .object = bcri_view_of(debugger)};
}

/* or the one that has started it. */
static struct bcri_control pane_request(uint32_t index)
{
    return (struct bcri_control){
        .type = BCRI_MSG_pane, .present = BCRI_HAS(id) | BCRI_HAS(index), .id = 1, .index = index};
}

/* Sends a request with up to one descriptor. The answer is in `in`; false: there is none, as was said. */
static bool ask(int daemon, const struct bcri_control *request, int fd, const char *what,
                struct bcri_incoming *in)
{
    int got = bcri_channel_send(daemon, request, &fd, fd >= 0 ? 1 : 0, true);
    if (got == 0)
        got = enl_hear(daemon, in);
    if (got == 1 && in->wrong == NULL && in->message.type == BCRI_MSG_reply)
        return true;
    char silence[ENL_SILENCE_TEXT_MAX];
    const char *why = got == -EAGAIN ? enl_silence(daemon, silence) : "the program has ended";
    say_to_person(what, bcri_view_of(why));
    return false;
}

/* Reads why the proxied stream is of no use: what its helper says, or else the daemons. */
static int say_refusal(int stream, int daemon, const char *what)
{
    static struct bcri_incoming in;
    char text[1024];
    size_t length = 0;
    ssize_t got;
    while (length < sizeof text && (got = recv(stream, text + length, sizeof text - length, 0)) > 0)
        length += (size_t)got;
    if (length != 0)
        return say_to_person(what, (struct bcri_view){text, (uint32_t)length});
    const int end = bcri_channel_recv(daemon, &in, true);
    if (end == 1 && in.wrong == NULL && in.message.text.length != 0)
        return say_to_person(what, in.message.text);
    const char *why = end == -EAGAIN ? "its host does not answer" : "its debugger has ended";
    return say_to_person(what, bcri_view_of(why));
}

/* Through the tree: `number` and `text` are for the helper. */
static int reach_far(int daemon, uint32_t host, uint32_t number, const char *text, const char *what,
                     struct enl_reached *out)
{
    static struct bcri_incoming in;
    const struct bcri_control relay = {.type = BCRI_MSG_relay,
                                       .present = BCRI_HAS(id) | BCRI_HAS(kind) | BCRI_HAS(host) |
                                                  BCRI_HAS(ordinal) | BCRI_HAS(text),
                                       .id = 1,
                                       .kind = BCRI_RELAY_DEBUG,
                                       .host = host,
                                       .ordinal = number,
                                       .text = bcri_view_of(text)};
    int pair[2];
    char first;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return say_to_person(what, bcri_view_of(strerror(errno)));
    const bool answered = ask(daemon, &relay, pair[1], what, &in);
    close(pair[1]);
    set_patience(pair[0], FAR_SECONDS);
    int status = 1;
    if (answered && in.message.status != 0)
        say_to_person(what, in.message.text);
    else if (answered && recv(pair[0], &first, 1, 0) == 1 && first == '+')
        status = 0;
    else if (answered)
        status = say_refusal(pair[0], daemon, what);
    if (status != 0) {
        close(pair[0]);
        return status;
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *out = (struct enl_reached){pair[0], daemon, ENL_PIPE_MARKS};
    return 0;
}

/* Of a CCE that is not on the root's host the number of its host; NO_HOST: there is none; SAID: a sentence says why it
 * is not known. */
enum { NO_HOST = -1, SAID = -2 };
static int64_t find_host(const char *name, const struct enl_named *named, const char *word)
{
    struct look_view view;
    int64_t host = NO_HOST;
    if (!look_gather(name, false, stderr, &view))
        return SAID;
    for (size_t i = 0; i < view.cce.count; i++) {
        const struct look_cce *cce = &view.cce.at[i];
        if (cce->host == 0 || cce->host > BCRI_HOST_NUMBER_MAX || cce->state == BCRI_CCE_DEAD ||
            !enl_named_is(named, cce))
            continue;
        if (host >= 0 && host != (int64_t)cce->host) {
            fprintf(stderr, "enl: CCE %s: several hosts have one; %s@%lld is that of host %lld\n", word, word,
                    (long long)host, (long long)host);
            host = SAID;
            break;
        }
        host = (int64_t)cce->host;
    }
    look_view_fini(&view);
    return host;
}

static int attach_far(int daemon, const struct enl_named *named, const char *debugger, const char *what,
                      struct enl_reached *out)
{
    char text[BCRI_CONTROL_TEXT_MAX + 1];
    if (snprintf(text, sizeof text, "%s:%s", named->by_pid ? "pid" : "cce", debugger) >= (int)sizeof text)
        return say_to_person(what, bcri_view_of("the command of its debugger is too long"));
    const int status = reach_far(daemon, named->host, named->number, text, what, out);
    if (status == 0 && debugger[0] == '\0')
        out->marks = ENL_PIPE_PLAIN;
    return status;
}

int enl_reach_attach(const char *name, const char *word, const char *debugger, struct enl_reached *out)
{
    static struct bcri_incoming in;
    char what[128], only[ENL_DAEMON_NAME_MAX];
    struct enl_named named;
    if (!enl_named_read(word, &named))
        return 2;
    const int daemon = enl_program_connect(&name, only);
    if (daemon < 0)
        return 1;
    set_patience(daemon, ANSWER_SECONDS);
    snprintf(what, sizeof what, "CCE %s", word);
    if (named.has_host)
        return attach_far(daemon, &named, debugger, what, out);
    const struct bcri_control request = attach_request(named.number, named.by_pid, debugger);
    if (!ask(daemon, &request, -1, what, &in))
        return 1;
    *out = (struct enl_reached){in.fds[0], daemon, ENL_PIPE_PLAIN};
    if (out->fd >= 0 && (in.message.present & BCRI_HAS(text)) != 0)
        say_to_person(what, in.message.text);
    if (out->fd >= 0)
        return 0;
    if (in.message.status != bcrE_NOCCE)
        return say_to_person(what, in.message.text);
    const int64_t host = find_host(name, &named, word);
    if (host == SAID)
        return 1;
    if (host == NO_HOST)
        return say_to_person(what, in.message.text);
    named.host = (uint32_t)host;
    return attach_far(daemon, &named, debugger, what, out);
}

int enl_reach_pane(const char *name, uint32_t host, uint32_t index, const char *what, struct enl_reached *out)
{
    static struct bcri_incoming in;
    const int daemon = bcri_channel_connect(name, 10000);
    if (daemon < 0)
        return 1;
    if (host != 0)
        return reach_far(daemon, host, index, "pane", what, out);
    const struct bcri_control request = pane_request(index);
    if (!ask(daemon, &request, -1, what, &in))
        return 1;
    if (in.fds[0] < 0)
        return say_to_person(what, in.message.text);
    *out = (struct enl_reached){in.fds[0], daemon, ENL_PIPE_PLAIN};
    return 0;
}

/* The helper's side */

static void refuse_reply(const struct bcri_control *reply, const char *otherwise)
{
    char text[BCRI_CONTROL_TEXT_MAX + 2] = "-";
    bcri_view_copy(reply->text, text + 1, sizeof text - 1);
    if (text[1] == '\0')
        snprintf(text + 1, sizeof text - 1, "%s", otherwise);
    (void)!write(1, text, strlen(text));
}

int enl_debug_host(char **argv)
{
    static struct bcri_incoming in = {.fds = {-1, -1, -1}};
    const int daemon = enl_far_end_socket();
    const char *colon = argv[0] != NULL && argv[1] != NULL ? strchr(argv[1], ':') : NULL;
    if (daemon < 0 || argv[0] == NULL || argv[1] == NULL || (colon == NULL && strcmp(argv[1], "pane") != 0)) {
        fprintf(stderr, "enl: --debug-host is for enl itself; enl attach debugs a CCE\n");
        return 2;
    }
    const bool by_pid = strncmp(argv[1], "pid:", 4) == 0;
    const uint32_t number = (uint32_t)strtoul(argv[0], NULL, 10);
    const struct bcri_control request =
        colon != NULL ? attach_request(number, by_pid, colon + 1) : pane_request(number);
    if (bcri_channel_send(daemon, &request, NULL, 0, true) != 0 ||
        bcri_channel_recv(daemon, &in, true) != 1 || in.wrong != NULL || in.fds[0] < 0) {
        refuse_reply(&in.message, "the daemon of its host has no debugger for it");
        return 1;
    }
    if (write(1, "+", 1) != 1)
        return 1;
    const bool terminal = colon == NULL || colon[1] != '\0';
    enl_pipe(in.fds[0], daemon, terminal, terminal ? ENL_PIPE_MARKED : ENL_PIPE_PLAIN);
    return 0;
}
