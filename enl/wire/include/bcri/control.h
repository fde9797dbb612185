/* SPDX-License-Identifier: MIT */
/* Control messages: what a CCE and its daemon, or a command and a daemon, say to each other.
 *
 * A message is one record of an AF_UNIX SOCK_SEQPACKET socket, or a frame in a pipe between daemons
 * (frames.h): a msgpack map from short names to values, with "v" (the protocol's version) and "t" (the message's type) in it, and descriptors
 * beside it where the type says so. Every request carries an "id", and is answered by one message
 * with that id. Those with the answer "none" are not requests.
 *
 *   type          from     keys (? optional)                    descriptors     answer
 *   hello         CCE      id layout archtype flags ccename     private socket  welcome or reply
 *   enter         CCE      the same: it is taken at once        private socket  welcome or reply
 *   held          gate     (a process that waits before it becomes a program)   release
 *   welcome       daemon   id index enlistor program flags?     host segment, kill socket,
 *                          rank? random? core? bytes?           the team's table?, the agent's eventfd?
 *   segment_add   CCE      id size kind                         the segment     reply: seg?
 *   segment_again CCE      id size kind                                         reply: seg?
 *   pages_take    CCE      id index size rings                  reply: cell? rings? + descriptors
 *   pages_back    CCE      cell rings                                           none
 *   segment_fd    CCE      id seg                                               reply + descriptor
 *   segment_freed CCE      seg                                                  none
 *   fd_set        CCE      id cell                              its eventfd?    reply
 *   fd_get        CCE      id cell                                              reply + its eventfd
 *   fd_ring       CCE      cell                                                 none
 *   blocked_by    CCE      index                                                none
 *   idle          CCE      id status moves                                      none
 *   debug         CCE      count text?                                          none
 *   outdone       CCE      id size                                              reply
 *   tempdir       CCE      id                                                   reply: folder?
 *   watch         CCE      id enlistor cell generation kind                     reply
 *   publish       CCE      id text cell enlistor?                               reply
 *   find          CCE      id text size enlistor?                               reply: enlistor cell
 *   team_new      CCE      id count enlistor?                                   reply: team
 *   team_cut      CCE      team enlistor?                                       none
 *   team_sync     CCE      id size                                              reply
 *   note          CCE      text (for the log)                                   none
 *   crashed       CCE      kind code pid address context        its end: the    none
 *                          coroutines                           CCE may end
 *   enlist        CCE      id machine core count ordinal object data? archtype? turn? reply
 *                          team? rank? stride?
 *   host_name     CCE      id index                                             reply: text count host?
 *                                                                               archtype? machine?
 *   host_add      CCE      id text                                              reply
 *   host_del      CCE      id text                                              reply
 *   host_arch     CCE      id host                                              reply: archtype
 *   signal_cce    CCE      id kind target? team?                                reply
 *   finish        CCE      status team?                                         none
 *   ps            command  id index                                             row or reply
 *   kill          command  id                                                   reply, then the end
 *   audit         command  id                                                   finding ..., reply
 *   relay         command  id kind host? ordinal? text?         a stream's end   reply, then relay_end
 *   pane          command  id index                                             reply + descriptor
 *   attach        command  id ordinal object pid?                               reply + descriptor
 *
 *   row           daemon   id index ordinal pid state ccename program
 *   finding       daemon   id text
 *   relay_end     daemon   id status text?
 *   reply         daemon   id status text? count? seg? cell? rings? archtype? team? folder? host? machine?
 *
 * docs/protocol.md has what passes between daemons, and enl/README.md tells how a CCE starts. Between daemons any message may
 * have `to` or `from`: it goes to that host, or comes from it, by way of others.
 * A helper (enl/carry/proxy/) sends segment_fd, ps and way_next, which a way_state answers, and gets what can only be read; one for a debugger sends pane or attach. `index` is a record
 * of the host of the daemon that gets or sends the message, or a place in a list; a CCE that may be
 * on another host is named by its identity.
 *
 * hello goes out on the socket that a process inherited (BCRI_SOCKET) or connected (enl --join), enter on one that it
 * has connected itself; all other messages use the private socket that these brought. So two processes on one inherited
 * socket cannot take each other's answers.
 *
 * Trust. The bytes come from another process. Reading takes no memory, compares each length with
 * what is there before it uses it, and copies nothing: strings and byte strings are views into the
 * caller's buffer. Unknown keys are skipped, so later versions may add some. A message is malformed
 * if a key is given twice, of the wrong type, out of range or missing, if its type is unknown, or
 * if bytes follow the map. The receiver of a malformed message ends the connection and logs the
 * reason.
 *
 * Source: msgpack specification. */
