// SPDX-License-Identifier: MIT
/*
 * First sight of a code object: it gets its id, its definition in the trace, its tag
 * (probe/code/code_tag.h) and its place in the registry.  The layers above hand down a
 * table of functions that decide about it, or act on it.
 */
#ifndef CUNEI_PROBE_CODE_CODE_RESOLVE_H
#define CUNEI_PROBE_CODE_CODE_RESOLVE_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "probe/code/code.h"
#include "wire/event.h"
#include "wire/metadata.h"

/* Called at first sight of a code object; each may be NULL. */
struct cunei_code_hooks {
    /* The flags (enum cunei_code_flag) that events of the function need. */
    uint32_t (*flags)(PyCodeObject *code, const struct cunei_function *function);
    bool (*is_watched)(
        PyCodeObject *code); /* CALL events of it are needed, recorded or not */
    bool (*has_lines)(const struct cunei_function *function);
    bool (*is_decorated)(
        PyCodeObject *code); /* recorded even if it is not selected; then … */
    void (*set_id)(PyCodeObject *code, uint32_t id); /* … this is its id */

    enum cunei_level (*level)(uint32_t id); /* under a budget; then … */
    void (*levelled)(PyCodeObject *code, enum cunei_level level);
    void (*took)(uint64_t ticks); /* so long the first sight took */

    cunei_code_visitor *selected; /* it is recorded */
    cunei_code_visitor *left_out; /* it is not */
    cunei_code_visitor *watched;
    cunei_code_visitor *lined; /* its lines are recorded */
};

/*
 * Remove all tags; `patterns` (borrowed; NULL: everything) select what is recorded
 * from now on.
 */
void cunei_code_reset(const struct cunei_patterns *patterns,
                      const struct cunei_code_hooks *wanted);

/* In a forked child: functions get new ids at their next event. */
void cunei_code_renew(void);

/*
 * The tag of a code object, made if it has none: finds the module in `globals`, which
 * may be NULL, and writes the definition.  0: there is no id for it.
 */
uint64_t cunei_code_resolve(PyCodeObject *code, PyObject *globals);

/*
 * The id of a function, if it is selected; 0: it is not (`*is_off`), or no id is left.
 */
uint32_t cunei_code_define(const struct cunei_function *function, bool *is_off);

/*
 * From now on the events of this code handle regions that are open when a frame is
 * suspended or ends.  False: it is not recorded, so that its frames have no events.
 */
bool cunei_code_enable_regions(PyCodeObject *code, PyObject *globals);

typedef void cunei_code_judge(PyCodeObject *code, uint32_t id,
                              struct cunei_code_state *state, void *context);

/*
 * For a budget: call `judge` for each code object whose events take the hot path, or
 * would take it at full level.  It may set another level, by the second.
 */
void cunei_code_judge_all(cunei_code_judge *judge, void *context);
void cunei_code_set_level(PyCodeObject *code, enum cunei_level level);

#endif
