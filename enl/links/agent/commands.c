/* SPDX-License-Identifier: MIT */
/* commands.c -- what other threads want of the link thread, and what it tells them: commands and news, which need memory,
 * and numbers, which need none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bcri/bell.h"
#include "bcri/clock.h"

#include "links/agent/thread_private.h"

enum { NOTES_MAX = 64 }; /* a second */

void bcri_thread_ring(struct bcri_link_thread *thread)
{
    bcri_bell_ring(thread->config.ctx, thread->config.ctx->record);
}

/* NULL: there was no memory for it. */
static bool send_command(struct bcri_link_thread *thread, struct command *command)
{
    if (command == NULL)
        return false;
    enl_mailbox_add(&thread->box[COMMANDS], &command->mail);
    bcri_thread_ring(thread);
    return true;
}

bool bcri_link_thread_introduce(struct bcri_link_thread *thread,
                                const struct bcri_link_introduction *introduction)
{
    struct introduce_command *command = bcri_secret_new(sizeof *command);
    if (command != NULL) {
        command->command = (struct command){.what = INTRODUCE, .number = introduction->host};
        command->introduction = *introduction;
    }
    return send_command(thread, (struct command *)command);
}

struct parcel *bcri_parcel_new(uint32_t host, uint32_t row, const void *content, uint32_t bytes)
{
    struct parcel *parcel = malloc(sizeof *parcel + bytes);
    if (parcel == NULL)
        return NULL;
    *parcel = (struct parcel){.command = {.what = LANE, .number = host}, .row = row, .bytes = bytes};
    if (content != NULL)
        memcpy(parcel->content, content, bytes);
    return parcel;
}

void bcri_lane_gone(struct bcri_link_thread *thread, struct parcel *parcel)
{
    const uint32_t counted = parcel->is_passing ? 0 : parcel->bytes;
    atomic_fetch_sub(&thread->lane_bytes, counted);
    const uint32_t before = atomic_fetch_sub(&thread->lane_waits[parcel->command.number], counted);
    if (counted != 0 && before == counted && atomic_load(&thread->tells_empty))
        thread->config.told(thread->config.owner);
    free(parcel);
}

bool bcri_link_thread_lane_send(struct bcri_link_thread *thread, uint32_t host, unsigned row,
                                const void *content, uint32_t bytes)
{
    const bool fits = bytes <= BCRI_LANE_BYTES_MAX && host <= BCRI_HOST_NUMBER_MAX &&
                      atomic_load(&thread->lane_waits[host]) <= BCRI_LANE_WAITS_MAX - bytes;
    const bool is_passing = (row & BCRI_LANE_PASSING) != 0;
    struct parcel *parcel = fits ? bcri_parcel_new(host, row & ~BCRI_LANE_PASSING, content, bytes) : NULL;
    if (parcel != NULL && is_passing)
        parcel->is_passing = true;
    else if (parcel != NULL) {
        atomic_fetch_add(&thread->lane_bytes, bytes);
        atomic_fetch_add(&thread->lane_waits[host], bytes);
    }
    return send_command(thread, (struct command *)parcel);
}

void bcri_link_thread_lane_tell_empty(struct bcri_link_thread *thread)
{
    atomic_store(&thread->tells_empty, true);
}

bool bcri_link_thread_lane_mark(struct bcri_link_thread *thread, uint32_t host)
{
    return bcri_link_thread_lane_send(thread, host, 0, NULL, 0);
}

/* ---- numbers ---- */

static uint64_t number_bit(uint32_t number)
{
    return UINT64_C(1) << number % NUMBERS_BITS;
}

void bcri_numbers_add(struct numbers *numbers, uint32_t number)
{
    uint64_t *word = &numbers->words[number / NUMBERS_BITS];
    numbers->count += (*word & number_bit(number)) == 0;
    *word |= number_bit(number);
}

static bool remove_number(struct numbers *numbers, uint32_t number)
{
    uint64_t *word = &numbers->words[number / NUMBERS_BITS];
    const bool was_there = (*word & number_bit(number)) != 0;
    numbers->count -= was_there;
    *word &= ~number_bit(number);
    return was_there;
}

