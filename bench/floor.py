"""The least that a recorder can cost: see floor.c, and hooks.c for Pythons before 3.12.

Children import it while their start-up is timed, so it imports almost nothing.
"""

import sys

FUNCTIONS = ("PY_START", "PY_RESUME", "PY_RETURN", "PY_YIELD", "PY_THROW", "PY_UNWIND")
EXCEPTIONS = ("RAISE", "RERAISE", "EXCEPTION_HANDLED")
C_CALLS = ("CALL", "C_RETURN", "C_RAISE")


class Monitoring:
    """Callbacks of our own kind that read the clock and do nothing else."""

    TOOL = 4

    def __init__(self, *more):
        import cunei_floor

        events = sys.monitoring.events
        self.events = {
            getattr(events, name): cunei_floor.callback()
            for name in (*FUNCTIONS, *more)
        }

    def on(self):
        sys.monitoring.use_tool_id(self.TOOL, "floor")
        for event, callback in self.events.items():
            sys.monitoring.register_callback(self.TOOL, event, callback)
        sys.monitoring.set_events(self.TOOL, sum(self.events))

    def off(self):
        sys.monitoring.set_events(self.TOOL, 0)
        for event in self.events:
            sys.monitoring.register_callback(self.TOOL, event, None)
        sys.monitoring.free_tool_id(self.TOOL)


class Hook:
    """One of the older hooks."""

    def __init__(self, name):
        import cunei_hooks

        self.switch = getattr(cunei_hooks, name)

    def on(self):
        self.switch(True)

    def off(self):
        self.switch(False)


class Evaluator(Hook):
    """A frame evaluator that reads the clock twice and does nothing else."""

    def __init__(self, *more):
        super().__init__("evaluator")
        if more:
            raise RuntimeError(f"a frame evaluator has no {', '.join(more)}")


# What cunei uses by default here.
Floor = Monitoring if hasattr(sys, "monitoring") else Evaluator
