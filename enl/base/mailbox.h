/* SPDX-License-Identifier: MIT */
/* What one thread gives another, in the order given. The giver rings for it: the other's way to sleep is its own. */
#ifndef ENL_MAILBOX_H
#define ENL_MAILBOX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

/* The first member of a structure of the owner's. */
struct enl_mail {
    STAILQ_ENTRY(enl_mail) entry;
};
STAILQ_HEAD(enl_mails, enl_mail);

struct enl_mailbox {
    pthread_mutex_t mutex;
    struct enl_mails all;
    atomic_uint count;
};

static inline void enl_mailbox_init(struct enl_mailbox *box)
{
    pthread_mutex_init(&box->mutex, NULL);
    STAILQ_INIT(&box->all);
    atomic_init(&box->count, 0);
}

/* Returns whether it was empty. */
static inline bool enl_mailbox_add(struct enl_mailbox *box, struct enl_mail *mail)
{
    pthread_mutex_lock(&box->mutex);
    STAILQ_INSERT_TAIL(&box->all, mail, entry);
    const bool was_empty = atomic_fetch_add(&box->count, 1) == 0;
    pthread_mutex_unlock(&box->mutex);
    return was_empty;
}

/* The oldest; NULL: it is empty. */
static inline struct enl_mail *enl_mailbox_take(struct enl_mailbox *box)
{
    pthread_mutex_lock(&box->mutex);
    struct enl_mail *mail = STAILQ_FIRST(&box->all);
    if (mail != NULL) {
        STAILQ_REMOVE_HEAD(&box->all, entry);
        atomic_fetch_sub(&box->count, 1);
    }
    pthread_mutex_unlock(&box->mutex);
    return mail;
}

/* Moves all behind what the taker has of them. */
static inline void enl_mailbox_take_all(struct enl_mailbox *box, struct enl_mails *to)
{
    pthread_mutex_lock(&box->mutex);
    STAILQ_CONCAT(to, &box->all);
    atomic_store(&box->count, 0);
    pthread_mutex_unlock(&box->mutex);
}

#endif
