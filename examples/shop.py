"""A program of several processes and tasks: what a report shows besides calls.

Orders are priced in a pool of forked processes and delivered by asyncio tasks; one of
them fails.  `make run SCRIPT=examples/shop.py` traces it.
"""

import asyncio
import gc
import json
import multiprocessing
import os
import subprocess
import sys


class SoldOut(Exception):
    pass


class Shelf:
    def __init__(self, goods):
        self.goods = goods

    def take(self, name):
        if name not in self.goods:
            raise SoldOut(name)
        return self.goods[name]


def price(number):
    shelf = Shelf({f"item-{n}": n for n in range(90)})
    total = 0
    for n in range(100):
        try:
            total += shelf.take(f"item-{n}")
        except SoldOut:
            total += 1
    return json.loads(json.dumps({"number": number, "total": total}))


def stations(order):
    for n in range(3):
        yield n, order["total"] % (n + 2)


async def deliver(order):
    for n, km in stations(order):
        await asyncio.sleep(0.001 * (n + km))
        receipt(order, n)


def receipt(order, n):
    if n == 2 and order["number"] == 3:
        raise ConnectionError("nobody at home")
    return [order] * 50


async def deliver_all(orders):
    tasks = [
        asyncio.create_task(deliver(order), name=f"order-{order['number']}")
        for order in orders
    ]
    return await asyncio.gather(*tasks, return_exceptions=True)


def main():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        orders = pool.map(price, range(6))
        pool.close()
        pool.join()
    asyncio.run(deliver_all(orders))
    gc.collect()
    subprocess.run([sys.executable, "-c", "print('closing time')"], check=True)
    pid = os.fork()
    if pid == 0:
        price(7)
        os._exit(3)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
