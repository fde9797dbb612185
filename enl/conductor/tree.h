/* SPDX-License-Identifier: MIT */
/* tree.h -- what others than the tree ask of it, and are told by it. */
#ifndef ENL_TREE_H
#define ENL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bcri/control.h"
#include "program.h"

struct enl_attached;
struct enl_child;

/* tree.c -- The tree of daemons, seen from the root's, which has all others as its children (child.h), whichever daemon has started
 * them (plan.h), and gives out the hosts' numbers, each of them once. A child knows its parent (parent.c), and those
 * that it starts for the root (branch.c).
 *
 * All of this is the loop's. */

/* For the root's daemon: what the list of hosts says of its own machine holds for it, too. */
void enl_tree_take_own(struct enl_program *program);

/* `request` has an enlistor; `conn` NULL: nobody waits for the answer. Takes `attached` if another daemon is asked. */
enum enl_way enl_tree_enlist(struct enl_program *program, struct enl_conn *conn,
                             const struct bcri_control *request, struct enl_attached *attached, int *code_out,
                             char *reason, size_t reason_size);

/* Passes a request for a CCE of that other host on, whose answer goes to `conn`. Returns 0, or the answer: a code. */
int enl_tree_ask(struct enl_conn *conn, uint32_t host, const struct bcri_control *request);

/* Starts the daemons of all hosts, if `starthosts` says so. */
void enl_tree_start_all(struct enl_program *program);

/* Asks the daemons of all hosts that are up to drain; whether each has answered that question, or is gone. */
void enl_tree_drain(struct enl_program *program, uint32_t number);
bool enl_tree_is_drained(const struct enl_program *program);

/* Sends a message to the daemon of host `number`, from a child by way of its parent; to nobody if
 * that host is gone. */
void enl_tree_send(struct enl_program *program, uint32_t number, const struct bcri_control *message);

/* How CCEs of host `number` represent data: its archtype, also when it is gone. 0: this daemon does not
 * know; one that is not the root's knows its own host alone. */
uint32_t enl_tree_arch(const struct enl_program *program, uint32_t number);

/* A child of this process has ended. False: it was none of the tree's. */
bool enl_tree_reaped(struct enl_program *program, pid_t pid, int wait_status);
/* The requester's connection is gone. */
void enl_tree_forget(struct enl_program *program, const struct enl_conn *conn);

/* For the root's daemon, when it has nothing of its own left: whether the others have nothing
 * either, and have ended. They are told to end if they have not been. */
bool enl_tree_over(struct enl_program *program);
/* Kills all CCEs of other hosts, whose daemons end then. Those that do not are given up in the end, with a sentence. */
void enl_tree_kill(struct enl_program *program);
/* The same for bcr_end: none is given up while its output is still on its way. */
void enl_tree_finish(struct enl_program *program, int status);
/* Gives up those that have not ended: their daemons end by themselves, but nobody waits for them. */
void enl_tree_cut(struct enl_program *program);
/* Passes a signal on to them; they have killafter to heed it. */
void enl_tree_signal(struct enl_program *program, int signal);
/* Passes a signal on to all CCEs of other hosts, and ends nothing. */
void enl_tree_pass(struct enl_program *program, int signal);
/* Stops all CCEs of other hosts, and then calls `done`: at once if there are none, else when all
 * have said so, or a second is over. */
void enl_tree_stop(struct enl_program *program, void (*done)(struct enl_program *program));
void enl_tree_go_on(struct enl_program *program);
/* stdout or stderr has room again. */
void enl_tree_resume(struct enl_program *program);
/* The loop ends. */
void enl_tree_close(struct enl_program *program);

/* states.c -- What a client is told of a program's hosts: which there are, how they are called, and whether each
 * is starting, up, about to end, lost, or could not be started. The root's daemon knows all of them, another one
 * itself. */

/* host_next, of a client: answers with the first host that has at least that number. */
const char *enl_states_ask(struct enl_conn *conn, const struct bcri_control *message);
/* A host is gone: `sentence` says why, "" if it was told to end. The last such of each entry of the
 * list of hosts is remembered. */
void enl_states_gone(const struct enl_child *child, const char *sentence);

/* host_name, of a CCE, or of a child in the name of one: answers with what is known of the host at that place of the list; of a
 * program without a list there is this one, with a slot for each processor. */
const char *enl_states_of_listed(struct enl_conn *conn, const struct bcri_control *message);

/* changes.c -- The list of hosts of a program that runs changes (bcr_hostadd, bcr_hostdel). The root's. */

