/* SPDX-License-Identifier: MIT */
/* What the files of PVM have for each other. A routine pvm_NAME is pvmi_NAME here where another file needs it: it returns what
 * pvm_NAME does, an error below 0, and says nothing. pvmi_told keeps the code of an error and says it on stderr, once, at the
 * border to the program. */
#ifndef PVM_PRIVATE_H
#define PVM_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <earl.h>
#include <earl_exec.h>
#include <pvm3.h>

#include "console/machine.h"

enum {
    /* Contexts of Earl's: of what this library itself sends; of groups; of ends of tasks; of hosts; of what tasks print; of ends at a halt. The context C of a program is
     * PVMI_CONTEXT + C. */
    PVMI_OWN_CONTEXT = 1,
    PVMI_GROUP_CONTEXT = 2,
    PVMI_END_CONTEXT = 3,
    PVMI_HOST_CONTEXT = 4,
    PVMI_OUTPUT_CONTEXT = 5,
    PVMI_HALT_CONTEXT = 6,
    PVMI_CONTEXT = 16,
    /* A task's tid is this + its process. A daemon's, which names a host, is that host's place + PVMI_HOSTS in the high bits. */
    PVMI_TASKS = 0x40000,
    PVMI_HOST_SHIFT = 18,
    PVMI_HOSTS = 2,
    PVMI_TASKS_MOST = 1 << PVMI_HOST_SHIFT,
    /* Contexts go up to that; Earl's own follow. */
    PVMI_CONTEXT_MOST = EARL_CONTEXTS - PVMI_CONTEXT - 1,
    /* What pvm_getminfo calls the encoding that is translated. */
    PVMI_TRANSLATED = 0x10000000
};

/* ---- errors.c ---- */

/* The result as it is; if it is below 0, the error of routine pvm_NAME, which is told as PvmAutoErr says. */
int pvmi_told(const char *name, int result);
/* PVM's code for a result of Earl's below 0; what is 0 or more as it is. A peer that has ended is no error. */
int pvmi_result(int result);

/* ---- process.c ---- */

struct pvmi_process {
    bool has_begun;
    int self, parent; /* processes; EARL_ANY: it has no parent */
    int context;      /* the current one, as programs count them */
};
extern struct pvmi_process pvmi_process;

/* 0, or PvmSysErr: there is no way into the virtual machine. */
int pvmi_begin(void);

static inline int pvmi_need(void)
{
    return pvmi_process.has_begun ? PvmOk : pvmi_begin();
}

static inline int pvmi_tid(int process)
{
    return PVMI_TASKS + process;
}

/* The process of a tid; -1: it is no task's. */
static inline int pvmi_process_of(int tid)
{
    return tid > PVMI_TASKS && tid < PVMI_TASKS + PVMI_TASKS_MOST ? tid - PVMI_TASKS : -1;
}

/* The tid of a host's daemon, and the host of such a tid; -1: it is none's. */
static inline int pvmi_dtid(int host)
{
    return (host + PVMI_HOSTS) << PVMI_HOST_SHIFT;
}

static inline int pvmi_host_of(int dtid)
{
    return dtid > 0 && (dtid & (PVMI_TASKS_MOST - 1)) == 0 ? (dtid >> PVMI_HOST_SHIFT) - PVMI_HOSTS : -1;
}

/* Variables that a spawned task has: the context that it begins in, and that it is not told of its parent. */
#define PVMI_CONTEXT_VARIABLE "PVMCTX"
#define PVMI_HIDDEN_VARIABLE  "PVM_NO_PARENT"
/* The tid that gets what it prints. */
#define PVMI_OUTPUT_VARIABLE "PVM_OUTPUT"
/* The tag, in PVMI_OWN_CONTEXT, of the message that tells spawned tasks who was spawned with them. */
enum { PVMI_SIBLINGS = 1 };

/* ---- hold.c ---- */

/* The name of the user's virtual machine that tasks from the shell enter: PvmBadParam: PVM_VMID is too long. */
int pvmi_machine_name(char *name, size_t room);
/* Enters it: EARL_OK; EARL_E_NONE: there is none; or another code. A process that is in a program stays there. */
int pvmi_enter(void);
/* Begins one that stays: PvmOk, PvmCantStart, which stderr explains. */
int pvmi_hold(void);

