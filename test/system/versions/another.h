/* SPDX-License-Identifier: MIT */
/* Included by bcri/control.h in builds that stand for another version of BCR. */
#ifndef VERSIONS_ANOTHER_H
#define VERSIONS_ANOTHER_H

#undef BCRI_CONTROL_VERSION
#define BCRI_CONTROL_VERSION VERSIONS_OWN

#define BCRI_CONTROL_TEST_KEYS(X)
#define BCRI_CONTROL_TEST_TYPES(X)

#endif
