/* SPDX-License-Identifier: MIT */
/* wire.h -- the interface of enl/wire for the daemon and its commands; bcri/ has what CCEs use too. */
#ifndef ENL_WIRE_H
#define ENL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/self.h"
#include "bcri/channel.h"
#include "bcri/control.h"
#include "bcri/host.h"

struct enl_audit;
struct enl_cce;
struct enl_conn;
struct enl_pane;
struct enl_peer;
struct enl_watch;

/* conn.c -- Connections: every socket through which control messages come in.
 *
 *   HANDSHAKE  the daemon's end of a socket that a started process inherits: brings hello, once
 *   CLIENT     came in at the program's abstract address: enl --join's hello, enl ps, kill, audit
 *   WAITING    the private socket that a client has brought, until bcr_enlist takes its process
 *   CONTROL    a CCE's private socket
 *   HELPER     the socket of a helper that this daemon has started (proxy.c)
 *   PANE       a client that has a debugger's descriptor; its end hangs that up (session.c)
 *   PARENT     the pipes to the daemon that has started this one, or the control link to the root's (parent.c)
 *   CHILD      at the root's daemon: any other daemon, by whatever way; else one that this one has started
 *
 * A malformed message, or one that this kind of connection may not bring, ends the connection; the
 * reason is logged.
 *
 * A connection may end at each turn of the loop: its peer is killed or closes it, and enl_conn_close
 * frees it. So whoever keeps a pointer to one clears it when `closing` is called. An audit keeps none;
 * when it is done it looks for its requester (audit.c). */

enum enl_conn_kind {
    ENL_HANDSHAKE,
    ENL_CLIENT,
    ENL_WAITING,
    ENL_CONTROL,
    ENL_HELPER,
    ENL_PANE,
    ENL_PARENT,
    ENL_CHILD
};

/* What the daemon does with connections. */
struct enl_conn_ops {
    /* Does what a message asks for. Descriptors of `in` that it does not take are closed afterwards. Returns NULL,
     * or why the connection must end. It may have closed `conn` itself only if it returns NULL. */
    const char *(*request)(struct enl_conn *conn, struct bcri_incoming *in);
    /* It is about to be freed. */
    void (*closing)(struct enl_conn *conn);
    /* The peer has ended a CCE's connection of that kind, or must not use it any more, since it was not understood:
     * `wrong`; it is freed. */
    void (*cce_left)(struct enl_cce *cce, enum enl_conn_kind kind, const char *wrong);
    const char *(*cce_text)(const struct enl_cce *cce); /* how sentences name it */
    void (*send_by_peer)(struct enl_peer *peer, const struct bcri_control *message);
    void (*close_peer)(struct enl_peer *peer);
};

/* All connections, and the address at which clients come in. */
struct enl_conns {
    struct enl_self *self;
    const struct enl_conn_ops *ops;
    LIST_HEAD(, enl_conn) all;
    TAILQ_HEAD(enl_conns_waiting, enl_conn) waiting; /* processes started by enl --join, oldest first */
    unsigned clients;                                /* connections of kind ENL_CLIENT */
    struct enl_watch *listening;                     /* NULL: the address is not listened at, or no more */
    int address_fd;                                  /* bound to the address; -1: `listening` has it */
    int spare_fd;                                    /* a reserve to accept a connection with (conn.c) */
};

struct enl_conn {
    struct enl_conns *conns;
    LIST_ENTRY(enl_conn) entry;
    TAILQ_ENTRY(enl_conn) waits; /* WAITING */
    enum enl_conn_kind kind;
    struct enl_watch *watch; /* NULL: PARENT, CHILD */
    struct enl_peer *peer;   /* PARENT, CHILD */
    struct enl_cce *cce;     /* HANDSHAKE, CONTROL */
    pid_t pid;               /* WAITING, HELPER, CONTROL */
    /* WAITING */
    uint32_t flags, hello_id;
    char ccename[256];
    bool spoke;              /* its last message was understood */
    const char *wrong;       /* why not; NULL: it was */
    struct enl_pane *pane;   /* PANE; NULL: its debugger has ended */
    struct enl_audit *audit; /* CLIENT: the audit that it has asked for and that is under way */
};

void enl_conns_init(struct enl_conns *conns, struct enl_self *self, const struct enl_conn_ops *ops);
/* Closes all connections, and listens no more. */
void enl_conns_close(struct enl_conns *conns);
/* Closes those of processes that wait. */
void enl_conns_close_waiting(struct enl_conns *conns);

/* Takes `fd`. NULL: no memory; fd is closed then. */
struct enl_conn *enl_conn_new(struct enl_conns *conns, enum enl_conn_kind kind, int fd, struct enl_cce *cce);
/* Takes `peer`. NULL: no memory; the peer is closed then. */
struct enl_conn *enl_conn_of_peer(struct enl_conns *conns, enum enl_conn_kind kind, struct enl_peer *peer);
/* Closes and frees a connection, and clears all pointers to it. Its CCE is not told that the
 * connection has ended. */
void enl_conn_close(struct enl_conn *conn);

/* A CLIENT's hello has brought the private socket `fd` (taken): the process waits under its
 * ccename. */
void enl_conn_wait(struct enl_conns *conns, int fd, pid_t pid, const struct bcri_control *hello);
/* CLIENT becomes PANE. */
void enl_conn_becomes_pane(struct enl_conn *conn, struct enl_pane *pane);
/* WAITING becomes CONTROL of `cce`, which has it from now on. */
void enl_conn_adopt(struct enl_conn *conn, struct enl_cce *cce);

