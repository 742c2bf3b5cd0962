"""The command line: ``hoglet serve``, ``hoglet hog``, ``hoglet key`` and the rest.

A module here holds one command group. Heavy imports are made inside the commands, so that
``hoglet --help`` answers at once.
"""
