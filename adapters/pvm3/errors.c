/* SPDX-License-Identifier: MIT */
/* errors.c -- codes and sentences, and the options, of which one says what becomes of an error. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "pvm_private.h"

/* Names of PVM's, which programs declare themselves. */
extern char *pvm_errlist[];
extern int pvm_nerr;

int pvm_errno;

char *pvm_errlist[] = {
    "Success",
    "Unknown error",
    "Bad parameter",
    "Parameters do not match",
    "Value too large",
    "End of buffer",
    "No such host",
    "No such file",
    "Permission denied",
    "Unknown error",
    "No memory",
    "Unknown error",
    "Message can't be decoded",
    "Unknown error",
    "No way into the virtual machine",
    "No current buffer",
    "No such buffer",
    "Null group name",
    "Already in group",
    "No such group",
    "Not in group",
    "No such instance",
    "Host failed",
    "No parent task",
    "Not implemented",
    "A daemon has failed",
    "Version mismatch",
    "Out of resources",
    "Duplicate host",
    "Can't start a daemon",
    "Already in progress",
    "No such task",
    "Not found",
    "Already exists",
    "Not on the first host",
    "The parent is not told",
    "The host's address is the loopback",
};
int pvm_nerr = sizeof pvm_errlist / sizeof pvm_errlist[0];

/* ---- options ---- */

static struct {
    int least, most, value;
} options[] = {
    [PvmRoute] = {PvmDontRoute, PvmRouteDirect, PvmAllowDirect},
    [PvmDebugMask] = {INT_MIN, INT_MAX, 0},
    [PvmAutoErr] = {0, 3, 1},
    [PvmOutputTid] = {0, INT_MAX, 0},
    [PvmOutputCode] = {0, INT_MAX, 0},
    [PvmTraceTid] = {0, 0, 0},
    [PvmTraceCode] = {0, INT_MAX, 0},
    [PvmTraceBuffer] = {0, INT_MAX, 0},
    [PvmTraceOptions] = {PvmTraceFull, PvmTraceCount, PvmTraceFull},
    [PvmFragSize] = {1, INT_MAX, 4080},
    [PvmResvTids] = {0, 1, 0},
    [PvmSelfOutputTid] = {0, 0, 0},
    [PvmSelfOutputCode] = {0, INT_MAX, 0},
    [PvmSelfTraceTid] = {0, 0, 0},
    [PvmSelfTraceCode] = {0, INT_MAX, 0},
    [PvmSelfTraceBuffer] = {0, INT_MAX, 0},
    [PvmSelfTraceOptions] = {PvmTraceFull, PvmTraceCount, PvmTraceFull},
    [PvmShowTids] = {0, INT_MAX, 1},
    [PvmPollType] = {PvmPollConstant, PvmPollSleep, PvmPollSleep},
    [PvmPollTime] = {0, INT_MAX, 0},
    [PvmOutputContext] = {0, INT_MAX, 0},
    [PvmTraceContext] = {0, INT_MAX, 0},
    [PvmSelfOutputContext] = {0, INT_MAX, 0},
    [PvmSelfTraceContext] = {0, INT_MAX, 0},
    [PvmNoReset] = {0, 1, 0},
};
enum { OPTIONS = sizeof options / sizeof options[0] };

static bool is_destination(int what)
{
    return what == PvmTraceTid || what == PvmSelfOutputTid || what == PvmSelfTraceTid;
}

static int value_of(int what)
{
    return what == PvmOutputTid || what == PvmSelfOutputTid ? pvmi_output_option(what) : options[what].value;
}

static int set_option(int what, int value)
{
    if (what < 1 || what >= OPTIONS)
        return PvmBadParam;
    const int before = value_of(what);
    if (is_destination(what) && value > 0 && value != before)
        return PvmNotImpl;
    if (what == PvmOutputTid) {
        const int code = pvmi_output_set(value);
        return code < 0 ? code : before;
    }
    if (what == PvmNoReset && (value == 0 || value == 1) && value != before) {
        const int code = pvmi_need() < 0 ? PvmSysErr : pvmi_spare(value != 0);
        if (code < 0)
            return code;
    }
    if (value < options[what].least || (value > options[what].most && value != before))
        return PvmBadParam;
    options[what].value = value;
    return before;
}

int pvm_setopt(int what, int val)
{
    return pvmi_told("setopt", set_option(what, val));
}

int pvm_getopt(int what)
{
    return pvmi_told("getopt", what < 1 || what >= OPTIONS ? PvmBadParam : value_of(what));
}

/* ---- errors ---- */

static const char *text_of(int code)
{
    return code > 0 || code <= -pvm_nerr ? "Unknown error" : pvm_errlist[-code];
}

/* The task, as PVM names it, and what failed. */
static void say(const char *what, int code)
{
    if (pvmi_process.has_begun)
        fprintf(stderr, "libpvm [t%x]: %s: %s\n", (unsigned)pvmi_tid(pvmi_process.self), what, text_of(code));
    else
        fprintf(stderr, "libpvm: %s: %s\n", what, text_of(code));
}

int pvmi_told(const char *name, int result)
{
    char what[64];
    if (result >= 0)
        return result;
    pvm_errno = result;
    const int how = options[PvmAutoErr].value;
    if (how == 0)
        return result;
    snprintf(what, sizeof what, "pvm_%s()", name);
    say(what, result);
    if (how == 2)
        exit(1);
    if (how == 3)
        abort();
    return result;
}

int pvmi_result(int result)
{
    switch (result) {
    case EARL_E_ENDED: return PvmOk;
    case EARL_E_ARG:
    case EARL_E_PROCESS: return PvmBadParam;
    case EARL_E_MEMORY: return PvmNoMem;
    case EARL_E_END: return PvmNoData;
    case EARL_E_RANGE: return PvmOverflow;
    default: return result >= 0 ? result : PvmSysErr;
    }
}

int pvm_perror(const char *msg)
{
    say(msg == NULL ? "pvm" : msg, pvm_errno);
    return PvmOk;
}

char *pvm_strerror(void)
{
    return (char *)(uintptr_t)text_of(pvm_errno);
}

char *pvm_version(void)
{
    static char version[] = PVM_VER;
    return version;
}

/* ---- what does not exist here ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): it would get answers */
int pvm_tickle(int narg, const int *argp, int *nresp, int *resp)
{
    (void)resp;
    if (narg < 1 || narg > 10 || argp == NULL)
        return pvmi_told("tickle", PvmBadParam);
    if (nresp != NULL)
        *nresp = 0;
    return PvmOk;
}

int pvm_reg_hoster(void)
{
    return pvmi_told("reg_hoster", PvmNotImpl);
}

int pvm_reg_tasker(void)
{
    return pvmi_told("reg_tasker", PvmNotImpl);
}

int pvm_reg_rm(struct pvmhostinfo **hip)
{
    (void)hip;
    return pvmi_told("reg_rm", PvmNotImpl);
}

int pvm_reg_tracer(int tid, int code, int ctx, int outtid, const char *tmask, int tbuf, int topt)
{
    (void)tid, (void)code, (void)ctx, (void)outtid, (void)tmask, (void)tbuf, (void)topt;
    return pvmi_told("reg_tracer", PvmNotImpl);
}
