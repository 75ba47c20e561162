"""A worker of :mod:`whence.campaign.processes`: ``python -m whence.campaign.worker``."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from importlib import import_module

from whence.campaign.processes import receive, send

__all__ = ["main"]


def main() -> None:
    # Who is interrupted is the one who gave the work: we end when nothing more comes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever prints would spoil the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        make, shared = receive(tasks)
        module, _, name = make.partition(":")
        work = getattr(import_module(module), name)(shared)
        send(answers, None)
        while True:
            task = receive(tasks)
            try:
                send(answers, (work(task), ""))
            except (EOFError, BrokenPipeError):
                raise
            except Exception as error:
                if os.environ.get("WHENCE_DEBUG") == "1":
                    traceback.print_exc()
                send(answers, (None, f"internal error: {type(error).__name__}: {error}"))
    except (EOFError, BrokenPipeError):
        return


if __name__ == "__main__":
    main()
