# SPDX-License-Identifier: MIT
"""A click program with groups of commands."""

import json

import click


def checksum(text):
    total = 0
    for _ in range(300):
        for character in text:
            total = (total * 31 + ord(character)) % 65521
    return total


@click.group()
@click.option("--verbose/--quiet")
@click.pass_context
def cli(context, verbose):
    context.obj = {"verbose": verbose}


@cli.command()
@click.argument("names", nargs=-1)
@click.option("--times", default=1, type=click.IntRange(1, 100))
def check(names, times):
    for name in names:
        text = json.dumps({"name": name * times, "rows": list(range(300))})
        click.secho(f"{name} {checksum(text)}", fg="green")


if __name__ == "__main__":
    cli()
