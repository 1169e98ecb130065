// SPDX-License-Identifier: MIT
#include "cmd/top/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/directory/process_folder.h"

static void set_stamp(struct cunei_top_save *save)
{
    time_t now = time(NULL);
    struct tm local;

    (void)localtime_r(&now, &local);
    (void)strftime(save->stamp, sizeof(save->stamp), "%Y%m%d-%H%M%S", &local);
}

/* A snapshot has all processes: of the folder of one, the directory that it is in. */
static int add_trace(struct cunei_top_targets *from, const char *real)
{
    const char *slash = strrchr(real, '/');

    if (!slash || slash == real || cunei_process_folder_is_one(real) <= 0)
        return cunei_top_targets_add(from, real, NULL);
    char *directory = strndup(real, (size_t)(slash - real));
    int rc = directory ? cunei_top_targets_add(from, directory, NULL) : -ENOMEM;
    free(directory);
    return rc;
}

static int add_all(struct cunei_top_save *save, const struct cunei_top_targets *targets)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < targets->count; i++) {
        const struct cunei_top_target *target = &targets->items[i];
        rc = save->kind == CUNEI_TOP_SAVE_SNAPSHOT
                 ? add_trace(&save->from, target->real)
                 : cunei_top_targets_add(&save->from, target->path, target->pid);
    }
    return rc;
}

static int start_next(struct cunei_top_save *save)
{
    const struct cunei_top_target *target = &save->from.items[save->next++];
    bool is_page = save->kind == CUNEI_TOP_SAVE_PAGE;
    char number[24] = "", name[96];

    if (save->from.count > 1)
        (void)snprintf(number, sizeof(number), "-%zu", save->next);
    (void)snprintf(name, sizeof(name), "%s-%s%s%s", is_page ? "top" : "snapshot",
                   save->stamp, number, is_page ? ".html" : "");
    const char *snapshot[] = {"cunei", "snapshot", "-o", name, target->path, NULL};
    const char *page[] = {
        "cunei",     "export", "--to",       "html",
        "-o",        name,     target->path, target->pid ? "--process" : NULL,
        target->pid, NULL};
    return cunei_top_background_start(&save->background, is_page ? page : snapshot);
}

static void clear(struct cunei_top_save *save)
{
    cunei_top_targets_fini(&save->from);
    *save = CUNEI_TOP_SAVE_NONE;
}

int cunei_top_save_start(struct cunei_top_save *save, enum cunei_top_save_kind kind,
                         const struct cunei_top_targets *targets)
{
    if (save->from.count > 0)
        return -EBUSY;
    save->kind = kind;
    set_stamp(save);
    int rc = add_all(save, targets);
    if (rc == 0)
        rc = start_next(save);
    if (rc < 0)
        clear(save);
    return rc;
}

bool cunei_top_save_look(struct cunei_top_save *save, char *text, size_t size)
{
    bool is_page = save->kind == CUNEI_TOP_SAVE_PAGE, has_failed = false;
    size_t count = save->from.count;

    if (!cunei_top_background_look(&save->background, text, size, &has_failed))
        return false;
    if (has_failed && !save->failure[0])
        (void)snprintf(save->failure, sizeof(save->failure), "%s", text);
    if (save->next < count && start_next(save) == 0)
        return false;
    if (save->failure[0])
        (void)snprintf(text, size, "%s", save->failure);
    else if (count > 1)
        (void)snprintf(text, size, "%zu %s, one of each recording: %s-%s-1%s …", count,
                       is_page ? "pages" : "snapshots", is_page ? "top" : "snapshot",
                       save->stamp, is_page ? ".html" : "");
    clear(save);
    return true;
}

void cunei_top_save_finish(struct cunei_top_save *save)
{
    cunei_top_background_finish(&save->background);
    clear(save);
}
