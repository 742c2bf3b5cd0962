from functools import reduce


def main(write):
    numbers = list(range(2000))
    scale = 3
    scaled = [n * scale + 1 for n in numbers]
    odd = [n for n in scaled if n % 2 == 1]
    pairs = [{"key": f"k{n}", "value": n} for n in odd]
    big = [pair for pair in pairs if pair["value"] > 1000]
    total = reduce(lambda total, pair: total + pair["value"], big, 0)
    write(f"{len(odd)} {len(big)} {total} {str(any(n == 4 for n in scaled)).lower()}")
