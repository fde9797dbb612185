/* SPDX-License-Identifier: MIT */
/* What the files of Fortran's names have for each other. Fortran's own declarations of them are in fortran/fpvm3.inc. */
#ifndef PVM_FORTRAN_H
#define PVM_FORTRAN_H

#include "pvm_private.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

typedef const int integer;

/* A string of Fortran's, without the blanks at its end, as one of C's, which the caller frees; NULL: no memory. */
char *pvmi_trimmed(const char *text, size_t length);
/* A string of C's as one of Fortran's: what is too long is cut, what is short is filled with blanks. */
void pvmi_blank_padded(char *to, size_t room, const char *from, size_t length);

#endif
