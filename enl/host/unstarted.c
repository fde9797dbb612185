/* SPDX-License-Identifier: MIT */
/* unstarted.c -- a process that was to become a CCE, and has not: what is told of it, to whom, and what it ends. A member of a
 * job, or of a team if its status is 0, may be any program, and has then not failed. */
#include "host/host.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bcri/environment.h"
#include "host/how_ended.h"
#include "host/worker.h"
#include "wire/wire.h"

void enl_cce_look_at_dead(struct enl_here *here, pid_t pid)
{
    struct enl_cce *cce;
    TAILQ_FOREACH (cce, &here->all, entry)
        if (cce->process == pid)
            break;
    if (cce == NULL || cce->life != ENL_STARTED)
        return;
    char path[64], name[16] = "";
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    cce->ran_enl = read(fd, name, sizeof name - 1) > 0 && strcmp(name, "enl\n") == 0;
    close(fd);
}

/* The enlistor's host is told. */
static void tell_host(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code)
{
    const struct bcri_control message = {.type = BCRI_MSG_unstarted,
                                         .present = BCRI_HAS(enlistor) | BCRI_HAS(ordinal) | BCRI_HAS(status),
                                         .enlistor = {(const char *)origin->identity, BCRI_IDENTITY_BYTES},
                                         .ordinal = ordinal,
                                         .status = (uint32_t)code};
    here->ops->send_to_host(here->self->program, bcri_identity_host(origin->identity), &message);
}

void enl_cce_tell_failure(struct enl_here *here, const struct enl_origin *origin, uint32_t ordinal, int code)
{
    if (bcri_identity_is_none(origin->identity))
        return;
    if (bcri_identity_host(origin->identity) != here->self->host_number) {
        tell_host(here, origin, ordinal, code);
        return;
    }
    const struct enl_cce *enlistor = enl_cce_of(here, origin->identity);
    if (enlistor == NULL || enlistor->life != ENL_ALIVE || (enlistor->flags & bcr_errors) == 0)
        return;
    struct enl_work work = {.kind = ENL_WORK_ERROR,
                            .index = enlistor->index,
                            .code = code,
                            .operation = bcr_op_enlist,
                            .ordinal = (int32_t)ordinal};
    enl_worker_add(here->worker, &work);
}

void enl_cce_fail(struct enl_cce *cce, int code, const char *format, ...)
{
    struct enl_here *here = cce->here;
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start is above */
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    enl_output_drain(cce);
    const bool running = here->self->phase == ENL_RUNNING, is_member = running && cce->team.members != NULL;
    const int status = cce->wait_status != 0 ? enl_how_status(enl_how_ended(cce, true, cce->wait_status)) : 1;
    const struct enl_outcome verdict = is_member
                                           ? here->ops->outcome_of_end(here->self->config.onfail, cce->flags,
                                                                       cce == here->root, ENL_END_ABNORMAL)
                                           : (struct enl_outcome){.says = ""};
    if (running) {
        enl_report(here->self, BCRI_LOG_ERROR, "%s did not start: %s%s%s", enl_cce_text(cce), text,
                   is_member ? "; " : "", verdict.says);
        enl_output_show_tail(cce);
        enl_cce_tell_failure(here, &cce->origin, cce->ordinal, code);
    }
    enl_cce_drop(cce);
    if (verdict.ends)
        here->self->ops->abort(here->self->program, status);
}

/* A member of a team, which may be any program, has ended well and was no CCE: with status 0, or, in a job, as it liked. */
static void finish_without_hello(struct enl_cce *cce, struct enl_how end)
{
    struct enl_here *here = cce->here;
    const bool is_root = cce == here->root;
    const struct enl_outcome verdict =
        here->ops->outcome_of_end(here->self->config.onfail, cce->flags, is_root, enl_how_kind(cce, end));
    char how[128];
    enl_output_drain(cce);
    enl_how_note(cce, end);
    enl_how_text(end, how, sizeof how);
    if (verdict.is_normal)
        bcri_log_write(&here->self->log, BCRI_LOG_INFO, "%s %s and never called bcr_init", enl_cce_text(cce),
                       how);
    else if (here->self->phase == ENL_RUNNING)
        enl_report(here->self, BCRI_LOG_ERROR, "%s %s; %s", enl_cce_text(cce), how, verdict.says);
    if (is_root)
        here->ops->root_ended(here->self->jobs, 0, false);
    enl_cce_drop(cce);
    if (verdict.ends && here->self->phase == ENL_RUNNING)
        here->self->ops->abort(here->self->program, enl_how_status(end));
}

/* A process that the daemon started has ended, no process holds its socket any more, and no hello
 * has come. */
void enl_cce_fail_without_hello(struct enl_cce *cce)
{
    struct enl_here *here = cce->here;
    struct enl_how end = enl_how_ended(cce, true, cce->wait_status);
    char how[128];
    enl_how_text(end, how, sizeof how);
    if (cce->team.members != NULL && !cce->refused && cce->misheard == NULL && !cce->hello_late &&
        (enl_how_kind(cce, end) == ENL_END_GOOD || enl_cce_is_of_job(cce))) {
        finish_without_hello(cce, end);
        return;
    }
    if (cce == here->root)
        here->ops->root_ended(here->self->jobs, enl_how_status(end) != 0 ? enl_how_status(end) : 1, true);
    if (cce->refused)
        enl_cce_fail(cce, bcrE_ENLIST, "it was refused, and then %s", how);
    else if (cce->misheard != NULL)
        enl_cce_fail(cce, bcrE_ENLIST, "what it said by bcr_init was not understood: %s; it %s",
                     cce->misheard, how);
    else if (cce->hello_late)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s while it waited in bcr_init", how);
    else if (cce->debugged)
        enl_cce_fail(cce, bcrE_ENLIST, "its debugger %s before the program had called bcr_init", how);
    else if (cce->ran_enl)
        enl_cce_fail(cce, bcrE_ENLIST,
                     "it became an enl of its own, which %s: the variable " BCRI_CONTROL_ENV
                     " did not reach bcr_init (env -i, sudo and clearenv take it away), or it is enl itself",
                     how);
    else if (end.signalled)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s before it called bcr_init", how);
    else if (end.known && end.number == 127)
        enl_cce_fail(
            cce, bcrE_ENLIST,
            "it %s before bcr_init: something was not found, and what it printed says what: a shared library "
            "(ldd lists them, LD_LIBRARY_PATH or ldconfig say where to look), a script's command, an enl",
            how);
    else if (cce->team.members != NULL)
        enl_cce_fail(cce, bcrE_ENLIST, "it %s and never called bcr_init", how);
    else if (here->self->config.wrap != NULL)
        enl_cce_fail(
            cce, bcrE_ENLIST,
            "it %s and never called bcr_init; the command before it (%s) must end by running it, and "
            "it must be a CCE",
            how, here->self->config.wrap);
    else
        enl_cce_fail(cce, bcrE_ENLIST,
                     "it %s and never called bcr_init; a program that is no CCE cannot be run by enl, start "
                     "it without",
                     how);
}

void enl_cce_handshake_closed(struct enl_cce *cce, const char *wrong)
{
    cce->misheard = wrong;
    if (enl_await_lost(cce))
        return;
    if (cce->life == ENL_STARTED && cce->process == 0)
        enl_cce_fail_without_hello(cce);
    else
        enl_cce_release(cce);
}
