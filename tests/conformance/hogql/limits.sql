-- case: without LIMIT 100 rows, and more are known of
select number from numbers(250)
-- has more true
-- rows [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9], [10], [11], [12], [13], [14], [15], [16], [17], [18], [19], [20], [21], [22], [23], [24], [25], [26], [27], [28], [29], [30], [31], [32], [33], [34], [35], [36], [37], [38], [39], [40], [41], [42], [43], [44], [45], [46], [47], [48], [49], [50], [51], [52], [53], [54], [55], [56], [57], [58], [59], [60], [61], [62], [63], [64], [65], [66], [67], [68], [69], [70], [71], [72], [73], [74], [75], [76], [77], [78], [79], [80], [81], [82], [83], [84], [85], [86], [87], [88], [89], [90], [91], [92], [93], [94], [95], [96], [97], [98], [99]]
-- case: a saved LIMIT is not a cut
select number from numbers(250) limit 10
-- has more false
-- rows [[0], [1], [2], [3], [4], [5], [6], [7], [8], [9]]
-- case: a page of a query without LIMIT
-- limit 3
-- offset 248
select number from numbers(250)
-- has more false
-- rows [[248], [249]]
-- case: the last page
-- limit 3
-- offset 4
select number from numbers(6)
-- has more false
-- rows [[4], [5]]
-- case: a page before the last
-- limit 2
-- offset 1
select number from numbers(6)
-- has more true
-- rows [[1], [2]]
-- case: a saved LIMIT is a ceiling over all pages
-- limit 3
-- offset 3
select number from numbers(100) limit 5
-- has more false
-- rows [[3], [4]]
-- case: a page within the ceiling
-- limit 3
select number from numbers(100) limit 5
-- has more true
-- rows [[0], [1], [2]]
-- case: past the ceiling
-- limit 3
-- offset 5
select number from numbers(100) limit 5
-- has more false
-- rows []
-- case: a saved OFFSET comes first
-- limit 2
select number from numbers(10) limit 5 offset 3
-- has more true
-- rows [[3], [4]]
-- case: a union is paged as a whole
-- limit 2
-- offset 1
select * from (select number from numbers(2) union all select number + 10 from numbers(2)) order by number
-- has more true
-- rows [[1], [10]]
-- case: LIMIT above the maximum is clamped
select number from numbers(3) limit 1000000
-- becomes
SELECT numbers.number AS number FROM (SELECT number FROM numbers(3)) AS numbers LIMIT 50001
-- rows [[0], [1], [2]]
-- case: LIMIT after a union in brackets bounds the whole
(select number from numbers(2) union all select number + 10 from numbers(2)) limit 3
-- becomes
SELECT page.number AS number FROM ((SELECT numbers.number AS number FROM (SELECT number FROM numbers(2)) AS numbers) UNION ALL (SELECT plus(numbers.number, 10) AS `plus(number, 10)` FROM (SELECT number FROM numbers(2)) AS numbers)) AS page LIMIT 3
-- has more false
-- case: every query of a union, every subquery and every window has its own clauses
select * from (select number, row_number() over (order by number desc) as r from (select number from numbers(5) order by number limit 4) order by r limit 1 by number limit 1 union all select number, 0 from numbers(9) order by number desc limit 1) order by 1
-- rows [[3, 1], [8, 0]]
-- case: words in constants and comments are no clauses
select 'limit 1 limit 2 order by x' as words from numbers(2) limit 1 -- limit 3 order by words
-- rows [["limit 1 limit 2 order by x"]]
