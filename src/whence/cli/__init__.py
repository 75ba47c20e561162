"""The command line: one thin command per question, no logic."""


def main() -> None:
    """Run `whence` on this process's arguments and exit with its status."""
    from whence.cli.app import app
    from whence.cli.errors import quiet_pipe

    with quiet_pipe():
        app(prog_name="whence")
