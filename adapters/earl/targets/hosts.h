/* SPDX-License-Identifier: MIT */
/* The hosts that EXEC knows. A host has its place for ever: one that has gone keeps it, and one that is added under the same name gets another. */
#ifndef EARL_HOSTS_H
#define EARL_HOSTS_H

#include <stdbool.h>

struct earl_machine {
    char *name;
    char architecture[16]; /* as bcr_hostinfo tells it; "": not known */
    int number;            /* in the program; -1: it has no daemon yet */
    int archtype;          /* 0: not known */
    bool is_given;         /* it is on the program's list: processes are started there by turns */
    bool has_gone;         /* it was taken away or lost */
};

/* Reads the program's list, which changes while it runs, and tells what has changed (earl_hosts_changed). Returns how many are on it. */
int earl_hosts_read(void);
/* The next host of the list, by turns; there is one. */
int earl_hosts_next(void);
/* The host that has the name and has not gone, on the list or not; -1: none. */
int earl_hosts_named(const char *name);
/* The k-th; NULL: there is no such one. */
const struct earl_machine *earl_hosts_get(int k);
/* Whether it is on the list, and may go while EXEC stays: it is neither EXEC's own nor the root's, whose end ends all. */
bool earl_hosts_may_go(int k);
/* The host with that number, on which a process has come that was started on `expected`, -1: not known, and that calls it by that name.
 * -1: no memory. */
int earl_hosts_place(int number, const char *name, int expected);

/* Of who uses the hosts: one has come on the list since it was first read, or has gone from it. It calls none of these. */
void earl_hosts_changed(int host, bool has_come);

#endif
