/* SPDX-License-Identifier: MIT */
/* commands.c -- what other threads want of the link thread, and what it tells them. */
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

static bool send_command(struct bcri_link_thread *thread, const struct command *like)
{
    struct command *copy = malloc(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *like;
    enl_mailbox_add(&thread->commands, &copy->mail);
    bcri_thread_ring(thread);
    return true;
}

bool bcri_link_thread_introduce(struct bcri_link_thread *thread,
                                const struct bcri_link_introduction *introduction)
{
    struct bcri_link_introduction *copy = bcri_secret_new(sizeof *copy);
    if (copy == NULL)
        return false;
    *copy = *introduction;
    if (copy->address_count > BCRI_INTRODUCED_MAX)
        copy->address_count = BCRI_INTRODUCED_MAX;
    if (send_command(thread,
                     &(struct command){.what = INTRODUCE, .number = copy->host, .introduction = copy}))
        return true;
    bcri_secret_free(copy, sizeof *copy);
    return false;
}

struct lane_frame *bcri_lane_frame(uint32_t host, uint32_t bytes)
{
    struct lane_frame *frame = malloc(sizeof *frame + bytes);
    if (frame != NULL)
        *frame = (struct lane_frame){.host = host, .bytes = bytes};
    return frame;
}

void bcri_lane_gone(struct bcri_link_thread *thread, struct lane_frame *frame)
{
    if (frame != NULL) {
        atomic_fetch_sub(&thread->lane_bytes, frame->bytes);
        atomic_fetch_sub(&thread->lane_waits[frame->host], frame->bytes);
    }
    free(frame);
}

bool bcri_link_thread_lane_send(struct bcri_link_thread *thread, uint32_t host, unsigned row,
                                const void *content, uint32_t bytes)
{
    const bool fits = bytes <= BCRI_LANE_BYTES_MAX && host <= BCRI_HOST_NUMBER_MAX &&
                      atomic_load(&thread->lane_waits[host]) <= BCRI_LANE_WAITS_MAX - bytes;
    struct lane_frame *frame = fits ? bcri_lane_frame(host, bytes) : NULL;
    if (frame == NULL)
        return false;
    frame->row = row;
    memcpy(frame->content, content, bytes);
    atomic_fetch_add(&thread->lane_bytes, bytes);
    atomic_fetch_add(&thread->lane_waits[host], bytes);
    if (send_command(thread, &(struct command){.what = LANE, .number = host, .frame = frame}))
        return true;
    bcri_lane_gone(thread, frame);
    return false;
}

static void tell_ended(struct bcri_link_thread *thread, uint64_t words[HOST_WORDS], uint32_t host)
{
    pthread_mutex_lock(&thread->mutex);
    words[host / HOST_BITS] |= UINT64_C(1) << host % HOST_BITS;
    thread->ending.some = true;
    pthread_mutex_unlock(&thread->mutex);
    bcri_thread_ring(thread);
}

void bcri_link_thread_lost(struct bcri_link_thread *thread, uint32_t host)
{
    tell_ended(thread, thread->ending.lost, host);
}

void bcri_link_thread_unknown(struct bcri_link_thread *thread, uint32_t host)
{
    tell_ended(thread, thread->ending.unknown, host);
}

bool bcri_link_thread_quiet(struct bcri_link_thread *thread, uint32_t question)
{
    return send_command(thread, &(struct command){.what = QUIET, .number = question});
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

static void free_member(struct member *member)
{
    free(member->forget);
    free(member->forgotten);
    free(member);
}

static struct member *new_member(uint32_t index)
{
    struct member *member = calloc(1, sizeof *member);
    if (member == NULL)
        return NULL;
    member->forget = calloc(1, sizeof *member->forget);
    member->forgotten = calloc(1, sizeof *member->forgotten);
    if (member->forget == NULL || member->forgotten == NULL) {
        free_member(member);
        return NULL;
    }
    *member->forget = (struct command){.what = FORGET, .number = index};
    member->forgotten->news = (struct bcri_link_news){.told = BCRI_TOLD_FORGOTTEN, .number = index};
    return member;
}

bool bcri_link_thread_outbox(struct bcri_link_thread *thread, uint32_t index, bcri_ref outbox)
{
    struct member *member = new_member(index);
    if (member == NULL)
        return false;
    pthread_mutex_lock(&thread->mutex);
    LIST_INSERT_HEAD(&thread->members, member, entry);
    pthread_mutex_unlock(&thread->mutex);
    return send_command(thread, &(struct command){.what = OUTBOX, .number = index, .outbox = outbox});
}

void bcri_link_thread_grown(struct bcri_link_thread *thread, const struct bcri_heap_piece *piece,
                            bool reserved)
{
    pthread_mutex_lock(&thread->mutex);
    thread->grown = (struct grown){.there = true, .reserved = reserved, .piece = *piece};
    pthread_mutex_unlock(&thread->mutex);
    bcri_thread_ring(thread);
}

/* Moves member `index` from one list to another, which may be NULL. */
static struct member *move_member(struct bcri_link_thread *thread, struct members *from, struct members *to,
                                  uint32_t index)
{
    struct member *member;
    pthread_mutex_lock(&thread->mutex);
    LIST_FOREACH (member, from, entry)
        if (member->forgotten->news.number == index)
            break;
    if (member != NULL)
        LIST_REMOVE(member, entry);
    if (member != NULL && to != NULL)
        LIST_INSERT_HEAD(to, member, entry);
    pthread_mutex_unlock(&thread->mutex);
    return member;
}

bool bcri_link_thread_forget(struct bcri_link_thread *thread, uint32_t index)
{
    struct member *member = move_member(thread, &thread->members, &thread->leaving, index);
    if (member == NULL)
        return false;
    struct command *forget = member->forget;
    member->forget = NULL; /* the thread frees the member when it has the command */
    enl_mailbox_add(&thread->commands, &forget->mail);
    bcri_thread_ring(thread);
    return true;
}

bool bcri_thread_tell(struct bcri_link_thread *thread, const struct bcri_link_news *what)
{
    struct news *news = malloc(sizeof *news);
    if (news == NULL)
        return false;
    news->news = *what;
    enl_mailbox_add(&thread->news, &news->mail);
    thread->config.told(thread->config.owner);
    return true;
}

bool bcri_link_thread_take(struct bcri_link_thread *thread, struct bcri_link_news *news_out)
{
    struct news *news = (struct news *)enl_mailbox_take(&thread->news);
    if (news == NULL)
        return false;
    *news_out = news->news;
    free(news);
    return true;
}

static bool wants_link(void *owner, uint32_t host)
{
    return bcri_thread_tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_WANTS_LINK, .number = host});
}

