/* SPDX-License-Identifier: MIT */
/* Further keys for test_many_keys, and a type that has some of them: together more than a word of 32
 * bits has. */
#ifndef TEST_MANY_KEYS_H
#define TEST_MANY_KEYS_H

#define TEN_KEYS(X, a)     \
    X(test_##a##0, U32, 9) \
    X(test_##a##1, U32, 9) \
    X(test_##a##2, U32, 9) \
    X(test_##a##3, U32, 9) \
    X(test_##a##4, U32, 9) \
    X(test_##a##5, U32, 9) \
    X(test_##a##6, U32, 9) \
    X(test_##a##7, U32, 9) \
    X(test_##a##8, U32, 9) \
    X(test_##a##9, U32, 9)

#define BCRI_CONTROL_TEST_KEYS(X)  TEN_KEYS(X, b) X(last, STR, 5)
#define BCRI_CONTROL_TEST_TYPES(X) X(many, K(id) | K(test_b7), K(test_b8) | K(last), 0)

#endif
