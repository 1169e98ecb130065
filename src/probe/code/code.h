// SPDX-License-Identifier: MIT
/*
 * What is known of a code object by its tag (probe/code/code_tag.h), and lists of those
 * that have one.  probe/code/code_resolve.h gives a code object its tag.
 */
#ifndef CUNEI_PROBE_CODE_CODE_H
#define CUNEI_PROBE_CODE_CODE_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "probe/code/code_tag.h"

struct cunei_line_table;

/* The tag of a code object; 0: it has none with an id of this process. */
uint64_t cunei_code_tag(PyCodeObject *code);

/* Whether it was seen in this recording, here or in a parent process. */
bool cunei_code_is_seen(PyCodeObject *code);

/* The function's id; 0: it is not recorded. */
uint32_t cunei_code_id(uint64_t tag);

/* Its flags, of enum cunei_code_flag; 0 for a tag without CUNEI_CODE_COLD. */
uint32_t cunei_code_flags(uint64_t tag);

/* Both at once, for a tag with CUNEI_CODE_COLD. */
uint32_t cunei_code_cold(uint64_t tag, uint32_t *flags);

/*
 * Whether the function with this tag is decorated as a region (probe/user/decorated.h).
 */
bool cunei_code_is_decorated(uint64_t tag);

/* Level and counts of the code object with this tag. */
struct cunei_code_state *cunei_code_state(uint64_t tag);

/*
 * Where lines begin in the code with this tag; NULL: it has no table.  The second gives
 * it one, owned, which must not change any more (see probe/code/line_table.h).
 */
const struct cunei_line_table *cunei_code_table(uint64_t tag);
void cunei_code_set_table(PyCodeObject *code, struct cunei_line_table *table);

/* Events of the code object with this tag are switched off somewhere. */
void cunei_code_mute(uint64_t tag);

/* Whether there are such code objects. */
bool cunei_code_has_muted(void);

/* Whether code is not recorded, on the first call only. */
bool cunei_code_follow(PyCodeObject *code);

typedef void cunei_code_visitor(PyCodeObject *code);

enum cunei_code_set {
    CUNEI_CODE_SET_ALL, /* that have a tag, selected or not */
    CUNEI_CODE_SET_WATCHED,
    CUNEI_CODE_SET_LINED, /* their lines are recorded */
    CUNEI_CODE_SET_MUTED,
};

/* Call `visit` for each code object of a set. */
void cunei_code_visit(enum cunei_code_set which, cunei_code_visitor *visit);

/* Remove all tags; with the world stopped. */
void cunei_code_clear(void);

#endif