#ifndef BCRI_CONTROL_H
#define BCRI_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bcri/record.h"

#define BCRI_CONTROL_VERSION     1u
#define BCRI_CONTROL_BYTES_MAX   8192u /* of one message */
#define BCRI_CONTROL_FDS_MAX     4u
#define BCRI_CONTROL_TEXT_MAX    1023u
#define BCRI_CONTROL_SECRET_MAX  32u  /* a key, or random bytes */
#define BCRI_ADDRESSES_BYTES_MAX 152u /* where a host can be reached: docs/protocol.md */
#define BCRI_NAME_MAX            255u /* bytes of a name that bcr_publish gives */
#define BCRI_BLOCK_BYTES_MAX \
    6144u /* of a job's standard input: as much as leaves room for what else is in a message */
#define BCRI_BIRTH_BYTES_MAX 64u /* the region that a new CCE finds in cell 0 */

/* The owner of a note in enl's ELF file: a file without it is not executed as enl
 * (enl/client/probe.c). */
#define BCRI_ENL_NOTE "BCR enl"

/* A test may add keys, more than there are yet. */
#ifdef BCRI_CONTROL_TEST_HEADER
#include BCRI_CONTROL_TEST_HEADER
#else
#define BCRI_CONTROL_TEST_KEYS(X)
#define BCRI_CONTROL_TEST_TYPES(X)
#endif

/* X(key, KIND, limit): the limit is a number's largest value, or a string's largest length. */
#define BCRI_CONTROL_KEYS(X)                    \
    X(id, U32, UINT32_MAX)                      \
    X(status, U32, 255)                         \
    X(text, STR, BCRI_CONTROL_TEXT_MAX)         \
    X(layout, U32, UINT32_MAX)                  \
    X(archtype, U32, INT32_MAX)                 \
    X(flags, U32, INT32_MAX)                    \
    X(ccename, STR, 255)                        \
    X(index, U32, BCRI_CCE_MAX)                 \
    X(enlistor, BIN, BCRI_IDENTITY_BYTES)       \
    X(program, STR, 127)                        \
    X(size, U64, UINT64_MAX)                    \
    X(kind, U32, 255)                           \
    X(isolated, U32, BCRI_CCE_MAX)              \
    X(rings, U64, BCRI_REF_MASK)                \
    X(seg, U32, BCRI_SEG_MAX - 1)               \
    X(machine, STR, 255)                        \
    X(core, I32, INT32_MAX)                     \
    X(code, I32, INT32_MAX)                     \
    X(count, U32, BCRI_CCE_MAX)                 \
    X(ordinal, U32, INT32_MAX)                  \
    X(object, STR, 4095)                        \
    X(data, BIN, BCRI_BIRTH_BYTES_MAX)          \
    X(cell, U64, BCRI_REF_MASK)                 \
    X(pid, U32, INT32_MAX)                      \
    X(state, U32, 255)                          \
    X(host, U32, BCRI_HOST_NUMBER_MAX)          \
    X(daemon, U32, 65535)                       \
    X(folder, STR, 4095)                        \
    X(mask, U32, 511)                           \
    X(bytes, BIN, 2048)                         \
    X(block, BIN, BCRI_BLOCK_BYTES_MAX)         \
    X(key, BIN, BCRI_CONTROL_SECRET_MAX)        \
    X(random, BIN, BCRI_CONTROL_SECRET_MAX)     \
    X(addresses, BIN, BCRI_ADDRESSES_BYTES_MAX) \
    X(address, U64, UINT64_MAX)                 \
    X(context, U64, UINT64_MAX)                 \
    X(coroutines, U64, UINT64_MAX)              \
    X(who, U64, UINT64_MAX)                     \
    X(moves, U64, UINT64_MAX)                   \
    X(since, U64, UINT64_MAX)                   \
    X(turn, U32, UINT32_MAX)                    \
    X(clock, U64, UINT64_MAX)                   \
    X(public, BIN, BCRI_CONTROL_SECRET_MAX)     \
    X(target, BIN, BCRI_IDENTITY_BYTES)         \
    X(to, U32, BCRI_HOST_NUMBER_MAX)            \
    X(from, U32, BCRI_HOST_NUMBER_MAX)          \
    X(generation, U32, UINT32_MAX)              \
    X(team, U32, UINT32_MAX)                    \
    X(rank, U32, BCRI_CCE_MAX - 1)              \
    X(stride, U32, BCRI_CCE_MAX)                \
    BCRI_CONTROL_TEST_KEYS(X)

