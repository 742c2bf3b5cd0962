"""``python -m hoglet``: the command line where ``hoglet`` itself is not on the path."""

from hoglet.cli.entry import main

if __name__ == "__main__":
    main()
