"""Finite fields by schoolbook polynomial arithmetic, as the specification of the Slim Fly family describes them.

An element is coded as a number in base p whose digit i is the coefficient of x^i.
"""

from itertools import product


def prime_power(q: int) -> tuple[int, int] | None:
    """(p, m) with q = p^m, or None."""
    for p in range(2, q + 1):
        if q % p == 0:
            m = 0
            while q % p == 0:
                q, m = q // p, m + 1
            return (p, m) if q == 1 else None
    return None


class Field:
    """GF(q), its primitive element chosen by the specification's rule."""

    def __init__(self, q: int) -> None:
        found = prime_power(q)
        assert found is not None
        self.q = q
        self.p, self.m = found
        self.modulus: list[int] = []  # c_0, ..., c_(m-1) of x^m + sum c_i x^i
        if self.m == 1:
            self.xi = next(g for g in range(1, q) if self.order(g) == q - 1)
        else:
            self.xi = self.p  # the element x
            for constants in product(range(self.p), repeat=self.m):
                self.modulus = list(constants)
                if constants[0] != 0 and self.order(self.xi) == q - 1:
                    break

    def digits(self, a: int) -> list[int]:
        return [a // self.p**i % self.p for i in range(self.m)]

    def code(self, digits: list[int]) -> int:
        return sum(d * self.p**i for i, d in enumerate(digits))

    def add(self, a: int, b: int) -> int:
        return self.code([(x + y) % self.p for x, y in zip(self.digits(a), self.digits(b), strict=True)])

    def neg(self, a: int) -> int:
        return self.code([-x % self.p for x in self.digits(a)])

    def mul(self, a: int, b: int) -> int:
        if self.m == 1:
            return a * b % self.p
        long = [0] * (2 * self.m - 1)
        for i, x in enumerate(self.digits(a)):
            for j, y in enumerate(self.digits(b)):
                long[i + j] += x * y
        for i in reversed(range(self.m, len(long))):  # x^m = - sum c_j x^j
            for j, c in enumerate(self.modulus):
                long[i - self.m + j] -= long[i] * c
            long[i] = 0
        return self.code([x % self.p for x in long[: self.m]])

    def power(self, a: int, e: int) -> int:
        result = 1
        for _ in range(e):
            result = self.mul(result, a)
        return result

    def order(self, a: int) -> int:
        """The multiplicative order of a; 0 if no power of a is 1."""
        power = 1
        for e in range(1, self.q):
            power = self.mul(power, a)
            if power == 1:
                return e
        return 0

    def generator_sets(self) -> tuple[list[int], list[int]]:
        """X and X' = xi X of McKay, Miller and Siran."""
        q = self.q
        exponents = list(range(0, q - 1, 2))
        if q % 4 == 3:
            half = (q + 1) // 2
            exponents = [*range(0, half - 1, 2), *range(half - 1, q - 1, 2)]
        return [self.power(self.xi, e) for e in exponents], [self.power(self.xi, e + 1) for e in exponents]
