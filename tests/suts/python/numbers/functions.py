"""Functions with many branches over numbers."""

import math


def triangle(a, b, c):
    if a <= 0 or b <= 0 or c <= 0:
        return "none"
    longest = max(a, b, c)
    if longest >= a + b + c - longest:
        return "none"
    if a == b == c:
        return "equilateral"
    if a == b or b == c or a == c:
        return "isosceles"
    return "scalene"


def remainder(a, b):
    """The remainder after subtracting again and again, in the order of the operands."""
    sign = 1
    if a == 0:
        return 0
    if b == 0:
        return -1
    if a < 0:
        sign = -1
        a = -a
    if b < 0:
        b = -b
    if a < b:
        left = a
    elif a == b:
        left = 0
    else:
        near = b
        while near * 2 <= a:
            near *= 2
        left = a
        while left >= b:
            if left >= near:
                left -= near
            else:
                near //= 2
    return sign * left


def bessel(order, x):
    """The Bessel function of the first kind, by recurrence from above."""
    if order < 0 or order > 1000:
        raise ValueError("the order must be in 0 to 1000")
    size = abs(x)
    if size == 0.0:
        return 1 if order == 0 else 0
    if size > 1000:
        raise ValueError("the argument is too large")
    if size > order:
        before = bessel0(size)
        now = bessel1(size)
        if order == 0:
            return before
        for j in range(1, order):
            before, now = now, j * 2.0 / size * now - before
        value = now
    else:
        start = 2 * ((order + int(math.sqrt(40.0 * order))) // 2) + 2
        after = 0.0
        now = 1.0
        total = 0.0
        value = 0.0
        even = False
        for j in range(start, 0, -1):
            after, now = now, j * 2.0 / size * now - after
            if abs(now) > 1e10:
                now *= 1e-10
                after *= 1e-10
                value *= 1e-10
                total *= 1e-10
            if even:
                total += now
            even = not even
            if j == order:
                value = after
        value /= 2 * total - now
    return -value if x < 0 and order % 2 == 1 else value


def bessel0(x):
    if x < 8:
        term = total = 1.0
        for k in range(1, 40):
            term *= -x * x / 4 / k / k
            total += term
        return total
    return math.sqrt(2 / math.pi / x) * math.cos(x - math.pi / 4)


def bessel1(x):
    if x < 8:
        term = total = x / 2
        for k in range(1, 40):
            term *= -x * x / 4 / k / (k + 1)
            total += term
        return total
    return math.sqrt(2 / math.pi / x) * math.cos(x - 3 * math.pi / 4)


def gamma(a, x):
    """The incomplete gamma function, by series or by fraction."""
    if a <= 0:
        raise ValueError("a must be above zero")
    if x < 0:
        raise ValueError("x must not be below zero")
    if x == 0:
        return 0
    if x < a + 1:
        total = term = 1 / a
        n = a
        for _ in range(200):
            n += 1
            term *= x / n
            total += term
            if abs(term) < abs(total) * 1e-12:
                return total * math.exp(-x + a * math.log(x))
        raise ArithmeticError("a is too large")
    b = x + 1 - a
    c = 1e30
    d = 1 / b
    h = d
    for k in range(1, 201):
        step = -k * (k - a)
        b += 2
        d = step * d + b
        if abs(d) < 1e-30:
            d = 1e-30
        c = b + step / c
        d = 1 / d
        change = d * c
        h *= change
        if abs(change - 1) < 1e-12:
            break
    return 1 - math.exp(-x + a * math.log(x)) * h


def chart(latitude, longitude, depth):
    """Where a ship is: a field of a chart, by tenths of degrees."""
    if not (-900 <= latitude <= 900 and -1800 <= longitude <= 1800):
        return "off"
    if depth > 11034.5:
        return "impossible"
    if latitude in (900, -900):
        return "pole"
    if longitude == 1234 and latitude == -56:
        return "wreck awash" if depth < 0.5 else "wreck"
    match int(longitude / 600):
        case -2:
            return "west"
        case -1 | 0 | 1:
            return "north" if latitude > 0 else "south"
        case 2:
            return "east"
        case _:
            return "date line"


NAMES = {7: "lucky", 42: "answer", 1729: "taxicab", 65537: "Fermat", -1: "imaginary squared"}


def named(number):
    """Numbers that have names."""
    name = NAMES.get(number)
    if name is not None:
        return name
    return "round" if number % 1000 == 0 and number > 1_000_000 else "plain"
