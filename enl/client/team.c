/* SPDX-License-Identifier: MIT */
/* team.c -- what a CCE knows of its team, and how it waits for all of it. The daemon has given bcr_init the table, the
 * identities of all members in the order of their ranks, in a file that nobody can change. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bcr/program.h>

#include "bcri/bell.h"
#include "bcri/cces.h"
#include "bcri/client.h"
#include "bcri/clock.h"
#include "bcri/enter.h"
#include "bcri/environment.h"
#include "bcri/ids.h"
#include "bcri/one_thread.h"
#include "bcri/self.h"
#include "bcri/wait.h"

int bcri_client_take_team(struct bcri_client *client, int fd, uint32_t rank)
{
    struct stat status;
    const int failed = fd < 0 ? -1 : fstat(fd, &status);
    const size_t bytes = failed == 0 ? (size_t)status.st_size : 0;
    const size_t size = bytes / BCRI_IDENTITY_BYTES;
    if (size > BCRI_CCE_MAX || rank >= size || bytes % BCRI_IDENTITY_BYTES != 0) {
        bcri_client_complain(
            "enl's welcome has no team; are this program and enl from the same installation?");
        return bcrE_ENLIST;
    }
    if (client->awaited != 0 && client->awaited != size) {
        bcri_client_complain(BCRI_AWAIT_TEAM_ENV "=%u here, but the team of member 0 has %zu members",
                             client->awaited, size);
        return bcrE_ENLIST;
    }
    const void *table = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (table == MAP_FAILED)
        return bcrE_NOMEM;
    client->team = (struct bcri_client_team){.identities = table, .size = (uint32_t)size, .rank = rank};
    return 0;
}

/* The team of this CCE; NULL: it is in none, or no CCE, as bcr_errno says. */
static const struct bcri_client_team *own_team(struct bcri_ctx *ctx)
{
    if (ctx == NULL)
        return NULL;
    const struct bcri_client *client = ctx->client;
    if (client != NULL && client->team.size != 0)
        return &client->team;
    bcri_fail(bcrE_NOTEAM);
    return NULL;
}

/* The identity of that member; NULL: bcr_errno says why there is none. */
static const uint8_t *member_of(const struct bcri_client_team *team, int rank)
{
    if (team == NULL)
        return NULL;
    const uint8_t *identity = team->identities + (size_t)rank * BCRI_IDENTITY_BYTES;
    if (rank >= 0 && (uint32_t)rank < team->size && !bcri_identity_is_none(identity))
        return identity;
    bcri_fail(rank >= 0 && (uint32_t)rank < team->size ? bcrE_DEAD : bcrE_ARG);
    return NULL;
}

int bcr_teamsize(void)
{
    BCRI_CALL;
    const struct bcri_ctx *ctx = bcri_self_or_error();
    if (ctx == NULL)
        return -1;
    const struct bcri_client *client = ctx->client;
    return client != NULL ? (int)client->team.size : 0;
}

int bcr_teamrank(void)
{
    BCRI_CALL;
    const struct bcri_client_team *team = own_team(bcri_self_or_error());
    return team != NULL ? (int)team->rank : -1;
}

bcr_cce_id bcr_teamcce(int rank)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    const uint8_t *identity = member_of(own_team(ctx), rank);
    int id;
    if (identity == NULL)
        return -1;
    const int code = bcri_cce_decode(ctx, identity, &id);
    return code == 0 ? id : bcri_fail(code);
}

int bcr_teamhost(int rank)
{
    BCRI_CALL;
    const uint8_t *identity = member_of(own_team(bcri_self_or_error()), rank);
    return identity != NULL ? (int)bcri_identity_host(identity) : -1;
}

int bcr_teamsync(int msec)
{
    BCRI_CALL;
    struct bcri_ctx *ctx = bcri_enter();
    if (own_team(ctx) == NULL)
        return -1;
    struct bcri_control request = {.type = BCRI_MSG_team_sync,
                                   .present = BCRI_HAS(size),
                                   .size = msec < 0 ? UINT64_MAX : (uint64_t)msec};
    struct bcri_client *const client = ctx->client;
    if (msec == bcr_PENDING || client->teamsync.is_begun) {
        const int code = bcri_client_go_on(client, &client->teamsync, &request, msec);
        return code == 0 ? 0 : bcri_fail(code);
    }
    struct bcri_client_call call;
    const int code = bcri_client_begin(client, &call, &request, NULL, 0);
    if (code != 0)
        return bcri_fail(code);
    call.event.note = BCRI_NOTE_TEAM;
    if (msec >= 0) /* the daemon says when the time is up; tools are told until when */
        (void)bcri_wait_event(ctx, &call.event, bcri_deadline_after(msec));
    (void)bcri_wait_event(ctx, &call.event, BCRI_DEADLINE_NEVER);
    return call.code == 0 ? 0 : bcri_fail(call.code);
}
