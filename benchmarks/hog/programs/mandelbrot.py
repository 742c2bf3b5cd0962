def main(write):
    width, height, total = 40, 24, 0
    for y in range(height):
        for x in range(width):
            cr = 3.0 * x / width - 2.0
            ci = 2.0 * y / height - 1.0
            zr = zi = 0.0
            n = 0
            while n < 50 and zr * zr + zi * zi < 4:
                t = zr * zr - zi * zi + cr
                zi = 2 * zr * zi + ci
                zr = t
                n += 1
            total += n
    write(str(total))
