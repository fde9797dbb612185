/* SPDX-License-Identifier: MIT */
/* earl_tool.h -- tools: shared objects that are told of each operation of Earl and each match, whatever front end a program uses
 * and whatever carries its messages. Written once, a tool sees them all.
 *
 * A tool defines the object earl_tool (below), is compiled with -shared -fPIC, and named in EARL_TOOLS: paths with colons between
 * them (enl --tool PATH sets it for all processes that enl starts). It is loaded by earl_begin, before anything else, in each
 * process. Its functions are called by the program's thread, in the order of EARL_TOOLS, and may take as long as they like: what
 * they hold up waits. They call no routine of Earl or of a front end. They may be called in a signal handler (earl_then), where
 * `in_signal` says so, and call nothing then that may not be called there.
 *
 * Source: "Earl: A Tool for Portable Distributed Debugging", 3: tools stand in the generic routines, and so are portable. */
#ifndef EARL_TOOL_H
#define EARL_TOOL_H

#include "earl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an event is of: the routines of earl.h, and matches. A routine that is two (earl_send, earl_ssend) is told by is_synchronous. */
enum earl_tool_what {
    EARL_TOOL_BEGIN,
    EARL_TOOL_END,
    EARL_TOOL_SEND,
    EARL_TOOL_SENDM,
    EARL_TOOL_ISEND,
    EARL_TOOL_RECEIVE,
    EARL_TOOL_IRECEIVE,
    EARL_TOOL_PROBE,
    EARL_TOOL_CLAIM,
    EARL_TOOL_CLAIMED,
    EARL_TOOL_BUFFER_SEND,
    EARL_TOOL_BUFFER_RECEIVE,
    EARL_TOOL_PACK,
    EARL_TOOL_UNPACK,
    EARL_TOOL_TEST,
    EARL_TOOL_WAIT,
    EARL_TOOL_WAITSOME,
    EARL_TOOL_CANCEL,
    EARL_TOOL_THEN,
    EARL_TOOL_MASK,
    EARL_TOOL_PAUSE,
    EARL_TOOL_BARRIER,
    EARL_TOOL_BROADCAST,
    EARL_TOOL_REDUCE,
    EARL_TOOL_COLLECT,
    EARL_TOOL_WATCH,
    EARL_TOOL_MATCH, /* a receive, probe or claim has got its message: told once, when both have met */
    EARL_TOOL_WHATS
};

/* An event. What an operation does not have is 0, or EARL_ANY for a peer and tag. */
struct earl_tool_event {
    size_t size; /* of this struct: a later version has more behind it */
    enum earl_tool_what what;
    int is_after; /* 0: the operation begins; 1: it is over, and result is known. A match is over. */
    int is_synchronous;
    int in_signal;
    int process; /* this one */
    int peer;    /* to or from which */
    unsigned context;
    int tag;
    int count;        /* of processes, requests or items */
    int request;      /* that was asked for, or made */
    long long length; /* bytes */
    /* Of a match: the how manieth message it is of all from that process to this one, from 1 on. Before a send: which one it will
     * be of those to peer, if no other comes before it. Numbers are equal on both sides, and in each run of a program that sends the same. */
    long long number;
    int result;
    const void *site;        /* where the routine of Earl returns to; backtrace(3) leads further */
    unsigned long long nsec; /* CLOCK_MONOTONIC */
};

/* What a tool is. Functions may be NULL. */
struct earl_tool {
    size_t size; /* sizeof(struct earl_tool) */
    const char *name;
    /* The process has begun, and knows who it is. Returns what the others get as `self`. */
    void *(*begin)(int process, int processes);
    void (*event)(void *self, const struct earl_tool_event *event);
    /* A receive, probe or claim that does not name its source may have any of several messages, the oldest of each source. Returns the
     * place of the one that it gets; EARL_TOOL_LATER: none of them, it waits for others as if they had not come. A tool
     * that does not care returns 0, the oldest. The first tool that has this function is asked. Posted receives do not ask. */
    int (*choose)(void *self, const struct earl_envelope *candidates, int count);
    void (*end)(void *self);
};
enum { EARL_TOOL_LATER = -1 };

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct earl_tool earl_tool;

#ifdef __cplusplus
}
#endif

#endif
