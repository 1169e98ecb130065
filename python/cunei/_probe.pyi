# SPDX-License-Identifier: MIT
__version__: str

def start(
    directory: str,
    patterns: list[tuple[bool, str]],
    max_bytes: int,
    *,
    children: bool = True,
    c_calls: bool = False,
    args: list[tuple[bool, str]] = ...,
    results: list[tuple[bool, str]] = ...,
    max_repr: int = 0,
    full_repr: bool = False,
    lines: list[tuple[bool, str]] = ...,
    instrumenter: str | None = None,
) -> None: ...
def check() -> str: ...
def stop() -> None: ...
def is_recording() -> bool: ...
def boot() -> None: ...
