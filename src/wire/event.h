// SPDX-License-Identifier: MIT
/*
 * The events of a stream, byte for byte.
 *
 * An event is one little-endian 64-bit word, the record, and for a built-in class the
 * payload words that follow it.  The record is written by one store:
 *
 *     bits  0–39   time: the low bits of the clock, relative to the clock's base
 *     bits 40–61   class: a built-in class below 1024, a function from there on
 *     bits 62–63   phase
 *
 * A packet spans less than 2³⁹ ticks, so that its 64-bit begin and the 40 bits give the
 * whole time.  In CTF each function is an event class of its own; functions numbered
 * from CUNEI_FUNCTION_CLASS_END on appear as `call` events, because the time that
 * babeltrace2 needs to load a trace grows with the square of its classes.
 *
 * A change of a layout in this file is a change of CUNEI_WIRE_VERSION.  A new class is
 * not: a trace's metadata describes the classes it may hold, and a reader that does not
 * know one refuses it.
 */
#ifndef CUNEI_WIRE_EVENT_H
#define CUNEI_WIRE_EVENT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CUNEI_WIRE_VERSION 1

#define CUNEI_TIME_BITS   40
#define CUNEI_CLASS_BITS  22
#define CUNEI_TIME_MASK   ((UINT64_C(1) << CUNEI_TIME_BITS) - 1)
#define CUNEI_CLASS_MASK  ((UINT64_C(1) << CUNEI_CLASS_BITS) - 1)
#define CUNEI_CLASS_SHIFT CUNEI_TIME_BITS
#define CUNEI_PHASE_SHIFT (CUNEI_TIME_BITS + CUNEI_CLASS_BITS)

/* No packet may span more: half of what the time bits can tell apart. */
#define CUNEI_SPAN_MAX (UINT64_C(1) << (CUNEI_TIME_BITS - 1))

enum cunei_phase {
    CUNEI_PHASE_ENTER,  /* the first entry of a call */
    CUNEI_PHASE_LEAVE,  /* its end, by return or by an exception */
    CUNEI_PHASE_RESUME, /* re-entry of a generator or coroutine, also by throw() */
    CUNEI_PHASE_YIELD,  /* it is suspended */
};

/*
 * Built-in classes; event.c has their layouts in a table.  The numbers that are only
 * reserved are kept for what later versions write.
 */
enum cunei_class {
    CUNEI_CLASS_STACK = 1,       /* struct cunei_stack */
    CUNEI_CLASS_CALL = 2,        /* struct cunei_call */
    CUNEI_CLASS_UNWIND = 3,      /* struct cunei_unwind */
    CUNEI_CLASS_DEFINE = 4,      /* struct cunei_define, in the definitions stream */
    CUNEI_CLASS_GAP = 5,         /* struct cunei_gap */
    CUNEI_CLASS_DEMOTE = 6,      /* struct cunei_demote */
    CUNEI_CLASS_SWITCH = 7,      /* struct cunei_switch */
    CUNEI_CLASS_TASK = 8,        /* struct cunei_task */
    CUNEI_CLASS_THREAD_NAME = 9, /* struct cunei_thread_name */
    CUNEI_CLASS_EXCEPTION = 10,  /* struct cunei_exception */
    CUNEI_CLASS_GC = 11,         /* struct cunei_gc */
    CUNEI_CLASS_LINE = 12,       /* struct cunei_line */
    CUNEI_CLASS_ARGUMENT = 13,   /* struct cunei_argument */
    CUNEI_CLASS_OBJECT = 14,     /* reserved: an object's birth and death */
    CUNEI_CLASS_MARK = 15,       /* struct cunei_user_value */
    CUNEI_CLASS_REGION = 16,     /* reserved: native regions */
    CUNEI_CLASS_COUNTER = 17,    /* struct cunei_counter */
    CUNEI_CLASS_PARAMETER = 18,  /* struct cunei_user_value */
    CUNEI_CLASS_SAMPLE = 19,     /* struct cunei_sample */
    CUNEI_CLASS_MESSAGE = 20,    /* reserved: MPI */
    CUNEI_CLASS_TAG = 21,        /* struct cunei_user_value */
    CUNEI_CLASS_METADATA = 22,   /* struct cunei_user_value */
    CUNEI_CLASS_TOKEN = 23,      /* struct cunei_token */
    CUNEI_CLASS_COUNT,
};

/*
 * The classes of lines that are near the last `line` event of their packet: their
 * record is all there is of them (cunei_line_near).
 */
