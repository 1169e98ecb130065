// SPDX-License-Identifier: MIT
/*
 * What a program recorded with the API, added up: regions, their parameters, counters,
 * marks, metadata, streams of tokens.
 *
 *     struct cunei_user_facts facts;
 *     cunei_user_facts_init(&facts);
 *     … model/user/user_reader.h takes in streams …
 *     cunei_user_facts_finish(&facts);
 *     …
 *     cunei_user_facts_fini(&facts);
 *
 * What has the same name is the same, in whichever thread or process.  Times are in
 * nanoseconds, those of marks and metadata by the wall clock.  Numbers of names are
 * capped; what finds no place goes to an item of the name "…".
 */
#ifndef CUNEI_MODEL_USER_USER_FACTS_H
#define CUNEI_MODEL_USER_USER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts/histogram.h"
#include "model/facts/number_distribution.h"
#include "model/facts/text_set.h"
#include "wire/user_event.h"

struct cunei_buffer;

#define CUNEI_REGIONS_MAX    (1u << 20)
#define CUNEI_COUNTERS_MAX   (1u << 16)
#define CUNEI_PARAMETERS_MAX (1u << 20) /* of a value each */
#define CUNEI_MARKS_MAX      (1u << 20)
#define CUNEI_MARK_BYTES_MAX ((size_t)16 << 20) /* of their different texts */
#define CUNEI_METADATA_MAX   (1u << 16)
#define CUNEI_TOKENS_MAX     (1u << 23) /* ticks that are kept to be put in order */
/* Different values of a parameter that are kept apart; and how many are few. */
#define CUNEI_VALUES_MAX 1024u
#define CUNEI_VALUES_FEW 20u

/* A region counts from its start to its end, but for what it was suspended. */
struct cunei_region_facts {
    uint64_t count;                   /* that began */
    uint64_t resumes;                 /* of suspended ones */
    uint64_t total_ns;                /* one in another of its name counts once */
    uint64_t whole_ns;                /* the sum of whole ones, each by itself … */
    uint64_t min_ns, max_ns;          /* … the shortest and longest of them … */
    struct cunei_histogram histogram; /* … and all of them, in ns */
};

/* A value that was given to a region, or to a function that is not a region. */
struct cunei_parameter_facts {
    bool is_region;
    uint32_t region;               /* its index … */
    const char *module, *qualname; /* … or the function; borrowed from the trace */
    uint32_t name;                 /* index of its name */
    uint32_t group;                /* index of all values of this name and owner */
    char *text, *json; /* owned: the value; NULL: of those that are too many */
    uint64_t count;
    uint64_t total_ns; /* of the regions or calls that it was given to */
};

struct cunei_counter_facts {
    uint64_t count; /* with those that are no number */
    uint64_t nan;
    bool is_double;    /* one of them is no integer */
    __int128 whole;    /* the sum of integers … */
    double sum, carry; /* … and of others; the carry is what rounding took */
    double min, max;
    int64_t whole_min, whole_max; /* valid unless is_double */
    struct cunei_distribution spread;
    struct cunei_time_series course; /* of what it stood at */
};

/* There may be a million of them. */
struct cunei_mark_facts {
    uint64_t time_ns;
    uint64_t value;   /* of the kinds that are numbers */
    uint32_t kind;    /* enum cunei_value_kind; an error's text is what was wrong */
    uint32_t name;    /* index of its text … */
    uint32_t text;    /* … and of its value's, of the other kinds */
    uint32_t process; /* index */
    uint32_t tid;
};

struct cunei_metadata_facts {
    char *text, *json; /* owned */
    uint64_t time_ns;
};

/* So many tokens came. */
struct cunei_tick {
    uint64_t time_ns;
    uint32_t count;
    uint32_t reserved;
};

/* A stream of tokens.  What needs their order is known after the finish. */
struct cunei_tokens_facts {
    uint32_t process; /* index */
    uint32_t name;    /* index of its name */
    uint64_t number;  /* in its process */
    bool has_begun, has_ended;
    uint64_t begin_ns, end_ns; /* wall clock */
    uint64_t count;            /* tokens */
    uint64_t first_ns;         /* to the first one; valid with has_first */
    bool has_first;
    double per_s;                     /* 0: unknown */
    uint64_t min_ns, max_ns;          /* between two tokens … */
    struct cunei_histogram histogram; /* … and all of them */
    struct cunei_tick *ticks;         /* private, owned: until the finish */
    uint32_t tick_count, tick_capacity;
};

