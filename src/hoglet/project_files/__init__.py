"""A project as files: functions, endpoints, actions, variables, cohorts and the project itself.

::

    hoglet.yaml                      name, time zone, test accounts
    functions/welcome-webhook/
        function.yaml                settings; secrets by name only
        code.hog
        tests.yaml
    endpoints/by_plan.yaml           query inline, or in by_plan.sql
    endpoints/by_plan.tests.yaml
    actions.yaml  variables.yaml  cohorts.yaml

Nothing in a file is particular to a server: objects are known by name, references between them
are names, secrets are names of environment variables. So pulling from two servers that were pushed
the same folder gives the same bytes.
"""
