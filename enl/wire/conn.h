/* SPDX-License-Identifier: MIT */
/* Connections: every socket through which control messages come in.
 *
 *   HANDSHAKE  the daemon's end of a socket that a started process inherits: brings hello, once
 *   VISITOR    came in at the program's abstract address: enl --join's hello, enl ps, kill, audit
 *   WAITING    the private socket that a visitor has brought, until bcr_enlist takes its process
 *   CONTROL    a CCE's private socket
 *   HELPER     the socket of a helper that this daemon has started (relay.h)
 *   PANE       a visitor that has a debugger's descriptor; its end hangs that up (session.h)
 *   PARENT     the pipes to the daemon that has started this one (parent.h)
 *   CHILD      the pipes to a daemon that this one has started (child.h)
 *
 * A malformed message, or one that this kind of connection may not bring, ends the connection; the
 * reason is logged.
 *
 * A connection may end at each turn of the loop: its peer is killed or closes it, and enl_conn_close
 * frees it. So whoever keeps a pointer to one clears it when `closing` is called. An audit keeps none;
 * when it is done it looks for its asker (audit.c). */
#ifndef ENL_CONN_H
#define ENL_CONN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/self.h"
#include "bcri/channel.h"

struct enl_audit;
struct enl_cce;
struct enl_conn;
struct enl_pane;
struct enl_peer;
struct enl_watch;

enum enl_conn_kind {
    ENL_HANDSHAKE,
    ENL_VISITOR,
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
    const char *(*cce_text)(const struct enl_cce *cce, char *buffer, size_t size); /* how sentences name it */
    void (*send_by_peer)(struct enl_peer *peer, const struct bcri_control *message);
    void (*close_peer)(struct enl_peer *peer);
};

/* All connections, and the address at which visitors come in. */
struct enl_conns {
    struct enl_self *self;
    const struct enl_conn_ops *ops;
    void *owner; /* theirs */
    LIST_HEAD(, enl_conn) all;
    TAILQ_HEAD(enl_conns_waiting, enl_conn) waiting; /* processes started by enl --join, oldest first */
    unsigned visitors;                               /* connections of kind ENL_VISITOR */
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
    struct enl_audit *audit; /* VISITOR: the audit that it has asked for and that is under way */
};

void enl_conns_init(struct enl_conns *conns, struct enl_self *self, const struct enl_conn_ops *ops,
                    void *owner);
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

/* A VISITOR's hello has brought the private socket `fd` (taken): the process waits under its
 * ccename. */
void enl_conn_wait(struct enl_conns *conns, int fd, pid_t pid, const struct bcri_control *hello);
/* VISITOR becomes PANE. */
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
/* Takes visitors there. Returns 0 or -errno. */
int enl_conns_listen(struct enl_conns *conns);

/* The oldest process that waits under a name whose last component is that of `object`; NULL:
 * none. */
struct enl_conn *enl_conn_waiting(const struct enl_conns *conns, const char *object);

#endif