struct cunei_user_facts {
    struct cunei_text_set region_names;
    struct cunei_region_facts *regions; /* owned, as all; by index of the name */
    struct cunei_text_set parameter_names;
    struct cunei_text_set parameter_keys; /* private, as the next two */
    struct cunei_text_set group_keys;
    uint32_t *group_sizes; /* how many different values */
    struct cunei_parameter_facts *parameters;
    struct cunei_text_set counter_names;
    struct cunei_counter_facts *counters;
    struct cunei_text_set mark_texts;
    struct cunei_mark_facts *marks; /* by time after the finish */
    size_t mark_count, mark_capacity;
    struct cunei_text_set metadata_keys;
    struct cunei_metadata_facts *metadata;
    struct cunei_text_set token_names;
    struct cunei_text_set token_keys; /* private */
    struct cunei_tokens_facts *tokens;
    uint64_t tick_total; /* kept */
};

void cunei_user_facts_init(struct cunei_user_facts *facts);
void cunei_user_facts_fini(struct cunei_user_facts *facts);

/* The index of a region, counter or kind of tokens by its name; -ENOMEM. */
int64_t cunei_user_facts_region(struct cunei_user_facts *facts, const char *name);
int64_t cunei_user_facts_counter(struct cunei_user_facts *facts, const char *name);

/* A whole region took that long; -ENOMEM, as of all that follow. */
int cunei_user_facts_sample(struct cunei_region_facts *region, uint64_t ns);

/* The index of a parameter's value; `owner` is the region or function it is of. */
int64_t cunei_user_facts_parameter(struct cunei_user_facts *facts,
                                   const struct cunei_parameter_facts *owner,
                                   const struct cunei_user_value *value);
int cunei_user_facts_count(struct cunei_counter_facts *counter,
                           const struct cunei_counter *event, uint64_t time_ns);
int cunei_user_facts_mark(struct cunei_user_facts *facts,
                          const struct cunei_user_value *value,
                          const struct cunei_mark_facts *where);
int cunei_user_facts_metadata(struct cunei_user_facts *facts,
                              const struct cunei_user_value *value, uint64_t time_ns);
int cunei_user_facts_token(struct cunei_user_facts *facts, uint32_t process,
                           const char *name, const struct cunei_token *event,
                           uint64_t time_ns);

/*
 * Private: the index of a text in a set that has an item for each, zeroed when it
 * comes. The last place is for those that find none.
 */
int64_t cunei_user_facts_item(struct cunei_text_set *set, void **items,
                              size_t item_size, const char *text, size_t size);
#define CUNEI_USER_FACTS_ITEM(set, items, text, size)                            \
    ({                                                                           \
        void *items_ = (items);                                                  \
        int64_t index_ =                                                         \
            cunei_user_facts_item(set, &items_, sizeof(*(items)), (text), size); \
        (items) = items_;                                                        \
        index_;                                                                  \
    })

/* Nothing more comes: put what needs it in order. */
int cunei_user_facts_finish(struct cunei_user_facts *facts);

/* How many different values a parameter has; more than CUNEI_VALUES_MAX: too many. */
static inline uint32_t cunei_user_facts_values(
    const struct cunei_user_facts *facts, const struct cunei_parameter_facts *parameter)
{
    return facts->group_sizes[parameter->group];
}

/* Whether a parameter's values are so few that each is worth a row, as this one is. */
static inline bool cunei_user_facts_is_few(
    const struct cunei_user_facts *facts, const struct cunei_parameter_facts *parameter)
{
    return cunei_user_facts_values(facts, parameter) <= CUNEI_VALUES_FEW &&
           parameter->text && parameter->count > 0;
}

/* How long a region takes, of whole ones; and the time between two tokens. */
uint64_t cunei_user_facts_region_mean(const struct cunei_region_facts *region);
uint64_t cunei_user_facts_region_quantile(const struct cunei_region_facts *region,
                                          double fraction);
uint64_t cunei_user_facts_tokens_quantile(const struct cunei_tokens_facts *tokens,
                                          double fraction);

/* The sum of all that are numbers, and its mean. */
double cunei_user_facts_sum(const struct cunei_counter_facts *counter);
double cunei_user_facts_mean(const struct cunei_counter_facts *counter);

#endif