/* ---- lock.c ---- */

/* Waits until no other of this user's processes begins a virtual machine. A descriptor for pvmi_unlock; below 0: there is no lock. */
int pvmi_lock(void);
void pvmi_unlock(int fd);

/* ---- halt.c ---- */

/* Whether a reset of the console spares this task. */
int pvmi_spare(bool is_spared);

/* ---- cards.c ---- */

/* What a task tells of itself, in a box of EXEC's, when it begins. */
struct pvmi_card {
    int pid, signature;
    char architecture[24], program[64];
};

/* This machine's hi_dsig; and that of a machine of that name (earl_exec_machine), "": one like this. */
int pvmi_signature(void);
int pvmi_signature_of(const char *machine);
/* PVM's word for such a machine. */
void pvmi_name_architecture(const char *machine, char *name, size_t room);
void pvmi_card_own(struct pvmi_card *card);
int pvmi_card_post(void);
/* false: there is none. */
bool pvmi_card_of(int process, struct pvmi_card *card);

/* ---- machine.c ---- */

struct pvmi_hosts {
    struct pvmhostinfo *hosts;
    int count;
};

/* Makes a list of the hosts, which pvmi_hosts_free frees; after an error there is none. */
int pvmi_hosts_find(struct pvmi_hosts *list);
void pvmi_hosts_free(struct pvmi_hosts *list);

/* ---- buffers.c ---- */

/* An array that was packed to be left in place. */
struct pvmi_place {
    enum earl_type type;
    size_t size;
    const void *items;
    size_t count;
    ptrdiff_t stride;
};

/* A message buffer. */
struct pvmi_buffer {
    int id;
    int encoding;
    bool was_received;         /* its items are a message's */
    bool is_kept;              /* in order.c's list */
    earl_buffer *items;        /* NULL: of PvmDataInPlace, or one that a probe tells of */
    struct pvmi_place *places; /* of PvmDataInPlace */
    size_t place_count, place_room;
    struct pvmminfo info;
    struct pvmi_buffer *next; /* in a list of messages */
};

extern int pvmi_send_buffer, pvmi_receive_buffer; /* the active ones' IDs; 0: there is none */

/* A buffer of no items, which is not active; NULL: no memory. It has an ID, and encoding PvmDataRaw. */
struct pvmi_buffer *pvmi_buffer_new(void);
/* The buffer of an ID; NULL: there is none. */
struct pvmi_buffer *pvmi_buffer_of(int id);
void pvmi_buffer_free(struct pvmi_buffer *buffer);
/* A new one to pack into: its ID, or an error. */
int pvmi_mkbuf(int encoding);
int pvmi_initsend(int encoding);
/* The buffer of an ID that a program gives: PvmBadParam, PvmNoSuchBuf. */
int pvmi_buffer_given(int id, struct pvmi_buffer **buffer_out);
/* Bytes of the message, packed so far. */
long long pvmi_buffer_length(const struct pvmi_buffer *buffer);
/* The items in Earl's terms, to be sent or copied: *made tells whether it was made for that, and is to be freed. */
int pvmi_buffer_items(const struct pvmi_buffer *buffer, earl_buffer **items_out, bool *made_out);
/* Messages that a probe has told of, and that are over when the next one is received. */
struct pvmi_buffer *pvmi_told_of(const struct earl_envelope *envelope);
void pvmi_told_of_end(void);

/* What Earl knows of a message, for its buffer. */
void pvmi_tell(struct pvmi_buffer *buffer, const struct earl_envelope *envelope);

/* ---- pack.c ---- */

/* Earl's type of PVM_INT and its kin, and the size of an item here; false: there is none. */
bool pvmi_type(int datatype, enum earl_type *type_out, size_t *size_out);
/* The active buffer to pack into: PvmNoBuf, PvmMismatch. To unpack from: PvmNoBuf, PvmNoData. */
int pvmi_pack_into(struct pvmi_buffer **buffer_out);
int pvmi_unpack_from(struct pvmi_buffer **buffer_out);
/* Items of one type, which is none that is not there, into the active send buffer and out of the active receive buffer. */
int pvmi_pack(int datatype, const void *items, int count, int stride);
int pvmi_unpack(int datatype, void *items, int count, int stride);
/* A string of that length, of any characters. The length of the next one, its end included; its bytes follow. */
int pvmi_pack_string(const char *string, size_t length);
int pvmi_unpack_length(int *length_out);
int pvmi_unpack_text(char *sp);

