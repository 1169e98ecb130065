# SPDX-License-Identifier: MIT
"""User events, as mypy sees them: nothing of this is run."""

import cunei


@cunei.region
def add(a: int, b: int) -> int:
    return a + b


@cunei.region("wait")
async def wait(text: str) -> str:
    return text


@cunei.exclude
def quiet(text: str) -> str:
    return text


@cunei.disable
@cunei.instrument
def loud(text: str) -> str:
    return text


def misuse() -> None:
    # That these are wrong shows that decorators leave types as they are.
    quiet(3)  # type: ignore[arg-type]
    loud(3)  # type: ignore[arg-type]
    add("1", 2)  # type: ignore[arg-type]
    cunei.regoin("misspelt")  # type: ignore[attr-defined]


def choose() -> None:
    cunei.exclude("app.vector", "re-name:^_")
    cunei.exclude(add, "app")
    cunei.include(cunei, "app:dot")


async def use() -> str:
    total: int = add(1, 2)
    with cunei.region("region") as region:
        name: str = region.name
    cunei.region_begin(name)
    cunei.region_end()
    items = cunei.counter("items")
    items.add()
    items.set(2.5)
    cunei.parameter("total", total)
    cunei.mark("mark")
    cunei.mark("mark", value="text")
    with cunei.region(name="region"):
        cunei.counter(name="items").add(number=2)
    cunei.metadata("key", 1.5)
    with cunei.tokens("decode") as tokens:
        tokens.tick(3)
    streamer = cunei.TokenStreamer("decode", has_prompt=False)
    streamer.put([1, 2])
    streamer.end()
    return await wait(name)
