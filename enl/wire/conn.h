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
 * A connection is in the list program->conns. It may end at each turn of the loop: its peer is
 * killed or closes it, and enl_conn_close frees it. So enl_conn_close clears the pointers that
 * others keep to it: cce->handshake, cce->control, and the pointer in the job of an enlisting
 * (enl_enlist_forget), or in an errand (enl_tree_forget), or in a
 * relay (enl_relay_forget). An audit keeps none; when it is done it looks for its asker (audit.c). */
#ifndef ENL_CONN_H
#define ENL_CONN_H

#include <stdint.h>
#include <sys/types.h>

#include "bcri/channel.h"
#include "program.h"

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

struct enl_conn {
    struct enl_program *program;
    struct enl_conn *next, *previous;       /* all */
    struct enl_conn *wait_next, *wait_prev; /* WAITING */
    enum enl_conn_kind kind;
    struct enl_watch *watch; /* NULL: PARENT, CHILD */
    struct enl_peer *peer;   /* PARENT, CHILD */
    struct enl_cce *cce;     /* HANDSHAKE, CONTROL */
    pid_t pid;               /* WAITING, HELPER */
    /* WAITING */
    uint32_t flags, hello_id;
    char ccename[256];
    bool spoke;              /* its last message was understood */
    struct enl_pane *pane;   /* PANE; NULL: its debugger has ended */
    struct enl_audit *audit; /* VISITOR: the audit that it has asked for and that is under way */
};

/* Takes `fd`. NULL: no memory; fd is closed then. */
struct enl_conn *enl_conn_new(struct enl_program *program, enum enl_conn_kind kind, int fd,
                              struct enl_cce *cce);
/* Takes `peer`. NULL: no memory; the peer is closed then. */
struct enl_peer;
struct enl_conn *enl_conn_of_peer(struct enl_program *program, enum enl_conn_kind kind,
                                  struct enl_peer *peer);
/* Closes and frees a connection, and clears all pointers to it. Its CCE is not told that the
 * connection has ended. */
void enl_conn_close(struct enl_conn *conn);

/* A VISITOR's hello has brought the private socket `fd` (taken): the process waits under its
 * ccename. */
void enl_conn_wait(struct enl_program *program, int fd, pid_t pid, const struct bcri_control *hello);
/* VISITOR becomes PANE. */
void enl_conn_becomes_pane(struct enl_conn *conn, struct enl_pane *pane);
/* WAITING becomes CONTROL of `cce`. */
void enl_conn_adopt(struct enl_conn *conn, struct enl_cce *cce);

/* The process of a CCE has ended: reads what it has sent before and does that, in order. Its connection stays
 * open. */
void enl_conn_take_rest(struct enl_cce *cce);

/* Sends an answer with a status, and a sentence unless `text` is NULL. */
void enl_conn_reply(struct enl_conn *conn, uint32_t id, int status, const char *text);
/* Sends the answer to a request for a descriptor, and closes it; negative: there is none to be had. */
void enl_conn_reply_fd(struct enl_conn *conn, uint32_t id, int fd);
/* Sends the answer to a call of a CCE's that may run handlers meanwhile: such a CCE sleeps on its
 * bell. */
void enl_conn_answer(struct enl_conn *conn, const struct bcri_control *reply);
/* Sends any message; a peer that does not read its answers loses the connection. */
void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count);

/* Binds a socket to the abstract address of the daemon's name. Returns it, or -errno. */
int enl_conn_bind(const struct enl_program *program);
/* Takes visitors there. Returns 0 or -errno. */
int enl_conn_listen(struct enl_program *program);

/* requests.c: does what a message asks for. Descriptors of `in` that it does not take are closed
 * afterwards. Returns NULL, or why the connection must end. It may have closed `conn` itself only
 * if it returns NULL. */
const char *enl_request(struct enl_conn *conn, struct bcri_incoming *in);

/* The oldest process that waits under a name whose last component is that of `object`; NULL:
 * none. */
struct enl_conn *enl_conn_waiting(struct enl_program *program, const char *object);

#endif
