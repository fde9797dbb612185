/* SPDX-License-Identifier: MIT */
/* What the files of this adapter share, and what the SCore adapter calls: pm_open, pm_lock, pm_unlock, pm_wait.
 *
 * BCR takes one thread at a time, so each call of BCR in a program with PM is made between pm_lock and pm_unlock. No call
 * between them waits, but that of the only thread. All that is declared here, contexts included, is read and written there, too, unless it says otherwise. */
#ifndef PM_PRIVATE_H
#define PM_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <bcr/program.h>

#include "pm.h"

/* ---- for the SCore adapter ---- */

/* Makes `count` network sets for the team of this CCE. Each member calls it once, with the same count, behind bcr_init; it
 * waits until all have. Returns the composite contexts, with NULL behind the last one; only that NULL without a team, and in one
 * of a single member. NULL instead: it has failed, and bcr_errno says why. */
pmContext **pm_open(int count);
void pm_lock(void);
void pm_unlock(void);
/* A routine of BCR that takes bcr_PENDING, such as bcr_teamsync, and who calls it: of threads that wait by the same routine each has its
 * own call, one after the other. */
struct pm_wait {
    int (*call)(int msec);
    pthread_mutex_t turn;
};
/* Waits by it; other threads have BCR meanwhile. Returns 0 or a bcr_errno. Not between pm_lock and pm_unlock. */
int pm_wait(struct pm_wait *wait);

/* ---- members and cells ---- */

enum {
    PM_MTU = 16384,
    PM_SLOTS = 16,   /* messages to one node that may lie there */
    PM_WINDOW = 500, /* that may be under way to other hosts: BCR itself takes 1,024 before a put waits */
    PM_REQUESTS = 64 /* one-sided operations that this process may have waiting for other processes */
};

/* The cells that each member has. Each is an area of its own, whose room nothing else takes. */
enum {
    PM_CELL_TABLE = 1000, /* who this process is, and what it has locked: read by others of this host */
    PM_CELL_REQUESTS,     /* one-sided operations on its memory that others cannot do themselves */
    PM_CELL_ANSWERS,      /* what came of its own ones */
    PM_CELL_MESSAGES      /* of network set k: + 2 k from this host, + 2 k + 1 from others */
};

struct pm_member {
    bcr_cce_id cce;
    bool is_near;    /* it shares this host */
    bool is_watched; /* its end comes to PM_CELL_ANSWERS */
    bool has_ended;
    int pidfd; /* of its process, once that was needed; 0: not yet */
};

/* A send region that is kept. It is in the list from the least to the most recently used. */
struct pm_buffer {
    bcr_region rgid; /* NULL: it was freed, and only slots point here */
    size_t length;   /* that the region has now */
    size_t capacity; /* that it has had at first */
    int slots;       /* that point here: more than one of a multicast */
    bool is_taken;   /* a context has it between get and send */
    struct pm_buffer *before, *behind;
};

/* A node of a network set as a destination. */
struct pm_dest {
    struct pm_member *member;
    int cell;
    unsigned next;
    struct pm_buffer *slots[PM_SLOTS];
};

struct pm_net {
    int number;
    struct pm_dest *dests; /* by node */
};

/* ---- contexts ---- */

enum pm_device { PM_COMPOSITE, PM_SHMEM, PM_AGENT_UDP };

struct pm_route {
    pmContext *member; /* NULL: no node */
    int node;
};

struct pm_context {
    struct pm_net *net; /* of a member; NULL of a composite */
    enum pm_device device;
    int number, self; /* self: -1, none yet */

    struct pm_route *routes; /* of a composite, by node */
    int route_count, route_room;
    pmContext **members;  /* of a composite, those of its routes */
    pmContext *composite; /* of a member that has nodes there */
    int member_count;
    int node_count; /* of a member there */

    struct pm_buffer *buffer; /* not NULL: locked for sending */
    struct pm_dest *dest;
    struct pm_dest **dests; /* of a multicast; else NULL, and `dest` is the only one */
    size_t length;
    int dest_count;

    unsigned turn;       /* which member is looked at first */
    bcr_region received; /* not NULL: locked for receiving */
    int writes, reads;   /* that wait for answers */
    bool is_armed;       /* between pmBeforeSelect and pmAfterSelect */
    bool send_failed, write_failed, read_failed;
};

