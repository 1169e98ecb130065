"""Threads that share a queue of work."""

import queue
import threading

CHUNK = 500


def is_prime(number):
    if number < 2:
        return False
    return all(number % divisor for divisor in divisors(number))


def divisors(number):
    divisor = 2
    while divisor * divisor <= number:
        yield divisor
        divisor += 1


def count_chunk(begin):
    return sum(1 for number in range(begin, begin + CHUNK) if is_prime(number))


def work(chunks, results):
    while (begin := chunks.get()) is not None:
        results.put(count_chunk(begin))


def count_primes(thread_count, limit):
    """The number of primes below the limit, counted by that many threads."""
    chunks, results = queue.Queue(), queue.Queue()
    threads = [
        threading.Thread(target=work, args=(chunks, results), name=f"worker-{i}")
        for i in range(thread_count)
    ]
    for thread in threads:
        thread.start()
    for begin in range(0, limit, CHUNK):
        chunks.put(begin)
    for _ in threads:
        chunks.put(None)
    for thread in threads:
        thread.join()
    return sum(results.get() for _ in range(0, limit, CHUNK))