bool bcri_numbers_take(struct numbers *numbers, uint32_t *number_out)
{
    uint32_t at = 0;
    if (numbers->count == 0)
        return false;
    while (numbers->words[at] == 0)
        at++;
    *number_out = at * NUMBERS_BITS + (uint32_t)__builtin_ctzll(numbers->words[at]);
    return remove_number(numbers, *number_out);
}

static void tell_number(struct bcri_link_thread *thread, enum told_number what, uint32_t number)
{
    if (thread == NULL)
        return;
    pthread_mutex_lock(&thread->mutex);
    bcri_numbers_add(&thread->told[what], number);
    pthread_mutex_unlock(&thread->mutex);
    if (what > ENDED)
        thread->config.told(thread->config.owner);
    else
        bcri_thread_ring(thread);
}

void bcri_link_thread_lost(struct bcri_link_thread *thread, uint32_t host)
{
    tell_number(thread, LOST, host);
}

void bcri_link_thread_unknown(struct bcri_link_thread *thread, uint32_t host)
{
    tell_number(thread, UNKNOWN, host);
}

bool bcri_link_thread_forget(struct bcri_link_thread *thread, uint32_t index)
{
    pthread_mutex_lock(&thread->mutex);
    const bool had_outbox = remove_number(&thread->has_outbox, index);
    pthread_mutex_unlock(&thread->mutex);
    if (had_outbox)
        tell_number(thread, ENDED, index);
    return had_outbox;
}

static void forgotten(void *owner, uint32_t index)
{
    tell_number(owner, FORGOTTEN, index);
}

void bcri_thread_wants_link(void *owner, uint32_t host)
{
    tell_number(owner, WANTED, host);
}

/* ---- what needs neither ---- */

void bcri_link_thread_quiet(struct bcri_link_thread *thread, uint32_t question)
{
    atomic_store(&thread->quiet, question);
    bcri_thread_ring(thread);
}

void bcri_link_thread_lines_halt(struct bcri_link_thread *thread)
{
    atomic_store(&thread->halts_lines, true);
    bcri_thread_ring(thread);
}

void bcri_link_thread_lease(struct bcri_link_thread *thread, uint64_t until_ns)
{
    atomic_store_explicit(&thread->lease_ns, until_ns, memory_order_release);
    bcri_thread_ring(thread); /* it may rest because the old one was over */
}

bool bcri_thread_lease_is_over(const struct bcri_link_thread *thread)
{
    const uint64_t until_ns = atomic_load_explicit(&thread->lease_ns, memory_order_acquire);
    struct timespec now;
    if (until_ns == BCRI_DEADLINE_NEVER)
        return false;
    clock_gettime(CLOCK_BOOTTIME, &now); /* it counts while the machine sleeps, too */
    return (uint64_t)now.tv_sec * BCRI_NS_PER_S + (uint64_t)now.tv_nsec >= until_ns;
}

bool bcri_link_thread_outbox(struct bcri_link_thread *thread, uint32_t index, bcri_ref outbox)
{
    struct outbox_command *command = malloc(sizeof *command);
    if (command != NULL)
        *command = (struct outbox_command){{.what = OUTBOX, .number = index}, outbox};
    pthread_mutex_lock(&thread->mutex);
    bcri_numbers_add(&thread->has_outbox, index);
    pthread_mutex_unlock(&thread->mutex);
    return send_command(thread, (struct command *)command);
}

bool bcri_link_thread_notice(struct bcri_link_thread *thread, const struct bcri_notice *notice)
{
    struct notice_command *command = malloc(sizeof *command);
    if (command != NULL)
        *command = (struct notice_command){{.what = NOTICE}, *notice};
    return send_command(thread, (struct command *)command);
}

