/* SPDX-License-Identifier: MIT */
/* The frames of a stack, printed. */
#ifndef ENL_FRAMES_H
#define ENL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Registers in DWARF's order for this machine; the last one is the program counter. */
#if defined(__x86_64__)
enum { ENL_REGISTERS = 17, ENL_REGISTER_BP = 6, ENL_REGISTER_SP = 7, ENL_REGISTER_PC = 16 };
#else
enum { ENL_REGISTERS = 1, ENL_REGISTER_PC = 0 };
#endif

struct enl_registers {
    uint64_t at[ENL_REGISTERS];
};

/* Prepares. `pid` is any thread of the process that has not ended: of one that has, the system tells nothing. False: there is no libdw, and enl_frames_print prints the first frame only. */
bool enl_frames_open(pid_t pid);
/* Prints the frames of a stack on which nothing runs meanwhile. With `in_call`, from the call of BCR's on in
 * which it stands. */
void enl_frames_print(pid_t pid, const struct enl_registers *registers, bool in_call);
#endif
