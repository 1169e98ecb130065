// SPDX-License-Identifier: MIT
/*
 * The built-in event classes: one row each in CUNEI_EVENT_CLASSES, and the fields of
 * their payloads.
 *
 * The kind of a field says how the field is checked (trace/packet/check.c) and printed
 * (report/replay/event_fields.c); the CTF declaration in the metadata follows from the
 * fields as well.  A payload is whole 64-bit words without padding.  An array is the
 * last field; the field before it is the upper half of a word and holds its length.
 *
 * Changing a payload changes CUNEI_WIRE_VERSION.  Adding a class does not: a reader
 * refuses an event whose class it does not know.
 */
#ifndef CUNEI_WIRE_EVENT_CLASS_H
#define CUNEI_WIRE_EVENT_CLASS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum cunei_field_kind {
    CUNEI_FIELD_NUMBER,
    CUNEI_FIELD_SIGNED, /* 64 bits, an int64_t in CTF */
    CUNEI_FIELD_TEXT,   /* an array of bytes, padded with NUL */
    /* From here on not every value is valid. */
    CUNEI_FIELD_FUNCTION,         /* the id of a definition */
    CUNEI_FIELD_FUNCTION_OR_NONE, /* the same, or 0 */
    CUNEI_FIELD_FUNCTION_OR_SPAN, /* the same in phase leave, a number in others */
    CUNEI_FIELD_FUNCTIONS,        /* an array of ids; the first may be 0 */
    CUNEI_FIELD_LEVEL,            /* enum cunei_level */
    CUNEI_FIELD_VALUE_KIND,       /* enum cunei_value_kind */
    CUNEI_FIELD_COUNTER_KIND,     /* CUNEI_COUNTER_VALUE_DOUBLE, …TOTAL_DOUBLE */
};

/*
 * The rows: number, constant, name in CTF, stream class, payload (CUNEI_…_FIELDS), and
 * a check of the payload beyond the kinds of its fields, or NULL.
 *
 * Reserved: 14 object, 16 region (native), 20 message (MPI).  Numbers are not reused.
 */
#define CUNEI_EVENT_CLASSES(ROW)                                             \
    ROW(1, STACK, "stack", EVENTS, STACK, NULL)                              \
    ROW(2, CALL, "call", EVENTS, CALL, NULL)                                 \
    ROW(3, UNWIND, "unwind", EVENTS, UNWIND, NULL)                           \
    ROW(4, DEFINE, "define", DEFINITIONS, DEFINE, NULL)                      \
    ROW(5, GAP, "gap", EVENTS, GAP, NULL)                                    \
    ROW(6, DEMOTE, "demote", EVENTS, DEMOTE, NULL)                           \
    ROW(7, SWITCH, "switch", EVENTS, SWITCH, NULL)                           \
    ROW(8, TASK, "task", EVENTS, TASK, NULL)                                 \
    ROW(9, THREAD_NAME, "thread_name", EVENTS, THREAD_NAME, NULL)            \
    ROW(10, EXCEPTION, "exception", EVENTS, EXCEPTION, NULL)                 \
    ROW(11, GC, "gc", EVENTS, GC, NULL)                                      \
    ROW(12, LINE, "line", EVENTS, LINE, NULL)                                \
    ROW(13, ARGUMENT, "argument", EVENTS, ARGUMENT, argument_is_valid)       \
    ROW(15, MARK, "mark", EVENTS, USER_VALUE, user_value_is_valid)           \
    ROW(17, COUNTER, "counter", EVENTS, COUNTER, NULL)                       \
    ROW(18, PARAMETER, "parameter", EVENTS, USER_VALUE, user_value_is_valid) \
    ROW(19, SAMPLE, "sample", EVENTS, SAMPLE, NULL)                          \
    ROW(21, TAG, "tag", EVENTS, USER_VALUE, user_value_is_valid)             \
    ROW(22, METADATA, "metadata", EVENTS, USER_VALUE, user_value_is_valid)   \
    ROW(23, TOKEN, "token", EVENTS, TOKEN, NULL)

#define CUNEI_ROW_CONSTANT(number, constant, name, stream, payload, check) \
    CUNEI_CLASS_##constant = (number),
enum cunei_class {
    CUNEI_EVENT_CLASSES(CUNEI_ROW_CONSTANT) CUNEI_CLASS_COUNT
};

/* struct `tag`: a record, then its fields, without padding. */
#define CUNEI_PAYLOAD(tag, fields)                                      \
    struct tag {                                                        \
        uint64_t record;                                                \
        fields(CUNEI_MEMBER, CUNEI_MEMBER_ARRAY)                        \
    };                                                                  \
    static_assert(sizeof(struct tag) == CUNEI_FIXED_SIZE(fields) &&     \
                      CUNEI_FIXED_SIZE(fields) % sizeof(uint64_t) == 0, \
                  "a payload is not whole words")
