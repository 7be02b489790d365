package numbers;

/** Functions with many branches over numbers. */
final class Functions {
    private Functions() {}

    static String triangle(int a, int b, int c) {
        if (a <= 0 || b <= 0 || c <= 0) {
            return "none";
        }
        long longest = Math.max(a, Math.max(b, c));
        if (longest >= (long) a + b + c - longest) {
            return "none";
        }
        if (a == b && b == c) {
            return "equilateral";
        }
        if (a == b || b == c || a == c) {
            return "isosceles";
        }
        return "scalene";
    }

    /** The remainder after subtracting again and again, in the order of the operands. */
    static int remainder(int a, int b) {
        int r;
        int sign = 1;
        if (a == 0) {
            return 0;
        }
        if (b == 0) {
            return -1;
        }
        if (a < 0) {
            sign = -1;
            a = -a;
        }
        if (b < 0) {
            b = -b;
        }
        if (a < b) {
            r = a;
        } else if (a == b) {
            r = 0;
        } else {
            long near = b;
            while (near * 2 <= a) {
                near *= 2;
            }
            long left = a;
            while (left >= b) {
                if (left >= near) {
                    left -= near;
                } else {
                    near /= 2;
                }
            }
            r = (int) left;
        }
        return sign * r;
    }

    /** The Bessel function of the first kind, by recurrence from above. */
    static double bessel(int order, double x) {
        if (order < 0 || order > 1000) {
            throw new IllegalArgumentException("the order must be in 0 to 1000");
        }
        double size = Math.abs(x);
        if (size == 0.0) {
            return order == 0 ? 1 : 0;
        }
        if (size > 1000) {
            throw new IllegalArgumentException("the argument is too large");
        }
        double value;
        if (size > order) {
            double before = bessel0(size);
            double now = bessel1(size);
            if (order == 0) {
                return before;
            }
            for (int j = 1; j < order; j++) {
                double after = j * 2.0 / size * now - before;
                before = now;
                now = after;
            }
            value = now;
        } else {
            int start = 2 * ((order + (int) Math.sqrt(40.0 * order)) / 2) + 2;
            double after = 0;
            double now = 1;
            double sum = 0;
            value = 0;
            boolean even = false;
            for (int j = start; j > 0; j--) {
                double before = j * 2.0 / size * now - after;
                after = now;
                now = before;
                if (Math.abs(now) > 1e10) {
                    now *= 1e-10;
                    after *= 1e-10;
                    value *= 1e-10;
                    sum *= 1e-10;
                }
                if (even) {
                    sum += now;
                }
                even = !even;
                if (j == order) {
                    value = after;
                }
            }
            sum = 2 * sum - now;
            value /= sum;
        }
        return x < 0 && order % 2 == 1 ? -value : value;
    }

    private static double bessel0(double x) {
        if (x < 8) {
            double term = 1;
            double sum = 1;
            for (int k = 1; k < 40; k++) {
                term *= -x * x / 4 / k / k;
                sum += term;
            }
            return sum;
        }
        return Math.sqrt(2 / Math.PI / x) * Math.cos(x - Math.PI / 4);
    }

    private static double bessel1(double x) {
        if (x < 8) {
            double term = x / 2;
            double sum = term;
            for (int k = 1; k < 40; k++) {
                term *= -x * x / 4 / k / (k + 1);
                sum += term;
            }
            return sum;
        }
        return Math.sqrt(2 / Math.PI / x) * Math.cos(x - 3 * Math.PI / 4);
    }

    /** The incomplete gamma function, by series or by fraction. */
    static double gamma(double a, double x) {
        if (a <= 0) {
            throw new IllegalArgumentException("a must be above zero");
        }
        if (x < 0) {
            throw new IllegalArgumentException("x must not be below zero");
        }
        if (x == 0) {
            return 0;
        }
        if (x < a + 1) {
            double sum = 1 / a;
            double term = sum;
            double n = a;
            for (int k = 0; k < 200; k++) {
                n++;
                term *= x / n;
                sum += term;
                if (Math.abs(term) < Math.abs(sum) * 1e-12) {
                    return sum * Math.exp(-x + a * Math.log(x));
                }
            }
            throw new ArithmeticException("a is too large");
        }
        double b = x + 1 - a;
        double c = 1e30;
        double d = 1 / b;
        double h = d;
        for (int k = 1; k <= 200; k++) {
            double step = -k * (k - a);
            b += 2;
            d = step * d + b;
            if (Math.abs(d) < 1e-30) {
                d = 1e-30;
            }
            c = b + step / c;
            d = 1 / d;
            double change = d * c;
            h *= change;
            if (Math.abs(change - 1) < 1e-12) {
                break;
            }
        }
        return 1 - Math.exp(-x + a * Math.log(x)) * h;
    }

    /** Where a ship is: a field of a chart, by tenths of degrees. */
    static String chart(long latitude, long longitude, float depth) {
        if (latitude < -900L || latitude > 900L || longitude < -1800L || longitude > 1800L) {
            return "off";
        }
        if (depth > 11034.5f) {
            return "impossible";
        }
        if (latitude == 900L || latitude == -900L) {
            return "pole";
        }
        if (longitude == 1234L && latitude == -56L) {
            return depth < 0.5f ? "wreck awash" : "wreck";
        }
        switch ((int) (longitude / 600)) {
            case -2:
                return "west";
            case -1:
            case 0:
            case 1:
                return latitude > 0 ? "north" : "south";
            case 2:
                return "east";
            default:
                return "date line";
        }
    }

    /** Numbers that have names. */
    static String named(int number) {
        switch (number) {
            case 7:
                return "lucky";
            case 42:
                return "answer";
            case 1729:
                return "taxicab";
            case 65537:
                return "Fermat";
            case -1:
                return "imaginary squared";
            default:
                return number % 1000 == 0 && number > 1_000_000 ? "round" : "plain";
        }
    }
}
