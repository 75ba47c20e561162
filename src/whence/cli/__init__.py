"""The command line: one thin command per question, no logic."""


def main() -> None:
    """Run `whence` on this process's arguments and exit with its status."""
    import sys

    from whence.cli.app import app
    from whence.cli.errors import quiet_pipe

    # A terminal that cannot show a character of the user's model is no reason to fail.
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    with quiet_pipe():
        app(prog_name="whence")