#define CUNEI_FIXED_SIZE(fields)                \
    sizeof(struct __attribute__((packed)) {     \
        uint64_t record;                        \
        fields(CUNEI_MEMBER, CUNEI_MEMBER_NONE) \
    })
#define CUNEI_MEMBER(type, name, kind)       type name;
#define CUNEI_MEMBER_ARRAY(type, name, kind) type name[];
#define CUNEI_MEMBER_NONE(type, name, kind)

/* A packet's first event: the open functions, outermost first. */
#define CUNEI_STACK_FIELDS(FIELD, ARRAY)                                              \
    FIELD(uint32_t, omitted, NUMBER) /* outer frames left out: there were too many */ \
    FIELD(uint32_t, count, NUMBER)   /* even … */                                   \
    ARRAY(uint32_t, functions, FUNCTIONS) /* … so that an odd number begins with 0 */
CUNEI_PAYLOAD(cunei_stack, CUNEI_STACK_FIELDS);

/* A call, return, yield or resume of a function whose id is not an event class. */
#define CUNEI_CALL_FIELDS(FIELD, ARRAY) FIELD(uint64_t, function, FUNCTION)
CUNEI_PAYLOAD(cunei_call, CUNEI_CALL_FIELDS);

/*
 * Precedes the `leave` of a frame that an exception ends.  `run` is the number of
 * frames of its function directly on top of each other, this one included; 0: not
 * counted.  In a recursion it shows whether the entry of the frame was recorded, which
 * is not certain for an exception raised from outside (a signal).  Phase leave: an
 * asynchronous generator was closed, which is not a failure.
 */
#define CUNEI_UNWIND_FIELDS(FIELD, ARRAY) FIELD(uint64_t, run, NUMBER)
CUNEI_PAYLOAD(cunei_unwind, CUNEI_UNWIND_FIELDS);

/* In place of the phase of a `define` record. */
enum cunei_define_form {
    CUNEI_DEFINE_PLAIN,
    CUNEI_DEFINE_ESCAPED, /* its text is escaped (cunei_text_escape) */
};

/* The definition of a function whose id is not an event class. */
#define CUNEI_DEFINE_FIELDS(FIELD, ARRAY)                                           \
    FIELD(uint32_t, function, NUMBER)                                               \
    FIELD(uint32_t, line, NUMBER)                                                   \
    FIELD(uint32_t, module_length, NUMBER)                                          \
    FIELD(uint32_t, qualname_length, NUMBER)                                        \
    FIELD(uint32_t, file_length, NUMBER)                                            \
    FIELD(uint32_t, length, NUMBER) /* of text: a multiple of 8, the rest is NUL */ \
    ARRAY(char, text, TEXT)         /* as in the name of a function's class */
CUNEI_PAYLOAD(cunei_define, CUNEI_DEFINE_FIELDS);

/*
 * The program switched the recording of calls off (enter) or on again (leave), for all
 * its threads; one of them records it.  Each thread's next event begins a packet, whose
 * stack holds what is open then.
 */
#define CUNEI_GAP_FIELDS(FIELD, ARRAY) FIELD(uint64_t, reserved, NUMBER) /* 0 */
CUNEI_PAYLOAD(cunei_gap, CUNEI_GAP_FIELDS);

/* How much of a function is recorded, under a budget. */
enum cunei_level {
    CUNEI_LEVEL_FULL,
    CUNEI_LEVEL_COUNTED, /* how often it is called, and no more */
    CUNEI_LEVEL_OFF,
    CUNEI_LEVELS,
};

/*
 * The budget's decisions, for all threads of the process.  Phase enter: from here on
 * less of `function` is recorded; leave: all of it again.  Resume: a burst begins, in
 * which all demoted functions are recorded (level full) or counted; yield: it ends.
 * Each thread's next event begins a packet, whose stack holds what is open then.
 */
#define CUNEI_DEMOTE_FIELDS(FIELD, ARRAY)                        \
    FIELD(uint32_t, function, FUNCTION_OR_NONE) /* 0: a burst */ \
    FIELD(uint32_t, level, LEVEL)
CUNEI_PAYLOAD(cunei_demote, CUNEI_DEMOTE_FIELDS);

/*
 * From here on another greenlet runs on this thread; its open functions, as in a
 * stack.  The frames that were open before are suspended.
 */
#define CUNEI_SWITCH_FIELDS(FIELD, ARRAY)                                             \
    FIELD(uint64_t, greenlet, NUMBER) /* its number in this process while it lives */ \
    FIELD(uint32_t, omitted, NUMBER)                                                  \
    FIELD(uint32_t, count, NUMBER)                                                    \
    ARRAY(uint32_t, functions, FUNCTIONS)