/* What tells of its end is made now. */
bool bcri_link_thread_lines(struct bcri_link_thread *thread, struct bcri_lines *lines)
{
    struct lines_command *command = malloc(sizeof *command);
    struct news *news = malloc(sizeof *news);
    if (command != NULL && news != NULL) {
        news->news = (struct bcri_link_news){.told = BCRI_TOLD_PRINTED, .lines = lines};
        lines->news = news;
        *command = (struct lines_command){{.what = LINES}, lines};
        return send_command(thread, &command->command);
    }
    free(command);
    free(news);
    return false;
}

void bcri_link_thread_grown(struct bcri_link_thread *thread, const struct bcri_heap_piece *piece,
                            bool reserved)
{
    pthread_mutex_lock(&thread->mutex);
    thread->grown = (struct grown){.there = true, .reserved = reserved, .piece = *piece};
    pthread_mutex_unlock(&thread->mutex);
    bcri_thread_ring(thread);
}

/* ---- news ---- */

bool bcri_thread_tell(struct bcri_link_thread *thread, const struct bcri_link_news *what)
{
    struct news *news = malloc(sizeof *news);
    if (news == NULL)
        return false;
    news->news = *what;
    enl_mailbox_add(&thread->box[NEWS], &news->mail);
    thread->config.told(thread->config.owner);
    return true;
}

bool bcri_link_thread_take(struct bcri_link_thread *thread, struct bcri_link_news *news_out)
{
    uint32_t number;
    pthread_mutex_lock(&thread->mutex);
    const bool is_forgotten = bcri_numbers_take(&thread->told[FORGOTTEN], &number);
    const bool is_number = is_forgotten || bcri_numbers_take(&thread->told[WANTED], &number);
    pthread_mutex_unlock(&thread->mutex);
    if (is_number) {
        *news_out = (struct bcri_link_news){.told = is_forgotten ? BCRI_TOLD_FORGOTTEN : BCRI_TOLD_WANTS_LINK,
                                            .number = number};
        return true;
    }
    struct news *news = (struct news *)enl_mailbox_take(&thread->box[NEWS]);
    if (news == NULL)
        return false;
    *news_out = news->news;
    free(news);
    return true;
}

static bool ended(void *owner, const struct bcri_notice *notice)
{
    return bcri_thread_tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_ENDED, .notice = *notice});
}

static void printed(void *owner, struct bcri_lines *lines)
{
    struct bcri_link_thread *thread = owner;
    struct news *news = lines->news;
    enl_mailbox_add(&thread->box[NEWS], &news->mail);
    thread->config.told(thread->config.owner);
}

static bool wants_pool(void *owner, const struct bcri_heap_piece *piece)
{
    return bcri_thread_tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_POOL, .piece = *piece});
}

/* A CCE, or a host that lies, may give cause for a note with each message. */
void bcri_thread_note(void *owner, uint32_t host, const char *sentence)
{
    struct bcri_link_thread *thread = owner;
    struct bcri_link_news news = {.told = BCRI_TOLD_NOTE, .number = host};
    if (thread->now - thread->notes_since >= BCRI_NS_PER_S) {
        thread->notes_since = thread->now;
        thread->notes = 0;
    }
    if (thread->notes >= NOTES_MAX)
        return;
    const bool last = ++thread->notes == NOTES_MAX;
    snprintf(news.text, sizeof news.text, "%s%s", last ? "(more such notes are left out for a second) " : "",
             sentence);
    (void)bcri_thread_tell(thread, &news);
}

const struct bcri_agent_events bcri_thread_events = {.wants_link = bcri_thread_wants_link,
                                                     .forgotten = forgotten,
                                                     .ended = ended,
                                                     .printed = printed,
                                                     .note = bcri_thread_note,
                                                     .wants_pool = wants_pool};

/* ---- on the link thread ---- */

void bcri_thread_done(struct bcri_link_thread *thread, struct command *command)
{
    switch (command->what) {
    case INTRODUCE: bcri_secret_free(command, sizeof(struct introduce_command)); break;
    case LANE: bcri_lane_gone(thread, (struct parcel *)command); break;
    case OUTBOX:
    case NOTICE:
    case LINES: free(command); break;
    }
}
