def main(write):
    limit = 5000
    sieve = []
    for _ in range(limit):
        sieve.append(True)  # noqa: PERF401 (as the Hog program does it)
    count = 0
    for i in range(2, limit + 1):
        if sieve[i - 1]:
            count += 1
            j = i * i
            while j <= limit:
                sieve[j - 1] = False
                j += i
    write(str(count))
