/* SPDX-License-Identifier: MIT */
/* Memory for secrets: what protects it, and what is said where that is refused. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bcri/seal.h"
#include "check.h"

static bool lock_fails;
static int lock_error = ENOMEM;
static int advice_fails;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker's names */
int __real_mlock(const void *at, size_t bytes);
int __wrap_mlock(const void *at, size_t bytes);
int __wrap_mlock(const void *at, size_t bytes)
{
    errno = lock_error;
    return lock_fails ? -1 : __real_mlock(at, bytes);
}

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice)
{
    errno = EINVAL;
    return advice == advice_fails ? -1 : __real_madvise(at, bytes, advice);
}

/* NOLINTEND(bugprone-reserved-identifier) */

TEST(a_secret_is_not_in_a_child)
{
    uint8_t *secret = bcri_secret_new(100);
    CHECK(secret != NULL);
    for (unsigned i = 0; i < 100; i++)
        CHECK_UINT(secret[i], 0);
    memset(secret, 7, 100);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(secret[0] == 0 && secret[99] == 0 ? 0 : 1);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_INT(status, 0);
    CHECK_UINT(secret[99], 7);
    bcri_secret_free(secret, 100);
    bcri_secret_free(NULL, 100);
}

static void complaint_is_made_once(const char *told)
{
    char text[BCRI_SECRET_COMPLAINT_MAX];
    CHECK(bcri_secret_complaint(text) == NULL);
    for (unsigned i = 0; i < 3; i++) {
        void *secret = bcri_secret_new(100);
        CHECK(secret != NULL);
        CHECK((bcri_secret_complaint(text) != NULL) == (i == 0));
        CHECK(strstr(text, told) != NULL);
        CHECK((strstr(text, "ulimit -l") != NULL) == (lock_error == ENOMEM && lock_fails));
        bcri_secret_free(secret, 100);
    }
}

TEST(memory_that_cannot_be_locked_is_complained_of_once)
{
    lock_fails = true;
    complaint_is_made_once("mlock: Cannot allocate memory");
}

TEST(a_lock_that_is_forbidden_is_no_matter_of_a_limit)
{
    lock_fails = true;
    lock_error = EPERM;
    complaint_is_made_once("mlock: Operation not permitted");
}

TEST(memory_that_cannot_be_kept_from_core_files_is_complained_of_once)
{
    advice_fails = MADV_DONTDUMP;
    complaint_is_made_once("madvise: Invalid argument");
}
