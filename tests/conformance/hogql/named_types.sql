-- case: types and aggregates by name, of the lists
select accurateCast('5', 'Int32'), accurateCastOrNull('x', 'Nullable(DateTime64(3, \'UTC\'))'), JSONExtract('{"a":[{"b":1,"c":"x"}]}', 'a', 'Array(Tuple(b Int8, `c` LowCardinality(Nullable(String))))'), JSONExtract('{"a":"x"}', 'a', 'Enum8(\'x\' = 1, \'y\' = 2)'), JSONExtractKeysAndValues('{"a":1}', 'Float64'), arrayReduce('quantileExact(0.5)', [1, 2, 3]), arrayReduce('sumIf', [1, 2], [1, 0]), arrayReduceInRanges('max', [(1, 2)], [1, 5])
-- rows [[5, null, [[1, "x"]], "x", [["a", 1.0]], 2, 1, [5]]]
-- case: from a variable; one without a value yet is no name
-- variables {"t": "Int8", "n": null}
select JSONExtract('{"a":1}', 'a', {variables.t}) from (select 1 limit 1) where {variables.t} != '{variables.n}'
-- rows [[1]]