/* X(type, required keys, optional keys, descriptors) */
#define BCRI_CONTROL_TYPES(X)                                                                              \
    X(hello, K(id) | K(layout) | K(archtype) | K(flags) | K(ccename), 0, 1)                                \
    X(enter, K(id) | K(layout) | K(archtype) | K(flags) | K(ccename), 0, 1)                                \
    X(held, 0, 0, 0)                                                                                       \
    X(release, 0, 0, 0)                                                                                    \
    X(welcome, K(id) | K(index) | K(enlistor) | K(program),                                                \
      K(flags) | K(rank) | K(random) | K(core) | K(bytes), 4)                                              \
    X(segment_add, K(id) | K(size) | K(kind), 0, 1)                                                        \
    X(segment_again, K(id) | K(size) | K(kind), 0, 0)                                                      \
    X(pages_take, K(id) | K(index) | K(size) | K(rings), 0, 0)                                             \
    X(pages_back, K(cell) | K(rings), 0, 0)                                                                \
    X(segment_fd, K(id) | K(seg), 0, 0)                                                                    \
    X(segment_freed, K(seg), 0, 0)                                                                         \
    X(fd_set, K(id) | K(cell), 0, 1)                                                                       \
    X(fd_get, K(id) | K(cell), 0, 0)                                                                       \
    X(fd_ring, K(cell), 0, 0)                                                                              \
    X(debug, K(count), K(text) | K(ordinal) | K(pid), 0)                                                   \
    X(freeze, 0, 0, 0)                                                                                     \
    X(outdone, K(id) | K(size), 0, 0)                                                                      \
    X(drain, K(id), 0, 0)                                                                                  \
    X(tempdir, K(id), 0, 0)                                                                                \
    X(watch, K(id) | K(enlistor) | K(cell) | K(generation) | K(kind), 0, 0)                                \
    X(publish, K(id) | K(text) | K(cell), K(enlistor), 0)                                                  \
    X(find, K(id) | K(text) | K(size), K(enlistor), 0)                                                     \
    X(left, K(enlistor), 0, 0)                                                                             \
    X(team_new, K(id) | K(count), K(enlistor), 0)                                                          \
    X(team_cut, K(team), K(enlistor), 0)                                                                   \
    X(team_sync, K(id) | K(size), 0, 0)                                                                    \
    X(member, K(team) | K(rank) | K(state),                                                                \
      K(enlistor) | K(generation) | K(kind) | K(status) | K(clock) | K(size), 0)                           \
    X(team_table, K(team) | K(size) | K(rank) | K(bytes), 0, 0)                                            \
    X(team_open, K(team), 0, 0)                                                                            \
    X(input, K(team), K(block), 0)                                                                         \
    X(input_taken, K(team) | K(size), 0, 0)                                                                \
    X(used, K(kind) | K(size), 0, 0)                                                                       \
    X(team_arrived, K(team) | K(generation), 0, 0)                                                         \
    X(team_back, K(team) | K(generation), 0, 0)                                                            \
    X(team_synced, K(team) | K(generation) | K(status), 0, 0)                                              \
    X(blocked_by, K(index), 0, 0)                                                                          \
    X(idle, K(id) | K(status) | K(moves), 0, 0)                                                            \
    X(note, K(text), 0, 0)                                                                                 \
    X(crashed, K(kind) | K(code) | K(pid) | K(address) | K(context) | K(coroutines), 0, 1)                 \
    X(enlist, K(id) | K(machine) | K(core) | K(count) | K(ordinal) | K(object),                            \
      K(data) | K(archtype) | K(enlistor) | K(turn) | K(bytes) | K(size) | K(flags) | K(team) | K(rank) |  \
          K(stride) | K(host) | K(cell) | K(text) | K(random),                                             \
      2)                                                                                                   \
    X(strings_next, K(id) | K(size), 0, 0)                                                                 \
    X(strings, K(id) | K(bytes), 0, 0)                                                                     \
    X(started, K(id) | K(bytes), K(ordinal), 0)                                                            \
    X(host_name, K(id) | K(index), 0, 0)                                                                   \
    X(host_add, K(id) | K(text), 0, 0)                                                                     \
    X(host_del, K(id) | K(text), 0, 0)                                                                     \
    X(host_arch, K(id) | K(host), 0, 0)                                                                    \
    X(signal_cce, K(id) | K(kind), K(target) | K(team), 0)                                                 \
    X(finish, K(status), K(team) | K(flags), 0)                                                            \
    X(ps, K(id) | K(index), 0, 0)                                                                          \
    X(kill, K(id), 0, 0)                                                                                   \
    X(audit, K(id), 0, 0)                                                                                  \
    X(pane, K(id) | K(index), 0, 0)                                                                        \
    X(attach, K(id) | K(ordinal) | K(object), K(pid), 0)                                                   \
    X(finding, K(id) | K(text), 0, 0)                                                                      \
    X(relay, K(id) | K(kind), K(host) | K(ordinal) | K(text), 1)                                           \
    X(relay_end, K(id) | K(status), K(text), 0)                                                            \
    X(relay_bytes, K(id) | K(bytes), 0, 0)                                                                 \
    X(relay_window, K(id) | K(size), 0, 0)                                                                 \
    X(row, K(id) | K(index) | K(ordinal) | K(pid) | K(state) | K(ccename) | K(program), 0, 0)              \
    X(host_next, K(id) | K(host), 0, 0)                                                                    \
    X(host_state, K(id) | K(host) | K(state) | K(count) | K(machine), K(text), 0)                          \
    X(way_next, K(id) | K(host), 0, 0)                                                                     \
    X(way_state, K(id) | K(host) | K(kind) | K(size), 0, 0)                                                \
    X(present, K(machine) | K(text) | K(object) | K(archtype), 0, 0)                                       \
    X(setting, K(object) | K(text), 0, 0)                                                                  \
    X(environ, K(bytes), 0, 0)                                                                             \
    X(start, K(id) | K(host) | K(daemon) | K(program) | K(key),                                            \
      K(machine) | K(folder) | K(mask) | K(bytes) | K(text) | K(public) | K(addresses) | K(random) |       \
          K(flags),                                                                                        \
      0)                                                                                                   \
    X(unstarted, K(enlistor) | K(ordinal) | K(status), 0, 0)                                               \
    X(alive, K(count), K(isolated), 0)                                                                     \
    X(asked, K(ordinal) | K(flags), 0, 0)                                                                  \
    X(pass, K(kind), K(team), 0)                                                                           \
    X(watched, K(enlistor) | K(bytes) | K(kind), 0, 0)                                                     \
    X(output, K(ordinal) | K(kind) | K(bytes), K(flags), 0)                                                \
    X(window, K(size), 0, 0)                                                                               \
    X(report, K(kind) | K(bytes), 0, 0)                                                                    \
    X(died, K(ordinal) | K(kind) | K(count) | K(object) | K(text) | K(bytes) | K(size), 0, 0)              \
    X(debugged, K(index) | K(ordinal) | K(object), 0, 0)                                                   \
    X(failed, K(status), 0, 0)                                                                             \
    X(signal, K(kind), 0, 0)                                                                               \
    X(stop, K(id), 0, 0)                                                                                   \
    X(go_on, 0, 0, 0)                                                                                      \
    X(end, 0, 0, 0)                                                                                        \
    X(beat, K(id), K(clock), 0)                                                                            \
    X(announce, K(key) | K(addresses) | K(flags), K(random), 0)                                            \
    X(want, K(host) | K(random), 0, 0)                                                                     \
    X(introduce, K(host) | K(key) | K(addresses) | K(random) | K(flags), K(machine), 0)                    \
    X(agreed, K(host) | K(random), 0, 0)                                                                   \
    X(introduced, K(host) | K(key) | K(addresses) | K(random) | K(flags), K(machine), 0)                   \
    X(lost, K(host), K(flags), 0)                                                                          \
    X(carry, K(host) | K(bytes), 0, 0)                                                                     \
    X(still, K(id) | K(status) | K(count) | K(who) | K(moves) | K(since), K(flags), 0)                     \
    X(look, K(id), 0, 0)                                                                                   \
    X(deadlock, K(kind), 0, 0)                                                                             \
    X(begin, K(host) | K(machine) | K(flags), K(text) | K(ccename) | K(object), 0)                         \
    X(cut, K(host), 0, 0)                                                                                  \
    X(said, K(host) | K(bytes), 0, 0)                                                                      \
    X(closed, K(host) | K(text), K(flags), 0)                                                              \
    X(ended, K(host) | K(code) | K(flags) | K(text), K(object), 0)                                         \
    X(reply, K(id) | K(status),                                                                            \
      K(text) | K(count) | K(seg) | K(cell) | K(rings) | K(archtype) | K(enlistor) | K(team) | K(folder) | \
          K(host) | K(machine),                                                                            \
      2)                                                                                                   \
    BCRI_CONTROL_TEST_TYPES(X)

