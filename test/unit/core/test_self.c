/* SPDX-License-Identifier: MIT */
/* Which CCE a thread belongs to: by bcr_init, by a test, before either, and after a fork. */
#include <pthread.h>
#include <unistd.h>

#include <bcr.h>

#include "bcri/self.h"
#include "check.h"

static struct bcri_ctx one, other;

TEST(without_a_context_the_reason_is_that_bcr_init_is_missing)
{
    CHECK_PTR(bcri_self(), NULL);
    CHECK_INT(bcr_errno, bcrE_OK);
    CHECK_PTR(bcri_self_or_error(), NULL);
    CHECK_INT(bcr_errno, bcrE_NOINIT);
}

static void *look(void *data)
{
    (void)data;
    return bcri_self();
}

static void *set_errno(void *data)
{
    (void)data;
    CHECK_INT(bcr_errno, bcrE_OK);
    bcr_errno = bcrE_BUSY;
    return NULL;
}

TEST(the_context_of_the_process_is_found_by_every_thread)
{
    pthread_t thread;
    void *found;
    bcri_self_set_process(&one);
    CHECK_PTR(bcri_self(), &one);
    CHECK_INT(pthread_create(&thread, NULL, look, NULL), 0);
    pthread_join(thread, &found);
    CHECK_PTR(found, &one);
}

TEST(a_thread_of_a_test_has_its_own_context)
{
    pthread_t thread;
    void *found;
    bcri_self_set_process(&one);
    bcri_self_set(&other);
    CHECK_PTR(bcri_self(), &other);
    CHECK_INT(pthread_create(&thread, NULL, look, NULL), 0);
    pthread_join(thread, &found);
    CHECK_PTR(found, &one);
    bcri_self_set(NULL);
    CHECK_PTR(bcri_self(), &one);
}

TEST(bcr_errno_is_each_threads_own)
{
    pthread_t thread;
    bcr_errno = bcrE_ARG;
    CHECK_INT(pthread_create(&thread, NULL, set_errno, NULL), 0);
    pthread_join(thread, NULL);
    CHECK_INT(bcr_errno, bcrE_ARG);
}

TEST(the_child_of_a_fork_is_no_cce)
{
    bcri_self_set_process(&one);
    pid_t child = fork();
    if (child == 0) {
        CHECK_PTR(bcri_self_or_error(), NULL);
        CHECK_INT(bcr_errno, bcrE_FORK);
        CHECK(bcri_self_is_fork());
        pid_t grandchild = fork();
        if (grandchild == 0) {
            CHECK_PTR(bcri_self_or_error(), NULL);
            CHECK_INT(bcr_errno, bcrE_FORK);
            _exit(0);
        }
        test_join(grandchild, 0);
        _exit(0);
    }
    test_join(child, 0);
    CHECK_PTR(bcri_self(), &one);
    CHECK(!bcri_self_is_fork());
}

TEST(a_fork_before_bcr_init_may_still_become_a_cce)
{
    bcri_self_set_process(&one);
    bcri_self_set_process(NULL); /* a bcr_init that failed half-way */
    pid_t child = fork();
    if (child == 0) {
        CHECK_PTR(bcri_self_or_error(), NULL);
        CHECK_INT(bcr_errno, bcrE_NOINIT);
        bcri_self_set_process(&other);
        CHECK_PTR(bcri_self(), &other);
        _exit(0);
    }
    test_join(child, 0);
}

TEST(before_bcr_init_the_globals_are_zeros_that_may_be_stored_to)
{
    CHECK_INT(bcr_cce, 0);
    CHECK_INT(bcr_enlistor, 0);
    CHECK_INT(bcr_cceord, 0);
    CHECK_INT(bcr_archtype, 0);
    bcr_cce = 5;
    CHECK_INT(bcr_cce, 5);
    CHECK_INT(bcr_enlistor, 0);
}
