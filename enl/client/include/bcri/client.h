/* SPDX-License-Identifier: MIT */
/* The CCE's side of the daemon: joining a program, and asking the daemon for things while it runs.
 *
 * A call sends one request and blocks until its answer comes; the daemon never sends anything
 * unasked. Like every routine of a CCE, a call must not be made by two threads at once. When the
 * daemon is gone, this process will be gone in a moment, too: the kill socket sends it SIGKILL
 * (join.c). */
#ifndef BCRI_CLIENT_H
#define BCRI_CLIENT_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/channel.h"
#include "bcri/ctx.h"
#include "bcri/rendezvous.h"
#include "bcri/wait_set.h"

/* A call that does not block for its answer. Other calls are made meanwhile; the one that reads an
 * answer gives it to the call that it belongs to. */
struct bcri_client_call {
    struct bcri_event
        event; /* must be first: happens when the answer is there; the daemon then rings the bell */
    struct bcri_client *client;
    struct bcri_client_call *next;
    uint32_t id;
    bool answered;
    int code;       /* the answer's status */
    uint32_t count; /* and its count, if it has one */
    uint64_t cell;  /* likewise; the CCE that it names, and the team, too */
    uint32_t team;
    uint8_t identity[BCRI_IDENTITY_BYTES];
    int fd; /* and its descriptor, which is the caller's; -1: none came */
};

/* A call that goes on when its routine has returned (bcr_PENDING), until the same routine gives what came of it. */
struct bcri_client_pending {
    bool is_begun;
    struct bcri_client_call call;
};

/* The team that a CCE is in. */
struct bcri_client_team {
    uint32_t size, rank; /* size 0: none */
    const uint8_t
        *identities; /* of the members, BCRI_IDENTITY_BYTES each; zeros: no CCE was started for that rank */
};

/* What BCR_AWAIT and the variables beside it say. */
struct bcri_client_await {
    uint32_t members, rank; /* members 0: nothing */
    char key[BCRI_AWAIT_KEY_MAX + 1];
    char *hosts; /* of member 0; NULL: this one */
};

struct bcri_client {
    struct bcri_ctx ctx;
    int fd;          /* the private socket */
    int kill_socket; /* nothing is ever written to it; its end is this process's end */
    dev_t fd_device; /* which socket that is: the program may open another file as `fd` */
    ino_t fd_inode;
    struct bcri_client_call *calls; /* waiting for their answers */
    pid_t pid;
    uint32_t last_id;
    bool lost_said;
    bool direct;          /* started by a shell: enl is the parent */
    bool enters;          /* nobody has enlisted it: it has come by itself */
    uint32_t awaited;     /* it is a member of BCR_AWAIT, of a team of that size; 0: it is not */
    int taken;            /* the socket by which such a member is the only one; -1: none */
    bool reports_crashes; /* the daemon wants to hear of them */
    bool reports_locals;  /* and looks longer */
    uint8_t enlistor[BCRI_IDENTITY_BYTES]; /* zeros: it has none: the root, and the members of enl -n */
    struct bcri_client_team team;
    struct bcri_client_pending teamsync, outdone;
    cpu_set_t cores; /* of the program, as far as this CCE may use them: bcr_threadcores */
    struct bcri_client_eventfds *eventfds; /* eventfds.c; NULL: it has woken nobody by one yet */
};

extern const struct bcri_upcalls bcri_client_upcalls;       /* memory.c */
extern const struct bcri_fd_upcalls bcri_client_fd_upcalls; /* eventfds.c */

/* Sends `request`, whose id is set here, with `fd_out` beside it unless that is -1, and waits for
 * the answer. Returns 0 with `in` filled: the caller closes the descriptors that it does not take, also
 * expects that none came, for want of a number, and looks at in->message.status itself. bcrE_ARG: a value is too long for a message; bcrE_NOMEM:
 * the program has closed the private socket; bcrE_INTERNAL: the daemon does not answer. */
int bcri_client_call(struct bcri_client *client, struct bcri_control *request, int fd_out,
                     struct bcri_incoming *in);

/* The same for an answer that brings no descriptor. Returns its status, too, or bcrE_ENLIST if it is no reply. */
int bcri_client_ask(struct bcri_client *client, struct bcri_control *request, int fd_out,
                    struct bcri_incoming *in);

/* The same for an answer that may take long: in a CCE that has handlers, these run until it is there. */
int bcri_client_ask_long(struct bcri_client *client, struct bcri_control *request);

/* Whether the program has closed the private socket, or opened another file in its place: nothing
 * may be sent there. Says so on stderr the first time. */
bool bcri_client_lost(struct bcri_client *client);
/* The same without saying so, for a signal handler. */
bool bcri_client_has_socket(const struct bcri_client *client);

