/* SPDX-License-Identifier: MIT */
/* object.c -- the object that this code was loaded from: libbcr.so, the program, or a plugin that libbcr.a is part of.
 *
 * What bcr_init registers is called until the process ends: at its exit, by signals, at the ends of threads, in forks.
 * So this code must stay, also where the program unloads the plugin by which it came. A handle that is never closed
 * keeps it; a link option would keep libbcr.so alone, and also where it was only looked at. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "bcri/client.h"
#include "bcri/loader.h"

/* An address here; that of a public routine may be one in the program, which calls it. */
static const char here;

static bool is_program(const Dl_info *code)
{
    Dl_info program;
    return dladdr((void *)(uintptr_t)getauxval(AT_ENTRY), &program) == 0 ||
           program.dli_fbase == code->dli_fbase;
}

bool bcri_client_own_file(char real_out[PATH_MAX])
{
    Dl_info code;
    if (dladdr(&here, &code) == 0 || code.dli_fname == NULL)
        return false;
    if (!is_program(&code))
        return realpath(code.dli_fname, real_out) != NULL;
    return getauxval(AT_SECURE) == 0 && realpath("/proc/self/exe", real_out) != NULL;
}

void bcri_client_stay_loaded(void)
{
    Dl_info code;
    if (dladdr(&here, &code) == 0 || code.dli_fname == NULL || is_program(&code))
        return;
    if (bcri_dlopen(code.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == NULL)
        bcri_client_complain("%s cannot be kept loaded, so the program must not unload it: %s",
                             code.dli_fname, dlerror());
}
