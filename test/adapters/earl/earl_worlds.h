/* SPDX-License-Identifier: MIT */
/* What the files of earl_worlds share. */
#ifndef EARL_WORLDS_H
#define EARL_WORLDS_H

#include <earl_exec.h>

#include "earl_members.h"

extern const char *own_file;

void begin(void);
/* Starts this program with that argument, so many times. */
void start(const char *what, int many, int *processes);

/* ---- worlds_cubes.c ---- */
void node(void);
void cubes(void);
void loads(void);
void tied(void);
void attaches(void);
void loads_one(void);
void guests(void);
void attached(void);
void drops(void);
void dropped(void);

/* ---- worlds_hosts.c ---- */
void daemon_of(void);
void hosts_change(void);
void stays(void);
void placed(void);

/* ---- worlds_output.c ---- */
void prints(void);
void prints_and_stays(void);
void output(void);

#endif
