"""Functions that require OVER. Row format: see ``registry``."""

WINDOWS = """
row_number | 0 | int | row_number() OVER (ORDER BY number)
rank | 0 | int | rank() OVER (ORDER BY number)
dense_rank | 0 | int | dense_rank() OVER (ORDER BY number)
percent_rank | 0 | float | percent_rank() OVER (ORDER BY number)
cume_dist | 0 | float | cume_dist() OVER (ORDER BY number)
ntile | 1 | int | ntile(2) OVER (ORDER BY number)
nth_value | 2 | same | nth_value(number, 2) OVER (ORDER BY number)
lag | 1-3 | same | lag(number, 1) OVER (ORDER BY number)
lead | 1-3 | same | lead(number, 1) OVER (ORDER BY number)
lagInFrame | 1-3 | same | lagInFrame(number, 1) OVER (ORDER BY number)
leadInFrame | 1-3 | same | leadInFrame(number, 1) OVER (ORDER BY number)
"""
