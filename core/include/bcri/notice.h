/* SPDX-License-Identifier: MIT */
/* notice.h -- what is told of the end of a CCE that another one watches, or has started (bcr_watch). */
#ifndef BCRI_NOTICE_H
#define BCRI_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "bcri/record.h"

struct bcri_notice {
    uint8_t ended[BCRI_IDENTITY_BYTES];   /* the CCE that has ended */
    uint8_t watcher[BCRI_IDENTITY_BYTES]; /* its host and index; what is behind them does not matter */
    int32_t ordinal;                      /* of the CCE that has ended; -1: unknown */
    uint8_t how;                          /* enum bcr_how */
    uint8_t number;                       /* its status, or the signal */
    bool to_starter;                      /* the watcher is the one that has started it (bcr_STARTED) */
};

#endif
