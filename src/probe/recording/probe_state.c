// SPDX-License-Identifier: MIT
#include <Python.h>

#include "probe/recording/probe_state.h"

static struct cunei_probe *_Atomic active;

bool cunei_probe_is_main(void)
{
    return PyInterpreterState_Get() == PyInterpreterState_Main();
}

struct cunei_probe *cunei_probe_active(void)
{
    return active;
}

void cunei_probe_set_active(struct cunei_probe *state)
{
    active = state;
}

void cunei_probe_forget(struct cunei_probe *state)
{
    if (state == active)
        active = NULL;
}