/* Has the daemon asked where this process is when a signal is about to end it by its default action, before
 * it does (crash.c). */
void bcri_client_watch_crashes(struct bcri_client *client);
/* If a thread of this process has crashed, waits until that has ended the process: an exit by another thread
 * would take its place. Returns at last if the program has prevented that. */
void bcri_client_wait_for_crash(void);

/* Sends the request of a call that does not block, with `fd_count` descriptors (borrowed). Returns 0 or a bcrE_ code;
 * with 0, `call` is the client's until its event has happened. */
int bcri_client_begin(struct bcri_client *client, struct bcri_client_call *call, struct bcri_control *request,
                      const int *fds, unsigned fd_count);
/* Waits until that is answered; in a CCE that has handlers, these run meanwhile. Returns the answer's status, or
 * bcrE_ENLIST: there will be no answer. */
int bcri_client_finish(struct bcri_client_call *call);

/* Waits up to `msec` for the answer of the call that is pending there; bcr_PENDING begins it, by `request`, if none is, and only looks.
 * Returns the answer's status, after which none is pending; bcrE_TIMEOUT: it goes on. */
int bcri_client_go_on(struct bcri_client *client, struct bcri_client_pending *pending,
                      struct bcri_control *request, int msec);

/* Waits for that answer no longer: it is dropped when it comes. `call` is over, or never begun: nothing happens. */
void bcri_client_abandon(struct bcri_client *client, const struct bcri_client_call *call);

/* Takes the table of this CCE's team, in which it has that rank, out of the file `fd`, which stays the caller's. Returns 0 or a
 * bcrE_ code. */
int bcri_client_take_team(struct bcri_client *client, int fd, uint32_t rank);

/* Takes the cores that bcr_threadcores gives, out of the daemon's welcome and what this thread may use. */
void bcri_client_take_cores(struct bcri_client *client, const struct bcri_control *welcome);

struct bcr_startspec;
/* bcr_start, in the name of `routine`, which a sentence may have to name. */
int bcri_client_start(const struct bcr_startspec *spec, int *ids, const char *routine);

/* Sends a message that is not answered; unless `waits`, only if the socket has room for it. If it
 * cannot be sent, the daemon is gone, and this process will be gone in a moment, too. */
bool bcri_client_tell(struct bcri_client *client, const struct bcri_control *message, bool waits);

/* Connects to the daemon that running program `name` has here. Returns the socket, or a negative bcrE_ code. What a person
 * must know is on stderr, but for -bcrE_ARG (that is no program's name) and -bcrE_NOPROG (there is no such program). */
int bcri_client_reach(const char *name);

/* Sends hello, or enter, on the inherited or connected socket `fd` (taken), and waits until this process is
 * enlisted: then the private socket, the kill socket and ctx are set up. Returns 0 or a bcrE_ code;
 * what a person must know is on stderr. Does not return if this process made its daemon and the
 * daemon has ended. */
int bcri_client_join(struct bcri_client *client, int fd, int flags, const char *ccename);

/* For a process that a shell started: forks, and turns the original process into the daemon.
 * `await`: the team whose member 0 it is, if that is one.
 * Returns in the child only: the socket to join by. On failure returns -bcrE_ENLIST with the reason
 * on stderr, or does not return if no daemon can be had. */
int bcri_client_start_daemon(const struct bcri_client_await *await);

/* Takes what the variables say, which are unset; await->hosts is the caller's to free. Returns 0, or a bcrE_ code with a
 * sentence on stderr. */
int bcri_client_await_take(struct bcri_client_await *await_out);
/* Waits until the daemon of this host has asked for that member. Returns the socket, or a negative bcrE_ code with a
 * sentence on stderr; client->taken is to be closed then. */
int bcri_client_await(struct bcri_client *client, const struct bcri_client_await *await);

/* The file that this code was loaded from. For the program itself the loader only knows argv[0],
 * which its starter chose. The starter also chose the link by which a set-user-ID program was
 * started; then it is not known. */
bool bcri_client_own_file(char real_out[PATH_MAX]);
/* Keeps the object that this code is part of in memory until the process ends (object.c). */
void bcri_client_stay_loaded(void);

/* What the note in a file says of it: an enl that this process could become, or certainly none. */
enum bcri_client_marker { BCRI_MARKER_UNKNOWN, BCRI_MARKER_ENL, BCRI_MARKER_OTHER };
enum bcri_client_marker bcri_client_marker(const char *path);
/* Runs a file that has no note to be looked at, and sees whether it becomes enl with `options`. False: `why` has what
 * is to be said of it behind its name. For the process that is about to become enl: waits as long as the file runs. */
bool bcri_client_becomes_enl(const char *path, char *const options[2], char *why, size_t size);
/* One line on stderr that begins with "bcr: " and the program's name. */
void bcri_client_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
