/* SPDX-License-Identifier: MIT */
/* Daemons: they look at records one by one, with the code that enl has, and what they tell each other is late. */
#include "deadlock_model.h"

#include <string.h>

#include "check.h"

static void root_detector_of(enum enl_verdict verdict)
{
    if (verdict == ENL_ASK)
        for (int h = 0; h < model.hosts; h++)
            tell_daemon(h, (struct news){.kind = N_ASK, .number = model.root_detector.round});
    if (verdict == ENL_DEADLOCK)
        hear_verdict();
}

static void obey(int host, enum enl_host_detector_wants wants)
{
    struct daemon *daemon = &model.daemon[host];
    const struct enl_host_detector *host_detector = &daemon->host_detector;
    switch (wants) {
    case ENL_HOST_DETECTOR_NOTHING: return;
    case ENL_HOST_DETECTOR_LOOK:
        daemon->pc = D_LOOK;
        daemon->at = 0;
        daemon->round = 0;
        return;
    case ENL_HOST_DETECTOR_ASK:
        if (model.has_agents)
            model.agent[host].question = host_detector->question;
        for (int i = 0; i < CCES_MAX; i++)
            if (model.cce[i].host == host &&
                (model.cce[i].question = model.cce[i].period != 0 ? host_detector->question : 0) != 0)
                bcri_store(&model.cce[i].record->idle.asked, host_detector->question);
        return;
    case ENL_HOST_DETECTOR_TELL:
        if (host == 0)
            root_detector_of(
                enl_root_detector_hear(&model.root_detector, 0, host_detector->round, &host_detector->last));
        else
            tell_daemon(0, (struct news){.kind = N_STILL,
                                         .number = host_detector->round,
                                         .from = host,
                                         .stillness = host_detector->last});
        return;
    }
}

static void hear(int host)
{
    struct daemon *daemon = &model.daemon[host];
    const struct news news = daemon->news[0];
    memmove(daemon->news, daemon->news + 1, --daemon->news_count * sizeof news);
    if (news.kind == N_ANSWER) {
        obey(host, enl_host_detector_answer(&daemon->host_detector, news.number, news.quiet, news.messages));
    } else if (news.kind == N_IDLE) {
        struct cce *cce = &model.cce[news.from];
        if (cce->question == 0 || cce->question != news.number)
            return;
        cce->question = 0;
        obey(host, enl_host_detector_answer(&daemon->host_detector, news.number,
                                            news.quiet && news.messages == cce->period, 0));
    } else if (news.kind == N_STILL) {
        root_detector_of(
            enl_root_detector_hear(&model.root_detector, (uint32_t)news.from, news.number, &news.stillness));
    } else {
        daemon->pc = D_LOOK;
        daemon->at = 0;
        daemon->round = news.number;
    }
}

void step_daemon(int host)
{
    struct daemon *daemon = &model.daemon[host];
    if (daemon->pc == D_IDLE) {
        if (daemon->news_count != 0 && draw(3) != 0) {
            hear(host);
        } else if (draw(4) == 0) {
            daemon->pc = D_SECOND;
            daemon->at = 0;
        }
        return;
    }
    if (daemon->at == 0) {
        daemon->seen = (struct enl_stillness){.still = true};
        daemon->lookers = 0;
    }
    while (daemon->at < CCES_MAX && model.cce[daemon->at].host != host)
        daemon->at++;
    if (daemon->at < CCES_MAX) {
        struct cce *cce = &model.cce[daemon->at++];
        const uint32_t state = bcri_load(&cce->record->id.state);
        if (daemon->pc == D_LOOK)
            cce->period = 0;
        if (state == BCRI_CCE_FREE || state == BCRI_CCE_DEAD)
            return;
        const struct enl_rest rest = enl_rest_of(cce->record);
        if (daemon->pc == D_LOOK && rest.looks) {
            cce->period = rest.moves;
            daemon->lookers++;
        }
        daemon->seen.still = daemon->seen.still && rest.rests;
        if (rest.rests)
            enl_stillness_add(&daemon->seen, &rest);
        return;
    }
    const bool second = daemon->pc == D_SECOND;
    daemon->pc = D_IDLE;
    obey(host, second ? enl_host_detector_second(&daemon->host_detector, &daemon->seen)
                      : enl_host_detector_look(&daemon->host_detector, daemon->round, &daemon->seen,
                                               model.has_agents + daemon->lookers));
    if (second && host == 0)
        root_detector_of(enl_root_detector_tick(&model.root_detector));
}
