"""``hoglet init``, ``pull``, ``diff``, ``push``, ``test`` and ``dev``: a project as files."""
