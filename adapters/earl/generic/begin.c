/* SPDX-License-Identifier: MIT */
/* begin.c -- Generic_LEXEC, Generic_FirstCall, Generic_LastCall: who this process is. */
#include <stdlib.h>
#include <string.h>

#include "generic.h"

struct generic earl_generic = {.instance = EARL_ANY};

int earl_generic_need(void)
{
    return earl_generic.has_begun ? EARL_OK : EARL_E_STATE;
}

void earl_generic_must(const char *routine, int code)
{
    if (code < 0)
        earl_fail(routine, "%s", earl_strerror(code));
}

/* With EXEC, or without; once one has begun it stays. */
static int begin(bool with_exec)
{
    (void)Generic_clock(); /* it begins here */
    const int code = with_exec ? earl_exec_begin("earl") : earl_begin("earl");
    if (code != EARL_OK)
        return code;
    earl_generic.self = earl_process();
    earl_generic.count = earl_processes();
    earl_generic.is_team = earl_generic.count != 0;
    return with_exec && earl_generic.is_team ? EARL_E_STATE : EARL_OK;
}

int Generic_LEXEC(const char *file, const char *arch, long node, long pid)
{
    (void)arch;
    (void)node;
    (void)pid;
    if (generic_has_name(file) && setenv("EARL_EXEC", file, 1) != 0)
        return EARL_E_MEMORY;
    return begin(true);
}

/* One that was started for a component is in it already. */
static int join(const char *component)
{
    const int place = earl_exec_join(component);
    return place == EARL_E_BUSY ? earl_generic_instance(component, earl_generic.self) : place;
}

int Generic_FirstCall(const char *component, long *numproc, long *me, long *host)
{
    const bool has_name = generic_has_name(component);
    if (has_name && strlen(component) >= EARL_COMPONENT)
        return EARL_E_ARG;
    if (earl_generic.has_begun && earl_generic.component[0] != '\0')
        return EARL_E_BUSY;
    const int code = begin(has_name);
    if (code != EARL_OK)
        return code;
    if (has_name) {
        const int instance = join(component);
        if (instance < 0)
            return instance;
        strcpy(earl_generic.component, component);
        earl_generic.instance = instance;
        earl_generic_names_anew();
    }
    (void)earl_words("type", "process");
    earl_generic.has_begun = true;
    if (numproc != NULL)
        *numproc = Generic_cubesize();
    if (me != NULL)
        *me = Generic_mynode();
    if (host != NULL)
        *host = Generic_myhost();
    return has_name ? earl_generic.instance : (int)Generic_mypid();
}

void Generic_LastCall(int release)
{
    struct earl_cube cube;
    earl_generic_must("Generic_LastCall", earl_generic_need());
    if (release != 0 && !earl_generic.is_team && earl_generic_cube(&cube) == 1 &&
        cube.host == earl_generic.self)
        earl_generic_must("Generic_LastCall", earl_cube_drop(NULL));
    if (earl_generic.component[0] != '\0') {
        const int code = earl_exec_leave(earl_generic.component);
        earl_generic_must("Generic_LastCall", code == EARL_E_NONE ? EARL_OK : code);
    }
    earl_buffer_free(earl_generic.sending);
    earl_buffer_free(earl_generic.received);
    earl_generic.sending = earl_generic.received = NULL;
    earl_generic.component[0] = '\0';
    earl_generic.instance = EARL_ANY;
    earl_generic.has_begun = earl_generic.has_last = false;
}
