/* SPDX-License-Identifier: MIT */
/*
 * error.c -- the sentence that belongs to an error code.
 *
 * It reads a table made from <bcr/error.h> and touches nothing else, in particular not bcr_errno.
 * So any thread can call it at any time, also before bcr_init and in a process that is no CCE. Two
 * codes with one number do not compile (duplicate case). */
#include <bcr.h>

const char *bcr_strerror(int code)
{
    switch (code) {
    case bcrE_OK: return "no error";
#define SENTENCE(name, number, sentence) \
    case number: return sentence;
        BCR_ERROR_MAP(SENTENCE)
#undef SENTENCE
    default: return "not a BCR error code; look for a value that did not come from bcr_errno or bcr_rgerror";
    }
}
