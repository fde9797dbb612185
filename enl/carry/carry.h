/* SPDX-License-Identifier: MIT */
/* carry.h -- the interface of enl/carry: what it has of a program, and what it does for the tree and the commands. */
#ifndef ENL_CARRY_H
#define ENL_CARRY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/self.h"
#include "bcri/channel.h"
#include "bcri/control.h"
#include "bcri/frames.h"
#include "hosts/hosts.h"
#include "wire/wire.h"

struct enl_peer;
struct enl_remote;

/* carry -- What carries bytes between this daemon and others: what all of it owns, and what it asks of the rest of
 * the daemon. */

enum { ENL_ROW_PASSING = 2 };

struct enl_carry_ops {
    /* The control link to a host (bcri/link_thread.h): sends, in row 0 or 1; how much waits to be sent, without what was sent with
     * ENL_ROW_PASSING beside the row. */
    bool (*control_link_send)(struct enl_links *links, uint32_t host, unsigned row, const void *content,
                              uint32_t bytes);
    uint32_t (*control_link_waits)(const struct enl_links *links, uint32_t host);
    /* From now on the owner of the peer is to call enl_peer_moved when nothing waits there any more. */
    void (*control_link_tell_empty)(struct enl_links *links);
    /* Tells, by enl_child_control_link_is_read, when what has come by it so far has been taken. */
    bool (*control_link_mark)(struct enl_links *links, uint32_t host);
    /* The connection to the daemon of that host; NULL: it is not up, or not known here. */
    struct enl_conn *(*daemon_of)(struct enl_program *program, uint32_t host);
    uint32_t (*host_numbers)(
        struct enl_program *program); /* how many of them this daemon can name: 1 if it is not the root's */
    /* A pane has been asked for, for a CCE of another host. */
    void (*pane_wanted)(struct enl_session *session, uint32_t host, uint32_t ordinal);
};

struct enl_carry {
    struct enl_self *self;
    struct enl_conns *conns;
    const struct enl_carry_ops *ops;

    struct enl_push *push;          /* what hosts get that have no BCR; NULL: nothing */
    LIST_HEAD(, enl_proxy) proxies; /* helpers of this host */
    LIST_HEAD(, enl_far) fars;      /* proxied streams to other hosts, or of other hosts' commands */
    int logs_folder;                /* of logdir; -1: none */
};

/* launch.c -- How a daemon starts another: the command (remote.c), as a process with three pipes. */

struct enl_launch {
    pid_t process;      /* leads a session, and so a process group, of its own */
    int in, out, err;   /* its stdout, stdin and stderr */
    char command[1024]; /* as a person may type it */
    bool is_ssh;
};

/* `address` NULL: the host's own. `pushes`: the command waits for what carry->push sends (push.c). False: a
 * sentence says why there is no process. */
bool enl_launch(struct enl_launch *launch_out, struct enl_carry *carry, const struct enl_host *host,
                const char *address, bool pushes, char *error, size_t error_size);
/* Starts any command. The same. */
bool enl_launch_command(struct enl_launch *launch_out, const struct enl_remote *remote,
                        const struct enl_host *host, char *const *environment,
                        const struct enl_inherited *inherited, char *error, size_t error_size);

/* peer.c -- The two pipes to a neighbour in the tree of daemons: the one that has started this one, or one
 * that this one has started. What they carry is in frames (bcri/frames.h).
 *
 * A write never waits: libuv keeps what the pipe does not take. A neighbour that reads nothing until
 * forty megabytes wait loses the connection, as all peers do. What CCEs print waits in a list of its
 * own, of which one frame at a time is given to libuv when that has nothing else: control overtakes
 * output. The window of output.h bounds that list.
 *
 * A neighbour may also be reached by way of others (docs/protocol.md, "Routing"): such a peer has no pipes of
 * its own. What is sent to it goes into the pipe of another peer with the number of its host; what comes from it
 * the owner of that pipe gets.
 *
 * Or by the control link (bcri/link_thread.h), a link to its host: then all of that goes there.
 *
 * What brings the program key lies in secret memory (secret.h) until it is written; so does what has
 * come. Both are wiped. */

struct enl_peer_ops {
    /* A message has come. Returns NULL, or why the connection must end. It may close the peer. */
    const char *(*came)(void *owner, const struct bcri_control *message);
    /* Nothing more comes, or what comes makes no sense: `why`, as the end of a sentence. The peer is
     * still there. */
    void (*ended)(void *owner, const char *why);
    /* Something could not be sent, so nothing is sent any more, and the pipe to it has been closed. NULL: nothing is done
     * about it, and the pipe stays. */
    void (*write_failed)(void *owner);
};