CUNEI_PAYLOAD(cunei_switch, CUNEI_SWITCH_FIELDS);

/*
 * The next event, an entry or resume of a coroutine, is a step of this task: the task
 * runs until that frame returns or is suspended.  Phase enter: its first step; resume:
 * a later one; leave: its last step continues in another of its coroutines, as when an
 * exception thrown into a task propagates from one to the next.
 */
#define CUNEI_TASK_FIELDS(FIELD, ARRAY)                                    \
    FIELD(uint64_t, task, NUMBER) /* its number in this process, from 1 */ \
    FIELD(uint32_t, reserved, NUMBER)                                      \
    FIELD(uint32_t, length, NUMBER) /* 0: its name has not changed */      \
    ARRAY(char, name, TEXT)
CUNEI_PAYLOAD(cunei_task, CUNEI_TASK_FIELDS);

/* The name of the thread, from here on. */
#define CUNEI_THREAD_NAME_FIELDS(FIELD, ARRAY)              \
    FIELD(uint64_t, thread, NUMBER) /* its serial number */ \
    FIELD(uint32_t, reserved, NUMBER)                       \
    FIELD(uint32_t, length, NUMBER)                         \
    ARRAY(char, name, TEXT)
CUNEI_PAYLOAD(cunei_thread_name, CUNEI_THREAD_NAME_FIELDS);

/* In handler_line: the exception ended the program, or a thread. */
#define CUNEI_EXCEPTION_UNHANDLED 1u

/*
 * An exception.  All of its events hold where it was raised and its type, so that each
 * can be read alone.
 *
 *     enter    it was raised
 *     leave    it was caught, after it had ended `unwound` frames; handler 0: by a C
 *              function or by code that is not recorded, or, with handler_line
 *              CUNEI_EXCEPTION_UNHANDLED, it was not caught
 *     resume   its handler raised it again: a `finally`, a `with`, an `except` for
 *              another type
 */
#define CUNEI_EXCEPTION_FIELDS(FIELD, ARRAY)                                          \
    FIELD(uint32_t, function, FUNCTION_OR_NONE) /* that raised it; 0: not recorded */ \
    FIELD(uint32_t, line, NUMBER)                                                     \
    FIELD(uint32_t, handler, FUNCTION_OR_NONE) /* in leave and resume */              \
    FIELD(uint32_t, handler_line, NUMBER)                                             \
    FIELD(uint32_t, unwound, NUMBER)                                                  \
    FIELD(uint32_t, length, NUMBER)                                                   \
    ARRAY(char, type, TEXT) /* module.qualname, without the module for builtins */
CUNEI_PAYLOAD(cunei_exception, CUNEI_EXCEPTION_FIELDS);

/* A garbage collection, enter to leave; at enter only the generation is known. */
#define CUNEI_GC_FIELDS(FIELD, ARRAY)                \
    FIELD(uint64_t, collected, NUMBER) /* objects */ \
    FIELD(uint32_t, generation, NUMBER)              \
    FIELD(uint32_t, uncollectable, NUMBER)
CUNEI_PAYLOAD(cunei_gc, CUNEI_GC_FIELDS);

/*
 * A line of `function`, the innermost open one.  Phase enter: the line begins; resume:
 * the function resumes in it, right after the function's own `resume`; yield: the line
 * begins, unless the frame is in it already.
 */
#define CUNEI_LINE_FIELDS(FIELD, ARRAY) \
    FIELD(uint32_t, line, NUMBER)       \
    FIELD(uint32_t, function, FUNCTION) /* one store: function << 32 | line */
CUNEI_PAYLOAD(cunei_line, CUNEI_LINE_FIELDS);

/*
 * An argument (phase enter, after the entry it belongs to) or a result (phase leave,
 * before the leave) of a call of `function`, the innermost open one.
 */
#define CUNEI_ARGUMENT_FIELDS(FIELD, ARRAY)                      \
    FIELD(uint32_t, function, FUNCTION)                          \
    FIELD(uint32_t, index, NUMBER) /* of the argument, from 0 */ \
    FIELD(uint32_t, name_length, NUMBER)                         \
    FIELD(uint32_t, length, NUMBER)                              \
    ARRAY(char, text, TEXT) /* name=value; a result has no name */
CUNEI_PAYLOAD(cunei_argument, CUNEI_ARGUMENT_FIELDS);

/* What a value is. */
enum cunei_value_kind {
    CUNEI_VALUE_NONE,
    CUNEI_VALUE_INT,    /* int64_t */
    CUNEI_VALUE_DOUBLE, /* the bits of one */
    CUNEI_VALUE_TEXT,   /* behind the name */
    CUNEI_VALUE_ERROR,  /* the same: what the program did wrong */
    CUNEI_VALUE_KINDS,
};

#define CUNEI_VALUE_MAX 4096u

