"""The command line: ``hoglet serve``, ``hoglet functions``, ``hoglet admin`` and the rest.

One module per command group. Heavy imports are inside the commands, so that ``hoglet --help`` is
fast.
"""