#define CUNEI_NEAR_FIRST 768u
#define CUNEI_NEAR_COUNT 256u
#define CUNEI_NEAR_ABOVE 128u /* so many of them are for lines above it */

#define CUNEI_FUNCTION_FIRST     1024u
#define CUNEI_FUNCTION_CLASS_END (CUNEI_FUNCTION_FIRST + 20000u)
#define CUNEI_FUNCTION_END       (1u << CUNEI_CLASS_BITS)

/*
 * What a program names itself is defined as functions are, in these files, without a
 * module, at line 0.  A region's begin and end are the enter and leave of its own
 * class, as if it were a function that is called there; it is suspended with the frame
 * that it was begun in.  Unlike calls, regions need not nest: one may end while
 * functions that were called in it are open, and a function may be left while regions
 * are open that were begun in it.
 */
#define CUNEI_REGION_FILE  "<cunei region>"
#define CUNEI_COUNTER_FILE "<cunei counter>"
#define CUNEI_TOKENS_FILE  "<cunei tokens>"

/*
 * The program has switched the recording of calls off (enter), or on again (leave), for
 * all its threads; one of them says so.  After either, each thread's next event begins
 * a packet, whose stack says what is open then.
 */
struct cunei_gap {
    uint64_t record;
    uint64_t reserved; /* 0 */
};

/* A packet's first event: what is open, outermost first. */
struct cunei_stack {
    uint64_t record;
    uint32_t omitted;     /* outer frames left out because there were too many */
    uint32_t count;       /* even */
    uint32_t functions[]; /* a leading 0 where the number of frames is odd */
};

/* An event of a function beyond the classes; the phase is the record's. */
struct cunei_call {
    uint64_t record;
    uint64_t function;
};

/*
 * Stands right before the `leave` of a frame that an exception ends.  `run` counts how
 * many frames of its function stand directly on top of each other, this one included:
 * a recursion can tell by it whether the frame's entry was ever recorded, which for an
 * exception raised from outside (a signal) need not be so.  0: not counted.  Phase
 * leave: an asynchronous generator that is closed, for which that is a good end.
 */
struct cunei_unwind {
    uint64_t record;
    uint64_t run;
};

/* In place of the phase of a `define` record. */
enum cunei_define_form {
    CUNEI_DEFINE_PLAIN,
    CUNEI_DEFINE_ESCAPED, /* its text is escaped (cunei_text_escape) */
};

/* The definition of a function beyond the classes; `text` as in an event's name. */
struct cunei_define {
    uint64_t record;
    uint32_t function;
    uint32_t line;
    uint32_t module_length;
    uint32_t qualname_length;
    uint32_t file_length;
    uint32_t length; /* of text: a multiple of 8, the rest is NUL */
    char text[];
};

/*
 * From here on another greenlet runs on this thread: what is open now, as in a stack.
 * The frames that were open before are suspended, not left.
 */
struct cunei_switch {
    uint64_t record;
    uint64_t greenlet; /* a number of its own in this process, as long as it lives */
    uint32_t omitted;
    uint32_t count;
    uint32_t functions[];
};

/*
 * The next event, an entry or resumption of a coroutine, is a step of this task: until
 * that frame is left or suspended, the task runs.  Phase enter: its first step; resume:
 * a later one; leave: its last step goes on in another of its coroutines, as it does
 * when an exception thrown into a task passes from one to the next.
 */
struct cunei_task {
    uint64_t record;
    uint64_t task; /* a number of its own in this process, from 1 */
    uint32_t reserved;
    uint32_t length; /* 0: its name is the one that was told last */
    char name[];
};

/* The thread is called so from here on. */
struct cunei_thread_name {
    uint64_t record;
    uint64_t thread; /* its serial number */
    uint32_t reserved;
    uint32_t length;
    char name[];
};

/*
 * An exception: where it was raised and of which type is told in all of its events, so
 * that each says all there is to know.
 *
 *     enter    it was raised
 *     leave    a handler took it, after it had ended `unwound` frames; with handler 0
 *              a C function swallowed it, or code that is not recorded, or, by
 *              handler_line, nobody took it
 *     resume   that handler let it go on: a `finally`, a `with`, an `except` for
 *              another type
 */
struct cunei_exception {
    uint64_t record;
    uint32_t function; /* where it was raised; 0: in one that is not recorded */
    uint32_t line;
    uint32_t handler;      /* the function that took it, in leave and resume; or 0 */
    uint32_t handler_line; /* with handler 0: CUNEI_EXCEPTION_UNHANDLED or 0 */
    uint32_t unwound;
    uint32_t length;
    char type[]; /* module.qualname, without the module for builtins */
};