/* host_add and host_del, of a CCE, or of a child in the name of one. Return NULL. */
const char *enl_changes_add(struct enl_conn *conn, const struct bcri_control *message);
const char *enl_changes_take_away(struct enl_conn *conn, const struct bcri_control *message);
/* The requester's connection is gone. */
void enl_changes_forget(const struct enl_program *program, const struct enl_conn *conn);
/* Whether somebody waits for a change. */
bool enl_changes_wait(const struct enl_program *program);

/* A host is taken out of the list: what has become of it before is told no more. */
void enl_states_forget(const struct enl_host *host);

/* parent.c -- The daemon that has started this one (enl --child), and the two pipes to it: this daemon's stdin
 * and stdout. A child daemon has no root CCE. It says what machine it is, learns from its parent
 * which program it belongs to, starts CCEs for enlistors elsewhere, and stays, with or without CCEs,
 * until its parent lets it end. When the pipe from the parent ends, or no heartbeat has been
 * answered for hosttimeout, the CCEs that are left are killed.
 *
 * What goes to the user goes to the parent: reports, and with --output what CCEs print, within a
 * window. docs/protocol.md has the messages.
 *
 * The connection is one like all others (conn.c), of kind ENL_PARENT. */

/* Takes stdin and stdout for the pipes, waits for `start`, and does what it says. Returns 0, or -1
 * with a sentence. */
int enl_parent_await(struct enl_program *program, char *error, size_t error_size);
/* Answers `start`, and reads from then on. False: it cannot be answered; a sentence was
 * reported. */
bool enl_parent_open(struct enl_program *program);
/* Passes a request of a CCE's up, and takes what is attached to it (NULL: nothing). False: the parent is gone, or there is no
 * memory. */
bool enl_parent_ask(struct enl_conn *conn, const struct bcri_control *request, struct enl_attached *attached);
/* The requester's connection is gone. */
void enl_parent_forget(const struct enl_conn *conn);
/* A message of the root's has come in the control link: see introductions.h. */
void enl_parent_control_link_came(struct enl_program *program, const uint8_t *content, uint32_t bytes);
/* Perhaps nothing waits there any more. */
void enl_parent_control_link_moved(struct enl_program *program);
/* The loop ends. */
void enl_parent_close(struct enl_program *program);

/* tunnelled.c -- Packets of links whose UDP path is silent, on their way over the tree of daemons: from this host's
 * link thread to the next daemon, and from a daemon to the next or to this host's link thread.
 *
 * They are what a network carries: nothing in them is trusted, what is in the way of others is
 * dropped, and the links send it again. All other messages between daemons overtake them. */

/* A packet of this host's for `host`. */
void enl_tunnelled_send(struct enl_program *program, uint32_t host, const void *packet, uint32_t bytes);
/* carry has come from a child, or from the parent. Returns NULL, or what is wrong with it. */
const char *enl_tunnelled_of_child(struct enl_child *child, const struct bcri_control *message);
const char *enl_tunnelled_of_parent(struct enl_program *program, const struct bcri_control *message);

/* round_robin.c -- Cores are dealt out over all hosts of one machine: each daemon has its CCEs on its cores in turn
 * (cores.c), and the root's, which all requests between hosts pass, says where the turn is. What a CCE
 * enlists on its own host the root sees only afterwards, as so many CCEs more. */

/* Whether the root's machine has other hosts. */
bool enl_round_robin_is_shared(const struct enl_program *program);
/* The number of the next core on the machine of `child`; NULL: on the root's own. */
uint32_t enl_round_robin_next(struct enl_program *program, const struct enl_child *child);

/* networks.c -- By which networks data go. */

/* Looks up the addresses of all hosts of the list on these networks, NAME[+NAME]..., of which the first that two hosts have is theirs.
 * Names are waited for. Returns 0, or -1 with a sentence. */
int enl_networks_find(struct enl_program *program, const char *networks, char *error, size_t error_size);
/* The same for a host that is added later, whose addresses must be in digits; without networks nothing happens. */
int enl_networks_add(const struct enl_program *program, struct enl_host *host, char *error,
                     size_t error_size);
/* Those of this machine, which is the root's; NULL: it has none. */
const uint8_t *enl_networks_of_root(const struct enl_program *program);

/* branch.c -- The daemons that this one, itself a child, has begun for the root: their processes and pipes, and which of them
 * leads to which host.
 *
 *      root ======== this daemon ======== a branch ======== hosts below it
 *             begin, cut -->
 *             <-- said, closed, ended
 *             to ------------------------->------------------->
 *             <------------------------- from <-----------------
 *
 * Here nothing is known of what they say: a frame that goes down is passed on to the branch that leads to its
 * host, one that comes up to the parent. What is decided about them the root decides (child.h).
 *
 * All of this is the loop's. docs/protocol.md, "Routing", has the rules. */

