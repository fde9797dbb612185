/* SPDX-License-Identifier: MIT */
#include "deadlock_model.h"

#include <string.h>

#include "check.h"

struct model model;

unsigned draw(unsigned below)
{
    model.random ^= model.random << 13;
    model.random ^= model.random >> 7;
    model.random ^= model.random << 17;
    return (unsigned)((model.random >> 11) % below);
}

void push(struct queue *queue, struct message message)
{
    CHECK(queue->count < QUEUE_MAX);
    queue->at[(queue->first + queue->count++) % QUEUE_MAX] = message;
}

struct message pop(struct queue *queue)
{
    queue->count--;
    return queue->at[queue->first++ % QUEUE_MAX];
}

int put_here(int number)
{
    struct cell *cell = &model.cell[number];
    if (cell->waiter_count == 0) {
        cell->regions++;
        return NOBODY;
    }
    const struct waiter first = cell->waiter[0];
    memmove(cell->waiter, cell->waiter + 1, --cell->waiter_count * sizeof first);
    if (first.far) {
        struct agent *agent = &model.agent[model.cce[number].host];
        agent->deadlines -= first.timed;
        push(&agent->served, (struct message){.kind = M_ANSWER,
                                              .requester = first.cce,
                                              .from = model.cce[number].host,
                                              .to = model.cce[first.cce].host});
        return CCES_MAX;
    }
    model.cce[first.cce].got = true;
    return model.cce[first.cce].flagged ? first.cce : NOBODY;
}

void ring(int target, int host)
{
    if (target == CCES_MAX)
        model.agent[host].bell++;
    else
        atomic_fetch_add(&model.cce[target].record->bell.bell, 1);
}

void tell_daemon(int host, struct news news)
{
    struct daemon *daemon = &model.daemon[host];
    CHECK(daemon->news_count < QUEUE_MAX);
    daemon->news[daemon->news_count++] = news;
}

void begin(uint64_t seed)
{
    static struct bcri_record_shm records[CCES_MAX];
    static const uint32_t numbers[HOSTS_MAX] = {0, 1, 2};
    enl_root_detector_fini(&model.root_detector);
    memset(&model, 0, sizeof model);
    model.seed = seed;
    model.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    model.hosts = 1 + (int)(seed % HOSTS_MAX);
    model.has_agents = model.hosts > 1;
    CHECK(enl_root_detector_hosts(&model.root_detector, numbers, (size_t)model.hosts));
    const unsigned length = 1 + draw(12), living = 1 + draw(CCES_MAX - 1);
    for (int i = 0; i < CCES_MAX; i++) {
        struct bcri_record_shm *record = &records[i];
        memset(&record->id, 0, sizeof record->id);
        memset(&record->bell, 0, sizeof record->bell);
        memset(&record->sleep, 0, sizeof record->sleep);
        memset(&record->idle, 0, sizeof record->idle);
        for (int b = 0; b < (int)BCRI_IDENTITY_BYTES; b++)
            record->id.identity[b] = (uint8_t)draw(256);
        model.cce[i] = (struct cce){.record = record,
                                    .host = i % HOSTS_MAX % model.hosts,
                                    .left = draw(length),
                                    .ends = draw(3) == 0};
        if ((unsigned)i < living) {
            model.cce[i].pc = THINK;
            bcri_store(&record->id.state, BCRI_CCE_ALIVE);
        }
    }
}

void step(void)
{
    const unsigned which = draw(CCES_MAX + 3 * HOSTS_MAX);
    if (which < CCES_MAX + HOSTS_MAX && !model.fair) {
        if (model.starved[which] != 0) {
            model.starved[which]--;
            return;
        }
        if (draw(60) == 0)
            model.starved[which] = draw(200);
    }
    if (which < CCES_MAX)
        step_cce(&model.cce[which]);
    else if (which >= CCES_MAX + 2 * HOSTS_MAX)
        step_network();
    else if ((which - CCES_MAX) % HOSTS_MAX < (unsigned)model.hosts && which < CCES_MAX + HOSTS_MAX)
        step_agent((int)(which - CCES_MAX));
    else if ((which - CCES_MAX) % HOSTS_MAX < (unsigned)model.hosts)
        for (unsigned steps = draw(2) == 0 ? 1 : draw(20); steps != 0; steps--)
            step_daemon((int)(which - CCES_MAX - HOSTS_MAX));
}