/* It ended the program, or a thread. */
#define CUNEI_EXCEPTION_UNHANDLED 1u

/* A garbage collection, phase enter to phase leave; the first knows only the former. */
struct cunei_gc {
    uint64_t record;
    uint64_t collected; /* objects */
    uint32_t generation;
    uint32_t uncollectable;
};

/*
 * A line of `function`, which is the innermost open one.  Phase enter: the line begins;
 * resume: the function goes on in it, right after the function's own `resume`; yield:
 * the line begins, unless the frame is in it already.
 */
struct cunei_line {
    uint64_t record;
    uint32_t line;
    uint32_t function; /* both by one store: function << 32 | line */
};

/*
 * An argument (phase enter, after the entry it belongs to) or a result (phase leave,
 * before the leave) of a call of `function`, which is the innermost open one.
 */
struct cunei_argument {
    uint64_t record;
    uint32_t function;
    uint32_t index; /* of the argument, from 0 */
    uint32_t name_length;
    uint32_t length;
    char text[]; /* name=value, the value as people read it; a result has no name */
};

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
 * which all that was demoted is recorded (level full) or counted; yield: it ends.  A
 * thread's next packet begins right after it, and tells what is open as it now counts.
 */
struct cunei_demote {
    uint64_t record;
    uint32_t function; /* 0: of a burst */
    uint32_t level;    /* enum cunei_level */
};

/*
 * What a demoted function is taken to have done in all threads while it was not
 * recorded, since the last `sample` of it: estimates, to be added to what was recorded.
 * Phase enter: all of it; leave: what of that was for one caller.  Times are in ticks;
 * errors are standard errors, independent of those of other samples; `bias` is not.
 */
struct cunei_sample {
    uint64_t record;
    uint32_t function;
    uint32_t caller; /* in phase leave; 0: unknown */
    /* Run time that it is about; in phase leave the function in whose own time it was
     * counted instead: the next one out that was recorded; 0: unknown. */
    uint64_t span;
    uint64_t calls;
    uint64_t resumes;
    uint64_t self;
    uint64_t total;
    uint64_t calls_error;
    uint64_t resumes_error;
    uint64_t self_error;
    uint32_t bias;      /* of calls and resumes, in millionths … */
    uint32_t self_bias; /* … and of its own time */
    uint64_t flags;     /* CUNEI_SAMPLE_COUNTED */
};

/* The calls were counted, every one of them. */
#define CUNEI_SAMPLE_COUNTED 1u

/* What a value is. */
enum cunei_value_kind {
    CUNEI_VALUE_NONE,
    CUNEI_VALUE_INT,    /* int64_t */
    CUNEI_VALUE_DOUBLE, /* the bits of one */
    CUNEI_VALUE_TEXT,   /* behind the name */
    CUNEI_VALUE_ERROR,  /* the same, and it says what the program did wrong */
    CUNEI_VALUE_KINDS,
};

/*
 * What the program says under a name:
 *
 *     mark        at this time; of kind error: a call of ours that was wrong
 *     parameter   of `target`, the innermost open region of the thread, or where none
 *                 is open the innermost function; 0: that is not recorded
 *     tag         once in a process: the calls of `target`, a function, are the region
 *                 of this name
 *     metadata    of the whole process; the last one counts
 */
struct cunei_user_value {
    uint64_t record;
    uint64_t value; /* of the kinds that are numbers */
    uint32_t kind;
    uint32_t name_length;
    uint32_t target;
    uint32_t length; /* at most CUNEI_VALUE_MAX */
    char text[];     /* the name, and of the kinds that are text, `=` and that */
};

#define CUNEI_VALUE_MAX 4096u

/* In cunei_counter.kind: which of the two is a double; the others are int64_t. */
#define CUNEI_COUNTER_VALUE_DOUBLE 1u
#define CUNEI_COUNTER_TOTAL_DOUBLE 2u

/*
 * A counter: phase enter: it is set to `value`; resume: that is added to it.  `total`
 * is what it stands at then, in this process.
 */
struct cunei_counter {
    uint64_t record;
    uint64_t value;
    uint64_t total;
    uint32_t counter; /* its definition, in CUNEI_COUNTER_FILE */
    uint32_t kind;
};

