// SPDX-License-Identifier: MIT
/* Parts of triggers that several kinds have.  Each function appends to `reason` why a
 * text is not such a part, and returns -EINVAL then, or -ENOMEM. */
#ifndef CUNEI_TRIGGER_PARSE_H
#define CUNEI_TRIGGER_PARSE_H

struct cunei_buffer;
struct cunei_trigger;

/* ":NAME", a glob, into `argument`. */
int cunei_trigger_parse_name(struct cunei_trigger *trigger, const char *rest,
                             struct cunei_buffer *reason);

/* ">50ms", into `limit_ns`. */
int cunei_trigger_parse_limit(struct cunei_trigger *trigger, const char *rest,
                              struct cunei_buffer *reason);

/* This text, and no other. */
int cunei_trigger_parse_word(struct cunei_trigger *trigger, const char *rest,
                             const char *wanted, struct cunei_buffer *reason);

/* The sentence for a text that has not the form of its kind; -EINVAL. */
int cunei_trigger_refuse(const struct cunei_trigger *trigger,
                         struct cunei_buffer *reason);

#endif
