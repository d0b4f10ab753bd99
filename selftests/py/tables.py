# SPDX-License-Identifier: GPL-2.0
"""Reads tables/*.tbl: rows of words under a line of column names."""
import os

HERE = os.path.dirname(os.path.realpath(__file__))
FIVE = ("none", "client-ip-port-proto")         # affinities that hash five fields
AFFINITIES = FIVE + ("client-ip-proto", "client-ip", "client-ip-no-destination")
TRACKINGS = ("per-connection", "per-session")


def read(name="tracking"):
    """{table: [{column: cell}]}; a row that is too short or long is an error."""
    tables, columns, rows = {}, None, None
    with open(f"{HERE}/../tables/{name}.tbl", encoding="ascii") as file:
        for number, line in enumerate(file, 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "table":
                columns, rows = None, tables.setdefault(words[1], [])
            elif columns is None:
                columns = words
            else:
                assert len(words) == len(columns), f"{name}.tbl:{number}: {len(words)} cells"
                rows.append(dict(zip(columns, words)))
    return tables


def column_of(row):
    """Column of table persistence for a tracking mode and an affinity."""
    if row["tracking"] == "per-connection":
        return "per-connection"
    return "per-session-5" if row["affinity"] in FIVE else "per-session-123"
