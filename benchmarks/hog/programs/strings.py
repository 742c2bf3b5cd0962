def main(write):
    text = ""
    for i in range(3000):
        text += f"{i}:{i % 7},"
    words = text.split(",")
    count = 0
    for word in words:
        if word.startswith("1") and ":3" in word:
            count += 1
    write(f"{len(text)} {len(words)} {count} {text[99:111].upper()}")
