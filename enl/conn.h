/* SPDX-License-Identifier: MIT */
/* Connections: every socket through which control messages come in.
 *
 *   DOOR      the daemon's end of a socket that a started process inherits: says hello, once
 *   VISITOR   came in at the program's abstract address: enl --join's hello, enl ps, enl kill
 *   WAITING   a visitor's private socket, until bcr_enlist takes it
 *   CONTROL   a CCE's private socket
 *
 * A malformed message, and one that this kind of connection may not bring, ends the connection; the
 * reason is logged.
 *
 * A connection belongs to program->conns, and may end whenever the loop turns: its peer is killed,
 * or closes it, and enl_conn_close frees it. Whoever names one for longer than a call finds NULL
 * from then on: cce->handshake, cce->control, and the job of an enlisting (enl_enlist_forget). An
 * audit is not told of its asker, and looks for it (audit.c). */
#ifndef ENL_CONN_H
#define ENL_CONN_H

#include <stdint.h>
#include <sys/types.h>

#include "bcri/channel.h"
#include "program.h"

enum enl_conn_kind { ENL_HANDSHAKE, ENL_VISITOR, ENL_WAITING, ENL_CONTROL };

struct enl_conn {
    struct enl_program *program;
    struct enl_conn *next, *previous;       /* all */
    struct enl_conn *wait_next, *wait_prev; /* WAITING */
    enum enl_conn_kind kind;
    struct enl_watch *watch;
    struct enl_cce *cce; /* DOOR, CONTROL */
    /* WAITING */
    pid_t pid;
    uint32_t flags, hello_id;
    char ccename[256];
    bool spoke;              /* its last message was understood */
    struct enl_audit *audit; /* VISITOR: what it has asked for is being looked at */
};

/* Takes `fd`. NULL: no memory; fd is closed then. */
struct enl_conn *enl_conn_new(struct enl_program *program, enum enl_conn_kind kind, int fd,
                              struct enl_cce *cce);
/* Closes it and frees it; all that name it forget it. Whose it was is not told that it has
 * ended. */
void enl_conn_close(struct enl_conn *conn);

/* A VISITOR that said hello has brought its private socket `fd` (taken): it waits under its
 * ccename. */
void enl_conn_wait(struct enl_program *program, int fd, pid_t pid, const struct bcri_control *hello);
/* WAITING becomes CONTROL of `cce`. */
void enl_conn_adopt(struct enl_conn *conn, struct enl_cce *cce);

/* An answer with a status, and a sentence unless `text` is NULL. */
void enl_conn_reply(struct enl_conn *conn, uint32_t id, int status, const char *text);
/* Sends any message; a peer that does not read its answers loses the connection. */
void enl_conn_send(struct enl_conn *conn, const struct bcri_control *message, const int *fds,
                   unsigned fd_count);

/* Opens the abstract address. Returns 0 or -errno. */
int enl_conn_listen(struct enl_program *program);

/* requests.c: what each message does. The descriptors of `in` that it does not take are closed
 * afterwards. Returns NULL, or why the connection must end. It may have closed `conn` itself only
 * if it returns NULL. */
const char *enl_request(struct enl_conn *conn, struct bcri_incoming *in);

/* The oldest process that waits under the name `object`, or under its last component; NULL:
 * none. */
struct enl_conn *enl_conn_waiting(struct enl_program *program, const char *object);

#endif