/* The state in a row: a bcri_cce_state; or that the CCE lives and is stopped; or that this is no
 * CCE yet but a process that waits to be enlisted. */
enum { BCRI_ROW_STOPPED = 100, BCRI_ROW_WAITING };

/* The state in a host_state. FAILED: it could not be started. */
enum { BCRI_HOST_STARTING = 1, BCRI_HOST_UP, BCRI_HOST_ENDING, BCRI_HOST_LOST, BCRI_HOST_FAILED };

/* `kind` in used, and what `size` is: microseconds of processors, bytes of memory, bytes of the job's directory. */
enum bcri_used_kind { BCRI_USED_CPU = 1, BCRI_USED_MEMORY, BCRI_USED_DISK };

/* What a relay is for: which helper the daemon starts. */
enum bcri_relay_kind { BCRI_RELAY_LOOK = 1, BCRI_RELAY_DEBUG, BCRI_RELAY_STACKS };

enum bcri_control_key {
#define BCRI_CONTROL_KEY(key, kind, limit) BCRI_KEY_##key,
    BCRI_CONTROL_KEYS(BCRI_CONTROL_KEY)
#undef BCRI_CONTROL_KEY
        BCRI_KEY_COUNT
};

enum bcri_control_type {
#define BCRI_CONTROL_TYPE(type, required, optional, fds) BCRI_MSG_##type,
    BCRI_CONTROL_TYPES(BCRI_CONTROL_TYPE)
#undef BCRI_CONTROL_TYPE
        BCRI_MSG_COUNT
};