/*
 * What the program records under a name:
 *
 *     mark        at this time; kind error: a call of our API that was wrong
 *     parameter   of `target`, the innermost open region of the thread, or without one
 *                 the innermost function; 0: that is not recorded
 *     tag         once in a process: the calls of `target`, a function, are the region
 *                 of this name
 *     metadata    of the whole process; the last one counts
 */
#define CUNEI_USER_VALUE_FIELDS(FIELD, ARRAY)                          \
    FIELD(uint64_t, value, SIGNED) /* of the kinds that are numbers */ \
    FIELD(uint32_t, kind, VALUE_KIND)                                  \
    FIELD(uint32_t, name_length, NUMBER)                               \
    FIELD(uint32_t, target, FUNCTION_OR_NONE)                          \
    FIELD(uint32_t, length, NUMBER) /* at most CUNEI_VALUE_MAX */      \
    ARRAY(char, text, TEXT)         /* the name; of a text `=` and the text */
CUNEI_PAYLOAD(cunei_user_value, CUNEI_USER_VALUE_FIELDS);

/* In cunei_counter.kind: which of the two is a double; the others are int64_t. */
#define CUNEI_COUNTER_VALUE_DOUBLE 1u
#define CUNEI_COUNTER_TOTAL_DOUBLE 2u

/* A counter.  Phase enter: it is set to `value`; resume: `value` is added to it. */
#define CUNEI_COUNTER_FIELDS(FIELD, ARRAY)                                 \
    FIELD(uint64_t, value, SIGNED)                                         \
    FIELD(uint64_t, total, SIGNED)     /* in this process, after that */   \
    FIELD(uint32_t, counter, FUNCTION) /* defined in CUNEI_COUNTER_FILE */ \
    FIELD(uint32_t, kind, COUNTER_KIND)
CUNEI_PAYLOAD(cunei_counter, CUNEI_COUNTER_FIELDS);

/* In cunei_sample.flags: every call was counted. */
#define CUNEI_SAMPLE_COUNTED 1u

/*
 * An estimate of what a demoted function did in all threads while it was not recorded,
 * since its last `sample`; to be added to what was recorded.  Phase enter: all of it;
 * leave: the part for one caller.  Times are in ticks.  Errors are standard errors,
 * independent of those of other samples; biases are not.
 */
#define CUNEI_SAMPLE_FIELDS(FIELD, ARRAY)                                             \
    FIELD(uint32_t, function, FUNCTION)                                               \
    FIELD(uint32_t, caller, FUNCTION_OR_NONE) /* in phase leave; 0: unknown */        \
    /* The run time that it covers.  In phase leave instead the function in whose own \
     * time it was counted: the nearest recorded one further out; 0: unknown. */      \
    FIELD(uint64_t, span, FUNCTION_OR_SPAN)                                           \
    FIELD(uint64_t, calls, NUMBER)                                                    \
    FIELD(uint64_t, resumes, NUMBER)                                                  \
    FIELD(uint64_t, self, NUMBER)                                                     \
    FIELD(uint64_t, total, NUMBER)                                                    \
    FIELD(uint64_t, calls_error, NUMBER)                                              \
    FIELD(uint64_t, resumes_error, NUMBER)                                            \
    FIELD(uint64_t, self_error, NUMBER)                                               \
    FIELD(uint32_t, bias, NUMBER)      /* of calls and resumes, in millionths … */  \
    FIELD(uint32_t, self_bias, NUMBER) /* … and of its own time */                  \
    FIELD(uint64_t, flags, NUMBER)
CUNEI_PAYLOAD(cunei_sample, CUNEI_SAMPLE_FIELDS);

/* A stream of tokens begins (enter), produces `count` (resume), ends (leave). */
#define CUNEI_TOKEN_FIELDS(FIELD, ARRAY)                                        \
    FIELD(uint64_t, serial, NUMBER) /* of the stream in this process, from 1 */ \
    FIELD(uint32_t, name, FUNCTION) /* defined in CUNEI_TOKENS_FILE */          \
    FIELD(uint32_t, count, NUMBER)
CUNEI_PAYLOAD(cunei_token, CUNEI_TOKEN_FIELDS);

struct cunei_field {
    const char *name; /* in CTF; NULL behind the last field */
    uint8_t size;     /* in bytes: of the number, or of an array's elements */
    uint8_t kind;     /* enum cunei_field_kind */
};

/* `words` fixed ones, the record included, then an array of `per_word` to a word. */
struct cunei_event_class {
    const char *name;                        /* NULL: no such class */
    const struct cunei_field *fields;        /* in order, from behind the record on */
    bool (*is_valid)(const uint64_t *words); /* NULL: the fields' kinds suffice */
    uint8_t stream;                          /* enum cunei_stream_class */
    uint8_t words;
    uint8_t per_word; /* 0: there is no array */
};

#endif
