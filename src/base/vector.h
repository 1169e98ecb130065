// SPDX-License-Identifier: MIT
/*
 * Arrays that grow.  An array stays what it is, a pointer, a count and a capacity in a
 * struct of its user; these macros find room in it, whatever the types are.
 *
 *     if (!CUNEI_VECTOR_RESERVE(list->items, list->capacity, list->count + 1))
 *         return -ENOMEM;
 *     list->items[list->count++] = item;
 *
 * Memory at least doubles, so that adding items one at a time takes linear time.
 * Nothing changes when there is no memory.  free(list->items) ends it.
 */
#ifndef CUNEI_BASE_VECTOR_H
#define CUNEI_BASE_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/* Room for `wanted` items; `*capacity` becomes what there is room for.  NULL: there is
 * no memory, `items` stays as it is. */
void *cunei_vector_grow(void *items, size_t item_size, size_t *capacity, size_t wanted);

/* Whether there is room for `wanted` items now. */
#define CUNEI_VECTOR_RESERVE(items, capacity, wanted)                              \
    ({                                                                             \
        size_t room_ = (capacity), wanted_ = (wanted);                             \
        void *grown_ = (items);                                                    \
        if (wanted_ > room_) {                                                     \
            grown_ = cunei_vector_grow(grown_, sizeof(*(items)), &room_, wanted_); \
            if (grown_) {                                                          \
                (items) = grown_;                                                  \
                (capacity) = (__typeof__(capacity))room_;                          \
            }                                                                      \
        }                                                                          \
        wanted_ <= room_ && ((items) || wanted_ == 0);                             \
    })

/* The same for one more item in an array without a capacity: its memory is known to
 * hold the next power of two.  Only for arrays that grow by this macro alone. */
#define CUNEI_VECTOR_RESERVE_ONE(items, count)                                      \
    ({                                                                              \
        size_t count_ = (count), room_ = count_;                                    \
        if (count_ == 0 || (count_ & (count_ - 1)) == 0) {                          \
            void *grown_ = cunei_vector_grow((items), sizeof(__typeof__(*(items))), \
                                             &room_, count_ ? 2 * count_ : 1);      \
            if (grown_)                                                             \
                (items) = grown_;                                                   \
            else                                                                    \
                count_ = SIZE_MAX;                                                  \
        }                                                                           \
        count_ != SIZE_MAX && (items);                                              \
    })

/* Pointers to the items of an array in the order of `compare`, which gets two of these
 * pointers by address, as from qsort; owned by the caller.  NULL: there is no memory.
 */
void *cunei_vector_sort(const void *items, size_t item_size, size_t count,
                        int (*compare)(const void *, const void *));

/* In a sorted array, the first index that does not come before what is searched:
 * `is_before` is an expression of `index`.  `count` if all come before. */
#define CUNEI_VECTOR_BISECT(index, count, is_before)  \
    ({                                                \
        size_t low_ = 0, high_ = (count);             \
        while (low_ < high_) {                        \
            size_t index = low_ + (high_ - low_) / 2; \
            if (is_before)                            \
                low_ = (index) + 1;                   \
            else                                      \
                high_ = index;                        \
        }                                             \
        low_;                                         \
    })

#endif
