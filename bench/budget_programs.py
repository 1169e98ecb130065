"""Programs that are recorded under a budget: bench/budget.py runs them by name.

    python budget_programs.py NAME

The last line is JSON: the CPU seconds of the process at the points between which the
time is compared, and the true number of calls if it differs from run to run.
"""

import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

# CPU seconds that a program runs before its measurement begins.
WARM_UP = 2

SQL = """
SELECT a.id, b.name, COUNT(*) AS n, SUM(x.v * 2 + 1) FROM t1 AS a
JOIN t2 AS b ON a.id = b.id
LEFT JOIN (SELECT id, v FROM t3 WHERE v > 10 AND w IN (1, 2, 3)) AS x ON x.id = a.id
WHERE a.c BETWEEN 1 AND 5 OR (b.d LIKE 'x%' AND NOT a.e IS NULL)
GROUP BY a.id, b.name HAVING COUNT(*) > 1 ORDER BY n DESC LIMIT 10
"""

TEMPLATE = """
{% macro cell(x) %}<td>{{ x|upper }}</td>{% endmacro %}
<table>{% for row in rows %}<tr>{% for name, value in row.items() if value %}
{{ cell(value) }}{{ loop.index }}{% endfor %}</tr>{% endfor %}</table>
"""

CALLS = 100_000


def empty():
    pass


def call_empty(rounds):
    for _ in range(rounds * CALLS):
        empty()


def call_in_stretches(rounds):
    """The same, at times, between stretches of something else."""
    for i in range(rounds):
        if i % 3 == 0:
            call_empty(1 + i % 2)
        else:
            sum(range(500_000))


def prepare_parser():
    import sqlglot

    def parse(rounds):
        for _ in range(rounds):
            sqlglot.parse_one(SQL)

    return parse


def prepare_templates():
    import jinja2

    template = jinja2.Environment(autoescape=True).from_string(TEMPLATE)
    rows = [dict(a=str(i), b="x" * 5, c="", d=str(i * i)) for i in range(60)]

    def render(rounds):
        for _ in range(rounds):
            template.render(rows=rows)

    return render


def prepare_words():
    import hot

    def count(rounds):
        for _ in range(rounds):
            hot.count(hot.TEXT)

    return count


def run_parser(rounds):
    prepare_parser()(rounds)


def run_templates(rounds):
    prepare_templates()(rounds)


# A function that prepares a program and returns it; its rounds, some seconds.
PROGRAMS = {
    "loop over an empty function": (lambda: call_empty, 600),
    "parser (sqlglot)": (prepare_parser, 2500),
    "templates (jinja2)": (prepare_templates, 2500),
    "calls between C functions": (lambda: call_in_stretches, 600),
    "letters (examples/hot.py)": (prepare_words, 12_000),
}
WARMED = "loop over an empty function"


def main(name):
    prepare, rounds = PROGRAMS[name]
    warm_ups = 0
    begin = time.process_time()
    function = prepare()
    ready = time.process_time()
    if name == WARMED:
        while time.process_time() < begin + WARM_UP:
            function(1)
            warm_ups += 1
    warm = time.process_time()
    function(rounds)
    figures = {"begin": begin, "ready": ready, "warm": warm, "end": time.process_time()}
    if name == WARMED:
        figures["calls"] = (warm_ups + rounds) * CALLS
    print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1])
