// SPDX-License-Identifier: MIT
/*
 * Code objects: each carries a word with the id of its function, made at first sight.
 *
 *     bits  0–31   its place in the registry, from 1
 *     bit   32     CUNEI_CODE_OFF: not selected; it is not recorded
 *     bit   33     CUNEI_CODE_COLD: its events take the cold path, for what its
 *                  registry entry says (enum cunei_code_flag)
 *     bit   34     CUNEI_CODE_STALE: seen before a fork: its id was its parent's
 *     bit   35     CUNEI_CODE_WATCHED: see cunei_process_watches
 *     bit   36     CUNEI_CODE_LINED: its lines are recorded
 *     bit   38     CUNEI_CODE_COUNTED: a budget lets its calls be counted only
 *     bit   39     CUNEI_CODE_DEMOTED: the same, or it is not even counted
 *     bits 40–61   the id, where a record carries it; 0 with either bit above
 *
 * A record is the word's upper bits, the time and the phase: the hot path does not look
 * at anything else.  The registry knows every code object that has a word, until it is
 * freed: that is how a new recording starts anew.
 *
 * All of it belongs to the main interpreter.  Its GIL guards it, or where there is none
 * what probe/core/world.h says; looking an entry up takes no lock.
 */
#ifndef CUNEI_PROBE_CODE_CODE_H
#define CUNEI_PROBE_CODE_CODE_H

#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/pattern.h"
#include "wire/event.h"
#include "wire/metadata.h"

struct cunei_line_table;

#define CUNEI_CODE_OFF     (UINT64_C(1) << 32)
#define CUNEI_CODE_COLD    (UINT64_C(1) << 33)
#define CUNEI_CODE_STALE   (UINT64_C(1) << 34)
#define CUNEI_CODE_WATCHED (UINT64_C(1) << 35)
#define CUNEI_CODE_LINED   (UINT64_C(1) << 36)
#define CUNEI_CODE_COUNTED (UINT64_C(1) << 38)
#define CUNEI_CODE_DEMOTED (UINT64_C(1) << 39)

/* Nothing of the code with this word is recorded just now: left out, or demoted. */
static inline bool cunei_code_is_silent(uint64_t word)
{
    return word & (CUNEI_CODE_OFF | CUNEI_CODE_DEMOTED) && !(word & CUNEI_CODE_STALE);
}

/* Why a function's events take the cold path. */
enum cunei_code_flag {
    CUNEI_CODE_CALL = 1,      /* its id is beyond the classes: `call` events */
    CUNEI_CODE_COROUTINE = 2, /* a task may run it (probe/events/task.h) */
    CUNEI_CODE_ARGUMENTS = 4, /* they are recorded (probe/events/argument.h) */
    CUNEI_CODE_RESULT = 8,    /* so is what it returns */
    CUNEI_CODE_GREENLET = 16, /* at its end greenlet is there; it may have no id */
    CUNEI_CODE_LINES = 32,    /* where it goes on, its line is told (lineevent.h) */
    CUNEI_CODE_NAMES = 64,    /* see cunei_process_names; it may have no id */
    CUNEI_CODE_REGIONS = 128, /* its frames may begin regions (probe/user/region.h) */
};

/*
 * Get a place on code objects.  The index goes to `*index`, and whether it may be read
 * inline to `*is_inline`.  -1 with an exception set: there is none to be had.
 */
int cunei_code_init(Py_ssize_t *index, bool *is_inline);

/*
 * CPython 3.8 frees what one interpreter has left when another collects garbage, and
 * lets go of the words of code as that one knows how: to be called in it before.
 */
void cunei_code_share(void);

typedef void cunei_code_visitor(PyCodeObject *code);

