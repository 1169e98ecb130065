// SPDX-License-Identifier: MIT
/*
 * What cProfile calls a function: (file, line, name), where the name is the last part
 * of the qualified one.  One that is written in C has the file ~, the line 0 and a
 * description for a name, as `<built-in method builtins.len>`.
 */
#ifndef CUNEI_ANALYSIS_CPROFILE_LABEL_H
#define CUNEI_ANALYSIS_CPROFILE_LABEL_H

#include "wire/metadata.h"

struct cunei_buffer;

/*
 * The label, with an empty module.  Its texts are borrowed from the function, or from
 * `text` where they had to be put together; where that failed, text->failed says so.
 * Class methods and static methods of C are named with their type, which cProfile does
 * not know.
 */
struct cunei_function cunei_label_make(const struct cunei_function *function,
                                       struct cunei_buffer *text);

/*
 * The other way round: the module and name in the label of a function in C,
 * put into `text`.  Other labels, and those without a module, stay as they are.
 */
struct cunei_function cunei_label_parse(const struct cunei_function *label,
                                        struct cunei_buffer *text);

#endif
