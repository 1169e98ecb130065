"""The least that a recorder on sys.monitoring can cost: see floor.c.

Imported by children whose start-up is timed, so that it imports next to nothing.
"""

import sys

FUNCTIONS = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_THROW", "PY_UNWIND")
EXCEPTIONS = ("RAISE", "RERAISE", "EXCEPTION_HANDLED")
C_CALLS = ("CALL", "C_RETURN", "C_RAISE")


class Floor:
    """Callbacks of our own kind that read the clock and do nothing else."""

    TOOL = 4

    def __init__(self, *more):
        import cunei_floor

        events = sys.monitoring.events
        self.events = [getattr(events, name) for name in (*FUNCTIONS, *more)]
        self.callbacks = [cunei_floor.callback() for _ in self.events]

    def on(self):
        sys.monitoring.use_tool_id(self.TOOL, "floor")
        for event, callback in zip(self.events, self.callbacks, strict=True):
            sys.monitoring.register_callback(self.TOOL, event, callback)
        sys.monitoring.set_events(self.TOOL, sum(self.events))

    def off(self):
        sys.monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            sys.monitoring.register_callback(self.TOOL, event, None)
        sys.monitoring.free_tool_id(self.TOOL)
