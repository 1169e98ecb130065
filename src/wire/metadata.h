// SPDX-License-Identifier: MIT
/*
 * The metadata of a trace: TSDL text that describes what the bytes of the streams mean.
 *
 * It begins with a preamble, put in place whole by rename, and grows by one line per
 * function, each written before the first record that uses it (wire/live.h):
 *
 *     event { name = "m:f (x.py:1)"; id = 1024; stream_id = 0; }; // 1 1 4
 *
 * but for the comment, which is in the C style.
 *
 * The numbers in the comment are the bytes of module, qualified name and file in the
 * name, so that our reader can take it apart whatever characters it holds; an `e` after
 * them says that the name is escaped (cunei_text_escape), because it holds
 * characters that are unsafe to print.  The parser takes exactly what the formatter
 * makes; any other TSDL is -EINVAL, and everything it reads is checked.
 */
#ifndef CUNEI_WIRE_METADATA_H
#define CUNEI_WIRE_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUNEI_METADATA_NAME     "metadata"
#define CUNEI_METADATA_HOST_MAX 256

struct cunei_buffer;

struct cunei_metadata {
    uint32_t version; /* of the format; also filled in with -EPROTO */
    uint8_t uuid[16];
    uint32_t pid;
    char host[CUNEI_METADATA_HOST_MAX];
    uint64_t frequency; /* ticks per second */
    uint64_t offset_s;  /* wall clock at tick 0: seconds since 1970 … */
    uint64_t offset;    /* … and ticks, less than a second of them */
    bool has_lines;     /* declare the classes of near lines; not parsed */
};

/* A function, as its identity; texts are NUL-terminated UTF-8. */
struct cunei_function {
    uint32_t id;
    uint32_t line;
    const char *module; /* borrowed, as the others */
    const char *qualname;
    const char *file;
    uint64_t source; /* of its file (base/file_stamp.h), where its lines are recorded;
                        or 0 */
};

void cunei_metadata_format(const struct cunei_metadata *metadata,
                           struct cunei_buffer *out);

/*
 * Read the preamble; its length goes to `*preamble_size`.  -EINVAL: no preamble of
 * ours, -EPROTO: one of another version.
 */
int cunei_metadata_parse(struct cunei_metadata *metadata, const char *text, size_t size,
                         size_t *preamble_size);

/* The wall clock at a tick, in nanoseconds since 1970. */
uint64_t cunei_metadata_wall_ns(const struct cunei_metadata *metadata, uint64_t tick);

/* Set frequency and offset so that `tick` is the wall clock `wall_ns`. */
void cunei_metadata_set_clock(struct cunei_metadata *metadata, uint64_t frequency,
                              uint64_t tick, uint64_t wall_ns);

/*
 * The clock's values are padded to a fixed width, so that a better calibration can be
 * written over them in place, in one piece: where it goes in a preamble, and its text.
 * -EINVAL: no preamble.
 */
#define CUNEI_METADATA_CLOCK_SIZE 99
int cunei_metadata_find_clock(const char *text, size_t size, size_t *offset);
void cunei_metadata_format_clock(const struct cunei_metadata *metadata,
                                 char text[CUNEI_METADATA_CLOCK_SIZE + 1]);

/* The name of a function's event, as any CTF reader shows it. */
void cunei_metadata_format_name(const struct cunei_function *function,
                                struct cunei_buffer *out);

/*
 * One line, for a function below CUNEI_FUNCTION_CLASS_END, or, where a trace is written
 * anew for babeltrace2, for any.
 */
void cunei_metadata_format_function(const struct cunei_function *function,
                                    struct cunei_buffer *out);

/*
 * Read such a line, `size` bytes with or without the line break.  It is taken apart in
 * place: the texts of `function` point into it.  -EINVAL: no such line.
 */
int cunei_metadata_parse_function(struct cunei_function *function, char *line,
                                  size_t size);

/* The `define` event, record word included, of a function beyond the classes. */
void cunei_metadata_format_define(const struct cunei_function *function, uint64_t time,
                                  struct cunei_buffer *out);

/*
 * Read a `define` event of `size` bytes in place, as above; its own size in bytes is
 * returned.  -EINVAL: no such event, or one that does not fit.
 */
int cunei_metadata_parse_define(struct cunei_function *function, char *event,
                                size_t size);

#endif
