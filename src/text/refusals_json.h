// SPDX-License-Identifier: MIT
/* Processes that could not record, in JSON: the same in `cunei info` and reports. */
#ifndef CUNEI_TEXT_REFUSALS_JSON_H
#define CUNEI_TEXT_REFUSALS_JSON_H

struct cunei_json;
struct cunei_refusals;

/* Put the member `unrecorded`: an array of objects with pid and reason. */
void cunei_refusals_put_json(const struct cunei_refusals *refusals,
                             struct cunei_json *json);

#endif
