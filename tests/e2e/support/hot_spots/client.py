# SPDX-License-Identifier: MIT
"""An asyncio client of aiohttp, and the server that it asks."""

import asyncio

import aiohttp
from aiohttp import web


async def answer(request):
    await asyncio.sleep(0.02)
    return web.json_response(list(range(2000)))


def smooth(values):
    result = []
    for i in range(len(values)):
        window = values[max(0, i - 8) : i + 8]
        result.append(sum(window) / len(window))
    return result


async def fetch(session, url):
    async with session.get(url) as response:
        return smooth(await response.json())


async def main():
    app = web.Application()
    app.router.add_get("/values", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{port}/values"
        for _ in range(10):
            results = await asyncio.gather(*(fetch(session, url) for _ in range(10)))
    print(len(results))
    await runner.cleanup()


asyncio.run(main())