/* ---- nested.c ---- */

/* A message with what is known of it, behind the items of `into`; and the next such message as a buffer of its own: its ID. */
int pvmi_nest(earl_buffer *into, const struct pvmi_buffer *from);
int pvmi_unnest(earl_buffer *from);

/* ---- receive.c ---- */

/* The time by a clock that never jumps. */
int64_t pvmi_now_ms(void);
/* Takes a message of that tid and tag, -1: any, as a buffer that is not active. msec: how long it waits; -1: without limit.
 * Returns its ID, 0 if there is none, or an error. */
int pvmi_take(int tid, int tag, int msec);
/* Makes the message of that ID, or none below 1, the active receive buffer, in place of the former one. Returns it. */
int pvmi_activate(int id);
/* The message, as a buffer, when Earl has given its items. */
struct pvmi_buffer *pvmi_message(earl_buffer *items, const struct earl_envelope *envelope);

/* ---- order.c ---- */

/* What is received, where a program chooses by a routine of its own (pvm_recvf). */
extern int (*pvmi_chooser)(int bufid, int tid, int tag);
/* Messages that were taken in for it to look at, and whether there are any. */
bool pvmi_has_kept(void);
/* Takes one out of them; false: the program is about to choose among them. */
bool pvmi_keep_no_more(struct pvmi_buffer *buffer);
/* Takes in all messages of the current context. */
int pvmi_keep_all(void);
/* Chooses among those that are kept, beginning behind *seen, which it moves. NULL: none; *code tells of an error. */
struct pvmi_buffer *pvmi_choose(int tid, int tag, struct pvmi_buffer **seen, bool takes, int *code);

/* ---- handlers.c ---- */

/* How many receives of Earl's message handlers and notices (notices.c) need. Handlers need none while one runs. */
int pvmi_handlers(void);
/* Stores them. */
void pvmi_handlers_wanted(struct earl_wanted *wanted);
/* Calls handlers for the messages that are there, and sends notices. */
int pvmi_handlers_serve(void);

/* ---- notices.c ---- */

/* How many receives notices need; storing them, of which it returns the end; and telling of what has come. */
int pvmi_notices(void);
struct earl_wanted *pvmi_notices_wanted(struct earl_wanted *wanted);
int pvmi_notices_serve(void);

/* ---- output.c ---- */

/* The process that gets what spawned tasks print; 0: none. The options PvmOutputTid and PvmSelfOutputTid, and setting the former, which
 * returns PvmOk or an error. */
int pvmi_output(void);
int pvmi_output_option(int what);
int pvmi_output_set(int tid);
/* Whether anything is printed here; the receive for that is stored, and the end returned; what has come is printed. */
bool pvmi_output_comes(void);
struct earl_wanted *pvmi_output_wanted(struct earl_wanted *wanted);
int pvmi_output_serve(void);
/* Waits until the tasks that print here have ended, unless pvm_catchout(NULL) was called. */
void pvmi_output_finish(void);

/* ---- contexts.c ---- */

/* Contexts that this task has had: 0, what it made, what it set. */
extern int pvmi_context_count;
extern int *pvmi_contexts;

/* ---- send.c ---- */

/* Sends the active send buffer to processes. */
int pvmi_send(int count, const int *processes, int tag);

/* ---- groups.c ---- */

/* The processes of a group, EARL_ANY where an instance number is free; the caller frees them. Returns how many places there are, or
 * PvmNullGroup, PvmNoGroup. */
int pvmi_members(const char *group, int **processes_out);
/* The place of a process among them; -1: it has none. */
int pvmi_place(int count, const int *processes, int process);

/* ---- descriptors.c ---- */

/* A look has found nothing: what comes now makes the descriptor of pvm_getfds readable. */
void pvmi_descriptor_arm(void);

#endif
