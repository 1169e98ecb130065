"""The variants of a measurement: each switches something on and off."""

import cProfile
import ctypes
import gc
import os
import pathlib
import sys
import tempfile

import floor

SCRATCH = pathlib.Path(sys.argv[2])


class Plain:
    """Nothing is switched on."""

    def on(self):
        pass

    def off(self):
        pass


class FloorCollector(floor.Floor):
    """The floor, with a callback in gc.callbacks."""

    def __init__(self, *more):
        import cunei_floor

        super().__init__(*more)
        self.collector = cunei_floor.callback()

    def on(self):
        super().on()
        gc.callbacks.append(self.collector)

    def off(self):
        gc.callbacks.remove(self.collector)
        super().off()


class Recording(Plain):
    """Every call, without loss, to disk."""

    def __init__(self, **options):
        import cunei

        self.cunei = cunei
        self.options = options
        self.size = 0

    def on(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=SCRATCH))
        self.cunei.start(self.folder, **self.options)

    def off(self):
        self.cunei.stop()
        self.size = sum(file.stat().st_size for file in self.folder.glob("*/s*"))
        self.definitions = sum(
            file.stat().st_size for file in self.folder.glob("*/metadata")
        )
        # Not removed: ext4 looks at each deleted file when it creates the next one.
        for file in self.folder.glob("*/s*"):
            os.truncate(file, 0)


class Discarding(Recording):
    """The same, but full packets are not written (see discard.c)."""

    def __init__(self):
        super().__init__()
        self.discard = ctypes.c_bool.in_dll(ctypes.CDLL(None), "cunei_discard")

    def on(self):
        super().on()
        self.discard.value = True

    def off(self):
        self.discard.value = False
        super().off()


class Profile(Plain):
    """The standard library's cProfile."""

    def on(self):
        self.profile = cProfile.Profile()
        self.profile.enable()

    def off(self):
        self.profile.disable()


class VizTracer(Plain):
    """VizTracer without C functions; it only fills memory."""

    def __init__(self):
        import viztracer

        self.tracer = viztracer.VizTracer(
            ignore_c_function=True, tracer_entries=1_000_000, verbose=0
        )

    def on(self):
        self.tracer.start()

    def off(self):
        self.tracer.stop()
        self.tracer.clear()


def available(kinds):
    """The variants that work here, by name, and why the others do not."""
    variants, missing = {}, {}
    for name, kind in kinds.items():
        try:
            variant = kind()
            variant.on()
            variant.off()
            variants[name] = variant
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
    return variants, missing
