def main(write):
    words = ["red", "green", "blue", "red", "blue", "red", "black", "white"]
    counts = {}
    for _ in range(400):
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    for word, count in counts.items():
        write(f"{word} {count}")