/* What its command has printed where no daemon ever spoke, as a line "it printed: ..."; "" if it has not. */
#define ENL_PRINTED "it printed: "
enum { ENL_PRINTED_MAX = 320 };
void enl_peer_printed(const struct enl_peer *peer, char out[ENL_PRINTED_MAX]);

/* Takes both descriptors. `begun`: what has been read of the stream already; the magic word is
 * written. NULL: nothing is. Returns NULL if there is no memory or they are no pipes; they are
 * closed then. */
struct enl_peer *enl_peer_new(struct enl_carry *carry, int in, int out, const struct bcri_frames *begun,
                              const struct enl_peer_ops *ops, void *owner);
/* A peer that is reached by way of `via`, as host `to`. NULL: no memory. */
struct enl_peer *enl_peer_new_by(struct enl_carry *carry, struct enl_peer *via, uint32_t to);
/* A peer that is reached by the control link to `host`. NULL: no memory. */
struct enl_peer *enl_peer_new_by_control_link(struct enl_carry *carry, uint32_t host,
                                              const struct enl_peer_ops *ops, void *owner);
/* Reads once. Returns 1; 0: the end, or an error, with a sentence. */
int enl_peer_read(struct bcri_frames *frames, int fd, const char **why_out);
/* Takes what had been read of the stream already when it was made: nothing that comes later tells of that. */
void enl_peer_take_begun(struct enl_peer *peer);
/* A message has come from it in the control link. */
void enl_peer_came(struct enl_peer *peer, const uint8_t *content, uint32_t bytes);
/* By the control link: perhaps nothing waits there any more. Looks whether enl_peer_flush is done. */
void enl_peer_moved(struct enl_peer *peer);
/* How it goes its type says: control at once; a CCE's output and the bytes of proxied streams behind what waits; a packet
 * of a link (conductor/tunnelled.c) so, or not at all if much waits. */
void enl_peer_send(struct enl_peer *peer, const struct bcri_control *message);
/* The same for the message that has just come from `from`, byte for byte. */
void enl_peer_pass(struct enl_peer *peer, const struct enl_peer *from, enum bcri_control_type type);
/* By the control link: has it told when all has been taken that has come so far. False: no memory, or it is not by that. */
bool enl_peer_mark(const struct enl_peer *peer);
/* Sends bytes that are no frame, before the first frame is sent. Calls `written` when
 * the pipe has taken them; with false, and for the last time, if it does not or the peer is closed. */
void enl_peer_send_raw(struct enl_peer *peer, const char *bytes, size_t length,
                       void (*written)(void *data, bool goes_on), void *data);
/* Calls `done` when all is written (by the control link: when the other side has it), or
 * cannot be; at once if nothing waits. */
void enl_peer_flush(struct enl_peer *peer, void (*done)(void *data), void *data);
/* Closes the pipes. Neither ops nor `done` is called any more. */
void enl_peer_close(struct enl_peer *peer);

/* push/push.c -- --push: hosts without BCR. What such a host needs is sent to it ahead of all else, through the very
 * pipe of the command by which its daemon is started:
 *
 *     magic word | script | files, one after the other | magic word | frames ...
 *
 * A shell there reads the first word and the script, which makes a private directory, writes the files
 * into it and runs enl, which goes on reading at the second word. A process of the script's waits until
 * the shell and enl are both gone, however they end, and removes the directory (script.c).
 *
 * The files are enl, the program (of a team all of them), and the shared libraries of both but for those of the C library. A
 * daemon that was started so finds them in its directory and sends them on to hosts that it starts. */

struct enl_push_file {
    char *name; /* in the directory: enl, bin/PROGRAM, lib/LIBRARY */
    int fd;
    uint64_t bytes;   /* that are sent of it */
    uint8_t head[64]; /* the first of these are sent in place of the file's */
    uint64_t head_bytes;
};

struct enl_push {
    struct enl_push_file *files;
    size_t count, room;
    uint64_t bytes; /* of all files */
    char *script;
    size_t script_bytes;
    char *spare;    /* a directory that hosts without room use; NULL: there is none */
    int spare_kept; /* the descriptor whose end has it removed; -1: another daemon has that */
};

/* Prepares what is to be sent: enl first, then programs, each by its file. Two of one name are the same file. Each returns 0, or
 * -1 with a sentence. */
