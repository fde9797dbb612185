/* SPDX-License-Identifier: MIT */
/* What cells, areas and requests add to the layout signature:
 * signature.h. */
#include "bcri/signature.h"

#include "bcri/cell.h"
#include "bcri/cell0.h"
#include "bcri/handler_request.h"
#include "bcri/layout.h"
#include "bcri/order.h"
#include "bcri/outbox.h"
#include "bcri/waiters.h"
#include "bcri/watermark.h"

#define STRUCT   BCRI_LAYOUT_STRUCT
#define FIELD    BCRI_LAYOUT_FIELD
#define FLEXIBLE BCRI_LAYOUT_FLEXIBLE
#define VALUE    BCRI_LAYOUT_VALUE
static const struct bcri_layout_part cells_parts[] = {
#include "layout_cells.inc"
};

uint32_t bcri_layout_signature(void)
{
    return bcri_layout_fold(bcri_core_layout(), cells_parts, sizeof cells_parts / sizeof cells_parts[0]);
}
