/* SPDX-License-Identifier: MIT */
/* requests.c -- one-sided operations that another process carries out: asking, and taking the answers. */
#include "pm_private.h"
#include "request.h"

/* Those that wait for an answer. A number is never used again, so that no answer is taken for another's. */
static struct request {
    uint64_t number; /* 0: free */
    pmContext *pmc;
    int rank;
    bool is_write;
    void *local;
    size_t length;
} requests[PM_REQUESTS];
static uint64_t last_number;

static struct request *free_request(void)
{
    for (int i = 0; i < PM_REQUESTS; i++)
        if (requests[i].number == 0)
            return &requests[i];
    return NULL;
}

/* The end of the other process is an answer, too. */
static bool watch(struct pm_member *member)
{
    if (!member->is_watched)
        member->is_watched = bcr_watch(member->cce, PM_CELL_ANSWERS) == 0;
    return member->is_watched;
}

/* It is over. */
static void finish(struct request *request, bool is_done)
{
    pmContext *pmc = request->pmc;
    if (request->is_write) {
        pmc->writes--;
        pmc->write_failed = pmc->write_failed || !is_done;
    } else {
        pmc->reads--;
        pmc->read_failed = pmc->read_failed || !is_done;
    }
    request->number = 0;
}

/* Puts the request into its cell. PM_SUCCESS also if the other has ended: then it has failed. */
static int order(struct request *request, bcr_region rgid)
{
    struct pm_member *member = &pm_self.members[request->rank];
    if (member->has_ended || bcr_put_within(1, rgid, member->cce, PM_CELL_REQUESTS, bcr_FREE,
                                            member->is_near ? 0 : bcr_BLOCK) != 0) {
        const bool is_full = !member->has_ended && bcr_errno == bcrE_FULL;
        (void)bcr_rgfree(rgid);
        finish(request, is_full);
        return is_full ? ENOBUFS : PM_SUCCESS;
    }
    if (!member->is_near) {
        pm_self.under_way++;
        pm_self.write_ordered = true;
    }
    return PM_SUCCESS;
}

int pm_request(pmContext *pmc, int rank, bool is_write, pmAddrHandle handle, void *local, size_t length)
{
    struct pm_member *member = &pm_self.members[rank];
    pm_lock();
    struct request *request = free_request();
    const bool has_room =
        request != NULL && (member->is_near || pm_self.under_way < PM_WINDOW || pm_all_arrived());
    bcr_region rgid = has_room && watch(member) ? pm_region(PM_REQUEST_BYTES + length) : NULL;
    if (rgid == NULL) {
        pm_unlock();
        pm_answers_take(); /* which makes room */
        return ENOBUFS;
    }
    const uint64_t number = ++last_number;
    *request = (struct request){number, pmc, rank, is_write, local, length};
    if (is_write)
        pmc->writes++;
    else
        pmc->reads++;
    pm_field_set(*rgid, PM_FIELD_KIND, is_write ? PM_KIND_WRITE : PM_KIND_READ);
    pm_field_set(*rgid, PM_FIELD_RANK, (uint64_t)pm_self.self);
    pm_field_set(*rgid, PM_FIELD_NUMBER, request->number);
    pm_field_set(*rgid, PM_FIELD_HANDLE, handle);
    pm_field_set(*rgid, PM_FIELD_LENGTH, length);
    pm_field_set(*rgid, PM_FIELD_DONE, 0);
    pm_unlock();
    const bool is_copied = !is_write || pm_copy((char *)*rgid + PM_REQUEST_BYTES, local, length);
    int code = PM_SUCCESS;
    pm_lock();
    if (is_copied && request->number == number) {
        code = order(request, rgid);
    } else { /* the other process has ended meanwhile, or the caller's own memory is there no more */
        (void)bcr_rgfree(rgid);
        if (request->number == number)
            finish(request, false);
    }
    pm_unlock();
    return code;
}

/* ---- answers ---- */

/* A process has ended: nothing that it was asked is answered any more. */
static void end_all(bcr_region rgid)
{
    int told[5] = {0};
    if (bcr_copyfm(bcrT_1END, 1, rgid, 0, told, sizeof told) < 0)
        return;
    for (int i = 0; i < pm_self.count; i++)
        if (pm_self.members[i].cce == told[0])
            pm_self.members[i].has_ended = true;
    for (int i = 0; i < PM_REQUESTS; i++)
        if (requests[i].number != 0 && pm_self.members[requests[i].rank].has_ended)
            finish(&requests[i], false);
}

static struct request *request_of(const void *answer, size_t bytes)
{
    if (bytes < PM_REQUEST_BYTES || pm_field_get(answer, PM_FIELD_NUMBER) == 0)
        return NULL;
    for (int i = 0; i < PM_REQUESTS; i++)
        if (requests[i].number == pm_field_get(answer, PM_FIELD_NUMBER))
            return &requests[i];
    return NULL;
}

static void take_answer(bcr_region rgid)
{
    const size_t bytes = (size_t)bcr_rglen(rgid, NULL);
    struct request *request = request_of(*rgid, bytes);
    bool is_done = request != NULL && pm_field_get(*rgid, PM_FIELD_DONE) == 1;
    if (is_done && !request->is_write) {
        void *local = request->local;
        const size_t length = request->length;
        const uint64_t number = request->number;
        pm_unlock();
        is_done = bytes - PM_REQUEST_BYTES >= length &&
                  pm_copy(local, (const char *)*rgid + PM_REQUEST_BYTES, length);
        pm_lock();
        if (request->number != number) /* the other process has ended meanwhile */
            return;
    }
    if (request != NULL)
        finish(request, is_done);
}

void pm_answers_take(void)
{
    pm_lock();
    bcr_region rgid;
    while (last_number != 0 && (rgid = bcr_deq(bcr_cce, PM_CELL_ANSWERS, 0)) != NULL) {
        if (bcr_rgkind(rgid) == bcr_END)
            end_all(rgid);
        else if (bcr_rgkind(rgid) == bcr_DATA)
            take_answer(rgid);
        (void)bcr_rgfree(rgid);
    }
    pm_unlock();
}