/* begin and cut, of the parent. Returns NULL, or what is wrong with it. */
const char *enl_branch_of_parent(struct enl_program *program, const struct bcri_control *message);
/* A message for another host has just come from the parent. */
void enl_branch_pass_down(struct enl_program *program, const struct bcri_control *message);

/* A child of this process has ended. False: it was no branch. */
bool enl_branch_reaped(struct enl_program *program, pid_t pid, int wait_status);
/* This daemon has nothing of its own left: whether all branches have ended. If the root does not end them in a
 * while they are left to themselves. */
bool enl_branches_over(struct enl_program *program);
/* The root is gone, as far as this daemon can tell: those learn it that are stopped, and would wait for it. */
void enl_branches_warn(void);
/* There is no parent any more: they find that out by themselves. */
void enl_branches_leave(void);
/* Whether there are such daemons; whether that process is one, or the way to it. */
bool enl_branches_are_left(void);
bool enl_branch_is_left(pid_t pid);
/* The loop ends. */
void enl_branches_close(void);

/* introduce.c -- Introductions: how two hosts of a program get what a link between them needs. Keys and
 * introductions go by the hosts' ways to the root and nowhere else.
 *
 *   the requester          the root                     the other
 *     |---- want -------->|------- introduce --------->|  which makes its end of the link
 *     |<-- introduced ----|<------- agreed ------------|
 *   makes its end
 *
 * So the other is ready when the requester's first packet comes. The root may be the requester or the other.
 * It introduces two hosts once at a time: a want for a pair that is being introduced is dropped. A
 * want for a host that is not there (any more) is answered with `lost`, which all hosts are sent
 * when one is gone and cannot work on any more.
 *
 * All of this is the loop's. docs/protocol.md, "Introductions", has the messages. */

/* Starts the links, and makes this daemon's keys: with the program's (NULL: makes that too), unless
 * it has them. False: a sentence says why there are none. */
bool enl_introduce_begin(struct enl_program *program, const uint8_t *program_key, char *error,
                         size_t error_size);
/* Wipes the keys. */
void enl_introduce_end(struct enl_program *program);

/* An order waits for a link to that host. What comes of it is enl_links_introduce, or
 * bcri_link_thread_lost or bcri_link_thread_unknown if there is no such host. */
void enl_introduce_want(struct enl_program *program, uint32_t host);

/* What a host is called; NULL: this daemon does not know it, or that it is gone. */
const char *enl_introduce_name(const struct enl_program *program, uint32_t host);

/* The root's. What a child says: announce, want, agreed. Returns NULL, or what is wrong with it. */
const char *enl_introduce_of_child(struct enl_child *child, const struct bcri_control *message);
/* That child is gone: all others learn it when its daemon has ended for certain, or its lease is
 * over. */
void enl_introduce_gone(struct enl_program *program, const struct enl_child *child);

/* A child's. Tells the root this host's public key and addresses. */
void enl_introduce_announce(struct enl_program *program);

/* logs/bring.c -- A host's log on its way to the root (logs/README.md): this host's side, at its daemon's end. */

/* The status of a relay_end of relay 0: this host has no log, and has told why when it began. */
enum { ENL_BRING_NO_LOG = 2 };

/* Sends the log to the root if it wants logs, and calls `done` then: when it is sent, when the root
 * wants no more of it or is gone, or when that takes too long. Nothing that is logged later is sent. */
void enl_bring_log(struct enl_carry *carry, void (*done)(struct enl_program *program));
/* relay_window or relay_end of relay 0, of the root. Returns NULL, or what is wrong with it. */
const char *enl_bring_heard(struct enl_carry *carry, const struct bcri_control *message);
/* The root cannot be reached any more. */
void enl_bring_give_up(struct enl_carry *carry);

/* logs/collect.c -- The logs of all hosts in one directory at the root (logs/README.md): the root's side. */

/* Opens logdir, if there is one. Returns 0, or -1 with a sentence. */
int enl_collect_open(struct enl_carry *carry, char *error, size_t error_size);
/* Bytes or the end of a host's log: relay_bytes and relay_end of relay 0. Returns NULL, or what is
 * wrong with them. */
const char *enl_collect_take(struct enl_child *child, const struct bcri_control *message);
/* That host is gone. Tells if its log has not come. */
void enl_collect_gone(struct enl_child *child);
/* The root's own log, which is complete now. */
void enl_collect_own(struct enl_carry *carry);
#endif