/* `kind` in output: what was printed to stdout or stderr, or a line of the log; or nothing, as the answer to the `drain` whose
 * `id` is in `ordinal`. */
enum { BCRI_OUTPUT_OUT = 1, BCRI_OUTPUT_ERR, BCRI_OUTPUT_LOG, BCRI_OUTPUT_DRAINED };

/* Of `flags` in output: the bytes begin within a line of that CCE. */
enum { BCRI_OUTPUT_GOES_ON = 1 };

/* `core` and `bytes` in welcome: the core to which the daemon has pinned the CCE, and the cpu_set_t of those that the program
 * may use there. Neither comes if it is not pinned.
 *
 * `random` in enlist and welcome: the nonce of a team whose members come by themselves, so many bytes. */
#define BCRI_NONCE_BYTES 16u

/* Of `flags` in enlist: the requester wants the identities of the CCEs; their enlistor is to be told of their ends
 * (bcr_STARTED), for which its daemon wants the identities; they are members of a job, which may be any programs. */
enum {
    BCRI_ENLIST_IDS = 1,
    BCRI_ENLIST_ENDS = 2,
    BCRI_ENLIST_JOB = 4,
    BCRI_ENLIST_READS_PIPE =
        8, /* of a job: of the member of the same rank of the team with the number before */
    BCRI_ENLIST_WRITES_PIPE = 16, /* that of the team with the number behind reads */
    BCRI_ENLIST_INPUT = 64,       /* of a job: rank 0 has the user's standard input */
    BCRI_ENLIST_SCORE = 32 /* of a job: a signal that kills one ends it, and they have the job's directory */
};

