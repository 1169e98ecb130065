# SPDX-License-Identifier: MIT
"""Prints an OTF2 archive as JSON, read with OTF2's own Python bindings.

Run by a Python that has them: they belong to the distribution's, not to the tested one.
"""

import json
import sys

import otf2


def attributes(event):
    return {key.name: value for key, value in (event.attributes or {}).items()}


def properties(definitions, kind, owner):
    return {
        each.name: each.value.value if hasattr(each.value, "value") else each.value
        for each in definitions
        if getattr(each, kind) == owner
    }


def main():
    # Names that are not UTF-8 have backslashes in the export, so here as well.
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    with otf2.reader.open(sys.argv[1]) as archive:
        known = archive.definitions
        locations = [
            {
                "name": each.name,
                "group": each.group.name,
                "node": each.group.system_tree_parent.name,
                "events": each.number_of_events,
                **properties(known.location_properties, "location", each),
                **properties(
                    known.location_group_properties, "location_group", each.group
                ),
            }
            for each in known.locations
        ]
        numbers = {each: number for number, each in enumerate(known.locations)}
        regions = [
            [each.name, each.source_file, each.begin_line_number, each.description]
            for each in known.regions
        ]
        events = []
        for location, event in archive.events:
            fields = {
                "kind": type(event).__name__,
                "location": numbers[location],
                "time": event.time,
                "attributes": attributes(event),
            }
            if hasattr(event, "region"):
                fields["region"] = event.region.name
            if hasattr(event, "parameter"):
                fields["parameter"] = event.parameter.name
                value = getattr(event, "string", None)
                fields["value"] = event.value if value is None else value
            if hasattr(event, "metric"):
                fields["metric"] = event.member.name
                fields["value"] = event.value
            if hasattr(event, "measurement_mode"):
                fields["mode"] = str(event.measurement_mode)
            events.append(fields)
        ticks = known.clock_properties.timer_resolution
    json.dump(
        {"locations": locations, "regions": regions, "events": events, "hz": ticks},
        sys.stdout,
    )


main()
