// SPDX-License-Identifier: MIT
/*
 * A subcommand is one file that defines one `struct cunei_cmd`, one declaration here
 * and one line in the table in main.c.  Usage, help and suggestions are all made from
 * the tables.
 *
 *     static int run_info(int argc, char **argv)
 *     {
 *         struct info_values values = {0};
 *
 *         int status = cunei_options_parse(&cunei_cmd_info, &argc, argv, &values);
 *         if (status != CUNEI_OPTIONS_CONTINUE)
 *             return status;
 *         …
 *     }
 */
#ifndef CUNEI_CMD_CMD_H
#define CUNEI_CMD_CMD_H

#include "cmd/common/command.h"
#include "cmd/common/message.h"

extern const struct cunei_cmd cunei_cmd_record;
extern const struct cunei_cmd cunei_cmd_run;
extern const struct cunei_cmd cunei_cmd_top;
extern const struct cunei_cmd cunei_cmd_attach;
extern const struct cunei_cmd cunei_cmd_arm;
extern const struct cunei_cmd cunei_cmd_report;
extern const struct cunei_cmd cunei_cmd_view;
extern const struct cunei_cmd cunei_cmd_compare;
extern const struct cunei_cmd cunei_cmd_export;
extern const struct cunei_cmd cunei_cmd_filter;
extern const struct cunei_cmd cunei_cmd_replay;
extern const struct cunei_cmd cunei_cmd_dump;
extern const struct cunei_cmd cunei_cmd_info;
extern const struct cunei_cmd cunei_cmd_list;
extern const struct cunei_cmd cunei_cmd_snapshot;
extern const struct cunei_cmd cunei_cmd_watch;
extern const struct cunei_cmd cunei_cmd_try_trigger;
extern const struct cunei_cmd cunei_cmd_recover;
extern const struct cunei_cmd cunei_cmd_doctor;

#endif