int enl_push_begin(struct enl_carry *carry, char *error, size_t error_size);
int enl_push_program(struct enl_carry *carry, const char *path, char *error, size_t error_size);
void enl_push_end(struct enl_carry *carry);
/* Whether such a host would be sent it. */
bool enl_push_takes(const struct enl_host *host);
/* Whether that host gets it. */
bool enl_push_is_for(const struct enl_carry *carry, const struct enl_host *host);
/* spare.c: before the script is written, a copy of all that is sent in a file system that all hosts have, if the user or the machine
 * names one. That there is none because it could not be made is reported. */
void enl_push_make_spare(struct enl_carry *carry);
/* Has it removed if it was made here. */
void enl_push_end_spare(struct enl_push *push);
/* What the login shell there is to run. */
void enl_push_command(const struct enl_push *push, char *out, size_t size);
/* Sends it all. `went_on` is called with `owner` when more of it is on its way, until the peer is
 * closed. False: no memory. */
bool enl_push_send(const struct enl_push *push, struct enl_peer *peer, void (*went_on)(void *owner),
                   void *owner);

/* In a daemon that was started so: learns of its directory, which stays as long as the descriptor that
 * is returned is open. -1: it was not. */
int enl_pushed_hold(void);
/* Its CCEs find the program and its libraries, and further hosts get them: *programs, the folders where programs are
 * looked for (malloc, or NULL), begins with its own. False: no memory. */
bool enl_pushed_use(struct enl_carry *carry, char **programs);
/* When it can be told: that the directory is the spare one, if it is. */
void enl_pushed_tell(const struct enl_carry *carry);
/* The environment of a command that is not of the program, without those libraries: the caller frees it.
 * NULL: it is the program's, or there is no memory. */
char **enl_pushed_outside(const struct enl_carry *carry);

/* script.c: the script for these files. False: no memory. */
bool enl_push_write_script(struct enl_push *push);
/* Whether that is an absolute path that needs no quotes there. */
bool enl_push_path_is_plain(const char *path);
/* files.c: adds the shared libraries that a program is linked with. Returns 0, or -1 with a sentence. */
int enl_push_add_libraries(struct enl_push *push, const char *path, char *error, size_t error_size);
/* files.c: adds a file unless there is one of that name. The same. */
int enl_push_add(struct enl_push *push, const char *name, const char *path, char *error, size_t error_size);

/* proxy/far.c -- Proxied streams that clients ask for. Those of other hosts: the stream's bytes go through the pipes of the tree (docs/protocol.md).
 *
 *      command ==stream==> root's daemon --frames--> child's daemon ==stream==> helper
 *
 * Both daemons do the same: what they read from their stream they send to the other, and what the
 * other sends they write to the stream, within a window for each direction. So a reader that stands
 * still holds up nobody else, and what a daemon keeps of a proxied stream is bounded. The frames may be
 * overtaken by control messages, as output may.
 *
 * A proxied stream ends when its helper has, and all that it has written is passed on; or when the command
 * closes its stream or its connection. */

/* relay, of a client: here, or on another host. Returns NULL, or why the connection must end. */
const char *enl_proxy_ask(struct enl_carry *carry, struct enl_conn *conn, struct bcri_incoming *in);
/* relay, of the parent: starts the helper here. */
const char *enl_far_begin(struct enl_carry *carry, struct enl_conn *parent,
                          const struct bcri_control *message);
/* relay_bytes, relay_window and relay_end, of the other daemon. */
const char *enl_far_take(struct enl_carry *carry, struct enl_conn *peer, const struct bcri_control *message);

/* That connection is gone. */
void enl_far_forget(struct enl_carry *carry, const struct enl_conn *conn);
/* The loop ends. */
void enl_far_close(struct enl_carry *carry);

/* proxy/proxy.c -- Proxied streams, the daemon's part: a helper process is started for each, and the daemon is out of the way.
 *
 *      command                      daemon                        helper
 *         | -- proxied stream, one end of a stream --> |                       |
 *         | <------ reply ------------------- | -- that end as 0, 1 -> |
 *         | <================ bytes, through the stream =============> |
 *         |                                   | <--- segment_fd, ps -- |
 *         | <------ relay_end --------------- | <--- its exit          |
 *
 * The daemon itself looks at nothing and unwinds nothing: helpers are other processes of enl, with
 * options that only the daemon uses, and what goes wrong in one harms nobody. A helper has a socket
 * to the daemon (BCRI_SOCKET), over which it asks for descriptors of segments; it gets them for
 * reading only, so it cannot write what it looks at.
 *
 * A proxied stream ends when its helper does, and when its requester's connection ends: the helper is killed
 * then. All of this is the loop's. */

