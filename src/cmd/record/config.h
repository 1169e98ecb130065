// SPDX-License-Identifier: MIT
/*
 * The recording options of a project: [tool.cunei] in its pyproject.toml.
 *
 * The file is the first above the script (see cmd/record/project.h for where that
 * begins) that has such a table.  Its keys are the long names of options of a
 * recording, and they are defaults: what was typed takes their place.  include,
 * exclude, filter and only-project are one choice, of which any that is typed takes the
 * place of all.
 *
 *     struct cunei_config config = {0};
 *     rc = cunei_config_read(&config, start);
 *     if (rc == 0 && config.path)
 *         rc = cunei_config_apply(&config, &values);
 *     cunei_config_fini(&config);
 */
#ifndef CUNEI_CMD_RECORD_CONFIG_H
#define CUNEI_CMD_RECORD_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/syntax_error.h"

struct cunei_option;
struct cunei_record_options;

/* One value, of which a list has several. */
struct cunei_config_item {
    const struct cunei_option *option; /* of cunei_record_option_rows */
    char *text;                        /* owned */
    size_t line, column;
};

struct cunei_config {
    char *path;                      /* owned: of the file; NULL: none was found */
    struct cunei_config_item *items; /* owned */
    size_t count;
    struct cunei_buffer keys;        /* that were there, a line each */
    uint64_t typed;                  /* options that were, since it was applied */
    struct cunei_syntax_error error; /* of reading or applying it */
};

/*
 * Find and read it, from the folder `start` upward.  -EINVAL: `path` and `error` say
 * where and why it is malformed; 0 without a path: none was found.
 */
int cunei_config_read(struct cunei_config *config, const char *start);
void cunei_config_fini(struct cunei_config *config);

/* Put the values in where nothing was typed.  -EINVAL: as above. */
int cunei_config_apply(struct cunei_config *config,
                       struct cunei_record_options *values);

/* Where an option, or one of the same choice, was given; NULL: not there, or typed. */
const struct cunei_config_item *cunei_config_item(const struct cunei_config *config,
                                                  const char *name);

/* "include = app, only-project": what it says, in its order. */
void cunei_config_format(const struct cunei_config *config, struct cunei_buffer *out);

#endif
