"""Functions of PostHog's HogQL that are not supported, and why."""

_FUNNEL = "FunnelsQuery computes funnels; in SQL use windowFunnel(seconds)(time, step, ...)"
UNSUPPORTED: dict[str, str] = {
    "embedText": "it asks a language model, which queries do not do",
    "explainCSPReport": "it asks a language model, which queries do not do",
    "convertCurrency": "there are no exchange rates here: multiply by a rate of your own",
    "multiFuzzyMatchAny": "it has no bound on its cost: use multiMatchAny or ngramDistance",
    "multiFuzzyMatchAnyIndex": "it has no bound on its cost: use multiMatchAnyIndex",
    "multiFuzzyMatchAllIndices": "it has no bound on its cost: use multiMatchAllIndices",
    "aggregate_funnel": _FUNNEL,
    "aggregate_funnel_array": _FUNNEL,
    "aggregate_funnel_cohort": _FUNNEL,
    "aggregate_funnel_trends": _FUNNEL,
    "aggregate_funnel_array_trends": _FUNNEL,
    "aggregate_funnel_cohort_trends": _FUNNEL,
}
"""The closed list: name to the alternative, or the reason."""
