/* SPDX-License-Identifier: MIT */
#ifndef EARL_HOSTS_H
#define EARL_HOSTS_H

/* Reads the program's list, which may change while it runs. Returns how many hosts are on it. */
int earl_hosts_read(void);
/* The next host of the list, by turns; there is one. */
int earl_hosts_next(void);
/* The host that has the name, on the list or not; -1: none. */
int earl_hosts_named(const char *name);
/* What the k-th is called; NULL: there is no such one. */
const char *earl_hosts_name(int k);
/* Where a process runs that says this of its host: "NAME\nDIRECTORY". `expected`: it was started there; -1: not known. -1: no memory. */
int earl_hosts_place(const char *said, int expected);

#endif
