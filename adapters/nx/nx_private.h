/* SPDX-License-Identifier: MIT */
/* What the files of NX have for each other. A routine NAME is nxi_NAME here, which returns what NAME does, 0, or -code of nx.h with a
 * sentence in nxi_sentence; NX_FORMS makes NAME and _NAME of it. No file calls a NAME: a program may have its own.
 *
 * A handler may interrupt this library at any instruction outside earl.h's routines. It runs to its end before the interrupted one goes
 * on, and none interrupts another. So what both write is either saved around a handler (nxi_info), or there is one for each of the two
 * (the free requests), or written between earl_mask(1) and earl_mask(0). */
#ifndef NX_PRIVATE_H
#define NX_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include <earl_cube.h>
#include <nx.h>

#define NX_WEAK __attribute__((weak))

/* The forms that a program calls. `arguments` are the names of the parameters. */
#define NX_UNDERSCORED(name, parameters, arguments) \
    NX_WEAK long _##name parameters                 \
    {                                               \
        return nxi_told(nxi_##name arguments);      \
    }
#define NX_FORMS(name, parameters, arguments)         \
    NX_UNDERSCORED(name, parameters, arguments)       \
    NX_WEAK long name parameters                      \
    {                                                 \
        return nxi_must(#name, nxi_##name arguments); \
    }
#define NX_VOID_FORMS(name, parameters, arguments)   \
    NX_UNDERSCORED(name, parameters, arguments)      \
    NX_WEAK void name parameters                     \
    {                                                \
        (void)nxi_must(#name, nxi_##name arguments); \
    }

enum {
    NXI_CONTEXT = 1 /* of all messages that programs send */
};

/* ---- errors.c ---- */

/* Keeps the sentence, and returns -code. */
long nxi_bad(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A result of Earl's: 0 or more as it is; else as nxi_bad. A peer that has ended is no error. */
long nxi_result(int result);
/* Of a routine that all nodes call: messages of different lengths are its mistake. */
long nxi_global_result(int result);
/* Of a receive that gave `result`, an error, with that room. */
long nxi_too_long(int result, const struct earl_envelope *envelope, size_t room);
/* -1 is a result: of msgmerge, no ID. */
long nxi_told(long result);
long nxi_must(const char *routine, long result);

/* ---- process.c ---- */

struct nxi_process {
    bool has_begun;
    bool has_cube;   /* it is not in a team: the table of process types is NULL */
    bool is_uniform; /* all have the process type of this one */
    int self, count, ptype;
    int cubes;         /* how many cubes it has been in: another has other processes */
    const int *ptypes; /* of each node */
    const int *others; /* all nodes but this: count - 1 */
};
extern struct nxi_process nxi_process;

void nxi_begin(void);
/* Makes the current cube what the program is in. */
void nxi_take_cube(void);
/* Of a host program: begins where cubes are, in place of earl_begin. NULL: this is a node's library alone. */
extern void nxi_host_begin(void) __attribute__((weak));

static inline void nxi_need(void)
{
    if (!nxi_process.has_begun)
        nxi_begin();
}

/* The 32 bits that an argument has. */
static inline int nxi_low(long argument)
{
    return (int)(uint32_t)(unsigned long)argument;
}

/* ---- places.c ---- */

/* The process of a place, or one of Earl's codes. */
int nxi_process_at(int node, int ptype);
/* *ptype is -1 if it is not known. */
void nxi_place_of(int process, int *node, int *ptype);
/* Whether a process is there, as far as that is known; -1: any. */
bool nxi_is_at(int process, int node, int ptype);
/* For routines that all nodes call; NULL: all processes. */
long nxi_group(const struct earl_group **group_out);

/* ---- arguments.c ---- */

/* A message and where it goes. */
struct nxi_letter {
    int type, node, ptype; /* node: -1, all others */
    int process;           /* unless node is -1 */
    const void *data;
    size_t length;
};

/* What a receive or probe wants, in Earl's terms. It does not move while it is in use: `wanted` may point into it. */
struct nxi_choice {
    struct earl_wanted wanted;
    uint32_t types;  /* a bit for each of 0 to 30; 0: no matter */
    int node, ptype; /* -1: any */
};

/* Both begin the process first. */
long nxi_letter(struct nxi_letter *letter, long type, const void *data, long length, long node, long ptype);
long nxi_choice(struct nxi_choice *choice, long typesel, long nodesel, long ptypesel);
/* Of a receive: its choice, buffer and length. */
long nxi_place(struct nxi_choice *choice, size_t *room_out, long typesel, const void *buf, long count,
               long nodesel, long ptypesel);
bool nxi_goes_to(const struct nxi_letter *letter, int node);

/* ---- info.c ---- */

extern long nxi_info[8];

void nxi_tell(long *info, const struct earl_envelope *envelope);
/* Fortran's INTEGER info(8). */
void nxi_tell_integers(int *integers, const long *info);

/* ---- pool.c, requests.c ---- */

enum nxi_call { NXI_PLAIN, NXI_EXTENDED, NXI_FORTRAN, NXI_FORTRAN_EXTENDED };

/* What is called when a request is done. */
struct nxi_then {
    enum nxi_call call;
    const char *name; /* of the routine that wanted it */
    void (*routine)(void);
    long argument;
};

/* An open send or receive: a message ID, or a part of one. */
struct nxi_request {
    struct nxi_request *next,
        *last; /* the next part, or of a list of free ones the next; the last part, of the first */
    int id;
    bool is_id; /* the first of its ID, which the program knows */
    bool is_send, is_done;
    bool is_handlers; /* which of two pools it is from */
    earl_request request;
    int result; /* when it is done: 0, or an error of Earl's */
    struct earl_envelope envelope;
    size_t room;               /* of a receive */
    long *info;                /* where a receive tells of its message */
    int *integers;             /* and where Fortran wants it; or NULL */
    struct nxi_choice choice;  /* of a receive */
    struct nxi_letter letter;  /* of a send */
    struct nxi_then then;      /* of the first, if it has a handler; then */
    int open;                  /* how many parts are not done */
    struct nxi_request *first; /* of each part */
};

/* NULL without memory; then nxi_bad was called. */
struct nxi_request *nxi_request_new(void);
void nxi_request_free(struct nxi_request *first);
/* The first of an ID; NULL: it is none. */
struct nxi_request *nxi_request_of(int id);
/* Adds requests for the letter to *list: one for each node that it goes to. On an error all of them go on, and are of no ID. */
long nxi_post_send(struct nxi_request **list, const struct nxi_letter *letter);
long nxi_post_receive(struct nxi_request **list, long *info, long typesel, void *buf, long count,
                      long nodesel, long ptypesel);
/* The ID of a list; a list of no requests is done at once. */
long nxi_id(struct nxi_request *list);
/* ---- handlers.c ---- */

/* Whether a handler runs. */
extern bool nxi_in_handler;

/* Gives a list of no ID back, whose operations go on. NULL: nothing. */
long nxi_leave(struct nxi_request *list);
/* hrecv, hsend and hsendrecv, whatever is called at their end. */
long nxi_trap_receive(long typesel, void *buf, long count, long nodesel, long ptypesel,
                      const struct nxi_then *then);
long nxi_trap_send(long type, const void *buf, long count, long node, long ptype,
                   const struct nxi_then *then);
long nxi_trap_exchange(long type, const void *sbuf, long scount, long node, long ptype, long typesel,
                       void *rbuf, long rcount, const struct nxi_then *then);

/* ---- for fortran.c, whose routines are forms of the same ---- */

long nxi_csend(long type, const void *buf, long count, long node, long ptype);
long nxi_isend(long type, const void *buf, long count, long node, long ptype);
long nxi_crecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);
long nxi_irecvx(long typesel, void *buf, long count, long nodesel, long ptypesel, long *info);
long nxi_csendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                   long rcount);
long nxi_isendrecv(long type, const void *sbuf, long scount, long node, long ptype, long typesel, void *rbuf,
                   long rcount);
long nxi_masktrap(long state);
long nxi_cprobex(long typesel, long nodesel, long ptypesel, long *info);
long nxi_iprobex(long typesel, long nodesel, long ptypesel, long *info);
long nxi_flushmsg(long typesel, long node, long ptype);
long nxi_msgdone(long mid);
long nxi_msgwait(long mid);
long nxi_msgcancel(long mid);
long nxi_msgignore(long mid);
long nxi_msgmerge(long mid1, long mid2);
long nxi_gsync(void);
long nxi_gcol(const void *x, long xlen, void *y, long ylen, long *ncnt);
long nxi_gcolx(const void *x, const long *xlens, void *y);
long nxi_gopf(void *x, long xlen, void *work, nx_operation *function);
long nxi_gsendx(long type, const void *x, long xlen, const long *nodes, long n);
long nxi_setptype(long ptype);
double nxi_seconds(void);
long nxi_nodedim(void);
long nxi_gray(long number);
long nxi_ginv(long code);
uint64_t nxi_ticks(void);
void nxi_flick(void);
void nxi_led(long state);

#endif
