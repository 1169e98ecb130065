"""A program worth looking at: `make run` traces it and shows where its time goes.

Recursion, a parser, a pipeline of generators, threads, and exceptions that are raised,
retried and handled.  It prints the same lines each time, traced or not.
"""

from tour import numbers, parse, pipeline, retry, workers


def main():
    print(f"fib(27) = {numbers.fib(27)}")
    print(f"hanoi(17) takes {numbers.hanoi(17)} moves")
    print(f"the formulas add up to {parse.total(parse.formulas(4000))}")
    print(f"the busiest word is {pipeline.busiest_word(120_000)!r}")
    print(f"the workers found {workers.count_primes(4, 40_000)} primes")
    print(f"{retry.deliver_all(12_000)} letters delivered, {retry.lost} lost")


if __name__ == "__main__":
    main()
