# SPDX-License-Identifier: GPL-2.0
"""What a test program found, one line each, for judge() in nl.sh to number."""
import sys


def say(verdict, text):
    print(verdict, " ".join(str(text).split()), sep="\t", flush=True)


def note(text):
    for line in str(text).splitlines():
        say("#", line)


def ok(name, condition, detail=""):
    if not condition and detail != "":
        note(detail)
    say("ok" if condition else "not ok", name)
    return bool(condition)


def same(name, got, want):
    return ok(name, got == want, f"got:  {got!r}\nwant: {want!r}")


def run(*tests):
    """Runs them in order; one that dies is a failure, and the others run all the same."""
    for test in tests:
        try:
            test()
        except Exception as error:  # whatever it is, it is a finding
            at = error.__traceback__
            while at.tb_next:
                at = at.tb_next
            note(f"{type(error).__name__}: {error} ({at.tb_frame.f_code.co_filename}:{at.tb_lineno})")
            say("not ok", test.__doc__ or test.__name__)
    sys.exit(0)
