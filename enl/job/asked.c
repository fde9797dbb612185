/* SPDX-License-Identifier: MIT */
/* asked.c -- bcr_signal and bcr_end, on the daemon's side.
 *
 *   a signal for one CCE   goes to the daemon of its host, by the root's, and that one's answer back
 *   for all CCEs           goes to the root's daemon, which passes it on to all hosts, and then answers. Messages down
 *                          keep their order, so those of the caller's host have it before the answer comes there
 *   for a team             the same for the hosts of its members (teams.c); so is the end of a team
 *   the end                goes to the root's daemon, where the first that comes decides. Nobody is answered: the caller
 *                          is killed as all others are */
#include <errno.h>
#include <signal.h>

#include <bcr/error.h>

#include "host/host.h"
#include "job/job.h"
#include "wire/wire.h"

/* Returns 0 or a code. */
static int signal_here(struct enl_here *here, const uint8_t *identity, int signal)
{
    const struct enl_cce *cce = enl_cce_of(here, identity);
    if (cce == NULL)
        return bcrE_DEAD;
    int error = enl_cce_signal_itself(cce, signal);
    if (cce->life == ENL_STARTED &&
        cce->process != 0) /* bcr_start has told its ID, and it has not said hello */
        error = kill(cce->process, signal) == 0 ? 0 : errno;
    if (error != 0)
        return error == ESRCH ? bcrE_DEAD : bcrE_ARG;
    return 0;
}

const char *enl_asked_signal(struct enl_jobs *jobs, struct enl_conn *conn, const struct bcri_control *request)
{
    const uint8_t *identity = (const uint8_t *)request->target.bytes;
    const int signal = (int)request->kind;
    const bool to_all = (request->present & BCRI_HAS(target)) == 0;
    struct bcri_control whole = *request;
    const uint32_t own = jobs->self->host_number;
    if (!to_all && request->target.length != BCRI_IDENTITY_BYTES)
        return "a signal for a CCE that is none";
    const uint32_t host = to_all ? 0 : bcri_identity_host(identity);
    if (conn->kind == ENL_PARENT && host != own)
        return "a signal for a CCE of another host";
    int code = 0;
    if (conn->cce != NULL && (request->present & BCRI_HAS(team)) != 0)
        whole.team = enl_members_team(conn->cce);
    if (signal > SIGRTMAX)
        code = bcrE_ARG;
    else if (host != own) {
        code = jobs->ops->ask_host(conn, host, &whole);
        if (code == 0)
            return NULL; /* it is answered later */
    } else if (!to_all)
        code = signal_here(jobs->here, identity, signal);
    else if ((whole.present & BCRI_HAS(team)) != 0) {
        if (signal != 0)
            enl_teams_pass(jobs, whole.team,
                           &(const struct bcri_control){.type = BCRI_MSG_pass,
                                                        .present = BCRI_HAS(kind) | BCRI_HAS(team),
                                                        .kind = (uint32_t)signal,
                                                        .team = whole.team});
    } else if (signal != 0)
        enl_signals_pass(jobs, signal, false);
    enl_cce_reply(conn, request->id, code, NULL);
    return NULL;
}

void enl_asked_end(struct enl_jobs *jobs, const struct enl_conn *conn, const struct bcri_control *request)
{
    struct bcri_control whole = *request;
    if ((request->present & BCRI_HAS(team)) != 0)
        whole.team = enl_members_team(conn->cce);
    if (jobs->self->upward != NULL)
        jobs->self->upward->send(jobs->self->program, &whole);
    else if ((whole.present & BCRI_HAS(team)) != 0)
        enl_teams_pass(jobs, whole.team, &whole);
    else if (!jobs->self->is_child) /* else the parent is lost, and all CCEs here are about to be killed */
        jobs->self->ops->finish(jobs->self->program, (int)request->status, enl_cce_text(conn->cce));
}
