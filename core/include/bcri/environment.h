/* SPDX-License-Identifier: MIT */
/* Environment variables by which the daemon, the library and processes of enl find each other. */
#ifndef BCRI_ENVIRONMENT_H
#define BCRI_ENVIRONMENT_H

/* The environment variable that carries the number of the inherited socket. */
#define BCRI_CONTROL_ENV "BCRI_SOCKET"
/* The name of the program that bcr_init enters, for users, too. */
#define BCRI_ENTER_ENV "BCR_ENTER"
/* A member of a team that nobody starts: a key that the members have in common, how many they are, which one this is, and
 * their hosts. For users, too. */
#define BCRI_AWAIT_ENV       "BCR_AWAIT"
#define BCRI_AWAIT_TEAM_ENV  "BCR_TEAM"
#define BCRI_AWAIT_RANK_ENV  "BCR_RANK"
#define BCRI_AWAIT_HOSTS_ENV "BCR_HOSTS"
/* Of members of a job, of which their daemon takes them away: files for their standard input and output, to the last of which
 * is appended. */
#define BCRI_STDIN_ENV       "BCRI_STDIN"
#define BCRI_STDOUT_ENV      "BCRI_STDOUT"
#define BCRI_STDOUT_MORE_ENV "BCRI_STDOUT_MORE"
/* The same: the limits of a job, as numbers of seconds, MB and MB. */
#define BCRI_LIMITS_ENV "BCRI_LIMITS"
/* The directory of a job on this host, for its members. */
#define BCRI_JOB_DIR_ENV "BCR_JOB_DIR"
/* bcr_init sets this variable in a process that it turns into enl, and enl removes it. If bcr_init
 * finds it set, the program was started in enl's place. */
#define BCRI_BECOMES_ENL_ENV "BCRI_BECOMES_ENL"
/* Variables of the loader that are the CCEs' and not enl's: bcr_init puts the prefix before them in a process that becomes
 * enl, and enl takes it away in the environments of CCEs. */
#define BCRI_KEPT_PREFIX "BCRI_KEPT_"
#define BCRI_KEPT_VARIABLES                                        \
    {                                                              \
        BCRI_KEPT_PREFIX "LD_PRELOAD", BCRI_KEPT_PREFIX "LD_AUDIT" \
    }

#endif
