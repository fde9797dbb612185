/* SPDX-License-Identifier: MIT */
/* What a tracer sees of a process by the system alone. `pid` is a thread of it that has not ended; the first one may
 * have. */
#ifndef ENL_PROCESS_H
#define ENL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads the memory of process `pid`; false: not all of it is there, or may be read. */
bool enl_process_memory(pid_t pid, uint64_t address, void *to, size_t bytes);
/* Whether code is mapped at `address`. */
bool enl_process_is_code(pid_t pid, uint64_t address);
/* Prints a frame as module+offset, which addr2line -e MODULE understands wherever the program was loaded. */
void enl_process_print(pid_t pid, unsigned number, uint64_t pc);
/* The last component of a path. */
const char *enl_process_base(const char *path);

#endif