/* What a helper is started for. */
struct enl_proxy_wish {
    uint32_t kind;            /* enum bcri_relay_kind */
    const char *arguments[2]; /* behind the helper's option; the first NULL ends them */
    int stream;               /* the helper's 0 and 1, borrowed */
    /* Who is told relay_end with that id when the helper has ended, and whose end is the helper's. NULL:
     * nobody. */
    struct enl_conn *requester;
    uint32_t id;
    /* Called when the helper has ended, unless NULL. */
    void (*done)(void *data, int wait_status);
    void *data;
};

/* Starts a helper. Returns its pid, or -1 with a sentence in `reason`. */
pid_t enl_proxy_start(struct enl_carry *carry, const struct enl_proxy_wish *wish, char *reason,
                      size_t reason_size);

/* A helper asks for a segment's descriptor. */
const char *enl_proxy_segment(struct bcri_host *host, struct enl_conn *conn,
                              const struct bcri_control *message);

/* A child of this process has ended. False: it was no helper. */
bool enl_proxy_reaped(struct enl_carry *carry, pid_t pid, int wait_status);
/* That connection is gone. */
void enl_proxy_forget(struct enl_carry *carry, const struct enl_conn *conn);

/* remote.c -- The command by which a daemon starts another, or asks what machine that is: itself for a host that
 * is `local`, else rshpath with what shall be run there. */

enum { ENL_REMOTE_WORDS = 24 };

struct enl_remote {
    char path[PATH_MAX];
    char *argv[ENL_REMOTE_WORDS];
    char *words; /* what argv points into */
};

/* The path of this enl. False: /proc does not say it. */
bool enl_remote_own_path(char *out, size_t size);

/* The command that runs `enl mode` there. `address` NULL: the host's own. False: a sentence says why there is no
 * command. */
bool enl_remote_command(struct enl_remote *remote_out, const struct bcri_config *config,
                        const struct enl_host *host, const char *address, const char *mode, char *error,
                        size_t error_size);
/* Has the login shell there run `command` instead; not for a host that is `local`. */
void enl_remote_run(struct enl_remote *remote, const char *command);
/* The command as a person may type it. */
void enl_remote_text(const struct enl_remote *remote, char *out, size_t size);
void enl_remote_free(struct enl_remote *remote);

/* `text` as one word of a command for a shell: ' becomes '\'' within quotes, in every shell. */
void enl_remote_quote(const char *text, char *out, size_t size);

/* Whether its program is ssh, by its name. */
bool enl_remote_is_ssh(const struct enl_remote *remote);
/* The name of its program. */
const char *enl_remote_name(const struct enl_remote *remote);

/* What to do, as the end of a sentence ("; ..."), when no daemon came of the command: it was given up for
 * the reason `why`, or, if that is "", has ended with that status (wait(2)); `said` is what it said on
 * stderr. */
const char *enl_remote_remedy(const struct enl_host *host, const char *why, const char *said, int status);

/* said.c -- What the command by which a host is reached prints on stderr: ssh's own words, mostly. The last of it
 * is kept, for the sentence that says why the host cannot be used; once the daemon there is up, whole lines are
 * reported as they come. */

struct enl_said {
    struct enl_self *self;
    const char *host;        /* its name */
    struct enl_watch *watch; /* NULL: stderr has ended */
    bool reports;            /* lines are reported as they come */
    /* Not NULL: nothing is kept, and this gets all, for the root's daemon. */
    void (*pass)(void *owner, const char *bytes, size_t length);
    void *owner;
    size_t length;
    char text[1024]; /* the last that came; the beginning of a line first, once lines are reported */
};

/* Takes `fd`; -1: another daemon reads it, and enl_said_take gets what that has read. False: no memory; it is
 * closed then. */
bool enl_said_begin(struct enl_said *said, struct enl_self *self, const char *host, int fd);
void enl_said_take(struct enl_said *said, const char *bytes, size_t length);
/* From now on lines are reported. What came before was a greeting, and is forgotten. */
void enl_said_report(struct enl_said *said);
/* All that it said, up to now. */
const char *enl_said_all(struct enl_said *said);
void enl_said_end(struct enl_said *said);

#endif