struct pm {
    pthread_mutex_t lock;
    bool is_open;
    int self, count;
    bool has_far; /* some member is on another host */
    struct pm_member *members;
    struct pm_net *nets;
    int under_way;      /* put to other hosts since all had come there */
    bool write_ordered; /* so was a one-sided write */
    bool is_served;     /* others may send requests, and pmReceive looks for them */
    bool is_helped;     /* the helper does, too; never undone */
};
extern struct pm pm_self;

/* ---- context.c ---- */

/* The node as a destination of that context; NULL: it is none. */
struct pm_dest *pm_dest_of(pmContext *pmc, int node);
/* The receive cell of a member context. */
int pm_cell_of(const pmContext *member);
/* The member contexts that a context receives by: itself, unless it is a composite. */
int pm_members_of(pmContext *pmc, pmContext *const **members_out);
/* Whether all that was put to other hosts has come there. */
bool pm_all_arrived(void);

/* ---- debug.c ---- */

/* What each routine returns by: PM_DEBUG, and a yield after many that found nothing. Not between pm_lock and pm_unlock. */
int pm_return(const char *routine, int code);
/* Says something at a level of PM_DEBUG. */
void pm_say(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pm_debug_begin(void);

/* ---- buffers.c ---- */

void pm_buffers_begin(void);
/* Memory for a region, also if others have to be freed for it. NULL: there is none now. */
bcr_region pm_region(size_t length);
/* A buffer for all of these, which has their slots now. NULL: one of them has no free slot, or there is no memory. */
struct pm_buffer *pm_buffer_take(struct pm_dest *const *dests, int count, size_t length);
/* It was sent, or given up. */
void pm_buffer_give(struct pm_buffer *buffer);

/* ---- composite.c ---- */

int pm_add_node(pmContext *pmc, int node, pmContext *member, int member_node);
int pm_associate(pmContext *pmc, pmContext *member);
void pm_remove_nodes(pmContext *pmc);

/* ---- select.c ---- */

int pm_arm(pmContext *pmc);

/* ---- handles.c ---- */

/* What the cell PM_CELL_TABLE has: a region of this, read by processes of the same host. */
struct pm_entry {
    uint64_t base; /* handle of the first byte */
    uint64_t address, length;
};
struct pm_table {
    int64_t pid;
    uint64_t start; /* of the process, in clock ticks since boot */
    uint32_t is_helped, count;
    struct pm_entry entries[]; /* by base, upwards */
};
/* 0 or a bcr_errno: publishes what this process is, and has locked. */
int pm_table_publish(void);
/* Where `length` bytes from that handle on lie; 0: it is no handle of these entries, or too much. */
uint64_t pm_entry_find(const struct pm_entry *table, uint32_t table_count, pmAddrHandle handle,
                       size_t length);
/* The same of this process's own memory. */
uint64_t pm_address_of(pmAddrHandle handle, size_t length);

/* ---- process.c: without pm_lock ---- */

/* When a process has started; 0: it cannot be told. */
uint64_t pm_process_start(int64_t pid);
/* A descriptor of that process; -1 with errno: ESRCH, it has ended; else it cannot be had. */
int pm_process_open(int64_t pid, uint64_t start);
/* Copies between this process's memory and that of the process; 0 or an errno: EPERM, it may not; EFAULT, there is no such
 * memory; ESRCH, the process has ended. */
int pm_process_copy(int pidfd, int64_t pid, uint64_t remote, void *local, size_t length, bool is_write);
/* Copies between two places in this process, of which either may be no memory. False: one is not. */
bool pm_copy(void *to, const void *from, size_t length);
/* Before the first pm_copy: 0 or an errno. */
int pm_copy_begin(void);

/* ---- remote.c ---- */

/* Whether the system lets this process not reach others of its host: then they cannot reach it either. Not between pm_lock
 * and pm_unlock. */
bool pm_process_is_refused(void);

/* ---- requests.c ---- */

/* Has another process do a write or a read. PM_SUCCESS, ENOBUFS. Not between pm_lock and pm_unlock. */
int pm_request(pmContext *pmc, int rank, bool is_write, pmAddrHandle handle, void *local, size_t length);
/* Takes the answers that have come. Not between pm_lock and pm_unlock. */
void pm_answers_take(void);

/* ---- serve.c: not between pm_lock and pm_unlock ---- */

/* Starts the helper, if that is needed and was not done: 0 or an errno. */
int pm_serve_begin(void);
/* Carries out the requests that have come. */
void pm_serve(void);

#endif