static bool wants_pool(void *owner, const struct bcri_heap_piece *piece)
{
    return bcri_thread_tell(owner, &(struct bcri_link_news){.told = BCRI_TOLD_POOL, .piece = *piece});
}

static void forgotten(void *owner, uint32_t index)
{
    struct bcri_link_thread *thread = owner;
    struct member *member = move_member(thread, &thread->leaving, NULL, index);
    if (member == NULL)
        return;
    enl_mailbox_add(&thread->news, &member->forgotten->mail);
    thread->config.told(thread->config.owner);
    member->forgotten = NULL;
    free_member(member);
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

const struct bcri_agent_events bcri_thread_events = {
    .wants_link = wants_link, .forgotten = forgotten, .note = bcri_thread_note, .wants_pool = wants_pool};

/* The commands last: what introduced a host that has ended is among them. */
struct grown bcri_thread_take(struct bcri_link_thread *thread, struct enl_mails *commands)
{
    pthread_mutex_lock(&thread->mutex);
    const struct grown grown = thread->grown;
    thread->grown.there = false;
    if (thread->ending.some) {
        for (uint32_t i = 0; i < HOST_WORDS; i++) {
            thread->ended.lost[i] |= thread->ending.lost[i];
            thread->ended.unknown[i] |= thread->ending.unknown[i];
        }
        thread->ended.some = true;
        memset(&thread->ending, 0, sizeof thread->ending);
    }
    pthread_mutex_unlock(&thread->mutex);
    enl_mailbox_take_all(&thread->commands, commands);
    return grown;
}

void bcri_thread_done(struct bcri_link_thread *thread, struct command *command)
{
    bcri_secret_free(command->introduction, sizeof *command->introduction);
    bcri_lane_gone(thread, command->frame);
    free(command);
}

static void free_members(struct members *members)
{
    for (struct member *member; (member = LIST_FIRST(members)) != NULL;) {
        LIST_REMOVE(member, entry);
        free_member(member);
    }
}

static void free_all(struct enl_mailbox *box)
{
    for (struct enl_mail *mail; (mail = enl_mailbox_take(box)) != NULL;)
        free(mail);
}

void bcri_thread_drop_queues(struct bcri_link_thread *thread)
{
    enl_mailbox_take_all(&thread->commands, &thread->kept);
    for (struct enl_mail *mail; (mail = STAILQ_FIRST(&thread->kept)) != NULL;) {
        STAILQ_REMOVE_HEAD(&thread->kept, entry);
        bcri_thread_done(thread, (struct command *)mail);
    }
    free_all(&thread->news);
    free_all(&thread->out);
    free_all(&thread->in);
    free_all(&thread->lane_in);
    free_members(&thread->members);
    free_members(&thread->leaving);
}