/* What is done with each code object at first sight; each may be NULL. */
struct cunei_code_hooks {
    enum cunei_level (*level)(uint32_t id); /* under a budget; then … */
    void (*levelled)(PyCodeObject *code, enum cunei_level level);
    cunei_code_visitor *selected; /* it is recorded */
    cunei_code_visitor *left_out; /* it is not */
    cunei_code_visitor *watched;  /* cunei_process_watches it, recorded or not */
    cunei_code_visitor *lined;    /* its lines are recorded */
};

/*
 * Forget all words; `patterns` (borrowed; NULL: everything) select what is recorded
 * from now on.
 */
void cunei_code_reset(const struct cunei_patterns *patterns,
                      const struct cunei_code_hooks *wanted);

/* In a forked child: ids are given anew, to the same functions. */
void cunei_code_renew(void);

/* Call `visit` for each code object that has a word, selected or not. */
void cunei_code_visit(cunei_code_visitor *visit);

/* The same for those that are watched, whose lines are recorded, that are muted. */
void cunei_code_visit_watched(cunei_code_visitor *visit);
void cunei_code_visit_lined(cunei_code_visitor *visit);
void cunei_code_visit_muted(cunei_code_visitor *visit);

/* Events of the code object with this word are switched off somewhere. */
void cunei_code_mute(uint64_t word);

/* Whether there are such code objects. */
bool cunei_code_has_muted(void);

/* Whether code is not recorded, and this is asked for the first time. */
bool cunei_code_follow(PyCodeObject *code);

/*
 * Frames of this code may be suspended, or end, with regions open, from now on.  False:
 * it is not recorded, so that nothing is heard of them.
 */
bool cunei_code_hear_regions(PyCodeObject *code, PyObject *globals);

/* Whether the program calls a function with this word a region (probe/user/tag.h). */
bool cunei_code_is_tagged(uint64_t word);

/* The word of a code object; 0: it has none with an id of this process. */
uint64_t cunei_code_word(PyCodeObject *code);

/* Whether it was seen in this recording, here or in a parent process. */
bool cunei_code_is_seen(PyCodeObject *code);

/*
 * Its word, made if it has none: finds the module in `globals`, which may be NULL, and
 * writes the definition.  0: it could not be had, now or ever.
 */
uint64_t cunei_code_resolve(PyCodeObject *code, PyObject *globals);

/* How much of a code object is recorded, and its calls while they are counted. */
struct cunei_code_state {
    enum cunei_level level;
    uint64_t calls, resumes;
};

typedef void cunei_code_judge(PyCodeObject *code, uint32_t id,
                              struct cunei_code_state *state, void *context);

/*
 * For a budget: call `judge` for each code object whose events take the hot path, or
 * would if it had its level.  It may set another, by the second.
 */
void cunei_code_judge_all(cunei_code_judge *judge, void *context);
void cunei_code_set_level(PyCodeObject *code, enum cunei_level level);

/* One call, or resumption, of the code object with this word was counted. */
struct cunei_code_state *cunei_code_state(uint64_t word);

/*
 * Where lines begin in the code with this word; NULL: it was not said.  To say it of
 * code that has one, give a table away, which must not change any more (see
 * probe/code/line_table.h).
 */
const struct cunei_line_table *cunei_code_table(uint64_t word);
void cunei_code_set_table(PyCodeObject *code, struct cunei_line_table *table);

/* The function's id; 0: it is not recorded. */
uint32_t cunei_code_id(uint64_t word);

/* Its flags, of enum cunei_code_flag; 0 for a word without CUNEI_CODE_COLD. */
uint32_t cunei_code_flags(uint64_t word);

/*
 * The id of a function, if it is selected; 0 where it is not (`*is_off`), or cannot be
 * had.
 */
uint32_t cunei_code_define(const struct cunei_function *function, bool *is_off);

/* Both at once, for a word with CUNEI_CODE_COLD. */
uint32_t cunei_code_cold(uint64_t word, uint32_t *flags);

/* Give a code object a word of its own choice, for measurements; 0 takes it away. */
int cunei_code_set_word(PyCodeObject *code, uint64_t word);

#endif