/* The process of a CCE has ended: reads what it has sent before and does that, in order. Its connection, *place, stays
 * open, unless what it asked for has closed it and so cleared *place. */
void enl_conn_take_rest(struct enl_conn *const *place);

/* Sends an answer with a status, and a sentence unless `text` is NULL. */
void enl_conn_reply(struct enl_conn *conn, uint32_t id, int status, const char *text);
/* Sends the answer to a request for a descriptor, and closes it; negative: there is none to be had. */
void enl_conn_reply_fd(struct enl_conn *conn, uint32_t id, int fd);
/* Sends any message; a peer that does not read its answers loses the connection. */
void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count);

/* Binds a socket to the abstract address of the daemon's name. Returns it, or -errno. */
int enl_conn_bind(const struct enl_self *self);
/* Takes clients there. Returns 0 or -errno. */
int enl_conns_listen(struct enl_conns *conns);

/* The oldest process that waits under a name whose last component is that of `object`; NULL:
 * none. */
struct enl_conn *enl_conn_waiting(const struct enl_conns *conns, const char *object);

/* far_end.c -- A helper's side: what it asks the daemon that has started it (proxy.c). */

/* The socket to the daemon, out of the environment. -1: no daemon has started this process. */
int enl_far_end_socket(void);

/* Maps a segment, for reading only. NULL: there is none, or no room, or no daemon any more. */
const void *enl_far_end_map(int socket, uint32_t seg, size_t *size_out);

/* What the CCE of that index runs, as the daemon has started it; "" if it knows none. */
void enl_far_end_name(int socket, uint32_t index, char *out, size_t capacity);
/* The first host of at least that number to which packets go in another way than the usual one (enl/links/ways.c);
 * false: there is none. */
bool enl_far_end_way(int socket, uint64_t host, uint64_t *host_out, uint64_t *way_out, uint64_t *bytes_out);

/* programs.c -- Which of the programs that run here (bcri/running.h) a command means. */

#define ENL_DAEMON_NAME_MAX (BCRI_PROGRAM_NAME_MAX + 16) /* NAME, or NAME:K */

/* The names of all programs; where the root of one is on another machine, that of a daemon of it here.
 * Returns how many there are in `*names_out`, which the caller frees. */
size_t enl_programs(char (**names_out)[ENL_DAEMON_NAME_MAX]);
/* The daemon that program `name` has on this machine: itself, or NAME:K where its root's is not here, which is said. NULL: of the
 * only program. Returns `name` or `only`; NULL: there is no program, or more than one, which was said. */
const char *enl_daemon_of(const char *name, char only[ENL_DAEMON_NAME_MAX]);

/* Connects to program `*name`; NULL: to the only one. `*name` becomes the name of its daemon here, which may be kept in
 * `only`. Returns the socket, or -1 after saying why not. */
int enl_program_connect(const char **name, char only[ENL_DAEMON_NAME_MAX]);
/* Why bcri_channel_connect has returned `error`, as the end of a sentence. */
const char *enl_why_unreached(int error);

/* Whether the daemon at the other end of that socket lives in another pid namespace, a container's mostly: the
 * process IDs that it tells are no process's here, or another's. */
bool enl_pids_are_foreign(int daemon);

/* Asks a daemon for its first CCE with at least that index. Returns 1 with its answer in `in`, which
 * is a row, or a reply if there is none; else what bcri_channel_recv returns, or -EPROTO. */
int enl_ask_row(int daemon, uint32_t index, struct bcri_incoming *in);

/* programs.c -- Waiting for a daemon's answer. One that is stopped never answers; one whose machine has too much to
 * do does, in time. The kernel tells which it is (/proc/PID/stat), so that neither is taken for the other. */

/* How long a daemon that is not stopped may take. */
#define ENL_PATIENCE_MS 30000u

enum { ENL_SILENCE_TEXT_MAX = 160 };

/* Whether to wait no longer for the daemon at that socket, which has said nothing for so long. */
bool enl_is_silent(int daemon, unsigned waited_ms);
/* "it does not answer; it is stopped: ..." and the like; `daemon` -1: not even its socket lets anybody in.
 * Returns `out`. */
const char *enl_silence(int daemon, char out[ENL_SILENCE_TEXT_MAX]);
/* Receives the next message. Returns what bcri_channel_recv does; -EAGAIN: it is silent. */
int enl_hear(int daemon, struct bcri_incoming *in);

/* control_tables -- The tables that writing (control.c, which has them) and reading (decode.c) share. */

enum bcri_control_kind { BCRI_KIND_U32, BCRI_KIND_U64, BCRI_KIND_I32, BCRI_KIND_STR, BCRI_KIND_BIN };

struct bcri_control_key_row {
    const char *name;
    enum bcri_control_kind kind;
    uint64_t limit;
    size_t offset; /* of the field in struct bcri_control */
};

struct bcri_control_type_row {
    const char *name;
    uint64_t required, allowed; /* sets of keys */
    unsigned fds;
};

extern const struct bcri_control_key_row bcri_control_keys[BCRI_KEY_COUNT];
extern const struct bcri_control_type_row bcri_control_types[BCRI_MSG_COUNT];

#endif
