/* SPDX-License-Identifier: MIT */
/* One daemon on another host, from its starter's view: its process here (rshpath's, or for a host
 * that is `local` the daemon itself), the pipes to it, and its stderr.
 *
 *              present           announce, reply to start
 *   STARTING ----------> STARTED ------------------> UP --end, kill, signal--> ENDING
 *      |                    |                     |                           |
 *      +---- it ends, says nothing in connecttimeout, or nothing that makes sense -----> GONE
 *
 * It is GONE when its process and its pipe have ended; until then it is told to end, and cut off
 * when it has said nothing for two seconds. What was asked of it fails then. */
#ifndef ENL_CHILD_H
#define ENL_CHILD_H

#include "errand.h"
#include "program.h"
#include "said.h"

enum enl_child_state { ENL_CHILD_STARTING, ENL_CHILD_STARTED, ENL_CHILD_UP, ENL_CHILD_ENDING };

struct enl_child_ops;

struct enl_child {
    struct enl_program *program;
    struct enl_child *next;
    const struct enl_child_ops *ops;
    const struct enl_host *host;
    enum enl_child_state state;
    bool was_up, told_to_end, gone;
    uint32_t number; /* of its host in the program */
    uint32_t alive;  /* CCEs there, as it has said last */
    uint32_t archtype;
    char command[1024];
    char by[64];   /* its program: ssh, mostly */
    char why[512]; /* why it is given up; "" : it has ended by itself */
    pid_t process; /* 0: reaped */
    int wait_status;
    struct enl_conn *conn; /* NULL: its pipe has ended */
    struct enl_said said;
    char station[200]; /* of which machine and user it is; "" until it has said so */
    struct enl_errands errands;
    uv_timer_t timer;               /* connecttimeout, hosttimeout, or the two seconds of ENDING */
    uint64_t patience_ms;           /* of ENDING */
    uint64_t heard_ms;              /* CLOCK_BOOTTIME of the last answer that it got */
    bool is_ssh;                    /* the command is ssh */
    bool announced;                 /* its key and addresses are known (introduce.h) */
    bool stops;                     /* it was told to stop its CCEs, and has not answered */
    struct enl_crash_report *crash; /* a part of one that has come; NULL: none */
    struct enl_log_copy *log;       /* its log as far as it has come (collect.h); NULL: nothing */
    uint32_t unread;                /* bytes of output that it may send more, when there is room for them */
};

/* The numbers of a daemon's own requests to a child; the others are errands. */
enum { ENL_CHILD_START_ID = 1, ENL_CHILD_STOP_ID = 2, ENL_CHILD_KILL_ID = 3 };

/* Bytes of output that a child may have under way, and what a line takes of them beside its text. */
#define ENL_WINDOW_BYTES 65536u
#define ENL_WINDOW_LINE  32u

/* What a child's starter does. */
struct enl_child_ops {
    /* `present` has come. False: the child is one machine with another daemon and not needed. */
    bool (*met)(struct enl_child *child);
    /* It is GONE: unlinks it and calls enl_child_free. `sentence`: why, "" if it was told to end. */
    void (*gone)(struct enl_child *child, const char *sentence);
    void (*stopped)(struct enl_child *child);
    /* announce, want or agreed has come. Returns NULL, or what is wrong with it. */
    const char *(*introduces)(struct enl_child *child, const struct bcri_control *message);
};

/* Starts a daemon for `host` at `address` (NULL: the host's own). Returns NULL with a sentence. */
struct enl_child *enl_child_start(struct enl_program *program, const struct enl_host *host,
                                  const char *address, uint32_t number, const struct enl_child_ops *ops,
                                  char *error, size_t error_size);
/* It has connecttimeout from now. */
void enl_child_await(struct enl_child *child);
/* A message has come from it. Returns NULL, or what is wrong with it. */
const char *enl_child_take(struct enl_child *child, const struct bcri_control *message);
void enl_child_is_up(struct enl_child *child);
/* It has said something, so its patience begins again if it is ENDING. */
void enl_child_says_more(struct enl_child *child);
/* Its pipe has ended, or brings nonsense: `why`. Its process ends too, or is made to. */
void enl_child_pipe_ended(struct enl_child *child, const char *why);
/* Sends what waits for it, if it is UP. */
void enl_child_ask(struct enl_child *child);
void enl_child_send(struct enl_child *child, const struct bcri_control *message);
/* Sends `message`, after which it is expected to end; it is cut off when it is silent for
 * `patience_ms`. A child that is not UP is cut off now. */
void enl_child_end(struct enl_child *child, const struct bcri_control *message, uint64_t patience_ms);
/* Ends it at once. `why` is the reason if that is a failure, else "". */
void enl_child_cut(struct enl_child *child, const char *why);
void enl_child_reaped(struct enl_child *child, int wait_status);
/* There is room for its output. */
void enl_child_resume(struct enl_child *child);
void enl_child_heard(struct enl_child *child);
/* Of a child that is GONE: until when (CLOCK_BOOTTIME) its daemon may go on, since only the way to it
 * may have ended; 0: it has ended. */
uint64_t enl_child_lease_ms(const struct enl_child *child);
void enl_child_free(struct enl_child *child);

uint64_t enl_boottime_ms(void);

#endif