/* The state in a member: what has become of a rank of a team. NEVER: no CCE was started for it. CAME: it waits in bcr_init, or
 * before its program is executed. OVER: `kind` and `status` say how it has ended (enum bcr_how), `clock` and `size` how many microseconds of processors and KiB of memory it has used, if that is known. */
enum bcri_member_state {
    BCRI_MEMBER_STARTED = 1,
    BCRI_MEMBER_NEVER,
    BCRI_MEMBER_CAME,
    BCRI_MEMBER_OVER,
    BCRI_MEMBER_STATES
};

/* Of `flags` in finish: it ends this host alone, which is taken out of the program (bcr_hostdel). */
enum { BCRI_FINISH_ALONE = 1 };

/* Of `flags` in lost: there is no host of that number yet. */
enum { BCRI_LOST_UNKNOWN = 1 };

/* Of `flags` in start: other daemons are between the root's and this one; the root's processor does
 * AES-256-GCM (with `public`); SIGHUP is ignored. In begin: the host is `local`. In
 * closed: its pipe takes nothing more, but may bring something. In ended: the command was ssh. */
enum {
    BCRI_START_DEEP = 2,
    BCRI_START_AES = 4,
    BCRI_START_NO_HANGUP = 8,
    BCRI_BEGIN_LOCAL = 1,
    BCRI_BEGIN_PUSH = 2,
    BCRI_CLOSED_WRITE_FAILED = 1,
    BCRI_ENDED_SSH = 1
};

/* The flags of a welcome: the CCE is to say when it crashes (enl/client/crash.c); it waits longer then; it is in a team, whose
 * table comes behind the kill socket. */
enum { BCRI_WELCOME_CRASHES = 1, BCRI_WELCOME_LOCALS = 2, BCRI_WELCOME_TEAM = 4 };

struct bcri_view {
    const char *bytes; /* not NUL-terminated; a string has no NUL in it */
    uint32_t length;
};

#define BCRI_FIELD_U32 uint32_t
#define BCRI_FIELD_U64 uint64_t
#define BCRI_FIELD_I32 int32_t
#define BCRI_FIELD_STR struct bcri_view
#define BCRI_FIELD_BIN struct bcri_view

/* One message; fields whose bit is not in `present` are zero. Messages are made with designated
 * initializers, and BCRI_HAS(id) | BCRI_HAS(status) in `present`. */
struct bcri_control {
    enum bcri_control_type type;
    uint64_t present;
#define BCRI_CONTROL_FIELD(key, kind, limit) BCRI_FIELD_##kind key;
    BCRI_CONTROL_KEYS(BCRI_CONTROL_FIELD)
#undef BCRI_CONTROL_FIELD
};

#define BCRI_KEY_BIT(key) (UINT64_C(1) << (key))
#define BCRI_HAS(key)     BCRI_KEY_BIT(BCRI_KEY_##key)

_Static_assert(BCRI_KEY_COUNT <= 64, "the set of keys is a 64-bit word");

struct bcri_view bcri_view_of(const char *string);
/* Copies a view into `out` with a NUL; false (and "") if it has no room. */
bool bcri_view_copy(struct bcri_view view, char *out, size_t capacity);

const char *bcri_control_name(enum bcri_control_type type);
/* How many descriptors may come with a message of that type. */
unsigned bcri_control_fds(enum bcri_control_type type);

/* Writes `message` into `out`. Returns its length; 0 if a required key is missing, a value is over
 * its limit, or the capacity is too small (BCRI_CONTROL_BYTES_MAX always suffices). */
size_t bcri_control_encode(const struct bcri_control *message, uint8_t *out, size_t capacity);

/* Reads a message. Returns NULL, or a constant sentence: why it is malformed. On failure only `id`
 * may be set, so that the sender can be told. Views point into `bytes`. */
const char *bcri_control_decode(const uint8_t *bytes, size_t length, struct bcri_control *message_out);

#endif
