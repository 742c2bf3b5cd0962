"""A project as files: functions, endpoints, actions, variables, cohorts and the project itself.

::

    hoglet.yaml                      name, time zone, test accounts
    functions/welcome-webhook/
        function.yaml                settings; secrets by name only
        code.hog
        draft.yaml  draft.hog        what its draft changes
        tests.yaml
    endpoints/by_plan.yaml           query inline, or in by_plan.sql
    endpoints/by_plan.tests.yaml
    actions.yaml  variables.yaml  cohorts.yaml

Files contain nothing specific to a server: objects and references between them are identified by
name, secrets by the name of an environment variable. Pulling from two servers to which the same
folder was pushed yields identical files.
"""
