/* SPDX-License-Identifier: MIT */
/*
 * reverse_vector.c -- reverses bytes with a shuffle of each vector: SSSE3, AVX2 and AVX-512 on x86,
 * NEON on ARM.
 *
 * Each routine is compiled for its own extension, whatever processor the build is for, and called
 * only where the processor has that extension. Other architectures have only the portable set (on
 * s390x the compiler turns it into load-reversed instructions). */
#include "reverse_sets.h"

#if defined(__x86_64__) || defined(__i386__)

#include <immintrin.h>

/* Where the bytes of a 16-byte lane come from, for each size of item. */
#define LANE_2 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1
#define LANE_4 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3
#define LANE_8 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7

/* `size` is the item's, `width` the vector's. The loop does two vectors a turn, which is as fast as
 * memory goes. */
#define ROUTINE(name, extension, size, width, vector, mask_value, load, store, shuffle)              \
    __attribute__((target(extension))) static void name(uint8_t *destination, const uint8_t *source, \
                                                        size_t count)                                \
    {                                                                                                \
        const vector mask = (mask_value);                                                            \
        size_t bytes = count * (size), i = 0;                                                        \
        for (; i + 2 * (width) <= bytes; i += 2 * (width)) {                                         \
            vector a = load((const void *)(source + i));                                             \
            vector b = load((const void *)(source + i + (width)));                                   \
            store((void *)(destination + i), shuffle(a, mask));                                      \
            store((void *)(destination + i + (width)), shuffle(b, mask));                            \
        }                                                                                            \
        for (; i + (width) <= bytes; i += (width))                                                   \
            store((void *)(destination + i), shuffle(load((const void *)(source + i)), mask));       \
        reverse_##size##_portable(destination + i, source + i, (bytes - i) / (size));                \
    }

#define SSSE3(size)                                                                                  \
    ROUTINE(reverse_##size##_ssse3, "ssse3", size, 16, __m128i, _mm_set_epi8(LANE_##size), load_128, \
            store_128, _mm_shuffle_epi8)
#define AVX2(size)                                                                                       \
    ROUTINE(reverse_##size##_avx2, "avx2", size, 32, __m256i, _mm256_set_epi8(LANE_##size, LANE_##size), \
            load_256, store_256, _mm256_shuffle_epi8)
#define AVX512(size)                                                                                 \
    ROUTINE(reverse_##size##_avx512, "avx512f,avx512bw", size, 64, __m512i,                          \
            _mm512_set_epi8(LANE_##size, LANE_##size, LANE_##size, LANE_##size), _mm512_loadu_si512, \
            store_512, _mm512_shuffle_epi8)

#define load_128(address)          _mm_loadu_si128((const __m128i *)(address))
#define store_128(address, vector) _mm_storeu_si128((__m128i *)(address), vector)
#define load_256(address)          _mm256_loadu_si256((const __m256i *)(address))
#define store_256(address, vector) _mm256_storeu_si256((__m256i *)(address), vector)
#define store_512(address, vector) _mm512_storeu_si512(address, vector)

SSSE3(2)
SSSE3(4)
SSSE3(8)
AVX2(2)
AVX2(4)
AVX2(8)
AVX512(2)
AVX512(4)
AVX512(8)

static const struct bcri_reverse ssse3 = {"SSSE3", reverse_2_ssse3, reverse_4_ssse3, reverse_8_ssse3};
static const struct bcri_reverse avx2 = {"AVX2", reverse_2_avx2, reverse_4_avx2, reverse_8_avx2};
static const struct bcri_reverse avx512 = {"AVX-512", reverse_2_avx512, reverse_4_avx512, reverse_8_avx512};

const struct bcri_reverse *reverse_vector_nth(int idx)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("ssse3") && idx-- == 0)
        return &ssse3;
    if (__builtin_cpu_supports("avx2") && idx-- == 0)
        return &avx2;
    if (__builtin_cpu_supports("avx512bw") && idx-- == 0)
        return &avx512;
    return NULL;
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>

#define NEON(size, reverse)                                                                      \
    static void reverse_##size##_neon(uint8_t *destination, const uint8_t *source, size_t count) \
    {                                                                                            \
        size_t bytes = count * (size), i = 0;                                                    \
        for (; i + 32 <= bytes; i += 32) {                                                       \
            uint8x16_t a = vld1q_u8(source + i), b = vld1q_u8(source + i + 16);                  \
            vst1q_u8(destination + i, reverse(a));                                               \
            vst1q_u8(destination + i + 16, reverse(b));                                          \
        }                                                                                        \
        for (; i + 16 <= bytes; i += 16)                                                         \
            vst1q_u8(destination + i, reverse(vld1q_u8(source + i)));                            \
        reverse_##size##_portable(destination + i, source + i, (bytes - i) / (size));            \
    }

NEON(2, vrev16q_u8)
NEON(4, vrev32q_u8)
NEON(8, vrev64q_u8)

static const struct bcri_reverse neon = {"NEON", reverse_2_neon, reverse_4_neon, reverse_8_neon};

const struct bcri_reverse *reverse_vector_nth(int idx)
{
    return idx == 0 ? &neon : NULL; /* every 64-bit ARM has it */
}

#else

const struct bcri_reverse *reverse_vector_nth(int idx)
{
    (void)idx;
    return NULL;
}

#endif