/* A stream of tokens begins (enter), gives so many (resume), ends (leave). */
struct cunei_token {
    uint64_t record;
    uint64_t stream; /* its number in this process, from 1; in CTF `serial` */
    uint32_t name;   /* its definition, in CUNEI_TOKENS_FILE */
    uint32_t count;
};

static_assert(CUNEI_PHASE_SHIFT == 62, "the record is not 64 bits");
static_assert(CUNEI_NEAR_FIRST >= CUNEI_CLASS_COUNT &&
                  CUNEI_NEAR_FIRST + CUNEI_NEAR_COUNT <= CUNEI_FUNCTION_FIRST,
              "classes overlap");
static_assert(sizeof(struct cunei_stack) == 16, "the wire layout moved");
static_assert(sizeof(struct cunei_call) == 16, "the wire layout moved");
static_assert(sizeof(struct cunei_unwind) == 16, "the wire layout moved");
static_assert(sizeof(struct cunei_define) == 32, "the wire layout moved");
static_assert(sizeof(struct cunei_switch) == 24, "the wire layout moved");
static_assert(sizeof(struct cunei_task) == 24, "the wire layout moved");
static_assert(sizeof(struct cunei_thread_name) == 24, "the wire layout moved");
static_assert(sizeof(struct cunei_exception) == 32, "the wire layout moved");
static_assert(sizeof(struct cunei_gc) == 24, "the wire layout moved");
static_assert(sizeof(struct cunei_line) == 16, "the wire layout moved");
static_assert(sizeof(struct cunei_argument) == 24, "the wire layout moved");
static_assert(sizeof(struct cunei_demote) == 16, "the wire layout moved");
static_assert(sizeof(struct cunei_sample) == 96, "the wire layout moved");
static_assert(sizeof(struct cunei_user_value) == 32, "the wire layout moved");
static_assert(sizeof(struct cunei_counter) == 32, "the wire layout moved");
static_assert(sizeof(struct cunei_token) == 24, "the wire layout moved");

/*
 * How a built-in class is laid out: `words` fixed ones, then, where `per_word` is not
 * 0, as many items as the upper half of the last of these says, so many to a word.
 */
struct cunei_layout {
    const char *name;   /* NULL: no such class */
    const char *fields; /* in CTF's language */
    uint8_t stream;     /* enum cunei_stream_class */
    uint8_t words;
    uint8_t per_word; /* 2: functions, 8: bytes of text, padded with NUL */
};

/* The layout of a built-in class, or NULL. */
const struct cunei_layout *cunei_event_layout(uint32_t class);

/*
 * How many words the event at `words` takes, of which `left` are there; 0: it is of an
 * unknown class, or does not fit.
 */
size_t cunei_event_words(const uint64_t *words, size_t left);

static inline uint64_t cunei_record(uint64_t time, uint32_t class, uint32_t phase)
{
    return (time & CUNEI_TIME_MASK) | (uint64_t) class << CUNEI_CLASS_SHIFT |
           (uint64_t)phase << CUNEI_PHASE_SHIFT;
}

static inline uint32_t cunei_record_class(uint64_t record)
{
    return (uint32_t)(record >> CUNEI_CLASS_SHIFT & CUNEI_CLASS_MASK);
}

static inline enum cunei_phase cunei_record_phase(uint64_t record)
{
    return (enum cunei_phase)(record >> CUNEI_PHASE_SHIFT);
}

static inline int cunei_class_is_near(uint32_t class)
{
    return class - CUNEI_NEAR_FIRST < CUNEI_NEAR_COUNT;
}

/*
 * A line by its record alone, in full: it is of the function of `last`, the last `line`
 * event before it in its packet, and so far from that one as its class says.
 */
static inline struct cunei_line cunei_line_near(uint64_t record,
                                                const struct cunei_line *last)
{
    const uint64_t class = (uint64_t)CUNEI_CLASS_MASK << CUNEI_CLASS_SHIFT;
    uint32_t distance = cunei_record_class(record) - CUNEI_NEAR_FIRST;

    return (struct cunei_line){
        .record = (record & ~class) | (uint64_t)CUNEI_CLASS_LINE << CUNEI_CLASS_SHIFT,
        .line = last->line + distance - CUNEI_NEAR_ABOVE,
        .function = last->function,
    };
}

/* The whole time of a record in a packet that begins at `begin`. */
static inline uint64_t cunei_record_time(uint64_t record, uint64_t begin)
{
    return begin + ((record - begin) & CUNEI_TIME_MASK);
}

#endif
