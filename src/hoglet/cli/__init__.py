"""The command line: ``hoglet serve``, ``hoglet functions``, ``hoglet admin`` and the rest.

A module here holds one command group. Heavy imports are made inside the commands, so that
``hoglet --help`` answers at once.
"""
